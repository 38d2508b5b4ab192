"""What published totals tell, in sentences that a minister understands.

Findings are made from aggregates only: counts of records and of places, chances and amounts over all of them. Neither a
record nor an entity nor a place is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import floor, isclose, log10

from glasshouse.disclosure import is_shown
from glasshouse.language import (
    localised,
    marked,
    marked_for,
    number,
    percentage,
    text,
    text_for,
    translated,
    translated_for,
)
from glasshouse.measures.totals import is_settled, set_apart
from glasshouse.reconstruction import CampaignResult, ExposurePhase, Solution
from glasshouse.report.page import Figure, Finding, Severity, note, reassurance
from glasshouse.report.severity import MANY_CERTAIN, graded
from glasshouse.report.words import counted, hundredths, percentages, plural, share
from glasshouse.study.totals import TotalsStudy

CONCENTRATED = Fraction(1, 4)
"""Half of the value at risk in at most such a share of the places is worth saying."""
WITH_THESE_ONLY = marked("This holds as long as the adversary has nothing but these publications.")
BUT_GUESSES = marked(
    "This holds as long as the adversary has nothing but these publications; a guess may still be right."
)
NO_PROMISE = marked(
    "This is not a promise: what was not solved, or where records and totals do not agree, may still "
    "reveal it."
)


def total_findings(
    result: CampaignResult,
    study: TotalsStudy,
    pictures: Mapping[str, Figure | None] | None = None,
) -> tuple[Finding, ...]:
    """Return who is named, what a guess gains, what is at risk and where, what stays open, and what was solved.

    Args:
        result: What came out.
        study: What was asked.
        pictures: What shows the findings: ``phases`` and ``value``.
    """
    return tuple(_findings(result, study, pictures or {}))


def _findings(
    result: CampaignResult, study: TotalsStudy, pictures: Mapping[str, Figure | None]
) -> Iterator[Finding]:
    if is_contradicted(result):
        sentence = text(
            "Nothing is known about these records: in no group do records and totals agree as the plan describes "
            "them. This does not mean that they are safe."
        )
        yield note(sentence)
        yield from _apart(result)
        return
    if result.entities is not None:
        first, last = result.exposure("bayes")[0], result.exposure("bayes")[-1]
        people = counted(result.entities, study.subject)
        yield _named(result, study.currency, people, (first, last))
        if first.certain == 0:
            yield _guessed(result, people, first, last)
            for finding in _at_risk(result, study.currency, first, last):
                yield replace(finding, picture=pictures.get("value"))
    yield replace(_linked(result, study), picture=pictures.get("phases"))
    yield from _concentrated(result)
    if result.entities is not None:
        yield from _unnamed(result)
    yield from _apart(result)
    yield _solved(result)


def is_contradicted(result: CampaignResult) -> bool:
    """Tell whether records and totals agree in no group, so that nothing is known of the records."""
    return all(phase.instances == phase.infeasible for phase in result.phases)


def unsettled(result: CampaignResult) -> str:
    """Say why not every question was answered exactly."""
    if result.solved == result.instances:
        return text("records and totals of some groups do not agree, or are not complete")
    return text("not everything is solved")


def _part(value: float, whole: float) -> Fraction:
    return Fraction(0) if whole <= 0 else min(Fraction(value) / Fraction(whole), Fraction(1))


def publish_less() -> str:
    """Say what to do against totals that tell too much."""
    return text(
        "Publish the amounts of single records less exactly, merge places with few of those behind the "
        "records into larger ones, or leave out a key that records and totals have in common; then run the "
        "campaign again to see what that gains."
    )


def _named(
    result: CampaignResult,
    currency: str | None,
    people: str,
    exposure: tuple[ExposurePhase, ExposurePhase],
) -> Finding:
    first, last = exposure
    figure = text(
        "identified with certainty: {certain} of {records} records; {value} of {whole}",
        certain=last.certain,
        records=result.records,
        value=hundredths(last.certain_value, currency),
        whole=hundredths(result.value, currency),
    )
    words = {"people": people, "records": number(result.records)}
    if first.certain:
        sentence = text(
            "The register has one entry only, {people}, so that anybody knows who is behind every record; the totals "
            "add nothing to it.",
            **words,
        )
        return note(sentence, figure)
    if last.certain == 0 and is_settled(result):
        sentence = text(
            "The published totals do not reveal with certainty who, among {people}, is behind any record "
            "({records} in all).",
            **words,
        )
        return reassurance(sentence, figure, translated(BUT_GUESSES))
    if last.certain == 0:
        sentence = text(
            "As far as it was solved, the published totals do not reveal with certainty who, among {people}, is "
            "behind any record ({records} in all).",
            **words,
        )
        return note(sentence, figure, translated(NO_PROMISE))
    valued = _part(last.certain_value, result.value)
    if last.certain == result.records:
        sentence = text(
            "The published totals reveal with certainty who, among {people}, is behind each and every record "
            "({records} in all).",
            **words,
        )
    else:
        sentence = text(
            "The published totals reveal with certainty who, among {people}, is behind {count} of {records} "
            "records: {share} of the records and {valued} of their value.",
            count=last.certain,
            share=share(last.certain, result.records),
            valued=percentage(valued),
            **words,
        )
    meaning = text(
        "Anyone who puts these publications side by side learns who is behind each of these records, and "
        "with it all the rest that the record says."
    )
    severity = graded(Fraction(0), certain=last.certain, people=result.records)
    if valued > MANY_CERTAIN:
        severity = Severity.HIGH
    return Finding(severity, sentence, figure, meaning, publish_less())


def _guessed(
    result: CampaignResult, people: str, first: ExposurePhase, last: ExposurePhase
) -> Finding:
    chances = [Fraction(step.chance).limit_denominator(10**12) for step in (first, last)]
    before, after = percentages(*chances)
    severity, meaning = graded(chances[1]), ""
    if isclose(first.chance, last.chance, rel_tol=1e-12):
        severity = Severity.SAFE if is_settled(result) else Severity.NOTE
        meaning = translated(WITH_THESE_ONLY)
        template = marked(
            "The totals do not help to guess who is behind a record: {before} of guesses are right, as with the "
            "register of {people} alone."
        )
    elif before == after:
        template = marked(
            "The totals hardly change how often a guess at who is behind a record is right: {before} of guesses are, "
            "as with the register of {people} alone."
        )
    elif last.chance < first.chance:
        severity = Severity.NOTE
        meaning = text(
            "A register that is complete would reveal more: the figures hold for this one."
        )
        template = (
            marked(
                "With the totals, no guess at who is behind a record can be right: nobody is registered where the "
                "totals put the records. With the register of {people} alone, {before} of guesses would be."
            )
            if last.chance == 0
            else marked(
                "With the totals, {after} of guesses at who is behind a record are right, down from {before} with the "
                "register of {people} alone: for some records, nobody is registered where the totals put them."
            )
        )
    else:
        template = marked(
            "With the totals, {after} of guesses at who is behind a record are right, up from {before} with the "
            "register of {people} alone."
        )
        if last.certain == 0:
            meaning = text(
                "This is the mean over all records: about some she may be right more often than about others."
            )
        elif last.certain < result.records:
            meaning = text(
                "This is the mean over all records: she is certain about some, and guesses the others."
            )
    figure = text(
        "mean chance of a right guess: {before} before, {after} after ({factor})",
        before=six_digits(first.chance),
        after=six_digits(last.chance),
        factor=growth_factor(last.chance / first.chance),
    )
    sentence = translated(template, people=people, before=before, after=after)
    return Finding(severity, sentence, figure, meaning)


def _at_risk(
    result: CampaignResult, currency: str | None, first: ExposurePhase, last: ExposurePhase
) -> Iterator[Finding]:
    before, after, whole = first.value_at_risk, last.value_at_risk, result.value
    least, most = short_money(before, currency), short_money(after, currency)
    if whole <= 0 or after <= before * (1 + 1e-12) or least == most:
        return
    yield Finding(
        graded(_part(after, whole)),
        text(
            "With the totals, guesses would put {after} of {whole} down to the right name, up from {before}.",
            before=least,
            after=most,
            whole=short_money(whole, currency),
        ),
        figure=text(
            "value at risk: {before} before, {after} after ({factor}); {whole} in all",
            before=hundredths(before, currency),
            after=hundredths(after, currency),
            factor=growth_factor(after / before),
            whole=hundredths(whole, currency),
        ),
        meaning=text(
            "It is the value of each record times the chance that a guess at who is behind it is right, added up: the "
            "value at risk."
        ),
    )


def _linked(result: CampaignResult, study: TotalsStudy) -> Finding:
    linked, records = result.phases[-1].linked_so_far, result.records
    figure = text("place certain: {linked} of {records} records", linked=linked, records=records)
    if linked == 0 and is_settled(result):
        sentence = text(
            "The published totals do not reveal with certainty where any record belongs ({records} in all).",
            records=records,
        )
        return reassurance(sentence, figure, translated(WITH_THESE_ONLY))
    if linked == 0:
        sentence = text(
            "As far as it was solved, the published totals do not reveal with certainty where any record belongs "
            "({records} in all).",
            records=records,
        )
        return note(sentence, figure, translated(NO_PROMISE))
    part = Fraction(linked, records)
    severity = graded(Fraction(0), certain=linked, people=records)
    if result.entities is None:
        remedy = add_a_register()
    else:  # who is named is a finding of its own
        remedy = "" if result.exposure("bayes")[-1].certain else publish_less()
    if linked == records:
        sentence = text(
            "The published totals reveal with certainty where each and every record belongs ({records} in all).",
            records=records,
        )
    else:
        sentence = text_for(
            linked,
            "The published totals reveal with certainty where {count} of {records} records belongs ({share}).",
            "The published totals reveal with certainty where {count} of {records} records belong ({share}).",
            records=records,
            share=percentage(part),
        )
    meaning = text(
        "To know the place is to know among whom to look: the fewer {many} are there, the nearer it comes to a name.",
        many=plural(study.subject),
    )
    return Finding(severity, sentence, figure, meaning, remedy)


def _concentrated(result: CampaignResult) -> Iterator[Finding]:
    """Say if few of many places hold half of the value at risk, but not which, nor how much exactly."""
    rows = [row for row in result.bins("bayes") if row.step.endswith(SOLVED)]
    values = sorted(
        (r.value_at_risk for r in rows if r.step == rows[-1].step and r.entities is not None),
        reverse=True,
    )
    whole = sum(values)
    few, so_far = 0, 0.0
    while 2 * so_far < whole:
        so_far += values[few]
        few += 1
    if not 0 < few <= CONCENTRATED * len(values) or not is_shown(len(values)):
        return
    counts = {"few": few, "places": len(values)}
    yield note(
        text("Half of the value at risk, or more, lies in {few} of {places} places.", **counts),
        figure=text(
            "{share} of the value at risk in {few} of {places} places",
            share=percentage(_part(so_far, whole)),
            **counts,
        ),
        remedy=text(
            "Protect these places first; those that can be shown are under “Where the value at risk is”."
        ),
    )


def _unnamed(result: CampaignResult) -> Iterator[Finding]:
    """Say of how many records nobody is certain, if that is proved."""
    records, certain = result.records, result.exposure("bayes")[-1].certain
    rest = records - certain
    if not 0 < certain < records or not is_settled(result):
        return
    yield reassurance(
        text_for(
            rest,
            "For {count} of {records} records ({share}), the totals do not reveal with certainty who is behind "
            "it.",
            "For {count} of {records} records ({share}), the totals do not reveal with certainty who is behind "
            "them.",
            records=records,
            share=share(rest, records),
        ),
        figure=text("not certain: {rest} of {records} records", rest=rest, records=records),
        meaning=translated(BUT_GUESSES),
    )


def _apart(result: CampaignResult) -> Iterator[Finding]:
    """Say in how many groups records and totals do not agree, in the phase with the most such records."""
    phase = max(result.phases, key=lambda phase: set_apart(phase)[1])
    groups, records = set_apart(phase)
    if not records:
        return
    yield note(
        text_for(
            groups,
            "In {count} group of phase “{phase}” records and totals do not agree, or are not complete; the phase "
            "reveals nothing with certainty about its records ({records} in all).",
            "In {count} groups of phase “{phase}” records and totals do not agree, or are not complete; the "
            "phase reveals nothing with certainty about their records ({records} in all).",
            phase=phase.name,
            records=records,
        ),
        figure=text(
            "set apart in the phase: {groups} of {whole} groups, {records} records",
            groups=groups,
            whole=phase.groups,
            records=records,
        ),
        meaning=text(
            "That does not protect these records: someone who knows better how the totals were made may solve "
            "them."
        ),
        remedy=text(
            "See under “Groups that are set apart” why; if there are many, the plan may say the rounding wrongly."
        ),
    )


def _solved(result: CampaignResult) -> Finding:
    words = {"solved": result.solved, "instances": result.instances}
    figure = text("solved: {solved} of {instances} instances", **words)
    contradicted = any(set_apart(phase)[0] for phase in result.phases)
    if result.solved == result.instances and contradicted:
        return note(
            text(
                "All that could be posed is solved exactly; where records and totals do not agree, or are not "
                "complete, nothing is."
            ),
            figure,
        )
    if result.solved == result.instances:
        sentence = text_for(
            result.instances,
            "The problem is solved exactly: its figures are not estimates.",
            "All {count} parts of the problem are solved exactly: the figures are not estimates.",
        )
        return note(sentence, figure)
    return note(
        text(
            "{solved} of {instances} parts of the problem ({share}) are solved exactly; for the others, only "
            "what is proved is counted, so the figures are lower bounds.",
            share=share(result.solved, result.instances),
            **words,
        ),
        figure,
        text("An adversary with more time may learn more.")
        if result.complete
        else text(
            "An adversary with more time may learn more. Here time ran out before every part had its attempt."
        ),
        more_time(),
    )


def add_a_register() -> str:
    """Say what to do to know who is behind the records that are placed."""
    return text("Find out how many can be identified: add a register of who is where to the plan.")


def more_time() -> str:
    """Say what to do where not everything was solved."""
    return text(
        "Let the campaign take longer: raise patience and longest in the [budget] of its plan; not everything is "
        "solved."
    )


JOINED, SOLVED = ", joined", ", solved"
"""How the names of steps end that a campaign gives them."""
LEAST = 0.01
"""Smaller amounts are not said more exactly."""
LARGE = {
    1e9: marked_for("{figure} billion", "{figure} billion"),
    1e6: marked_for("{figure} million", "{figure} million"),
}
"""Large units, the largest first, and their words."""
EXPLAINED = {
    "suppressed": marked(
        "Records suppressed: another publication shows that some records of the group were not published, so that "
        "what is there need not add up."
    ),
    "records added": marked(
        "Records added: the totals are above what all records can give, however they were rounded. Unless another "
        "publication shows what was suppressed, suppressed records look the same."
    ),
    "records left out": marked(
        "Records left out: the totals hold less than the records, and no record fits what is missing."
    ),
    "phases disagree": marked(
        "Phases that disagree: what an earlier phase left open cannot be met here."
    ),
    "measures": marked(
        "Measures missing or malformed: a number of the group is missing, no number or too long."
    ),
    "corrections": marked(
        "Negative corrections: a record or a total of the group is below 0, and no bound holds for such sums."
    ),
    "rounding": marked(
        "Another rounding: the sums agree, but no allocation meets the totals. They were rounded in another "
        "way, or as much was added as was left out; which of the two is not known."
    ),
    "records added or rounding": marked(
        "Records added, or another rounding: the totals are above what all records can give, but so little "
        "that another way of rounding would explain it; which of the two is not known."
    ),
    "bin without entities": marked(
        "Place without anybody registered: the register has nobody where these records can be, so nobody can "
        "be identified."
    ),
}
"""Why groups are set apart, by what results call it: in a word or two, then in a sentence."""


def short(value: float) -> str:
    """Say a number in three digits and a word.

    >>> short(4_923_000.0), short(40_700.0), short(267.4), short(1.5e9), short(999_999.9), short(1e-5), short(0.0)
    ('4.92 million', '40.7 thousand', '267', '1.5 billion', '1 million', 'less than 0.01', '0')
    >>> from glasshouse.language import speaking
    >>> with speaking("pt-BR"):
    ...     short(1_500_000.0), short(4_923_000.0), short(40_700.0)
    ('1,5 milhão', '4,92 milhões', '40,7 mil')
    """
    if 0 < value < LEAST:
        return text("less than {figure}", figure=number(LEAST, "g"))
    rounded = float(f"{value:.3g}")
    for unit, word in LARGE.items():
        if rounded >= unit:
            form = 1 if rounded < 2 * unit else 2  # in Portuguese it is the singular below two
            return translated_for(form, word, figure=number(rounded / unit, ",.12g"))
    if rounded >= 1e4:
        return text("{figure} thousand", figure=number(rounded / 1e3, ",.12g"))
    return number(value, ",.0f") if value >= 1000 else number(value, ".3g")


def short_money(value: float, currency: str | None) -> str:
    """Say an amount in three digits and a word, with its currency where there is one.

    >>> short_money(40_696.4, "USD"), short_money(40_696.4, None)
    ('USD 40.7 thousand', '40.7 thousand')
    """
    return f"{currency} {short(value)}" if currency else short(value)


def six_digits(chance: float) -> str:
    """Say a chance with six digits that count, never as a power of ten.

    >>> six_digits(1 / 18430), six_digits(0.2391371), six_digits(0.25), six_digits(1.0), six_digits(0.0)
    ('0.0000542594', '0.239137', '0.25', '1', '0')
    """
    places = 6 if chance <= 0 else max(6, 5 - floor(log10(chance)))
    digits = f"{chance:.{places}f}".rstrip("0").removesuffix(".")
    return localised(digits)


def growth_factor(factor: float | None, digits: int = 4) -> str:
    """Say by which factor something grew.

    >>> growth_factor(4.5), growth_factor(18430.0), growth_factor(None)
    ('× 4.5', '× 18,430', '–')
    """
    if factor is None:
        return "–"
    return f"× {number(float(f'{factor:.{digits}g}') if factor < 10**digits else round(factor), ',.12g')}"


def step_label(name: str) -> str:
    """Say what the adversary has at a step.

    >>> step_label("prior"), step_label("city, joined"), step_label("city, solved")
    ('the register alone', 'city, joined', 'city, solved')
    """
    if name.endswith(JOINED):
        return text("{phase}, joined", phase=name.removesuffix(JOINED))
    if name.endswith(SOLVED):
        return text("{phase}, solved", phase=name.removesuffix(SOLVED))
    return text("the register alone")


def reason_label(reason: str) -> str:
    """Say why groups are set apart.

    >>> reason_label("rounding")
    'another rounding'
    """
    label, _, _ = translated(EXPLAINED[reason]).partition(":")
    return label[0].lower() + label[1:]


MOST_DIGITS = 15
"""A number with more digits is not written out."""
UNMET = {
    "records added": marked(
        "No allocation meets the totals: they hold more than all records together. Some records are not published, or "
        "the totals are of other records."
    ),
    "records left out": marked(
        "No allocation meets the totals: the records add up to more than they do. The totals leave out some records, "
        'for which the instance needs a bin of its own ("NONE"), or are of other records.'
    ),
    "rounding": marked(
        "No allocation meets the totals, though the sums of all records do. The totals were rounded in another way "
        "than the instance says, or are of other records."
    ),
}
"""What it means that no allocation meets the totals, by what the sums say."""
MET = {
    (True, True): marked(
        "{allocations} allocations meet the totals; in brackets, the share of them that has the record in that place."
    ),
    (True, False): marked("{allocations} allocations meet the totals."),
    (False, True): marked(
        "So many allocations meet the totals that their number has {digits} digits; in brackets, the share of them "
        "that has the record in that place."
    ),
    (False, False): marked(
        "So many allocations meet the totals that their number has {digits} digits."
    ),
}
"""How many allocations meet them, by whether they are few and whether shares are shown (--json has all digits)."""


def solution_sentences(solution: Solution, *, with_shares: bool = True) -> list[str]:
    """Say what all valid allocations of a group have in common, and what of it is proved.

    Args:
        solution: What was found.
        with_shares: Whether they stand below a table that has places, and shares in brackets.
    """
    if solution.reason is not None:
        return [translated(UNMET[solution.reason])]
    if not solution.proved:
        return _at_a_limit(solution)
    if solution.status == "unique":
        return [text("The place of every record is certain: only one allocation meets the totals.")]
    certain = text(
        "The place of {linked} of {records} records is certain.",
        linked=solution.linked,
        records=len(solution.feasible_bins),
    )
    if solution.allocations is None:
        return [
            certain,
            text(
                "It is proved that each record can be in each place that is shown, and in no other. How many "
                "allocations meet the totals was not counted: they are too many for the limits."
            ),
        ]
    few = solution.allocations < 10**MOST_DIGITS
    met = translated(
        MET[few, with_shares],
        allocations=solution.allocations if few else "",
        digits="" if few else _digits(solution.allocations),
    )
    return [certain, met]


def _digits(count: int) -> int:
    """Return how many digits a number has; writing it out is too long for Python beyond 4,300 of them.

    >>> _digits(10**30 - 1), _digits(10**30), len(str(10**30))
    (30, 31, 31)
    """
    digits = floor(log10(count))
    while count >= int(10**digits):
        digits += 1
    return digits


def _at_a_limit(solution: Solution) -> list[str]:
    records, places, _ = solution.instance.size
    places_left = [len(bins) for bins in solution.feasible_bins]
    return [
        text("The limit was met before everything was decided."),
        text(
            "Proved: no record is in a place that is not shown for it ({ruled_out} of {pairs} pairs of a record and a "
            "place are ruled out).",
            ruled_out=records * places - sum(places_left),
            pairs=records * places,
        ),
        text("Not proved: that each record can be in each place that is shown for it."),
        text("Not proved either: that any allocation meets the totals.")
        if solution.witness is None
        else text(
            "Proved, too: some allocation meets the totals. The place of {single} of {records} records, those with "
            "one place left, is therefore certain.",
            single=places_left.count(1),
            records=records,
        ),
    ]
