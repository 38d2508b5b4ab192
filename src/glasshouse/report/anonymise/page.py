"""The report of a protected release: each attack before and after, and how the release is protected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import altair as alt

from glasshouse.language import exactly, marked, number, text, text_for, translated
from glasshouse.microdata import Attack
from glasshouse.mitigation import Anonymisation
from glasshouse.report.attacks import (
    METHOD,
    attack_label,
    exact_figure,
    graded,
    learned,
    success_steps,
)
from glasshouse.report.cells import (
    cell_table,
    certain_cell,
    count_cell,
    number_cell,
    text_table,
    three_digits,
)
from glasshouse.report.charts import NEUTRAL, TARGETS, successes_chart, successes_table
from glasshouse.report.page import (
    Brief,
    Cell,
    Column,
    Figure,
    Finding,
    Group,
    Page,
    Provenance,
    Section,
    Severity,
    Table,
    Term,
)
from glasshouse.report.provenance import treatment_blocks, treatment_section
from glasshouse.report.words import (
    counted,
    enumeration,
    frequencies,
    glossary,
    percentage,
    share,
    singular,
)
from glasshouse.study.anonymise import AnonymiseStudy

METHODS = {
    "k-anonymity": ("k-anonymity",),
    "l-diversity": ("l-diversity",),
    "t-closeness": ("t-closeness",),
    "risk": (),
    "anatomy": ("Anatomy",),
}
"""The words that each method adds to the glossary."""
_NOT_TAKEN = {"anatomy": ("recoding", "objective", "diversity"), "mondrian": ("objective",)}
"""The options that have a value but no meaning with Anatomy or a kind of recoding."""


def brief(outcome: Anonymisation, question: AnonymiseStudy) -> Brief:
    """Return what a terminal says of a protected release."""
    protected = text_for(
        outcome.records,
        "{dataset}: {count} record, {method}",
        "{dataset}: {count} records, {method}",
        dataset=outcome.dataset,
        method=outcome.method,
    )
    heights = outcome.heights or {}
    levels = ", ".join(f"{name} {height}" for name, height in heights.items())
    return Brief(
        (
            protected,
            *treatment_blocks(outcome.steps),
            *([text("Heights: {heights}", heights=levels)] if outcome.heights is not None else []),
            _before_and_after_table(outcome),
        ),
        protection_findings(outcome, subject=question.subject),
        notes=tuple(_review(outcome)),
    )


def _before_and_after_table(outcome: Anonymisation) -> Table:
    rows = [
        (
            f"{after.code} {attack_label(after)}",
            percentage(before.deterministic.posterior),
            percentage(after.deterministic.posterior),
            three_digits(before.probabilistic.posterior),
            three_digits(after.probabilistic.posterior),
        )
        for before, after in zip(outcome.before.attacks, outcome.after.attacks, strict=True)
    ]
    measures = (
        text("certain: before"),
        text("after"),
        text("guess right: before"),
        text("after"),
    )
    title = text("With all quasi-identifiers, before and after")
    return text_table(title, text("attack"), measures, rows)


def _review(outcome: Anonymisation) -> Iterator[str]:
    """Yield what a publisher has to review."""
    suggested = [used for used in outcome.hierarchies if used.suggested]
    levels = [used.column for used in suggested if used.height > 2]
    if levels:
        yield text(
            "suggested hierarchies: {columns}; review them, or give your own with --hierarchy",
            columns=", ".join(levels),
        )
    plain = [used.column for used in suggested if used.height <= 2]
    if plain:
        yield text(
            "told or not at all, being no numbers, dates or codes: {columns}; --hierarchy says better",
            columns=", ".join(plain),
        )
    if outcome.left_out:
        yield text(
            "columns not released: {columns}; --keep COLUMN releases one as it is",
            columns=", ".join(outcome.left_out),
        )
    if outcome.parameters.get("keep"):
        yield text(
            "released as they are, and in no figure: {columns}",
            columns=", ".join(outcome.parameters["keep"]),
        )


def page(outcome: Anonymisation, question: AnonymiseStudy, *, provenance: Provenance) -> Page:
    """Return the report of a protected release."""
    content = outcome.to_dict()
    sections = (_risks(outcome), _protection(content), treatment_section(outcome.steps))
    return Page(
        title=text("A protected release, and what it still tells"),
        lead=text(
            "{records} records, protected by {method}",
            records=outcome.records,
            method=content["method"],
        ),
        findings=protection_findings(outcome, subject=question.subject),
        adversary=(
            exact_knowledge(outcome.before.attacks[0].quasi_identifiers),
            text(
                "The quasi-identifiers are published as they are. She knows which group a record is in, and which "
                "sensitive values the group holds: both are published."
            )
            if is_anatomy(content)
            else recoding_known(),
        ),
        limits=_limits(content),
        glossary=_glossary(content),
        provenance=provenance,
        command="glasshouse anonymise --study study.toml",
        method=METHOD,
        figures=(
            Figure.of(
                protection_chart(outcome),
                label=text("Each attack on the original and on the protected release"),
                caption=text(
                    "Grey circles: the original. Orange diamonds: the protected release. Further left is safer."
                ),
                table=successes_table(_steps(outcome), _kinds()),
            ),
        ),
        sections=tuple(section for section in sections if section is not None),
    )


def exact_knowledge(names: Sequence[str]) -> str:
    """Say that the adversary knows all quasi-identifiers of the person, whose record is in the release."""
    return text(
        "The adversary knows that the person’s record is in the release, and knows that person’s quasi-identifiers "
        "exactly: {known}.",
        known=", ".join(names),
    )


def recoding_known() -> str:
    """Say that the adversary finds the class of a person."""
    return text(
        "She knows how the quasi-identifiers were recoded, so that she finds the class that a person falls into."
    )


def certainty_term() -> Term:
    """Return what the reports call known for certain."""
    return Term(
        text("Known for certain"), text("Records whose secret she infers with probability 1.")
    )


def _limits(content: Mapping[str, Any]) -> tuple[str, ...]:
    limits = [
        text(
            "Every risk is an exact ratio of counts in this release, not an estimate. Suppressed records form no class "
            "and are left out of the figures after the protection."
        ),
        text(
            "A protection holds against what the adversary is assumed to know. Who knows more, or has another release "
            "of the same people, may learn more."
        ),
    ]
    if content["parameters"].get("keep"):
        limits.append(
            text(
                "Released as they are, and in no figure: {columns}.",
                columns=", ".join(content["parameters"]["keep"]),
            )
        )
    return tuple(limits)


def _glossary(content: Mapping[str, Any]) -> tuple[Term, ...]:
    own = [certainty_term()]
    if content.get("loss") is not None:
        own.append(
            Term(
                text("Loss"),
                text(
                    "The mean share of the domain that a released value stands for, per attribute, joined by a "
                    "geometric mean: 0 where nothing is generalised, 1 where everything is."
                ),
            )
        )
    if content.get("heights"):
        own.append(
            Term(
                text("Height"),
                text("How many levels of its hierarchy a column was generalised."),
            )
        )
    words = (
        *("adversary", "quasi-identifier", "sensitive attribute", "class", "re-identification"),
        *("attribute inference", "generalisation", "suppression"),
    )
    return (*own, *glossary(*words, *METHODS.get(content["method"], ())))


def protection_chart(outcome: Anonymisation) -> alt.TopLevelMixin:
    """Show each attack on the original and on the release: how often a guess is right, and who is known for certain."""
    naming, named = (
        each.attacks[0].probabilistic.posterior for each in (outcome.before, outcome.after)
    )
    before, after = frequencies(naming, named)
    title = (
        text("A guess at who it is: right for {after}, as in the original", after=after)
        if naming == named
        else text(
            "A guess at who it is: right for {before} in the original, for {after} in the protected release",
            before=before,
            after=after,
        )
    )
    return successes_chart(
        _steps(outcome),
        _kinds(),
        field="what",
        colours=[NEUTRAL, TARGETS[0][0]],
        shapes=["circle", "diamond"],
        title=title,
        subtitle=text("with all quasi-identifiers; suppressed records are left out"),
    )


def _steps(outcome: Anonymisation) -> list[tuple[str, list[Fraction]]]:
    return success_steps(zip(outcome.before.attacks, outcome.after.attacks, strict=True))


def _kinds() -> list[str]:
    return [text("original"), text("protected")]


def _risks(outcome: Anonymisation) -> Section:
    columns = [Column(text("Attack"))]
    for under in (text("Before"), text("After")):
        columns += [
            Column(text("known for certain"), numeric=True, under=under),
            Column(text("guess right"), numeric=True, under=under),
        ]
    rows = tuple(
        (
            Cell(attack_label(after), mark=after.code),
            *(
                cell
                for attack in (before, after)
                for cell in (certain_cell(attack), number_cell(attack.probabilistic.posterior))
            ),
        )
        for before, after in zip(outcome.before.attacks, outcome.after.attacks, strict=True)
    )
    return Section(
        text("What an adversary learns, before and after"),
        text("With all quasi-identifiers."),
        (Table(tuple(columns), (Group(rows),)),),
    )


def _protection(content: Mapping[str, Any]) -> Section:
    quality = content.get("quality") or {}
    rows = [(text("method"), Cell(content["method"])), *_parameters(content)]
    rows += [
        (text("classes or groups"), count_cell(content["classes"])),
        (text("suppressed records"), count_cell(content["suppressed"])),
        *_attained(content["attained"]),
        *(
            (translated(QUALITIES[name]), Cell(number(value, ".6g"), exact=exactly(value)))
            for name, value in quality.items()
            if name in QUALITIES
        ),
    ]
    tables = [_values(text("Protection"), rows)]
    if content.get("heights"):
        heights = [(name, count_cell(height)) for name, height in content["heights"].items()]
        tables.append(_values(text("Height"), heights))
    return Section(text("How it is protected"), tables=tuple(tables), notes=_notes(content))


def _notes(content: Mapping[str, Any]) -> tuple[str, ...]:
    notes = []
    if content.get("suggested_hierarchies"):
        notes.append(
            text(
                "These hierarchies were suggested by the program and should be reviewed: {columns}.",
                columns=", ".join(content["suggested_hierarchies"]),
            )
        )
    if content.get("quality"):
        notes.append(
            text(
                "Of loss, 0 is best. Of granularity, non-uniform entropy, discernibility and average class size, which "
                "are scaled as ARX does, 1 is best and 0 is nothing left."
            )
        )
    if content["columns_left_out"]:
        notes.append(
            text("Not released: {columns}.", columns=", ".join(content["columns_left_out"]))
        )
    return tuple(notes)


def _attained(attained: Mapping[str, Any]) -> Sequence[tuple[str, Cell]]:
    """Return what the release has, whatever was promised of it."""
    rows = [(text("smallest class or group"), count_cell(attained["k"]))]
    for secret in attained["sensitive"]:
        name = secret["sensitive"]
        rows += [
            (
                text("fewest values of {secret} in a class (l)", secret=name),
                count_cell(secret["l"]),
            ),
            (
                text("greatest share of one value of {secret} in a class", secret=name),
                Cell(number(secret["most_frequent"], ".4g")),
            ),
            (
                text("farthest class from all records, {secret} (t)", secret=name),
                Cell(number(secret["t"], ".4g")),
            ),
        ]
    return rows


def _parameters(content: Mapping[str, Any]) -> Sequence[tuple[str, Cell]]:
    """Return what was asked of the protection, by the names of the options; not those that it does not take."""
    parameters = content["parameters"]
    about = {"diversity": "l", "closeness": "t"}
    not_taken = _NOT_TAKEN.get("anatomy" if is_anatomy(content) else parameters.get("recoding"), ())
    return [
        (f"--{name.replace('_', '-')}", Cell(_given(value)))
        for name, value in parameters.items()
        if value not in ({}, None, [], False)
        and about.get(name, name) in parameters
        and name not in not_taken
    ]


def _given(value: object) -> str:
    """Return the value of an option as it is typed."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={weight:.15g}" for name, weight in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is True else str(value)


