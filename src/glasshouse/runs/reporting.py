"""The report of a run that was made before: read from its folder, and written in another language or for paper.

A run keeps its report as data in every language, so that neither the data nor the study is needed for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from glasshouse.atomic import new_file
from glasshouse.errors import DataError, StudyError
from glasshouse.language import LANGUAGES, language_called, speaking, system_reason, text
from glasshouse.runs.store import MANIFEST, PAGES, PDF, REPORT

if TYPE_CHECKING:
    from glasshouse.report import Page


@dataclass(frozen=True)
class StoredReport:
    """The report of a run, in every language."""

    folder: Path
    """The folder of the run."""
    pages: Mapping[str, Page]
    """The pages, by language."""
    language: str
    """The language that the run was made in."""

    def page(self, language: str) -> Page:
        """Return the page in a language.

        Raises:
            DataError: The run did not keep it in that language.
        """
        if language not in self.pages:
            raise DataError(
                text(
                    "{file}: holds no report in {language}; run the study again",
                    file=self.folder / PAGES,
                    language=LANGUAGES[language].name,
                )
            )
        return self.pages[language]


def stored_report(folder: Path) -> StoredReport:
    """Read the report of a run.

    Raises:
        DataError: The folder is not there, or is not that of a run that kept its report.
    """
    from glasshouse.report import archive

    if not folder.is_dir():
        raise DataError(
            text('"{folder}" is a file; name the folder of a run', folder=folder)
            if folder.exists()
            else text('there is no folder "{folder}"; name the folder of a run', folder=folder)
        )
    path = folder / PAGES
    if not path.exists() and (folder / MANIFEST).exists():
        raise DataError(
            text(
                '"{folder}" is a run without {file}, of an older version; run the study again',
                folder=folder,
                file=PAGES,
            )
        )
    if not path.exists():
        raise DataError(
            text('"{folder}" is no run folder: it holds no {file}', folder=folder, file=PAGES)
        )
    try:
        document = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(
            text("{file}: cannot be read ({reason})", file=path, reason=system_reason(error))
        ) from None
    except UnicodeDecodeError:
        raise DataError(text("{name} is not a report of Glasshouse", name=path)) from None
    pages = archive.from_json(document, str(path))
    return StoredReport(folder, pages, _language(folder / MANIFEST))


def write_again(report: StoredReport, language: str, *, pdf: bool = False) -> list[Path]:
    """Write a report in a language into its folder, in the place of the one that is there; return the paths.

    Args:
        report: The report.
        language: The language to write it in.
        pdf: Whether to write it as PDF, too.

    Raises:
        DataError: There is none in that language, its pictures cannot be drawn, or it cannot be written.
        StudyError: What makes a PDF is not installed.
    """
    from glasshouse.report import to_html

    page = report.page(language)
    with speaking(language):
        try:
            made = {REPORT: to_html(page).encode("utf-8")}
            if pdf:
                made[PDF] = _to_pdf(page)
        except (DataError, ValueError):
            raise DataError(
                text(
                    "{file} is damaged: its pictures cannot be drawn; run the study again",
                    file=report.folder / PAGES,
                )
            ) from None
    for name, content in made.items():
        with new_file(report.folder / name) as draft:
            draft.write_bytes(content)
    return [report.folder / name for name in made]


def _to_pdf(page: Page) -> bytes:
    try:
        module = import_module("glasshouse.report.pdf")
    except ImportError:
        raise StudyError(
            text("a PDF needs an extra of Glasshouse: pip install 'glasshouse[pdf]'")
        ) from None
    content: bytes = module.to_pdf(page)
    return content


def _language(manifest: Path) -> str:
    """Return the language of a run; that of the code where its manifest does not say."""
    try:
        content = json.loads(manifest.read_text(encoding="utf-8"))
        return language_called(content["report"]["language"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, StudyError):
        return next(iter(LANGUAGES))
