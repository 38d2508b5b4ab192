"""The report of the attack on one person: in sentences, in pictures, in figures.

It is about one person, and personal data itself, as it says. Still it holds no value of a record: it tells how likely
the likeliest value of a secret is, the second likeliest and so on, before and after. These are ranked apart: beside its
share in the release, which anybody can count, a value would be known. For the analyst, on the terminal, sentences are
exact and name values (`Discretion`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import takewhile

from glasshouse.disclosure import smallest_cell
from glasshouse.language import marked, number, percentage, text, text_for, translated
from glasshouse.microdata.individual import Journalist, Target, TargetSecret
from glasshouse.microdata.leakage import Leakage, value_text
from glasshouse.report.assess.front import less_detail_command
from glasshouse.report.attacks import METHOD, target_label
from glasshouse.report.cells import (
    GUESSES,
    NOTHING,
    bar,
    cell_table,
    gain_change,
    gain_titles,
    guess_titles,
    leakage_cells,
    percent_cell,
    three_digits,
    yes_cell,
)
from glasshouse.report.charts import Shift, before_and_after_table, rest_of, shift_figure
from glasshouse.report.discretion import (
    EXACTLY,
    Among,
    Discretion,
    both_percentages,
    personal,
    what_is_left_out,
)
from glasshouse.report.glossary import glossary
from glasshouse.report.labels import column_label, value_label
from glasshouse.report.page import (
    Brief,
    Cell,
    Column,
    Figure,
    Page,
    Provenance,
    Section,
    Table,
    Tile,
    remedies,
)
from glasshouse.report.provenance import missing_notes, treatment_blocks, treatment_section
from glasshouse.report.target.findings import (
    DISCREET,
    among_candidates,
    as_told,
    counted_all,
    hardly_changes,
    hidden_naming,
    hidden_prior,
    hides_everybody,
    is_rough,
    known_columns,
    less_detail,
    most_telling,
    people_fitting,
    secret_words,
    target_findings,
    told_of,
    with_caveats,
    wordings,
)
from glasshouse.report.words import (
    counted,
    enumeration,
    in_words,
    listed,
    percentages,
    plural,
    sentences,
)
from glasshouse.study.target import TargetStudy

MOST_VALUES = 15
"""So many values of one person's secret a terminal shows; the others together."""
MOST_RANKS_DRAWN = 12
"""How many values of a secret a picture shows by themselves."""
MOST_RANKS_LISTED = 30
"""How many values of a secret a table shows by themselves."""
ADVERSARY = marked(
    "The adversary knows the whole release and, of one person, {known}. What she knows is taken to be right."
)
IN_RELEASE = marked("She knows that the person is in the release.")
MAY_BE_IN_RELEASE = marked(
    "What is said of the record and of secrets is for an adversary who knows that the person is in the release. One "
    "who does not know it has a finding and a section of her own."
)
ADVERSARY_OF_PEOPLE = (
    marked(
        "The adversary knows the whole release and that the person is in it. Of the person she happens to know "
        "{known}. What she knows is taken to be right."
    ),
    marked(
        "Which of the person's records she knows is chance, each choice of so many as likely; before, everybody who "
        "has so many records is as likely to be the person."
    ),
    marked("The release shows which records are of one person, under a pseudonym."),
)
CANDIDATES_OF_PEOPLE = marked(
    "Everybody is a candidate who has as many different records as are known, none of which contradicts what is known "
    "of it. A candidate is the likelier the more of all choices of so many of their records would fit."
)
CANDIDATES = marked(
    "Every record that does not contradict what is known is a candidate, each as likely as the other unless the study "
    "gives weights; one that holds nothing but “*” of it only where no other fits."
)
FIGURES = {
    True: marked(
        "The figures follow from counts (or from weights, where the study gives them) in this release, but for those "
        "that are said to be estimated."
    ),
    False: marked(
        "The figures follow from counts (or from weights, where the study gives them) in this release; none is "
        "estimated."
    ),
}
"""What the figures follow from, by whether some are estimated."""
FITTING = {
    False: marked("The records that fit everything that is known."),
    True: marked("The people who have records that fit everything that is known."),
}
"""Who candidates are, by whether people have several records."""
TERMS = {
    marked("Certain"): marked(
        "She is right with probability 1: there is one candidate, or all candidates have the same value."
    ),
    **GUESSES,
    marked("Added, factor"): marked(
        "After minus before, and after divided by before. For one person a guess may get worse: below 0, and a factor "
        "below 1. On average over everybody in the release it cannot."
    ),
}
"""The words of the report, explained."""


