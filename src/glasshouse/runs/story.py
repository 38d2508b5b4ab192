"""The whole story on a synthetic census: assessed, followed over a year, protected, compared, and priced.

No record of it describes a person. Everything follows from one seed, so that the story is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from glasshouse import synthetic
from glasshouse.atomic import new_file
from glasshouse.errors import DataError
from glasshouse.language import spoken, text
from glasshouse.report import Page, Provenance, archive, to_html
from glasshouse.report.story import Chapter, story_page
from glasshouse.runs.anonymising import AnonymiseRun, run_anonymise
from glasshouse.runs.comparing import Comparison, compare_runs, write_comparison
from glasshouse.runs.deterring import DeterRun, run_deter
from glasshouse.runs.runner import Means, Run, run
from glasshouse.runs.store import MANIFEST, PAGES, REPORT, Outcome, check_place, write_run
from glasshouse.sources.files import fingerprint
from glasshouse.study import Study, make_study
from glasshouse.study.economics import DeterStudy
from glasshouse.synthetic.school_census import a_year_later

RECORDS, SEED = 100_000, 2018
FIRST, SECOND = "census-2018.csv", "census-2019.csv"
ASSESSED, FOLLOWED, COMPARED, PRICED = "1-assessed", "2-two-years", "5-compared", "6-priced"
K_ANONYMOUS, ANATOMY = "3-k-anonymous", "4-anatomy"
STUDENT = "student"
"""The pseudonym that a student keeps from one census to the next."""
KNOWN = (
    "day_of_birth",
    "month_of_birth",
    "year_of_birth",
    "gender",
    "ethnicity",
    "city_of_birth",
    "school",
)
LITTLE_KNOWN = ("month_of_birth", "year_of_birth", "gender", "school")
PROTECTED = ("month_of_birth", "year_of_birth", "gender", "city_of_residence")
"""What is known of a person in the protected releases."""
SENSITIVE = "ethnicity"
K, L, SUPPRESSED = 10, 2, 0.05

OnStep = Callable[[str], None]


@dataclass(frozen=True)
class Story:
    """What came out, chapter by chapter."""

    folder: Path
    """Where everything is."""
    assessed: Run
    """One census, every set of quasi-identifiers."""
    followed: Run
    """Two censuses of the same students."""
    k_anonymous: AnonymiseRun
    """A release in which everybody looks like several others."""
    anatomy: AnonymiseRun
    """A release in which the sensitive attribute is published apart."""
    comparison: Comparison
    """Both beside the original."""
    priced: DeterRun
    """What a rational adversary does with the census."""

    @property
    def report(self) -> Path:
        """The report of the story."""
        return self.folder / REPORT

    def to_dict(self) -> dict[str, Any]:
        """Return the main figures as plain values."""
        return {
            "records": self.assessed.records,
            "assessed": self.assessed.assessment.attacks[-3].to_dict(),
            "two_years": self.followed.to_dict(),
            "compared": self.comparison.to_dict(),
            "priced": self.priced.to_dict(),
            "report": self.report.as_posix(),
        }

    def to_page(self) -> Page:
        """Return the story as one page, in the language that is spoken."""
        from glasshouse.report.mitigation.comparison_page import comparison_page

        provenance = self._provenance()
        compared = comparison_page(self.comparison, provenance=provenance, command="")
        chapters = (
            Chapter(text("One census"), ASSESSED, self.assessed.to_page(provenance), findings=4),
            Chapter(text("Two years"), FOLLOWED, self.followed.to_page(provenance)),
            Chapter(
                text("Protected by k-anonymity"),
                K_ANONYMOUS,
                self.k_anonymous.to_page(provenance),
                findings=3,
            ),
            Chapter(
                text("Protected by Anatomy"), ANATOMY, self.anatomy.to_page(provenance), figures=0
            ),
            Chapter(text("The protections side by side"), COMPARED, compared),
            Chapter(
                text("What a rational adversary does"), PRICED, self.priced.to_page(provenance)
            ),
        )
        return story_page(
            chapters,
            title=text("A census before its release: the whole story"),
            lead=text(
                "{records} synthetic students: assessed, followed over a year, protected, compared, and priced",
                records=self.assessed.records,
            ),
            command="glasshouse demo",
            provenance=provenance,
        )

    def _provenance(self) -> Provenance:
        digests = {name: fingerprint(self.folder / name) for name in (FIRST, SECOND)}
        return Provenance(version("glasshouse"), "", digests, seed=SEED)


def tell_story(folder: Path, *, means: Means | None = None, on_step: OnStep | None = None) -> Story:
    """Make two synthetic censuses and everything that Glasshouse tells about them, each in a folder of its own.

    Args:
        folder: Where everything is written; a story that is there already is replaced.
        means: What there is to work with.
        on_step: Called with what is done next.

    Raises:
        DataError: The folder is taken by something else, or cannot be written.
    """
    means, say = means or Means(), on_step or (lambda step: None)
    _check_folder(folder)
    say(text("making two synthetic censuses of {records} students", records=RECORDS))
    first, second = _write_censuses(folder)
    say(text("assessing the first with every set of attributes"))
    assessed = run(_census_study(first), means=means)
    _keep(assessed, folder / ASSESSED)
    say(text("following the students into the second"))
    followed = run(_two_years_study(first, second), means=means)
    _keep(followed, folder / FOLLOWED)
    say(text("making a k-anonymous release"))
    k_anonymous = run_anonymise(_k_study(first), means=means)
    _keep(k_anonymous, folder / K_ANONYMOUS)
    say(text("making a release by Anatomy"))
    anatomy = run_anonymise(_anatomy_study(first), means=means)
    _keep(anatomy, folder / ANATOMY)
    say(text("comparing them with the original"))
    protected = [folder / K_ANONYMOUS, folder / ANATOMY]
    comparison = compare_runs(protected, means=means)
    write_comparison(
        comparison,
        folder / COMPARED,
        command=f"glasshouse compare {K_ANONYMOUS} {ANATOMY}",
        overwrite=True,
    )
    say(text("asking what a rational adversary would do"))
    priced = run_deter(_price_study(first), means=means)
    _keep(priced, folder / PRICED)
    story = Story(folder, assessed, followed, k_anonymous, anatomy, comparison, priced)
    say(text("writing the report"))
    _write_report(story)
    return story


def _check_folder(folder: Path) -> None:
    """Make sure that nothing but a story of ours is replaced.

    Raises:
        DataError: There is something else.
    """
    steps = (ASSESSED, FOLLOWED, K_ANONYMOUS, ANATOMY, COMPARED, PRICED)
    for step in steps:
        check_place(folder / step, overwrite=True)
    own = [folder / name for name in (FIRST, SECOND, REPORT, PAGES)]
    taken = [path for path in own if path.exists()]
    if taken and not (folder / ASSESSED / MANIFEST).exists():
        raise DataError(
            text(
                '"{path}" exists and is not of a demo; choose another folder with --out',
                path=str(taken[0]),
            )
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            text(
                'cannot write "{path}": {reason}; choose another place',
                path=str(folder),
                reason=str(error.strerror),
            )
        ) from None


def _write_censuses(folder: Path) -> tuple[Path, Path]:
    """Write the census of two years, in which a student keeps a pseudonym."""
    students = synthetic.table("school-census", records=RECORDS, seed=SEED)
    pseudonyms = np.random.default_rng(SEED).permutation(RECORDS)
    students = students.append_column(STUDENT, pa.array(pseudonyms))
    later = a_year_later(students, seed=SEED)
    paths = folder / FIRST, folder / SECOND
    for path, table in zip(paths, (students, later), strict=True):
        with new_file(path) as draft:
            pyarrow.csv.write_csv(table, draft)
    return paths


def _census_study(first: Path) -> Study:
    return make_study(
        {
            "datasets": [{"path": first}],
            "adversary": {
                "quasi_identifiers": KNOWN,
                "sensitive": ["disability", "transport"],
            },
            "subsets": ["all"],
            "subject": "student",
        }
    )


def _two_years_study(first: Path, second: Path) -> Study:
    return make_study(
        {
            "datasets": [{"path": first}, {"path": second}],
            "adversary": {
                "quasi_identifiers": LITTLE_KNOWN,
                "sensitive": ["transport"],
                "identifier": STUDENT,
            },
            "subsets": ["full"],
            "subject": "student",
        }
    )


def _protected(first: Path, **protection: object) -> Study:
    return make_study(
        {
            "command": "anonymise",
            "datasets": [{"path": first}],
            "adversary": {"quasi_identifiers": PROTECTED, "sensitive": [SENSITIVE]},
            "protection": protection,
            "subject": "student",
            "seed": SEED,
        }
    )


def _k_study(first: Path) -> Study:
    return _protected(first, method="k-anonymity", k=K, suppression=SUPPRESSED)


def _anatomy_study(first: Path) -> Study:
    return _protected(first, method="anatomy", l=L)


def _price_study(first: Path) -> DeterStudy:
    """Return the question whether it pays to link the census with a register of all students."""
    census = {"path": first}
    return DeterStudy.model_validate(
        {
            "release": census,
            "people": census,
            "quasi_identifiers": PROTECTED,
            "prior": 1.0,
            "subject": "student",
        }
    )


def _keep(outcome: Outcome, folder: Path) -> None:
    write_run(outcome, folder, overwrite=True)


def _write_report(story: Story) -> None:
    """Write the report of the whole beside the folders of its chapters."""
    pages = archive.in_every_language(story.to_page)
    for name, content in (
        (PAGES, archive.to_json(pages)),
        (REPORT, to_html(pages[spoken()])),
    ):
        with new_file(story.folder / name) as draft:
            draft.write_text(content, encoding="utf-8")
