"""The form that officers file: two pages and an annex, made of runs, for the GDPR (DPIA) or the LGPD (RIPD).

Every figure in it is one that a run measured, said as its report says it, and what a report hides it hides, too. What
no run can know, a person writes: a placeholder in brackets says who. The form is data; `to_docx` and
`glasshouse.report.pdf` set it.
"""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from glasshouse.errors import StudyError
from glasshouse.language import marked, printable, spoken, text, translated
from glasshouse.measures.measurement import Measurement
from glasshouse.report.cells import column_widths
from glasshouse.report.frameworks import ARTICLES, crosswalk
from glasshouse.report.page import (
    Cell,
    Column,
    Group,
    Page,
    Ruling,
    Section,
    Severity,
    Table,
    ranked,
)
from glasshouse.report.provenance import day_words
from glasshouse.report.verdict import value_words
from glasshouse.report.words import enumeration, listed
from glasshouse.study.policy import INFERENCE, LINKABILITY, MEASURES, SINGLING_OUT

LAWS = {
    "dpia": marked("Data protection impact assessment (GDPR)"),
    "ripd": marked("Personal data protection impact report (LGPD)"),
}
"""The forms, by the law that asks for them, and what each is called."""
WRITTEN_WIDTH = 17.0
"""Between the margins of a sheet of A4, in centimetres."""
MOST_CONDITIONS, MOST_ADVERSARIES, MOST_FINDINGS, MOST_OF_A_RISK, MOST_CHANGES = 8, 3, 3, 3, 16
"""So many conditions, adversaries, findings, measures of a risk and columns stand in the form; in its annex are all of
them."""
LIKELIHOODS = (
    (Fraction(1, 100), marked("negligible")),
    (Fraction(1, 20), marked("limited")),
    (Fraction(1, 5), marked("significant")),
    (Fraction(1), marked("maximum")),
)
"""How likely a risk is called, up to which share of people that was measured."""
LEVELS = (marked("low"), marked("moderate"), marked("high"))
"""How high a risk is, by how likely it is and how severe it would be."""
ATTACKED_ALIKE = frozenset({"assess", "anonymise"})
"""The commands whose figures are of the same attacks, so that one run is the other before or after."""
_LINKING = ("named", "best-guess", "highest-risk")
_UNMEASURED = {
    SINGLING_OUT: marked("not assessed in these runs: glasshouse assess does"),
    LINKABILITY: marked(
        "not assessed in these runs: glasshouse membership does, against a register, and glasshouse assess with "
        "several datasets"
    ),
    INFERENCE: marked("not assessed in these runs: glasshouse assess does, with -s"),
}


@dataclass(frozen=True)
class FiledRun:
    """A run, as far as a form tells of it."""

    name: str
    """What the form calls it."""
    command: str
    """The command that made it."""
    page: Page
    """Its report, in the language that is spoken."""
    measures: tuple[Measurement, ...]
    """What it measured, whatever the policy."""
    digest: str
    """The SHA-256 of its ``report.json``."""
    known: frozenset[str] = frozenset()
    """What the adversary knows, by the names of its columns."""
    changes: Mapping[str, str] = field(default_factory=dict)
    """What was done to each column of the data, in words, where it made a release."""
    of_records: tuple[str, ...] = ()
    """What became of records there, in sentences."""


@dataclass(frozen=True)
class ImpactForm:
    """A form to be completed and signed."""

    title: str
    """What it is called."""
    lead: str
    """What it was made of, and what is left to do."""
    sections: tuple[Section, ...]
    """The form itself."""
    annex: tuple[Section, ...]
    """The evidence."""
    studies: tuple[tuple[str, str], ...]
    """The study of each run, as TOML, by the name of the run."""
    version: str
    """The version of Glasshouse."""


