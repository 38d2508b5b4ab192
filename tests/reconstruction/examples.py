"""Instances for several tests: the worked example of the literature, retyped, and random ones with their truth."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from glasshouse.reconstruction import Instance

TRANSACTIONS = (
    ("172800001", "4924259.04", "39783000"),
    ("172900001", "4078722.43", "31955400"),
    ("228300001", "2272290.64", "29293252"),
    ("229000001", "3752453.61", "42650995"),
    ("256100001", "3496134.03", "49503000"),
    ("256300001", "6508740.07", "77000000"),
    ("257300001", "3183628.58", "31660000"),
    ("257500001", "2319861.17", "22443000"),
    ("316500001", "4660922.94", "44017851"),
    ("317100001", "3673042.49", "33091335"),
    ("94200001", "6202199.17", "60500000"),
)
"""Favato 2021, table 1.3: number, value in USD, weight in kg."""
CITIES = (
    ("SAO GONCALO DO AMARANTE", 6_024_745, 71_944_247, 8),
    ("OURO BRANCO", 9_002_981, 71_738_400, 1),
    ("SERRA", 21_710_563, 241_106_000, 106),
    ("IPATINGA", 8_333_965, 77_109_186, 6),
)
"""Favato 2021, table 1.2 and section 1.2.6: city, value, weight, importers."""


def every_allocation(instance: Instance) -> list[tuple[int, ...]]:
    """The slow, obvious twin: try all allocations of packages to bins."""
    packages, bins, _ = instance.size
    return [a for a in product(range(bins), repeat=packages) if instance.allows(a)]


def trying_everything(instance: Instance) -> tuple[int, NDArray[np.int64]]:
    """All allocations at once: how many are valid, and how many of these have each package in each bin.

    By the definition, low − h · max(1, c) ≤ S ≤ high + h · max(1, c), and nothing of the package under test.
    """
    packages, bins, _ = instance.size
    everything = np.indices((bins,) * packages).reshape(packages, -1).T
    valid = np.ones(len(everything), bool)
    for bin_ in range(bins):
        inside = (everything == bin_).astype(np.int64)
        slack = instance.halfwidth * np.maximum(inside.sum(axis=1), 1)[:, None]
        sums = inside @ instance.packages
        valid &= (sums >= instance.low[bin_] - slack).all(axis=1)
        valid &= (sums <= instance.high[bin_] + slack).all(axis=1)
    kept = everything[valid]
    return len(kept), np.stack([(kept == bin_).sum(axis=0) for bin_ in range(bins)], axis=1)


def plain_instance(
    packages: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    halfwidth: NDArray[np.int64] | None = None,
    entities: tuple[int, ...] | None = None,
) -> Instance:
    """An instance with plain names."""
    width = packages.shape[1]
    return Instance(
        packages=packages,
        low=low,
        high=high,
        halfwidth=np.zeros(width, np.int64) if halfwidth is None else halfwidth,
        measures=tuple(f"measure {q}" for q in range(width)),
        scale=(1,) * width,
        package_names=tuple(f"package {p}" for p in range(len(packages))),
        bin_names=tuple(f"bin {b}" for b in range(len(low))),
        entities=entities,
    )


@st.composite
def small_instances(draw: st.DrawFn) -> tuple[Instance, tuple[int, ...]]:
    """Small instances with windows of every kind, about a truth that may be missed by them."""
    bins = draw(st.integers(1, 4))
    number = draw(st.integers(1, {1: 10, 2: 8, 3: 6, 4: 5}[bins]))
    width = draw(st.integers(1, 3))
    largest = draw(st.sampled_from([2, 6, 40, 1000]))
    values = st.integers(0, largest)
    rows = draw(st.lists(st.tuples(*[values] * width), min_size=number, max_size=number))
    if draw(st.booleans()):
        rows = [rows[0] if draw(st.integers(0, 3)) == 0 else row for row in rows]
    packages = np.array(rows, np.int64).reshape(number, width)
    truth = tuple(draw(st.integers(0, bins - 1)) for _ in range(number))
    slack = np.array([draw(st.sampled_from([0, 0, 1, largest // 3])) for _ in range(width)])
    margin = draw(st.sampled_from([0, 0, 1, largest // 4]))
    totals = np.zeros((bins, width), np.int64)
    np.add.at(totals, list(truth), packages)
    for bin_ in range(bins):
        for measure in range(width):
            most = margin + int(slack[measure])
            totals[bin_, measure] += draw(
                st.integers(-most, most + draw(st.sampled_from([0, 0, 2])))
            )
    entities = tuple(draw(st.integers(1, 9)) for _ in range(bins))
    instance = plain_instance(packages, totals - margin, totals + margin, slack, entities)
    return instance, truth
