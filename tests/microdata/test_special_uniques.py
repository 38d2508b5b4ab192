"""Special uniques against a plain loop, and against the test values of sdcMicro and ARX."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.errors import BudgetError, StudyError
from glasshouse.microdata.special_uniques import (
    SpecialUniques,
    dis_scores,
    elliot_scores,
    find_special_uniques,
)
from glasshouse.table import read
from tests.conftest import Glasshouse
from tests.examples import examples

GUIDE = {
    "Residence": "Urban Urban Urban Urban Rural Urban Urban Urban Urban Urban".split(),
    "Gender": "Female Female Female Male Female Male Female Male Female Female".split(),
    "Education": "si si pi sc sc sc pc ps si si".split(),
    "Labor": "Employed Employed Non-LF Employed Unemployed Employed Non-LF Unemployed Non-LF Non-LF".split(),
}
"""The ten records of the IHSN's practice guide; schooling by its initials."""


def uniques_of(
    columns: dict[str, list[str]], *, largest: int | None = None, missing_is_no_item: bool = False
) -> SpecialUniques:
    return find_special_uniques(
        read(pa.table(columns), quasi_identifiers=list(columns)),
        largest=largest,
        missing_is_no_item=missing_is_no_item,
    )


def plainly(
    rows: list[tuple[str, ...]], largest: int, *, without: str | None = None
) -> list[list[tuple[int, ...]]]:
    """Return the minimal sample uniques of every record: with each set, count what records say.

    A set holds no value that is `without`, and records that have it there are not counted.
    """
    minimal: list[list[tuple[int, ...]]] = [[] for _ in rows]
    for size in range(1, largest + 1):
        for some in combinations(range(len(rows[0])), size):
            keys = [tuple(row[place] for place in some) for row in rows]
            tally = Counter(keys)
            for record, key in enumerate(keys):
                is_told = without not in key
                if (
                    is_told
                    and tally[key] == 1
                    and not any(set(one) < set(some) for one in minimal[record])
                ):
                    minimal[record].append(some)
    return minimal


def test_random_tables_give_what_a_plain_loop_gives() -> None:
    dice = random.Random(11)
    for _ in range(examples(600)):
        attributes, values = dice.randint(1, 6), dice.randint(1, 5)
        rows = [
            tuple(str(dice.randrange(values)) for _ in range(attributes))
            for _ in range(dice.randint(1, 25))
        ]
        largest, is_no_item = dice.randint(1, attributes), dice.random() < 0.5
        rows = [tuple("" if value == "0" else value for value in row) for row in rows]
        names = [f"q{place}" for place in range(attributes)]
        columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
        scored = uniques_of(columns, largest=largest, missing_is_no_item=is_no_item)
        weights = elliot_scores(attributes, largest)
        for record, minimal in enumerate(
            plainly(rows, largest, without="" if is_no_item else None)
        ):
            sizes = Counter(map(len, minimal))
            assert scored.counts[:, record].tolist() == [
                sizes[size] for size in range(1, largest + 1)
            ]
            for place in range(attributes):
                held = [weights[len(some) - 1] for some in minimal if place in some]
                assert scored.contributions[place, record] == sum(held)
        for name in names:
            assert sum(scored.by_value[name].values()) == (
                scored.contributions[names.index(name)].sum()
            )


def test_scores_are_those_of_the_guide() -> None:
    """sdcMicro, tests/testthat/test_suda2.R, "suda2 sdc guideline" and "suda2 book example"."""
    assert uniques_of(GUIDE).scores.tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    book = {
        "age": ["20s"] * 7 + ["60s"],
        "gender": ["male"] * 4 + ["female"] * 3 + ["male"],
        "income": ["50k+"] * 2 + ["50k-"] * 6,
        "education": ["high"] * 4 + ["university", "high", "middle", "university"],
    }
    assert uniques_of(book).scores.tolist()[4:] == [4, 2, 6, 8]


@pytest.mark.parametrize("order", ["abc", "acb", "cab", "cba"])
def test_contributions_are_those_of_sdcmicro_in_any_order_of_the_columns(order: str) -> None:
    """sdcMicro, tests/testthat/test_suda2.R, "suda2 simple example contrubtion" 1 to 4."""
    columns = {"a": ["2", "1", "1"], "b": ["0", "3", "0"], "c": ["0", "6", "0"]}
    shares = uniques_of({name: columns[name] for name in order}).shares
    assert shares == {"a": 0.5, "b": 0.375, "c": 0.375}


