"""``glasshouse protect --noise`` and ``tables --noise``: what is drawn, kept, shown and refused."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from fractions import Fraction
from importlib.util import find_spec
from math import exp
from pathlib import Path
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.errors import GlasshouseError
from glasshouse.mitigation.noisy_counts import noisy_counts
from glasshouse.runs.noisy_release import release_file
from glasshouse.study.tables import CountNoise
from tests.conftest import Glasshouse

needs_opendp = pytest.mark.skipif(
    find_spec("opendp") is None, reason="OpenDP is not installed: pip install 'glasshouse[opendp]'"
)
COIN = "i;j;p\n0;0;1\n1;0;0.25\n1;1;0.5\n1;2;0.25\n"


@pytest.fixture
def wards(tmp_path: Path) -> Path:
    path = tmp_path / "wards.csv"
    path.write_text("ward,ill,people\nnorth,yes,3\nnorth,no,41\nsouth,no,56\n")
    (tmp_path / "coin.txt").write_text(COIN)
    return path


def test_noise_is_added_kept_with_its_hash_and_assessed(
    glasshouse: Glasshouse, wards: Path, tmp_path: Path
) -> None:
    out = tmp_path / "noisy"
    coin = str(tmp_path / "coin.txt")
    done = glasshouse("protect", str(wards), "--noise", coin, "-s", "ill", "--out", str(out))
    assert done.code == 0
    assert str(out / "release.csv") in done.out
    with (out / "release.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["ward", "ill", "count"]
    noisy = {(ward, ill): int(count) for ward, ill, count in rows}
    assert noisy["south", "yes"] == 0  # which the file leaves out: a true zero, and stays one
    true = {("north", "yes"): 3, ("north", "no"): 41, ("south", "no"): 56}
    assert all(abs(noisy[key] - count) <= 1 for key, count in true.items())
    manifest = json.loads((out / "manifest.json").read_text())
    content = (out / "release.csv").read_bytes()
    assert manifest["sha256"] == hashlib.sha256(content).hexdigest()
    again = glasshouse("tables", "--study", str(out / "study.toml"), "--json")
    assert again.code == 0
    assert "wards.csv" not in (out / "study.toml").read_text()
    assert json.loads(again.out)["noise"]["together"]["certain"] == 0.75
    assert done.out.startswith("• Someone who thought 1 in 100 that a person is in a count")


def test_a_count_that_never_comes_out_may_still_be_true(
    glasshouse: Glasshouse, wards: Path, tmp_path: Path
) -> None:
    # ptable's D = 2, V = 1.08 without ones: 1 becomes 0, 2 or 3.
    blocked = "1;0;0.51333333\n1;2;0.46\n1;3;0.02666667\n2;0;0.25\n2;2;0.5\n2;4;0.25\n"
    (tmp_path / "blocked.txt").write_text("i;j;p\n0;0;1\n" + blocked)
    wards.write_text("ward,people\nnorth,1\nsouth,1\neast,40\n")
    out = tmp_path / "noisy"
    noise = str(tmp_path / "blocked.txt")
    assert glasshouse("protect", str(wards), "--noise", noise, "--out", str(out)).code == 0
    with (out / "release.csv").open(newline="") as file:
        north, south, east = (int(row[-1]) for row in list(csv.reader(file))[1:])
    assert {north, south} <= {0, 2, 3}
    assert east in (38, 40, 42)


def test_a_perturbation_table_is_drawn_by_its_chances(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = CountNoise.model_validate(
        {"law": "table", "rows": [(0, 0, "1"), (1, 0, "1/4"), (1, 1, "1/4"), (1, 3, "1/2")]}
    )
    drawn: Counter[int] = Counter()
    for number in range(4):
        monkeypatch.setattr("secrets.randbelow", lambda _, number=number: number)
        drawn[noisy_counts([7], noise)[0]] += 1
    assert drawn == {6: 1, 7: 1, 9: 2}


def test_counts_are_rounded_at_random_by_their_chances(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = CountNoise(law="rounding", base=3)
    drawn: Counter[int] = Counter()
    for number in range(3):
        monkeypatch.setattr("secrets.randbelow", lambda _, number=number: number)
        drawn.update(noisy_counts([0, 7, 8], noise))
    assert drawn == {0: 3, 6: 3, 9: 3}


def test_python_adds_noise_as_the_command_does(wards: Path) -> None:
    run = gh.protect(wards, noise="rounding:base=3", sensitive=["ill"])
    assert run.question.command == "tables"
    [table] = run.question.tables
    assert {row[-1] % 3 for row in table.rows or ()} == {0}
    assert "wards.csv" not in run.question.model_dump_json()
    assert run.manifest["sha256"] == hashlib.sha256(release_file(table)).hexdigest()
    assert run.outcome.noise.together.certain == Fraction(1, 3)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"noise": "rounding:base=3", "keep": ["ill"]}, "leave out `keep`"),
        ({"noise": "rounding:base=3", "where": ["ill=yes"]}, "leave out `where`"),
        ({"people": 3}, "give `noise`, too"),
    ],
)
def test_python_says_what_does_not_go_with_noise(
    wards: Path, words: dict[str, Any], reason: str
) -> None:
    with pytest.raises(GlasshouseError, match=reason):
        gh.protect(wards, **words)


def test_noise_is_for_the_file_of_a_table() -> None:
    with pytest.raises(GlasshouseError, match="name the file of the table"):
        gh.protect([1, 2], noise="rounding:base=3")


@needs_opendp
def test_a_release_of_opendp_is_assessed_with_its_clamping(
    glasshouse: Glasshouse, wards: Path, tmp_path: Path
) -> None:
    out = tmp_path / "noisy"
    spec = "geometric:ratio=1/2,least=0"
    options = ["--people", "100", "-s", "ill", "--out", str(out)]
    assert glasshouse("protect", str(wards), "--noise", spec, *options).code == 0
    with (out / "release.csv").open(newline="") as file:
        counts = [int(row[-1]) for row in list(csv.reader(file))[1:]]
    assert len(counts) == 4
    assert min(counts) >= 0
    done = glasshouse("tables", "--study", str(out / "study.toml"), "--json")
    noise = json.loads(done.out)["noise"]
    assert noise["tables"][0]["noise"] == {"law": "geometric", "ratio": "1/2", "least": 0}
    assert [one["others"] for one in noise["tables"][0]["by_others"]] == [0, None]
    assert noise["together"]["right"] == float(Fraction(2, 3))
    assert noise["between_cells"]["beliefs"][0]["most"] == float(Fraction(4, 103))


@needs_opendp
def test_opendp_draws_by_the_law_that_the_channel_has() -> None:
    draws = 4000
    for law, chance in (
        ({"law": "geometric", "epsilon": "1"}, exp(-1) / (1 + exp(-1))),
        ({"law": "gaussian", "sigma": "1"}, 0.3005),
    ):
        drawn = noisy_counts([0] * draws, CountNoise.model_validate(law))
        above = sum(count >= 1 for count in drawn)
        assert abs(above - draws * chance) < 6 * (draws * chance * (1 - chance)) ** 0.5


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--noise", "geometric:epsilon=0", "--out", "run"), "a number above 0, not 0"),
        (("--noise", "coin.txt"), "with --out where its release goes"),
        (("--noise", "coin.txt", "--out", "run", "--keep", "ill"), "leave out --keep"),
        (("--people", "100", "--out", "run"), "give --noise, too"),
        (("--noise", "missing.txt", "--out", "run"), "missing.txt"),
        (("--noise", "wrong.txt", "--out", "run"), "add up to 0.75, not to 1"),
    ],
)
def test_what_noise_cannot_be_added_is_one_line(
    glasshouse: Glasshouse,
    wards: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    reason: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.txt").write_text("i;j;p\n0;0;1\n1;0;0.25\n1;1;0.5\n")
    done = glasshouse("protect", str(wards), *options)
    assert done.code == 2
    assert reason in done.error
    assert len(done.error.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(find_spec("opendp") is not None, reason="OpenDP is installed")
def test_without_opendp_the_extra_is_named(glasshouse: Glasshouse, wards: Path) -> None:
    done = glasshouse("protect", str(wards), "--noise", "geometric:epsilon=1", "--out", "run")
    assert done.code == 2
    assert done.error.strip().endswith("pip install 'glasshouse[opendp]'")


def test_noise_is_said_in_portuguese_and_a_large_epsilon_fails_the_rule(
    glasshouse: Glasshouse, wards: Path
) -> None:
    options = ["--people", "100", "-s", "ill"]
    for epsilon, code, sentence in (
        ("1", 0, "pode passar a achar no máximo 2,7 em 100, mesmo conhecendo todas as outras"),
        ("8", 0, "pode passar a achar no máximo 97 em 100, mesmo conhecendo todas as outras"),
    ):
        noise = f"geometric:epsilon={epsilon}"
        done = glasshouse("--lang", "pt-BR", "tables", str(wards), "--noise", noise, *options)
        assert done.code == code
        assert sentence in " ".join(done.out.split())
    assert "apesar do ruído, passa a achar provável" in " ".join(done.out.split())
    judged = glasshouse("tables", str(wards), "--noise", "geometric:epsilon=8", *options, "--json")
    conditions = json.loads(judged.out)["verdict"]["conditions"]
    [one] = [one for one in conditions if one["measure"] == "noise"]
    assert not one["met"]
