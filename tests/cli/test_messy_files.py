"""Files as agencies send them: the command that ``inspect`` proposes runs as it is, and keeps every person."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shlex
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from glasshouse.errors import DataError
from glasshouse.runs.assess import understood
from glasshouse.sources.delimited import _but_for_end
from glasshouse.study import Dataset
from tests.conftest import Glasshouse
from tests.table.test_profile import with_check_digits

PEOPLE = 90
HEADER = ["CPF", "Data de Nascimento", "Sexo", "Raça/Cor", "Município", "Renda", "CID"]
CPF, BIRTH, SEX, RACE, TOWN, INCOME, ICD = range(len(HEADER))
TOWNS = ("São João del-Rei", "Betim", "Ubá", "Muriaé", "Três Corações")
ICDS = ("F32.1", "J45", "B20", "E11")


def people() -> list[list[str]]:
    """Return a record of each person, all told apart by their number."""
    return [
        [
            with_check_digits(12_345_678 + 7_919_113 * place),
            f"{1950 + place % 50}-{1 + place % 12:02}-{1 + place * 7 % 28:02}",
            "MF"[place % 2],
            str(1 + place % 5),
            TOWNS[place * 3 % 5],
            f"{900 + 37 * place}.{place % 100:02}",
            ICDS[place % 4],
        ]
        for place in range(PEOPLE)
    ]


def changed(column: int, change: Callable[[str, int], str]) -> list[list[str]]:
    """Return the people with one column written in another way."""
    return [
        [change(value, place) if number == column else value for number, value in enumerate(person)]
        for place, person in enumerate(people())
    ]


def text(
    rows: Iterable[Sequence[str]] | None = None,
    *,
    header: Sequence[str] | None = HEADER,
    separator: str = ",",
    end: str = "\n",
    quoting: int = csv.QUOTE_MINIMAL,
) -> str:
    """Return records as delimited text."""
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator, lineterminator=end, quoting=quoting)  # type: ignore[arg-type]
    if header is not None:
        writer.writerow(header)
    writer.writerows(people() if rows is None else rows)
    return file.getvalue()


def dated(form: str) -> str:
    """Return a file with dates of birth in one form of its own."""

    def written(date: str, place: int) -> str:
        year, month, day = date.split("-")
        return form.replace("yyyy", year).replace("mm", month).replace("dd", day)

    return text(changed(BIRTH, written))


def amounts(form: Callable[[float], str]) -> list[list[str]]:
    """Return people whose income is written in one form, up to some millions."""
    return changed(INCOME, lambda value, place: form(float(value) * (1 + 700 * (place % 3))))


def brazilian(amount: float) -> str:
    """Return an amount as it is written in Brazil."""
    return f"{amount:,.2f}".translate(str.maketrans(",.", ".,"))


def mixed_ends() -> str:
    """Return lines that end in different ways, as files that were put together have them."""
    return "".join(
        line + ("\r\n" if place % 3 else "\n") for place, line in enumerate(text().splitlines())
    )


def repeated_header() -> str:
    """Return two files put one behind the other, each with its header."""
    rows = people()
    return text([*rows[:40], HEADER, *rows[40:70], HEADER, *rows[70:]])


def visits() -> str:
    """Return several records of some people."""
    rows = people()
    return text([*rows, *rows[:30], *rows[10:20]], separator=";")


def zipped(content: bytes) -> bytes:
    """Return a file in an archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("atendimentos.csv", content)
    return packed.getvalue()


@dataclass(frozen=True)
class Messy:
    """A file as somebody sends it, and what there is to say of it."""

    content: str
    """Its text."""
    encoding: str = "utf-8"
    """How it is encoded."""
    told: tuple[str, ...] = ()
    """What ``inspect`` says of it."""
    command: tuple[str, ...] = ()
    """What the command that it proposes has in it."""
    untold: tuple[str, ...] = ()
    """What ``inspect`` must not say."""
    packed: Callable[[bytes], bytes] = bytes
    """How it is packed."""
    people: int = PEOPLE
    """How many people are in it."""


