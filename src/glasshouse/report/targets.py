"""The report of the attack on one person: in sentences, in pictures, in exact figures.

Other reports disclose nobody. This one is about one person and names what can be learned of them, because that is what
was asked: it is personal data itself, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import takewhile

from glasshouse.errors import printable
from glasshouse.microdata.models import Leakage
from glasshouse.microdata.target import Belief, Journalist, Target, TargetSecret, Value
from glasshouse.report.cells import NOTHING, gain_titles, guess_titles, leakage_cells, yes_cell
from glasshouse.report.chances import (
    Shift,
    before_and_after_columns,
    chance,
    chances,
    rest_of,
    shift_chart,
    shift_rows,
)
from glasshouse.report.document import METHOD
from glasshouse.report.lists import listed
from glasshouse.report.page import (
    Cell,
    Column,
    Figure,
    Group,
    Page,
    Provenance,
    Section,
    Table,
    Term,
)
from glasshouse.report.transition import Assumptions, noted, spread
from glasshouse.report.treatment import treatment_section
from glasshouse.report.words import counted, enumeration, plural
from glasshouse.sources import MISSING
from glasshouse.table.treatment import Step

MOST_SECRETS = 3
"""Of how many secrets the sentences and the pictures speak; all are in the tables."""
MOST_VALUES_DRAWN = 12
"""How many values of a secret a picture shows by themselves."""
MOST_VALUES_LISTED = 30
"""How many values of a secret a table shows by themselves."""
LONGEST_VALUE = 60
"""After so many characters a value is cut off in a sentence."""
JOURNALIST = (
    "El Emam and Dankar 2008, “Protecting privacy using k-anonymity”, Journal of the American Medical Informatics "
    "Association"
)
PERSONAL = (
    "This report is about one person, and is itself personal data: keep it as closely as the data, and do not publish "
    "it."
)

_UNLESS = ", unless their record is suppressed"


def target_sentences(target: Target, *, subject: str = "person") -> tuple[str, ...]:
    """Return who may be meant, what is learned of them, and what if they may not be in the release at all.

    The secrets of which most is learned come first; values of a secret are named.

    Args:
        target: What came out.
        subject: What a record stands for.
    """
    sentences = [_fitting(target, subject)]
    if target.suppressed:
        sentences.append(_suppressed(target.suppressed))
    secrets = _most_telling(target.secrets)
    sentences += [_learned(secret, target, subject) for secret in secrets[:MOST_SECRETS]]
    further = len(secrets) - MOST_SECRETS
    if further > 0:
        sentences.append(f"What is learned of {counted(further, 'further secret')} is in a table.")
    if target.journalist is not None:
        sentences.append(_not_knowing(target.journalist, target.candidates, subject))
    return tuple(sentences)


def target_page(
    target: Target,
    *,
    subject: str,
    provenance: Provenance,
    treatment: Sequence[Step] = (),
    notes: Sequence[str] = (),
    currency: str | None = None,
) -> Page:
    """Return the report of the attack on one person as a page.

    Args:
        target: What came out.
        subject: What a record stands for.
        provenance: Where the figures come from.
        treatment: The records that were left out beforehand.
        notes: What else was done to the data, in plain sentences.
        currency: What gains are counted in; None: they are plain numbers.
    """
    journalist = target.journalist
    sections = (
        Section("The figures", tables=tuple(_attack_tables(target, subject, currency))),
        _beliefs_section(target.secrets, subject),
        None if journalist is None else _journalist_section(journalist, subject),
        treatment_section(treatment, notes),
    )
    several = len(target.datasets) > 1
    return Page(
        title=f"What {listed(target.datasets)} {'tell' if several else 'tells'} of one {subject}",
        lead=f"{counted(target.records, 'record')}, and one {subject} of whom {_known(target)} "
        f"{'is' if len(target.known) == 1 else 'are'} known. This report is personal data.",
        findings=noted(target_sentences(target, subject=subject)),
        figures=tuple(map(_figure, _most_telling(target.secrets)[:MOST_SECRETS])),
        sections=tuple(section for section in sections if section is not None),
        **spread(_assumptions(target, subject)),
        provenance=provenance,
        command="glasshouse target --study study.toml",
        method=METHOD if journalist is None else f"{METHOD}; {JOURNALIST}",
    )


def _most_telling(secrets: Sequence[TargetSecret]) -> list[TargetSecret]:
    """Return the secrets in the order of how far the attack moves her beliefs."""
    return sorted(secrets, key=_moved, reverse=True)


def _moved(secret: TargetSecret) -> Fraction:
    """Return the total variation distance of prior and posterior: how much probability goes to other values."""
    possible = takewhile(lambda belief: belief.posterior, secret.values)
    return sum(
        (max(belief.posterior - belief.prior, Fraction(0)) for belief in possible), Fraction(0)
    )


def _known(target: Target) -> str:
    """Say of which columns something is known; ``@D2`` is whether the person is in dataset D2 at all."""
    return enumeration(
        [f"being in {name[1:]}" if name.startswith("@") else name for name in target.known]
    )


def _shown(value: Value) -> str:
    """Return a value of a secret as text."""
    if isinstance(value, tuple):
        return " + ".join(map(_shown, value))
    if value is None:
        return "(no record there)"
    return "(missing)" if value == MISSING else printable(value)


def _quoted(value: Value) -> str:
    """Return a value as it stands in a sentence."""
    text = _shown(value)
    return f"“{text if len(text) <= LONGEST_VALUE else f'{text[: LONGEST_VALUE - 1]}…'}”"


def _fitting(target: Target, subject: str) -> str:
    """Say how many records may be the person's."""
    fit = f"what is known of this {subject} ({_known(target)})"
    records = counted(target.records, "record")
    before, after = chances(target.naming.prior, target.naming.posterior)
    if not target.candidates:
        return f"None of the {records} fits {fit}: this {subject} is not in the release."
    if target.candidates == 1:
        which = "The only record" if target.records == 1 else f"Exactly one of the {records}"
        if target.journalist is not None and target.journalist.presence.posterior < 1:
            return f"{which} fits {fit}: if this {subject} is in the release, it is theirs for certain."
        unless = _UNLESS if target.suppressed else ""
        return f"{which} fits {fit}: this {subject} is named with certainty{unless}."
    if target.candidates == target.records:
        return (
            f"All of the {records} fit {fit}: it rules out nobody, and a guess at the record is right with a chance "
            f"of {after}, as before."
        )
    return (
        f"{target.candidates:,} of the {records} fit {fit}: a guess at which is theirs is right with a chance of "
        f"{after}; without that knowledge it would be {before}."
    )