def _values(title: str, rows: Sequence[tuple[str, Cell]]) -> Table:
    return cell_table(title, [text("Value")], [(Cell(name), value) for name, value in rows])


QUALITIES = {
    "loss": marked("loss"),
    "granularity": marked("granularity"),
    "non_uniform_entropy": marked("non-uniform entropy"),
    "discernibility": marked("discernibility"),
    "average_class_size": marked("average class size"),
}
"""What the measures of what is left of the data are called."""


def protection_findings(outcome: Anonymisation, *, subject: str = "person") -> tuple[Finding, ...]:
    """Return who can still be named, whose secret is still known, what is safe now, and what it all costs."""
    naming, *inferring = zip(outcome.before.attacks, outcome.after.attacks, strict=True)
    content = outcome.to_dict()
    found = [_named(*naming, content, subject)]
    if inferring:
        worst = max(inferring, key=lambda pair: (pair[1].certain, pair[1].probabilistic.additive))
        found.append(_inferred(*worst, content, subject))
    found.extend(attained_findings(content, subject))
    found.append(cost_finding(content, subject))
    found.extend(suppressed_findings(outcome.suppressed, outcome.records, content["attained"]["k"]))
    return tuple(found)


def is_anatomy(content: Mapping[str, Any]) -> bool:
    """Tell whether the sensitive attribute is published apart, and nothing is recoded."""
    return bool(content["method"] == "anatomy")


