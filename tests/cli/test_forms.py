"""``glasshouse report --form``: the form that officers file says what the runs measured, and nothing of a record."""

from __future__ import annotations

import io
import json
import random
import re
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import pytest

import glasshouse as gh
from glasshouse.language import LANGUAGES, speak
from glasshouse.measures.measurement import Measurement
from glasshouse.report.form import (
    LAWS,
    FiledRun,
    ImpactForm,
    blank_mark,
    form_of,
    likelihood,
    to_docx,
)
from glasshouse.report.frameworks import ARTICLES
from glasshouse.runs.folder import FORMS, _decided_on, is_run, stored_report
from glasshouse.study.policy import INFERENCE, LINKABILITY, MEASURES, SINGLING_OUT, Measure
from tests.conftest import Glasshouse
from tests.report.reading import telling

docx = pytest.importorskip("docx", reason="needs python-docx (extra forms)")
pytest.importorskip("typst", reason="needs typst (extra forms)")
ROOT = Path(__file__).parents[2]
MARKERS = ("Quixeramobim", "Zyxovia", "F98")
TITLES = {
    "en": ["1. Organisation", "2. Purpose", "3. The data", "4. What was done to the data"],
    "pt-BR": ["1. Organização", "2. Finalidade", "3. Os dados", "4. O que foi feito com os dados"],
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of a file with few people of rare values, before and after it was coarsened."""
    folder = tmp_path_factory.mktemp("runs")
    chance = random.Random(5)
    rows = [
        f"{chance.randint(1950, 1990)},{chance.choice('MF')},{chance.choice(['Betim', *MARKERS[:1]])},"
        f"{chance.choice(['F32', MARKERS[2]])},{chance.choice(['A', MARKERS[1]])}"
        for _ in range(80)
    ]
    names = "birth_year,sex,city,disease,ward\n"
    (folder / "patients.csv").write_text(names + "\n".join(rows) + "\n", encoding="utf-8")
    coarse = [",".join(row.split(",")[1:]) for row in rows]
    (folder / "release.csv").write_text(
        names.partition(",")[2] + "\n".join(coarse) + "\n", encoding="utf-8"
    )
    secrets = ["disease", "ward"]
    before = gh.assess(
        folder / "patients.csv", quasi_identifiers=["birth_year", "sex", "city"], sensitive=secrets
    )
    before.report(folder / "before")
    after = gh.assess(folder / "release.csv", quasi_identifiers=["sex", "city"], sensitive=secrets)
    after.report(folder / "after")
    return folder


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    yield
    speak("en")


def filed(folder: Path, *names: str) -> list[FiledRun]:
    """Return runs as a form sees them, in the language that is spoken."""
    from glasshouse.runs.folder import _filed

    return [_filed(stored_report(folder / name), name) for name in names]


def texts(document: Any) -> list[str]:
    """Return every text of a Word document."""
    cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    return [*(paragraph.text for paragraph in document.paragraphs), *cells]


def opened(content: bytes) -> Any:
    return docx.Document(io.BytesIO(content))


@pytest.mark.parametrize("law", LAWS)
def test_a_form_has_its_sections_its_blanks_and_the_figures_of_the_report(
    runs: Path, law: str
) -> None:
    kept = stored_report(runs / "after")
    for language in LANGUAGES:
        with telling(language):
            document = opened(to_docx(form_of(law, filed(runs, "before", "after"))))
            page = kept.page(language)
            headings = [one.text for one in document.paragraphs if one.style.name == "Heading 2"]
            assert headings[:4] == TITLES[language]
            numbers = [heading.partition(".")[0] for heading in headings[:11]]
            assert numbers == [str(place) for place in range(1, 12)]
            told = texts(document)
            assert sum(blank_mark() in words for words in told) == 33
            assert page.ruling is not None
            for row in page.ruling.conditions.groups[0].rows:
                assert row[1].text in told
                assert row[0].text in told
            assert any(page.ruling.headline in words for words in told)


def test_before_and_after_are_those_of_the_first_and_the_last_run(runs: Path) -> None:
    form = form_of("dpia", filed(runs, "before", "after"))
    (table,) = form.sections[5].tables
    rulings = [stored_report(runs / name).page("en").ruling for name in ("before", "after")]
    before, after = (
        {row[0].text: row[1].text for row in ruling.conditions.groups[0].rows}
        for ruling in rulings
        if ruling is not None
    )
    rows = {row[0].text: (row[1].text, row[2].text) for row in table.groups[0].rows}
    assert rows == {name: (before.get(name, "–"), after[name]) for name in rows}
    assert len(rows) == min(8, len(after))
    assert before["people who can be identified for certain"] != "0%"
    notes = " ".join(form.sections[5].notes)
    assert "do not assume the same knowledge" in notes
    assert "Before was measured on patients.csv, after on release.csv" in notes
    effect = form.sections[7].tables[0].groups[0].rows[0][1].text
    name = "people for whom one guess at who they are is right"
    assert effect == f"{name}: {before[name]} → {after[name]}", "what fell most, of people"


def test_the_effect_of_measures_is_no_column_that_nobody_looked_at(runs: Path) -> None:
    (release,) = filed(runs, "before")
    unseen = Measurement("columns-not-looked-at", Fraction(8))
    before = replace(release, measures=(unseen, *release.measures))
    assert effect_of(before, release).startswith("["), "nothing changed"
    (after,) = filed(runs, "after")
    assert "→" in effect_of(release, after)
    of_a_register = replace(after, command="membership")
    assert effect_of(release, of_a_register).startswith("["), "another attack, and no effect"


def effect_of(before: FiledRun, after: FiledRun) -> str:
    """Return what the form says that the measures achieved."""
    return form_of("dpia", [before, after]).sections[7].tables[0].groups[0].rows[0][1].text


def test_a_form_of_what_is_believed_of_a_release_names_no_folder(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    rows = [f"{20 + place % 4},{'FM'[place % 2]},{'ab'[place // 8 % 2]}" for place in range(48)]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex,ill", *rows]) + "\n", "utf-8")
    words = ["-q", "age", "-q", "sex", "-s", "ill", "--k", "3"]
    made, asked = (str(tmp_path / name) for name in ("odd-name-1", "odd-name-2"))
    for command in (
        ["anonymise", str(tmp_path / "people.csv"), *words, "--out", made],
        ["threat", made, "--out", asked],
        ["report", asked, "--form", "dpia"],
    ):
        done = glasshouse(*command)
        assert done.code == 0, done.error
    told = "\n".join(texts(opened((tmp_path / "odd-name-2" / "dpia.docx").read_bytes())))
    assert "release.csv: 48 records" in told
    assert "odd-name" not in told


def test_what_was_measured_before_alone_is_said_and_the_same_knowledge_is_not(runs: Path) -> None:
    (before,) = filed(runs, "before")
    further = Measurement("close-added", Fraction(1, 3), "disease")
    form = form_of("dpia", [replace(before, measures=(*before.measures, further)), before])
    *_, said = form.sections[5].notes
    assert said.startswith("Measured before, and not after")
    assert "disease" in said
    assert "do not assume the same knowledge" not in str(form)
    assert "Before was measured on" not in str(form)


def test_a_form_of_a_protected_release_says_what_was_done_and_files_no_name_of_a_folder(
    glasshouse: Glasshouse, runs: Path, tmp_path: Path
) -> None:
    chance = random.Random(3)
    rows = [
        f"{chance.randint(20, 29)},{chance.choice('MF')},{chance.choice('ab')}" for _ in range(240)
    ]
    data = tmp_path / "people.csv"
    data.write_text("\n".join(["age,sex,illness", *rows, "97,F,b"]) + "\n", encoding="utf-8")
    words = [str(data), "-q", "age", "-q", "sex", "-s", "illness"]
    assert glasshouse("assess", *words, "--out", str(tmp_path / "odd-name-1")).code in (0, 4)
    made = glasshouse("protect", *words, "--time-limit", "3", "--out", str(tmp_path / "odd-name-2"))
    assert made.code == 0, made.error
    version = json.loads((tmp_path / "odd-name-2" / "manifest.json").read_text(encoding="utf-8"))
    folders = [str(tmp_path / name) for name in ("odd-name-1", "odd-name-2")]
    for place, last in (
        ("recommended", folders[1]),
        ("named", str(tmp_path / "odd-name-2" / "versions" / "few-removed")),
    ):
        for law, language in (("dpia", "en"), ("ripd", "pt-BR")):
            out = tmp_path / place
            done = glasshouse(
                *("report", folders[0], last, "--form", law, "--lang", language, "--out", str(out))
            )
            assert (done.code, done.error) == (0, "")
            told = "\n".join(texts(opened((out / f"{law}.docx").read_bytes())))
            assert "odd-name" not in told
            assert "versions" not in told
            assert not re.search(r"time_limit = \d+\.\d{2}", told)
            folder = _decided_on(Path(last))
            manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
            for change in manifest["changes"][language].values():
                assert change in told
            for note in manifest["of_records"][language]:
                assert note in told
    assert version["recommended"] in (
        path.name for path in (tmp_path / "odd-name-2" / "versions").iterdir()
    )
    assert "1 record of the original is not in this file." in str(
        json.loads(
            (tmp_path / "odd-name-2" / "versions" / "few-removed" / "manifest.json").read_text(
                "utf-8"
            )
        )["of_records"]["en"]
    )


@pytest.mark.parametrize(
    ("measured", "words"),
    [
        (Measurement("named", Fraction(0)), "negligible"),
        (Measurement("best-guess", Fraction(1, 100)), "negligible"),
        (Measurement("best-guess", Fraction(1, 20)), "limited"),
        (Measurement("smallest-class", Fraction(11)), "significant"),
        (Measurement("best-guess", Fraction(21, 100)), "maximum"),
        (Measurement("direct-identifiers", Fraction(2)), "maximum"),
    ],
)
def test_how_likely_a_risk_is_follows_from_what_was_measured(
    measured: Measurement, words: str
) -> None:
    assert likelihood(measured) == words


def test_adversaries_of_the_catalogue_are_in_the_form_and_their_sources_in_its_annex(
    glasshouse: Glasshouse, runs: Path
) -> None:
    done = glasshouse(
        *("assess", str(runs / "release.csv"), "--adversary", "us", "-s", "disease"),
        *("--out", str(runs / "known")),
    )
    assert done.code == 0
    form = form_of("dpia", filed(runs, "known"))
    (table,) = form.sections[4].tables
    assert len(table.groups[0].rows) == 3
    assert "Of the 8 adversaries considered" in form.sections[4].intro
    assert "https://arxiv.org/abs/1307.1370" in str(form.annex)


def test_no_value_of_a_record_is_in_a_form(runs: Path) -> None:
    from glasshouse.report import pdf

    form = form_of("ripd", filed(runs, "before", "after"))
    archive = zipfile.ZipFile(io.BytesIO(to_docx(form)))
    written = "".join(archive.read(name).decode("utf-8", "ignore") for name in archive.namelist())
    paper = json.dumps(pdf._form_content(form, 9), ensure_ascii=False)
    for marker in MARKERS:
        assert marker not in written
        assert marker not in paper
    digests = json.loads((runs / "after" / "manifest.json").read_text(encoding="utf-8"))["datasets"]
    for dataset in digests:  # it is hidden in the report, too
        assert dataset["sha256"] not in written + paper


def test_every_measure_is_about_one_of_the_three_risks() -> None:
    assert set(MEASURES) == set(get_args(Measure))
    risks = {kind.risk for kind in MEASURES.values()}
    assert risks == {SINGLING_OUT, LINKABILITY, INFERENCE}


def test_every_law_has_its_address() -> None:
    assert all(url.startswith("https://") for entries in ARTICLES.values() for _, _, url in entries)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_annex_ends_with_where_frameworks_ask_for_it_as_the_page_on_forms_has_it(
    runs: Path, language: str
) -> None:
    page = ROOT / "docs" / ("pt" if language == "pt-BR" else "") / "forms.md"
    written = page.read_text(encoding="utf-8")
    speak(language)
    form = form_of("dpia", filed(runs, "after"))
    last = form.annex[-1].tables[0]
    assert len(last.columns) == 6
    numbers = {section.title.partition(".")[0] for section in form.sections}
    for row in last.groups[0].rows:
        assert f"| {' | '.join(cell.text for cell in row)} |" in written
        assert {*re.findall(r"\d+", row[0].text)} <= numbers


def test_what_was_not_assessed_is_said_and_not_left_out(runs: Path) -> None:
    rows = form_of("dpia", filed(runs, "after")).sections[6].tables[0].groups[0].rows
    (linking,) = [row for row in rows if row[0].text == "Linkability"]
    assert linking[1].text.startswith("not assessed in these runs")
    assert linking[2].text == "–"


def test_a_register_is_a_linking_attack_and_the_worst_part_is_told(runs: Path) -> None:
    (run,) = filed(runs, "after")
    parts = (
        Measurement("best-guess", Fraction(1, 5), release="A"),
        Measurement("best-guess", Fraction(1, 4), release="B"),
        Measurement("membership-certain", Fraction(1, 3)),
    )
    form = form_of("dpia", [replace(run, command="membership", measures=parts)])
    rows = [
        tuple(cell.text for cell in row[:4]) for row in form.sections[6].tables[0].groups[0].rows
    ]
    assert rows[1][:1] + rows[1][2:] == ("Linkability", "33.3%", "maximum")
    assert rows[2][1:3] == ("people for whom one guess at who they are is right (B)", "25.0%")


def wide_form(runs: Path, law: str) -> ImpactForm:
    """Return a form of a run with very many conditions, and long names."""
    (run,) = filed(runs, "after")
    page = run.page
    assert page.ruling is not None
    group = page.ruling.conditions.groups[0]
    ruling = replace(
        page.ruling,
        conditions=replace(page.ruling.conditions, groups=(replace(group, rows=group.rows * 9),)),
    )
    measures = tuple(
        Measurement("inference-added", Fraction(1, 7), f"a rather long name of a column {place}")
        for place in range(40)
    )
    adversary = (f"She knows {', '.join(f'attribute_number_{n}' for n in range(24))}.",)
    wide = replace(
        run,
        name="a-folder-with-a-long-name",
        page=replace(page, ruling=ruling, adversary=adversary),
        measures=(*run.measures, *measures),
    )
    return form_of(law, [wide, wide])


def test_a_form_has_two_pages_before_its_annex_however_much_was_measured(runs: Path) -> None:
    from glasshouse.report import pdf

    for language in LANGUAGES:
        with telling(language):
            plain = form_of("ripd", filed(runs, "before", "after"))
            assert pdf.form_pages(pdf._form_content(plain, pdf.LETTERS[0])) <= 2
            wide = wide_form(runs, "ripd")
            assert any(pdf.form_pages(content) <= 2 for content in pdf._form_contents(wide))
            assert "more in the annex" in str(wide) or "no anexo" in str(wide)


def test_the_same_form_gives_the_same_bytes(runs: Path) -> None:
    from glasshouse.report import pdf

    form = form_of("dpia", filed(runs, "after"))
    assert pdf.form_to_pdf(form) == pdf.form_to_pdf(form)
    assert to_docx(form) == to_docx(form)


def test_the_command_writes_both_kinds_and_never_over_a_form_that_is_there(
    glasshouse: Glasshouse, runs: Path, tmp_path: Path
) -> None:
    words = ["report", str(runs / "before"), str(runs / "after"), "--form", "ripd"]
    place = tmp_path / "filed"
    done = glasshouse(*words, "--out", str(place), "--lang", "pt-BR")
    assert (done.code, done.error) == (0, "")
    assert sorted(path.name for path in place.iterdir()) == ["ripd.docx", "ripd.pdf"]
    assert (place / "ripd.pdf").read_bytes().startswith(b"%PDF")
    kept = (place / "ripd.docx").read_bytes()
    assert "Relatório de impacto" in opened(kept).paragraphs[0].text
    again = glasshouse(*words, "--out", str(place))
    assert (again.code, again.out) == (2, "")
    assert "--overwrite" in again.error
    assert (place / "ripd.docx").read_bytes() == kept
    assert glasshouse(*words, "--out", str(place), "--overwrite", "--lang", "en").code == 0
    assert (place / "ripd.docx").read_bytes() != kept


def test_a_run_folder_with_its_form_is_still_a_run_folder(
    glasshouse: Glasshouse, runs: Path
) -> None:
    assert glasshouse("report", str(runs / "after"), "--form", "dpia").code == 0
    assert {path.name for path in (runs / "after").iterdir()} & FORMS == {"dpia.docx", "dpia.pdf"}
    assert is_run(runs / "after")


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["before", "after"], "--form"),
        (["after", "--form", "dpia", "--json"], "--json"),
        (["nowhere", "--form", "dpia"], "nowhere"),
        (["person", "--form", "dpia"], "one person"),
    ],
)
def test_what_no_form_is_made_of_is_said_in_one_line(
    glasshouse: Glasshouse,
    runs: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    fault: str,
) -> None:
    monkeypatch.chdir(runs)
    if words[0] == "person" and not Path("person").exists():
        gh.target("release.csv", known=["sex=M"], sensitive=["disease"]).report("person")
    done = glasshouse("report", *words)
    assert done.code == 2
    assert fault in done.error
    assert done.error.strip().count("\n") == 0


def test_without_the_extra_it_is_said_what_to_install(
    glasshouse: Glasshouse, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "docx", None)
    done = glasshouse(
        "report", str(runs / "after"), "--form", "dpia", "--out", str(tmp_path / "no")
    )
    assert done.code == 2
    assert "pip install 'glasshouse[forms]'" in done.error
    assert not (tmp_path / "no").exists()
