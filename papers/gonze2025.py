"""Tables of Gonze, Lemes, Almeida, Gonçalves and Alvim 2025, beside what Glasshouse makes of the same questions.

    python papers/gonze2025.py                          # a small synthetic state
    python papers/gonze2025.py --full                   # 112,637,066 synthetic records, as many as São Paulo has
    python papers/gonze2025.py --data 'PASP23*.dbc'     # files of DATASUS as they are downloaded, any state

The names of the files say the state, as DATASUS writes them: PA, the state, year and month.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

import glasshouse as gh
from comparison import Cell, arguments, percent, show, timed

RECORDS = 112_637_066
"""The records of São Paulo in 2023, without the invalid ones."""
SECRET = "PA_PROC_ID"
COLUMNS = {
    "establishment": "PA_CODUNI",
    "age": "PA_IDADE",
    "city_of_residence": "PA_MUNPCN",
    "race": "PA_RACACOR",
    "sex": "PA_SEXO",
    "processing_month": "PA_MVM",
    "procedure_month": "PA_CMP",
    "procedure": SECRET,
}
"""What the synthetic columns are called in the original, in the order of table 3."""
KNOWN = [name for name in COLUMNS.values() if name != SECRET]
INVALID = ["PA_SEXO=0", "PA_IDADE=999", "PA_MUNPCN=999999", "PA_RACACOR=99"]
"""What DATASUS writes where an attribute is not known; the publication leaves such records out."""

LEAKAGE = {
    "AC": (14.24, 22.65, 28.59, 32.92, 37.16, 40.39, 43.04, 43.33),
    "AL": (7.61, 28.17, 33.71, 36.53, 39.80, 41.77, 43.66, 43.92),
    "AP": (9.45, 19.30, 23.31, 27.47, 30.36, 32.69, 34.70, 35.38),
    "AM": (7.66, 17.67, 19.54, 22.12, 23.16, 24.06, 24.77, 25.02),
    "BA": (6.53, 25.83, 28.78, 31.31, 34.51, 36.60, 38.33, 38.77),
    "CE": (9.51, 18.60, 21.09, 22.92, 25.35, 26.73, 27.85, 27.99),
    "DF": (16.32, 10.26, 12.34, 13.65, 15.44, 17.12, 18.71, 19.08),
    "ES": (7.40, 23.58, 27.54, 30.17, 33.71, 36.39, 38.90, 39.19),
    "GO": (5.63, 23.09, 26.36, 29.55, 33.74, 36.09, 38.19, 38.46),
    "MA": (12.53, 20.95, 24.71, 28.28, 31.24, 33.41, 35.29, 35.65),
    "MG": (6.86, 21.03, 22.92, 24.95, 27.14, 28.83, 30.38, 30.76),
    "MT": (10.38, 19.19, 21.21, 24.36, 26.03, 27.41, 28.73, 28.84),
    "MS": (18.43, 22.98, 26.13, 29.02, 31.17, 33.52, 35.39, 35.56),
    "PA": (10.97, 20.81, 23.34, 25.96, 28.34, 29.96, 31.17, 31.34),
    "PB": (5.76, 24.25, 27.29, 30.60, 34.87, 36.98, 38.83, 39.24),
    "PR": (9.10, 26.24, 29.53, 31.95, 34.92, 36.96, 38.98, 39.14),
    "PE": (6.06, 23.42, 26.78, 30.14, 34.22, 36.37, 38.28, 39.33),
    "PI": (4.61, 28.08, 33.04, 38.12, 43.67, 46.22, 48.35, 48.60),
    "RJ": (10.06, 14.30, 16.64, 18.49, 20.43, 21.70, 22.62, 22.95),
    "RN": (5.21, 22.97, 26.03, 29.30, 33.43, 35.53, 37.27, 37.43),
    "RS": (4.55, 19.87, 21.34, 23.06, 25.32, 26.67, 27.52, 27.88),
    "RO": (5.75, 24.68, 26.93, 29.79, 31.77, 33.77, 35.29, 35.66),
    "RR": (6.34, 33.18, 38.18, 42.76, 45.38, 47.76, 49.61, 50.33),
    "SC": (7.17, 30.03, 32.67, 35.96, 38.23, 40.25, 41.51, 41.76),
    "SP": (7.00, 25.05, 28.78, 31.44, 34.15, 36.88, 39.51, 40.04),
    "SE": (5.89, 11.98, 13.22, 14.39, 16.36, 17.68, 18.79, 18.90),
    "TO": (7.44, 28.51, 32.43, 36.41, 39.08, 40.86, 42.52, 42.59),
}
"""Table 2: per state the prior, and the additive leakage with the best 1 to 7 quasi-identifiers, in per cent."""

REMOVED = {
    "AC": (57.57, 30.01, 42.83, 53.12, 54.33, 54.91, 57.28, 57.28),
    "AL": (51.53, 28.86, 40.75, 47.83, 49.66, 49.57, 51.10, 51.26),
    "AP": (44.82, 28.20, 33.95, 42.70, 42.89, 41.99, 44.15, 43.98),
    "AM": (32.67, 15.79, 28.70, 31.73, 31.95, 31.68, 32.43, 32.43),
    "BA": (45.30, 25.98, 36.89, 41.94, 43.19, 43.58, 44.78, 44.86),
    "CE": (37.50, 24.53, 30.81, 34.10, 36.40, 36.09, 37.35, 37.36),
    "DF": (35.40, 21.53, 28.80, 32.87, 33.41, 33.80, 35.01, 35.03),
    "ES": (46.58, 26.38, 35.34, 42.00, 43.75, 44.10, 46.29, 46.27),
    "GO": (44.09, 23.76, 33.74, 38.76, 41.77, 42.01, 43.81, 43.75),
    "MA": (48.17, 29.28, 38.13, 45.16, 46.33, 45.97, 47.82, 47.81),
    "MG": (37.62, 22.00, 30.75, 34.84, 35.83, 36.07, 37.23, 37.22),
    "MT": (39.21, 25.24, 32.82, 37.84, 37.36, 37.90, 39.11, 39.10),
    "MS": (53.99, 34.47, 44.59, 51.48, 51.59, 52.12, 53.82, 53.82),
    "PA": (42.32, 24.44, 35.17, 40.00, 41.12, 40.70, 42.15, 42.08),
    "PB": (45.00, 27.06, 34.92, 39.90, 43.00, 43.15, 44.59, 44.57),
    "PR": (48.24, 26.61, 38.34, 44.07, 46.22, 46.11, 48.08, 48.04),
    "PE": (45.39, 24.32, 34.93, 40.84, 43.55, 43.30, 44.16, 44.34),
    "PI": (53.22, 32.25, 39.91, 46.37, 51.20, 50.76, 52.96, 52.93),
    "RJ": (33.01, 17.31, 27.04, 32.10, 30.66, 31.67, 32.68, 32.62),
    "RN": (42.64, 25.73, 32.88, 38.21, 40.59, 40.92, 42.47, 42.47),
    "RS": (32.43, 17.70, 26.72, 29.71, 31.57, 31.02, 32.07, 32.07),
    "RO": (41.41, 27.49, 33.95, 39.50, 39.24, 39.91, 41.02, 41.04),
    "RR": (56.67, 30.14, 45.01, 54.38, 54.86, 54.27, 55.95, 55.71),
    "SC": (48.93, 26.82, 40.23, 46.18, 47.68, 46.90, 48.68, 48.61),
    "SP": (47.04, 22.51, 35.63, 43.24, 44.01, 44.42, 46.51, 46.52),
    "SE": (24.79, 12.85, 19.50, 22.05, 23.48, 23.69, 24.68, 24.67),
    "TO": (50.02, 33.54, 40.65, 47.66, 48.30, 48.38, 49.95, 49.91),
}
"""Table 3: per state the column called leakage with all quasi-identifiers, and that without each of them."""


def main(given: Sequence[str] | None = None) -> None:
    """Print the tables."""
    asked = arguments(__doc__, given, data="files of DATASUS (SIA-PA) of one state")
    published_tables()
    records = asked.records or (RECORDS if asked.full else 100_000)
    state = Path(asked.data).name[2:4].upper() if asked.data else "SP"
    if state not in LEAKAGE:
        raise SystemExit(f"{asked.data}: the name says no state; it begins as PASP2301 does")
    run = gh.assess(
        asked.data or gh.read(_stream(records), also=[*KNOWN, SECRET]),
        quasi_identifiers=KNOWN,
        sensitive=[SECRET],
        subsets="all",
        invalid=INVALID if asked.data else (),
    )
    origin = f"{state}, {'DATASUS' if asked.data else 'synthetic'}"
    one_state(run.outcome, state, f"{run.outcome.records:,} records, {origin}")


def published_tables() -> None:
    """Hold tables 2 and 3, and what the text says of table 2, against one another."""
    total = [prior + leakage[-1] for prior, *leakage in LEAKAGE.values()]
    best_six = [prior + leakage[-2] for prior, *leakage in LEAKAGE.values()]
    rows: list[Sequence[Cell]] = []
    for what, equal, sums, column in (
        (
            *("prior + leakage with 7 (table 2)", "first column of table 3"),
            *(total, [row[0] for row in REMOVED.values()]),
        ),
        (
            *("prior + leakage with 6 (table 2)", "largest of the others"),
            *(best_six, [max(row[1:]) for row in REMOVED.values()]),
        ),
    ):
        apart = [abs(added - printed) for added, printed in zip(sums, column, strict=True)]
        rows.append((what, equal, len(apart), f"{max(apart):.2f}"))
    show(
        "Tables 2 and 3. One is the sum of the other",
        ("", "is the", "states", "largest difference, in points"),
        rows,
    )
    sizes = range(1, 8)
    places = {
        state: [_place(state, size, lowest=state == "DF") for size in sizes]
        for state in ("RR", "DF")
    }
    show(
        "Table 2. What the text says of it",
        ("", "text", "by the table, with 1 to 7"),
        [
            ("leakage of RR, place from the top", "1", ", ".join(map(str, places["RR"]))),
            ("leakage of DF, place from the bottom", "2", ", ".join(map(str, places["DF"]))),
        ],
    )


def one_state(outcome: Any, state: str, title: str) -> None:
    """Tables 2 and 3 and figure 3, of one state."""
    attacks = {
        frozenset(attack.quasi_identifiers): attack
        for attack in outcome.attacks
        if attack.sensitive == SECRET
    }
    best = [
        max(
            (attack for known, attack in attacks.items() if len(known) == size),
            key=lambda attack: attack.probabilistic.posterior,
        )
        for size in range(1, 8)
    ]
    prior, *leakage = LEAKAGE[state]
    rows = [("none: prior", "", f"{prior:.2f}%", percent(best[0].probabilistic.prior))]
    for size, attack in enumerate(best, 1):
        names = ", ".join(name for name in KNOWN if name in attack.quasi_identifiers)
        figures = (f"{leakage[size - 1]:.2f}%", percent(attack.probabilistic.additive))
        rows.append((f"best {size}", names if size < 7 else "all", *figures))
    show(
        f"Table 2. Additive leakage; {title}",
        ("quasi-identifiers", "which", "published", "here"),
        rows,
    )
    everything = frozenset(KNOWN)
    cases = {"all": everything, **{f"all but {name}": everything - {name} for name in KNOWN}}
    show(
        f"Table 3. One guess; {title}",
        ("quasi-identifiers", "published", "here"),
        [
            (words, f"{printed:.2f}%", percent(attacks[known].probabilistic.posterior))
            for (words, known), printed in zip(cases.items(), REMOVED[state], strict=True)
        ],
    )
    printed = {7: "more than 28%"} if state == "RR" else {}
    show(
        f"Figure 3. Records whose procedure is guessed with 90% or more; {title}",
        ("quasi-identifiers", "published", "here"),
        [
            (
                f"best {size}" if size < 7 else "all",
                printed.get(size),
                percent(sum(best[size - 1].success[9:]) / best[size - 1].records),
            )
            for size in (1, 3, 7)
        ],
    )


def _place(state: str, size: int, *, lowest: bool) -> int:
    """Return which place a state has by its leakage with so many quasi-identifiers."""
    order = sorted(LEAKAGE, key=lambda name: LEAKAGE[name][size], reverse=not lowest)
    return order.index(state) + 1


def _stream(records: int) -> pa.RecordBatchReader:
    """Return the synthetic records under the names of the original, batch by batch."""
    made = gh.synthetic.generator("outpatient")
    schema = pa.schema([field.with_name(COLUMNS[field.name]) for field in made.schema])

    def renamed() -> Iterator[pa.RecordBatch]:
        for batch in made.batches(records, seed=0):
            yield batch.rename_columns(schema.names)

    return pa.RecordBatchReader.from_batches(schema, renamed())


if __name__ == "__main__":
    timed(main)