def page(outcome: Target, question: TargetStudy, *, provenance: Provenance) -> Page:
    """Return the report of the attack on one person."""
    journalist = outcome.journalist
    words = {
        "datasets": listed(outcome.datasets),
        "records": counted(outcome.records, "record"),
        "known": known_columns(outcome),
    }
    histories, subject = outcome.histories, question.subject
    outcome = as_told(outcome)
    findings = target_findings(outcome, subject=question.subject, picture=_figure)
    beliefs = Section(
        text("What she believes of this person"),
        intro=text(
            "How probable she holds the likeliest value, the second likeliest and so on; before and after are ranked "
            "apart."
        ),
        tables=tuple(_beliefs_table(secret, outcome) for secret in outcome.secrets),
    )
    sections = (
        Section(
            text("The attacks"),
            tables=(
                _attacks_table(outcome),
                *_gains_tables(outcome, question.adversary.gain.currency),
            ),
        ),
        beliefs if outcome.secrets else None,
        None if journalist is None else journalist_section(journalist, outcome, DISCREET),
        treatment_section(outcome.steps, _notes(outcome, subject)),
    )
    if histories is None:
        lead = text(
            "{records}; what is known of one person: {known}. This report is personal data.",
            **words,
        )
        adversary = sentences(
            ADVERSARY, IN_RELEASE if journalist is None else MAY_BE_IN_RELEASE, **words
        )
    else:
        lead = text(
            "{people} with {records}; what is known of one of them: {known}. This report is personal data.",
            people=counted(histories.people, subject),
            records=counted(histories.records, "record"),
            known=words["known"],
        )
        adversary = sentences(*ADVERSARY_OF_PEOPLE, **words)
    return Page(
        title=text("What {datasets} tells of one person", **words)
        if len(outcome.datasets) == 1
        else text("What {datasets} tell of one person", **words),
        lead=lead,
        findings=findings,
        summary=_summary(outcome, subject),
        tiles=tuple(_tiles(outcome, subject)),
        actions=remedies(
            findings,
            {less_detail(outcome): less_detail_command(question, outcome.known)}
            if histories is None
            else {},
        ),
        sections=tuple(filter(None, sections)),
        adversary=adversary,
        limits=(
            personal(),
            *what_is_left_out("glasshouse target --json"),
            *sentences(
                CANDIDATES if histories is None else CANDIDATES_OF_PEOPLE,
                FIGURES[journalist is not None and journalist.estimated],
            ),
        ),
        provenance=provenance,
        command="glasshouse target --study study.toml",
        method=METHOD if journalist is None else f"{METHOD}; {JOURNALIST}",
        glossary=glossary(
            "adversary, target, record, release, vulnerability, leakage, re-identification",
            bool(outcome.secrets) and "sensitive attribute, attribute inference",
            any(secret.gain for secret in outcome.secrets) and "gain function",
            "prosecutor risk",
            journalist is not None and "journalist risk",
            terms=({marked("Candidates"): FITTING[histories is not None]} | TERMS,),
        ),
    )


