"""The report of a protected release: the way to it step by step, each attack before and after, and what it costs.

The page comes first, then the first screen, then the findings: what a protection buys, what it costs, and what it does
not stop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from glasshouse.language import marked, number, percentage, text, text_for, translated
from glasshouse.measures.attacks import learned
from glasshouse.measures.verdict import Verdict
from glasshouse.microdata import Assessment, Attack
from glasshouse.microdata.survey_weights import WeightedClasses
from glasshouse.mitigation import Anonymisation
from glasshouse.report.anonymise.costs import costs_figure, costs_section
from glasshouse.report.anonymise.dictionary import generalisation_table
from glasshouse.report.anonymise.front import (
    absent,
    actions,
    columns_gone,
    detail_meaning,
    ladder_figure,
    several,
    tiles,
)
from glasshouse.report.assess.households import household_finding
from glasshouse.report.attacks import (
    METHOD,
    MOST_NAMED,
    exact_figure,
    protect_the_secret,
    release_severity,
    success_steps,
    target_label,
)
from glasshouse.report.cells import (
    cell_table,
    certain_cell,
    count_cell,
    float_cell,
    number_cell,
    under,
)
from glasshouse.report.charts import (
    NEUTRAL,
    TARGETS,
    figure_of,
    successes_chart,
    successes_table,
)
from glasshouse.report.glossary import glossary
from glasshouse.report.labels import column_label, column_labels
from glasshouse.report.page import (
    Brief,
    Cell,
    Figure,
    Finding,
    Page,
    Provenance,
    Section,
    Severity,
    note,
    reassurance,
)
from glasshouse.report.provenance import missing_notes, treatment_blocks, treatment_section
from glasshouse.report.words import (
    counted,
    enumeration,
    percentages,
    plural,
    remarks,
    sentences,
    share,
    singular,
)
from glasshouse.study.anonymise import AnonymiseStudy

_NOT_TAKEN = {"anatomy": ("recoding", "objective", "diversity"), "mondrian": ("objective",)}
"""The options that have a value but no meaning with Anatomy or a kind of recoding."""
LIMITS = (
    marked(
        "Every risk is an exact ratio of counts in this release, not an estimate. Suppressed records are left out of "
        "the figures after the protection; where they stay in the file, the verdict counts them as a class of their "
        "own."
    ),
    marked(
        "A protection holds against what the adversary is assumed to know. Someone who knows more, or has "
        "another release about the same people, may learn more."
    ),
)
RANDOM_LIMITS = (
    marked(
        "The risks are those of the channel from true to released values, for this release and one random "
        "person whose true values are known. Attacks on the file alone take released values for true ones, "
        "and measure another adversary."
    ),
    LIMITS[1],
)
AS_THEY_ARE = marked("Released as they are, and in no figure: {columns}.")
CERTAINTY = {
    marked("Known for certain"): marked("Records whose secret she infers with probability 1.")
}
LEVEL = {
    marked("Level"): marked(
        "How far a value is generalised: level 0 is the value itself, the highest reveals nothing."
    )
}
SUGGESTED = marked(
    "These hierarchies were suggested by the program and should be reviewed: {columns}."
)
SCALES = marked(
    "Of loss, 0 is best. Of granularity, non-uniform entropy, discernibility and average class size, which are scaled "
    "as ARX does, 1 is best and 0 is nothing left."
)


def brief(
    outcome: Anonymisation,
    question: AnonymiseStudy,
    *,
    verdict: Verdict | None = None,  # noqa: ARG001 - as every brief
) -> Brief:
    """Return what a terminal says of a protected release."""
    protected = text_for(
        outcome.records,
        "{dataset}: {count} record, {method}",
        "{dataset}: {count} records, {method}",
        dataset=outcome.dataset,
        method=_promise(outcome),
    )
    rows = [
        (
            target_label(after.secret),
            *(percentage(attack.deterministic.posterior) for attack in (before, after)),
            *(percentage(attack.probabilistic.posterior) for attack in (before, after)),
        )
        for before, after in outcome.pairs
    ]
    after = text("after")
    measures = (text("certain: before"), after, text("guess right: before"), after)
    title = text("With all quasi-identifiers, before and after")
    return Brief(
        (
            " ".join(filter(None, (protected, absent(outcome)))),
            *treatment_blocks(outcome.steps, missing_notes(outcome.before.missing)),
            *([generalisation_table(outcome, short=True)] if outcome.hierarchies else []),
            cell_table(text("attack"), measures, rows, title),
        ),
        protection_findings(outcome, subject=question.subject),
        notes=_review(outcome),
    )


def _review(outcome: Anonymisation) -> tuple[str, ...]:
    """Return what a publisher has to review."""
    suggested = [used for used in outcome.hierarchies if used.suggested]
    columns = {
        marked(
            "suggested hierarchies: {columns}; review them, or give your own with --hierarchy"
        ): [used.column for used in suggested if used.height > 2],
        marked(
            "shown in full or not at all, being categories: {columns}; --hierarchy groups their values"
        ): [used.column for used in suggested if used.height <= 2 and not used.mixed],
        marked(
            "shown in full or not at all, as not all values are numbers: {columns}; --invalid COLUMN=VALUE,… "
            "leaves out records with the others, such as NA, and intervals are suggested"
        ): [used.column for used in suggested if used.height <= 2 and used.mixed],
        marked(
            "columns not released: {columns}; --keep COLUMN releases one as it is"
        ): outcome.left_out,
        marked("released as they are, and in no figure: {columns}"): outcome.parameters.get("keep"),
    }
    return tuple(
        translated(message, columns=", ".join(names)) for message, names in columns.items() if names
    )


def page(
    outcome: Anonymisation,
    question: AnonymiseStudy,
    *,
    provenance: Provenance,
    verdict: Verdict | None = None,
) -> Page:
    """Return the report of a protected release."""
    content = outcome.to_dict()
    done = treatment_section(outcome.steps, missing_notes(outcome.before.missing))
    costs = {} if outcome.costs is None else {text("error"): outcome.costs}
    sections = (_risks(outcome), _protection(outcome, content), costs_section(costs), done)
    as_they_are = ", ".join(content["parameters"].get("keep") or ())
    findings = protection_findings(outcome, subject=question.subject)
    return Page(
        title=text("A protected release, and what it still reveals"),
        lead=text(
            "{records} records of {dataset}, protected by {method}",
            records=outcome.records,
            dataset=outcome.dataset,
            method=_promise(outcome),
        ),
        findings=findings,
        summary=" ".join(
            filter(
                None,
                (_summary(outcome, question.subject), absent(outcome), columns_gone(outcome)),
            )
        ),
        tiles=tiles(outcome, question.subject),
        actions=actions(outcome, question, verdict),
        front=ladder_figure(outcome) if outcome.ladder else _before_and_after(outcome),
        adversary=(
            exact_knowledge(outcome.before.attacks[0].quasi_identifiers),
            text(
                "The quasi-identifiers are published as they are. She knows which group a record is in, and which "
                "sensitive values the group holds: both are published."
            )
            if outcome.grouped
            else _change_known(outcome) or recoding_known(),
        ),
        limits=sentences(
            *(RANDOM_LIMITS if outcome.method == "perturbation" else LIMITS),
            bool(as_they_are) and AS_THEY_ARE,
            columns=as_they_are,
        ),
        glossary=glossary(
            "adversary, quasi-identifier, sensitive attribute, class, re-identification",
            "attribute inference, generalisation, suppression",
            *_TERMS.get(outcome.method, (outcome.method,)),
            content.get("loss") is not None and "loss",
            terms=(CERTAINTY, bool(outcome.hierarchies) and LEVEL),
        ),
        provenance=provenance,
        command="glasshouse anonymise --study study.toml",
        method=METHOD,
        figures=tuple(filter(None, [costs_figure(outcome.costs)])),
        sections=tuple(filter(None, sections)),
    )


_TERMS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("risk", "policy", "microaggregation", "perturbation"), ()),
    "anatomy": ("Anatomy",),
}
"""What the glossary explains of a method, where it is not the word of the method."""
_PROMISES = {
    "k-anonymity": marked("k-anonymity"),
    "l-diversity": marked("l-diversity"),
    "t-closeness": marked("t-closeness"),
    "anatomy": marked("Anatomy"),
    "risk": marked("limits on the risk"),
    "policy": marked("the conditions of a rule"),
    "microaggregation": marked("means of groups"),
    "perturbation": marked("changed values"),
}


_LETTERS = {"k": "k", "l": "l", "t": "t", "beta": "β", "delta": "δ", "k_map": "k-map"}
"""How parameters of a promise are written, by the names of the options."""


def _promise(outcome: Anonymisation) -> str:
    """Say what is promised of a release, with its parameters."""
    promised_parameters = ", ".join(
        f"{letter} = {number(outcome.parameters[name], '.6g')}"
        for name, letter in _LETTERS.items()
        if outcome.parameters.get(name) is not None
    )
    method = translated(_PROMISES[outcome.method])
    sample = outcome.parameters.get("sample")
    if sample is not None:
        method = text("a random sample") if not outcome.changed else method
        promised_parameters = percentage(Fraction(str(sample)))
    return f"{method} ({promised_parameters})" if promised_parameters else method


def _summary(outcome: Anonymisation, subject: str) -> str:
    """Return the sentence of the first screen: who can be named still, and whose secret is known still."""
    naming, *inferring = outcome.after.attacks
    words = {"many": plural(subject), "share": percentage(naming.deterministic.posterior)}
    if naming.certain:
        named = text("{share} of {many} can still be identified outright.", **words)
    elif outcome.suppressed:
        named = text("Nobody whose record is kept can be identified outright.")
    else:
        named = text("Nobody can be identified outright.")
    if not inferring:
        return named
    most = max(inferring, key=lambda attack: attack.deterministic.posterior)
    words = {
        "named": named,
        "many": plural(subject),
        "secret": enumeration(most.secret),
        "share": percentage(most.deterministic.posterior),
    }
    if most.certain:
        return text(
            "{named} The {secret} of {share} of {many} is still known for certain.", **words
        )
    return text("{named} No sensitive value is known for certain.", **words)


def _before_and_after(outcome: Anonymisation) -> Figure:
    """Show each attack on the original and on the release."""
    steps, kinds = success_steps(outcome.pairs), [text("original"), text("protected")]
    return figure_of(
        successes_chart(
            steps,
            kinds,
            field="what",
            colours=[NEUTRAL, TARGETS[0][0]],
            shapes=["circle", "diamond"],
            title=guesses_change(*outcome.pairs[0]).rstrip("."),
            subtitle=text("with all quasi-identifiers; suppressed records are left out"),
        ),
        label=text("Each attack on the original and on the protected release"),
        caption=text(
            "Grey circles: the original. Orange diamonds: the protected release. Further left is safer."
        ),
        table=successes_table(steps, kinds),
    )


def exact_knowledge(names: Sequence[str]) -> str:
    """Say that the adversary knows all quasi-identifiers of the person, whose record is in the release."""
    return text(
        "The adversary knows that the person’s record is in the release, and knows that person’s quasi-identifiers "
        "exactly: {known}.",
        known=enumeration(names),
    )


def _change_known(outcome: Anonymisation) -> str:
    """Say what the adversary knows of how values were changed; nothing where they were not."""
    if outcome.method == "microaggregation":
        return text(
            "She knows the groups whose means are released, so that she finds that of a person."
        )
    if outcome.method == "perturbation":
        return text(
            "She knows the rules by which values were changed, but not what was drawn, and how frequent every "
            "combination of values is."
        )
    return ""


def recoding_known() -> str:
    """Say that the adversary finds the class of a person."""
    return text(
        "She knows how the quasi-identifiers were recoded, so that she finds the class that a person falls into."
    )


def guesses_change(before: Attack, after: Attack) -> str:
    """Say how often guesses are right after something, and how often before; a direction only where figures differ."""
    first, last = before.probabilistic.posterior, after.probabilistic.posterior
    said_before, said_after = percentages(first, last)
    words = {
        "before": said_before,
        "after": said_after,
        "secret": enumeration(after.secret),
    }
    if said_before == said_after:
        template = (
            marked("Guesses at the {secret} are right in {after} of cases, as before.")
            if after.secret
            else marked("Guesses at who it is are right in {after} of cases, as before.")
        )
    elif last < first:
        template = (
            marked("Guesses at the {secret} are right in {after} of cases, down from {before}.")
            if after.secret
            else marked("Guesses at who it is are right in {after} of cases, down from {before}.")
        )
    else:
        template = (
            marked("Guesses at the {secret} are right in {after} of cases, up from {before}.")
            if after.secret
            else marked("Guesses at who it is are right in {after} of cases, up from {before}.")
        )
    return translated(template, **words)


def _risks(outcome: Anonymisation) -> Section:
    titles = (text("known for certain"), text("guess right"))
    columns = [*under(text("Before"), *titles), *under(text("After"), *titles)]
    rows = [
        (
            Cell(target_label(after.secret), mark=after.code),
            *(
                cell
                for attack in (before, after)
                for cell in (certain_cell(attack), number_cell(attack.probabilistic.posterior))
            ),
        )
        for before, after in outcome.pairs
    ]
    return Section(
        text("What an adversary learns, before and after"),
        text("With all quasi-identifiers."),
        (cell_table(text("Attack"), columns, rows),),
    )


def _protection(outcome: Anonymisation, content: Mapping[str, Any]) -> Section:
    quality = content.get("quality") or {}
    rows = [
        (text("method"), Cell(content["method"])),
        *_parameters(content),
        (text("classes or groups"), count_cell(content["classes"])),
        (text("suppressed records"), count_cell(content["suppressed"])),
        *_attained(content),
        *(
            (translated(QUALITIES[name]), float_cell(value, ".6g"))
            for name, value in quality.items()
            if name in QUALITIES
        ),
    ]
    tables = [cell_table(text("Protection"), [text("Value")], rows)]
    if outcome.hierarchies:
        tables.append(generalisation_table(outcome))
    suggested = ", ".join(content.get("suggested_hierarchies") or ())
    left_out = column_labels(content["columns_left_out"])
    notes = (
        *sentences(bool(suggested) and SUGGESTED, columns=suggested),
        *sentences(bool(quality) and SCALES),
        *sentences(bool(left_out) and marked("Not released: {columns}."), columns=left_out),
    )
    return Section(text("How it is protected"), tables=tuple(tables), notes=notes)


def _attained(content: Mapping[str, Any]) -> Sequence[tuple[str, Cell]]:
    """Return what the release has, whatever was promised of it."""
    attained, equal = content["attained"], content["parameters"].get("closeness") in (None, "equal")
    if content["method"] == "perturbation":  # of the file, whose values need not be true
        return []
    rows = [(text("smallest class or group"), count_cell(attained["k"]))]
    farthest_class = marked("farthest class from all records, {secret} (t)")
    if not equal:
        farthest_class = marked(
            "farthest class from all records, {secret} (t with equal distances)"
        )
    for secret in attained["sensitive"]:
        name = column_label(secret["sensitive"])
        frequent, far = (Cell(number(secret[key], ".4g")) for key in ("most_frequent", "t"))
        fewest = text("fewest values of {secret} in a class (l)", secret=name)
        share_of_one = text("greatest share of one value of {secret} in a class", secret=name)
        farthest = translated(farthest_class, secret=name)
        rows += [(fewest, count_cell(secret["l"])), (share_of_one, frequent), (farthest, far)]
    return rows


def _parameters(content: Mapping[str, Any]) -> Sequence[tuple[str, Cell]]:
    """Return what was asked of the protection, by the names of the options; not those that it does not take."""
    parameters = content["parameters"]
    about = {"diversity": "l", "closeness": "t"}
    kind = content["method"] if content["method"] == "anatomy" else parameters.get("recoding")
    not_taken = _NOT_TAKEN.get(kind or "", ())
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
        return ", ".join(
            f"{name}={entry}" if isinstance(entry, str) else f"{name}={entry:.15g}"
            for name, entry in value.items()
        )
    if isinstance(value, list):
        return (":" if all(isinstance(entry, float) for entry in value) else ", ").join(
            map(str, value)
        )
    return "" if value is True else str(value)


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
    naming, *inferring = outcome.pairs
    content = outcome.to_dict()
    inferring.sort(key=lambda pair: (-pair[1].certain, -pair[1].probabilistic.additive))
    return (
        _named(*naming, content, subject),
        *(_inferred(*pair, content, subject) for pair in inferring),
        *attained_findings(content, subject),
        *_people_findings(outcome),
        *(
            []
            if outcome.after.households is None
            else [household_finding(outcome.after.households)]
        ),
        *([] if outcome.matched is None else [_matched_finding(outcome.after, outcome.matched)]),
        *([_unmatched_finding()] if outcome.too_blank else []),
        cost_finding(content, subject),
        *suppressed_findings(
            outcome.suppressed,
            outcome.records,
            content["attained"]["k"],
            dropped=bool(outcome.parameters.get("drop_suppressed")),
        ),
    )


def _matched_finding(after: Assessment, matched: Assessment) -> Finding:
    """Say what is learned by who takes a blank cell for any value."""
    naming, *inferring = matched.attacks
    sentence = text(
        "Someone who takes a blank cell for any value finds at least {least} records for everybody, and a best guess "
        "at who it is would be right in {guess} of cases; by what the file says, blanks included, in {by_class}.",
        least=number(naming.class_sizes.smallest),
        guess=percentage(naming.probabilistic.posterior),
        by_class=percentage(after.attacks[0].probabilistic.posterior),
    )
    figure = "; ".join(exact_figure(attack) for attack in (naming, *inferring))
    return note(sentence, figure, text("The verdict takes the worse of both."))


def _unmatched_finding() -> Finding:
    """Say that nobody looked at what is learned by who takes a blank cell for any value."""
    return note(
        text(
            "What a blank cell, taken for any value, would let someone believe was not looked at: cells are blank in "
            "too many ways."
        ),
        meaning=text("The verdict rests on what the file says, blanks included."),
    )


def only_quasi_identifiers() -> str:
    """Say on what what is safe rests."""
    return text(
        "This holds as long as the adversary knows nothing about a person but the quasi-identifiers."
    )


def learned_without_a_name() -> str:
    """Say how a secret becomes known."""
    return text(
        "A secret can be learned without finding the record: it is enough that all records that may be a "
        "person's share it."
    )


def _named(before: Attack, after: Attack, content: Mapping[str, Any], subject: str) -> Finding:
    anatomy = content["method"] == "anatomy"
    meaning, remedy = only_quasi_identifiers(), ""
    if after.certain and anatomy:
        meaning = text(
            "Once a person is identified, everything published with the quasi-identifiers is known, too, but not "
            "the sensitive value: the group only shows that it is one of at least {count}.",
            count=min(secret["l"] for secret in content["attained"]["sensitive"]),
        )
        remedy = text(
            "Publish the quasi-identifiers in less detail, or fewer of them: Anatomy hides the sensitive value, not "
            "who is who."
        )
    elif after.certain:
        meaning = text(
            "Once a person is identified, everything else that is released in the record is known, too."
        )
    severity = release_severity(after, after.probabilistic.posterior)
    if severity != Severity.SAFE and not anatomy:
        remedy = text(
            "A stricter protection makes it harder: more people who look alike (a larger k), or fewer columns."
        )
    return Finding(
        severity,
        _naming_sentence(before, after, subject, anatomy=anatomy),
        _exact_figures(before, after),
        meaning,
        remedy,
    )


def _naming_sentence(before: Attack, after: Attack, subject: str, *, anatomy: bool) -> str:
    words = {
        "certain": number(before.certain),
        "people": counted(before.records, subject),
        "share": share(before.certain, before.records),
        "left": number(after.certain),
        "kept": counted(after.records, subject),
        "left_share": share(after.certain, after.records),
    }
    if _same(before, after) and after.certain and anatomy:
        template = marked(
            "Anatomy does not protect against identification: with or without it {certain} of {people} ({share}) "
            "can be identified outright."
        )
    elif _same(before, after) and after.certain:
        template = marked(
            "The protection changes nothing for identification: with or without it {certain} of {people} "
            "({share}) can be identified outright."
        )
    elif _same(before, after):
        template = marked(
            "The protection changes nothing for identification: with or without it nobody can be identified "
            "outright."
        )
    elif after.certain:
        template = marked(
            "In the protected release {left} of {kept} ({left_share}) can be identified outright; in the "
            "original {certain} of {people} ({share}) can."
        )
    elif before.certain == 0:
        template = marked(
            "Nobody can be identified outright, neither in the original nor in the protected release."
        )
    elif after.records == before.records:
        template = marked(
            "Nobody can be identified outright in the protected release; in the original {certain} of {people} "
            "({share}) can."
        )
    else:
        template = marked(
            "Nobody whose record is kept can be identified outright in the protected release; in the original "
            "{certain} of {people} ({share}) can."
        )
    return f"{translated(template, **words)} {guesses_change(before, after)}"


def _same(before: Attack, after: Attack) -> bool:
    first, second = (
        (attack.records, attack.certain, attack.probabilistic.posterior)
        for attack in (before, after)
    )
    return first == second


def _exact_figures(before: Attack, after: Attack) -> str:
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
        _exact_figures(before, after),
        learned_without_a_name() if after.certain else only_quasi_identifiers(),
        _inferring_remedy(content) if grade != Severity.SAFE else "",
    )


def _inferring_remedy(content: Mapping[str, Any]) -> str:
    """Say what would protect the secret better than what was done."""
    if content["method"] == "anatomy":
        return text(
            "Ask for groups with more different values (a larger l): the more there are, the less a group "
            "reveals."
        )
    if "t" in content["parameters"]:
        return text(
            "Ask for groups that are more like all records (a smaller t): each then reveals less about a person."
        )
    if "l" in content["parameters"]:
        return text(
            "Ask for groups with more different values (a larger l), or that are more like all records (t-closeness)."
        )
    return protect_the_secret()


def _inferring_sentence(before: Attack, after: Attack, subject: str) -> str:
    words = {
        "secret": enumeration(after.secret),
        "people": counted(after.certain, subject),
        "share": share(after.certain, after.records),
        "known": counted(before.certain, subject),
        "known_share": share(before.certain, before.records),
    }
    if after.records != before.records:
        words["share"] = text("{share} of those whose record is kept", share=words["share"])
    if after.certain:
        template = marked(
            "What the protection does not stop: the {secret} of {people} ({share}) is known for certain, because all "
            "records that may be theirs share it; in the original it is that of {known} ({known_share})."
        )
    elif before.certain and after.records == before.records:
        template = marked(
            "Nobody's {secret} is known for certain any more; in the original that of {known} ({known_share}) is."
        )
    elif before.certain:
        template = marked(
            "Nobody's {secret} is known for certain any more, if their record is kept; in the original that of {known} "
            "({known_share}) is."
        )
    else:
        template = marked(
            "Nobody's {secret} is known for certain, neither in the original nor in the protected release."
        )
    return f"{translated(template, **words)} {guesses_change(before, after)}"


def attained_findings(content: Mapping[str, Any], subject: str) -> Iterator[Finding]:
    """Yield what the release has, whatever was promised: how many look alike, or how a group hides the secret."""
    attained = content["attained"]
    if content["method"] == "perturbation":
        return
    if content["method"] == "anatomy":
        for secret in attained["sensitive"]:
            yield _grouped(secret)
        return
    alike = attained["k"] - 1
    if alike > 0:
        yield reassurance(
            text_for(
                alike,
                "In the protected release every {subject} whose record is kept looks like at least {count} other.",
                "In the protected release every {subject} whose record is kept looks like at least {count} others.",
                subject=singular(subject),
            ),
            figure=text("smallest class: {size} records", size=alike + 1),
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
            "A group reveals no more about a person than that the {secret} is one of at least {count} value, the "
            "likeliest of which has a chance of at most {most}.",
            "A group reveals no more about a person than that the {secret} is one of at least {count} values, "
            "the likeliest of which has a chance of at most {most}.",
            secret=enumeration([secret["sensitive"]]),
            most=percentage(most),
        ),
        figure=text(
            "{count} different values in every group at least; the most frequent has a share of {share}",
            count=secret["l"],
            share=number(secret["most_frequent"], ".6g"),
        ),
        meaning=text(
            "This holds for an adversary who looks at the person's group only and knows no secret of the others "
            "in it; glasshouse threat shows what the table as a whole gives away."
        ),
    )


def _weighted_finding(weighted: WeightedClasses, unsure: str) -> Finding:
    """Say how many people classes stand for by survey weights, and that the weights are released."""
    return note(
        text(
            "By the weights of {column}, the records stand for {people} people, and every released class for at "
            "least {fewest}: a record is identified with a chance of at most {highest}, and of {average} on "
            "average. The weights are released as they are; a rare weight can tell records apart.",
            column=column_label(weighted.column),
            people=number(float(weighted.people), ",.6g"),
            fewest=number(float(weighted.fewest), ",.6g"),
            highest=percentage(weighted.highest),
            average=percentage(weighted.average),
        ),
        figure=text(
            "k-map, estimated: {fewest}; individual risk on average {average}",
            fewest=number(float(weighted.fewest), ",.6g"),
            average=number(float(weighted.average), ".6g"),
        ),
        meaning=text(
            "An estimate, not a count: as many people fit a class as the weights of its records add up to. What is "
            "lost is counted by the weights, too."
        )
        + " "
        + unsure,
    )


def _people_findings(outcome: Anonymisation) -> Iterator[Finding]:
    """Yield what the release tells beside the population behind its records, counted or estimated."""
    behind, estimate = outcome.people, outcome.estimate
    unsure = text(
        "This is about an adversary who does not know whether a person is in the release; the other figures are about "
        "one who knows it."
    )
    if behind is not None:
        yield note(
            text(
                "Every released class fits at least {fewest} of the {people} people of {register}. One of them is in "
                "the release with a chance between {low} and {high}; a guess at which record is theirs is right with a "
                "chance of {naming}. {share} of the released records belong to people who are alone there.",
                fewest=number(behind.fewest),
                people=number(behind.people),
                register=behind.population,
                low=percentage(behind.lowest),
                high=percentage(behind.highest),
                naming=percentage(behind.naming),
                share=share(behind.uniques, behind.records),
            ),
            figure=text(
                "k-map {fewest}; presence from {low} to {high}; population uniques: {uniques} of {records} records",
                fewest=behind.fewest,
                low=str(behind.lowest),
                high=str(behind.highest),
                uniques=behind.uniques,
                records=behind.records,
            ),
            meaning=unsure,
        )
    if outcome.weighted is not None:
        yield _weighted_finding(outcome.weighted, unsure)
    if estimate is not None and estimate.share_of_population is not None:
        yield note(
            text(
                "An estimate, not a count: {share} of the population is alone in its class, by the rule of Dankar et "
                "al. ({remarks}), if the data is a simple random sample of {fraction} of it.",
                share=percentage(Fraction(estimate.share_of_population)),
                remarks=remarks(estimate.note),
                fraction=percentage(Fraction(str(outcome.parameters["fraction"]))),
            ),
            figure=text(
                "population uniques, estimated: {population}",
                population=number(estimate.population_uniques or 0, ",.6g"),
            ),
            meaning=unsure,
        )


def cost_finding(content: Mapping[str, Any], subject: str) -> Finding:
    """Say what a protection costs; without a loss, it is Anatomy."""
    loss = content.get("loss")
    if content["method"] == "microaggregation":
        return note(
            text(
                "The cost: {share} of the squared differences between the numbers of records is lost; totals and means "
                "stay what they were, but for rounding.",
                share=percentage(Fraction(loss or 0)),
            ),
            figure=text("squared error {loss}", loss=number(loss or 0, ".6g")),
        )
    if content["method"] == "perturbation":
        return _cost_of_chance(content)
    if loss is None:
        return note(
            text(
                "The cost: nothing is generalised and no record is suppressed, but the link between each {subject} and "
                "the sensitive value is cut inside each group.",
                subject=singular(subject),
            ),
            meaning=text(
                "What each column says by itself stays exact; questions about the sensitive value together with "
                "other columns get estimates."
            ),
        )
    return note(
        " ".join(_cost_sentences(content, Fraction(content["detail_lost"]))),
        figure=text(
            "Loss metric {loss}; suppressed records: {suppressed}; classes: {classes}",
            loss=number(loss, ".6g"),
            suppressed=content["suppressed"],
            classes=content["classes"],
        ),
        meaning=_cost_meaning(content) if loss else "",
    )


def _cost_of_chance(content: Mapping[str, Any]) -> Finding:
    """Say how many values are not what they were, and how many records there are still."""
    said = [
        text(
            "{column}: {share} of the records still have their value",
            column=column_label(column["column"]),
            share=percentage(Fraction(column["unchanged"]).limit_denominator(10**9)),
        )
        for column in content.get("changed", ())
    ]
    sample = content["parameters"].get("sample")
    if sample is not None:
        said.append(
            text(
                "the file is a sample of {share} of the records",
                share=percentage(Fraction(str(sample))),
            )
        )
    return note(
        text("The cost: {changes}.", changes="; ".join(said)),
        meaning=text(
            "Whoever uses the file must know the rules to estimate from it what the data said; they may be published, "
            "the seed may not."
        ),
    )


def _cost_meaning(content: Mapping[str, Any]) -> str:
    if content["parameters"].get("recoding", "global") != "global":
        return " ".join(
            (
                text("Detail that is lost cannot be used by anybody, honest users included."),
                detail_meaning(),
            )
        )
    meaning = text(
        "Detail that is lost cannot be used by anybody, honest users included. Generalised record by record, the same "
        "promise often costs less, and may give away more."
    )
    return f"{meaning} {detail_meaning()}"


def _cost_sentences(content: Mapping[str, Any], loss: Fraction) -> Iterator[str]:
    """Yield what is lost, what is known of how good that is, and what became of the columns."""
    if loss == 0:
        yield text("The protection costs nothing: no detail is lost.")
        yield from _left_out(content)
        return
    yield _cost_sentence(content, percentage(loss))
    detail = content["quality"]["attributes"]
    recoded = [rung["column"] for rung in content.get("ladder", ()) if rung["column"] is not None]
    untold = [name for name in recoded if detail[name]["granularity"] <= 0]
    coarser = [name for name in recoded if name not in untold]
    if untold:
        yield text("No longer shown: {columns}.", columns=enumeration(untold))
    if coarser and len(coarser) <= MOST_NAMED:
        yield text("In less detail: {columns}.", columns=enumeration(coarser))
    yield from _left_out(content)


def _left_out(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield which columns of the data are not in the file."""
    if names := content.get("columns_left_out"):
        yield text("Columns left out of the file: {columns}.", columns=several(names))


