"""The same people in every form in which an agency may hold them, written by the tests themselves."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import random
import sqlite3
import struct
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet

COLUMNS = ("person", "sex", "race", "uf", "cep", "born", "income", "city")
NUMBERS = ("person", "sex", "race", "income")
"""Columns that programs for numbers hold as numbers."""
SEXES: dict[int | float, str] = {1: "masculino", 2: "feminino", 9: "não informado"}
CITIES = ("São Paulo", "Niterói", "Belém", "Goiânia", "Três Corações", "")
Row = tuple[str, ...]


def people(count: int, seed: int = 7) -> list[Row]:
    """Return rows of text, with leading zeros, accents, missing values and codes for missing ones."""
    chance = random.Random(seed)
    rows: list[Row] = []
    for number in range(1, count + 1):
        born = f"{chance.randint(1940, 2010)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
        income = f"{chance.randint(4, 90) * 125 / 2:g}"
        rows.append(
            (
                str(number + 10_000_000_000),
                chance.choice("1122229"),
                chance.choice("123459"),
                chance.choice(("01", "35", "33", "52")),
                f"{chance.randint(1, 40):05}",
                born if chance.random() < 0.97 else "",
                income if chance.random() < 0.95 else "",
                chance.choice(CITIES),
            )
        )
    return rows


def _numbers(rows: list[Row]) -> dict[str, list[object]]:
    """Return the columns as a program for numbers holds them."""
    columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    return {
        name: [(float(value) if value else None) for value in values]
        if name in NUMBERS
        else [value or None for value in values]
        for name, values in columns.items()
    }


def _texts(rows: list[Row]) -> pa.Table:
    return pa.table(dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))


def _delimited(rows: list[Row], separator: str = ",", end: str = "\n") -> str:
    written = io.StringIO()
    writer = csv.writer(written, delimiter=separator, lineterminator=end)
    writer.writerows([COLUMNS, *rows])
    return written.getvalue()


def as_csv(path: Path, rows: list[Row]) -> None:
    path.write_text(_delimited(rows), encoding="utf-8")


def as_latin(path: Path, rows: list[Row]) -> None:
    path.write_bytes(_delimited(rows, ";", "\r\n").encode("latin-1"))


def as_gzip(path: Path, rows: list[Row]) -> None:
    path.write_bytes(gzip.compress(_delimited(rows).encode(), mtime=0))


def as_bzip2(path: Path, rows: list[Row]) -> None:
    path.write_bytes(bz2.compress(_delimited(rows).encode()))


def as_xz(path: Path, rows: list[Row]) -> None:
    path.write_bytes(lzma.compress(_delimited(rows).encode()))


def as_zstd(path: Path, rows: list[Row]) -> None:
    path.write_bytes(pa.Codec("zstd").compress(_delimited(rows).encode(), asbytes=True))


def as_zip(path: Path, rows: list[Row]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("dados/pessoas.csv", _delimited(rows, "\t"))
        archive.writestr("__MACOSX/dados/._pessoas.csv", b"\0")


def as_zipped_dbf(path: Path, rows: list[Row]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("PESSOAS.DBF", dbf(rows))


def as_json_lines(path: Path, rows: list[Row]) -> None:
    columns = _numbers(rows)
    lines = (
        json.dumps(
            {
                name: int(value) if isinstance(value, float) and value.is_integer() else value
                for name, value in zip(COLUMNS, values, strict=True)
                if value is not None
            },
            ensure_ascii=False,
        )
        for values in zip(*columns.values(), strict=True)
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def as_parquet(path: Path, rows: list[Row]) -> None:
    pyarrow.parquet.write_table(pa.table(_numbers(rows)), path)


def as_feather(path: Path, rows: list[Row]) -> None:
    pyarrow.feather.write_feather(_texts(rows), path)


def as_orc(path: Path, rows: list[Row]) -> None:
    pyarrow.orc.write_table(pa.table(_numbers(rows)), path)


def as_partitions(path: Path, rows: list[Row]) -> None:
    """Write a folder per state, as programs for big data do."""
    for uf in sorted({row[3] for row in rows}):
        folder = path / f"uf={uf}"
        folder.mkdir(parents=True)
        table = _texts([row for row in rows if row[3] == uf]).drop_columns(["uf"])
        pyarrow.parquet.write_table(table, folder / "part-0.parquet")
    (path / "_SUCCESS").touch()


def as_delta(path: Path, rows: list[Row]) -> None:
    import deltalake

    deltalake.write_deltalake(str(path), _texts(rows[: len(rows) // 2]))
    deltalake.write_deltalake(str(path), _texts(rows[len(rows) // 2 :]), mode="append")


def as_sqlite(path: Path, rows: list[Row]) -> None:
    database = sqlite3.connect(path)
    database.execute(
        "create table people (person int, sex int, race int, uf, cep, born, income real, city)"
    )
    values = zip(*_numbers(rows).values(), strict=True)
    database.executemany("insert into people values (?, ?, ?, ?, ?, ?, ?, ?)", values)
    database.commit()
    database.close()


def as_duckdb(path: Path, rows: list[Row]) -> None:
    people = pa.table(_numbers(rows))  # noqa: F841 - the query names it
    with duckdb.connect(str(path)) as database:
        database.execute("create table people as select * from people")


def as_spss(path: Path, rows: list[Row]) -> None:
    import pyreadstat

    pyreadstat.write_sav(
        pl.DataFrame(_numbers(rows)),
        str(path),
        variable_value_labels={"sex": SEXES},
        missing_ranges={"sex": [9], "race": [{"lo": 8, "hi": 9}]},
        column_labels={"uf": "Unidade da federação"},
    )


def as_stata(path: Path, rows: list[Row]) -> None:
    import pyreadstat

    pyreadstat.write_dta(
        pl.DataFrame(_numbers(rows)), str(path), variable_value_labels={"sex": SEXES}
    )


def as_sas_transport(path: Path, rows: list[Row]) -> None:
    import pyreadstat

    pyreadstat.write_xport(pl.DataFrame(_numbers(rows)), str(path), file_format_version=8)


def as_dbf(path: Path, rows: list[Row]) -> None:
    path.write_bytes(dbf(rows))


def dbf(rows: list[Row]) -> bytes:
    """Return the rows as dBase III has them, in the letters of DOS, with a record that is deleted."""
    kinds = ["N" if name in NUMBERS else "D" if name == "born" else "C" for name in COLUMNS]
    columns = [[value.encode("cp850") for value in values] for values in zip(*rows, strict=True)]
    columns[5] = [value.replace(b"-", b"") for value in columns[5]]
    widths = [max(8, *map(len, values)) for values in columns]
    header = struct.pack(
        "<BBBBIHH20x", 3, 120, 1, 31, len(rows) + 1, 33 + 32 * len(widths), 1 + sum(widths)
    )
    fields = b"".join(
        struct.pack("<11sc4xBB14x", name.encode(), kind.encode(), width, 0)
        for name, kind, width in zip(COLUMNS, kinds, widths, strict=True)
    )
    records = [
        b"".join(
            value.rjust(width) if kind == "N" else value.ljust(width)
            for value, kind, width in zip(row, kinds, widths, strict=True)
        )
        for row in zip(*columns, strict=True)
    ]
    deleted = b"*" + b"?" * sum(widths)
    return (
        header + fields + b"\r" + deleted + b"".join(b" " + record for record in records) + b"\x1a"
    )


def as_dbc(path: Path, rows: list[Row]) -> None:
    """Write what DATASUS calls DBC: a header, four bytes, and a stream in which every letter stands for itself."""
    plain = dbf(rows)
    length = struct.unpack_from("<H", plain, 8)[0]
    path.write_bytes(plain[:length] + bytes(4) + imploded(plain[length:]))


def imploded(plain: bytes) -> bytes:
    """Return bytes as PKWARE's library implodes them when it finds nothing to save."""
    bits = "".join("0" + f"{byte:08b}"[::-1] for byte in plain) + "1" + "0" * 7 + "1" * 8
    bits += "0" * (-len(bits) % 8)
    packed = bytes(int(bits[at : at + 8][::-1], 2) for at in range(0, len(bits), 8))
    return b"\x00\x06" + packed