def only_quasi_identifiers() -> str:
    """Say on what what is safe rests."""
    return text(
        "This holds as long as the adversary knows nothing of a person but the quasi-identifiers."
    )


def learned_without_a_name() -> str:
    """Say how a secret becomes known."""
    return text(
        "A secret can be learned without knowing whose record it is: it is enough that all records that may be a "
        "person's share it."
    )


def protect_the_secret() -> str:
    """Say what to do where people cannot be named, but their secrets inferred."""
    return text(
        "Protect the secret itself: l-diversity or t-closeness, or Anatomy, besides k-anonymity."
    )


def release_severity(after: Attack, risk: Fraction) -> Severity:
    """Return how much an attack on a release should worry; what hardly succeeds, and never surely, is safe."""
    grade = graded(risk, certain=after.certain > 0)
    return Severity.SAFE if grade == Severity.LOW else grade


def _named(before: Attack, after: Attack, content: Mapping[str, Any], subject: str) -> Finding:
    anatomy = is_anatomy(content)
    meaning, remedy = only_quasi_identifiers(), ""
    if after.certain and anatomy:
        meaning = text(
            "Of whoever is named, all that is published with the quasi-identifiers is read as well, but not the "
            "sensitive value: the group only tells that it is one of at least {count}.",
            count=min(secret["l"] for secret in content["attained"]["sensitive"]),
        )
        remedy = text(
            "Publish the quasi-identifiers in less detail, or fewer of them: Anatomy hides the sensitive value, not "
            "who is who."
        )
    elif after.certain:
        meaning = text(
            "Of whoever is named, all else that is released of the record is read as well."
        )
        remedy = text(
            "A stricter protection (a larger k, or fewer attributes released) makes it harder."
        )
    return Finding(
        release_severity(after, after.probabilistic.posterior),
        _naming_sentence(before, after, subject, anatomy=anatomy),
        figure=_before_and_after(before, after),
        meaning=meaning,
        remedy=remedy,
    )