def _suppressed(records: int) -> str:
    """Say that records of which nothing is told are no candidates, and may be the person's all the same."""
    if records == 1:
        return "1 further record is suppressed: it may be theirs."
    return f"{records:,} further records are suppressed: one of them may be theirs."


def _learned(secret: TargetSecret, target: Target, subject: str) -> str:
    """Say what the best guess of a secret is, before and after."""
    name = f"this {subject}'s {enumeration(secret.secret)}"
    (value, after), (former, before) = secret.best, secret.prior_best
    best, first = (
        _quoted(value),
        "that guess" if value == former else f"the guess {_quoted(former)}",
    )
    now, then = chances(after, before)
    if before == 1:
        return f"Nothing is learned of {name}: everybody in the release has {best}."
    if secret.certain:
        how = "" if target.candidates == 1 else f", although {target.candidates:,} records fit"
        how += _UNLESS if target.suppressed else ""
        return (
            f"It gives {name} away with certainty{how}: {best}. Without that knowledge {first} would be right with a "
            f"chance of {then}."
        )
    if not _moved(secret):
        return (
            f"Nothing is learned of {name}: the best guess is {best}, right with a chance of {now}, as for anybody in "
            "the release."
        )
    if now == then:
        instead = "" if value == former else f" instead of {_quoted(former)}"
        about = "just" if after == before else "about"
        return (
            f"The best guess at {name} is {best}{instead}, and {about} as likely to be right as the best one without "
            f"that knowledge: with a chance of {now}."
        )
    if after < before:
        return (
            f"Of {name} less is known than of people in general: the best guess, {best}, is right with a chance of "
            f"{now} only; without that knowledge {first} would have seemed right with a chance of {then}."
        )
    return (
        f"The best guess at {name} is {best}, right with a chance of {now}; without that knowledge {first} would be "
        f"right with a chance of {then}."
    )


