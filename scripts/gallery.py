"""Draw the gallery at the end of docs/report.md and docs/pt/report.md anew.

    python scripts/gallery.py [NAME …]

Every picture is that of a report on synthetic data from one seed; nothing is drawn by hand.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from glasshouse import synthetic
from glasshouse.cli.main import main as glasshouse
from glasshouse.report import Page, archive
from glasshouse.report.charts import to_svg
from glasshouse.synthetic.school_census import a_year_later

ROOT = Path(__file__).resolve().parent.parent
DOCS, PICTURES = ROOT / "docs", ROOT / "docs" / "gallery"
RECORDS, SEED = 4_000, 7
GALLERIES = {"en": DOCS / "report.md", "pt-BR": DOCS / "pt" / "report.md"}
"""The pages whose last part is the gallery."""
BEGINNINGS = {
    "en": "## Gallery\n\n"
    "Pictures of each kind of report, on invented data; the title of a picture says what it shows. "
    "`scripts/gallery.py` has the commands, and draws them.\n",
    "pt-BR": "## Galeria\n\n"
    "Figuras de cada tipo de relatório, em dados inventados; o título de uma figura diz o que ela mostra. "
    "`scripts/gallery.py` tem os comandos, e as desenha; com `--lang pt-BR` também elas saem em português.\n",
}


@dataclass(frozen=True)
class Example:
    """A question, and the commands that answer it."""

    name: str
    """The beginning of the names of its pictures."""
    titles: dict[str, str]
    """What is asked, by language."""
    commands: tuple[str, ...]
    """What a user types; the last one writes the report into a folder of the example's name."""
    pictures: tuple[int, ...] | None = None
    """Which pictures of the report are shown; None: all."""


_Q = "-q month_of_birth -q year_of_birth -q gender"
EXAMPLES = (
    Example(
        "assess",
        {
            "en": "Who can be named, and what can be inferred",
            "pt-BR": "Quem pode ser identificado, e o que se pode inferir",
        },
        (
            f"glasshouse assess census-2018.csv {_Q} -q city_of_residence -q school "
            "-s ethnicity -s transport --subject student --out assess",
        ),
    ),
    Example(
        "years",
        {
            "en": "What a second year adds",
            "pt-BR": "O que um segundo ano acrescenta",
        },
        (
            f"glasshouse assess census-2018.csv census-2019.csv {_Q} -q school -s transport "
            "--id student --subject student --subsets full --out years",
        ),
        pictures=(0,),
    ),
    Example(
        "target",
        {
            "en": "What is learned of one person",
            "pt-BR": "O que se descobre de uma pessoa",
        },
        (
            "glasshouse target census-2018.csv --know gender=F --know year_of_birth=2005 "
            "-s ethnicity --subject student --out target",
        ),
    ),
    Example(
        "membership",
        {
            "en": "Who is in a sample",
            "pt-BR": "Quem está em uma amostra",
        },
        (
            f"glasshouse membership sample.csv --population census-2018.csv {_Q} "
            "--subject student --out membership",
        ),
    ),
    Example(
        "anonymise",
        {
            "en": "What a protection buys",
            "pt-BR": "O que uma proteção compra",
        },
        (
            f"glasshouse anonymise census-2018.csv {_Q} -s ethnicity --k 10 --suppression 0.05 "
            "--subject student --out anonymise",
        ),
    ),
    Example(
        "compare",
        {
            "en": "Risk against utility",
            "pt-BR": "Risco e utilidade",
        },
        (
            f"glasshouse anonymise census-2018.csv {_Q} -s ethnicity --k 5 --out k5",
            f"glasshouse anonymise census-2018.csv {_Q} -s ethnicity --k 25 --out k25",
            f"glasshouse anonymise census-2018.csv {_Q} -s ethnicity --method anatomy --l 2 "
            "--out anatomy",
            "glasshouse compare k5 k25 anatomy --out compare",
        ),
    ),
    Example(
        "threat",
        {
            "en": "What an anonymised table tells beyond the population",
            "pt-BR": "O que uma tabela anonimizada revela além da população",
        },
        (
            f"glasshouse anonymise census-2018.csv {_Q} -s ethnicity --k 10 --out table",
            "glasshouse threat table --out threat",
        ),
    ),
    Example(
        "totals",
        {
            "en": "Who is behind each transaction, from published totals",
            "pt-BR": "Quem está por trás de cada transação, a partir de totais publicados",
        },
        ("glasshouse totals campaign --study study.toml --out totals",),
        pictures=(0, 1),
    ),
    Example(
        "deter",
        {
            "en": "Whether a rational adversary attacks, and what deters her",
            "pt-BR": "Se um adversário racional ataca, e o que o dissuade",
        },
        ("glasshouse deter --out deter",),
        pictures=(0, 1, 2),
    ),
)


