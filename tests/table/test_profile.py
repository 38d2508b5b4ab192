"""A first look: counts are right, and suggested roles have a reason."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from uuid import UUID

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import DataError
from glasshouse.study import Dialect
from glasshouse.table import (
    ColumnProfile,
    Role,
    person_column,
    profile,
    read,
    table_profile,
)
from glasshouse.table.identifiers import DIRECT, _is_cnpj
from glasshouse.table.profiles import (
    has_no_header,
    identifying,
    knowable,
    naming_column,
    owner_column,
)

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
        "renda": Role.QUASI_IDENTIFIER,
        "peso": Role.WEIGHT,
        "constant": Role.IGNORED,
        "token": Role.QUASI_IDENTIFIER,
        "other": Role.QUASI_IDENTIFIER,
    }


def test_a_column_called_after_people_says_whose_a_record_is_where_it_repeats() -> None:
    visits = pa.table(
        {
            "patient": [str(visit % 30) for visit in range(90)],
            "patient_age": [str(visit % 30) for visit in range(90)],
            "student": ["yes", "no", "no"] * 30,
        }
    )
    columns = profile(read(visits))
    assert [column.role for column in columns] == [
        Role.IDENTIFIER,
        Role.QUASI_IDENTIFIER,
        Role.QUASI_IDENTIFIER,
    ]
    owner = owner_column(columns)
    assert owner is not None
    assert owner.name == "patient"


def test_every_suggestion_says_why() -> None:
    reasons = {name: column.reason for name, column in profiles().items()}
    assert reasons["RaçaCor"] == 'called "cor"'
    assert reasons["DT_NASCIMENTO"] == 'called "dtnascimento"', "and not merely that it holds dates"
    assert reasons["token"] == "4 distinct values in 4 records: it tells people apart"
    assert reasons["renda"] == (
        'called "renda", but with 4 values in 4 records it tells people apart'
    )
    assert reasons["other"] == "nothing says that nobody can know it"
    assert reasons["constant"].startswith("holds one value only")


def test_whatever_is_no_plain_secret_names_nobody_and_differs_can_be_known() -> None:
    """Weights, pseudonyms, amounts, row numbers and free text add to an attack, whatever they are called."""
    numbers = range(1, 101)
    columns = profile(
        read(
            pa.table(
                {
                    "row": [str(place) for place in numbers],
                    "cpf": [str(7 * place) for place in numbers],
                    "pseudonym": [f"p{place}" for place in numbers],
                    "weight": [str(place % 9) for place in numbers],
                    "income": [str(100 * place) for place in numbers],
                    "remarks": [
                        f"came {place} times with a cold and her sister" for place in numbers
                    ],
                    "v12": ["u", "v"] * 50,
                    "diagnosis": ["u", "v"] * 50,
                    "hiv": ["no"] * 100,
                    "origin": ["here"] * 100,
                }
            )
        )
    )
    assert knowable(columns) == ("row", "pseudonym", "weight", "income", "remarks", "v12")
    naming = naming_column(columns)
    assert naming is not None
    assert naming.name == "cpf"
    secrets = [column.name for column in columns if column.role is Role.SENSITIVE]
    assert secrets == ["diagnosis", "hiv"], "one value for everybody is told of everybody"


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
    (column,) = profile(read(pa.table({"hiv": ["yes", None, None, None]})))
    assert column.role is Role.SENSITIVE


def with_check_digits(first: int) -> str:
    """Return a CPF as it is written, with its two check digits."""
    digits = [int(digit) for digit in f"{first:09}"]
    for _ in range(2):
        weights = range(len(digits) + 1, 1, -1)
        rest = sum(digit * weight for digit, weight in zip(digits, weights, strict=True)) % 11
        digits.append(0 if rest < 2 else 11 - rest)
    number = "".join(map(str, digits))
    return f"{number[:3]}.{number[3:6]}.{number[6:9]}-{number[9:]}"


def visits() -> pa.Table:
    """Return a register of visits: few names, a number per person that repeats, remarks."""
    people = [with_check_digits(123_456_780 + number) for number in range(300)]
    numbers = people + people[:60]
    return pa.table(
        {
            "Nome do Paciente": [f"Ana {place % 7}" for place in range(len(numbers))],
            "Documento": numbers,
            "Fone": [f"(31) 9{8000 + place}-{1000 + place}" for place in range(len(numbers))],
            "Contato": [f"pessoa{place % 40}@exemplo.org" for place in range(len(numbers))],
            "Observação": [
                f"chegou às {place} horas com a irmã e voltou para casa"
                for place in range(len(numbers))
            ],
            "Cidade": [("Betim", "Lavras", "Ubá")[place % 3] for place in range(len(numbers))],
        }
    )


def test_numbers_of_people_are_known_by_their_check_digits() -> None:
    looks = {column.name: column.looks_like for column in profile(read(visits()))}
    assert looks == {
        "Nome do Paciente": "person's name",
        "Documento": "CPF",
        "Fone": "phone number",
        "Contato": "e-mail address",
        "Observação": "free text",
        "Cidade": "",
    }


def test_a_number_without_right_check_digits_is_no_cpf() -> None:
    wrong = [with_check_digits(place)[:-1] + "x" for place in range(50)]
    digits = [f"{place:011}" for place in range(10_000, 10_050)]
    for values in (wrong, digits):
        (column,) = profile(read(pa.table({"codigo": values})))
        assert column.looks_like == ""


def test_a_column_with_few_values_never_names_the_person() -> None:
    """A name that 150 of 60,000 share is no identifier: as one, it would leave 150 records."""
    columns = profile(read(visits()))
    person = person_column(columns)
    assert person is not None
    assert (person.name, person.repeats) == ("Documento", 60)
    names_only = [column for column in columns if column.name == "Nome do Paciente"]
    assert person_column(names_only) is None


def test_values_that_merely_differ_name_nobody() -> None:
    """An income, or a full name, that nearly everybody has alone would make one person of two."""
    amounts = [str(100 * place) for place in range(90)] + ["100"] * 10
    names = [f"Ana Lima {place}" for place in range(90)] + ["Ana Lima 1"] * 10
    columns = profile(read(pa.table({"fnl": amounts, "nome": names})))
    assert person_column(columns) is None


def test_what_several_people_share_names_nobody() -> None:
    """As the identifier, the number of a firm, a family or a doctor would leave one person of each."""
    firms = [
        next(f"{base:012}{check:02}" for check in range(100) if _is_cnpj(f"{base:012}{check:02}"))
        for base in range(112_223_330_001, 112_223_330_061)
    ]
    doctors = [with_check_digits(123_456_780 + place % 9) for place in range(200)]
    families = [f"f{place * 2 // 3}" for place in range(200)]
    guardians = [with_check_digits(123_456_780 + place // 2) for place in range(200)]
    columns = {
        "CNPJ": [firms[place % 60] for place in range(200)],
        "registro": doctors,
        "id_familia": families,
        "CPF do responsável": guardians,
    }
    for name, values in columns.items():
        assert person_column(profile(read(pa.table({name: values})))) is None, name
    assert profile(read(pa.table({"firm": columns["CNPJ"]})))[0].looks_like == "CNPJ"
    assert person_column(profile(read(pa.table({"CPF": guardians})))) is not None


def test_codes_that_may_stand_for_missing_are_proposed_with_their_counts() -> None:
    table = pa.table({"raca": list("1122395?"), "idade": [str(age) for age in range(92, 100)]})
    race, age = profile(read(table))
    assert race.maybe_missing == (("?", 1), ("9", 1))
    assert age.maybe_missing == ()


def test_values_that_stand_for_missing_are_read_as_missing() -> None:
    table = pa.table({"race": ["1", "9", "?", " 9 "], "income": ["1.234,50", "1234,5", "-", "7"]})
    dialect = Dialect(decimal=",", thousands=".")
    types, missing = {"income": "number"}, {"race": ["9", "?"], "income": ["-"]}
    understood = read(table, types=types, missing=missing, dialect=dialect)
    assert understood.column("race").values.to_pylist() == ["1", ""]
    assert understood.column("income").values.to_pylist() == ["1234.5", "", "7"]
    with pytest.raises(DataError, match='column "raca" is not in'):
        read(table, missing={"raca": ["9"]})


def test_a_file_without_a_header_is_suspected() -> None:
    rows = {"39": ["50", "38", "53"], " Private": [" Private", " Other", " Private"]}
    assert has_no_header(read(pa.table(rows)))
    assert not has_no_header(read(visits()))


ROWS = st.lists(st.tuples(*[st.sampled_from("abc")] * 4), min_size=1, max_size=40)


def table_of(rows: list[tuple[str, ...]]) -> pa.Table:
    """Return rows as a table."""
    return pa.table(
        {f"q{place}": list(values) for place, values in enumerate(zip(*rows, strict=True))}
    )


@given(rows=ROWS)
def test_records_that_repeat_one_in_every_column_are_counted(rows: list[tuple[str, ...]]) -> None:
    assert table_profile(read(table_of(rows))).repeated == len(rows) - len(set(rows))


@given(rows=ROWS)
def test_what_columns_tell_together_is_counted(rows: list[tuple[str, ...]]) -> None:
    table = read(table_of(rows))
    counted = identifying(table, list(table.columns))
    assert len(counted) == 4 + 6 + 4
    places = {name: place for place, name in enumerate(table.columns)}
    for found in counted:
        classes = Counter(tuple(row[places[name]] for name in found.columns) for row in rows)
        alone = list(classes.values()).count(1)
        assert (found.classes, found.unique, found.records) == (len(classes), alone, len(rows))
    sizes = [(-found.unique, len(found.columns)) for found in counted]
    assert sizes == sorted(sizes)


def test_of_a_large_table_records_at_equal_distances_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("glasshouse.table.profiles._MOST_COUNTED", 90)
    table = read(pa.table({"a": list("xy" * 50), "b": list("uuvv" * 25)}))
    assert {found.records for found in identifying(table, ["a", "b"])} == {25}


@pytest.mark.parametrize(
    ("values", "dates"),
    [
        (["31/12/1980", "1/2/1990 10:30"], ("dd/mm/yyyy",)),
        (["12/31/1980", "1/2/1990"], ("mm/dd/yyyy",)),
        (["1980.12.31"], ("yyyy.mm.dd",)),
        (["01-02-1980"], ("dd-mm-yyyy", "mm-dd-yyyy")),
        (["31/12/80"], ("dd/mm/yy",)),
        (["31022020", "30022020", "29022020", "28022020", "27022020"], ()),
        (["31012020", "30042020", "29022020", "28022020", "27022020"], ("ddmmyyyy",)),
        (["20200101"], ()),
        (["1980-12-31", "31/12/1980"], ()),
    ],
)
def test_dates_tell_how_they_are_written_or_that_they_do_not(
    values: list[str], dates: tuple[str, ...]
) -> None:
    (column,) = profile(read(pa.table({"birth": values})))
    assert column.dates == dates
    assert (column.kind == "date") is (bool(dates) or "-" in values[0])


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["1.5", "2"], ((".", ""),)),
        (["1,5", "2"], ((",", ""),)),
        (["1.234,5", "2"], ((",", "."),)),
        (["1,234.5", "2"], ((".", ","),)),
        (["1.234.567", "2"], ((",", "."),)),
        (["1.234", "2.500"], ((".", ""), (",", "."))),
        (["1,234", "2,500"], ((",", ""), (".", ","))),
        (["1,5", "2.5"], ()),
        (["1234", "2"], ()),
    ],
)
def test_numbers_tell_how_they_are_written_or_that_they_do_not(
    values: list[str], numbers: tuple[tuple[str, str], ...]
) -> None:
    (column,) = profile(read(pa.table({"income": values})))
    assert column.numbers == numbers


def test_a_record_that_is_as_the_first_line_is_no_header() -> None:
    """In a file without a header somebody may be as the one who is taken for the names."""
    rows = {
        "39": ["50", "39", "38"],
        "M": ["F", "M", "M"],
        "Private": ["Other", "Private", "Other"],
    }
    looked_at = table_profile(read(pa.table(rows)))
    assert (looked_at.lacks_header, looked_at.headers, looked_at.strays) == (True, 0, ())


def test_years_as_names_are_a_header() -> None:
    assert not has_no_header(read(pa.table({"uf": ["MG"], "2019": ["7"], "2020": ["8"]})))


def test_somebody_called_total_is_a_person() -> None:
    """Only a last record that lacks something is taken for a total, and only by a value that is its own."""
    whole = pa.table({"name": ["Ana", "Total"], "age": ["20", "30"], "sex": ["F", "M"]})
    assert table_profile(read(whole)).strays == ()
    shared = pa.table({"name": ["Total", "Total"], "age": ["20", ""], "sex": ["F", "M"]})
    looked_at = table_profile(read(shared))
    assert (looked_at.totals, looked_at.strays, looked_at.columns[0].records) == (0, (), 2)


def checked(kind: str, made: Iterator[str], count: int = 40) -> list[str]:
    """Return the first made values that have the form and the check digits of a kind."""
    pattern, is_right = DIRECT[kind]
    right = (value for value in made if re.fullmatch(pattern, value) and is_right(value))
    return list(islice(right, count))


def looks_of(values: list[str]) -> str:
    """Return what the values of a column say that it is, whose name says nothing."""
    (column,) = profile(read(pa.table({"v": values})))
    return column.looks_like


CHANCE = random.Random(7)
DIGITS = [CHANCE.randrange(10**16) for _ in range(60_000)]
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"


def plates() -> Iterator[str]:
    """Yield plates as they were before and since Mercosul."""
    for number in DIGITS[:100]:
        letters = "".join(LETTERS[number // 24**place % 24] for place in range(3))
        middle = "ABCDEFGHIJ"[number % 10]
        yield (
            f"{letters}-{number % 10_000:04}"
            if number % 2
            else f"{letters}{number % 10}{middle}{number % 100:02}"
        )


@pytest.mark.parametrize(
    ("kind", "made"),
    [
        ("masked CPF", (f"***.{n % 1000:03}.{n // 1000 % 1000:03}-**" for n in DIGITS)),
        ("RG", (f"{n % 100:02}.{n // 100 % 1000:03}.{n // 10**5 % 1000:03}-X" for n in DIGITS)),
        ("DNI/NIE", (f"{n % 10**8:08}{LETTERS[n % 23]}" for n in DIGITS)),
        ("NIR", (f"1{n % 100:02}05{n // 100 % 10**8:08}{n // 10**10 % 97:02}" for n in DIGITS)),
        ("Steuer-ID", (f"{n % 10**11:011}" for n in DIGITS)),
        ("RUT", (f"{n % 10**8}-{n // 10**8 % 10}" for n in DIGITS)),
        ("título de eleitor", (f"{n % 10**8:08}{n // 10**8 % 10**4:04}" for n in DIGITS)),
        ("IBAN", (f"DE{n % 100:02}{n:018}" for n in DIGITS)),
        ("card number", (f"4{n % 10**15:015}" for n in DIGITS)),
        ("IMEI", (f"35{n % 10**13:013}" for n in DIGITS)),
        ("phone number", (f"+49 30 {n % 10**6:06}" for n in DIGITS)),
        ("phone number", (f"06 {n % 90 + 10} {n // 90 % 90 + 10} 34 56" for n in DIGITS)),
        ("phone number", (f"212.555.{n % 10**4:04}" for n in DIGITS)),
        ("IP address", (f"187.{n % 256}.{n // 256 % 256}.{n // 65_536 % 256}" for n in DIGITS)),
        ("IP address", (f"2001:db8::{n % 65_536:x}" for n in DIGITS)),
        ("MAC address", (f"00:1a:{n % 256:02x}:{n // 256 % 256:02x}:00:01" for n in DIGITS)),
        ("licence plate", plates()),
        ("name or page on a social network", (f"@ana{n}" for n in DIGITS)),
        ("name or page on a social network", (f"http://lattes.cnpq.br/{n:016}" for n in DIGITS)),
    ],
)
def test_what_names_or_reaches_people_is_known_by_its_form(kind: str, made: Iterator[str]) -> None:
    values = checked(kind, made)
    assert len(values) == 40
    assert looks_of(values) == kind


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("DNI/NIE", "12345678Z"),
        ("DNI/NIE", "X1234567L"),
        ("NIR", "2 55 08 14 168 025 38"),
        ("Steuer-ID", "86095742719"),
        ("CURP", "HEGG560427MVZRRL04"),
        ("RUT", "12.345.678-5"),
        ("título de eleitor", "102385010671"),
        ("IBAN", "GB82 WEST 1234 5698 7654 32"),
        ("IBAN", "BR9700360305000010009795493P1"),
        ("card number", "4111 1111 1111 1111"),
        ("card number", "378282246310005"),
        ("IMEI", "490154203237518"),
    ],
)
def test_published_examples_have_their_check_digits_and_their_neighbours_do_not(
    kind: str, value: str
) -> None:
    """The examples are the ones that are shown wherever these numbers are explained."""
    pattern, is_right = DIRECT[kind]
    assert re.fullmatch(pattern, value)
    assert is_right(value)
    place = next(place for place in range(len(value) - 3, 0, -1) if value[place].isdigit())
    other = value[:place] + str((int(value[place]) + 1) % 10) + value[place + 1 :]
    assert not is_right(other)


@pytest.mark.parametrize(
    "made",
    [
        (f"{n % 10**5:05}-{n // 10**5 % 1000:03}" for n in DIGITS),  # CEP
        (f"{n % 10**5:05}" for n in DIGITS),  # ZIP, PLZ
        (f"{n % 10**5:05}-{n // 10**5 % 10**4:04}" for n in DIGITS),  # ZIP+4
        (f"{LETTERS[n % 24]}{n // 24 % 100:02}.{n // 2400 % 10}" for n in DIGITS),  # ICD-10
        (f"{n % 42 + 11}{n // 42 % 10**5:05}" for n in DIGITS),  # IBGE
        (f"{n % 200 + 1850}-{n // 200 % 12 + 1:02}-{n // 2400 % 28 + 1:02}" for n in DIGITS),
        (f"{n // 2400 % 28 + 1:02}/{n // 200 % 12 + 1:02}/{n % 200 + 1850}" for n in DIGITS),
        (f"{n // 2400 % 28 + 1:02}{n // 200 % 12 + 1:02}{n % 200 + 1850}" for n in DIGITS),
        (f"{n % 24:02}:{n // 24 % 60:02}:{n // 1440 % 60:02}" for n in DIGITS),
        (f"{n % 99 + 1}.{n // 99 % 1000:03}.{n // 99_000 % 1000:03}" for n in DIGITS),
        (f"{n % 1000}.{n // 1000 % 1000:03},{n // 10**6 % 100:02}" for n in DIGITS),
        (f"+{n % 100}.{n // 100 % 10**7:07}" for n in DIGITS),
        (str(n % 110) for n in DIGITS),
        (str(n % 100 + 1920) for n in DIGITS),
        (f"{n % 4 + 3}.{n // 4 % 5 + 1}.90.{n // 20 % 90 + 10}" for n in DIGITS),  # expenses
        (f"0{n % 8 + 1}0{n // 8 % 9 + 1}{n // 72 % 10**6:06}" for n in DIGITS),  # procedures
        (f"{n % 10**4:04}-{n // 10**4 % 100:02}" for n in DIGITS),  # CBO
        (f"{n % 10**7:07}-{n % 97:02}.2023.8.26.{n // 10**7 % 10**4:04}" for n in DIGITS),
        (f"789{n % 10**10:010}" for n in DIGITS),  # EAN
        (f"{n:016}" for n in DIGITS),
        (f"{n % 10**15:015}" for n in DIGITS),
        (f"{n % 10**12:012}" for n in DIGITS),
        (f"{n % 10**11:011}" for n in DIGITS),
        (f"PRJ-{n % 10**4:04}" for n in DIGITS),
        (f"{n % 10**8:08}{LETTERS[n // 10**8 % 24]}" for n in DIGITS),
        (f"NUTS {LETTERS[n % 24]}{n % 1000:03}" for n in DIGITS),
        (f"{n % 100:02}-{n // 100 % 100:02}-{n // 10**4 % 100:02}-11-12-13" for n in DIGITS),
    ],
)
def test_ordinary_codes_dates_and_amounts_name_nobody(made: Iterator[str]) -> None:
    values = list(dict.fromkeys(islice(made, 400)))
    assert looks_of(values) == ""
    for start in range(0, len(values) - 9, 9):  # of a few values, too
        assert looks_of(values[start : start + 9]) == ""


def test_coordinates_can_be_known_and_a_uuid_is_an_identifier_that_names_nobody() -> None:
    places = [f"-19.{n % 10**5:05}, -43.{n // 10**5 % 10**5:05}" for n in DIGITS[:30]]
    numbers = [str(UUID(int=n * 10**16 + n)) for n in DIGITS[:30]]
    where, who = profile(read(pa.table({"v": places * 3, "w": numbers * 3})))
    assert (where.role, where.looks_like) == (Role.QUASI_IDENTIFIER, "")
    assert (who.role, who.looks_like, who.is_direct) == (Role.IDENTIFIER, "", False)
    assert where.reason == "its values are written as: geographic coordinates"
