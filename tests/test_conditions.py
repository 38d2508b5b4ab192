"""The language of conditions: what each form says, which values meet it, and what is refused."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.conditions import as_bound, facts_of
from glasshouse.errors import StudyError
from glasshouse.study import Condition, parse_condition


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("age=34", ("34",)),
        ("state=SP,RJ", ("SP", "RJ")),
        ("state= SP , RJ ", ("SP", "RJ")),
        ('name="Silva, Ana",Rui', ("Silva, Ana", "Rui")),
        ('state=" SP "', (" SP ",)),
        ('said="""yes"""', ('"yes"',)),
        ('pipe=6" wide', ('6" wide',)),
        ("state=", ("",)),
        ("state=SP,", ("SP", "")),
        ('range="18..65"', ("18..65",)),
        ("dots=..", ("..",)),
        ("formula=a=b", ("a=b",)),
        ("@D2=absent", ("absent",)),
    ],
)
def test_values_are_read_as_written(text: str, values: tuple[str, ...]) -> None:
    condition = parse_condition(text)
    assert condition.values == values
    assert not condition.is_interval
    assert not condition.negated
    assert condition.column == text.partition("=")[0]


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("age=18..65", Decimal(18), Decimal(65)),
        ("age= 18 .. 65 ", Decimal(18), Decimal(65)),
        ("age=65..", Decimal(65), None),
        ("age=..17", None, Decimal(17)),
        ("height=-1.5..+.5", Decimal("-1.5"), Decimal("0.5")),
        ("born=2000-01-01..2000-12-31", date(2000, 1, 1), date(2000, 12, 31)),
        ("age=34..34", Decimal(34), Decimal(34)),
    ],
)
def test_intervals_have_ends(text: str, low: object, high: object) -> None:
    condition = parse_condition(text)
    assert condition.is_interval
    assert (condition.low, condition.high) == (low, high)


@pytest.mark.parametrize(
    ("text", "met", "not_met"),
    [
        ("age=34", ["34"], ["034", "34.0", " 34", "35", ""]),
        ("state!=SP,RJ", ["MG", "sp", ""], ["SP", "RJ"]),
        ("state=", [""], ["SP", " "]),
        (
            "age=18..65",
            ["18", "65", "40.5", "018", "6.5e1"],
            ["17.99", "65.01", "", "forty", "1_9"],
        ),
        ("age!=18..65", ["17", "66", "", "forty"], ["18", "65"]),
        ("age=65..", ["65", "1e30"], ["64.999", "inf", "nan", "2000-01-01"]),
        ("born=2000-01-01..", ["2000-01-01", "2024-02-29"], ["1999-12-31", "2001", "2023-02-29"]),
    ],
)
def test_values_meet_it_or_not(text: str, met: list[str], not_met: list[str]) -> None:
    condition = parse_condition(text)
    assert all(condition.holds(value) for value in met)
    assert not any(condition.holds(value) for value in not_met)


@pytest.mark.parametrize("text", ["age", "", "=34", "!=34"])
def test_what_is_no_condition_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(StudyError, match=r"--know .* is not of the form COLUMN=VALUE"):
        parse_condition(text, option="--know")


@pytest.mark.parametrize(
    "text", ["age=65..18", "age=young..old", "age=1..2000-01-01", "born=2000-02-30..", "a=b..c,d"]
)
def test_an_interval_lies_between_two_numbers_or_two_dates(text: str) -> None:
    with pytest.raises(StudyError, match="an interval lies between two numbers or two dates"):
        parse_condition(text)


@pytest.mark.parametrize("text", ['a="b', 'a="b"c', 'a=x,"y', 'a="b""'])
def test_a_quotation_mark_must_be_closed(text: str) -> None:
    with pytest.raises(StudyError, match="a value in quotation marks ends with one"):
        parse_condition(text)


def test_a_condition_says_values_or_an_interval_and_not_both_or_neither() -> None:
    for values, low in (((), None), (("1",), Decimal(1))):
        with pytest.raises(StudyError, match='"age" needs either values or the ends'):
            Condition("age", values=values, low=low)


@given(st.lists(st.text(), min_size=1))
def test_any_values_can_be_said_in_quotation_marks(values: list[str]) -> None:
    said = ",".join('"' + value.replace('"', '""') + '"' for value in values)
    assert parse_condition(f"column={said}").values == tuple(values)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3), st.data())
def test_numbers_are_compared_exactly(low: Decimal, data: st.DataObject) -> None:
    value = data.draw(st.decimals(allow_nan=False, allow_infinity=False, places=3))
    condition = Condition("x", low=low)
    assert condition.holds(f"{value:f}") == (value >= low)


@pytest.mark.parametrize(
    "text", ["", "SP", "1_000", "٣٤", "nan", "-inf", "0x1F", "2000-13-01", "1 000"]
)
def test_what_is_neither_number_nor_date_is_no_bound(text: str) -> None:
    assert as_bound(text) is None


@pytest.mark.parametrize(
    ("text", "column", "low", "high", "exclusive"),
    [
        ("age>=65", "age", Decimal(65), None, False),
        ("age <= 17", "age", None, Decimal(17), False),
        ("age>65", "age", Decimal(65), None, True),
        ("born < 2000-01-01", "born", None, date(2000, 1, 1), True),
        ("net income >= -1.5", "net income", Decimal("-1.5"), None, False),
    ],
)
def test_a_comparison_is_an_interval_with_one_end(
    text: str, column: str, low: object, high: object, exclusive: bool
) -> None:
    condition = parse_condition(text)
    assert (condition.column, condition.low, condition.high) == (column, low, high)
    assert condition.exclusive == exclusive
    assert not condition.negated


@given(value=st.decimals(-9, 9, places=1), end=st.decimals(-9, 9, places=1))
def test_a_comparison_holds_for_the_numbers_that_it_says(value: Decimal, end: Decimal) -> None:
    assert parse_condition(f"x>={end}").holds(str(value)) == (value >= end)
    assert parse_condition(f"x<={end}").holds(str(value)) == (value <= end)
    assert parse_condition(f"x>{end}").holds(str(value)) == (value > end)
    assert parse_condition(f"x<{end}").holds(str(value)) == (value < end)
    assert not parse_condition(f"x<{end}").holds("SP")
    assert not parse_condition(f"x<{end}").holds("")


@pytest.mark.parametrize(
    ("text", "column", "values"),
    [
        ("income>50K=yes", "income>50K", ("yes",)),
        ("a<b=c", "a<b", ("c",)),
        ("x=>5", "x", (">5",)),
        ("x=a<b", "x", ("a<b",)),
        ("x=<1>", "x", ("<1>",)),
        ("x!=>=5", "x", (">=5",)),
    ],
)
def test_a_sign_in_a_name_or_a_value_is_no_comparison(
    text: str, column: str, values: tuple[str, ...]
) -> None:
    condition = parse_condition(text)
    assert (condition.column, condition.values) == (column, values)


@pytest.mark.parametrize("text", ["income>50K", "x>=SP", "x<01/03/2020", "x<2000-02-30"])
def test_a_comparison_with_what_is_no_number_or_iso_date_is_refused(text: str) -> None:
    with pytest.raises(StudyError, match="is a number, or a date such as 2000-12-31"):
        parse_condition(text)


@pytest.mark.parametrize(
    ("record", "facts"),
    [
        ("place=A", ("place=A",)),
        ("place=A,B", ("place=A,B",)),
        ("place=A,day=3", ("place=A", "day=3")),
        ("place=A, B , day = 3", ("place=A, B", "day = 3")),
        ("age>=65,day<3,sex!=F", ("age>=65", "day<3", "sex!=F")),
        ("age=18..65,place=", ("age=18..65", "place=")),
        ("income=<=50K,>50K,age=3", ("income=<=50K,>50K", "age=3")),
        ("income>50K=yes,a=b=c", ("income>50K=yes", "a=b=c")),
        ('place="A,day=3","B=",day=3', ('place="A,day=3","B="', "day=3")),
        ('tall=5",day=3', ('tall=5"', "day=3")),
        ('place="A,day=3', ('place="A,day=3',)),
        ("a,b=1,c=2", ("a,b=1", "c=2")),
        ("place", ("place",)),
    ],
)
def test_a_comma_before_a_column_begins_a_further_fact(record: str, facts: tuple[str, ...]) -> None:
    assert facts_of(record) == facts


@given(
    st.dictionaries(
        st.sampled_from(["a", "b c", "d"]),
        st.lists(st.text(max_size=6), min_size=1, max_size=3),
        min_size=1,
    )
)
def test_facts_with_values_in_quotation_marks_are_told_apart_whatever_these_are(
    values: dict[str, list[str]],
) -> None:
    written = {
        column: ",".join('"{}"'.format(value.replace('"', '""')) for value in several)
        for column, several in values.items()
    }
    facts = tuple(f"{column}={several}" for column, several in written.items())
    assert facts_of(",".join(facts)) == facts
    assert [parse_condition(fact).values for fact in facts] == [*map(tuple, values.values())]