def as_xlsx(path: Path, rows: list[Row]) -> None:
    """Write a workbook with a sheet of people and an empty one."""
    cells = [[f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in COLUMNS]]
    cells += [[_cell(value) for value in row] for row in zip(*_numbers(rows).values(), strict=True)]
    _write_xlsx(path, cells)


def page_as_xlsx(path: Path, lines: Sequence[Sequence[str]]) -> None:
    """Write lines of text as a sheet of Excel, counts as numbers."""
    _write_xlsx(path, [[_cell(_as_number(cell)) for cell in line] for line in lines])


def page_as_ods(path: Path, lines: Sequence[Sequence[str]]) -> None:
    """Write lines of text as a sheet of OpenDocument, counts as numbers."""
    _write_ods(path, [[_open_cell(_as_number(cell)) for cell in line] for line in lines])


def _as_number(cell: str) -> float | str | None:
    return float(cell) if cell.isdecimal() else cell or None


def _write_xlsx(path: Path, cells: list[list[str]]) -> None:
    sheet = "".join(f"<row>{''.join(row)}</row>" for row in cells)
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet2.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook {main} xmlns:r="{office}"><sheets>'
        '<sheet name="Pessoas" sheetId="1" r:id="r1"/><sheet name="Notas" sheetId="2" r:id="r2"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="r2" Type="{office}/worksheet" Target="worksheets/sheet2.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f"<worksheet {main}><sheetData>{sheet}</sheetData></worksheet>",
        "xl/worksheets/sheet2.xml": f"<worksheet {main}><sheetData></sheetData></worksheet>",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>' + content)


