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
from glasshouse.language import LANGUAGES, marked, percentage, speaking, text, translated
from glasshouse.measures import measures
from glasshouse.report import Page, Provenance
from glasshouse.report.story import Chapter, story_page
from glasshouse.runs.folder import MANIFEST, PAGES, REPORT, check_place, report_files, today
from glasshouse.runs.run import Outcome, Resources, Run, run, write_run
from glasshouse.study import Question, study_class, validated
from glasshouse.synthetic.school_census import a_year_later

RECORDS, SEED = 100_000, 2018
FIRST, SECOND = "census-2018.csv", "census-2019.csv"
ASSESSED, FOLLOWED, COMPARED, PRICED = "1-assessed", "2-two-years", "5-compared", "6-priced"
K_ANONYMOUS, ANATOMY = "3-k-anonymous", "4-anatomy"
STUDENT = "student"
"""The pseudonym that a student keeps from one census to the next."""
KNOWN = ("month_of_birth", "year_of_birth", "gender", "city_of_residence")
"""What is known of a person: the same in every chapter, so that the figures form one line."""
SENSITIVE = "ethnicity"
COLUMNS = {
    "day_of_birth": marked("day of birth"),
    "month_of_birth": marked("month of birth"),
    "year_of_birth": marked("year of birth"),
    "gender": marked("gender"),
    "ethnicity": marked("ethnicity"),
    "nationality": marked("nationality"),
    "country_of_birth": marked("country of birth"),
    "city_of_birth": marked("city of birth"),
    "city_of_residence": marked("city of residence"),
    "school": marked("school"),
    "school_type": marked("type of school"),
    "disability": marked("disability"),
    "transport": marked("school transport"),
    STUDENT: marked("pseudonym of the student"),
}
"""What the columns are called in a report."""
K, L, SUPPRESSED = 11, 2, 0.05

OnStep = Callable[[str], None]


@dataclass(frozen=True)
class Story:
    """What came out, chapter by chapter."""

    folder: Path
    """Where everything is."""
    runs: dict[str, Run[Question, Outcome]]
    """The run of every chapter, by its folder."""

    @property
    def report(self) -> Path:
        """The report of the story."""
        return self.folder / REPORT

    def to_dict(self) -> dict[str, Any]:
        """Return the main figures as plain values."""
        assessed = self.runs[ASSESSED]
        return {
            "records": assessed.records,
            "assessed": assessed.to_dict()["results"][-3],
            "two_years": self.runs[FOLLOWED].to_dict(),
            "compared": self.runs[COMPARED].to_dict(),
            "priced": self.runs[PRICED].to_dict(),
            "report": self.report.as_posix(),
        }

    def to_page(self) -> Page:
        """Return the story as one page, in the language that is spoken."""
        chapters = (
            self._chapter(text("One census"), ASSESSED, findings=3),
            self._chapter(text("Two years"), FOLLOWED),
            self._chapter(text("Protected by k-anonymity"), K_ANONYMOUS),
            self._chapter(text("Protected by Anatomy"), ANATOMY, findings=1, figures=0),
            self._chapter(text("The protections side by side"), COMPARED, findings=1),
            self._chapter(text("What a rational adversary does"), PRICED),
        )
        return story_page(
            chapters,
            title=text("A census before its release: the whole story"),
            lead=text(
                "{records} synthetic students: assessed, followed over a year, protected, compared, and priced",
                records=RECORDS,
            ),
            command="glasshouse demo",
            provenance=self._provenance(),
        )

    def _chapter(self, title: str, folder: str, **limits: Any) -> Chapter:
        done = self.runs[folder]
        risks = {
            entry.measure: entry.value
            for entry in measures(done.outcome, done.question)
            if entry.knows is None  # who knows all that can be known, as in every chapter
        }
        is_one = folder in (ASSESSED, FOLLOWED, K_ANONYMOUS)
        risk = percentage(risks["best-guess"]) if is_one else ""
        return Chapter(title, folder, done.page_from(self._provenance()), risk=risk, **limits)

    def _provenance(self) -> Provenance:
        return Provenance(version("glasshouse"), "", (FIRST, SECOND), seed=SEED, day=today())


