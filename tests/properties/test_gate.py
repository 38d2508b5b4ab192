"""The gate fails closed: to a release that passes, no column can be added that nobody looked at."""

from __future__ import annotations

import datetime
import random
import string
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import glasshouse as gh
from tests.examples import examples

CASES = examples(2000, one_of=25)
"""How many columns are added to releases that pass: of each kind three or four in every run."""
STREETS = ("Rua das Flores", "Avenida Brasil", "Hauptstraße", "Calle Mayor", "High Street")
JOBS = ("nurse", "teacher", "driver", "clerk")
WORDS = (
    "the of patient came late with no pain and left after lunch without a word to doctor".split()
)


def _letters(draw: random.Random, length: int) -> str:
    return "".join(draw.choices(string.ascii_lowercase, k=length))


def _cpf(draw: random.Random) -> str:
    digits = [draw.randrange(10) for _ in range(9)]
    for length in (9, 10):
        rest = sum(d * w for d, w in zip(digits, range(length + 1, 1, -1), strict=True)) % 11
        digits.append(0 if rest < 2 else 11 - rest)
    return "{}{}{}.{}{}{}.{}{}{}-{}{}".format(*digits)


def _day(draw: random.Random) -> datetime.date:
    return datetime.date(1930, 1, 1) + datetime.timedelta(days=draw.randrange(30000))


KINDS: dict[str, Callable[[random.Random], str]] = {
    "e-mail": lambda draw: f"{_letters(draw, 9)}@example.org",
    "uuid": lambda draw: (
        f"{draw.getrandbits(32):08x}-{draw.getrandbits(16):04x}-4{draw.getrandbits(12):03x}-"
        f"8{draw.getrandbits(12):03x}-{draw.getrandbits(48):012x}"
    ),
    "CPF": _cpf,
    "masked CPF": lambda draw: f"***{_cpf(draw)[3:11]}-**",
    "phone": lambda draw: (
        f"({draw.randrange(11, 99)}) 9{draw.randrange(1000, 9999)}-{draw.randrange(10**4):04d}"
    ),
    "plate": lambda draw: (
        f"{_letters(draw, 3).upper()}{draw.randrange(10)}{_letters(draw, 1).upper()}{draw.randrange(100):02d}"
    ),
    "IP": lambda draw: ".".join(str(draw.randrange(256)) for _ in range(4)),
    "coordinates": lambda draw: f"{draw.uniform(-30, 0):.5f}, {draw.uniform(-60, -40):.5f}",
    "latitude": lambda draw: f"{draw.uniform(-30, 0):.5f}",
    "street": lambda draw: f"{draw.choice(STREETS)} {draw.randrange(1, 9000)}",
    "date": lambda draw: _day(draw).isoformat(),
    "day first": lambda draw: _day(draw).strftime("%d/%m/%Y"),
    "month first": lambda draw: _day(draw).strftime("%m-%d-%Y"),
    "compact": lambda draw: _day(draw).strftime("%Y%m%d"),
    "in words": lambda draw: _day(draw).strftime("%d %B %Y"),
    "amount": lambda draw: f"{draw.lognormvariate(8, 1):.2f}",
    "decimal comma": lambda draw: f"{draw.lognormvariate(8, 1):.2f}".replace(".", ","),
    "free text": lambda draw: " ".join(draw.choices(WORDS, k=draw.randrange(8, 14))),
    "name": lambda draw: f"{_letters(draw, 6).title()} {_letters(draw, 8).title()}",
    "number": lambda draw: str(draw.randrange(10**6)),
    "code": lambda draw: f"{_letters(draw, 2).upper()}-{draw.randrange(10**5)}",
}
NAMES = (
    *(
        "email",
        "contact",
        "id",
        "key",
        "cpf",
        "phone",
        "plate",
        "ip",
        "gps",
        "street",
        "birthdate",
        "dob",
    ),
    *(
        "income",
        "salary",
        "diagnosis",
        "illness",
        "notes",
        "comment",
        "weight",
        "fnlwgt",
        "score",
        "result",
    ),
    *(
        "nascimento",
        "renda",
        "observacao",
        "remuneracao",
        "doenca",
        "endereco",
        "matricula",
        "peso",
    ),
    *(
        "correo",
        "fecha",
        "sueldo",
        "enfermedad",
        "domicilio",
        "Geburtsdatum",
        "Einkommen",
        "Krankheit",
    ),
    *(
        "Anmerkung",
        "xq17",
        "v001",
        "zzz",
        "col_b",
        "Unnamed: 3",
        "tmp",
        "record",
        "row",
        "religion",
    ),
)


def passing(draw: random.Random) -> dict[str, list[str]]:
    """Return a release that meets the rule: some columns that people share, and perhaps a secret."""
    classes = [(sex, band) for sex in "FM" for band in ("18-39", "40-64", "65+")]
    each = draw.randrange(24, 40)
    rows = [row for row in classes for _ in range(each)]
    columns = {"sex": [row[0] for row in rows], "age band": [row[1] for row in rows]}
    if draw.random() < 0.6:
        values = ("flu", "asthma", "none", "cold")
        columns["diagnosis code"] = [values[place % 4] for place in range(len(rows))]
    return columns


def added(draw: random.Random, kind: str, records: int) -> list[str]:
    """Return a column whose values are unique, or nearly so; perhaps not everywhere."""
    values = [KINDS[kind](draw) for _ in range(records)]
    for place in range(records):
        if draw.random() < 0.05:
            values[place] = draw.choice(["", values[0]])
    return values


@pytest.mark.hypothesis
def test_no_column_is_added_to_a_release_that_passes_without_being_looked_at() -> None:
    draw = random.Random(33)
    kinds = [*KINDS, "rare job"]
    for case in range(CASES):
        release = passing(draw)
        records = len(release["sex"])
        kind, name = kinds[case % len(kinds)], draw.choice(NAMES)
        if kind == "rare job":
            values = [draw.choice(JOBS) for _ in range(records)]
            values[draw.randrange(records)] = "astronaut"
            name = draw.choice(("job", "cargo", "Beruf", "ocupacion", "xq17"))
        else:
            values = added(draw, kind, records)
        before = gh.check(pa.table(release))
        verdict = gh.check(pa.table({**release, name: values}))
        assert before.meets, (case, before.to_dict())
        assert not verdict.meets, (case, kind, name, verdict.to_dict())
        if case % 10 == 0:
            whole = pa.table({**release, name: values})
            assert gh.check(whole, drop=[name]).meets, (case, kind, name)
            assert gh.check(whole, ignore=[name]).meets, (case, kind, name)


def test_files_that_were_protected_pass(tmp_path: Path) -> None:
    """A gate that is always red is none: what was properly protected passes as it is on disk."""
    draw = random.Random(34)
    passed = 0
    for case in range(examples(20)):
        records = draw.randrange(300, 900)
        people = pa.table(
            {
                "age": [str(draw.randrange(18, 90)) for _ in range(records)],
                "sex": [draw.choice("FM") for _ in range(records)],
                "region": [draw.choice(("north", "south", "east")) for _ in range(records)],
                "illness": [draw.choice(("flu", "asthma", "none", "cold")) for _ in range(records)],
                "e-mail": [f"p{place}@example.org" for place in range(records)],
            }
        )
        run = gh.anonymise(
            people,
            quasi_identifiers=["age", "sex", "region"],
            sensitive=["illness"],
            method="policy",
        )
        run.report(tmp_path / f"run{case}")
        passed += gh.check(tmp_path / f"run{case}" / "release.csv").meets
    assert passed == examples(20)