def _cell(value: object) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, float):
        return f"<c><v>{value!r}</v></c>"
    return f'<c t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'


def as_ods(path: Path, rows: list[Row]) -> None:
    """Write a sheet of OpenDocument."""
    cells = [[_open_cell(name) for name in COLUMNS]]
    cells += [
        [_open_cell(value) for value in row] for row in zip(*_numbers(rows).values(), strict=True)
    ]
    _write_ods(path, cells)


def _write_ods(path: Path, cells: list[list[str]]) -> None:
    table = "".join(f"<table:table-row>{''.join(row)}</table:table-row>" for row in cells)
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", kind)
        manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
        archive.writestr(
            "META-INF/manifest.xml",
            f'<m:manifest xmlns:m="{manifest}"><m:file-entry m:full-path="/" m:media-type="{kind}"/></m:manifest>',
        )
        archive.writestr(
            "content.xml",
            f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {spaces}><office:body>'
            f'<office:spreadsheet><table:table table:name="Pessoas">{table}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )


def _open_cell(value: object) -> str:
    if value is None:
        return "<table:table-cell/>"
    if isinstance(value, float):
        return f'<table:table-cell office:value-type="float" office:value="{value!r}"/>'
    return f'<table:table-cell office:value-type="string"><text:p>{escape(str(value))}</text:p></table:table-cell>'


def as_xls(path: Path, rows: list[Row]) -> None:
    import xlwt  # type: ignore[import-untyped]

    book = xlwt.Workbook()
    sheet = book.add_sheet("Pessoas")
    for column, (name, values) in enumerate(_numbers(rows).items()):
        sheet.write(0, column, name)
        for row, value in enumerate(values, start=1):
            if value is not None:
                sheet.write(row, column, value)
    book.save(str(path))


def as_xlsb(path: Path, rows: list[Row]) -> None:
    from pyxlsbwriter import XlsbWriter  # type: ignore[import-untyped]

    with XlsbWriter(str(path)) as book:
        book.add_sheet("Pessoas")
        book.write_sheet([list(COLUMNS), *map(list, zip(*_numbers(rows).values(), strict=True))])


FORMS: dict[str, Callable[[Path, list[Row]], None]] = {
    "people.txt": as_latin,
    "people.csv.gz": as_gzip,
    "people.csv.bz2": as_bzip2,
    "people.csv.xz": as_xz,
    "people.csv.zst": as_zstd,
    "people.zip": as_zip,
    "people.dbf.zip": as_zipped_dbf,
    "people.jsonl": as_json_lines,
    "people.parquet": as_parquet,
    "people.feather": as_feather,
    "people.orc": as_orc,
    "people-by-state": as_partitions,
    "people-delta": as_delta,
    "people.sqlite": as_sqlite,
    "people.duckdb": as_duckdb,
    "people.sav": as_spss,
    "people.zsav": as_spss,
    "people.dta": as_stata,
    "people.xpt": as_sas_transport,
    "people.dbf": as_dbf,
    "people.dbc": as_dbc,
    "people.xlsx": as_xlsx,
    "people.ods": as_ods,
    "people.xls": as_xls,
    "people.xlsb": as_xlsb,
}
"""What writes each form, by the name of the file."""