def _naming_sentence(before: Attack, after: Attack, subject: str, *, anatomy: bool) -> str:
    said_before, said_after = frequencies(
        before.probabilistic.posterior, after.probabilistic.posterior
    )
    parts = {
        "people": counted(before.certain, subject),
        "records": number(before.records),
        "share": share(before.certain, before.records),
        "left": counted(after.certain, subject),
        "left_share": share(after.certain, after.records),
        "kept": number(after.records),
        "before": said_before,
        "after": said_after,
        "nobody": text("nobody")
        if after.records == before.records
        else text("none of the {kept} whose record is kept", kept=after.records),
    }
    if _same(before, after) and after.certain and anatomy:
        return text(
            "Anatomy does not protect against being named: with or without it {people} of {records} can be named with "
            "certainty ({share}), and a guess is right for {after}.",
            **parts,
        )
    if _same(before, after) and after.certain:
        return text(
            "This protection does not keep anybody from being named: with or without it {people} of {records} can be "
            "named with certainty ({share}), and a guess is right for {after}.",
            **parts,
        )
    if _same(before, after):
        return text(
            "The protection changes nothing for being named: with or without it nobody can be named with certainty, "
            "and a guess is right for {after}.",
            **parts,
        )
    if after.certain:
        return text(
            "Before, {people} of {records} could be named with certainty ({share}); in the protected release {left} of "
            "{kept} can ({left_share}), and a guess is right for {after} instead of {before}.",
            **parts,
        )
    if before.certain == 0:
        return text(
            "In the original nobody could be named with certainty; in the protected release {nobody} can, and a guess "
            "is right for {after} instead of {before}.",
            **parts,
        )
    return text(
        "Before, {people} of {records} could be named with certainty ({share}); in the protected release {nobody} can, "
        "and a guess is right for {after} instead of {before}.",
        **parts,
    )


