"""Linking two datasets of 1,000,000 records without an identifier: by birth date and sex, and then by town too.

Birth date and sex persist for certain, the town with probability 0.95. The baseline is plain SQL on DuckDB that
computes one figure, the posterior of inferring the secret (CAL), by group-bys and joins, in doubles. Ours does so
exactly, and re-identification, certainty and uniques with it. Promise: never slower.
"""

from __future__ import annotations

import sys
from functools import partial

import duckdb
import numpy as np
import pyarrow as pa

from glasshouse.microdata import Assessment, LinkKey, link
from glasshouse.table import EncodedTable, read
from measure import compare

RECORDS = 1_000_000
BLOCK = [LinkKey("born"), LinkKey("sex")]
CERTAIN = """
    WITH shown AS (SELECT born, sex, grade, area, count(*) AS n FROM later GROUP BY ALL),
    blocks AS (SELECT born, sex, count(*) AS n FROM later GROUP BY ALL),
    rows AS (
        SELECT born, sex, shown.grade, shown.area, shown.n / blocks.n AS chance
        FROM shown JOIN blocks USING (born, sex)
    ),
    groups AS (SELECT born, sex, grade, area, ill, count(*) AS n FROM focal GROUP BY ALL),
    cells AS (
        SELECT groups.grade, groups.area, rows.grade AS grade2, rows.area AS area2, ill,
            sum(groups.n * coalesce(chance, 1)) AS weight
        FROM groups LEFT JOIN rows USING (born, sex) GROUP BY ALL
    ),
    best AS (
        SELECT max(weight) AS weight FROM cells GROUP BY grade, area, grade2, area2
    )
    SELECT sum(weight) FROM best
"""
CHANGING = """
    WITH shown AS (SELECT born, sex, grade, area, count(*) AS n FROM later GROUP BY ALL),
    agreeing AS (SELECT born, sex, city, grade, area, count(*) AS n FROM later GROUP BY ALL),
    blocks AS (SELECT DISTINCT born, sex, city FROM focal),
    weights AS (
        SELECT born, sex, city, shown.grade, shown.area,
            shown.n + (0.95::DOUBLE / 0.05 * (?::DOUBLE - 1) - 1) * coalesce(agreeing.n, 0) AS weight
        FROM blocks JOIN shown USING (born, sex)
        LEFT JOIN agreeing USING (born, sex, city, grade, area)
    ),
    totals AS (SELECT born, sex, city, sum(weight) AS total FROM weights GROUP BY ALL),
    rows AS (
        SELECT born, sex, city, grade, area, weight / total AS chance
        FROM weights JOIN totals USING (born, sex, city)
    ),
    groups AS (SELECT born, sex, city, grade, area, ill, count(*) AS n FROM focal GROUP BY ALL),
    cells AS (
        SELECT groups.grade, groups.area, rows.grade AS grade2, rows.area AS area2, ill,
            sum(groups.n * coalesce(chance, 1)) AS weight
        FROM groups LEFT JOIN rows USING (born, sex, city) GROUP BY ALL
    ),
    best AS (
        SELECT max(weight) AS weight FROM cells GROUP BY grade, area, grade2, area2
    )
    SELECT sum(weight) FROM best
"""


def two_censuses() -> tuple[pa.Table, pa.Table]:
    """People of two years: one in ten is replaced, one in twenty moves, and most advance a grade."""
    generator = np.random.default_rng(2022)
    born = generator.integers(0, 60 * 365, RECORDS)
    sex = generator.integers(0, 2, RECORDS)
    city = (5_570 * generator.random(RECORDS) ** 3).astype(np.int64)
    grade = generator.integers(0, 12, RECORDS)
    area = generator.integers(0, 27, RECORDS)
    ill = (10 * generator.random(RECORDS) ** 2).astype(np.int64)
    focal = {"born": born, "sex": sex, "city": city, "grade": grade, "area": area, "ill": ill}
    new, moved, same = (generator.random((3, RECORDS)).T < (0.1, 0.05, 0.2)).T
    later = {
        "born": np.where(new, generator.integers(0, 60 * 365, RECORDS), born),
        "sex": np.where(new, generator.integers(0, 2, RECORDS), sex),
        "city": np.where(moved, generator.integers(0, 5_570, RECORDS), city),
        "grade": np.where(same, grade, grade + 1),
        "area": np.where(moved, generator.integers(0, 27, RECORDS), area),
    }
    order = generator.permutation(RECORDS)
    return pa.table(focal), pa.table({name: values[order] for name, values in later.items()})


def ours(focal: EncodedTable, later: EncodedTable, keys: list[LinkKey]) -> Assessment:
    return link(focal, [later], keys=keys, quasi_identifiers=["grade", "area"], sensitive=["ill"])


def sql(database: duckdb.DuckDBPyConnection, query: str, values: list[int]) -> float:
    return float(database.execute(query, values).fetchall()[0][0]) / RECORDS


def main() -> bool:
    people = two_censuses()
    database = duckdb.connect()
    for name, table in zip(("focal", "later"), people, strict=True):
        database.register(f"{name}_frame", table)
        database.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_frame")
    focal, later = (read(table) for table in people)
    towns = len(np.unique(np.concatenate([table["city"].to_numpy() for table in people])))
    held = []
    for title, keys, query, values in (
        ("birth date and sex", BLOCK, CERTAIN, []),
        (
            "a town that may change, too",
            [*BLOCK, LinkKey("city", persists=0.95)],
            CHANGING,
            [towns],
        ),
    ):
        linked = ours(focal, later, keys)
        assert linked.exact
        difference = linked.attacks[-1].probabilistic.posterior - sql(database, query, values)
        assert abs(difference) < 1e-9
        held.append(
            compare(
                f"linking 2 × 1,000,000 records by {title}",
                ours=partial(ours, focal, later, keys),
                baseline=partial(sql, database, query, values),
                promise=1,
                repeats=3,
            )
        )
    return all(held)


if __name__ == "__main__":
    sys.exit(not main())