def _summary(target: Target, subject: str) -> str:
    """Say in one sentence whether the person can be found, and whether a secret is certain all the same."""
    if target.histories is not None:
        template = _summary_of_people(target)
    elif target.candidates == target.records:
        return ""
    elif not target.candidates:
        template = marked("No record fits what is known: this person is not in the release.")
    elif target.candidates == 1:
        template = marked("This person can be found: only one of the {records} fits what is known.")
    elif is_rough(target, DISCREET):
        template = marked("This person can be found among fewer than {smallest} of the {records}.")
    else:
        template = marked(
            "This person cannot be told apart among the {candidates} of {records} that fit what is known."
        )
    certain = [
        secret_words(secret, target)
        for secret in target.secrets
        if secret.certain and secret.guess.additive
    ]
    phrases = sentences(
        template,
        target.candidates > 1 and bool(certain) and marked("Yet {secret} is certain."),
        records=counted(target.records, "record"),
        smallest=smallest_cell(),
        candidates=number(target.candidates),
        secret=certain[0] if certain else "",
        everybody=counted_all(target, subject),
        people=plural(subject),
    )
    return with_caveats(" ".join(phrases), target) if target.candidates else " ".join(phrases)


def _summary_of_people(target: Target) -> str:
    """Say the same of somebody of whom some records are known."""
    if target.candidates == 1:
        return marked("This person can be found: nobody else has records that fit what is known.")
    if is_rough(target, DISCREET):
        return marked("This person can be found among fewer than {smallest} {people}.")
    return marked(
        "This person is one of {candidates}, of the {everybody}, whose records fit what is known."
    )


def _tiles(target: Target, subject: str = "person") -> Iterator[Tile]:
    """Yield whether the person can be found, what is given away, and how little is known or how likely they are in."""
    noun = "record" if target.histories is None else subject
    if is_rough(target, DISCREET) and target.candidates > 1:
        figure = f"< {counted(smallest_cell(), noun)}"
    else:
        figure = counted(target.candidates, noun)
    yield Tile(text("Can this person be found?"), figure, _among_all(target))
    changes = [
        (secret, change)
        for secret in most_telling(target.secrets)
        if (change := _change(secret, target))
    ]
    if changes:
        (secret, change), *further = changes
        name = secret_words(secret, target)
        sentence = (
            text("right guesses of {secret}, before and after: practically the same", secret=name)
            if hardly_changes(secret.guess)
            else text("right guesses of {secret}, before and after", secret=name)
        )
        if further:
            another, other = further[0]
            sentence = text(
                "{first}; of {secret}: {change}",
                first=sentence,
                secret=secret_words(another, target),
                change=other,
            )
        yield Tile(text("What is given away"), change, sentence)
    journalist = target.journalist
    wording = EXACTLY if journalist is None else told_of(journalist, target, DISCREET)[1]
    if journalist is None or wording.hides(journalist.presence.posterior):
        yield Tile(
            text("How little is known"),
            text_for(len(target.known), "{count} fact", "{count} facts")
            if target.histories is None
            else counted(len(target.histories.known), "record"),
            known_columns(target),
        )
        return
    template = (
        marked("is the estimated chance that they are in the release")
        if journalist.estimated
        else marked("is the chance that they are in the release; before: {before}")
    )
    yield Tile(
        text("Is this person in it?"),
        percentage(journalist.presence.posterior),
        translated(template, before=percentage(journalist.presence.prior)),
    )


def _among_all(target: Target) -> str:
    """Say of how many records, or people, those are that fit."""
    if target.histories is None:
        return text_for(
            target.candidates,
            "fits what is known, of {records} in all",
            "fit what is known, of {records} in all",
            records=number(target.records),
        )
    if hides_everybody(target, DISCREET):
        return text_for(
            target.candidates,
            "has records that fit what is known",
            "have records that fit what is known",
        )
    return text_for(
        target.candidates,
        "has records that fit what is known, of {everybody} who have so many",
        "have records that fit what is known, of {everybody} who have so many",
        everybody=number(target.records),
    )


def _change(secret: TargetSecret, target: Target) -> str:
    """Say how often the best guess at a secret is right before and after; nothing where that is not told."""
    everybody, wording = wordings(secret, target)
    before, after = secret.guess.prior, secret.guess.posterior
    if everybody.hides(before) or wording.hides(after):
        return ""
    return " → ".join(percentages(before, after))


