"""A campaign in parts, and one that is killed: put together or resumed, every byte is that of one that was not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from glasshouse.errors import StudyError
from glasshouse.reconstruction import (
    CampaignPart,
    CampaignResult,
    campaign,
    campaign_part,
    load_plan,
    merge,
)
from glasshouse.reconstruction.division import part_of_groups
from glasshouse.reconstruction.groups import groups_of
from glasshouse.reconstruction.publications import read_publications
from glasshouse.study.totals import TotalsStudy
from tests.examples import IS_THOROUGH
from tests.reconstruction.plans import GOOD, GOOD_TOTALS, changed, tiny_plan, trade_plan
from tests.reconstruction.test_campaign import same

BUDGET = {"quick": 0.02, "patience": 50.0, "longest": 0.2, "gigabytes": 2.0}
"""So short that some instances meet their limits."""


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TotalsStudy, CampaignResult]:
    folder = tmp_path_factory.mktemp("month")
    plan = trade_plan(
        folder, budget=BUDGET, transactions=1_200, importers=90, seed=4, excluded=0.002
    )
    whole = campaign(plan)
    assert sum(phase.unsolved for phase in whole.phases) > 3
    return folder, plan, whole


def parts(plan: TotalsStudy, place: Path, number: int) -> list[Path]:
    folders = [place / f"part {n} of {number}" for n in range(1, number + 1)]
    for n, folder in enumerate(folders, 1):
        done = campaign_part(plan, CampaignPart(n, number), folder=folder)
        assert done.complete
        assert done.to_dict()["part"] == f"{n}/{number}"
        assert done.to_frame().num_rows == len(plan.phases)
    return folders


def test_four_parts_put_together_are_the_whole_and_nothing_is_done_twice(
    tmp_path: Path, month: tuple[Path, TotalsStudy, CampaignResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, plan, whole = month
    folders = parts(plan, tmp_path, 4)
    sizes = [sum(path.stat().st_size for path in folder.glob("*.arrow")) for folder in folders]
    assert min(sizes) > 0

    def never(*_: object) -> None:
        raise AssertionError("an attempt was made again")

    monkeypatch.setattr("glasshouse.reconstruction.workers.attempt", never)
    assert same(merge(plan, folders[::-1]), whole)


def test_a_part_has_all_phases_of_its_records(
    month: tuple[Path, TotalsStudy, CampaignResult],
) -> None:
    _, plan, _ = month
    publications = read_publications(plan)
    groups = [groups_of(plan, phase, publications) for phase in plan.phases]
    rows = publications["transactions"].rows
    of_record = np.zeros(rows, np.int64)
    for phase, part in zip(groups, part_of_groups(groups, rows, 3), strict=True):
        assert set(part[phase.record_group].tolist()) == {1, 2, 3}
        here = part[phase.record_group]
        known = of_record[phase.record]
        assert ((known == 0) | (known == here)).all()
        of_record[phase.record] = here
    shares = np.bincount(of_record)[1:] / (of_record > 0).sum()
    assert shares.max() < 0.45


def test_a_part_that_a_time_limit_ended_is_not_merged_before_it_went_on(
    tmp_path: Path, month: tuple[Path, TotalsStudy, CampaignResult]
) -> None:
    _, plan, whole = month
    first, second = CampaignPart(1, 2), CampaignPart(2, 2)
    cut = campaign_part(plan, first, folder=tmp_path / "1", time_limit=1e-6)
    assert not cut.complete
    assert campaign_part(plan, second, folder=tmp_path / "2").complete
    folders = [tmp_path / "1", tmp_path / "2"]
    with pytest.raises(StudyError, match="part 1/2 is not finished"):
        merge(plan, folders)
    assert campaign_part(plan, first, folder=tmp_path / "1", resume=True).complete
    assert same(merge(plan, folders), whole)


def test_parts_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    plan = tiny_plan(tmp_path, GOOD, GOOD_TOTALS)
    halves, thirds = parts(plan, tmp_path, 2), parts(plan, tmp_path, 3)
    assert same(merge(plan, halves), campaign(plan))
    wrong = {
        "part 2/2 is missing": (plan, halves[:1]),
        "part 1/3 is missing": (plan, thirds[1:]),
        "there twice": (plan, [halves[0], halves[0]]),
        "merge parts of one division": (plan, [halves[0], thirds[1]]),
        "holds no part": (plan, [*halves, tmp_path]),
        "another plan": (changed(plan, rounding="unknown"), halves),
    }
    for message, (asked, folders) in wrong.items():
        with pytest.raises(StudyError, match=message):
            merge(asked, folders)
    campaign(plan, folder=tmp_path / "whole")
    with pytest.raises(StudyError, match="holds no part"):
        merge(plan, [tmp_path / "whole"])


@pytest.mark.parametrize("written", ["0/2", "3/2", "1", "1/0", "a/b", "-1/2", "1/2/3", ""])
def test_a_part_that_is_none_is_refused(written: str) -> None:
    with pytest.raises(StudyError, match="which of how many"):
        CampaignPart.of_text(written)


KILLED = """
import os, signal, sys
from pathlib import Path
from glasshouse.reconstruction import attempt_rounds, campaign, load_plan, workers
from tests.reconstruction.plans import changed

budget = {budget!r}
plan = changed(load_plan(Path({folder!r}) / "study.toml"), budget=budget)
attempt_rounds._BATCH, attempt_rounds._SAVED_EVERY = 3, -1.0
attempt, made = workers.attempt, [0]

def until(moment):
    def last(task, terms, limit):
        made[0] += 1
        if made[0] > moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return attempt(task, terms, limit)
    return last

for number, moment in enumerate({moments!r}):
    child = os.fork()  # a process of its own, which has loaded everything
    if child == 0:
        workers.attempt = until(moment)
        campaign(plan, folder=sys.argv[1], resume=number > 0)
        os._exit(0)  # it was not killed
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX processes")
def test_a_campaign_that_is_killed_again_and_again_ends_the_same(
    tmp_path: Path, month: tuple[Path, TotalsStudy, CampaignResult]
) -> None:
    folder, plan, whole = month
    moments = [4, 5, 7, 4, 5, 7, 4, 5, 7, 4] if IS_THOROUGH else [4, 5, 7, 4, 5]
    script = KILLED.format(budget=BUDGET, folder=str(folder), moments=moments)
    paths = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "run")],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stderr
    kept = len(list((tmp_path / "run").glob("*.arrow")))
    assert kept > len(moments)
    assert same(campaign(plan, folder=tmp_path / "run", resume=True), whole)
    assert load_plan(folder / "study.toml").phases == plan.phases