def messy_files() -> dict[str, Messy]:
    """Return the files by what is messy about them."""
    semicolon, lines = text(separator=";"), text().splitlines()
    latin = text(
        amounts(lambda amount: f"{amount:.2f}".replace(".", ",")), separator=";", end="\r\n"
    )
    some = [row[:] for row in people()]
    for row in some[:4]:
        row[CPF] = ""
    unknown = [row[:] for row in people()]
    for row in unknown[:4]:
        row[CPF] = "000.000.000-00"
    spaced = [
        [f" {value}" if place else value for place, value in enumerate(row)] for row in people()
    ]
    return {
        "nothing": Messy(text(), untold=("assumed", "note:")),
        "latin-1, semicolons, decimal commas": Messy(
            latin, "latin-1", ("cp1252", "--encoding", "--separator", "--decimal ,")
        ),
        "a byte-order mark": Messy(text(), "utf-8-sig", untold=("assumed",)),
        "a byte-order mark and semicolons": Messy(semicolon, "utf-8-sig", ("--separator",)),
        "no header": Messy(
            text(header=None), told=("looks like a record",), command=("--no-header",)
        ),
        "no header, latin-1": Messy(
            text(header=None, separator=";"), "latin-1", ("looks like a record",), ("--no-header",)
        ),
        "CPF in digits": Messy(
            text(changed(CPF, lambda value, _: value.replace(".", "").replace("-", ""))),
            told=("(CPF)",),
            command=("--id CPF",),
        ),
        "CPF without its zeros": Messy(
            text(
                changed(CPF, lambda value, _: value.replace(".", "").replace("-", "").lstrip("0"))
            ),
            told=("(CPF)",),
            command=("--id CPF",),
        ),
        "days first": Messy(dated("dd/mm/yyyy"), told=("dd/mm/yyyy",), untold=("mm/dd/yyyy",)),
        "months first": Messy(dated("mm/dd/yyyy"), told=("mm/dd/yyyy",), untold=("dd/mm/yyyy",)),
        "years first": Messy(dated("yyyy/mm/dd"), told=("yyyy/mm/dd",)),
        "days and months with points": Messy(dated("dd.mm.yyyy"), told=("dd.mm.yyyy",)),
        "dates without signs": Messy(dated("yyyymmdd"), told=("yyyymmdd",)),
        "days that may be months": Messy(
            text(changed(BIRTH, lambda _, place: f"{1 + place % 12:02}/{1 + place % 11:02}/1980")),
            told=("dd/mm/yyyy", "mm/dd/yyyy", "both"),
        ),
        "a row of totals": Messy(
            text([*people(), ["Total", "", "", "", "", "251370.50", ""]]),
            told=("total",),
            command=("--invalid CPF=Total",),
        ),
        "a row of totals in another column": Messy(
            text([*people(), ["", "", "", "", "TOTAL GERAL", "251370.50", ""]], separator=";"),
            told=("total",),
            command=("--invalid 'Município=TOTAL GERAL'",),
        ),
        "a row of totals and blanks": Messy(
            text([*spaced, ["", "", "", "", " Total", " 251370.50", ""]]),
            told=("total", "blanks around"),
            command=("--invalid 'Município=\"Total\"'", "--strip"),
        ),
        "subtotals among the records": Messy(
            text(
                [
                    *people()[:30],
                    ["Subtotal Betim", *[""] * 4, "81370.50", ""],
                    *people()[30:],
                    ["", "", "", "", "Sub-total, Ubá", "170000.00", ""],
                    ["Total", *[""] * 4, "251370.50", ""],
                ],
                separator=";",
            ),
            told=("3 records look like totals",),
            command=(
                "--invalid 'CPF=Subtotal Betim,Total'",
                "--invalid 'Município=\"Sub-total, Ubá\"'",
            ),
        ),
        "a source that a spreadsheet filled up": Messy(
            text([*people(), ["Fonte: SES/MG", *[""] * 6]], separator=";"),
            told=("1 record looks like a total or a remark",),
            command=("--invalid 'CPF=Fonte: SES/MG'",),
        ),
        "blank lines among the records": Messy(
            semicolon.replace("\n", "\n\n", 40),
            told=("blank lines among the records, the first in line 2", "--strict"),
        ),
        "a title of three lines, one of them blank": Messy(
            f"Secretaria de Saúde\nAtendimentos: 2024\n\n{semicolon}",
            told=("title",),
            command=("--skip 3",),
        ),
        "an index of pandas": Messy(
            text([[str(place), *row] for place, row in enumerate(people())], header=["", *HEADER]),
            told=("numbers the records", "column_1"),
            command=("--id CPF",),
        ),
        "an index that was read back": Messy(
            text(
                [[str(place), *row[1:]] for place, row in enumerate(people())],
                header=["Unnamed: 0", *HEADER[1:]],
            ),
            told=("numbers the records",),
        ),
        "headers among the records": Messy(
            repeated_header(), told=("header",), command=("--invalid",)
        ),
        "mixed line ends": Messy(mixed_ends(), untold=("assumed",)),
        "line ends of old": Messy(text(end="\r"), untold=("assumed",)),
        "everything in quotes": Messy(text(quoting=csv.QUOTE_ALL)),
        "quotes and line breaks in values": Messy(
            text(changed(TOWN, lambda value, _: f'{value}, "a\nbela"'))
        ),
        "apostrophes and inner quotes": Messy(
            "\n".join([lines[0], *(line.replace("Ubá", 'd\'Oeste "Ubá"') for line in lines[1:])])
        ),
        "tabs": Messy(text(separator="\t"), told=("--separator",)),
        "pipes": Messy(text(separator="|"), told=("--separator",)),
        "separators at the end": Messy(
            "".join(f"{line};\n" for line in semicolon.splitlines()), told=("column_8", "--names")
        ),
        "separators at the end of records": Messy(
            "".join(
                f"{line};\n" if place else f"{line}\n"
                for place, line in enumerate(semicolon.splitlines())
            ),
            told=("column_8", "--names"),
        ),
        "blank lines at the end": Messy(text() + "\n\r\n\n"),
        "no line end at the end": Messy(text().rstrip("\n")),
        "points between thousands": Messy(
            text(amounts(brazilian), separator=";"), told=("--decimal , --thousands .",)
        ),
        "commas between thousands": Messy(
            text(amounts(lambda amount: f"{amount:,.2f}"), separator=";"),
            told=("--thousands ,",),
        ),
        "thousands or decimals": Messy(
            text(changed(INCOME, lambda _, place: f"{1 + place}.250")), untold=("--thousands",)
        ),
        "comments": Messy(
            f"# Fonte: sistema de atendimentos; 2024\n#\n{semicolon}", told=("2 lines", "--skip")
        ),
        "a header that begins as a comment": Messy(
            text(header=["#", *HEADER[1:]]), untold=("--skip",)
        ),
        "a title": Messy(
            f"Relatório de atendimentos\nPeríodo: 2024\n{semicolon}",
            told=("title",),
            command=("--skip 2",),
        ),
        "empty columns": Messy(
            text([[*row, "", ""] for row in people()], header=[*HEADER, "Fone", ""]),
            told=("column_9", "holds nothing"),
        ),
        "names with spaces": Messy(
            text(
                header=[
                    "Nº CPF",
                    "Data de nasc.",
                    "SEXO (M/F)",
                    "Raça",
                    "Cidade, UF",
                    "Renda R$",
                    "CID-10",
                ]
            )
        ),
        "names that occur twice": Messy(
            text([[*row, row[TOWN]] for row in people()], header=[*HEADER, "Município"]),
            told=("Município_2", "--names"),
        ),
        "blanks after commas": Messy(
            text(spaced, header=[HEADER[0], *(f" {name}" for name in HEADER[1:])]),
            told=("blanks around",),
            command=("--strip",),
        ),
        "Excel's own first line": Messy(f"sep=;\n{semicolon}", told=("--separator", "--skip")),
        "DOS": Messy(semicolon, "cp850", ("cp850",)),
        "UTF-16, as Excel writes it": Messy(text(separator="\t"), "utf-16"),
        "gzip": Messy(semicolon, "latin-1", ("cp1252",), packed=gzip.compress),
        "ZIP": Messy(semicolon, "cp1252", ("cp1252",), packed=zipped),
        "codes with zeros before them": Messy(
            text(changed(TOWN, lambda _, place: f"{310 + place % 7:05}")), told=("zeros",)
        ),
        "9 and 99": Messy(
            text(changed(RACE, lambda value, place: "9" if place % 30 == 0 else value)),
            told=("--missing 'Raça/Cor=9'",),
        ),
        "question marks": Messy(
            text(changed(SEX, lambda value, place: "?" if place % 30 == 0 else value)),
            told=("--missing 'Sexo=?'",),
        ),
        "NA": Messy(
            text(changed(BIRTH, lambda value, place: "NA" if place % 30 == 0 else value)),
            told=("--missing 'Data de Nascimento=NA'", "yyyy-mm-dd"),
        ),
        "dashes among amounts": Messy(
            text(
                changed(INCOME, lambda value, place: value.replace(".", ",") if place % 9 else "-"),
                separator=";",
            ),
            told=("--missing Renda=-", "--decimal ,"),
        ),
        "blanks that do not break": Messy(
            text(
                changed(TOWN, lambda value, _: value.replace(" ", "\u00a0") + "\u00a0"),
                header=[name.replace(" ", "\u00a0") for name in HEADER],
            ),
            told=("blanks around",),
            command=("--names", "--strip"),
        ),
        "several visits": Messy(
            visits(), told=("40 records belong to somebody",), command=("--id CPF",)
        ),
        "rows twice": Messy(
            text([row[1:] for row in [*people(), *people()[:5]]], header=HEADER[1:]),
            told=("5 records equal an earlier one in every column",),
            people=PEOPLE + 5,
        ),
        "a constant column": Messy(
            text([[*row, "MG"] for row in people()], header=[*HEADER, "UF"]),
            told=("holds one value only",),
        ),
        "people without a number": Messy(
            text(some), told=("in 4 records it is missing",), untold=("--id CPF",)
        ),
        "one number for all unknown": Messy(text(unknown), untold=("--id CPF",)),
        "families": Messy(
            text(
                [[f"f{place * 2 // 3}", *row[1:]] for place, row in enumerate(people())],
                header=["id_familia", *HEADER[1:]],
            ),
            untold=("--id",),
        ),
        "a body's weight": Messy(
            text(
                [[*row, f"{50 + place % 40},5"] for place, row in enumerate(people())],
                header=[*HEADER, "Peso"],
                separator=";",
            )
        ),
        "accents that were broken": Messy(
            text(changed(TOWN, lambda value, _: value.encode().decode("latin-1"))),
            told=("broken",),
        ),
    }


