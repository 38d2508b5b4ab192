"""The report of published tables: who can be read out of them together, told without a combination of values."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from glasshouse.disclosure import cell_count, is_shown
from glasshouse.language import number, quoted, text, text_for
from glasshouse.measures.tables import measured_without
from glasshouse.measures.verdict import verdict_on
from glasshouse.report.cells import cell_table
from glasshouse.report.glossary import glossary
from glasshouse.report.page import (
    Action,
    Brief,
    Finding,
    Page,
    Provenance,
    Section,
    Severity,
    Table,
    Tile,
    note,
    reassurance,
)
from glasshouse.report.severity import SOME, graded
from glasshouse.report.tables.noise import (
    more_noise,
    noise_findings,
    noise_table,
)
from glasshouse.report.words import counted, indefinite, plural, share
from glasshouse.study.policy import ReleasePolicy
from glasshouse.study.tables import TablesStudy
from glasshouse.tabulation import (
    Remedy,
    SecretExposure,
    TablesAudit,
    TableSet,
    TablesOutcome,
    TableWeight,
)

SOURCE = "Garfinkel, Abowd and Martindale 2018, “Understanding database reconstruction attacks on public data”"
COMMAND = "glasshouse tables --study study.toml"


def page(outcome: TablesOutcome, question: TablesStudy, *, provenance: Provenance) -> Page:
    """Return the report: totals over all people, and no combination of values."""
    findings = tuple(_findings(outcome, question))
    return Page(
        title=text("Who can be read out of published tables"),
        lead=text(
            "{people}, {tables}",
            people=counted(outcome.records, question.subject),
            tables=text_for(len(question.tables), "{count} table", "{count} tables"),
        ),
        findings=findings,
        tiles=_tiles(outcome, question),
        actions=tuple(_actions(outcome, question.policy)),
        adversary=(_adversary(outcome),),
        limits=(
            text(
                "What is certain holds in every file of people that meets the tables; it is proved in whole numbers."
            ),
            text(
                "A record that is certain is not yet a name: for that a register is needed. And it is a record of the "
                "file behind the tables: if that was swapped or edited before, so is what is read out of it."
            ),
        ),
        sections=(
            Section(
                text("What one table reveals, and all of them together"),
                tables=tuple(_tables(outcome)),
            ),
        ),
        provenance=provenance,
        command=COMMAND,
        method=text("after {source}, with every bound proved in whole numbers", source=SOURCE),
        glossary=glossary("adversary"),
    )


def _adversary(outcome: TablesOutcome) -> str:
    if outcome.noise is None:
        return text(
            "The adversary has all the tables, knows how they were rounded, suppressed or perturbed, and puts "
            "them together; she knows nothing else about the people."
        )
    return text(
        "The adversary has all the tables, knows how they were rounded, suppressed or perturbed, and puts them "
        "together. Where it is asked what noise protects, she also knows everybody else in a count; elsewhere she "
        "knows nothing else about the people."
    )


def brief(outcome: TablesOutcome, question: TablesStudy) -> Brief:
    """Return what a terminal says."""
    blocks = () if outcome.status == "infeasible" else tuple(_tables(outcome))
    return Brief(blocks, tuple(_findings(outcome, question)))


def _tiles(outcome: TablesOutcome, question: TablesStudy) -> tuple[Tile, ...]:
    if outcome.status == "infeasible" or not outcome.records:
        return ()
    least = "" if outcome.bounds.certain == "proved" else "≥ "
    people = plural(question.subject)
    return (
        Tile(
            text("Whose record is certain"),
            f"{least}{share(outcome.bounds.certain_persons, outcome.records)}",
            text(
                "{certain} of {people}, {rare} of them with a combination that at most {few} have",
                certain=outcome.bounds.certain_persons,
                people=counted(outcome.records, question.subject),
                rare=outcome.rare_persons,
                few=outcome.rare,
            ),
        ),
        Tile(
            text("By one table alone"),
            ("≥ " if outcome.alone_at_least else "") + share(outcome.best_alone, outcome.records),
            text(
                "{people} whose record the best single table reveals at least: not every table was solved to the end",
                people=people,
            )
            if outcome.alone_at_least
            else text("{people} whose record the best single table already reveals", people=people),
        ),
    )


def _actions(outcome: TablesOutcome, policy: ReleasePolicy) -> Iterator[Action]:
    if outcome.status == "infeasible":
        yield Action(_look_at_windows())
    else:
        chosen = _to_withhold(outcome, policy)
        if chosen is not None:
            table, meets = chosen
            yield Action(_without(outcome, table), meets=meets)
        if outcome.rare_persons:
            yield Action(_publish_less() if chosen is None else _less_besides(), command=COMMAND)
        elif attributes := [one.attribute for one in outcome.secrets if one.certain_at_most]:
            yield Action(_cross_less(attributes), command=COMMAND)
    if outcome.noise is not None and outcome.noise.worst.convinced > SOME:
        yield Action(more_noise())
    if outcome.status == "limit":
        yield Action(_more_time(), command=f"{COMMAND} --time-limit 600")


def _to_withhold(
    outcome: TablesOutcome, policy: ReleasePolicy
) -> tuple[TableWeight, bool | None] | None:
    """Return the cheapest table without which the others meet the rule, or else nobody's rare record is certain.

    With it comes whether they meet the rule; None: what noise protects without it was not computed.
    """
    tables = () if outcome.audit is None else outcome.audit.to_withhold
    if len(outcome.alone) == 1:
        return None
    judged = []
    for table in tables:
        measured = () if outcome.noise is not None else measured_without(outcome, table)
        verdict = verdict_on(measured, policy)
        judged.append((table, None if verdict is None else verdict.meets))
    best = next((one for one in judged if one[1]), None)
    return best or next(iter(judged if outcome.rare_persons else ()), None)


def _without(outcome: TablesOutcome, table: TableWeight) -> str:
    """Say what withholding a table brings, what it costs, and what it leaves."""
    sentence = (
        text(
            "Withhold table “{table}”: without it nobody’s rare record is certain.",
            table=table.table,
        )
        if outcome.rare_persons
        else text("Withhold table “{table}”.", table=table.table)
    )
    cost = text_for(table.cells, "It costs its {count} cell.", "It costs its {count} cells.")
    return " ".join((sentence, cost, *_secrets_without(outcome, table)))


def _publish_less() -> str:
    return text(
        "Publish one table less, fewer columns in a table, or wider bands; round or perturb the counts, "
        "zeros among them, since shown zeros carry the certainty; then run it again to see what that gains."
    )


def _less_besides() -> str:
    return text(
        "Besides, publish still fewer tables, fewer columns in a table, or wider bands; or round all counts, zeros "
        "too. Then run it again: nothing is to go out before it passes."
    )


def _cross_less(attributes: list[str]) -> str:
    return text(
        "Publish “{attributes}” in fewer tables, or with fewer columns beside it; then run it again to see what that "
        "gains.",
        attributes="”, “".join(attributes),
    )


def _more_time() -> str:
    return text("Give it more time: what is open may still be certain.")


def _look_at_windows() -> str:
    return text(
        "See whether the tables are of the same people, and whether suppression, rounding and totals are what the "
        "study says."
    )


def contradiction(outcome: TablesOutcome) -> str:
    """Return which tables contradict each other."""
    return contradicting(outcome.contradiction)


def contradicting(tables: TableSet | None) -> str:
    """Return which tables of a set contradict each other."""
    if tables is None or not tables.tables:
        return text("what is said besides the tables contradicts itself")
    names = quoted(tables.tables)
    if len(tables.tables) == 1:
        return text(
            "table {tables} contradicts itself, or what is said besides the tables", tables=names
        )
    if tables.irreducible == "proved":
        return text(
            "{tables} contradict each other, and without any one of them they do not", tables=names
        )
    return text(
        "{tables} contradict each other; whether all of them are needed for it is not proved",
        tables=names,
    )


def _findings(outcome: TablesOutcome, question: TablesStudy) -> Iterator[Finding]:
    if outcome.status == "infeasible":
        yield note(
            text(
                "The tables contradict each other as the study describes them: no file of people meets them all. This "
                "does not mean that anybody is safe."
            ),
            contradiction(outcome),
            remedy=_look_at_windows(),
        )
        return
    if outcome.noise is not None:
        yield from noise_findings(outcome.noise, indefinite(question.subject))
    yield _read_out(outcome, question)
    yield from _combined(outcome)
    yield from _advice(outcome, question.policy)
    for secret in outcome.secrets:
        yield _secret(secret, outcome)
    if outcome.unseen:
        yield note(
            text(
                "Whether the tables reveal a single column of a person was not asked, so there is no verdict: name "
                "what is sensitive, or everything that is known."
            )
        )
    yield _counted(outcome)
    if outcome.status == "limit":
        yield note(
            text(
                "Not everything was proved in time; of what is open, what is not ruled out is shown."
            ),
            remedy=_more_time(),
        )


def _read_out(outcome: TablesOutcome, question: TablesStudy) -> Finding:
    certain, rare, people = outcome.bounds.certain_persons, outcome.rare_persons, outcome.records
    figure = text(
        "certain records: {certain} of {people}; rare: {rare}",
        certain=certain,
        people=people,
        rare=rare,
    )
    if certain == 0 and outcome.bounds.certain == "proved":
        return reassurance(
            text("Nobody’s whole record can be read out of the tables with certainty."),
            figure,
            text(
                "This holds as long as the adversary has nothing but these tables; a guess may still be right."
            ),
        )
    if certain == 0:
        return note(
            text(
                "As far as it was proved, nobody’s whole record can be read out of the tables with certainty."
            ),
            figure,
        )
    sentence = text(
        "Whoever puts the tables together reads the whole record of {certain} of {people} out of them with certainty, "
        "{rare} of them with a combination that at most {few} have.",
        certain=number(certain),
        people=counted(people, question.subject),
        rare=number(rare),
        few=number(outcome.rare),
    )
    severity = graded(Fraction(0), certain=rare, people=people) if rare else Severity.LOW
    meaning = text(
        "That many have a common combination is a certain fact and harms nobody; a rare one leads to a person as soon "
        "as somebody knows part of it."
    )
    return Finding(severity, sentence, figure, meaning, _publish_less() if rare else "")


def _combined(outcome: TablesOutcome) -> Iterator[Finding]:
    if outcome.bounds.certain_persons <= outcome.best_alone:
        return
    figures = {"one": number(outcome.best_alone), "all": number(outcome.bounds.certain_persons)}
    if outcome.alone_at_least:
        yield note(
            text(
                "All tables together reveal the whole record of {all} with certainty; the best single one that of "
                "{one}, or of more: not every table was solved to the end by itself.",
                **figures,
            )
        )
        return
    if not outcome.best_alone:
        yield note(
            text(
                "No single table reveals anybody’s whole record with certainty; all together reveal that of {all}.",
                all=figures["all"],
            )
        )
        return
    yield note(
        text(
            "The best single table reveals the whole record of {one} with certainty, all tables together that of "
            "{all}: the difference comes from putting them together.",
            **figures,
        )
    )


def _advice(outcome: TablesOutcome, policy: ReleasePolicy) -> Iterator[Finding]:
    """Yield which table to withhold so that nobody with a rare combination is certain."""
    audit = outcome.audit
    if audit is None or not outcome.rare_persons or len(audit.weights) == 1:
        return
    chosen = _to_withhold(outcome, policy)
    if chosen is not None:
        sentence = _without(outcome, chosen[0])
    elif audit.none_frees:
        sentence = text(
            "To withhold a single table is not enough: whichever it is, somebody’s rare record stays certain."
        )
    else:
        sentence = text(
            "For no single table was it proved in time that without it nobody’s rare record is certain."
        )
    yield note(sentence)


def _secrets_without(outcome: TablesOutcome, table: TableWeight) -> Iterator[str]:
    """Yield of how many people a secret that is certain may stay so without a table."""
    for secret in outcome.secrets:
        if not secret.certain_at_most:
            continue
        if secret.attribute not in table.secrets:
            yield text(
                "For how many people “{attribute}” is certain then was not proved.",
                attribute=secret.attribute,
            )
        elif people := table.secrets[secret.attribute]:
            yield text(
                "But “{attribute}” is then still certain for up to {count} people.",
                attribute=secret.attribute,
                count=number(min(people, outcome.records)),
            )


def _changes(outcome: TablesOutcome) -> Table | None:
    """Return what else than to withhold a table lets nobody's rare record be certain, and what it costs."""
    rows = [(_change(one), number(one.cells)) for one in outcome.advice]
    if not rows:
        return None
    title = text("Changes after which it is proved that nobody’s rare record is certain")
    return cell_table(text("change"), (text("cells that it takes away or blurs"),), rows, title)