def _same(before: Attack, after: Attack) -> bool:
    return (before.records, before.certain, before.probabilistic.posterior) == (
        after.records,
        after.certain,
        after.probabilistic.posterior,
    )


def _before_and_after(before: Attack, after: Attack) -> str:
    return text(
        "Original – {before}. Protected – {after}.",
        before=exact_figure(before),
        after=exact_figure(after),
    )


def _inferred(before: Attack, after: Attack, content: Mapping[str, Any], subject: str) -> Finding:
    grade = release_severity(after, learned(after))
    return Finding(
        grade,
        _inferring_sentence(before, after, subject),
        figure=_before_and_after(before, after),
        meaning=learned_without_a_name() if after.certain else only_quasi_identifiers(),
        remedy=_inferring_remedy(content) if grade != Severity.SAFE else "",
    )


def _inferring_remedy(content: Mapping[str, Any]) -> str:
    """Say what would protect the secret better than what was done."""
    if is_anatomy(content):
        return text(
            "Ask for a larger l: the more values every group has, the less it tells of a person."
        )
    if "t" in content["parameters"]:
        return text("Ask for a smaller t: every class then tells less beyond what all records do.")
    if "l" in content["parameters"]:
        return text(
            "Ask for a larger l, or for t-closeness: every class then tells less beyond what all records do."
        )
    return protect_the_secret()


def _inferring_sentence(before: Attack, after: Attack, subject: str) -> str:
    said_before, said_after = frequencies(
        before.probabilistic.posterior, after.probabilistic.posterior
    )
    parts = {
        "secret": enumeration(after.secret),
        "people": counted(after.certain, subject),
        "share": share(after.certain, after.records),
        "known": counted(before.certain, subject),
        "after": said_after,
        "before": said_before,
    }
    if after.certain:
        return text(
            "What the protection does not stop: in the protected release the {secret} of {people} ({share}) is known "
            "with certainty, because all records that may be theirs share it; in the original it is that of {known}.",
            **parts,
        )
    all_kept = after.records == before.records
    if before.certain and all_kept:
        return text(
            "Nobody's {secret} can be inferred with certainty any more; before it was that of {known}. A guess at it "
            "is right for {after} instead of {before}.",
            **parts,
        )
    if before.certain:
        return text(
            "Nobody's {secret} can be inferred with certainty any more, if their record is kept; before it was that of "
            "{known}. A guess at it is right for {after} instead of {before}.",
            **parts,
        )
    if _same(before, after):
        return text(
            "With or without the protection nobody's {secret} can be inferred with certainty, and a guess at it is "
            "right for {after}.",
            **parts,
        )
    return text(
        "Neither in the original nor in the protected release can anybody's {secret} be inferred with certainty; a "
        "guess at it is right for {after} instead of {before}.",
        **parts,
    )


def attained_findings(content: Mapping[str, Any], subject: str) -> Iterator[Finding]:
    """Yield what the release has, whatever was promised: how many look alike, or how a group hides the secret."""
    attained = content["attained"]
    if is_anatomy(content):
        for secret in attained["sensitive"]:
            yield _grouped(secret)
        return
    others = attained["k"] - 1
    if others > 0:
        yield Finding(
            Severity.SAFE,
            text_for(
                others,
                "In the protected release every {subject} whose record is kept looks like at least {count} other.",
                "In the protected release every {subject} whose record is kept looks like at least {count} others.",
                subject=singular(subject),
            ),
            figure=text("smallest class: {size} records", size=others + 1),
            meaning=text(
                "Whoever looks for one person always finds several, and cannot tell them apart."
            ),
        )


