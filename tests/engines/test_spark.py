"""Spark gives every integer that one machine gives: whatever is parted, tried again or killed on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.checkpoint import Checkpoint
from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.runs import Resources
from tests.conftest import Glasshouse

pytest.importorskip("pyspark", reason="needs Spark: pip install 'glasshouse[spark]'")

from glasshouse.engines.spark import assess as on_spark
from glasshouse.engines.spark import session as sessions
from glasshouse.engines.spark import steps, table
from tests.examples import IS_THOROUGH, examples

pytestmark = pytest.mark.filterwarnings("ignore")
SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.python.daemon.module": "tests.engines.daemon",
    "spark.speculation": "true",  # Spark runs a second copy of a task on another machine only
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "  # soon ready
    "-Dderby.stream.error.file=/dev/null",
}
KNOWN = "city age sex race state school grade shift transport zone language".split()
SECRETS = ["disability", "religion"]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A real Spark, on two cores of this machine; a task is tried four times."""
    os.environ |= {
        "JAVA_HOME": str(sessions.java_of_wheel(tmp_path_factory.mktemp("java"))),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(tmp_path_factory.mktemp("spark")),
        "PYSPARK_SUBMIT_ARGS": " ".join(f"--conf '{k}={v}'" for k, v in SETTINGS.items())
        + " pyspark-shell",
    }
    running = sessions.session("local[2,4]")
    yield running
    running.stop()


def people(records: int, seed: int = 1) -> pa.Table:
    """Return records of students: cities that tell the state, schools that tell the city, secrets that are missing."""
    draw = np.random.default_rng(seed)
    city = np.minimum(draw.geometric(0.02, records), 300)
    school = city * 10 + draw.integers(0, 10, records)
    columns = {
        "city": city,
        "age": draw.binomial(30, 0.4, records),
        "sex": draw.integers(0, 2, records),
        "race": draw.geometric(0.5, records).clip(1, 6),
        "state": city % 27,
        "school": school,
        "grade": draw.integers(1, 13, records),
        "shift": school % 3,
        "transport": draw.integers(0, 2, records),
        "zone": city % 2,
        "language": (draw.random(records) < 0.01).astype(int),
    }
    texts = {name: values.astype(str) for name, values in columns.items()}
    texts["disability"] = np.where(draw.random(records) < 0.03, "yes", "no")
    religion = draw.geometric(0.4, records).clip(1, 9).astype(str)
    texts["religion"] = np.where(draw.random(records) < 0.1, "", religion)
    return pa.table(texts)