def tell_story(
    folder: Path, *, resources: Resources | None = None, on_step: OnStep | None = None
) -> Story:
    """Make two synthetic censuses and everything that Glasshouse tells about them, each in a folder of its own.

    Args:
        folder: Where everything is written; a story that is there already is replaced.
        resources: What there is to work with.
        on_step: Called with what is done next.

    Raises:
        DataError: The folder is taken by something else, or cannot be written.
    """
    say = on_step or (lambda _step: None)
    _check_folder(folder)
    say(text("making two synthetic censuses of {records} students", records=RECORDS))
    _write_censuses(folder)
    story, labels = Story(folder, {}), labels_by_language()
    for chapter, (step, content) in _questions(folder).items():
        say(step)
        study = validated(study_class(content["command"]), content | {"labels": labels}, "demo")
        story.runs[chapter] = run(study, resources=resources)
        write_run(story.runs[chapter], folder / chapter, overwrite=True)
    say(text("writing the report"))
    _write_report(story)
    return story


def _questions(folder: Path) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the announcement and the study of each chapter, by its folder."""
    first, second = {"path": folder / FIRST}, {"path": folder / SECOND}
    protected = {
        "command": "anonymise",
        "datasets": [first],
        "adversary": {"quasi_identifiers": KNOWN, "sensitive": [SENSITIVE]},
        "subject": "student",
        "seed": SEED,
    }
    return {
        ASSESSED: (
            text("assessing the first with every set of columns"),
            {
                "command": "assess",
                "datasets": [first],
                "adversary": {
                    "quasi_identifiers": KNOWN,
                    "sensitive": [SENSITIVE],
                },
                "subsets": ["all"],
                "subject": "student",
            },
        ),
        FOLLOWED: (
            text("following the students into the second"),
            {
                "command": "assess",
                "datasets": [first, second],
                "adversary": {
                    "quasi_identifiers": KNOWN,
                    "sensitive": [SENSITIVE],
                    "identifier": STUDENT,
                },
                "subject": "student",
            },
        ),
        K_ANONYMOUS: (
            text("making a k-anonymous release"),
            protected
            | {
                "title": text("The census with k = {k}", k=K),
                "protection": {"method": "k-anonymity", "k": K, "suppression": SUPPRESSED},
            },
        ),
        ANATOMY: (
            text("making a release by Anatomy"),
            protected
            | {
                "title": text("The census by Anatomy, l = {l}", l=L),
                "protection": {"method": "anatomy", "l": L},
            },
        ),
        COMPARED: (
            text("comparing them with the original"),
            {"command": "compare", "runs": [folder / K_ANONYMOUS, folder / ANATOMY]},
        ),
        PRICED: (  # whether it pays to link the census with a register of all students
            text("asking what a rational adversary would do"),
            {
                "command": "deter",
                "release": first,
                "people": first,
                "quasi_identifiers": KNOWN,
                "prior": 1.0,
                "subject": "student",
            },
        ),
    }


def labels_by_language() -> dict[str, dict[str, str]]:
    """Return what the columns are called, by language."""
    labels = {}
    for code in LANGUAGES:
        with speaking(code):
            labels[code] = {name: translated(label) for name, label in COLUMNS.items()}
    return labels


def _check_folder(folder: Path) -> None:
    """Make sure that nothing but a story of ours is replaced.

    Raises:
        DataError: There is something else.
    """
    steps = (ASSESSED, FOLLOWED, K_ANONYMOUS, ANATOMY, COMPARED, PRICED)
    for step in steps:
        check_place(folder / step, overwrite=True)
    files = [folder / name for name in (FIRST, SECOND, REPORT, PAGES)]
    taken = [path for path in files if path.exists()]
    if taken and not (folder / ASSESSED / MANIFEST).exists():
        raise DataError(
            '"{path}" exists and is not of a demo; choose another folder with `out`',
            path=str(taken[0]),
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            'cannot write "{path}": {reason}; choose another place',
            path=str(folder),
            reason=str(error.strerror),
        ) from None


def _write_censuses(folder: Path) -> None:
    """Write the census of two years, in which a student keeps a pseudonym."""
    students = synthetic.table("school-census", records=RECORDS, seed=SEED)
    pseudonyms = np.random.default_rng(SEED).permutation(RECORDS)
    students = students.append_column(STUDENT, pa.array(pseudonyms))
    later = a_year_later(students, seed=SEED)
    for name, table in ((FIRST, students), (SECOND, later)):
        with new_file(folder / name) as draft:
            pyarrow.csv.write_csv(table, draft)


def _write_report(story: Story) -> None:
    """Write the report of the whole beside the folders of its chapters."""
    for name, content in report_files(story.to_page).items():
        with new_file(story.folder / name) as draft:
            draft.write_text(content, encoding="utf-8")