def form_of(law: str, runs: Sequence[FiledRun]) -> ImpactForm:
    """Return the form that a law asks for, in the language that is spoken.

    Args:
        law: One of `LAWS`.
        runs: What it is made of: the release that is decided on comes last, and the state before it first.
    """
    release = runs[-1]
    version = release.page.provenance.version
    sections = (
        _organisation(law, release),
        _purpose(law),
        _data(law, release),
        _done(release),
        _adversaries(release),
        _results(runs),
        _risks_of(law, runs),
        _measures_taken(runs),
        _views(law),
        _residual_risk(law, release),
        _decision(release),
    )
    return ImpactForm(
        title=translated(LAWS[law]),
        lead=text(
            "A draft, made by Glasshouse {version} of what was measured. What stands in brackets is for a person to "
            "write; every figure is one that was measured.",
            version=version,
        ),
        sections=tuple(
            replace(section, title=f"{place}. {section.title}")
            for place, section in enumerate(sections, 1)
        ),
        annex=tuple(_annex(law, runs)),
        studies=tuple(
            (run.name, run.page.provenance.study) for run in runs if run.page.provenance.study
        ),
        version=version,
    )


def role(place: int, runs: int) -> str:
    """Return what a form calls a run by its place among all of them: it files no names of folders."""
    if place == runs - 1:
        return text("the release")
    return text("the data before") if place == 0 else text("further run {place}", place=place)


def blank(who: str, what: str = "") -> str:
    """Return a placeholder: who has to write, and what."""
    if what:
        return text("[to be filled in by {who}: {what}]", who=who, what=what)
    return text("[to be filled in by {who}]", who=who)


def open_blank() -> str:
    """Return a placeholder in a table whose heading says what to write."""
    return text("[to be filled in]")


def blank_mark() -> str:
    """Return how every placeholder begins."""
    return open_blank().rstrip("]")


def _organisation(law: str, release: FiledRun) -> Section:
    controller, officer = text("the controller"), text("the data protection officer")
    entries = [
        (text("Controller, and contact"), blank(controller)),
        (text("Processors, and joint controllers"), blank(controller)),
        (
            text("Data protection officer, and advice (Article 35(2))")
            if law == "dpia"
            else text("Data protection officer (encarregado, art. 41), and advice"),
            blank(officer),
        ),
    ]
    day = release.page.provenance.day
    drafted = day_words(day) if day else open_blank()
    columns = [
        text("Version"),
        text("Date"),
        text("What was changed, and by whom"),
        text("Review due"),
    ]
    versions = Table(
        tuple(map(Column, columns)),
        (
            Group(
                tuple(
                    tuple(map(Cell, row))
                    for row in (
                        ("1", drafted, text("drafted by Glasshouse"), open_blank()),
                        ("2", open_blank(), open_blank(), open_blank()),
                    )
                )
            ),
        ),
    )
    return Section(text("Organisation"), tables=(_pairs(entries), versions))


def _purpose(law: str) -> Section:
    controller = text("the controller")
    basis = (
        text("Legal basis (Article 6; Article 9 for special categories)")
        if law == "dpia"
        else text("Legal basis (arts. 7 and 11; of public bodies, art. 23)")
    )
    entries = [
        (text("Purpose of the release, and who receives it"), blank(controller)),
        (basis, blank(controller)),
        (
            text("Necessity and proportionality (Article 35(7)(b))")
            if law == "dpia"
            else text("Necessity (art. 6, III)"),
            blank(controller),
        ),
        (
            text("How long the data are kept, and what becomes of the original"),
            blank(controller),
        ),
    ]
    return Section(text("Purpose"), tables=(_pairs(entries),))


def _data(law: str, release: FiledRun) -> Section:
    page, controller = release.page, text("the controller")
    names = page.provenance.datasets
    data = page.lead if any(name in page.lead for name in names) else ""
    if not data:
        data = ": ".join(filter(None, (", ".join(names), page.lead))) or blank(controller)
    entries = [
        (text("Data"), data),
        (text("Whose data, of which period"), blank(controller)),
        (
            text("Categories of data, and storage (Article 35(7)(a))")
            if law == "dpia"
            else text("How they are collected and kept safe (art. 38, sole paragraph)"),
            blank(controller),
        ),
    ]
    columns = () if page.ruling is None else page.ruling.columns
    return Section(
        text("The data"),
        tables=(_pairs(entries),),
        notes=tuple(alike.sentence for alike in columns),
    )


