"""What the commands write stays as it is: figures, sentences and bytes, whatever moves inside.

Some forty commands, good and bad, in both languages, run on small synthetic data; ``tests/cli/frozen.json`` keeps what
each of them wrote as a document: its figures as they are, and its words as a digest of every few lines. Words are the
same everywhere; a figure may differ by what `TOLERANCE` says of its kind of document, as processors add and multiply in
their own order. Where something differs the test names the command, the file and the figure, or shows the lines. To
see all that changed, run the test with ``KEEP_FROZEN=FOLDER`` before and after and compare the folders; to accept it,
run the test with ``UPDATE_SNAPSHOTS=1``. Of the terminal the sentences and figures count, not the layout. Pictures are
kept as the specifications in ``report.json``: how they are drawn depends on the fonts of the machine.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

import altair
import pyarrow.parquet
import pytest
from jsonschema_rs import Draft7Validator

from glasshouse import synthetic
from tests.cli.test_longitudinal import write
from tests.cli.test_threat import HORIZONTAL, PEOPLE, VERTICAL
from tests.conftest import Glasshouse, Outcome

FROZEN = Path(__file__).parent / "frozen.json"
GROUP = Path(__file__).parents[2] / "examples" / "trade" / "group.json"
KEEP, UPDATE = "KEEP_FROZEN", "UPDATE_SNAPSHOTS"
VERSIONS = re.compile(r'("(?:Python|numpy|numba|pyarrow|scipy|ortools)": )"[^"]*"')
TOLD_VERSIONS = re.compile(r"\b(Python|numpy|numba|pyarrow|scipy|ortools) \d[\w.]*")
MOMENTS = re.compile(r'("(?:seconds|cpu_seconds|cpu)": )[\d.e-]+')
DECIMAL = re.compile(r"(?<![\w.,])-?\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)(?![\w.,]*\d)")
"""A figure of a document for programs that may have been added up."""
LONG = re.compile(r'-?\d+\.\d{9,}(?:e[+-]?\d+)?|-?\d+(?:\.\d+)?e-\d+|(?<=["−])[\d.]+,\d{9,}(?=")')
"""The same in a text for people, in which short figures are words: those are rounded, and the same everywhere. With a
decimal comma where they are Portuguese."""
TOLERANCE = {
    "document.json": 1e-9,  # ratios of counts as floats, and sums of a few hundred of them
    "results.parquet": 1e-9,
    "report.json": 1e-6,  # what is drawn has nine digits, of which a difference may have lost some
    "report.html": 1e-6,
    "manifest.json": 1e-9,
}
"""By how much of itself a figure of a kind of document may differ; in all others none may."""
NEARLY_NOTHING = 1e-12
"""What is left of a difference that is none."""
NAMED_BY_CONTENT = re.compile(r"data-[0-9a-f]{32}")
"""What the rows behind a picture are called: after their figures."""
WIDER_THAN_A_PHONE = re.compile(
    r'<p class="hint" aria-hidden="true">[^<]*</p>\n| tabindex="0"(?= role="img")'
)
"""What is said of a picture that is as wide as its letters make it, which are those of the machine."""
LINES = 64
"""Of so many lines one digest is kept."""
CLOCKED = ("seconds", "cpu_seconds", "cpu", "limit", "method")
"""Columns of results that depend on how fast the machine is."""
TIMED = ("totals-campaign",)
"""Commands whose reports tell how long they took: there the words count, not the figures."""

CENSUS = "-q day_of_birth -q month_of_birth -q gender -q race -s disability -s transport"
KNOWN = "-q nat -q zip -s disease"
COMMANDS = {
    "assess": f"assess census.csv {CENSUS} --subject student",
    "assess-pt": f"assess census.csv {CENSUS} --subject student --lang pt-BR",
    "assess-whole-set": "assess people.csv -q nat -q zip -s disease --subsets full",
    "assess-gains": "assess census.csv -q gender -q race -s disability -s transport --worth "
    "transport:yes=3,*=1 --prior disability:yes=0.5,*=0.5 --currency R$",
    "assess-tries": "assess census.csv -q gender -q month_of_birth -s race --tries 2 --lang pt-BR",
    "assess-weight": "assess census.csv -q gender -q race -s disability --prior-weight day_of_birth",
    "assess-facts": "assess census.csv --fact birth=day_of_birth,month_of_birth -q gender "
    "-s disability,transport",
    "assess-treated": "assess census.csv -q month_of_birth -q race -s transport --where gender=F "
    "--invalid race=yellow --drop-missing",
    "assess-years": "assess census.csv next.csv --id student -q school -q gender -s transport "
    "--subject student",
    "assess-linked": "assess census.csv next.csv --link gender --link year_of_birth=0.9 "
    "-q gender -q year_of_birth -s transport --subsets full",
    "assess-by": "assess census.csv -q month_of_birth -q race -s transport --by gender",
    "assess-each": "assess census.csv next.csv --each -q month_of_birth -q race -s transport "
    "--lang pt-BR",
    "assess-explain": "assess people.csv -q nat -s disease --explain",
    "target": "target census.csv --know day_of_birth=9 --know gender=F -s transport",
    "target-journalist": "target sample.csv --know month_of_birth=3 --know gender=F -s transport "
    "--population census.csv --lang pt-BR",
    "target-years": "target census.csv next.csv --id student --know gender=F -s transport",
    "membership": "membership sample.csv --population census.csv -q month_of_birth -q gender",
    "membership-person": "membership sample.csv --population census.csv -q month_of_birth "
    "-q gender --know gender=F --lang pt-BR",
    "membership-fraction": "membership sample.csv --fraction 0.25 -q day_of_birth "
    "-q month_of_birth -q gender",
    "anonymise": f"anonymise census.csv {CENSUS} --k 5 --suppression 0.05 --subject student",
    "anonymise-close": f"anonymise census.csv {CENSUS} --k 3 --t 0.4 --lang pt-BR",
    "anonymise-anatomy": "anonymise many.csv -q nat -q zip -s disease --method anatomy --l 2",
    "anonymise-local": f"anonymise many.csv {KNOWN} --k 4 --recoding local",
    "anonymise-mondrian": f"anonymise many.csv {KNOWN} --k 4 --recoding mondrian",
    "protect": f"protect many.csv {KNOWN} --policy research-file",
    "assess-release": "assess anonymise",
    "assess-anatomy": "assess anonymise-anatomy",
    "compare-releases": "compare anonymise-local anonymise-mondrian",
    "compare-file": f"compare many.csv {KNOWN} --k 2,5 --suppression 0.2 --lang pt-BR",
    "compare-assessments": "compare assess assess-pt",
    "threat": "threat anonymise-mondrian",
    "threat-anatomy": "threat anonymise-anatomy --sweeps 400 --chains 2 --burn-in 50 --lang pt-BR",
    "threat-person": "threat horizontal.json --know nat=M --know zip=45501 --learner 6",
    "threat-everybody": "threat vertical.json",
    "threat-another": f"threat anonymise-local/release.csv {KNOWN} --original many.csv",
    "compare-threats": "compare threat threat-another",
    "deter": "deter --gain 8000 --penalty 10000 --access-cost 100 --sizes 1:60",
    "deter-records": "deter --release sample.csv --register census.csv -q month_of_birth "
    "-q gender --gain 300 --penalty 1000 --access-cost 50 --lang pt-BR",
    "deter-belief": "deter --gain 300 --penalty 100 --belief 500 --sizes 1:20",
    "compare-deterrence": "compare deter deter-records --lang pt-BR",
    "totals-campaign": "totals campaign --study month/study.toml",
}
"""Commands that write a run folder, by its name."""
SPOKEN = {
    "totals-solve": f"totals solve {shlex.quote(str(GROUP))}",
    "inspect": "inspect census.csv",
    "synth": "synth outpatient --records 50 --out made.csv",
    "report": "report assess --lang pt-BR",
    "wrong-column": "assess census.csv -q gander",
    "wrong-file": "assess nowhere.csv -q gender",
    "wrong-file-pt": "assess nowhere.csv -q gender --lang pt-BR",
    "wrong-option": "assess census.csv -q gender --trie 2",
    "wrong-number": "assess census.csv -q gender --tries 0",
    "wrong-language": "assess census.csv -q gender --lang fr",
    "no-question": "assess census.csv",
    "beside-study": "assess --study assess/study.toml -q gender",
    "other-study": "target --study assess/study.toml",
    "there-already": "assess census.csv -q gender --out assess",
    "ragged": "inspect ragged.csv",
    "nobody": "target census.csv --know day_of_birth=99 -s transport --lang pt-BR",
    "no-protection": "anonymise census.csv -q gender --k 100000",
    "no-original": f"threat anonymise-mondrian/release.csv {KNOWN}",
    "no-terms": "deter --discount 2",
    "no-instance": "totals solve census.csv",
    "no-plan": "totals campaign --study assess/study.toml",
    "no-run": "report nowhere",
    "other-runs": "compare assess deter",
}
"""Commands that write no run folder, most of them wrong."""
FILES = ("report.html", "report.json", "results.parquet", "manifest.json", "study.toml")


@dataclass(frozen=True)
class Document:
    """What a command wrote, figures and words apart."""

    lines: list[str]
    """The words, with a sign where a figure stands."""
    figures: list[float]
    """The figures, in their order."""

    @classmethod
    def of(cls, name: str, text: str) -> Document:
        figures: list[float] = []

        def taken_out(match: re.Match[str]) -> str:
            written = match[0]
            comma = "," in written
            figures.append(float(written.replace(".", "").replace(",", ".") if comma else written))
            return "#"

        names = dict.fromkeys(NAMED_BY_CONTENT.findall(text))
        for number, content in enumerate(names):
            text = text.replace(content, f"data-{number}")
        is_for_programs = Path(name).suffix in (".json", ".parquet")
        words = (DECIMAL if is_for_programs else LONG).sub(taken_out, text)
        return cls(words.splitlines(), figures)

    @property
    def digests(self) -> list[str]:
        """A digest of every few lines."""
        parts = ("\n".join(self.lines[at : at + LINES]) for at in range(0, len(self.lines), LINES))
        return [hashlib.sha256(part.encode()).hexdigest()[:12] for part in parts]

    def kept(self) -> dict[str, Any]:
        """What is kept of it."""
        return {"words": self.digests, "figures": [float(f"{one:.12g}") for one in self.figures]}

    def differences(self, kept: dict[str, Any], tolerance: float) -> Iterator[str]:
        """Yield where it says something else than what was kept."""
        digests = self.digests
        if len(digests) != len(kept["words"]):
            yield f"{len(self.lines)} lines, {len(digests)} parts of them instead of {len(kept['words'])}"
        for place, (now, then) in enumerate(zip(digests, kept["words"], strict=False)):
            if now != then:
                first = place * LINES
                yield f"lines {first + 1} to {first + LINES}, now: {self.lines[first : first + LINES]}"
        if len(self.figures) != len(kept["figures"]):
            yield f"{len(self.figures)} figures instead of {len(kept['figures'])}"
        for place, (value, before) in enumerate(zip(self.figures, kept["figures"], strict=False)):
            if not math.isclose(value, before, rel_tol=tolerance, abs_tol=NEARLY_NOTHING):
                yield f"figure {place}: {value} instead of {before}"


def keep(texts: dict[str, str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def test_a_figure_may_differ_in_its_last_digits_and_a_word_may_not() -> None:
    kept = Document.of("document.json", '{"share": 0.1, "data-%s": 3}' % ("a" * 32)).kept()

    def differences(text: str) -> list[str]:
        return [*Document.of("document.json", text).differences(kept, 1e-9)]

    assert differences('{"share": 0.10000000000000001, "data-%s": 3}' % ("b" * 32)) == []
    assert "figure 0" in differences('{"share": 0.1001, "data-%s": 3}' % ("b" * 32))[0]
    assert "lines 1" in differences('{"share": 0.1, "data-%s": 4}' % ("b" * 32))[0]
    assert Document.of("report.html", "33.3% of 0.123456789012").figures == [0.123456789012]


def test_every_command_writes_what_it_wrote(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "2000")
    make_data()
    kept = os.environ.get(KEEP)
    documents: dict[str, dict[str, Document]] = {}
    for name, texts in run_all(glasshouse, tmp_path):
        documents[name] = {what: Document.of(what, text) for what, text in texts.items()}
        if kept is not None:
            keep(texts, Path(kept) / name)
            if (tmp_path / name).is_dir():
                shutil.copytree(tmp_path / name, Path(kept) / "whole" / name, dirs_exist_ok=True)
    if os.environ.get(UPDATE) == "1":
        content = {
            name: {what: json.dumps(one.kept()) for what, one in texts.items()}
            for name, texts in documents.items()
        }
        FROZEN.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    frozen = json.loads(FROZEN.read_text(encoding="utf-8"))
    assert {name: [*texts] for name, texts in documents.items()} == {
        name: [*texts] for name, texts in frozen.items()
    }
    changed = [
        f"{name}: {what}: {first}"
        for name, texts in documents.items()
        for what, one in texts.items()
        for first in islice(
            one.differences(json.loads(frozen[name][what]), TOLERANCE.get(what, NEARLY_NOTHING)), 1
        )
    ]
    if changed:
        pytest.fail(
            "\n".join(["these wrote something else, first of all:", *changed]), pytrace=False
        )
    pictures = [*all_pictures(tmp_path)]
    assert len(pictures) > 100
    schema = Draft7Validator(json.loads(json.dumps(altair.load_schema()), object_hook=quoted))
    for picture in pictures:
        schema.validate(picture)  # a run does not hold its pictures against the schema


def quoted(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of the schema whose link can be read: the names of its definitions are types."""
    return part | ({"$ref": quote(part["$ref"], safe="#/")} if "$ref" in part else {})


