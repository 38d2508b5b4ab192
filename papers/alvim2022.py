"""Tables of Alvim, Fernandes, McIver, Morgan and Nunes 2022, beside what Glasshouse makes of the same questions.

    python papers/alvim2022.py              # a small synthetic census
    python papers/alvim2022.py --full       # 48,176,423 synthetic students, all 2,047 subsets
    python papers/alvim2022.py --census students.parquet

The school censuses of INEP are no longer published by student. Whoever has them gives a file with the columns of
`glasshouse synth school-census`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import glasshouse as gh
from comparison import Cell, arguments, percent, show, timed
from glasshouse.microdata import Attack
from glasshouse.table import EncodedTable

CENSUS = gh.synthetic.generator("school-census")
PUBLISHED_RECORDS = 48_176_423
BIRTH = ("day_of_birth", "month_of_birth", "year_of_birth")
KNOWN = {
    "day, month, school": ("day_of_birth", "month_of_birth", "school"),
    "date of birth, school": (*BIRTH, "school"),
    "date of birth, gender, city": (*BIRTH, "gender", "city_of_residence"),
    "date of birth, gender, city, school": (*BIRTH, "gender", "city_of_residence", "school"),
    "all eleven": CENSUS.quasi_identifiers,
}
"""What the adversary knows, in the words of table 7 and section 5.2."""
PUBLISHED = {
    ("day, month, school", None): ("30.92%", None),
    ("day, month, school", "disability"): ("95.35%", None),
    ("day, month, school", "transport"): ("85.63%", None),
    ("date of birth, school", None): ("81.13%", "89.93%"),
    ("date of birth, school", "disability"): ("99.31%", "99.69%"),
    ("date of birth, school", "transport"): ("97.42%", "98.82%"),
    ("date of birth, gender, city", None): ("26.63%", None),
    ("date of birth, gender, city", "disability"): ("65.54%", None),
    ("date of birth, gender, city", "transport"): ("54.54%", None),
    ("date of birth, gender, city, school", None): ("90.43%", None),
    ("date of birth, gender, city, school", "disability"): ("99.67%", None),
    ("date of birth, gender, city, school", "transport"): ("98.77%", None),
    ("all eleven", None): ("96.34%", "98.14%"),
    ("all eleven", "disability"): ("99.89%", "99.95%"),
}
"""Per knowledge and secret (None: the name), the share that is certain, and one guess."""

YEARS = {
    "2014": (("1.44%", "57.17%", "58.07%"), ("4.25%", "98.71%", "91.64%")),
    "2014 to 2015": (("12.88%", "79.21%", "68.60%"), ("20.08%", "99.03%", "93.03%")),
    "2014 to 2016": (("25.26%", "87.59%", "75.32%"), ("34.37%", "99.30%", "94.17%")),
    "2014 to 2017": (("36.31%", "91.28%", "79.92%"), ("45.60%", "99.49%", "95.07%")),
}
"""Table 8: certain, and one guess, of the name, disability and transport."""

PROTECTED = {
    "original": ("96.342560%", "99.890918%", "98.138799%", "99.946785%"),
    "k = 4": ("0.000000%", "0.048254%", "0.008369%", "97.556444%"),
    "k = 12": ("0.000000%", "0.079773%", "0.029857%", "97.556444%"),
    "k = 20": ("0.000000%", "0.008977%", "0.002790%", "97.556444%"),
    "t = 0.1": ("0.000000%", "0.008977%", "0.002790%", "97.556444%"),
    "t = 0.3": ("0.000023%", "0.013258%", "0.002750%", "97.556444%"),
    "t = 0.5": ("0.000166%", "0.041118%", "0.006615%", "97.556444%"),
}
"""Table 11: name certain, disability certain, name by one guess, disability by one guess."""


def main(given: Sequence[str] | None = None) -> None:
    """Print the tables."""
    asked = arguments(__doc__, given, census="a census with the columns of the synthetic one")
    native_language()
    two_years()
    students = asked.census or _stream(
        asked.records or (PUBLISHED_RECORDS if asked.full else 10_000)
    )
    table = gh.read(
        students,
        quasi_identifiers=CENSUS.quasi_identifiers,
        sensitive=CENSUS.sensitive,
        name="census",
    )
    single_dataset(table, "INEP" if asked.census else "synthetic")
    four_years(1_000_000 if asked.full else 10_000)
    protected(100_000 if asked.full else 5_000)


def native_language() -> None:
    """Tables 2 and 9: from four people to a hyper, and what a bet of 4 dollars is worth."""
    language = ["English", "Port.", "German", "German"]
    seen = ["M, >30", "M, ≤30", "F, ≤30", "M, ≤30"]
    hyper = gh.qif.CoOccurrence.from_records(language, seen).hyper()
    published = {"M, ≤30": "1/2", "M, >30": "1/4", "F, ≤30": "1/4"}
    guess = gh.qif.GVulnerability(gh.qif.GainFunction.bayes(hyper.secrets).scaled(4))
    rows: list[Sequence[Cell]] = [
        (f"chance to see {seen}", outer, hyper.outer(seen)) for seen, outer in published.items()
    ]
    rows += [
        ("expected gain before she looks", "$2", f"${guess.prior(hyper.prior())}"),
        ("expected gain after", "$3", f"${guess.posterior_of(hyper)}"),
    ]
    show("Tables 2 and 9. The native language of four people", ("", "published", "here"), rows)


def two_years() -> None:
    """Tables 3, 4 and 10: ten students in D1, nine of them also in D2."""
    first = pa.table(
        {
            "id": "1 2 3 4 5 6 7 8 9 10".split(),
            "gender": "F F F M M F F F M M".split(),
            "grade": "A A C B B C C E D D".split(),
            "disability": "no yes yes yes no yes yes no no no".split(),
        }
    )
    second = pa.table(
        {"id": "1 2 3 4 5 6 7 8 9 11".split(), "grade": "B A C B B D C E D A".split()}
    )
    focal = gh.read(
        first, quasi_identifiers=["gender", "grade"], sensitive=["disability"], id="id", name="D1"
    )
    auxiliary = gh.read(second, quasi_identifiers=["grade"], id="id", name="D2")
    attacks = gh.assess([focal, auxiliary], subsets="full").outcome.attacks
    name, disability = (attack for attack in attacks if len(attack.datasets) == 2)
    rows = []
    for what, attack, published in (
        ("CAL, disability", disability, ("0", "4/5", "1/2", "9/10", "9/5")),
        ("CRL", name, ("0", "3/5", "1/10", "4/5", "8")),
    ):
        certain, guessed = attack.deterministic, attack.probabilistic
        figures = (
            *(certain.prior, certain.posterior, guessed.prior, guessed.posterior),
            guessed.multiplicative,
        )
        measures = (
            *("certain, before", "certain, after", "one guess, before", "one guess, after"),
            "times as likely",
        )
        rows += [(what, *row) for row in zip(measures, published, figures, strict=True)]
    show("Tables 3, 4 and 10. Two years of ten students", ("", "", "published", "here"), rows)


def single_dataset(table: EncodedTable, origin: str) -> None:
    """Table 7, section 5.2 and the first row of table 11, from a sweep of all 2,047 subsets."""
    sweep = gh.microdata.sweep(table)
    attacks = {
        (frozenset(attack.quasi_identifiers), attack.sensitive): attack
        for attack in sweep.attacks()
    }
    rows = []
    for (known, secret), published in PUBLISHED.items():
        attack = attacks[frozenset(KNOWN[known]), secret]
        shares = (attack.deterministic.posterior, attack.probabilistic.posterior)
        rows.append((known, secret or "name", *_pairs(published, map(percent, shares))))
    show(
        f"Table 7, section 5.2, table 11. {table.records:,} students, {origin}",
        ("she knows", "she infers", "certain, published", "here", "one guess, published", "here"),
        rows,
    )
    school = frozenset({"school"})
    birthplace = {"city_of_birth", "city_of_residence"}
    counts = [
        ("school", "name", "99", attacks[school, None]),
        ("school", "disability", "5.9 million", attacks[school, "disability"]),
        ("city of birth, city", "name", "430,000", attacks[frozenset(birthplace), None]),
        (
            *("city of birth, city, ethnicity", "name", "800,000"),
            attacks[frozenset({*birthplace, "ethnicity"}), None],
        ),
    ]
    show(
        f"Section 5.2. Records of which she is certain, of {table.records:,}",
        ("she knows", "she infers", f"published, of {PUBLISHED_RECORDS:,}", "here"),
        [(*words, attack.certain) for *words, attack in counts],
    )


def four_years(students: int) -> None:
    """Table 8, on a collection whose rates of change are invented."""
    years = _collection(students)
    attacks = gh.assess(years, subsets="full").outcome.attacks
    secrets = (None, "disability", "transport")
    certain_rows, guess_rows = [], []
    for size, (window, (certain, guess)) in enumerate(YEARS.items(), 1):
        chosen: dict[str | None, Attack] = {
            attack.sensitive: attack for attack in attacks if len(attack.datasets) == size
        }
        shares = [chosen[secret].deterministic.posterior for secret in secrets]
        certain_rows.append((window, *_pairs(certain, map(percent, shares))))
        shares = [chosen[secret].probabilistic.posterior for secret in secrets]
        guess_rows.append((window, *_pairs(guess, map(percent, shares))))
    header = ["datasets"]
    for what in ("name", "disability", "transport"):
        header += [f"{what}, published", "here"]
    people = f"{students:,} invented students who move at invented rates"
    show(f"Table 8a. Certain; {people}", header, certain_rows)
    show(f"Table 8b. One guess; {people}", header, guess_rows)


def protected(students: int) -> None:
    """Table 11: k-anonymity and t-closeness at the least loss, and the same attacks on what is released."""
    table = gh.read(
        gh.synthetic.table("school-census", records=students),
        quasi_identifiers=CENSUS.quasi_identifiers,
        sensitive=["disability"],
    )
    rows = []
    for promise, published in PROTECTED.items():
        word, _, value = promise.partition(" = ")
        release: EncodedTable | None = table
        if value:
            promised: dict[str, Any] = {word: int(value) if word == "k" else float(value)}
            release = gh.anonymise(table, **promised).release
        name, disability = gh.assess(release, subsets="full").outcome.attacks
        shares = (
            *(name.deterministic.posterior, disability.deterministic.posterior),
            *(name.probabilistic.posterior, disability.probabilistic.posterior),
        )
        rows.append((promise, *_pairs(published, map(percent, shares))))
    header = ["release"]
    for what in (
        *("name certain", "disability certain"),
        *("name, one guess", "disability, one guess"),
    ):
        header += [f"{what}, published", "here"]
    show(f"Table 11. {students:,} synthetic students, recoded by us", header, rows)


def _stream(records: int) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(CENSUS.schema, CENSUS.batches(records, seed=0))


def _collection(students: int) -> list[EncodedTable]:
    """Four years of a synthetic census: each year some leave, some move, some repeat; all rates are invented."""
    rng = np.random.default_rng(2014)
    census = gh.synthetic.table("school-census", records=students)
    school, city, born = (
        census[name].to_numpy(zero_copy_only=False)
        for name in ("school", "city_of_residence", "year_of_birth")
    )
    stage = np.clip(2018 - born.astype(int) - 5, 0, 13)
    here = np.ones(students, dtype=bool)
    known = ["city", "school", "stage"]
    tables = []
    for year in range(2014, 2018):
        columns = {
            "student": np.flatnonzero(here).astype(str),
            "city": city[here],
            "school": school[here],
            "stage": stage[here].astype(str),
        }
        focal = {name: census[name] for name in CENSUS.sensitive} if year == 2014 else {}
        tables.append(
            gh.read(
                pa.table({**columns, **focal}),
                quasi_identifiers=known,
                sensitive=list(focal),
                id="student",
                name=str(year),
            )
        )
        here &= rng.random(students) > 0.08
        stage = np.where(rng.random(students) < 0.88, stage + 1, stage)
        movers = rng.random(students) < 0.12
        destination = rng.integers(0, students, students)
        school = np.where(movers, school[destination], school)
        city = np.where(movers, city[destination], city)
    return tables


def _pairs(published: Sequence[str | None], here: Iterable[str]) -> list[str | None]:
    return [cell for pair in zip(published, here, strict=True) for cell in pair]


if __name__ == "__main__":
    timed(main)