def _done(release: FiledRun) -> Section:
    """Return what was done to the data: what each column became, and what became of records."""
    title = text("What was done to the data")
    treated = _section_called(release.page, title)  # what was left out before anything was measured
    before = () if treated is None else treated.tables
    if not release.changes:
        return Section(title, blank(text("the controller")), before)
    changed = [(Cell(enumeration([name])), Cell(words)) for name, words in release.changes.items()]
    headings = (Column(text("Column")), Column(text("In the release")))
    table = Table(headings, (Group(tuple(changed[:MOST_CHANGES])),))
    records = release.of_records or (text("No record was suppressed."),)
    notes = (*records, *_rest(len(changed), MOST_CHANGES))
    return Section(title, tables=(table, *before), notes=notes)


def _adversaries(release: FiledRun) -> Section:
    page = release.page
    catalogue = _section_called(page, text("Who could know it"))
    tables: tuple[Table, ...] = ()
    intro = " ".join(page.adversary)
    if catalogue is not None:
        intro = f"{intro} {catalogue.intro}"
        tables = (_first_rows(catalogue.tables[0], MOST_ADVERSARIES),)
    return Section(text("Adversaries considered"), intro, tables)


def _section_called(page: Page, title: str) -> Section | None:
    """Return the section of a title, where the report has it."""
    return next((section for section in page.sections if section.title == title), None)


def _results(runs: Sequence[FiledRun]) -> Section:
    """Return each condition with what was measured before and after, failed ones first, and what was not compared."""
    release, title = runs[-1], text("Results against the rule")
    ruling = release.page.ruling
    if ruling is None:
        notes = (
            text("Nothing was measured of the release that its rule asks for."),
            blank(text("the controller"), text("the rule, and whether it is met")),
        )
        return Section(title, notes=notes)
    before = _before(runs)
    rows = sorted(_rows(ruling), key=lambda row: row[-1].mark == "✓")
    columns = [Column(text("Condition")), Column(text("After"), numeric=True)]
    if before is not None:
        columns.insert(1, Column(text("Before"), numeric=True))
    columns += [Column(text("Rule"), numeric=True), Column(text("Met"))]
    shown = [
        (
            row[0],
            *(() if before is None else (before.get(row[0].text, Cell("–")),)),
            *row[1:3],
            row[-1],
        )
        for row in rows[:MOST_CONDITIONS]
    ]
    return Section(
        title,
        f"{ruling.headline}: {ruling.tally}.",
        (Table(tuple(columns), (Group(tuple(shown)),)),),
        (*_rest(len(rows), MOST_CONDITIONS), *_not_compared(runs)),
    )


def _rows(ruling: Ruling) -> list[tuple[Cell, ...]]:
    return [row for group in ruling.conditions.groups for row in group.rows]


def _before(runs: Sequence[FiledRun]) -> dict[str, Cell] | None:
    """Return what was measured of each condition before; None: nothing was."""
    ruling = runs[0].page.ruling
    if len(runs) == 1 or ruling is None:
        return None
    return {row[0].text: row[1] for row in _rows(ruling)}


def _not_compared(runs: Sequence[FiledRun]) -> Iterator[str]:
    """Yield what stands in the way of comparing before and after, and what was measured before alone."""
    first, last = runs[0], runs[-1]
    if len(runs) == 1:
        return
    names = [listed(run.page.provenance.datasets) for run in (first, last)]
    if names[0] != names[1]:
        yield text(
            "Before was measured on {before}, after on {after}: that both are about the same people is for the "
            "controller to say.",
            before=names[0],
            after=names[1],
        )
    if first.known != last.known:
        yield text(
            "Before and after do not assume the same knowledge, so that not all of the change is due to the measures."
        )
    after = {(entry.measure, entry.of) for entry in last.measures}
    dropped = [
        _measure_words(entry)
        for entry in _worst(first.measures)
        if (entry.measure, entry.of) not in after
    ]
    if dropped:
        yield text(
            "Measured before, and not after, so that nothing is said of it: {measures}.",
            measures="; ".join(dropped),
        )