def brief(outcome: Target, question: TargetStudy) -> Brief:
    """Return what a terminal says of one person, exactly."""
    subject, histories = question.subject, outcome.histories
    if histories is None:
        fitting = text_for(
            outcome.candidates,
            "{datasets}: {records}, of which {count} fits what is known",
            "{datasets}: {records}, of which {count} fit what is known",
            datasets=", ".join(outcome.datasets),
            records=counted(outcome.records, "record"),
        )
    else:
        fitting = text_for(
            outcome.candidates,
            "{datasets}: {people} with {records}; of {everybody}, {count} has records that fit what is known",
            "{datasets}: {people} with {records}; of {everybody}, {count} have records that fit what is known",
            datasets=", ".join(outcome.datasets),
            people=counted(histories.people, subject),
            records=counted(histories.records, "record"),
            everybody=counted_all(outcome, subject, Discretion(exact=True)),
        )
    currency = question.adversary.gain.currency
    return Brief(
        (
            fitting,
            *treatment_blocks(outcome.steps, _notes(outcome, subject, exact=True)),
            *(_secret_table(secret, currency) for secret in outcome.secrets),
        ),
        target_findings(outcome, subject=question.subject, exact=True),
    )


def _missing(outcome: Target) -> dict[str, int]:
    """Return by secret in how many records it is missing, if in any."""
    return {secret.sensitive: secret.missing for secret in outcome.secrets if secret.missing}


def _notes(outcome: Target, subject: str, *, exact: bool = False) -> list[str]:
    """Say how many records, or of how many people, a secret is missing, or who has no other record that tells it."""
    if outcome.histories is None:
        return _missing_exactly(outcome) if exact else missing_notes(_missing(outcome))
    without = max((secret.missing for secret in outcome.secrets if secret.another), default=0)
    notes = [
        text(
            "What is said of {secret} leaves out people of whom it is missing, as what is missing is not learned: "
            "{people}.",
            secret=enumeration(secret.secret),
            people=Discretion(exact).people(secret.missing, subject),
        )
        for secret in outcome.secrets
        if secret.missing and not secret.another
    ]
    if without:
        notes.append(
            text(
                "What is said of another record leaves out people without a record besides the known ones: {people}.",
                people=Discretion(exact).people(without, subject),
            )
        )
    return notes


def _missing_exactly(outcome: Target) -> list[str]:
    """Say the same to the analyst, and of how many records that fit."""
    notes = missing_notes(_missing(outcome), exact=True)
    return notes + [
        text(
            "The {secret} of {records} of those that fit is missing.",
            secret=enumeration(secret.secret),
            records=counted(secret.missing_candidates, "record"),
        )
        for secret in outcome.secrets
        if secret.missing_candidates
    ]


def _secret_table(secret: TargetSecret, currency: str | None) -> Table:
    """Return the most probable values of one person's secret, before and after."""
    title = f"{secret.code} {target_label(secret.secret)}"
    if secret.gain is not None:
        title = text(
            "{attack}; gain {gain} by {action}",
            attack=title,
            gain=gain_change(secret.gain, currency),
            action=value_text(value_label(secret.secret, secret.best_action)),
        )
    rows = [
        (
            value_text(value_label(secret.secret, belief.value)),
            three_digits(belief.prior),
            three_digits(belief.posterior),
            bar(Leakage(Fraction(0), belief.posterior)),
        )
        for belief in secret.values[:MOST_VALUES]
    ]
    rest = secret.values[MOST_VALUES:]
    if rest:
        before = sum((belief.prior for belief in rest), Fraction(0))
        after = sum((belief.posterior for belief in rest), Fraction(0))
        further = text_for(len(rest), "{count} other", "{count} others")
        rows.append((further, three_digits(before), three_digits(after), ""))
    title_of = "+".join(map(column_label, secret.secret))
    return cell_table(title_of, (text("before"), text("after"), ""), rows, title)


def _all_told(chances: Sequence[Fraction], wording: Among) -> bool:
    """Tell whether no value is had by so few of some people that it may not be told how many."""
    people = wording.people
    return people is not None and not any(DISCREET.hides(chance * people) for chance in chances)


