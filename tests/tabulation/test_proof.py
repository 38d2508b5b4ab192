"""A proof is accepted as it was written, and refused when anything in it was changed; what is accepted is true."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from glasshouse.study import validated
from glasshouse.study.tables import TablesStudy
from glasshouse.tabulation import CellBounds, cell_bounds, published
from glasshouse.tabulation.proof import VERIFIER, proof_of
from glasshouse.tabulation.verifier import Refused, digest, verify
from tests.examples import examples
from tests.tabulation.brute import answer, random_plan


def proof_for(plan: dict[str, Any]) -> dict[str, Any]:
    solution = solved(plan, certifying=True)
    return dict(json.loads(json.dumps(proof_of(solution))))


def solved(plan: dict[str, Any], *, certifying: bool) -> CellBounds:
    read = published(validated(TablesStudy, plan, "plan"))
    return cell_bounds(read, counting=False, certifying=certifying)


@pytest.mark.parametrize("seed", range(examples(500, one_of=10)))
def test_a_proof_is_accepted_and_most_of_it_is_certified(seed: int) -> None:
    checked = verify(proof_for(random_plan(seed)))
    assert checked["certified"] <= checked["claims"]


def test_nearly_all_claims_have_a_certificate() -> None:
    checked = [verify(proof_for(random_plan(seed))) for seed in range(40)]
    claims, certified = (sum(one[key] for one in checked) for key in ("claims", "certified"))
    assert certified > 0.95 * claims


def every_step(steps: list[Any]) -> Iterator[list[Any]]:
    """Yield the steps of a proof, and those within its cases."""
    for step in steps:
        yield step
        inside = {"cases": step[3:], "strike": step[3:]}.get(step[0], [])
        for half in inside:
            yield from every_step(half)


def tampered(proof: dict[str, Any], rng: random.Random) -> dict[str, Any] | None:
    """Return a proof with one multiplier, case, count of a file or row changed; None: there is none of that kind."""
    changed = copy.deepcopy(proof)
    kind = rng.choice(["multiplier", "file", "row", "case"])
    steps = list(every_step(changed["steps"]))
    if kind == "case" and any(step[0] == "cases" for step in steps):
        rng.choice([step for step in steps if step[0] == "cases"])[2] += rng.choice([-1, 1])
    elif kind in ("multiplier", "case"):
        sums = [step for step in steps if step[0] == "sum" and step[1]]
        if not sums:
            return None
        rng.choice(rng.choice(sums)[1])[1] += rng.choice([-2, -1, 1, 2])
    elif kind == "file":
        files = [file for file in changed["files"] if file]
        if not files:
            return None
        file = rng.choice(files)
        file[rng.choice(list(file))] += rng.choice([-1, 1])
    else:
        row = rng.choice(changed["published"]["rows"])
        row["low" if row["low"] is not None else "high"] += rng.choice([-1, 1])
    return changed


@pytest.mark.parametrize("seed", range(examples(2000, one_of=20)))
def test_whatever_was_changed_is_refused(seed: int) -> None:
    changed = tampered(proof_for(random_plan(seed % 500)), random.Random(seed))
    if changed is not None:
        with pytest.raises(Refused):
            verify(changed)


@pytest.mark.parametrize("seed", range(examples(300, one_of=10)))
def test_what_is_sealed_anew_is_refused_or_still_true(seed: int) -> None:
    """Whoever changes a proof can seal it again; then what the steps and files say decides, not the seal."""
    plan = random_plan(seed)
    rng = random.Random(seed)
    proof = proof_for(plan)
    changed = tampered(proof, rng)
    expected = answer(plan)
    if changed is None or expected is None or changed["published"] != proof["published"]:
        return
    for claim in changed["claims"]:
        if rng.random() < 0.3:
            claim[rng.randrange(2)] += rng.choice([-1, 1])
    changed["seal"] = digest(changed)
    try:
        verify(changed)
    except Refused:
        return
    solution = cell_bounds(published(validated(TablesStudy, plan, "plan")), counting=False)
    for number, (least, most, least_proved, most_proved, *_) in enumerate(changed["claims"]):
        assert not least_proved or solution.class_least[number] >= least
        assert not most_proved or solution.class_most[number] <= most


def test_the_checker_needs_nothing_but_python_and_has_at_most_150_lines() -> None:
    lines = VERIFIER.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 150
    assert not any("glasshouse" in line for line in lines if "import" in line)
    proof = json.dumps(proof_for(random_plan(3)))
    command = [sys.executable, "-I", "-S", str(VERIFIER)]
    done = subprocess.run(command, input=proof, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "certified" in done.stdout
    broken = proof.replace('"seal": "', '"seal": "0')
    done = subprocess.run(command, input=broken, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("refused: ")


def test_a_case_is_told_by_what_is_left_of_it() -> None:
    """Two people, an even number of them women: by cases it is none or two, which no single sum tells."""
    plan = {
        "people": 2,
        "attributes": {"sex": {"values": ["F", "M"]}},
        "tables": [{"id": "T", "statistics": [{"where": {"sex": "F"}, "count": [0, 1]}]}],
    }
    proof = proof_for(plan)
    row = {"table": "U", "terms": [[{"sex": [0]}, None, 2]], "low": 1, "high": 4, "case": None}
    proof["published"]["rows"].append(row)
    proof["steps"] = [["cases", 0, 0, [["sum", [[2, -1]]]], []]]
    proof["files"], proof["claims"] = [], [[1, 2, True, False, False, False], [0, 2, *[False] * 4]]
    proof["seal"] = digest(proof)
    assert verify(proof)["certified"] == 1
    proof["steps"] = [["cases", 0, 0, [], []]]
    proof["seal"] = digest(proof)
    with pytest.raises(Refused):
        verify(proof)


BY_CASES = 14
"""A plan with an end that no sum of rows proves."""


def test_what_no_sum_of_rows_proves_is_proved_by_cases() -> None:
    assert len(solved(random_plan(BY_CASES), certifying=False).trusted) == 1
    solution = solved(random_plan(BY_CASES), certifying=True)
    assert not solution.trusted
    [step] = [step for step in solution.steps if step[0] == "cases"]
    proof = proof_for(random_plan(BY_CASES))
    assert verify(proof)["certified"] == verify(proof)["claims"]
    for half in (3, 4):
        broken = copy.deepcopy(proof)
        [changed] = [one for one in broken["steps"] if one[0] == "cases"]
        changed[half] = []
        broken["seal"] = digest(broken)
        if step[half]:
            with pytest.raises(Refused):
                verify(broken)


def odd_sum(limit: int) -> dict[str, Any]:
    """Return the plan of people with two or four children each, who have an odd number of children together."""
    statistics = [{"where": {"town": town}, "count": [0, limit]} for town in ("A", "B")] + [
        {"where": {}, "sum": [2 * limit + 1, 2 * limit + 1], "of": "children"}
    ]
    return {
        "people": [0, 2 * limit],
        "attributes": {"children": {"values": [2, 4]}, "town": {"values": ["A", "B"]}},
        "tables": [{"id": "T", "statistics": statistics}],
    }


def test_a_contradiction_is_proved_by_cases() -> None:
    proof = proof_for(odd_sum(3))
    assert verify(proof) == {"claims": 1, "certified": 1}
    assert any(step[0] == "cases" for step in proof["steps"])


def test_contradicting_tables_are_proved_to_be_so() -> None:
    plan = {
        "people": 3,
        "attributes": {"sex": {"values": ["F", "M"]}},
        "tables": [{"id": "T", "by": ["sex"], "rows": [["F", 1], ["M", 1]]}],
    }
    proof = proof_for(plan)
    assert verify(proof) == {"claims": 1, "certified": 1}
    proof["contradiction"] = None
    proof["seal"] = digest(proof)
    with pytest.raises(Refused):
        verify(proof)