def _risks_of(law: str, runs: Sequence[FiledRun]) -> Section:
    """Return what was measured of singling out, linkability and inference, and how likely and how severe each is."""
    rows: list[tuple[Cell, ...]] = []
    severities = " ".join(f"☐ {translated(words)}" for _, words in LIKELIHOODS)
    several = False
    for risk in (SINGLING_OUT, LINKABILITY, INFERENCE):
        name, entries = _measured_of(risk, runs)
        several |= bool(entries) and name != runs[-1].name
        for place, entry in enumerate(entries[:MOST_OF_A_RISK]):
            words = _measure_words(entry)
            if name != runs[-1].name:
                words = text("{measure} ({release})", measure=words, release=name)
            rows.append(
                (
                    Cell(translated(risk) if place == 0 else ""),
                    Cell(words),
                    Cell(value_words(entry)),
                    Cell(likelihood(entry) if place == 0 else ""),
                    Cell(severities if place == 0 else ""),
                )
            )
        if not entries:
            missing = Cell(translated(_UNMEASURED[risk]))
            rows.append(
                (Cell(translated(risk)), missing, Cell("–"), Cell(open_blank()), Cell(severities))
            )
    columns = (
        Column(text("Risk")),
        Column(text("What was attacked")),
        Column(text("Measured"), numeric=True),
        Column(text("Likelihood")),
        Column(text("Severity")),
    )
    scale = text(
        "Likelihood follows from the highest share that was measured: up to 1% negligible, up to 5% limited, up to 20% "
        "significant, else maximum. Severity is for the controller to tick, by what it would mean for the people "
        "concerned."
    )
    title = (
        text("Risks: singling out, linkability, inference (WP216; Article 35(7)(c))")
        if law == "dpia"
        else text("Risks: singling out, linkability, inference (WP216)")
    )
    return Section(title, scale, (Table(columns, (Group(tuple(rows)),)), _matrix()))


def _measured_of(risk: str, runs: Sequence[FiledRun]) -> tuple[str, list[Measurement]]:
    """Return what the last run measured that measured a risk, the most likely first, and what it is called."""
    for run in reversed(runs):
        entries = [
            entry
            for entry in _worst(run.measures)
            if risk in _risks(entry, run) and entry.measure != "columns-not-looked-at"
        ]
        if entries:
            return run.name, sorted(entries, key=_likeliest)
    return "", []


def _likeliest(entry: Measurement) -> tuple[Fraction, bool]:
    """Return by what the likeliest comes first; of two alike, what was measured as a share."""
    return -_share(entry), entry.measure == "smallest-class"


def _share(entry: Measurement) -> Fraction:
    """Return the share of people that something measured is about: of the smallest group, one in so many."""
    if MEASURES[entry.measure].is_number:
        return Fraction(min(1, int(entry.value)))
    if entry.measure == "smallest-class":
        return 1 / max(Fraction(1), entry.value)
    return entry.value


def likelihood(entry: Measurement) -> str:
    """Say how likely a risk is, by what was measured of it."""
    share = min(Fraction(1), _share(entry))
    return next(translated(words) for most, words in LIKELIHOODS if share <= most)


def _matrix() -> Table:
    """Return how high a risk is, by how likely it is and how severe it would be."""
    names = [translated(words) for _, words in LIKELIHOODS]
    levels = [translated(level) for level in LEVELS]
    rows = tuple(
        (
            Cell(name),
            *(Cell(levels[min(2, max(0, severe + likely - 2))]) for likely in range(len(names))),
        )
        for severe, name in reversed(list(enumerate(names)))
    )
    columns = (Column(text("severity ↓ · likelihood →")), *map(Column, names))
    return Table(columns, (Group(rows),), text("Risk matrix: likelihood × severity"))


def _risks(entry: Measurement, run: FiledRun) -> tuple[str, ...]:
    """Return which of the three risks a run measured: naming by several datasets, or by a register, is linking."""
    several = len(run.page.provenance.datasets) > 1 and run.command in ("assess", "membership")
    if entry.measure in _LINKING and (several or run.command == "membership"):
        return (LINKABILITY,) if run.command == "membership" else (SINGLING_OUT, LINKABILITY)
    return (MEASURES[entry.measure].risk,)