def _cost_sentence(content: Mapping[str, Any], loss: str) -> str:
    """Say what is lost, and what is known of how good that is; only where it is about the loss itself."""
    parameters, bound = content["parameters"], content.get("bound")
    if "objective" in content:
        objective = translated(QUALITIES[parameters.get("objective", "loss")])
        if parameters.get("importance"):
            objective = text("{objective} with columns weighed", objective=objective)
        return text(
            "The cost: {loss} of the detail is lost; what was made as good as possible is {objective}.",
            loss=loss,
            objective=objective,
        )
    if content.get("optimal"):
        template = marked(
            "The cost: {loss} of the detail is lost. It is proved that no version that generalises a value alike in "
            "all records meets this protection with a smaller Loss metric."
        )
    elif bound is not None:
        template = marked(
            "The cost: {loss} of the detail is lost, in the best version that was found; none that generalises a value "
            "alike in all records can have a Loss metric below {bound} (found: {metric})."
        )
    elif parameters.get("recoding") == "mondrian":
        template = marked("The cost: {loss} of the detail is lost.")
    else:
        template = marked(
            "The cost: {loss} of the detail is lost, in the best version that was found."
        )
    return translated(
        template,
        loss=loss,
        bound=percentage(Fraction(bound or 0)),
        metric=percentage(Fraction(content["loss"])),
    )