def _shown_ranks(secret: TargetSecret, everybody: Among, wording: Among, most: int) -> list[Shift]:
    """Return how probable the likeliest value is, the second likeliest, …, and all others together.

    Before and after are each ranked by themselves. Where one may not be told, the likeliest stands alone.
    """
    before = sorted((belief.prior for belief in secret.values), reverse=True)
    after = sorted((belief.posterior for belief in secret.values), reverse=True)
    is_told = _all_told(before, everybody) and _all_told(after, wording)
    if not is_told:  # what stands for the chances of others may be more than for the likeliest
        after = [secret.guess.posterior]
    ranks = (most - 1 if len(before) > most else most) if is_told else 1
    shifts = [
        Shift(text("no. {rank}", rank=rank), *chances)
        for rank, chances in enumerate(zip(before[:ranks], after[:ranks], strict=True), start=1)
    ]
    further = len(before) - len(shifts)
    if further and is_told:
        shifts.append(rest_of(shifts, text("all {count} others", count=further)))
    return shifts


def _beliefs_table(secret: TargetSecret, target: Target) -> Table:
    """Return how probable the values of a secret are, before and after."""
    everybody, wording = wordings(secret, target)
    possible = sum(1 for _ in takewhile(lambda belief: belief.posterior, secret.values))
    remark = text_for(
        len(secret.values),
        "{possible} of {count} value still possible",
        "{possible} of {count} values still possible",
        possible=possible,
    )
    shifts = _shown_ranks(secret, everybody, wording, MOST_RANKS_LISTED + 1)
    table = before_and_after_table(_likeliest_first(), shifts, everybody, wording)
    (group,) = table.groups
    all_told = len(shifts) in (len(secret.values), MOST_RANKS_LISTED + 1)
    named = replace(group, title=secret_words(secret, target), note=remark if all_told else "")
    return replace(table, groups=(named,))


def _figure(secret: TargetSecret, target: Target) -> Figure | None:
    """Show how probable the values of a secret are; nothing where there is no more to see than a sentence says."""
    everybody, wording = wordings(secret, target)
    shifts = _shown_ranks(secret, everybody, wording, MOST_RANKS_DRAWN)
    if len(shifts) == 1:
        return None
    name, after, before = secret_words(secret, target), secret.guess.posterior, secret.guess.prior
    now, then = both_percentages((wording, after), (everybody, before))
    if secret.certain and before < 1:
        title = marked("{secret} is certain; before, a guess was right in {then} of cases")
    elif percentage(after) == percentage(before):
        title = marked("A guess at {secret} is right in {then} of cases, as before")
        then = in_words(percentage(before))
    else:
        title = marked("A guess at {secret} is right in {now} of cases; before, in {then}")
    return shift_figure(
        _likeliest_first(),
        shifts,
        (everybody, wording),
        title=translated(title, secret=name, now=now, then=then),
        subtitle=text(
            "how probable the likeliest value of {secret} is, the second likeliest, and so on",
            secret=name,
        ),
        label=text("How probable the values of {secret} are, before and after", secret=name),
        caption=text(
            "“Before”: shares in the whole release. “After”: shares among the records that fit what is known. Each is "
            "ranked by itself: no. 1 after may be another value than no. 1 before. Which values they are is not told."
        )
        if target.histories is None
        else text(
            "“Before”: of anybody who has so many records. “After”: of this person, whose records fit what is known. "
            "Each is ranked by itself: no. 1 after may be another value than no. 1 before. Which values they are is "
            "not told."
        ),
    )


def _likeliest_first() -> str:
    return text("Value, the likeliest first")