def _change(remedy: Remedy) -> str:
    if remedy.change == "coarsen":
        return text(
            "publish table “{table}” without “{attribute}”",
            table=remedy.table,
            attribute=remedy.attribute,
        )
    if remedy.change == "hide":
        return text("hide the counts that the file of reasons names")
    if remedy.table:
        return text(
            "round the counts of table “{table}” to multiples of {base}",
            table=remedy.table,
            base=remedy.base,
        )
    return text("round the counts of all tables to multiples of {base}", base=remedy.base)


def _secret(secret: SecretExposure, outcome: TablesOutcome) -> Finding:
    is_proved = outcome.bounds.possible == "proved"
    figures = {"all": secret.certain, "one": secret.one_table}
    figure = (
        text("certain by all tables: {all}; by the best single one: {one} or more", **figures)
        if outcome.alone_at_least
        else text("certain by all tables: {all}; by the best single one: {one}", **figures)
    )
    if not secret.certain_at_most and is_proved:
        return reassurance(
            text(
                "For nobody does “{attribute}” become certain to someone who knows the other columns.",
                attribute=secret.attribute,
            ),
            figure,
        )
    if not secret.certain:
        sentence = (
            text(
                "To someone who knows the other columns, “{attribute}” becomes certain for at most {count} people, "
                "and perhaps for nobody.",
                attribute=secret.attribute,
                count=number(secret.certain_at_most),
            )
            if is_proved
            else text(
                "For whom “{attribute}” becomes certain to someone who knows the other columns was not proved.",
                attribute=secret.attribute,
            )
        )
        return note(sentence, figure)
    return Finding(
        graded(Fraction(0), certain=secret.certain, people=outcome.records),
        text(
            "To someone who knows the other columns, “{attribute}” becomes certain for at least {count} people.",
            attribute=secret.attribute,
            count=number(secret.certain),
        ),
        figure,
    )


