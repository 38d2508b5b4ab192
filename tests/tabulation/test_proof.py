"""A proof is accepted as it was written, and refused when anything in it was changed; what is accepted is true."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from typing import Any

import pytest

from glasshouse.study import validated
from glasshouse.study.tables import TablesStudy
from glasshouse.tabulation import cell_bounds, published
from glasshouse.tabulation.proof import VERIFIER, proof_of
from glasshouse.tabulation.verifier import Refused, digest, verify
from tests.examples import examples
from tests.tabulation.brute import answer, random_plan


def proof_for(plan: dict[str, Any]) -> dict[str, Any]:
    solution = cell_bounds(published(validated(TablesStudy, plan, "plan")), counting=False)
    return dict(json.loads(json.dumps(proof_of(solution))))


@pytest.mark.parametrize("seed", range(examples(500, one_of=10)))
def test_a_proof_is_accepted_and_most_of_it_is_certified(seed: int) -> None:
    checked = verify(proof_for(random_plan(seed)))
    assert checked["certified"] <= checked["claims"]


def test_nearly_all_claims_have_a_certificate() -> None:
    checked = [verify(proof_for(random_plan(seed))) for seed in range(40)]
    claims, certified = (sum(one[key] for one in checked) for key in ("claims", "certified"))
    assert certified > 0.95 * claims


def tampered(proof: dict[str, Any], rng: random.Random) -> dict[str, Any] | None:
    """Return a proof with one multiplier, one count of a file, or one row changed; None: there is none of that kind."""
    changed = copy.deepcopy(proof)
    kind = rng.choice(["multiplier", "file", "row"])
    if kind == "multiplier":
        sums = [step for step in changed["steps"] if step[0] == "sum" and step[1]]
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