def _worst(measures: Iterable[Measurement]) -> list[Measurement]:
    """Return what is measured with all that can be known, of several parts the worst."""
    worst: dict[tuple[str, str | None], Measurement] = {}
    for entry in measures:
        if entry.knows is not None:
            continue
        key = (entry.measure, entry.of)
        other = worst.setdefault(key, entry)
        is_worse = (
            entry.value < other.value
            if entry.measure == "smallest-class"
            else entry.value > other.value
        )
        if is_worse:
            worst[key] = entry
    return list(worst.values())


def _measure_words(entry: Measurement) -> str:
    """Say what was measured, and of which part where there are several."""
    of = {"of": enumeration([entry.of])} if entry.of and MEASURES[entry.measure].of_secret else {}
    words = translated(MEASURES[entry.measure].words, **of)
    return (
        text("{measure} ({release})", measure=words, release=translated(entry.release))
        if entry.release
        else words
    )


def _measures_taken(runs: Sequence[FiledRun]) -> Section:
    """Return what was and is to be done, with who answers for it and by when, which a person writes."""
    controller = text("the controller")
    done = (
        text("The data were changed as section 4 says")
        if runs[-1].changes
        else blank(controller, text("what was done to the data"))
    )
    measures = [
        (done, _effect(runs) or open_blank()),
        (text("Who may use the release, and under which terms"), open_blank()),
        (
            text(
                "What is known about the same people from elsewhere is reviewed before another release"
            ),
            open_blank(),
        ),
        (open_blank(), open_blank()),
    ]
    columns = tuple(
        map(Column, (text("Measure"), text("Effect"), text("Who answers for it"), text("By when")))
    )
    rows = tuple(
        tuple(map(Cell, (measure, effect, open_blank(), open_blank())))
        for measure, effect in measures
    )
    return Section(text("Measures"), tables=(Table(columns, (Group(rows),)),))


def _effect(runs: Sequence[FiledRun]) -> str:
    """Say what the measures achieved: the share of people at risk that fell most, before and after the same attack."""
    if not {runs[0].command, runs[-1].command} <= ATTACKED_ALIKE:
        return ""
    shares = [
        {
            (entry.measure, entry.of): entry
            for entry in _worst(run.measures)
            if not MEASURES[entry.measure].is_number
            and entry.measure not in ("smallest-class", "highest-risk")
        }
        for run in (runs[0], runs[-1])
    ]
    falls = [
        (before.value - after.value, before, after)
        for key, before in shares[0].items()
        if (after := shares[1].get(key)) is not None and after.value < before.value
    ]
    if not falls:
        return ""
    _, before, after = max(falls, key=lambda fall: fall[0])
    return f"{_measure_words(after)}: {value_words(before)} → {value_words(after)}"


def _views(law: str) -> Section:
    """Return a place for the views of those concerned."""
    title = (
        text("Views of the people concerned (Article 35(9))")
        if law == "dpia"
        else text("Views of the people concerned, or of who stands for them")
    )
    entries = [
        (
            text("Asked"),
            " ".join(f"☐ {answer}" for answer in (text("yes"), text("no"))),
        ),
        (
            text("Whom, when, what they said and what follows; or why not"),
            blank(text("the controller")),
        ),
    ]
    return Section(title, tables=(_pairs(entries),))


def _residual_risk(law: str, release: FiledRun) -> Section:
    grave = [
        finding.sentence
        for finding in ranked(release.page.findings)
        if finding.severity in (Severity.HIGH, Severity.MODERATE)
    ]
    follows = (
        text(
            "If a high risk remains, the supervisory authority is consulted before the release (Article 36(1))."
        )
        if law == "dpia"
        else text(
            "What reasonable efforts can reverse stays personal data (art. 12), and the law applies to it."
        )
    )
    return Section(
        text("Residual risk"),
        " ".join(
            grave[:MOST_FINDINGS]
            or [
                text(
                    "The report on the release has no finding of high or moderate risk; how high each risk is follows "
                    "from section 7, with the severity ticked there."
                )
            ]
        ),
        notes=(
            *_rest(len(grave), MOST_FINDINGS),
            follows,
            blank(
                text("the controller"),
                text("how the residual risk is carried, by whom, until when"),
            ),
        ),
    )