MESSY = messy_files()


def proposed(said: str) -> list[str]:
    """Return the words of the command that ``inspect`` proposes."""
    return shlex.split(said.replace("\n", " ").partition("Next: ")[2])


def test_there_are_at_least_forty() -> None:
    assert len(MESSY) >= 40


@pytest.mark.parametrize("kind", MESSY)
def test_the_proposed_command_runs_as_it_is_and_keeps_every_person(
    kind: str, tmp_path: Path, glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    messy = MESSY[kind]
    path = tmp_path / "atendimentos.csv"
    path.write_bytes(messy.packed(messy.content.encode(messy.encoding)))
    words, said = ["glasshouse", "inspect", str(path)], ""
    while words[1] == "inspect":
        shown = glasshouse(*words[1:])
        assert shown.code == 0, shown.error
        said += " ".join((shown.error + shown.out).split()) + " "
        words = proposed(shown.out)
    answer = glasshouse(*words[1:], "--subsets", "full", "--json")
    assert answer.code == 0, answer.error
    assert json.loads(answer.out)["records"] == messy.people
    command = shlex.join(words)
    assert [phrase for phrase in messy.told if phrase not in said] == [], said
    assert [phrase for phrase in messy.untold if phrase in said] == [], said
    assert [phrase for phrase in messy.command if phrase not in command] == [], command


@pytest.mark.parametrize("kind", MESSY)
def test_check_understands_a_file_as_the_proposed_command_does(
    kind: str, tmp_path: Path, glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    messy = MESSY[kind]
    path = tmp_path / "atendimentos.csv"
    path.write_bytes(messy.packed(messy.content.encode(messy.encoding)))
    shown = glasshouse("inspect", path)
    words = proposed(shown.out)
    if words[1] == "inspect":  # something is to be said first
        with pytest.raises(DataError, match=r"title|`no_header`"):
            understood(Dataset(path=path))
        return
    study, _ = understood(Dataset(path=path))
    adversary, dialect = study.adversary, study.datasets[0].dialect
    options: dict[str, list[str]] = {}
    for option, value in pairwise(words):
        options.setdefault(option, []).append(value)
    known = [name.replace("\xa0", " ") for name in adversary.quasi_identifiers]
    assert known == options["-q"]
    assert list(map("+".join, adversary.secrets)) == options.get("-s", [])
    assert [adversary.identifier] == options.get("--id", [None])
    assert [study.weight] == options.get("--weight", [None])
    assert list(study.treatment.invalid) == options.get("--invalid", [])
    assert dialect.strip == ("--strip" in words)


def test_check_leaves_out_what_is_nobody_and_says_so(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    path = tmp_path / "people.csv"
    rows = "".join(f"{20 + row // 6},{'FM'[row % 2]},flu\n" for row in range(120))
    path.write_text(f"age,sex,illness\n{rows}TOTAL,,120\n", encoding="utf-8")
    answer = glasshouse("check", path)
    assert 'records with "age=TOTAL" (else say --strict)' in " ".join(answer.out.split())
    content = json.loads(glasshouse("check", path, "--json").out)
    smallest = next(c for c in content["conditions"] if c["measure"] == "smallest-class")
    assert smallest["value"] == 3
    content = json.loads(glasshouse("check", path, "--json", "--strict").out)
    smallest = next(c for c in content["conditions"] if c["measure"] == "smallest-class")
    assert (smallest["value"], content["understood"]["invalid"]) == (1, [])


SOURCES = {
    "a source": ("Fonte: SES/MG, 2024.\n", 1),
    "a source behind a blank line": ("\nFonte: SES/MG, 2024.\n", 1),
    "a source and notes": ("Fonte: SES/MG; 2024.\n\nNota: dados preliminares.\n\n\n", 3),
    "a remark without a word for it": ("\r\nExtraído do sistema em 02/01/2025 às 10:30", 1),
}


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_footer_is_named_with_the_right_number_and_one_more_command_reads_the_file(
    kind: str, end: str, glasshouse: Glasshouse, tmp_path: Path
) -> None:
    footer, lines = SOURCES[kind]
    path = tmp_path / "atendimentos.csv"
    content = (text(separator=";") + footer).replace("\r\n", "\n").replace("\n", end)
    path.write_bytes(content.encode())
    refused = glasshouse("inspect", path)
    assert refused.code == 2
    assert refused.error.count("\n") == 1
    assert f"say --skip-end {lines}\n" in refused.error
    shown = glasshouse("inspect", path, "--skip-end", lines, "--json")
    assert shown.code == 0, shown.error
    content = json.loads(shown.out)
    assert content["records"] == PEOPLE
    assert content["next"].endswith(f"--skip-end {lines}")
    for wrong in (lines - 1, lines + 2, 10_000):
        answer = glasshouse("inspect", path, "--skip-end", wrong)
        assert (answer.code, answer.error.count("\n")) == (2, 1), "a record, or a remark, is there"
    assert glasshouse("assess", path, "-q", "Sexo", "--skip-end", lines).code == 0


def test_a_record_that_is_cut_short_is_no_footer(glasshouse: Glasshouse, tmp_path: Path) -> None:
    path = tmp_path / "atendimentos.csv"
    path.write_text(text(separator=";") + "111.444.777-35;1980-01-01;F\n", encoding="utf-8")
    refused = glasshouse("inspect", path)
    assert "has 3 fields where 7 are expected" in refused.error
    assert "--skip-end" not in refused.error


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 1000])
def test_a_footer_is_cut_wherever_blocks_of_the_file_end(size: int) -> None:
    content = (text(end="\r\n") + "\r\nFonte: SES\r\nNota: nada\r\n\r\n").encode()
    kept, held = b"", b""
    for place in range(0, len(content), size):
        part, held = _but_for_end(held + content[place : place + size], 2)
        kept += part
    assert kept == (text(end="\r\n") + "\r\n").encode()
    assert held == b"Fonte: SES\r\nNota: nada\r\n\r\n"


GROUPED = {
    "groups": (";Dados pessoais;;;;Saúde;", 1),
    "groups, repeated": ("Pessoa;Pessoa;Pessoa;Lugar;Lugar;Saúde;Saúde", 1),
    "a title and groups": ("Atendimentos;;;;;;\n;Dados pessoais;;;;Saúde;", 2),
    "a plain title and groups": ("Atendimentos de 2024\n\n;Dados pessoais;;;;Saúde;", 3),
}


@pytest.mark.parametrize("kind", GROUPED)
def test_a_line_that_groups_columns_is_told_with_the_right_number_to_skip(
    kind: str, glasshouse: Glasshouse, tmp_path: Path
) -> None:
    above, lines = GROUPED[kind]
    path = tmp_path / "atendimentos.csv"
    path.write_text(f"{above}\n{text(separator=';')}", encoding="utf-8")
    shown = glasshouse("inspect", path)
    assert f"--skip {lines}" in shown.error, shown.error
    assert "which columns belong together" in " ".join(shown.error.split())
    assert proposed(shown.out)[-2:] == ["--skip", str(lines)]
    again = json.loads(glasshouse("inspect", path, "--skip", lines, "--json").out)
    assert again["records"] == PEOPLE
    assert [column["name"] for column in again["columns"]] == HEADER


@pytest.mark.parametrize("kind", [kind for kind in MESSY if "title" not in kind])
def test_what_is_nobody_is_found_without_reading_a_table(kind: str, tmp_path: Path) -> None:
    from glasshouse.runs.reading import nobody_in
    from glasshouse.table import read, table_profile

    messy = MESSY[kind]
    path = tmp_path / "atendimentos.csv"
    path.write_bytes(messy.packed(messy.content.encode(messy.encoding)))
    found = table_profile(read(path)).strays
    assert nobody_in(Dataset(path=path)) == found
    assert bool(found) == any("--invalid" in words for words in messy.command)


@pytest.mark.parametrize("kind", MESSY)
def test_strict_reads_what_needs_no_assumption_and_refuses_all_else(
    kind: str, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    messy = MESSY[kind]
    path = tmp_path / "atendimentos.csv"
    path.write_bytes(messy.packed(messy.content.encode(messy.encoding)))
    is_plain = "this was assumed" not in glasshouse("inspect", path).error
    answer = glasshouse("inspect", path, "--strict")
    if is_plain and messy.encoding != "utf-16":
        assert answer.code == 0, answer.error
        return
    assert answer.code == 2
    assert (answer.out, answer.error.count("\n")) == ("", 1)
    assert any(word in answer.error for word in ("--", "encoding", "name"))