def all_pictures(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the pictures of all reports, in both languages."""
    for path in sorted(folder.glob("*/report.json")):
        waiting = [json.loads(path.read_text(encoding="utf-8"))]
        while waiting:
            part = waiting.pop()
            if isinstance(part, dict) and "$schema" in part:
                yield part
            elif isinstance(part, dict | list):
                waiting += part.values() if isinstance(part, dict) else part


def run_all(glasshouse: Glasshouse, folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    for name, line in COMMANDS.items():
        told = glasshouse(*line.split(), "--out", name)
        document = glasshouse(*line.split(), "--json")
        texts = terminal(told, folder) | {"document.json": plain(document.out, folder)}
        files = {file: folder / name / file for file in FILES}
        files |= {path.name: path for path in sorted((folder / name).glob("*.csv"))}
        texts |= {n: content(path, folder) for n, path in files.items() if path.exists()}
        if name in TIMED:
            del texts["report.json"]  # the axes of its pictures are drawn after their times
            masked = ("report.html", "figures.txt")
            texts |= {n: re.sub(r"[\d.,e-]*\d", "0", texts[n]) for n in masked}
        yield name, texts
    for name, line in SPOKEN.items():
        yield name, terminal(glasshouse(*shlex.split(line)), folder)


def terminal(outcome: Outcome, folder: Path) -> dict[str, str]:
    """Return what the terminal showed: the sentences as they are, and every figure, in whatever order."""
    lines = plain(outcome.out, folder).splitlines()
    sentences = [line.strip() for line in lines if line.lstrip().startswith("•")]
    others = " ".join(line for line in lines if not line.lstrip().startswith("•"))
    figures = sorted(re.findall(r"[\d.,]*\d", others))
    return {
        "exit.txt": str(outcome.code),
        "sentences.txt": "\n".join(sentences),
        "figures.txt": "\n".join(figures),
        "error.txt": plain(outcome.error, folder),
    }


def content(path: Path, folder: Path) -> str:
    """Return what a file holds, without what depends on the machine."""
    if path.suffix == ".parquet":
        frame = pyarrow.parquet.read_table(path)
        names = [name for name in frame.column_names if name not in CLOCKED]
        columns = frame.select(names).to_pydict()
        return json.dumps([str(frame.schema), columns], default=str, indent=0)
    if (
        path.suffix == ".toml"
    ):  # how its lines are broken depends on the length of the folder's path
        return plain(
            json.dumps(tomllib.loads(path.read_text(encoding="utf-8")), sort_keys=True), folder
        )
    text = plain(path.read_text(encoding="utf-8"), folder)
    return WIDER_THAN_A_PHONE.sub("", re.sub(r"<svg.*?</svg>", "<svg/>", text, flags=re.DOTALL))


def plain(text: str, folder: Path) -> str:
    text = text.replace(str(folder), "FOLDER").replace(str(GROUP), "GROUP")
    text = TOLD_VERSIONS.sub(r"\1", VERSIONS.sub(r'\1""', text))
    return MOMENTS.sub(r"\g<1>0", text)


def make_data() -> None:
    """Write the small data that the commands are about."""
    generator = synthetic.generator("school-census")
    census = next(iter(generator.batches(600, seed=3))).to_pydict()
    columns: dict[str, list[Any]] = {
        "day_of_birth": census["day_of_birth"],
        "month_of_birth": census["month_of_birth"],
        "year_of_birth": census["year_of_birth"],
        "gender": census["gender"],
        "race": census["ethnicity"],
        "school": [str(hash_of(row) % 7) for row in range(600)],
        "disability": census["disability"],
        "transport": census["transport"],
        "student": [f"s{row}" for row in range(600)],
    }
    texts = {name: [str(value) for value in values] for name, values in columns.items()}
    write("census.csv", texts)
    grown = {name: values[100:] for name, values in texts.items()}
    grown["school"] = [
        str((int(school) + row % 3) % 7) for row, school in enumerate(grown["school"])
    ]
    write("next.csv", grown)
    write("sample.csv", {name: values[::4] for name, values in texts.items()})
    write("people.csv", PEOPLE)
    write("many.csv", {name: values * 5 for name, values in PEOPLE.items()})
    Path("horizontal.json").write_text(json.dumps(HORIZONTAL))
    Path("vertical.json").write_text(json.dumps(VERTICAL))
    Path("ragged.csv").write_text("a,b\n1,2\n3\n")
    synthetic.write_trade_study(Path("month"), records=300, seed=1)


def hash_of(row: int) -> int:
    """Return a number that looks random, the same everywhere."""
    return int(hashlib.sha256(str(row).encode()).hexdigest()[:8], 16)
