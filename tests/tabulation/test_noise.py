"""Noise in published counts: what it lets somebody learn, and the windows that a bounded noise leaves."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp
from pathlib import Path
from typing import Any

import pytest

import glasshouse as gh
from glasshouse import qif
from glasshouse.errors import GlasshouseError
from glasshouse.study.tables import CountNoise, TablesStudy
from glasshouse.tabulation import noise_exposure, published
from glasshouse.tabulation.layout import perturbation_of, with_rows
from glasshouse.tabulation.solution import cell_bounds

HALF, HUNDREDTH = Fraction(1, 2), Fraction(1, 100)
# "Introduction to the ptable-Package", D = 2, V = 1, as it prints the data frame.
PRINTED = [
    (0, 0, "1"),
    *((1, 0, "0.3665"), (1, 1, "0.3665"), (1, 2, "0.1676"), (1, 3, "0.0995")),
    *((2, 0, "0.0638"), (2, 1, "0.2448"), (2, 2, "0.3828"), (2, 3, "0.2448"), (2, 4, "0.0638")),
]
# D = 1 without bias: what a count of 1 or more becomes by chance.
COIN = [(0, 0, "1"), (1, 0, "1/4"), (1, 1, "1/2"), (1, 2, "1/4")]


def plan(*noises: Any, rows: Any = (("F", 3), ("M", 7)), **entries: Any) -> dict[str, Any]:
    return {
        "people": 10,
        "attributes": {"sex": {"values": ["F", "M"]}},
        "tables": [{"by": ["sex"], "rows": rows, "noise": noise} for noise in noises],
        **entries,
    }


def exposure(*noises: Any, **more: Any) -> Any:
    return noise_exposure(with_rows(TablesStudy.model_validate(plan(*noises, **more))))


def test_figures_of_noise_are_those_of_its_channel_in_fractions() -> None:
    noise = exposure("geometric:ratio=1/2")
    told = noise.together
    assert told.is_exact
    assert not told.leaves_out
    assert told.beliefs[Fraction(1, 10)] == (Fraction(1, 19), Fraction(2, 11))
    assert told.beliefs[HUNDREDTH] == (Fraction(1, 199), Fraction(2, 101))
    assert told.right == Fraction(2, 3)
    assert told.certain == told.convinced == 0
    # Who knows that she is in one of two cells has two bits: as by the cells of a table in qif.
    between = noise.between_cells
    assert between.beliefs[HUNDREDTH] == (Fraction(1, 397), Fraction(4, 103))
    bits = qif.membership(qif.geometric([0, 1], HALF), 0)
    cells = qif.histogram(["F", "M"], bits)
    assert between.right == qif.BayesVulnerability().posterior(qif.Prior.uniform("FM"), cells)
    three = exposure(*["geometric:ratio=1/2"] * 3)
    assert three.counts == 3
    assert three.together.right == Fraction(20, 27)
    assert three.together.beliefs[HUNDREDTH][1] == Fraction(8, 107)
    # 99 odds to 1 are overcome by seven doublings, and not by six; of two cells by four tables, and not by three.
    assert exposure(*["geometric:ratio=1/2"] * 6).together.convinced == 0
    assert three.worst.convinced == 0
    assert exposure(*["geometric:ratio=1/2"] * 4).worst.convinced > 0
    assert exposure(*["geometric:ratio=1/2"] * 7).together.convinced == Fraction(2, 3) ** 7


def test_gaussian_counts_are_told_by_their_sum_and_leave_out_the_rarest() -> None:
    one = exposure("gaussian:sigma=2").together
    assert one.right == pytest.approx(0.5997355701003584, abs=1e-12)
    assert one.leaves_out
    assert float(one.beliefs[HUNDREDTH][1]) < 0.1
    two = exposure("gaussian:sigma=2", "gaussian:sigma=2").together
    prior = qif.Prior.uniform(["out", "in"])
    single = qif.membership(qif.discrete_gaussian([0, 1], 2), 0)
    both = qif.BayesVulnerability().posterior(prior, single.repeated(2))
    assert two.right == pytest.approx(float(both), abs=1e-9)
    assert exposure("gaussian:rho=0.125").together.right == pytest.approx(float(one.right))
    assert exposure("gaussian:sigma=2").between_cells.right == pytest.approx(float(both), abs=1e-9)
    many = gh.tables(study=plan("gaussian:sigma=90", "gaussian:sigma=91"))
    assert many.outcome.noise is not None
    assert many.outcome.noise.together is None
    assert {one.measure: one.value for one in many.measures}[
        "noise"
    ] == 1  # what is not known is not judged small


def test_a_perturbation_table_is_read_in_the_forms_of_ptable(tmp_path: Path) -> None:
    argus, sas, frame, split = (
        tmp_path / f"{name}.txt" for name in ("argus", "sas", "frame", "split")
    )
    argus.write_text(
        "i;j;p;v;p_int_ub\n" + "".join(f"{i};{j};{p};{j - i};0\n" for i, j, p in PRINTED)
    )
    frame.write_text(
        '"i","j","p","v","type"\n' + "".join(f'{i},{j},{p},{j - i},"all"\n' for i, j, p in PRINTED)
    )
    ends, lines = dict.fromkeys(range(3), Fraction(0)), []
    for i, j, p in PRINTED:
        start = ends[i]
        ends[i] += Fraction(p)
        lines.append(f"{i};{j - i};{float(start):.4f};{float(ends[i]):.4f}\n")
    sas.write_text("i;v;p_int_lb;p_int_ub\n" + "".join(lines))
    split.write_text("i;j;p\n0;0;1\n1;0;.25\n1;1;.2\n1;2;.25\n1;1;3e-01\n")
    noise = perturbation_of(argus)
    assert perturbation_of(frame).chances == noise.chances == perturbation_of(sas).chances
    coin = CountNoise.model_validate({"law": "table", "rows": COIN})
    assert perturbation_of(split).chances == coin.chances
    for true, shown, chance in PRINTED:
        assert noise.chances[true][shown] == pytest.approx(float(chance), abs=5e-5)
    assert all(sum(row.values()) == 1 for row in noise.chances.values())


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("i;j;p\n0;0;1\n1;0;0.5\n1;1;0.4\n", "a true count of 1 add up to 0.9, not to 1"),
        ("i;j;p\n0;0;1\n2;2;1\n", "1 has none"),
        ("i;j;p\n0;0;one\n", "chances from 0 to 1 in p"),
        ("i;j;p\n0;0;-1\n", "chances from 0 to 1 in p"),
        ("i;j;p\n0;0.5;1\n", "whole numbers in i and j"),
        ("i;p\n0;1\n", "has the columns"),
        ("i;j;p;type\n0;0;1;even\n", "for amounts"),
    ],
)
def test_a_perturbation_table_that_is_none_is_refused(
    tmp_path: Path, lines: str, reason: str
) -> None:
    path = tmp_path / "ptable.txt"
    path.write_text(lines)
    with pytest.raises(GlasshouseError) as refused:
        perturbation_of(path)
    assert reason in str(refused.value)
    assert str(refused.value).startswith("ptable.txt: ")
    assert "\n" not in str(refused.value)


def test_bounded_noise_makes_certain_at_its_edges_as_often_as_its_channel_says() -> None:
    noise = CountNoise.model_validate({"law": "table", "rows": COIN})
    told = exposure(noise.model_dump(), rows=[["F", 0], ["M", 7]])
    by_others = {one.others: one for one in told.tables[0].by_others}
    assert set(by_others) == {0, None}
    # Nobody else is in it: whatever is not 0 makes certain, which is 3/4. Else only the edge does.
    assert by_others[0].certain == by_others[0].convinced == Fraction(3, 4)
    assert by_others[None].certain == Fraction(1, 4)
    assert told.member.others == 0
    assert told.between_cells.certain == 1 - Fraction(1, 4) * Fraction(3, 4)
    channel = qif.membership(qif.perturbation_table([0, 1], noise.chances), 0)
    prior = qif.Prior([1 - HUNDREDTH, HUNDREDTH], ["out", "in"])
    assert by_others[0].beliefs[HUNDREDTH] == qif.belief_range(prior, channel, "in")
    # A table without small counts has no count that nobody else can be in.
    many = exposure(noise.model_dump(), rows=[["F", 5], ["M", 7]])
    assert [one.others for one in many.tables[0].by_others] == [None]


def test_bounded_noise_is_a_window_and_what_follows_is_what_trying_every_file_finds() -> None:
    rows = {
        (sex, ill): count
        for (sex, ill), count in zip(product("FM", "yn"), (0, 2, 1, 3), strict=True)
    }
    content = {
        "people": 5,
        "attributes": {"sex": {"values": ["F", "M"]}, "ill": {"values": ["y", "n"]}},
        "tables": [
            {
                "by": ["sex", "ill"],
                "rows": [[*key, count] for key, count in rows.items()],
                "noise": {"law": "table", "rows": COIN},
            },
            {"by": ["sex"], "rows": [["F", 1], ["M", 4]]},
        ],
    }
    study = TablesStudy.model_validate(content)
    bounds = cell_bounds(published(study))
    reach = ((0, 1), (1, 3), (1, 2), (2, 4))
    files = [
        counts
        for counts in product(range(6), repeat=4)
        if sum(counts) == 5
        and counts[0] + counts[1] == 1
        and all(low <= n <= high for n, (low, high) in zip(counts, reach, strict=True))
    ]
    least = [min(column) for column in zip(*files, strict=True)]
    most = [max(column) for column in zip(*files, strict=True)]
    assert bounds.least.tolist() == least
    assert bounds.most.tolist() == most
    assert least == [0, 1, 1, 2]  # so that four people are certain, noise or not


def test_totals_of_a_table_are_counts_that_show_a_person_too(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("sex,ill,n\nF,y,1\nF,n,2\nM,y,3\nM,n,-1\nF,total,2\nM,total,4\ntotal,total,9\n")
    run = gh.tables(path, noise="geometric:epsilon=0.5", totals="everything", people=9)
    noise = run.outcome.noise
    assert noise is not None
    assert noise.counts == 3
    assert run.outcome.bounds.certain_persons == 0
    assert run.to_dict()["noise"]["together"]["beliefs"][0]["prior"] == 0.01
    frame = noise.to_frame().to_pylist()
    assert [row["table"] for row in frame] == ["counts", "together", "between_cells"]
    assert frame[1]["most_0.01"] == pytest.approx(1 / (1 + 99 * exp(-1.5)))
    measured = {one.measure: one.value for one in run.measures}
    assert measured["noise"] == noise.worst.convinced == 0


def test_clamping_is_told_to_the_channel() -> None:
    plain = exposure("geometric:ratio=1/2").together
    assert exposure("geometric:ratio=1/2,least=0").together.beliefs == plain.beliefs
    above = exposure("geometric:ratio=1/2,least=3").tables[0].by_others[0]
    assert above.others == 0
    # 3 or less against 4 and more, of 0 or 1: 1 − (1/2)^4 / (3/2), and 1 − (1/2)^3 / (3/2)
    assert above.beliefs[HALF] == (Fraction(22, 45), Fraction(2, 3))
    narrow = exposure("gaussian:sigma=1,least=0").tables[0].by_others
    assert [one.others for one in narrow] == [0, None]
    assert float(narrow[0].right) <= float(narrow[1].right)


@pytest.mark.parametrize(
    ("noise", "reason"),
    [
        ("geometric:epsilon=0", "a number above 0, not 0"),
        ("geometric:epsilon=-1", "a number above 0, not -1"),
        ("geometric:epsilon=much", "'much' is not a number"),
        ("geometric:ratio=3/2", "below 1, not 3/2"),
        ("geometric:epsilon=1000", "as good as no noise"),
        ("geometric:epsilon=1e999999999", "is not a number"),
        ("geometric:epsilon=nan", "is not a number"),
        ("gaussian:sigma=1e9", "a σ from 0.01 to 1,000"),
        ("gaussian:rho=1/1000000000000", "a σ from 0.01 to 1,000"),
        ("geometric", "give one of them, as in geometric:epsilon=1"),
        ("geometric:epsilon=1,sigma=2", "give one of them"),
        ("laplace:epsilon=1", "is not a noise"),
        ({"law": "table", "rows": COIN, "least": 0}, "leave out least"),
        ({"law": "table", "rows": [(0, 0, "1"), (1, 2, "1")]}, "1 cannot come out"),
    ],
)
def test_noise_that_makes_no_sense_is_one_line(noise: Any, reason: str) -> None:
    with pytest.raises(GlasshouseError) as refused:
        gh.tables(study=plan(noise, rows=[["F", 1], ["M", 2]]))
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_plan_names_a_perturbation_table_beside_it(tmp_path: Path) -> None:
    (tmp_path / "coin.txt").write_text("i;j;p\n0;0;1\n1;0;.25\n1;1;.5\n1;2;.25\n")
    (tmp_path / "plan.toml").write_text(
        'command = "tables"\npeople = 3\n[attributes.sex]\nvalues = ["F", "M"]\n'
        '[[tables]]\nby = ["sex"]\nrows = [["F", 1], ["M", 2]]\nnoise = "coin.txt"\n'
    )
    outcome = gh.tables(study=tmp_path / "plan.toml").outcome
    assert outcome.noise is not None
    assert outcome.noise.together is not None
    assert outcome.noise.together.certain == Fraction(3, 4)
    assert outcome.bounds.least.tolist() == [1, 1]
    assert outcome.bounds.most.tolist() == [2, 2]


def test_noise_without_a_bound_needs_the_number_of_people() -> None:
    content = plan("geometric:epsilon=1")
    del content["people"]
    with pytest.raises(GlasshouseError, match="say so with `people`"):
        gh.tables(study=content)


def test_random_rounding_is_chances_and_a_window() -> None:
    noise = exposure("rounding:base=3", rows=(("F", 3), ("M", 6)))
    [table] = noise.tables
    assert [one.others for one in table.by_others] == [0, 1, 2]
    for one in table.by_others:
        channel = qif.membership(qif.rounding([one.others, one.others + 1], 3), one.others)
        uniform = qif.Prior.uniform(["out", "in"])
        assert one.right == qif.BayesVulnerability().posterior(uniform, channel)
    # Of nobody else, a published 3 is hers: it happens in one of three cases. Of two others 3 is sure if she is in.
    assert [one.certain for one in table.by_others] == [Fraction(1, 3), 0, 0]
    assert table.by_others[1].beliefs[HALF] == (Fraction(1, 3), Fraction(2, 3))
    assert table.by_others[2].beliefs[HALF] == (0, Fraction(3, 5))
    assert noise.together.certain == Fraction(1, 3)
    study = TablesStudy.model_validate(plan("rounding:base=3", rows=(("F", 3), ("M", 6))))
    # Three is one to five and six is four to eight, of ten people: two to five, and five to eight.
    bounds = cell_bounds(published(with_rows(study)))
    assert (bounds.least.tolist(), bounds.most.tolist()) == ([2, 5], [5, 8])


@pytest.mark.parametrize(
    ("noise", "reason"),
    [
        ("rounding:base=1", "greater than or equal to 2"),
        ("rounding:base=3,least=0", "leave out least"),
        ("rounding", "rounding noise is described by base"),
        ("rounding:base=5", "6 is not a multiple of 5"),
    ],
)
def test_random_rounding_that_makes_no_sense_is_one_line(noise: str, reason: str) -> None:
    with pytest.raises((GlasshouseError, ValueError), match=reason):
        exposure(noise, rows=(("F", 5), ("M", 6)))
