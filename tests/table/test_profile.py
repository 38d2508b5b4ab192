"""A first look: counts are right, and suggested roles have a reason."""

from __future__ import annotations

import pyarrow as pa

from glasshouse.table import ColumnProfile, Role, profile, read

PEOPLE = pa.table(
    {
        "CPF": ["1", "2", "3", "4"],
        "DT_NASCIMENTO": ["2001-05-03", "2001-05-04", "2001-05-03", None],
        "RaçaCor": ["a", "b", "b", "b"],
        "renda": ["1.5", "2", "", "3e4"],
        "peso": ["1", "1", "2", "3"],
        "constant": ["x", "x", "x", "x"],
        "token": ["q1", "q2", "q3", "q4"],
        "other": ["u", "u", "v", "v"],
    }
)


def profiles() -> dict[str, ColumnProfile]:
    return {column.name: column for column in profile(read(PEOPLE))}


def test_roles_are_suggested_from_names_and_values() -> None:
    assert {name: column.role for name, column in profiles().items()} == {
        "CPF": Role.IDENTIFIER,
        "DT_NASCIMENTO": Role.QUASI_IDENTIFIER,
        "RaçaCor": Role.QUASI_IDENTIFIER,
        "renda": Role.SENSITIVE,
        "peso": Role.WEIGHT,
        "constant": Role.IGNORED,
        "token": Role.IDENTIFIER,
        "other": Role.IGNORED,
    }


def test_every_suggestion_says_why() -> None:
    reasons = {name: column.reason for name, column in profiles().items()}
    assert reasons["RaçaCor"] == 'called "cor"'
    assert reasons["token"] == "every record has a value of its own"
    assert reasons["constant"].startswith("holds one value only")


def test_missing_distinct_and_unique_values_are_counted() -> None:
    birth = profiles()["DT_NASCIMENTO"]
    assert (birth.distinct, birth.missing, birth.unique) == (2, 1, 1)


def test_values_are_recognised() -> None:
    kinds = {name: column.kind for name, column in profiles().items()}
    assert kinds["CPF"] == "integer"
    assert kinds["renda"] == "number"
    assert kinds["DT_NASCIMENTO"] == "date"
    assert kinds["other"] == "text"


def test_a_value_or_nothing_tells_people_apart() -> None:
    (column,) = profile(read(pa.table({"hiv": ["yes", None, None]})))
    assert column.role is Role.SENSITIVE