def write_data(folder: Path) -> None:
    """Write what the commands read: two years of a census, a sample of the first, and a month of trade."""
    students = synthetic.table("school-census", records=RECORDS, seed=SEED)
    numbers = np.random.default_rng(SEED).permutation(RECORDS)
    students = students.append_column("student", pa.array(numbers))
    pyarrow.csv.write_csv(students, folder / "census-2018.csv")
    pyarrow.csv.write_csv(a_year_later(students, seed=SEED), folder / "census-2019.csv")
    pyarrow.csv.write_csv(students.slice(0, RECORDS // 10), folder / "sample.csv")
    synthetic.write_trade(folder / "month", transactions=1_000, importers=100, seed=SEED)
    shutil.copy(ROOT / "examples" / "trade" / "study.toml", folder / "study.toml")


def pages_of(example: Example, folder: Path) -> dict[str, Page]:
    """Carry out the commands of an example and return its report in each language."""
    with _inside(folder):
        for command in example.commands:
            code = glasshouse(shlex.split(command)[1:])
            if code:
                raise SystemExit(f"{command}: exit code {code}")
        return archive.from_json(Path(example.name, "report.json").read_text(), example.name)


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def drawn(example: Example, folder: Path) -> dict[str, str]:
    """Return the pictures of an example by the names of their files."""
    figures = pages_of(example, folder)["en"].pictures
    shown = range(len(figures)) if example.pictures is None else example.pictures
    return {f"{example.name}-{place + 1}.svg": to_svg(figures[place].chart) for place in shown}


def chapter(example: Example, page: Page, code: str) -> str:
    """Return the part of the gallery for an example in a language; both show the same pictures."""
    pictures = Path(os.path.relpath(PICTURES, GALLERIES[code].parent)).as_posix()
    lines = [f"### {example.titles[code]}", ""]
    shown = range(len(page.pictures)) if example.pictures is None else example.pictures
    for place in shown:
        lines += [f"![{page.pictures[place].label}]({pictures}/{example.name}-{place + 1}.svg)", ""]
    return "\n".join(lines)


def main() -> None:
    """Draw everything, or the examples that are named, and write the pages."""
    wanted = sys.argv[1:]
    PICTURES.mkdir(exist_ok=True)
    chapters: dict[str, list[str]] = {code: [] for code in GALLERIES}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder)
        for example in EXAMPLES:
            if wanted and example.name not in wanted:
                continue
            for file, svg in drawn(example, folder).items():
                (PICTURES / file).write_text(svg, encoding="utf-8")
            pages = archive.from_json((folder / example.name / "report.json").read_text(), "")
            for code, text in chapters.items():
                if example.pictures or pages[code].pictures:
                    text.append(chapter(example, pages[code], code))
    if not wanted:
        for code, path in GALLERIES.items():
            before = path.read_text(encoding="utf-8").partition(
                BEGINNINGS[code].partition("\n")[0]
            )[0]
            gallery = "\n".join([BEGINNINGS[code], *chapters[code]])
            path.write_text(before + gallery.rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