def _decision(release: FiledRun) -> Section:
    ruling = release.page.ruling
    choices = " ".join(
        f"☐ {choice}"
        for choice in (
            text("publish"),
            text("publish under restricted access"),
            text("do not publish"),
        )
    )
    entries = [
        (text("By the rule"), "–" if ruling is None else ruling.headline),
        (text("Decision"), choices),
        (text("Reasons"), blank(text("whoever decides"))),
        (text("Name and role"), blank(text("whoever decides"))),
        (text("Place, date, signature"), blank(text("whoever decides"))),
    ]
    return Section(text("Decision and signature"), tables=(_pairs(entries),))


def _annex(law: str, runs: Sequence[FiledRun]) -> Iterator[Section]:
    release = runs[-1]
    entries = [entry for run in runs for entry in _evidence(run)]
    yield Section(
        text("Evidence"),
        tables=(_pairs(entries),),
        notes=(
            text(
                "The fingerprints of the data are in the manifest.json of each run, which stays in the house: who "
                "knows a file but for one cell could try its values on a fingerprint."
            ),
        ),
    )
    page = release.page
    if page.ruling is not None:
        yield Section(
            text("All conditions of the rule"),
            tables=(replace(page.ruling.conditions, title=""),),
            notes=page.ruling.notes,
        )
    yield Section(
        text("All findings"),
        notes=tuple(f"{one.severity.heading}: {one.sentence}" for one in ranked(page.findings)),
    )
    if catalogue := _section_called(page, text("Who could know it")):
        yield replace(catalogue, title=text("All adversaries considered"), intro="")
    if sources := _section_called(
        page, text("What was found in which column, and what makes it plausible")
    ):
        yield sources
    yield Section(text("Assumptions and limits"), notes=(*page.adversary, *page.limits))
    columns = (Column(text("Where")), Column(text("What it says")), Column(text("Address")))
    rows = tuple(
        (Cell(translated(place)), Cell(translated(words)), Cell(address))
        for place, words, address in ARTICLES[law]
    )
    yield Section(
        text("The law, in short"),
        tables=(Table(columns, (Group(rows),)),),
        notes=(text("This form helps to write what the law asks for. It is no legal advice."),),
    )
    yield crosswalk()


def _evidence(run: FiledRun) -> Iterator[tuple[str, str]]:
    provenance = run.page.provenance
    yield f"{run.name[:1].upper()}{run.name[1:]}", f"glasshouse {run.command}: {run.page.title}"
    yield (
        text("Made by"),
        f"Glasshouse {provenance.version}; "
        + ", ".join(f"{name} {version}" for name, version in provenance.libraries.items()),
    )
    yield text("Data"), ", ".join(provenance.datasets) or "–"
    if provenance.seed is not None:
        yield text("Seed of every random choice"), str(provenance.seed)
    yield text("SHA-256 of its report.json"), run.digest


def _pairs(entries: Iterable[tuple[str, str]]) -> Table:
    """Return a table of names and what stands beside each; its columns have no titles."""
    rows = tuple((Cell(name), Cell(words)) for name, words in entries)
    return Table((Column(""), Column("")), (Group(rows),))


def _first_rows(table: Table, most: int) -> Table:
    rows = [row for group in table.groups for row in group.rows]
    return replace(table, groups=(Group(tuple(rows[:most])),))


def _rest(count: int, most: int) -> tuple[str, ...]:
    return (text("{count} more in the annex.", count=count - most),) if count > most else ()


# As a document that can be edited