def _not_knowing(journalist: Journalist, candidates: int, subject: str) -> str:
    """Say what it comes to for somebody who does not know that the person is in the release."""
    people = subject if journalist.fitting == 1 else plural(subject)
    fitting, presence = f"{_number(journalist.fitting)} {people}", journalist.presence
    who = f"Someone who does not know whether this {subject} is in the release"
    if journalist.estimated:
        return (
            f"{who} can only estimate: about {fitting} of the population fit, so that the {subject} is in it with an "
            f"estimated chance of {chance(presence.posterior)}, and a record that fits is theirs with an estimated "
            f"chance of {chance(journalist.naming.posterior)}."
        )
    counts = f"{fitting} of {journalist.register} fit{'s' if journalist.fitting == 1 else ''}"
    if not candidates:
        return f"{who} learns that they are not: {counts}, and nobody of them has a record in it."
    if presence.posterior == 1:
        sure = "; the record is theirs for certain" if candidates == 1 else ""
        return f"{who} learns that they are: {counts}, and the release holds them all{sure}."
    inside = f"{candidates:,} of them {'is' if candidates == 1 else 'are'} in it"
    before, named = chance(presence.prior), chance(journalist.naming.posterior)
    if journalist.assumed:
        return (
            f"{who} reckons: about {counts}, and {inside}, {_assuming(journalist)}. So this {subject} is in the "
            f"release with a chance of {chance(presence.posterior)} (before: {before}), and a record that fits is "
            f"theirs with a chance of {named}."
        )
    return (
        f"{who} counts: {counts}, and {inside}. So this {subject} is in the release with a chance of {candidates:,} in "
        f"{_number(journalist.fitting)} (before: {before}), and a record that fits is theirs with a chance of {named}."
    )


def _assuming(journalist: Journalist) -> str:
    """Say what is assumed where the register lacks something that is known."""
    return (
        f"assuming that what {journalist.register} does not tell is as frequent among those who are in the release as "
        "among those who are not"
    )


def _number(count: Fraction) -> str:
    """Return a number of people; an estimated one may be broken, which matters only where it is small."""
    return f"{float(count):,.1f}" if count < 10 and count.denominator > 1 else f"{round(count):,}"


def _figure(secret: TargetSecret) -> Figure:
    name = enumeration(secret.secret)
    return Figure.of(
        shift_chart(
            _shifts(secret.values),
            title=_finding(secret),
            subtitle=f"how probable each {name} is",
        ),
        label=f"How probable each value of {name} is before and after; the same numbers are in a table below",
        caption="“Before”: its share in the whole release. “After”: its share among the records that fit what is "
        "known.",
    )


def _shifts(values: Sequence[Belief]) -> list[Shift]:
    """Return the values that are most probable before or after, and the others summed up."""
    most = MOST_VALUES_DRAWN if len(values) <= MOST_VALUES_DRAWN else MOST_VALUES_DRAWN - 1
    by_probability = sorted(
        range(len(values)), key=lambda i: max(values[i].prior, values[i].posterior), reverse=True
    )
    shifts = [_shift(values[i]) for i in sorted(by_probability[:most])]
    others = len(values) - len(shifts)
    return [*shifts, rest_of(shifts, f"all {others:,} others")] if others else shifts


def _shift(belief: Belief) -> Shift:
    return Shift(_shown(belief.value), belief.prior, belief.posterior)


def _finding(secret: TargetSecret) -> str:
    name = enumeration(secret.secret)
    (value, after), before = secret.best, secret.prior_best[1]
    if secret.certain:
        return f"The {name} is certain: {_quoted(value)}"
    now, then = chances(after, before)
    if after < before and now != then:
        return f"The {name} is harder to guess than of people in general"
    return f"The {name}: best guess {_quoted(value)}, right with a chance of {now}"


def _attack_tables(target: Target, subject: str, currency: str | None) -> list[Table]:
    """Return each attack with its success, and what it gains where gains were given."""
    named = f"name the {subject}"
    attacks = [(target.code, named, target.naming)]
    attacks += [
        (secret.code, f"infer {enumeration(secret.secret)}", secret.guess)
        for secret in target.secrets
    ]
    rows = tuple(
        (Cell(label, mark=code), *leakage_cells(leakage), yes_cell(leakage.posterior == 1))
        for code, label, leakage in attacks
    )
    columns = (
        Column("Attack"),
        *(Column(title, numeric=True) for title in guess_titles()),
        Column("Certain"),
    )
    tables = [Table(columns, (Group(rows),), title=f"If the {subject} is in the release")]
    gains = []
    if target.naming_gain is not None:
        gains.append(_gain_row(target.code, named, target.naming_gain, NOTHING, currency))
    gains += [
        _gain_row(
            secret.code,
            f"infer {enumeration(secret.secret)}",
            secret.gain,
            Cell(_action(secret.best_action)),
            currency,
        )
        for secret in target.secrets
        if secret.gain is not None
    ]
    if gains:
        columns = (
            Column("Attack"),
            *(Column(title, numeric=True) for title in gain_titles()),
            Column("Best action"),
        )
        tables.append(Table(columns, (Group(tuple(gains)),), title="What she gains"))
    return tables


