"""The report on people with several records: how far a pseudonym protects somebody of whom a few records are known.

Three sayings are kept apart: the records that somebody *happens to know*, *some* records that give a person away, and
*any* records. The number of people who have so many records stands beside every figure, and what would tell of fewer
people than the smallest cell is not told.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from glasshouse.disclosure import is_shown
from glasshouse.language import marked, number, percentage, text, text_for, translated
from glasshouse.measures.discretion import falling
from glasshouse.microdata.leakage import Leakage
from glasshouse.microdata.people import Another, Knowing, People, curves
from glasshouse.report import vega
from glasshouse.report.assess.front import command_words
from glasshouse.report.attacks import change_the_pseudonym
from glasshouse.report.cells import NOTHING, cell_rows, cell_table, group_table
from glasshouse.report.charts import NEUTRAL, PER_CENT, TARGETS, figure_of, keyed, plot, titled
from glasshouse.report.discretion import Among
from glasshouse.report.glossary import glossary
from glasshouse.report.labels import column_labels
from glasshouse.report.page import (
    Action,
    Brief,
    Cell,
    Figure,
    Finding,
    Group,
    Page,
    Provenance,
    Section,
    Severity,
    Table,
    Tile,
)
from glasshouse.report.provenance import missing_notes, treatment_blocks, treatment_section
from glasshouse.report.severity import graded
from glasshouse.report.words import (
    counted,
    enumeration,
    in_words,
    percentage_points,
    percentages,
    plural,
    sentences,
    singular,
)
from glasshouse.study.assess import AssessStudy, parse_person_secret

Secrets: TypeAlias = Mapping[str, tuple[Leakage, Leakage]]
"""By secret, the chance of a right guess, and of certainty."""
SPOKEN_OF = 2
"""Of so many records the sentences tell, unless the study says how many are known."""
TERMS = {
    marked("People"): marked(
        "How many people have at least that many records: only they can be the person in question, each "
        "equally likely."
    ),
    marked("By guessing"): marked(
        "The chance that the best guess at a person's pseudonym is right, if the known records are picked at "
        "random from theirs."
    ),
    marked("For certain"): marked("The chance that the known records fit nobody else (unicity)."),
    marked("Some, any"): marked(
        "For how many people there are some such records that fit nobody else, and for how many this holds "
        "whichever of their records are known."
    ),
    marked("Without the pseudonym"): marked(
        "The chance that at least one of the known records is the only one in the release with what is known "
        "about it. The person's other records are not revealed with it."
    ),
}
"""The headings of the tables, explained."""
ADVERSARY = (
    marked(
        "The adversary knows that the person is in the release, and what some of the person’s records say "
        "about {known}; which of them she knows is chance, each equally likely."
    ),
    marked("She has the whole release and knows how it was made."),
    marked("The release shows which records belong to the same person, under a pseudonym."),
)
ADVERSARY_UNLINKED = (
    *ADVERSARY[:2],
    marked(
        "The release does not show which records belong to the same person: only the publisher knows."
    ),
)
LIMITS = (
    marked(
        "People are counted, not records: somebody with many records counts as much as somebody with few. "
        "People with fewer records than are known are not counted at that number."
    ),
    marked(
        "An adversary who knows less cannot learn more; one who knows something else might. Errors in the "
        "data, or in what is known, make guesses right less often."
    ),
)
ESTIMATED = marked(
    "Chances marked “about” are estimates from random draws: each is off by no more than the margin "
    "beside it, except by bad luck one time in a thousand. All others are exact."
)
FEW = marked("What would reveal fewer than {smallest} people is left out or shown as a bound.")


@dataclass(frozen=True)
class KnowingTold:
    """What is learned by who knows some records of a person, or of another record, as it may be told."""

    result: Knowing | Another
    """What came out."""
    people: str
    """How many people it is about, in words."""

    @property
    def is_told(self) -> bool:
        """Whether it is not about so few people that nothing is told of them."""
        return is_shown(self.result.targets)

    def chance(self, probability: Fraction) -> str:
        """Say a chance; of an estimate, that it is about so much."""
        return self.estimated(percentage(probability))

    def estimated(self, share: str) -> str:
        """Say of a share that is an estimate that it is about so much."""
        return share if self.result.margin is None else text("about {share}", share=share)

    def cells(self, *chances: Leakage) -> list[Cell]:
        """Return chances for a table; of estimates, with their margin."""
        if self.result.margin is None:
            return [Cell(percentage(chance.posterior)) for chance in chances]
        margin = percentage_points(self.result.margin)
        return [
            Cell(text("about {share} ± {margin}", share=percentage(one.posterior), margin=margin))
            for one in chances
        ]


def told_of(results: Sequence[Knowing | Another]) -> list[KnowingTold]:
    """Return what is learned by how many records are known, with how many people have so many.

    From one to the next those with fewer records drop out: where these are few, numbers are rounded.
    """
    counts = falling(result.targets for result in results)
    return [
        KnowingTold(
            result,
            number(count)
            if count == result.targets
            else text("about {count}", count=number(count))
            if count
            else text("fewer than {smallest}"),
        )
        for count, result in zip(counts, results, strict=True)
    ]


def _secrets_told(known_of: Mapping[str, int], learned: Secrets, people: int) -> Secrets:
    """Return what is learned of secrets, but for those that are known of few people only."""
    return {
        name: chances
        for name, chances in learned.items()
        if name and is_shown(known_of.get(name, people))
    }


def _of_person(result: Knowing) -> Secrets:
    return _secrets_told(result.known_of, result.secrets, result.targets)


def _of_record(outcome: People) -> Secrets:
    return _secrets_told(outcome.known_of, outcome.record_guess, outcome.people)


def people_page(outcome: People, study: AssessStudy, *, provenance: Provenance) -> Page:
    """Return the report on people with several records."""
    known = enumeration(outcome.curve[0].quasi_identifiers)
    conclusions = people_findings(outcome, study, picture=people_curve(outcome))
    estimated = any(result.margin is not None for result in outcome.results)
    return Page(
        title=text(
            "What {dataset} reveals about people with several records", dataset=outcome.dataset
        ),
        lead=text(
            "{people} with {records}",
            people=counted(outcome.people, study.subject),
            records=text_for(outcome.events, "{count} record", "{count} records"),
        ),
        findings=conclusions,
        summary=conclusions[0].sentence,
        tiles=tuple(_tiles(outcome, _spoken_of(outcome, study), study.subject)),
        actions=tuple(_actions(outcome, study)),
        adversary=sentences(*(ADVERSARY_UNLINKED if outcome.unlinked else ADVERSARY), known=known),
        limits=sentences(*LIMITS, estimated and ESTIMATED, FEW),
        provenance=provenance,
        command="glasshouse assess --study study.toml",
        method="Alvim, Chatzikokolakis, McIver, Morgan, Palamidessi and Smith 2020; "
        "de Montjoye, Hidalgo, Verleysen and Blondel 2013",
        sections=tuple(
            filter(
                None,
                (
                    Section(
                        text("By how many records are known"),
                        intro=text(
                            "Figures in one row are about the same people; from row to row those with fewer records "
                            "drop "
                            "out."
                        ),
                        tables=tuple(_tables(outcome)),
                    ),
                    treatment_section(outcome.steps, missing_notes(outcome.missing)),
                ),
            )
        ),
        glossary=glossary(
            "adversary, quasi-identifier, vulnerability, re-identification", terms=(TERMS,)
        ),
    )


def _tiles(outcome: People, result: Knowing, subject: str) -> Iterator[Tile]:
    """Yield who is at risk, what is given away, and what the same knowledge gives without the pseudonym."""
    figures = _told(outcome, result)
    if not figures.is_told:
        return
    words = {
        "people": _candidates(figures, subject),
        "known": _known_records(result),
        "guess": in_words(figures.chance(result.guessing.posterior)),
    }
    if outcome.unlinked:
        naming, _ = outcome.record_guess[""]
        learned = _of_record(outcome)
        yield Tile(
            text("Who is at risk"),
            percentage(result.unlinked),
            text(
                "chance that someone who knows {known} of one of the {people} finds one that can only be theirs",
                **words,
            ),
        )
        yield Tile(
            text("Which record it is"),
            percentage(naming.posterior),
            text("chance that a best guess at the record is right, with one record known"),
        )
    else:
        learned = _of_person(result)
        yield Tile(
            text("Who is at risk"),
            figures.chance(result.certainty.posterior),
            text(
                "chance that someone who knows {known} of one of the {people} finds all of their records with "
                "certainty; a best guess is right in {guess} of cases",
                **words,
            ),
        )
    if learned:
        name, (guess, _) = max(learned.items(), key=lambda item: item[1][0].additive)
        yield Tile(
            text("What is learned"),
            " → ".join(percentages(guess.prior, guess.posterior)),
            text(
                "correct guesses at {secret}, without these facts and with them",
                secret=enumeration([name]),
            ),
        )
    if not outcome.unlinked:
        yield Tile(
            text("Without the pseudonym"),
            percentage(result.unlinked),
            text(
                "chance that the same knowledge finds one record with certainty, but not all of them"
            ),
        )


def _known_records(result: Knowing) -> str:
    if result.events is None:
        return text("all records")
    return text_for(result.events, "{count} record", "{count} records")


def _actions(outcome: People, study: AssessStudy) -> Iterator[Action]:
    """Yield to leave out the pseudonym, with what that gives and whether it can be enough; and what was not computed.

    Without the pseudonym the other conditions of the rule are measured by another run: that the rule is met is not said
    here, only that it is not.
    """
    result = _spoken_of(outcome, study)
    figures = _told(outcome, result)
    if outcome.unlinked or not figures.is_told or not result.certainty.posterior:
        return
    before, after = percentages(result.certainty.posterior, result.unlinked)
    yield Action(
        text("Leave out the pseudonym."),
        text(
            "Found with certainty: {before}, with all of their records → {after}, with one of them.",
            before=figures.estimated(before),
            after=after,
        ),
        None if _may_meet_unlinked(outcome, study) else False,
        _unlinked_command(study),
    )
    yield Action(
        text(
            "Publish places and dates in less detail. The effect is not computed here: assess the coarser file "
            "in the same way. A new pseudonym every month hides nobody; it only limits what is found to one "
            "month."
        )
    )


def _may_meet_unlinked(outcome: People, study: AssessStudy) -> bool:
    """Tell whether so few can be found without the pseudonym that the rule may be met then; of few people, none is."""
    shares = {
        result.events: result.unlinked if figures.is_told else Fraction(1)
        for result, figures in zip(outcome.curve, told_of(outcome.curve), strict=True)
    }
    return all(
        condition.allows(shares.get(condition.records, max(shares.values())))
        for condition in study.policy.conditions
        if condition.measure == "named"
    )


def _unlinked_command(study: AssessStudy) -> str:
    """Return the command that assesses the same release without its pseudonym."""
    adversary = study.adversary
    columns = [parse_person_secret(name).column for name in adversary.secret_columns]
    of_record = tuple(dict.fromkeys(name for name in columns if name is not None))
    single = adversary.model_copy(update={"sensitive": of_record})
    words = command_words(study.model_copy(update={"adversary": single}), adversary.knowable)
    person = [word for name in study.person for word in ("--person", name)]
    knows = [] if study.knows is None else ["--knows", str(study.knows)]
    return shlex.join(["glasshouse", "assess", *words, *person, *knows, "--unlinked"])


def people_brief(outcome: People, study: AssessStudy) -> Brief:
    """Return what a terminal says of people with several records."""
    lead = text(
        "{dataset}: {people} with {records}",
        dataset=outcome.dataset,
        people=counted(outcome.people, study.subject),
        records=text_for(outcome.events, "{count} record", "{count} records"),
    )
    return Brief(
        (
            lead,
            *treatment_blocks(outcome.steps, missing_notes(outcome.missing, exact=True)),
            *_tables(outcome),
        ),
        people_findings(outcome, study),
    )


def people_findings(
    outcome: People, study: AssessStudy, picture: Figure | None = None
) -> tuple[Finding, ...]:
    """Return who is named, by which records, what is learned then, and what the pseudonym costs."""
    result = _spoken_of(outcome, study)
    figures, subject = _told(outcome, result), study.subject
    if not figures.is_told:
        sentence = text(
            "Fewer than {smallest} {people} have that many records: what is learned about them is not shown.",
            people=plural(subject),
        )
        return (Finding(Severity.NOTE, sentence, picture=picture),)
    if outcome.unlinked:
        return tuple(_unlinked_findings(outcome, figures, result, subject, picture))
    findings = [
        Finding(
            _grade(result),
            " ".join([_naming_sentence(figures, result, subject), *_estimated_sentence(result)]),
            meaning=text(
                "Whoever finds the pseudonym has all records of the person, including those that nobody knew about."
            ),
            remedy=change_the_pseudonym(),
            picture=picture,
        )
    ]
    if result.some is not None and result.any is not None:
        findings.append(_some_and_any(result, subject))
    findings += [
        _learned(name, *chances, figures, subject) for name, chances in _of_person(result).items()
    ]
    findings += [
        _learned_of_another(name, result.another[name], another, subject)
        for name in result.another
        for entry, another in _of_another(outcome.curve, name)
        if entry is result and another.is_told
    ]
    if result.certainty.posterior > 0:
        findings.append(_price(figures, result, subject))
    return tuple(findings)


def _told(outcome: People, result: Knowing) -> KnowingTold:
    """Return one of the results as it may be told."""
    return next(figures for figures in told_of(outcome.curve) if figures.result is result)


def _spoken_of(outcome: People, study: AssessStudy) -> Knowing:
    """Return what the sentences tell of: as many records as the study says, or else two."""
    curve = outcome.curve
    return curve[-1] if study.knows is not None else curve[min(SPOKEN_OF, len(curve)) - 1]


def _grade(result: Knowing) -> Severity:
    certain = result.certainty.posterior > 0
    return graded(result.guessing.posterior, certain=certain)


def _who(result: Knowing, subject: str) -> str:
    """Say what somebody knows of a person."""
    words = {"known": enumeration(result.quasi_identifiers), "subject": singular(subject)}
    if result.events is None:
        return text(
            "Someone who knows the {known} of all records of a {subject}, and that they are all,",
            **words,
        )
    return text_for(
        result.events,
        "Someone who happens to know the {known} of {count} record of a {subject}",
        "Someone who happens to know the {known} of {count} records of a {subject}",
        **words,
    )


def _naming_sentence(figures: KnowingTold, result: Knowing, subject: str) -> str:
    words = {
        "who": _who(result, subject),
        "certain": figures.chance(result.certainty.posterior),
        "guess": figures.chance(result.guessing.posterior),
        "people": _candidates(figures, subject),
    }
    if result.certainty.posterior == 0:
        return text(
            "{who} can never tell with certainty which pseudonym is theirs. A best guess is right in {guess} of "
            "cases (among the {people} who have that many).",
            **words,
        )
    return text(
        "{who} can tell with certainty which pseudonym is theirs in {certain} of cases. A best guess is "
        "right in {guess} (among the {people} who have that many).",
        **words,
    )


def _estimated_sentence(result: Knowing) -> list[str]:
    if result.margin is None:
        return []
    return [
        text(
            "Both are estimates: off by at most {margin} percentage points, except by bad luck one time in a "
            "thousand.",
            margin=percentage_points(result.margin),
        )
    ]


def _some_and_any(result: Knowing, subject: str) -> Finding:
    some, every = _extremes(result)
    words = {"some": some or "", "any": every or "", "people": plural(subject)}
    if result.some == 0:
        sentence = (
            text("Nobody is given away even by all of their records together.")
            if result.events is None
            else text(
                "Nobody is given away by {count} of their records.", count=number(result.events)
            )
        )
    elif result.events is None:
        sentence = text(
            "All their records together fit nobody else for {some} of {people}.", **words
        )
    elif result.events == 1:
        sentence = text(
            "For {some} of {people} there is a record that gives them away; for {any}, any of their records does.",
            **words,
        )
    else:
        sentence = text(
            "For {some} of {people} there are {count} records that give them away; for {any}, any {count} of their "
            "records do.",
            count=result.events,
            **words,
        )
    return Finding(_grade(result), sentence)


def _extremes(result: Knowing) -> list[str | None]:
    """Say for how many people there are some records that give them away, and for how many any do."""
    among = Among(result.targets)
    return [
        None if count is None else among.percentage(Fraction(count, result.targets))
        for count in (result.some, result.any)
    ]


def _learned(
    name: str, guess: Leakage, certainty: Leakage, figures: KnowingTold, subject: str
) -> Finding:
    before, after = percentages(guess.prior, guess.posterior)
    nothing = guess.additive == 0 == certainty.additive
    words = {
        "secret": enumeration([name]),
        "subject": singular(subject),
        "before": before,
        "after": figures.estimated(after),
        "certain": figures.chance(certainty.posterior),
    }
    if nothing:
        sentence = text(
            "With the same knowledge, the {subject}'s “{secret}” is guessed no better than without it: right in "
            "{after} of cases.",
            **words,
        )
        return Finding(Severity.SAFE, sentence)
    if guess.additive == 0:
        sentence = text(
            "With the same knowledge, the {subject}'s “{secret}” is guessed right no more often than without it, "
            "in {after} of cases; but in {certain} it is certain.",
            **words,
        )
    else:
        sentence = text(
            "With the same knowledge, the {subject}'s “{secret}” is guessed right in {after} of cases, up from "
            "{before}; in {certain} it is certain.",
            **words,
        )
    added = max(guess.additive, certainty.additive)
    return Finding(graded(added, certain=certainty.additive > 0), sentence)


def _of_another(curve: Sequence[Knowing], name: str) -> list[tuple[Knowing, KnowingTold]]:
    """Return what is learned of another record by how many are known, and how many people have one more than these."""
    results = [result for result in curve if name in result.another]
    _, *others = told_of([curve[0], *(result.another[name] for result in results)])
    return list(zip(results, others, strict=True))


def _learned_of_another(name: str, one: Another, figures: KnowingTold, subject: str) -> Finding:
    """Say how well it is guessed what another record says than those that are known."""
    guess, certainty = one.guess, one.certainty
    before, after = percentages(guess.prior, guess.posterior)
    words = {
        "secret": enumeration([str(parse_person_secret(name).column)]),
        "subject": singular(subject),
        "before": before,
        "after": figures.estimated(after),
        "certain": figures.chance(certainty.posterior),
        "people": _candidates(figures, subject),
    }
    if guess.additive == 0 == certainty.additive:
        sentence = text(
            "With the same knowledge, what another record of the {subject} says about {secret} is guessed no "
            "better than without it: right in {after} of cases (among the {people} who have more records).",
            **words,
        )
        return Finding(Severity.SAFE, sentence)
    template = (
        marked(
            "With the same knowledge, what another record of the {subject} says about {secret} is guessed right "
            "no more often than without it, in {after} of cases; but in {certain} it is certain (among the "
            "{people} who have more records)."
        )
        if guess.additive == 0
        else marked(
            "With the same knowledge, what another record of the {subject} says about {secret} is guessed right "
            "in {after} of cases, up from {before}; in {certain} it is certain (among the {people} who have more "
            "records)."
        )
    )
    sentence = translated(template, **words)
    added = max(guess.additive, certainty.additive)
    return Finding(graded(added, certain=certainty.additive > 0), sentence)


def _price(figures: KnowingTold, result: Knowing, subject: str) -> Finding:
    """Say what the same knowledge would give if the release had no pseudonym."""
    single, whole = percentages(result.unlinked, result.certainty.posterior)
    return Finding(
        Severity.NOTE,
        text(
            "The price of the pseudonym: without it the same knowledge would single out one record of a "
            "{subject} in {single} of cases, and not all of their records; with it, all of them in {whole}.",
            subject=singular(subject),
            single=single,
            whole=figures.estimated(whole),
        ),
    )


def _unlinked_findings(
    outcome: People, figures: KnowingTold, result: Knowing, subject: str, picture: Figure | None
) -> list[Finding]:
    """Say what somebody learns of a release that does not tell which records are of one person."""
    naming, _ = outcome.record_guess[""]
    findings = [
        Finding(
            graded(naming.posterior, certain=result.unlinked > 0),
            text(
                "{who} finds one that can only be theirs in {single} of cases (among the {people} who have that "
                "many). The release does not show which other records are theirs.",
                who=_who(result, subject),
                single=percentage(result.unlinked),
                people=_candidates(figures, subject),
            ),
            meaning=text("What else such a record says is exposed; the other records are not."),
            picture=picture,
        ),
        Finding(
            graded(naming.posterior),
            text(
                "With one record known, a best guess at which one in the release it is would be right in {after} of "
                "cases.",
                after=percentage(naming.posterior),
            ),
        ),
    ]
    for name, (guess, certainty) in _of_record(outcome).items():
        before, after = percentages(guess.prior, guess.posterior)
        added = max(guess.additive, certainty.additive)
        sentence = text(
            "The {secret} of that record is guessed right in {after} of cases, {before} without that knowledge; in "
            "{certain} it is certain.",
            secret=enumeration([name]),
            after=after,
            before=before,
            certain=percentage(certainty.posterior),
        )
        grade = graded(added, certain=certainty.additive > 0) if added else Severity.SAFE
        findings.append(Finding(grade, sentence))
    return findings


# The picture and the tables


def people_curve(outcome: People) -> Figure | None:
    """Show how chances grow with the number of known records, with the largest set of facts."""
    every = zip(outcome.curve, told_of(outcome.curve), strict=True)
    curve = [result for result, figures in every if figures.is_told]
    if not curve:
        return None
    ways = {text("without the pseudonym, one record for certain"): (NEUTRAL, "square")}
    if not outcome.unlinked:
        ways = {
            text("the pseudonym, by guessing"): (TARGETS[0][0], "circle"),
            text("the pseudonym, for certain"): (TARGETS[1][0], "diamond"),
        } | ways
    rows = [
        {"known": _events(result), "what": way, "success": 100 * float(chance)}
        for result in curve
        for way, chance in zip(ways, _drawn(result, outcome.unlinked), strict=True)
    ]
    looks = [list(look) for look in zip(*ways.values(), strict=True)]
    order = [_events(result) for result in curve]
    base = plot(rows).encode(
        x=vega.X("known:O", sort=order, title=text("known records"), axis=vega.Axis(labelAngle=0)),
        y=vega.Y(
            "success:Q", title=text("probability that the adversary succeeds (%)"), scale=PER_CENT
        ),
        color=vega.Color("what:N", **keyed(list(ways), looks[0])),
    )
    chart = vega.layer(
        base.mark_line(strokeWidth=2.5),
        base.mark_point(filled=True, size=110, opacity=1).encode(
            shape=vega.Shape("what:N", **keyed(list(ways), looks[1]))
        ),
    )
    first, last = curve[0], curve[-1]
    start, end = percentages(
        *(_drawn(result, outcome.unlinked)[-2:][0] for result in (first, last))
    )
    title = (
        text(
            "For certain: {start} with one known record, {end} with {count}",
            start=start,
            end=end,
            count=_events(last),
        )
        if len(curve) > 1
        else text("For certain: {end}", end=end)
    )
    known = text("She knows {known}", known=enumeration(first.quasi_identifiers))
    return figure_of(
        titled(chart, title, known, width=680, height=260),
        label=text("Success by how many records of a person are known"),
        caption=text(
            "Each point is about the people who have that many records. The gap between certainty with the "
            "pseudonym and without it is its price."
        )
        if not outcome.unlinked
        else text("Each point is about the people who have that many records."),
        table=cell_table(
            text("known records"),
            list(ways),
            [
                (
                    _events(result),
                    *(Cell(percentage(one)) for one in _drawn(result, outcome.unlinked)),
                )
                for result in curve
            ],
        ),
    )


def _drawn(result: Knowing, unlinked: bool) -> list[Fraction]:
    chances = [] if unlinked else [result.guessing.posterior, result.certainty.posterior]
    return [*chances, result.unlinked]


def _events(result: Knowing) -> str:
    return text("all") if result.events is None else number(result.events)


def _tables(outcome: People) -> list[Table]:
    """Return the figures of each set of facts by how many records are known; then those of secrets."""
    titles = [
        text("People"),
        *(
            []
            if outcome.unlinked
            else [text("By guessing"), text("For certain"), text("Some"), text("Any")]
        ),
        text("Without the pseudonym"),
    ]
    groups, secrets = [], []
    for curve in curves(outcome):
        known, every = column_labels(curve[0].quasi_identifiers), told_of(curve)
        results = list(zip(curve, every, strict=True))
        groups.append(
            Group(
                cell_rows(
                    (_events(result), figures.people, *_cells(figures, result, outcome.unlinked))
                    for result, figures in results
                ),
                title=text("She knows {known}", known=known),
            )
        )
        rows = {
            name: [
                (
                    _events(result),
                    figures.people,
                    *_secret_cells(figures, _of_person(result).get(name)),
                )
                for result, figures in results
                if name in result.secrets
            ]
            for name in curve[0].secrets
        }
        for name in curve[0].another:
            rows[name] = [
                (
                    _events(result),
                    figures.people,
                    *_secret_cells(
                        figures, (one.guess, one.certainty) if figures.is_told else None
                    ),
                )
                for result, figures in _of_another(curve, name)
                for one in [result.another[name]]
            ]
        secrets += [
            Group(
                cell_rows(entries),
                title=text("{secret}: she knows {known}", secret=name, known=known),
            )
            for name, entries in rows.items()
        ]
    tables = [group_table(text("Known records"), titles, groups)]
    if secrets:
        titles = [text("People"), text("Guess before"), text("Guess after"), text("For certain")]
        tables.append(group_table(text("Known records"), titles, secrets, text("What is learned")))
    return tables


def _candidates(figures: KnowingTold, subject: str) -> str:
    """Say how many people have as many records as are known."""
    return text("{count} {people}", count=figures.people, people=plural(subject))


def _cells(figures: KnowingTold, result: Knowing, unlinked: bool) -> list[Cell | str]:
    if not figures.is_told:
        return [NOTHING] * (1 if unlinked else 5)
    single = Cell(percentage(result.unlinked))
    if unlinked:
        return [single]
    extremes = [share or NOTHING for share in _extremes(result)]
    return [*figures.cells(result.guessing, result.certainty), *extremes, single]


def _secret_cells(
    figures: KnowingTold, chances: tuple[Leakage, Leakage] | None
) -> list[Cell | str]:
    """Return what is learned of a secret; None: it is known of few people."""
    if chances is None:
        return [NOTHING] * 3
    return [Cell(percentage(chances[0].prior)), *figures.cells(*chances)]
