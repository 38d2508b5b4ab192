"""A standalone cluster with a slow worker: Spark runs second copies of its tasks, and none counts twice."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark", reason="needs Spark: pip install 'glasshouse[spark]'")

import pyspark

from glasshouse.engines.spark import session as sessions
from tests.conftest import Glasshouse
from tests.engines.test_spark import people, without_order

HOME = Path(pyspark.__file__).parent
SOON_READY = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SLOW = "import time\ntime.sleep(8)\n"
"""What the slow worker's Python does first, each time that it is started."""
SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": SOON_READY,
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": SOON_READY,
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.speculation": "true",
    "spark.speculation.interval": "200ms",
    "spark.speculation.multiplier": "1.2",
    "spark.speculation.quantile": "0.1",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.compress": "false",
}


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a master with workers at two addresses of this machine, and the environment of its users."""
    (tmp_path / "java").mkdir()
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "sitecustomize.py").write_text(SLOW, encoding="utf-8")
    environment = os.environ | {
        "JAVA_HOME": str(sessions.java_of_wheel(tmp_path / "java")),
        "SPARK_HOME": str(HOME),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": SOON_READY,
    }
    port, page = free_port(), free_port()
    address = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:

        def start(role: str, *arguments: str, **changes: str) -> None:
            log = stack.enter_context((tmp_path / f"{role}{len(changes)}.log").open("w"))
            process = subprocess.Popen(
                [HOME / "bin" / "spark-class", f"org.apache.spark.deploy.{role}", *arguments],
                env=environment | changes,
                stdout=log,
                stderr=log,
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)

        ports = ["--port", str(port), "--webui-port", str(page)]
        start("master.Master", "--host", "127.0.0.1", *ports)
        slow = os.pathsep.join([str(tmp_path / "slow"), os.environ.get("PYTHONPATH", "")])
        for host, changes in (("127.0.0.2", {}), ("127.0.0.3", {"PYTHONPATH": slow})):
            room = ["--cores", "1", "--memory", "1g", "--work-dir", str(tmp_path / host)]
            place = ["--host", host, "--webui-port", "0"]
            start("worker.Worker", *place, *room, address, SPARK_LOCAL_IP=host, **changes)
        for _ in range(1_200):
            if workers(page) == 2:
                break
            time.sleep(0.1)
        yield address, environment


def workers(page: int) -> int:
    """Return how many workers a master says that it has; while it starts it may answer with a page."""
    try:
        with closing(urlopen(f"http://127.0.0.1:{page}/json/", timeout=5)) as answer:
            return int(json.load(answer)["aliveworkers"])
    except (OSError, ValueError):
        return 0


def copies(folder: Path) -> list[dict[str, Any]]:
    """Return the second copies of tasks that Spark has run, from its own log."""
    lines = (line for log in folder.iterdir() for line in log.read_text().splitlines())
    ends = (event for event in map(json.loads, lines) if event["Event"] == "SparkListenerTaskEnd")
    return [event["Task Info"] for event in ends if event["Task Info"]["Speculative"]]


def test_tasks_that_run_twice_at_once_count_once(
    cluster: tuple[str, dict[str, str]], tmp_path: Path, glasshouse: Glasshouse
) -> None:
    address, environment = cluster
    events, records = tmp_path / "events", tmp_path / "records"
    events.mkdir()
    records.mkdir()
    data = people(12_000)
    for part in range(6):
        pq.write_table(data.slice(part * 2_000, 2_000), records / f"{part}.parquet")
    settings = SETTINGS | {"spark.eventLog.dir": str(events)}
    arguments = " ".join(f"--conf '{name}={value}'" for name, value in settings.items())
    question = ["assess", str(records), "-q", "city", "-q", "age", "-q", "sex", "-s", "religion"]
    local = glasshouse(*question, "--json", "--out", tmp_path / "local")
    place = ["--out", str(tmp_path / "spread"), "--engine", "spark", "--master", address]
    spread = subprocess.run(
        [sys.executable, "-m", "glasshouse", *question, "--json", *place],
        env=environment | {"PYSPARK_SUBMIT_ARGS": f"{arguments} pyspark-shell"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert spread.returncode == 0, spread.stderr
    assert copies(events)
    answers = (without_order(json.loads(said)) for said in (spread.stdout, local.out))
    assert next(answers) == next(answers)
    written = ((tmp_path / place / "results.parquet").read_bytes() for place in ("spread", "local"))
    assert next(written) == next(written)