def frame_of(spark: Any, data: pa.Table, folder: Path, files: int = 3) -> Any:
    """Return a table as a frame that Spark reads from Parquet."""
    for part in range(files):
        rows = -(-data.num_rows // files)
        place = folder / f"{part}.parquet"
        pq.write_table(data.slice(part * rows, rows), place)
    return spark.read.parquet(str(folder))


def without_order(content: dict[str, Any]) -> dict[str, Any]:
    """Return what was said; records on a cluster have no order, so neither have the values that come first.

    Nor have columns: Spark puts those of partitions last, and one machine those that were not asked about.
    """
    for columns in ((content.get("verdict") or {}).get("coverage") or {}).values():
        if isinstance(columns, list):
            columns.sort()
    for advice in content.get("advice", ()):
        advice["besides"] = sorted(advice["besides"])
    for exposure in content.get("exposures", ()):
        rows = zip(exposure["values"], exposure["records"], exposure["named"], strict=True)
        exposure |= {"values": sorted(rows), "records": None, "named": None}
    return content


def assert_same(run: Any, local: Any, folder: Path) -> None:
    """Make sure that two runs say the same, and write the same bytes."""
    assert without_order(run.to_dict()) == without_order(local.to_dict())
    run.report(folder / "cluster")
    local.report(folder / "local")
    written = [(folder / place / "results.parquet").read_bytes() for place in ("cluster", "local")]
    assert written[0] == written[1]


def small_tasks(patch: pytest.MonkeyPatch, *, task: int, hot: int) -> None:
    """Let a small table be shuffled in every step, and a value be too frequent soon."""
    patch.setattr(steps, "TASK_RECORDS", task)
    patch.setattr(steps, "HOT_RECORDS", hot)
    patch.setattr(steps, "LAST_RECORDS", 0)


def test_every_integer_is_that_of_one_machine(spark: Any, tmp_path: Path) -> None:
    known = KNOWN if IS_THOROUGH else KNOWN[:8]
    data = people(examples(300_000, one_of=12)).select([*known, *SECRETS])
    (tmp_path / "data").mkdir()
    roles: dict[str, Any] = {"quasi_identifiers": known, "sensitive": SECRETS}
    release = gh.read(frame_of(spark, data, tmp_path / "data"), **roles)
    run = gh.assess(release, missing_is_a_value=True)
    assert_same(run, gh.assess(data, **roles, missing_is_a_value=True), tmp_path)


def test_a_key_with_half_of_all_records_and_workers_that_die_in_each_step_change_nothing(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was counted before a worker died is not counted again: nor where a slow task is run a second time."""
    draw = np.random.default_rng(1)
    data = people(2_000).select(["city", "sex", *SECRETS])
    half = np.where(np.arange(2_000) % 2, "1", data["city"].to_numpy(zero_copy_only=False))
    data = data.set_column(0, "city", pa.array(half.astype(str)))
    data = data.append_column("age", pa.array(draw.integers(0, 10, 2_000).astype(str)))
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    small_tasks(monkeypatch, task=1_000, hot=150)
    deaths, sweep = tmp_path / "deaths", steps._swept
    deaths.mkdir()
    (tmp_path / "data").mkdir()
    prefixes: list[tuple[int, ...]] = []
    tasks = steps._Steps._tasks

    def noted(self: Any, records: Any, number: int, stages: Any, largest: int) -> Any:
        prefixes.extend(prefix for prefix, _ in stages)
        return tasks(self, records, number, stages, largest)

    def killing(batches: Any, **words: Any) -> Any:
        def die_once(when: str) -> None:
            try:
                (deaths / f"{words['stages'][0][0][0]}-{when}").touch(exist_ok=False)
            except FileExistsError:
                return
            os.kill(os.getpid(), signal.SIGKILL)

        there = list(batches)
        die_once("before")
        yield from sweep(iter(there), **words)
        die_once("after")

    monkeypatch.setattr(steps._Steps, "_tasks", noted)
    monkeypatch.setattr(steps, "_swept", killing)
    roles: dict[str, Any] = {"quasi_identifiers": ["city", "age", "sex"], "sensitive": SECRETS}
    run = gh.assess(frame_of(spark, data, tmp_path / "data"), **roles, missing_is_a_value=True)
    assert len(list(deaths.iterdir())) == 6  # before and after the work of each root
    assert {1, 2} <= set(map(len, prefixes))
    assert_same(run, gh.assess(data, **roles, missing_is_a_value=True), tmp_path)


def test_an_interrupted_sweep_in_sixteen_partitions_goes_on_from_its_last_step(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = people(2_000).select([*KNOWN[:3], "disability"])
    spark.conf.set("spark.sql.shuffle.partitions", "16")
    small_tasks(monkeypatch, task=100, hot=1 << 20)
    roles: dict[str, Any] = {"quasi_identifiers": KNOWN[:3], "sensitive": ["disability"]}
    release: Any = gh.read(frame_of(spark, data, tmp_path, files=1), **roles)
    whole = gh.assess(data, **roles)
    place, run_step = tmp_path / "partial", steps._Steps.run
    roots: list[tuple[int, ...]] = []

    def counted(self: Any, records: Any, number: int, stages: Any, largest: int) -> Any:
        if len(roots) == 2:
            raise KeyboardInterrupt
        roots.append(stages[0][0])
        return run_step(self, records, number, stages, largest)

    monkeypatch.setattr(steps._Steps, "run", counted)
    with pytest.raises(KeyboardInterrupt):
        on_spark.answer(
            whole.question, [release], resources=Resources(checkpoint=Checkpoint(place, key="k"))
        )
    before = list(roots)
    roots.clear()
    run = on_spark.answer(
        whole.question,
        [release],
        resources=Resources(checkpoint=Checkpoint(place, key="k"), resume=True),
    )
    assert without_order(run.to_dict()) == without_order(whole.to_dict())
    assert len(roots) == 1
    assert roots[0] not in before


MESSY = """city;born;income;note;icd;day;month;ill
São Paulo;31/12/1980;1200,5;"a ""b""; c";I21;1;2;yes
São Paulo;01/02/1991;99;"two
lines";I10;1;2;no
Rio;15/07/2001;;x;C50;3;4;no
01310;15/07/2001;7000;x;C50;3;4;?
1310;31/12/1980;7000;x;I21;31;12;yes
Rio;01/02/1991;1200,50;y;*;3;12;no
Rio;01/02/1991;12;y;I10;3;12;no
"""
QUESTION = [
    *("-q", "city", "-q", "age", "-q", "income", "-q", "icd", "--fact", "birthday=day,month"),
    *("-s", "ill", "-s", "note", "--date", "born=dd/mm/yyyy"),
    *("--derive", "age=years(born, 2020-12-31)", "--bands", "income=0,1000,5000"),
    *("--group", "icd=prefix:1", "--missing", "ill=?", "--decimal", ",", "--where", "income!=99"),
    *("--invalid", "city=Rio Grande", "--encoding", "latin-1", "--subsets", "max:2"),
]


def assert_same_command(glasshouse: Glasshouse, folder: Path, *question: Any) -> None:
    """Make sure that the command says the same with either engine, and writes the same bytes."""
    outcomes = []
    for place, engine in (("local", []), ("cluster", ["--engine", "spark"])):
        out = folder / place
        outcome = glasshouse("assess", *question, "--out", out, "--json", *engine)
        assert outcome.code == 0, outcome.error
        said = without_order(json.loads(outcome.out))
        outcomes.append((said, (out / "results.parquet").read_bytes()))
    assert outcomes[0] == outcomes[1]


def test_the_command_reads_text_as_it_does_on_one_machine(
    spark: Any, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    file = tmp_path / "x[1]{a}.csv"
    file.write_text(MESSY, encoding="latin-1")
    assert_same_command(glasshouse, tmp_path, file, *QUESTION)


def test_a_folder_of_parquet_in_partitions_is_read_as_text(
    spark: Any, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    for state in ("01", "1"):
        folder = tmp_path / "data" / f"state={state}"
        folder.mkdir(parents=True)
        numbers = pa.array([1.5, 2.0, None, 2.0])
        data = pa.table(
            {"age": [20, 30, 30, 30], "income": numbers, "ill": [True, True, False, True]}
        )
        pq.write_table(data, folder / "part.parquet")
    question = ["-q", "state", "-q", "age", "-q", "income", "-s", "ill", "--subsets", "full"]
    assert_same_command(glasshouse, tmp_path, tmp_path / "data" / "*" / "*.parquet", *question)


def test_delta_is_read_as_its_log_says(spark: Any, tmp_path: Path, glasshouse: Glasshouse) -> None:
    deltalake = pytest.importorskip("deltalake")
    data = people(200).select(["sex", "age", "religion"])
    for some in (data, data.slice(50, 100)):  # the files of the first version stay there
        deltalake.write_deltalake(
            str(tmp_path / "data"), some, mode="overwrite", partition_by=["sex"]
        )
    question = ["-q", "sex", "-q", "age", "-s", "religion", "--subsets", "full"]
    assert_same_command(glasshouse, tmp_path, tmp_path / "data", *question)


def test_a_database_is_read_by_jdbc_and_its_password_never_repeated(
    spark: Any, tmp_path: Path, glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = pa.table({"age": [20, 30, 30, 30], "ill": ["yes", "", None, "no"]})
    address = f"jdbc:derby:{tmp_path / 'base'}"
    options = {"url": f"{address};create=true", "dbtable": "people"}
    spark.createDataFrame(data.to_pandas()).write.format("jdbc").options(**options).save()
    monkeypatch.setenv("JDBC_PASSWORD", "opensesame")
    question = ["-q", "age", "-s", "ill", "--subsets", "full", "--json", "--engine", "spark"]
    outcome = glasshouse("assess", address, "--table", "people", *question)
    assert outcome.code == 0, outcome.error
    local = gh.assess(
        gh.read(data, name="people", quasi_identifiers=["age"], sensitive=["ill"]), subsets="full"
    )
    assert json.loads(outcome.out)["results"] == local.to_dict()["results"]
    wrong = glasshouse("assess", address, "--table", "opensesame", *question)
    typed = glasshouse("assess", f"{address};password=opensesame", "--table", "people", *question)
    here = glasshouse("assess", address, "--table", "people", *question[:-2])
    assert [wrong.code, typed.code, here.code] == [2, 2, 2]
    assert "opensesame" not in wrong.error + typed.error
    assert "set JDBC_PASSWORD" in typed.error
    assert "on Spark only" in here.error


def test_a_frame_has_the_verdict_of_one_machine(spark: Any, tmp_path: Path) -> None:
    data = people(1_000).select(["sex", "transport", "school", "disability"])
    mails = pa.array(f"person{number}@example.org" for number in range(1_000))
    data = data.append_column("email", mails)
    frame = frame_of(spark, data, tmp_path, files=1)
    asked: dict[str, Any] = {"quasi_identifiers": ["sex"], "sensitive": ["disability"]}
    for roles in (asked, asked | {"drop": ["email"], "ignore": ["school"]}):
        on_cluster, here = (gh.check(each, **roles).to_dict() for each in (frame, data))
        assert without_order({"verdict": on_cluster}) == without_order({"verdict": here})
        assert not on_cluster["meets"]
    with pytest.raises(StudyError, match="quasi_identifiers"):
        gh.check(frame)  # what a cluster holds is not looked at whole, and nothing is guessed of it


def test_parts_are_compared_as_on_one_machine(spark: Any, tmp_path: Path) -> None:
    data = people(1_000).select([*KNOWN[:3], *SECRETS])
    roles: dict[str, Any] = {"quasi_identifiers": ["city", "age"], "sensitive": SECRETS}
    run = gh.assess(frame_of(spark, data, tmp_path, files=1), **roles, by="sex", subsets="max:1")
    local = gh.assess(data, **roles, by="sex", subsets="max:1")
    assert without_order(run.to_dict()) == without_order(local.to_dict())
    assert run.verdict is not None
    assert local.verdict is not None
    assert run.verdict.failed == local.verdict.failed > 0


@pytest.mark.parametrize("subsets", ["max:2", "full"])
def test_records_with_weights_are_attacked_as_on_one_machine(
    spark: Any, tmp_path: Path, subsets: str
) -> None:
    data = people(500).select([*KNOWN[:3], *SECRETS])
    weights = np.random.default_rng(2).choice(["0", "1", "2.5", "10"], 500)
    data = data.append_column("weight", pa.array(weights))
    roles: dict[str, Any] = {
        "quasi_identifiers": KNOWN[: 2 if subsets == "max:2" else 3],
        "sensitive": SECRETS,
        "prior_weight": "weight",
    }
    run = gh.assess(frame_of(spark, data, tmp_path, files=1), **roles, subsets=subsets)
    local = gh.assess(data, **roles, subsets=subsets)
    assert without_order(run.to_dict()) == without_order(local.to_dict())


def test_releases_about_the_same_people_are_joined_as_on_one_machine(
    spark: Any, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    data = people(400).append_column("id", pa.array(map(str, range(400))))
    pq.write_table(data.select(["id", "sex", "age", "religion"]), tmp_path / "2014.parquet")
    for year, columns in (("2015", ["id", "age", "sex", "shift"]), ("2016", ["id"])):
        some = data.slice(100 if year == "2015" else 0, 250)
        pq.write_table(some.select(columns), tmp_path / f"{year}.parquet")
    files = [tmp_path / f"{year}.parquet" for year in (2014, 2015, 2016)]
    known = ["-q", "sex", "-q", "age@2015", "-q", "shift", "-q", "@2016"]
    question = [*known, "-s", "religion", "--id", "id", "--subsets", "all"]
    assert_same_command(glasshouse, tmp_path, *files, *question)


def test_the_risk_of_every_record_is_written_where_the_records_are(
    spark: Any, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    data = people(300).select(["sex", "age", *SECRETS])
    pq.write_table(data, tmp_path / "d.parquet")
    question = ["-q", "age", "-q", "sex", "-s", "religion", "--subsets", "full"]
    for place, engine in (("local.parquet", []), ("cluster.parquet", ["--engine", "spark"])):
        risks = ["--per-record", tmp_path / place, *engine]
        outcome = glasshouse("assess", tmp_path / "d.parquet", *question, *risks)
        assert outcome.code == 0, outcome.error
    local = pq.read_table(tmp_path / "local.parquet")
    for name in ("sex", "age", "religion"):
        local = local.append_column(name, data[name])
    there = pq.read_table(tmp_path / "cluster.parquet").select(local.column_names)
    rows = [sorted(map(str, one.to_pylist())) for one in (local, there)]
    assert rows[0] == rows[1]
    assert (tmp_path / "cluster.parquet").is_dir()


def test_one_record_of_a_person_is_chosen(spark: Any, tmp_path: Path) -> None:
    data = pa.table({"id": ["a", "a", "b", "c", ""], "age": [1, 2, 2, 3, 3]})
    release = frame_of(spark, data, tmp_path, files=1)
    run = gh.assess(release, quasi_identifiers=["age"], id="id")
    steps_taken = [(step.what, step.before, step.after) for step in run.outcome.steps]
    assert run.records == 3
    assert steps_taken == [
        ("no identifier", 5, 4),
        ("further records of the same person", 4, 3),
    ]


def test_a_line_with_too_few_fields_is_refused(
    spark: Any, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    file = tmp_path / "d.csv"
    file.write_text("a,b\n1,2\n3\n", encoding="utf-8")
    outcome = glasshouse("assess", file, "-q", "a", "--engine", "spark")
    assert outcome.code == 2
    assert len(outcome.error.strip().splitlines()) == 1
    assert "Spark failed" in outcome.error


@pytest.mark.parametrize(
    "asked_for",
    [
        ["e.csv", "--each"],
        ["--by", "b", "--prior-weight", "c"],
        ["--advise"],
        ["--person", "b"],
        ["-s", "c", "--within", "c=1"],
        ["--about", "a=90%"],
        ["--tries", "2"],
        ["--explain"],
        ["--threads", "2"],
        ["--memory", "1G"],
    ],
)
def test_what_one_machine_answers_only_is_refused_in_one_line(
    tmp_path: Path, glasshouse: Glasshouse, asked_for: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("d.csv", "e.csv"):
        (tmp_path / name).write_text("a,b,c\n1,2,3\n", encoding="utf-8")
    outcome = glasshouse("assess", "d.csv", "-q", "a", "--engine", "spark", *asked_for)
    assert outcome.code == 2
    assert len(outcome.error.strip().splitlines()) == 1
    assert "Spark" in outcome.error or "cluster" in outcome.error


def test_workers_without_the_package_are_told_in_one_line(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = Path(sys.base_prefix) / "bin" / "python3"
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(bare))
    with pytest.raises(
        StudyError, match=r"the workers' Python has no \w+; install Glasshouse there"
    ):
        sessions.check_workers(spark)


def test_other_questions_do_not_fetch_a_frame_silently(spark: Any) -> None:
    with pytest.raises(StudyError, match="data on Spark stay there"):
        gh.target(spark.range(3), {"id": 1})
    with pytest.raises(StudyError, match="data on Spark stay there"):
        gh.assess([spark.range(3), pa.table({"id": [1]})], quasi_identifiers=["id"])


def test_too_many_values_and_no_records_are_refused(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "MOST_VALUES", 10)
    with pytest.raises(BudgetError, match="more than 10 distinct values"):
        gh.assess(spark.range(20), quasi_identifiers=["id"])
    with pytest.raises(DataError, match="has no records"):
        gh.assess(spark.range(0), quasi_identifiers=["id"])


def test_nothing_imports_spark_that_is_not_asked_for_it() -> None:
    imports = "import sys, glasshouse.verbs, glasshouse.cli.assess, glasshouse.runs.assess"
    command = f"{imports}; print('pyspark' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