def _attacks_table(target: Target) -> Table:
    """Return each attack with its success, or as much as may be told of it."""
    naming = target.naming
    before, after, *added = leakage_cells(naming)
    first, last = hidden_prior(target, DISCREET), hidden_naming(target, DISCREET)
    cells = [Cell(first) if first else before, Cell(last) if last else after]
    cells += [NOTHING] * len(added) if first or last else added
    attacks: list[tuple[str, tuple[str, ...], Leakage, Sequence[Cell]]]
    attacks = [(target.code, (), naming, cells)]
    for secret in target.secrets:
        guess, (everybody, wording) = secret.guess, wordings(secret, target)
        if everybody.hides(guess.prior) or wording.hides(guess.posterior):
            cells = [everybody.cell(guess.prior), wording.cell(guess.posterior), NOTHING, NOTHING]
        else:
            cells = [*leakage_cells(guess)]
        attacks.append((secret.code, secret.secret, guess, cells))
    rows = [
        (Cell(target_label(names), mark=code), *cells, yes_cell(guess.posterior == 1))
        for code, names, guess, cells in attacks
    ]
    columns: tuple[str | Column, ...] = (*guess_titles(), Column(text("Certain")))
    return cell_table(text("Attack"), columns, rows, text("If the person is in the release"))


def _gains_tables(target: Target, currency: str | None) -> Iterator[Table]:
    """Yield what each attack gains, where gains were given.

    What is gained of few people, or with certainty, would tell how many they are or which value it is.
    """
    gains: list[tuple[str, tuple[str, ...], Leakage | None, bool, bool]]
    few = among_candidates(target, DISCREET).rough
    gains = [(target.code, (), target.naming_gain, few, False)]
    for secret in target.secrets:
        everybody, wording = wordings(secret, target)
        after_hidden = secret.certain or wording.rough or wording.hides(secret.guess.posterior)
        before_hidden = everybody.hides(secret.guess.prior)
        gains.append((secret.code, secret.secret, secret.gain, after_hidden, before_hidden))
    rows = []
    for code, names, gain, after_hidden, before_hidden in gains:
        if gain is not None:
            cells = leakage_cells(gain, currency=currency)
            first = 0 if before_hidden else 1 if after_hidden else len(cells)
            hidden = [Cell(text("not shown"))] * (len(cells) - first)
            rows.append((Cell(target_label(names), mark=code), *cells[:first], *hidden))
    if rows:
        yield cell_table(text("Attack"), gain_titles(), rows, text("What she gains"))


JOURNALIST = (
    "El Emam and Dankar 2008, “Protecting privacy using k-anonymity”, Journal of the American Medical Informatics "
    "Association"
)


def journalist_section(journalist: Journalist, target: Target, discretion: Discretion) -> Section:
    """Return what it comes to for somebody who does not know that the person is in the release."""
    bound, wording = told_of(journalist, target, discretion)
    presence, naming = journalist.presence, journalist.naming
    population, fitting = map(people_fitting, (journalist.population, journalist.fitting))
    columns = (text("Before"), text("After"))
    if journalist.estimated:
        how, columns = "estimated", (text("Before, estimated"), text("After, estimated"))
        population = text("about {figure}", figure=population)
    else:
        how = "assumed" if journalist.assumed else "counted"
    if bound is not None:
        fitting = text("fewer than {smallest}", smallest=bound)
    elif journalist.estimated or journalist.assumed:
        fitting = text("about {figure}", figure=fitting)
    rows = (
        (Cell(text("Number of people who may be meant")), Cell(population), Cell(fitting)),
        (
            Cell(text("The person is in the release")),
            percent_cell(presence.prior),
            wording.cell(presence.posterior),
        ),
        (
            Cell(text("A record that she picks is the person's")),
            percent_cell(naming.prior),
            percent_cell(naming.posterior)
            if bound is None or naming.posterior in (0, 1)
            else Cell(f"> {percentage(Fraction(1, bound))}"),
        ),
    )
    return Section(
        text("If she does not know that the person is in the release"),
        intro=translated(COUNTED[how], register=str(journalist.register)),
        tables=(cell_table(text("What"), columns, rows),),
    )


COUNTED = {
    "estimated": marked(
        "There is no register of the population: these figures are estimated, from the share of the population that is "
        "in the release."
    ),
    "assumed": marked(
        "Counted in {register}, assuming that what it does not tell is as frequent among those who are in the release "
        "as among those who are not."
    ),
    "counted": marked("Counted in {register}."),
}
"""How the people who fit were counted."""
