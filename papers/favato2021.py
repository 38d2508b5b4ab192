"""Tables of Favato 2021 (MSc thesis, UFMG), beside what Glasshouse makes of the same questions.

python papers/favato2021.py                     # the worked example, and 400 synthetic transactions
python papers/favato2021.py --full              # a synthetic month of 817,468 transactions
python papers/favato2021.py --study plan.toml   # a month of yours: `glasshouse totals init` drafts the plan
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import glasshouse as gh
from comparison import Cell, arguments, percent, show, timed
from glasshouse.reconstruction import BinRegister, CampaignResult, Instance

SHIPMENTS = {
    "172800001": ("4924259.04", 39783000),
    "172900001": ("4078722.43", 31955400),
    "228300001": ("2272290.64", 29293252),
    "229000001": ("3752453.61", 42650995),
    "256100001": ("3496134.03", 49503000),
    "256300001": ("6508740.07", 77000000),
    "257300001": ("3183628.58", 31660000),
    "257500001": ("2319861.17", 22443000),
    "316500001": ("4660922.94", 44017851),
    "317100001": ("3673042.49", 33091335),
    "94200001": ("6202199.17", 60500000),
}
"""Table 1.3: dollars and kilograms."""
CITIES = {
    "SAO GONCALO DO AMARANTE": (6024745, 71944247),
    "OURO BRANCO": (9002981, 71738400),
    "SERRA": (21710563, 241106000),
    "IPATINGA": (8333965, 77109186),
}
"""Table 1.2."""
IMPORTERS = BinRegister(dict(zip(CITIES, (8, 1, 106, 6), strict=True)), total=18_430)
"""Section 1.2.6."""
TRANSACTIONS = 817_468

STEPS = {
    "prior": ("0.05%", "712 thousand", "0", "0"),
    "city, joined": ("0.1%", "47 million", "91", "3 million"),
    "city, solved": ("0.44%", "286 million", "980", "99 million"),
    "city within state, joined": ("0.65%", "391 million", "1,463", "110 million"),
    "city within state, solved": ("0.9%", "494 million", "2,003", "137 million"),
}
"""Table 5.6: chance, value at risk, transactions of a certain importer and their value."""


def main(given: Sequence[str] | None = None) -> None:
    """Print the tables."""
    asked = arguments(__doc__, given, study="the plan of a month of yours")
    three_packages()
    coal()
    table_1_4()
    expected_counts()
    if asked.study:
        month(gh.totals.campaign(asked.study).outcome, "The month of the plan")
        return
    records = asked.records or (TRANSACTIONS if asked.full else 400)
    with tempfile.TemporaryDirectory() as folder:
        path = gh.synthetic.write_trade_study(Path(folder) / "month", records=records)
        month(gh.totals.campaign(path).outcome, f"A synthetic month of {records:,} transactions")


def three_packages() -> None:
    """Chapter 2: three packages, two companies, and the totals of their cities."""
    secrets, totals = [], []
    for owners in product(("ob", "sg"), repeat=3):
        secrets.append(owners[1])
        value = sum(n for n, owner in enumerate(owners, 1) if owner == "ob")
        totals.append((value, 6 - value))
    hyper = gh.qif.CoOccurrence.from_records(secrets, totals).hyper()
    guess = gh.qif.BayesVulnerability()
    rows: list[Sequence[Cell]] = [
        ("before the totals are known", "1/2", guess.prior(hyper.prior()))
    ]
    rows += [
        (f"totals {seen}", published, guess.prior(hyper.inner(seen)))
        for seen, published in (((6, 0), "1"), ((3, 3), "1/2"))
    ]
    rows.append(("whatever the totals turn out to be", None, guess.posterior_of(hyper)))
    show("Chapter 2. Whose is package b?", ("", "published", "here"), rows)


def coal() -> None:
    """Section 1.2: where eleven shipments went, under several models of how totals were rounded."""
    rows = []
    for words, instance in {
        "sums rounded to the unit, ±½": _coal(),
        "±¾ of a unit": _coal(tolerance="0.75"),
        "±1 unit": _coal(tolerance=1),
        "each record rounded, then added": _coal(rounding="record"),
    }.items():
        solution = gh.totals.solve(instance).outcome
        bins = {instance.bin_names[place] for place in solution.feasible_bins[0]}
        rows.append((words, solution.status, solution.allocations, ", ".join(sorted(bins)) or "–"))
    show(
        "Tables 1.2 and 1.3. Eleven shipments, four cities; published: one allocation, OURO BRANCO",
        ("how the totals were rounded", "status", "allocations", "172800001 went to"),
        rows,
    )


def table_1_4() -> None:
    """Table 1.4: the chance to name the importer of 172800001."""
    solution = gh.totals.solve(_coal(tolerance=1)).outcome
    found = gh.reconstruction.exposure(solution, IMPORTERS, packages=["172800001"])
    published = (
        *(("1 in 18,430", "–", "267"), ("1 in 121", "152", "40.7 thousand")),
        ("1 in 1", "121", "4.9 million"),
    )
    rows = []
    for phase, (chance, factor, value) in zip(found.phases(), published, strict=True):
        times = "–" if phase.factor is None else f"{phase.factor:.0f}"
        here = (f"1 in {1 / phase.chance:,.0f}", times, f"{phase.value_at_risk:,.2f}")
        rows.append((phase.name, chance, here[0], factor, here[1], value, here[2]))
    header = (
        *("step", "chance, published", "here", "times, published", "here"),
        *("USD at risk, published", "here"),
    )
    show("Table 1.4. One shipment", header, rows)


def expected_counts() -> None:
    """Section 5.1: the chances that follow from the published numbers of transactions guessed right."""
    printed = (
        *(("prior", 44, "0.05%"), ("phase 1, step 1", 705, "0.1%")),
        *(("phase 1, step 3", 3_615, "0.44%"), ("phase 3, step 1", 5_305, "0.65%")),
        ("phase 3, step 3", 7_716, "0.94%"),
    )
    show(
        f"Section 5.1. Chances by the published counts, of {TRANSACTIONS:,} transactions",
        ("step", "guessed right, published", "chance, published", "by the count"),
        [
            (step, right, chance, percent(right / TRANSACTIONS, 4))
            for step, right, chance in printed
        ],
    )


def month(result: CampaignResult, origin: str) -> None:
    """Section 5.1, of a month."""
    linked = {"city": "80,509", "city within state": "138,413"}
    show(
        f"Section 5.1.2. {origin}, {result.records:,} of them published",
        (
            *("phase", "groups", "instances", "unique", "ambiguous", "unsolved"),
            *("linked to a city so far, published", "here"),
        ),
        [
            (
                *(phase.name, phase.groups, phase.instances, phase.unique, phase.ambiguous),
                *(phase.unsolved + phase.untried, linked.get(phase.name), phase.linked_so_far),
            )
            for phase in result.phases
        ],
    )
    rows = []
    for step in result.exposures["bayes"]:
        chance, value, certain, certain_value = STEPS.get(step.name, ("–",) * 4)
        rows.append(
            (
                *(step.name, chance, percent(step.chance), value, f"{step.value_at_risk:,.0f}"),
                *(certain, step.certain, certain_value, f"{step.certain_value:,.0f}"),
            )
        )
    header = ["step"]
    for what in ("chance", "USD at risk", "certain", "USD of these"):
        header += [f"{what}, published", "here"]
    show(f"Table 5.6. {origin}", header, rows)
    show(
        f"Table 5.7. Instances; {origin}",
        ("", "published", "here"),
        [
            ("instances", "84,698", result.instances),
            ("solved", "69,244", result.solved),
            ("share", "82%", percent(result.solved / result.instances, 1)),
        ],
    )


def _coal(**rounding: Any) -> Instance:
    """Return the eleven shipments and four cities."""
    return gh.reconstruction.instance(
        list(SHIPMENTS.values()),
        list(CITIES.values()),
        measures=["value", "weight"],
        package_names=list(SHIPMENTS),
        bin_names=list(CITIES),
        entities=[8, 1, 106, 6],
        **rounding,
    )


if __name__ == "__main__":
    timed(main)