def suppressed_findings(
    count: int, records: int, smallest: int, *, dropped: bool = False
) -> Iterator[Finding]:
    """Yield how many records are suppressed, and a warning where they are in the file and fewer than any class."""
    if count == 0:
        return
    figure = text("{suppressed} of {records} records suppressed", suppressed=count, records=records)
    hidden = share(count, records)
    if dropped:
        yield note(
            text_for(
                count,
                "{count} record ({share}) is suppressed and left out of the file.",
                "{count} records ({share}) are suppressed and left out of the file.",
                share=hidden,
            ),
            figure=figure,
            meaning=text("Totals over the file are of the records that are kept."),
        )
        return
    if count >= smallest:
        yield note(
            text_for(
                count,
                "{count} record ({share}) is suppressed: it stays in the file, with “*” for all that could be known.",
                "{count} records ({share}) are suppressed: they stay in the file, with “*” for all that could be "
                "known.",
                share=hidden,
            ),
            figure=figure,
            meaning=text(
                "The figures after the protection leave suppressed records out; the verdict also counts them as a "
                "class of their own."
            ),
        )
        return
    yield Finding(
        Severity.MODERATE,
        text_for(
            count,
            "Only {count} record ({share}) is suppressed: anyone who knows that a person took part and finds no "
            "class for them knows that it is this one.",
            "Only {count} records ({share}) are suppressed: anyone who knows that a person took part and finds "
            "no class for them knows that it is one of these.",
            share=hidden,
        ),
        figure=figure,
        meaning=text("The sensitive values of suppressed records are still in the file."),
        remedy=text("Leave these records out of the file (--drop-suppressed)."),
    )