def test_dis_suda_is_that_of_arx() -> None:
    """The test of SUDA2 for Java, which ARX uses, for DIS scores: scores by the IHSN, five uniques, six in pairs."""
    scores = np.array([7, 0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0])
    expected = [0.028038903, 0, 0, 0.005435918, 0, 0.011357785, 0, 0.005435918, 0.009313862, 0, 0]
    found = dis_scores(scores, alone=5, pairs=6, attributes=4, fraction=0.01)
    assert found.tolist() == pytest.approx(expected, rel=1e-6)


def test_the_scores_of_the_ihsn_are_those_that_sdcmicro_had() -> None:
    scored = uniques_of(GUIDE)
    assert scored.ihsn_scores.tolist() == [0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0]
    assert scored.smallest.tolist() == [0, 0, 1, 0, 1, 0, 1, 1, 0, 0]
    assert (scored.alone, scored.pairs) == (4, 6)


def test_the_guide_shows_one_score_and_takes_another_for_dis_suda() -> None:
    """IHSN, SDC for Microdata: A Practice Guide, table 4.5: its DIS-SUDA scores are made of the older scores."""
    scored = uniques_of(GUIDE)
    older = dis_scores(scored.ihsn_scores, alone=4, pairs=6, attributes=4, fraction=0.01)
    assert older.round(4).tolist() == [0, 0, 0.0051, 0, 0.0107, 0, 0.0051, 0.0088, 0, 0]
    assert scored.dis_scores.round(4).tolist() == [0, 0, 0.005, 0, 0.0114, 0, 0.005, 0.0092, 0, 0]


def test_where_missing_matches_it_is_no_item_as_in_sdcmicro(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    """sdcMicro, src/Suda2.h: "If missing Value, ignore item"; R/suda2.R makes NA the missing value.

    The first record is alone with a = 1, though the second, which does not tell it, may have that value, too: a
    frequency of 2. Where missing is a value, the second is alone with it.
    """
    columns = {"a": ["1", "", "2", "2"], "b": ["1", "1", "1", "1"], "c": ["1", "1", "2", "2"]}
    assert uniques_of(columns, missing_is_no_item=True).scores.tolist() == [2, 0, 0, 0]
    assert uniques_of(columns).scores.tolist() == [2, 2, 0, 0]
    path, each = tmp_path / "four.csv", tmp_path / "each.parquet"
    rows = map(",".join, zip(*columns.values(), strict=True))
    path.write_text("\n".join(["a,b,c", *rows]) + "\n", encoding="utf-8")
    asked = ("assess", path, "-q", "a", "-q", "b", "-q", "c", "--suda", "0.01")
    told = glasshouse(*asked, "--missing-as", "matches", "--per-record", each)
    assert told.code == 0, told.error
    frame = pq.read_table(each)
    assert frame["suda"].to_pylist() == [2, 0, 0, 0]
    assert frame["size"].to_pylist() == [2, 2, 2, 2]


def test_a_record_alone_has_every_attribute_and_too_many_are_said() -> None:
    assert uniques_of({"a": ["1"], "b": ["2"]}).scores.tolist() == [2]
    with pytest.raises(BudgetError, match="at most 16 quasi-identifiers"):
        uniques_of({f"q{place}": ["1"] for place in range(17)})
    with pytest.raises(StudyError, match="above 0 and at most 1"):
        find_special_uniques(read(pa.table({"a": ["1"]}), quasi_identifiers=["a"]), fraction=0)


def test_an_assessment_tells_them_in_both_languages_and_of_each_record(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    path, each = tmp_path / "guide.csv", tmp_path / "each.parquet"
    lines = [",".join(GUIDE), *map(",".join, zip(*GUIDE.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    known = [word for name in GUIDE for word in ("-q", name)]
    asked = ("assess", path, *known, "--suda", "0.01")
    told = json.loads(glasshouse(*asked, "--per-record", each, "--json").out)["suda"]
    assert told["msus_by_size"] == [4, 5, 0, 0]
    assert told["records_by_smallest_msu"] == [4, 0, 0, 0]
    assert told["dis_suda"]["records"][:2] == [6, 4]
    assert pq.read_table(each)["suda"].to_pylist()[4] == 12
    run = gh.assess(path, quasi_identifiers=list(GUIDE), suda=0.01, per_record=True)
    assert run.per_record is not None
    assert run.per_record["suda"].to_pylist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    assert "(SUDA)" in glasshouse(*asked).out
    assert "Parte de todas as pontuações" in glasshouse(*asked, "--lang", "pt").out
    plain = gh.assess(path, quasi_identifiers=list(GUIDE))
    assert plain.to_dict()["results"] == run.to_dict()["results"]
    refused = glasshouse("assess", path, *known, "--suda", "1.5")
    assert refused.code == 2