def _counted(outcome: TablesOutcome) -> Finding:
    if outcome.bounds.tables is None:
        return note(
            text(
                "How many different files of people would give exactly these tables was not counted."
            )
        )
    if outcome.bounds.tables == 1:
        return note(text("Only one file of people gives exactly these tables."))
    return note(
        text(
            "{count} different files of people would give exactly these tables.",
            count=number(outcome.bounds.tables),
        )
    )


def _tables(outcome: TablesOutcome) -> Iterator[Table]:
    """Yield how many people each table makes certain alone, and what each attribute is guessed at."""
    if outcome.noise is not None:
        yield noise_table(outcome.noise)
    rows = [
        (name, ("≥ " if name in outcome.alone_open else "") + number(count))
        for name, count in outcome.alone.items()
    ]
    rows += [(name, "–") for name in outcome.alone_open if name not in outcome.alone]
    least = "" if outcome.bounds.certain == "proved" else "≥ "
    rows.append((text("all tables"), least + number(outcome.bounds.certain_persons)))
    yield cell_table(text("table"), (text("people whose record is certain"),), rows)
    if outcome.audit is not None and len(outcome.audit.weights) > 1:
        yield _ranking(outcome.audit)
    changes = _changes(outcome)
    if changes is not None:
        yield changes
    guesses = [
        (
            one.attribute,
            *(
                "–" if guess is None else number(float(guess), ".1f")
                for guess in one.guesses.values()
            ),
        )
        for one in outcome.secrets
    ]
    if guesses:
        titles = (text("margin"), text("one table"), text("population"), text("all tables"))
        yield cell_table(
            text("attribute"),
            titles,
            guesses,
            text("Correct guesses to be expected, of {people}", people=number(outcome.records)),
        )


def _ranking(audit: TablesAudit) -> Table:
    """Return what leaving each table out changes; small counts are not told, nor the order of the tables with them."""

    def rank(weight: TableWeight) -> tuple[int, str]:
        people = -1 if weight.people is None else weight.people
        return -people if is_shown(people) else -1 if people > 0 else 1, weight.table

    ranked = []
    for one in sorted(audit.weights, key=rank):
        people = "–" if one.people is None else cell_count(one.people)
        if one.people and is_shown(one.people) and one.certain == "limit":
            people = f"≤ {people}"
        ranked.append((one.table, people, number(one.cells)))
    titles = (text("people no longer certain without it"), text("cells that it has"))
    return cell_table(text("table"), titles, ranked, text("What leaving one table out changes"))
