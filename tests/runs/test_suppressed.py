"""Suppressed records that stay in a file are a class of it, wherever it is judged."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.measures.verdict import Decision, Verdict
from glasshouse.mitigation import KAnonymity, recode, suppression_only
from glasshouse.mitigation.criteria import InferenceCertain
from glasshouse.runs import Run
from glasshouse.table import read

KNOWN: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "sensitive": ["diagnosis"]}


def _people(outliers: int) -> dict[str, list[str]]:
    """Return 400 people of three ages, and some of an age that is theirs alone, with the same rare secret."""
    draw = random.Random(1)
    rows = [
        (draw.choice(["20", "30", "40"]), draw.choice("FM"), draw.choice(["flu", "none"]))
        for _ in range(400)
    ]
    rows += [("97", "F", "HIV")] * outliers
    ages, sexes, secrets = zip(*rows, strict=True)
    return {"age": list(ages), "sex": list(sexes), "diagnosis": list(secrets)}


def _file(folder: Path, outliers: int, name: str = "people.csv") -> Path:
    columns = _people(outliers)
    lines = zip(*columns.values(), strict=True)
    path = folder / name
    path.write_text("\n".join([",".join(columns), *map(",".join, lines)]) + "\n")
    return path


def _blanked(folder: Path, outliers: int) -> Path:
    path = _file(folder, outliers)
    path.write_text(path.read_text().replace("97,F,HIV", "*,*,HIV"))
    return path


def _verdict(run: Run[Any, Any]) -> Verdict:
    assert run.verdict is not None
    return run.verdict


def _measured(run: Run[Any, Any]) -> dict[str, Fraction]:
    return {one.measure: one.value for one in run.measures}


@pytest.mark.parametrize("outliers", [1, 3])
def test_a_file_with_few_suppressed_records_is_judged_with_them_as_a_class(
    tmp_path: Path, outliers: int
) -> None:
    run = gh.assess(_blanked(tmp_path, outliers), **KNOWN)
    measured = _measured(run)
    assert measured["smallest-class"] == outliers
    assert measured["named"] == (Fraction(1, 401) if outliers == 1 else 0)
    assert measured["inference-certain"] == Fraction(outliers, 400 + outliers)
    assert run.outcome.records == 400  # the figures leave them out
    assert run.outcome.attacks[0].certain == 0
    assert not _verdict(run).meets
    assert "the verdict also counts it as a class of its own" in str(run.page) or outliers > 1


def test_it_is_so_for_check_and_for_who_asks_for_the_records_to_be_left_out(tmp_path: Path) -> None:
    path = _blanked(tmp_path, 1)
    assert not gh.check(path, **KNOWN).meets
    study = gh.assess(path, **KNOWN).question
    treatment = study.treatment.model_copy(update={"drop_suppressed": True})
    assert not _verdict(gh.run(study.model_copy(update={"treatment": treatment}))).meets


def test_as_many_suppressed_records_as_a_class_needs_may_pass(tmp_path: Path) -> None:
    path = _blanked(tmp_path, 1)
    path.write_text(path.read_text() + "*,*,flu\n*,*,none\n" * 10)
    assert _measured(gh.assess(path, **KNOWN))["smallest-class"] == 21
    assert gh.check(path, **KNOWN).meets


def test_anonymise_judges_the_class_of_suppressed_records_unless_they_are_dropped() -> None:
    frame = pa.table(_people(1))
    kept = gh.anonymise(frame, **KNOWN, k=11, suppression=0.05, hierarchies=_as_they_are())
    assert kept.outcome.suppressed == 1
    assert _measured(kept)["named"] == Fraction(1, 401)
    assert _verdict(kept).decision is Decision.RESTRICT
    dropped = gh.anonymise(
        frame, **KNOWN, k=11, suppression=0.05, hierarchies=_as_they_are(), drop_suppressed=True
    )
    assert _verdict(dropped).meets
    assert dropped.release is not None
    assert dropped.release.records == 400
    content = dropped.to_dict()
    assert (content["records_read"], content["records_released"]) == (401, 400)


def _as_they_are() -> dict[str, str]:
    return {"age": "suppression_only", "sex": "suppression_only"}


def test_protect_drops_the_records_that_it_suppresses_and_says_removed_of_these_only() -> None:
    frame = pa.table(_people(1))
    run = gh.protect(frame, **KNOWN, hierarchies=_as_they_are(), suppression=0.05)
    best = run.outcome.recommended
    assert (best.family, best.release.suppressed, best.release.released) == ("few-removed", 1, 400)
    assert run.release is not None
    assert run.release.records == 400
    assert "1 of the 401 records of the data is not in the file" in run.page.summary
    assert "1 record (0.2%) is removed." in run.findings[0].sentence


def test_protect_that_keeps_them_judges_them_and_does_not_say_removed() -> None:
    few = gh.protect(
        pa.table(_people(1)), **KNOWN, hierarchies=_as_they_are(), suppression=0.05,
        drop_suppressed=False,
    )  # fmt: skip
    assert all(not version.release.suppressed for version in few.outcome.versions if version.meets)
    columns = {name: values.copy() for name, values in _people(0).items()}
    for place in range(24):  # enough of them, and of both values, to be a class
        columns["age"].append(str(60 + place))
        columns["sex"].append("F")
        columns["diagnosis"].append(["flu", "none"][place % 2])
    many = gh.protect(
        pa.table(columns), **KNOWN, hierarchies=_as_they_are(), suppression=0.1,
        drop_suppressed=False,
    )  # fmt: skip
    (few_blanked,) = (one for one in many.outcome.versions if one.family == "few-removed")
    assert few_blanked.meets
    assert few_blanked.release.suppressed == 24
    assert few_blanked.compared.name == "alike, few suppressed"
    told = str(many.page)
    assert "records suppressed" in told
    assert "records removed" not in told
    assert "few removed" not in told


def test_a_search_may_ask_of_the_suppressed_records_what_it_asks_of_every_class() -> None:
    table = read(pa.table(_people(3)), **KNOWN)
    hierarchies = {name: suppression_only(table.column(name)) for name in ("age", "sex")}

    def heights(*, stay: bool, criteria: list[Any]) -> dict[str, int]:
        found = recode(
            table,
            hierarchies=hierarchies,
            criteria=criteria,
            suppression=0.05,
            suppressed_stay=stay,
        )
        return dict(found.heights or {})

    for criteria in ([KAnonymity(11)], [KAnonymity(4), InferenceCertain(0, "diagnosis")]):
        assert heights(stay=False, criteria=criteria) == {"age": 0, "sex": 0}
        assert heights(stay=True, criteria=criteria) == {"age": 1, "sex": 0}


def test_the_dictionary_of_a_release_says_whose_the_suppressed_records_must_be(
    tmp_path: Path,
) -> None:
    run = gh.anonymise(
        _file(tmp_path, 1), **KNOWN, k=11, suppression=0.05, hierarchies=_as_they_are()
    )
    told = (run.report(tmp_path / "kept").parent / "dictionary.md").read_text()
    assert "a person who fits no other record of this file must be this one" in told


def test_further_records_of_a_person_are_counted_as_not_in_the_file(tmp_path: Path) -> None:
    columns = _people(0)
    columns["id"] = [str(number) for number in range(400)]
    repeated = {name: [*values, *values[:60]] for name, values in columns.items()}
    run = gh.protect(pa.table(repeated), **KNOWN, id="id")
    sentence = "60 of the 460 records of the data are not in the file"
    assert sentence in run.page.summary
    assert "further records of the same person: 60" in run.page.summary
    assert any(sentence in finding.sentence for finding in run.brief.findings)
    released = run.to_dict()["versions"][0]
    assert (released["records_read"], released["records_released"]) == (460, 400)
    alone = gh.anonymise(pa.table(repeated), **KNOWN, id="id", k=2)
    assert sentence in alone.page.summary
    assert sentence in str(alone.brief.blocks[0])


def test_a_release_without_its_suppressed_records_is_put_beside_its_original(
    tmp_path: Path,
) -> None:
    path = _file(tmp_path, 1)
    options: dict[str, Any] = {**KNOWN, "k": 11, "suppression": 0.05, "hierarchies": _as_they_are()}
    folders = [tmp_path / "kept", tmp_path / "dropped"]
    for folder, dropped in zip(folders, (False, True), strict=True):
        gh.anonymise(path, **options, drop_suppressed=dropped).report(folder)
    kept, without = (gh.compare(folder) for folder in folders)
    rows = [run.outcome.releases[0] for run in (kept, without)]
    assert [row.suppressed for row in rows] == [1, 1]
    assert rows[0].distance == rows[1].distance
    assert [len(row.judged) for row in rows] == [1, 0]
    assert not _verdict(kept).meets
    assert _verdict(without).meets
    told = " ".join(finding.sentence for finding in kept.findings)
    assert "Only 1 record (0.2%) is suppressed" in told
    assert "nobody's sensitive value is known for certain" not in told.lower()