def _grouped(secret: Mapping[str, Any]) -> Finding:
    most = Fraction(secret["most_frequent"]).limit_denominator(10**9)
    return Finding(
        Severity.SAFE if secret["l"] > 1 else Severity.MODERATE,
        text_for(
            secret["l"],
            "A group tells of a person no more than that the {secret} is one of at least {count} value, the likeliest "
            "of which has a chance of at most {most}.",
            "A group tells of a person no more than that the {secret} is one of at least {count} values, the likeliest "
            "of which has a chance of at most {most}.",
            secret=enumeration([secret["sensitive"]]),
            most=percentage(most),
        ),
        figure=text(
            "{count} different values in every group at least; the most frequent has a share of {share}",
            count=secret["l"],
            share=number(secret["most_frequent"], ".6g"),
        ),
        meaning=text(
            "This holds for an adversary who looks at the person's group only and knows no secret of the others in it; "
            "glasshouse threat tells what the table as a whole gives away."
        ),
    )


def cost_finding(content: Mapping[str, Any], subject: str) -> Finding:
    """Say what a protection costs; without a loss, it is Anatomy."""
    loss = content.get("loss")
    if loss is None:
        return Finding(
            Severity.NOTE,
            text(
                "The cost: nothing is generalised and no record is suppressed, but the link between each {subject} and "
                "the sensitive value is cut inside each group.",
                subject=singular(subject),
            ),
            meaning=text(
                "What each attribute says by itself stays exact; what is asked of the sensitive value together with "
                "others becomes an estimate."
            ),
        )
    return Finding(
        Severity.NOTE,
        text("The protection costs nothing: no detail is lost.")
        if loss == 0
        else _cost_sentence(content, percentage(Fraction(loss))),
        figure=text(
            "loss {loss}; suppressed records: {suppressed}; classes: {classes}",
            loss=number(loss, ".6g"),
            suppressed=content["suppressed"],
            classes=content["classes"],
        ),
        meaning=text(
            "Detail that is lost cannot be used by anybody, honest users included; glasshouse compare shows what they "
            "lose."
        )
        if loss
        else "",
    )


def _cost_sentence(content: Mapping[str, Any], loss: str) -> str:
    """Say what is lost, and what is known of how good that is; only where it is about the loss itself."""
    if "objective" in content:
        return text(
            "The cost: {loss} of the detail is lost; what was made as good as possible is {objective} ({value}).",
            loss=loss,
            objective=_objective(content["parameters"]),
            value=number(content["objective"], ".4g"),
        )
    if content.get("optimal"):
        return text(
            "The cost: {loss} of the detail is lost, the least that this protection allows.",
            loss=loss,
        )
    bound = content.get("bound")
    if bound is not None:
        return text(
            "The cost: {loss} of the detail is lost, the least that was found; no recoding loses less than {bound}.",
            loss=loss,
            bound=percentage(Fraction(bound)),
        )
    if content["parameters"].get("recoding") == "mondrian":
        return text("The cost: {loss} of the detail is lost.", loss=loss)
    return text("The cost: {loss} of the detail is lost, the least that was found.", loss=loss)


def _objective(parameters: Mapping[str, Any]) -> str:
    name = translated(QUALITIES[parameters.get("objective", "loss")])
    if parameters.get("importance"):
        return text("{objective} with attributes weighed", objective=name)
    return name


def suppressed_findings(count: int, records: int, smallest: int) -> Iterator[Finding]:
    """Yield how many records are suppressed, and a warning where they are fewer than any class."""
    if count == 0:
        return
    figure = text("{suppressed} of {records} records suppressed", suppressed=count, records=records)
    hidden = share(count, records)
    if count >= smallest:
        yield Finding(
            Severity.NOTE,
            text_for(
                count,
                "{count} record ({share}) is suppressed: it stays in the file, but tells nothing of who it is.",
                "{count} records ({share}) are suppressed: they stay in the file, but tell nothing of who they are.",
                share=hidden,
            ),
            figure=figure,
            meaning=text(
                "Suppressed records form no class and are left out of every risk after the protection."
            ),
        )
        return
    yield Finding(
        Severity.MODERATE,
        text_for(
            count,
            "Only {count} record ({share}) is suppressed: whoever knows that a person took part and finds no class for "
            "them knows that it is this one.",
            "Only {count} records ({share}) are suppressed: whoever knows that a person took part and finds no class "
            "for them knows that it is one of these.",
            share=hidden,
        ),
        figure=figure,
        meaning=text("The sensitive values of suppressed records are still in the file."),
        remedy=text("Leave these records out of the file, or allow more suppression."),
    )