def _gain_row(
    code: str, label: str, gain: Leakage, action: Cell, currency: str | None
) -> tuple[Cell, ...]:
    return (Cell(label, mark=code), *leakage_cells(gain, currency=currency), action)


def _action(action: object) -> str:
    """Return what she does as text: a value, several that she tries, or a guess of a gain function."""
    if isinstance(action, tuple):
        return ", ".join(map(_action_part, action))
    return _action_part(action)


def _action_part(part: object) -> str:
    if part is None or isinstance(part, str | tuple):
        return _shown(part)
    return printable(str(part))


def _beliefs_section(secrets: Sequence[TargetSecret], subject: str) -> Section | None:
    """Return, per secret, how probable each value is before and after."""
    if not secrets:
        return None
    return Section(
        f"What she believes of this {subject}",
        intro="How probable she holds each value, before and after; hover over a figure for the exact ratio.",
        tables=tuple(map(_beliefs_table, secrets)),
    )


def _beliefs_table(secret: TargetSecret) -> Table:
    shifts = list(map(_shift, secret.values[:MOST_VALUES_LISTED]))
    more = len(secret.values) - len(shifts)
    if more:
        shifts.append(rest_of(shifts, f"… and {counted(more, 'more value')}, together"))
    possible = sum(1 for _ in takewhile(lambda belief: belief.posterior, secret.values))
    return Table(
        (Column("Value"), *before_and_after_columns()),
        (
            Group(
                shift_rows(shifts),
                title=enumeration(secret.secret),
                note=f"{possible:,} of {counted(len(secret.values), 'value')} still possible",
            ),
        ),
    )


def _journalist_section(journalist: Journalist, subject: str) -> Section:
    """Return what it comes to for somebody who does not know that the person is in the release."""
    estimated = journalist.estimated
    rows = (
        (
            Cell(f"Number of people who can be the {subject}"),
            *(
                Cell(f"{'about ' if reckoned else ''}{_number(count)}", exact=str(count))
                for count, reckoned in (
                    (journalist.population, estimated),
                    (journalist.fitting, estimated or journalist.assumed),
                )
            ),
        ),
        *shift_rows(
            [
                Shift.of(f"The {subject} is in the release", journalist.presence),
                Shift.of(f"A record that she picks is the {subject}'s", journalist.naming),
            ]
        ),
    )
    before, after = (
        Column(f"{when}{', estimated' if estimated else ''}", numeric=True)
        for when in ("Before", "After")
    )
    return Section(
        f"If she does not know that this {subject} is in the release",
        intro=_counted(journalist),
        tables=(Table((Column("What"), before, after), (Group(rows),)),),
    )


def _counted(journalist: Journalist) -> str:
    """Say how the people who fit were counted."""
    if journalist.estimated:
        return (
            "There is no register of the population: these figures are estimated, from the share of the population "
            "that is in the release."
        )
    assuming = f", {_assuming(journalist)}" if journalist.assumed else ""
    return f"Counted in {journalist.register}{assuming}."


def _assumptions(target: Target, subject: str) -> Assumptions:
    estimated = target.journalist is not None and target.journalist.estimated
    exact = (
        "Every figure is an exact ratio of counts (or of weights, where the study gives them) in this release"
        + (", but for those that are said to be estimated." if estimated else ".")
    )
    return Assumptions(
        text=f"{PERSONAL} What is known of the {subject} is taken to be right, and every record that does not "
        "contradict it is a candidate, each as likely as the other unless the study gives weights; one that holds "
        f"nothing but * of it only where no other fits. The adversary knows the whole release. {exact}",
        terms=tuple(_terms(target, subject)),
    )


def _terms(target: Target, subject: str) -> list[Term]:
    terms = [
        Term("Candidates", f"The records that fit everything that is known of the {subject}."),
        Term(
            "Prosecutor",
            f"An adversary who knows that the {subject} is in the release: the figures are hers unless said otherwise.",
        ),
    ]
    if target.journalist is not None:
        terms.append(
            Term(
                "Journalist",
                f"An adversary who knows that the {subject} is in the population, but not whether they are in the "
                "release.",
            )
        )
    return [
        *terms,
        Term(
            "Certain",
            "She is right with probability 1: there is one candidate, or all candidates have the same value.",
        ),
        Term(
            "Guess before, guess after",
            f"The probability that her best single guess is right, knowing the release alone, and knowing what is "
            f"known of the {subject} besides (prior and posterior Bayes vulnerability).",
        ),
        Term(
            "Added, factor",
            f"After minus before, and after divided by before. For one {subject} a guess may get worse: below 0, and a "
            "factor below 1. On average over everybody in the release it cannot.",
        ),
    ]