def to_docx(form: ImpactForm) -> bytes:
    """Return a form as a Word document; the same form gives the same bytes.

    Raises:
        StudyError: python-docx is not installed.
    """
    try:
        import docx
        from docx.oxml.ns import qn
        from docx.shared import Cm, Pt
    except ImportError:
        raise StudyError(
            "a form needs python-docx, which is not installed; run {command}",
            command="pip install 'glasshouse[forms]'",
        ) from None
    document: Any = docx.Document()
    for mark in document.styles.element.iter(qn("w:lang")):
        mark.set(qn("w:val"), spoken())
    page = document.sections[0]
    page.page_width, page.page_height = Cm(21), Cm(29.7)
    page.left_margin = page.right_margin = Cm((21 - WRITTEN_WIDTH) / 2)
    page.top_margin = page.bottom_margin = Cm(1.5)
    normal = document.styles["Normal"]
    normal.font.size, normal.paragraph_format.space_after = Pt(8.5), Pt(2)
    for level, size in ((1, 15), (2, 10.5)):
        style = document.styles[f"Heading {level}"]
        style.font.size, style.paragraph_format.space_before = Pt(size), Pt(6)
        style.paragraph_format.space_after = Pt(2)
    document.add_heading(printable(form.title), 1)
    _add_paragraph(document, form.lead)
    for section in form.sections:
        _add_section(document, section)
    document.add_heading(text("Annex"), 1)
    for section in form.annex:
        _add_section(document, section)
    for name, study in form.studies:
        document.add_heading(text("The study of {run}", run=printable(name)), 2)
        run = document.add_paragraph().add_run("\n".join(map(printable, study.splitlines())))
        run.font.name, run.font.size = "Courier New", Pt(7.5)
    properties = document.core_properties
    epoch = datetime.datetime(1980, 1, 1, tzinfo=datetime.UTC)
    properties.title, properties.author, properties.comments = form.title, "", ""
    properties.last_modified_by, properties.language = "", spoken()
    properties.created = properties.modified = epoch
    content = io.BytesIO()
    document.save(content)
    return _timeless(content)


def _timeless(content: io.BytesIO) -> bytes:
    """Return an archive without the time at which it was made."""
    packed = io.BytesIO()
    with zipfile.ZipFile(content) as old, zipfile.ZipFile(packed, "w") as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name), old.read(name), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _add_section(document: Any, section: Section) -> None:
    document.add_heading(printable(section.title), 2)
    if section.intro:
        _add_paragraph(document, section.intro)
    for table in section.tables:
        if table.title:
            _add_paragraph(document, table.title)
        _add_table(document, table)
    for note in section.notes:
        _add_paragraph(document, note)


def _add_table(document: Any, table: Table) -> None:
    titles = [column.title for column in table.columns]
    rows = [
        [" ".join(filter(None, (cell.mark, cell.text))) for cell in row]
        for group in table.groups
        for row in group.rows
    ]
    rows = [titles, *rows] if any(titles) else rows
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.oxml import OxmlElement
    from docx.shared import Cm

    grid = document.add_table(len(rows), len(titles), style="Table Grid")
    grid.autofit = False
    shares = column_widths(table) if any(titles) else [1, 2]
    for share, column in zip(shares, grid.columns, strict=True):
        column.width = Cm(WRITTEN_WIDTH * share / sum(shares))
        for cell in column.cells:
            cell.width = column.width
    if any(titles):  # repeated on every page, and told to screen readers
        grid.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
    for place, row in enumerate(rows):
        for entry, cell, column in zip(row, grid.rows[place].cells, table.columns, strict=True):
            if column.numeric:
                cell.paragraphs[0].alignment = WD_ALIGN_PARAGRAPH.RIGHT
            _write(cell.paragraphs[0], entry, bold=any(titles) and place == 0)


def _add_paragraph(document: Any, words: str) -> None:
    _write(document.add_paragraph(), words)


def _write(paragraph: Any, words: str, *, bold: bool = False) -> None:
    """Write words, and mark what a person has to fill in."""
    from docx.enum.text import WD_COLOR_INDEX

    start = words.find(blank_mark())
    pieces = [(words, False)] if start < 0 else [(words[:start], False), (words[start:], True)]
    for piece, is_blank in pieces:
        if piece:
            run = paragraph.add_run(printable(piece))
            run.bold = bold
            if is_blank:
                run.font.highlight_color = WD_COLOR_INDEX.YELLOW
