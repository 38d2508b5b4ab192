"""The ledger of what went out: a folder, append-only, readable by hand, in which nothing is altered unnoticed.

Every output is a file, ``0001-NAME.json``: its plan, the SHA-256 of what was read, the day, who asked, and the verdict;
beside it ``0001-NAME.proof.json``, the certificate of what all outputs so far tell, which is the disclosure itself.
Each file names the digest of the one before, and ``chain.txt`` the digests of all, as ``sha256sum --check chain.txt``
reads them. A new line in the chain is the last step of an addition: without it, nothing was added.
"""

from __future__ import annotations

import getpass
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from glasshouse.atomic import cannot_write, held, is_draft, new_file
from glasshouse.disclosure import smallest_cell
from glasshouse.errors import DataError, StudyError
from glasshouse.language import quoted, system_reason, unknown_name
from glasshouse.measures.ledger import measured
from glasshouse.measures.verdict import Verdict, verdict_on
from glasshouse.progress import OnProgress
from glasshouse.runs.folder import STUDY, is_run, now
from glasshouse.solvers import SolverBudget
from glasshouse.sources import open_source
from glasshouse.study import Treatment, load_study
from glasshouse.study.assess import AssessStudy
from glasshouse.study.policy import ReleasePolicy
from glasshouse.tabulation import (
    PublishedOutput,
    RecordChecks,
    Remedy,
    Succession,
    published,
    remedy_of,
    succession_of,
)
from glasshouse.tabulation.outputs import joined, output_of
from glasshouse.tabulation.proof import proof_of
from glasshouse.tabulation.verifier import Refused, verify

CHAIN = "chain.txt"
"""The digests of all files, in their order."""
FORM = "glasshouse-ledger-1"
"""What an entry says that it is."""
ADDED, WITHDRAWN = "added", "withdrawn"
"""What an entry tells."""
NOTHING = "0" * 64
"""What the first entry names instead of a digest."""
_MOST_PROVED = 4_000_000
"""No certificate is written of more combinations times rows: to check it would take minutes."""
_ANSWER, _ADVICE = 0.6, 0.4
"""The parts of the time that the answer and the advice may take."""


@dataclass(frozen=True)
class LedgerEntry:
    """One thing that happened: an output went out, or was withdrawn."""

    file: str
    """The name of its file."""
    digest: str
    """The SHA-256 of it."""
    content: Mapping[str, Any]
    """What it says."""
    proof: str | None = None
    """The name of the file with its certificate."""

    @property
    def name(self) -> str:
        """What the output is called."""
        return str(self.content["name"])

    @property
    def is_output(self) -> bool:
        """Whether an output went out."""
        return bool(self.content["event"] == ADDED)


@dataclass(frozen=True, eq=False)
class OutputCheck:
    """Whether an output may follow what is in a ledger, and what smallest change would let it."""

    answer: Succession
    """The answer."""
    advice: Remedy | None = None
    """The change; None: it passes as it is, or nothing helps."""
    left_out: tuple[str, ...] = ()
    """What is in the output and cannot be put together with tables: of it nothing was checked."""
    earlier_left_out: tuple[str, ...] = ()
    """What of that kind went out before."""
    margins_of_shown: tuple[str, ...] = ()
    """Tables of the output whose margins are totals of what is shown."""
    seen: tuple[str, ...] = ()
    """What of `left_out` somebody looked at, and answers for."""
    freedom: Mapping[str, int | None] = field(default_factory=dict)
    """The models of the output, and how many degrees of freedom each has; None: it does not say."""

    @property
    def unchecked(self) -> tuple[str, ...]:
        """What was neither checked nor looked at by anybody."""
        return tuple(name for name in self.left_out if name not in self.seen)

    def few_degrees(self, least: int) -> int | None:
        """Return how many models have fewer degrees of freedom, or do not say; None: there are no models."""
        counts = self.freedom.values()
        return sum(one is None or one < least for one in counts) if counts else None

    def judged(self, rule: ReleasePolicy, records: RecordChecks | None = None) -> Verdict:
        """Return the verdict by a rule on outputs.

        Args:
            rule: The rule: it says how many people may become certain.
            records: What the records behind the output tell, if the publisher has them.
        """
        figures = measured(
            self.answer,
            unchecked=len(self.unchecked),
            few_degrees=self.few_degrees(rule.magnitudes.freedom),
            records=records,
        )
        verdict = verdict_on(figures, rule)
        assert verdict is not None  # noqa: S101 - the rule asks what is measured
        return verdict

    def passes(self, rule: ReleasePolicy, records: RecordChecks | None = None) -> bool:
        """Tell whether the output may follow: everything is proved, and a rule is met."""
        return self.verdict == "publishable" and self.judged(rule, records).meets

    @property
    def verdict(self) -> str:
        """``publishable``, ``discloses``, ``limit`` or ``contradiction``; what was not checked is not publishable."""
        if self.unchecked and self.answer.verdict == "publishable":
            return "limit"
        return self.answer.verdict

    def to_dict(self) -> dict[str, Any]:
        """Return what tells of nobody as plain values."""
        return {
            **self.answer.to_dict(),
            "verdict": self.verdict,
            "advice": None if self.advice is None else self.advice.to_dict(),
            "not_composed": list(self.left_out),
            "seen": list(self.seen),
            "not_composed_before": list(self.earlier_left_out),
            "margins_of_what_is_shown": list(self.margins_of_shown),
        }

    def to_frame(self) -> pa.Table:
        """Return the figures as a table of one row."""
        return self.answer.to_frame()

    def file_of_reasons(self) -> str:
        """Return everything as JSON, the file of reasons: it tells what becomes certain, and is the disclosure."""
        hide = () if self.advice is None else self.advice.hidden
        content = {
            **self.to_dict(),
            "reasons": [one.to_dict() for one in self.answer.reasons],
            "hide": [{name: _plain(value) for name, value in where.items()} for where in hide],
        }
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _plain(condition: Any) -> Any:
    return condition.model_dump(by_alias=True) if hasattr(condition, "model_dump") else condition


@dataclass(eq=False)
class Ledger:
    """What went out of the same people, one output after the other."""

    folder: Path
    """Where it is kept."""
    entries: tuple[LedgerEntry, ...] = field(init=False)
    """What happened, in its order."""

    def __post_init__(self) -> None:
        self.entries = _entries(self.folder)

    @property
    def exists(self) -> bool:
        """Whether it was begun, or can be: a folder in which nothing else lies."""
        return bool(self.entries) or (self.folder.is_dir() and not _others(self.folder))

    @property
    def head(self) -> str:
        """The digest of the last entry: whoever keeps it elsewhere notices whatever is altered up to it."""
        return self.entries[-1].digest if self.entries else NOTHING

    @property
    def outputs(self) -> tuple[PublishedOutput, ...]:
        """All that went out, also what was withdrawn since: a release cannot be undone."""
        return tuple(
            PublishedOutput.from_dict(entry.name, entry.content["plan"])
            for entry in self.entries
            if entry.is_output
        )

    @property
    def left_out(self) -> tuple[str, ...]:
        """What went out and cannot be put together with tables."""
        return tuple(
            f"{entry.name}/{name}"
            for entry in self.entries
            for name in entry.content.get("left_out", ())
        )

    @property
    def withdrawn(self) -> frozenset[str]:
        """The names of the outputs that were withdrawn."""
        return frozenset(entry.name for entry in self.entries if not entry.is_output)

    def entry(self, name: str) -> LedgerEntry:
        """Return the entry of an output.

        Raises:
            DataError: There is none of that name.
        """
        outputs = {entry.name: entry for entry in self.entries if entry.is_output}
        if name not in outputs:
            raise DataError(unknown_name("output", name, self.folder.name, outputs))
        return outputs[name]

    def proof(self) -> Mapping[str, Any] | None:
        """Return the certificate of what all outputs tell; None: there is none of the last one."""
        last = [entry for entry in self.entries if entry.is_output][-1:]
        if not last or last[0].proof is None:
            return None
        content: Mapping[str, Any] = json.loads(_read(self.folder / last[0].proof))
        return content

    def read(
        self,
        output: str | PathLike[str] | Mapping[str, Any],
        *,
        name: str | None = None,
        cohort: str | None = None,
        tables: Mapping[str, Any] | None = None,
        people: int | None = None,
    ) -> PublishedOutput:
        """Read an output as one that follows these; see `glasshouse.tabulation.outputs.output_of`.

        The folder of a run of ``assess`` is the release of its records.
        """
        place = output if isinstance(output, Mapping) else Path(output)
        if isinstance(place, Path) and place.is_dir() and is_run(place):
            released = _released(place, [entry for entry in self.entries if entry.is_output])
            read = output_of(
                released.plan,
                name=name or place.absolute().name,
                earlier=self.outputs,
                cohort=cohort,
                people=people,
            )
            return replace(read, identifier=released.identifier, left_out=released.left_out)
        return output_of(
            place, name=name, earlier=self.outputs, cohort=cohort, tables=tables, people=people
        )

    def check(
        self,
        output: PublishedOutput | str | PathLike[str] | Mapping[str, Any],
        *,
        rare: int | None = None,
        seconds: float = 60.0,
        memory: int = 2 << 30,
        advising: bool = True,
        seen: Sequence[str] = (),
        on_progress: OnProgress | None = None,
    ) -> OutputCheck:
        """Tell whether an output may follow what is in the ledger.

        Args:
            output: The output; what is not read yet is read.
            rare: Up to how many people a combination is rare; by default below the smallest cell.
            seconds: CPU seconds; what is not proved by then does not pass.
            memory: The bytes that combinations and rows may take.
            advising: Whether to look for the smallest change after which it passes.
            seen: Parts that cannot be put together with tables, which somebody looked at and answers for.
            on_progress: Told how far it is.

        Raises:
            StudyError: Nothing says how many people there can be, or the outputs say different numbers.
            BudgetError: The combinations do not fit the memory.
        """
        few = rare or smallest_cell() - 1 or 1
        budget = SolverBudget(seconds, memory)
        outputs, proof = self.outputs, self.proof()
        new = output if isinstance(output, PublishedOutput) else self.read(output)
        self._refuse_twice(new)
        for part in seen:
            if part not in new.left_out:
                raise StudyError(unknown_name("output", part, new.name, new.left_out))
        answer = succession_of(
            outputs,
            new,
            rare=few,
            proof=proof,
            seconds=seconds * _ANSWER if advising else seconds,
            memory=memory,
            on_progress=on_progress,
        )
        said = (new.left_out, self.left_out, new.margins_of_shown, tuple(seen), new.freedom)
        if not advising or answer.verdict not in ("discloses", "limit"):
            return OutputCheck(answer, None, *said)

        def follows(changed: PublishedOutput, limit: float) -> Succession:
            return succession_of(
                outputs,
                changed,
                rare=few,
                proof=proof,
                seconds=limit,
                memory=memory,
                explaining=False,
            )

        left = min(budget.left, seconds * _ADVICE)
        return OutputCheck(answer, remedy_of(new, answer, follows, seconds=left), *said)

    def _refuse_twice(self, output: PublishedOutput) -> None:
        if any(entry.name == output.name for entry in self.entries if entry.is_output):
            raise StudyError(
                'the ledger has an output "{name}"; give this one another name (`name`)',
                name=output.name,
            )

    # -- what is written ---------------------------------------------------------------------------------------------

    def add(
        self,
        output: PublishedOutput | str | PathLike[str] | Mapping[str, Any],
        *,
        source: Path | None = None,
        who: str | None = None,
        only_if: Callable[[OutputCheck], bool] | None = None,
        **options: Any,
    ) -> OutputCheck:
        """Add an output that went out, with the verdict on it; while another process adds one, this one is refused.

        Args:
            output: The output; what is not read yet is read.
            source: The file or folder that it was read from, of which a digest is kept.
            who: Who asked for it; by default who is logged in.
            only_if: Tells by the answer whether it is added; by default it went out, whatever the answer is.
            options: How it is checked, as in `check`.

        Raises:
            DataError: The ledger cannot be written, was altered, or contradicts the output.
        """
        self._begin()
        with held(self.folder / CHAIN):
            self.entries = _entries(self.folder)
            new = output if isinstance(output, PublishedOutput) else self.read(output)
            checked = self.check(new, **{"advising": only_if is not None, **options})
            if checked.answer.contradiction is not None and only_if is None:
                raise DataError(
                    "the output contradicts what is in the ledger ({tables}); see whether it is of the same people "
                    "(`cohort`), and how it was protected",
                    tables=quoted(checked.answer.contradiction.tables),
                )
            if only_if is not None and not only_if(checked):
                return checked
            content = {
                "event": ADDED,
                "name": new.name,
                "who": who or _somebody(),
                "source": None if source is None else _source(source),
                "verdict": checked.to_dict(),
                "left_out": list(new.left_out),
                "identifier": new.identifier,
                "plan": new.to_dict(),
            }
            self._append(content, _certificate(checked.answer))
        return checked

    def withdraw(self, name: str, *, why: str = "", who: str | None = None) -> LedgerEntry:
        """Note that an output was withdrawn: it still counts, since nobody forgets what went out.

        Raises:
            DataError: There is no such output, it was withdrawn already, or the ledger cannot be written.
        """
        self.entry(name)
        with held(self.folder / CHAIN):
            self.entries = _entries(self.folder)
            if name in self.withdrawn:
                raise DataError('output "{name}" was withdrawn already', name=name)
            content = {"event": WITHDRAWN, "name": name, "who": who or _somebody(), "why": why}
            self._append(content, None)
        return self.entries[-1]

    def _begin(self) -> None:
        """Make the folder and its chain, if they are not there: what lies there without a chain was never added."""
        chain = self.folder / CHAIN
        if chain.is_file():
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            others = _others(self.folder)
        except OSError as error:
            raise cannot_write(self.folder, error) from None
        if others:
            raise DataError(
                '"{folder}" holds something else; choose a new folder for the ledger',
                folder=self.folder,
            )
        with new_file(chain) as draft:
            draft.write_text("", encoding="utf-8")

    def _append(self, content: dict[str, Any], proof: Mapping[str, Any] | None) -> None:
        """Write an entry, its certificate, and last the chain, each whole or not at all."""
        number = len(self.entries) + 1
        stem = f"{number:04}-{_slug(content['name'])}"
        certificate = None
        written: list[Path] = []
        for path in self.folder.glob(f"{number:04}-*.proof.json"):
            path.unlink()  # an addition was killed before its entry was there

        def write(name: str, text: str, *, private: bool = False) -> None:
            written.append(self.folder / name)
            with new_file(written[-1], private=private) as draft:
                draft.write_text(text, encoding="utf-8")

        try:
            if proof is not None:
                text = json.dumps(proof, ensure_ascii=False) + "\n"
                certificate = {"file": f"{stem}.proof.json", "sha256": _digest(text.encode())}
                write(certificate["file"], text, private=True)
            entry = {
                "form": FORM,
                "number": number,
                "date": now().isoformat(timespec="seconds"),
                **content,
                "certificate": certificate,
                "previous": self.head,
            }
            write(f"{stem}.json", json.dumps(entry, ensure_ascii=False, indent=1) + "\n")
            with new_file(self.folder / CHAIN) as draft:
                draft.write_text("".join(_lines(_entries(self.folder))), encoding="utf-8")
        except BaseException:
            for path in reversed(written):
                path.unlink(missing_ok=True)
            raise
        self.entries = _entries(self.folder)

    # -- what is checked ---------------------------------------------------------------------------------------------

    def verify(self, *, head: str | None = None) -> dict[str, Any]:
        """Check that nothing was altered, and every certificate again in whole numbers.

        Args:
            head: The digest of an entry that was noted elsewhere: everything up to it must be as it was.

        Raises:
            DataError: Something was altered, or a certificate does not hold.
        """
        entries = _entries(self.folder)
        if not entries:
            raise no_ledger(self.folder)
        listed = {name for entry in entries for name in (entry.file, entry.proof) if name}
        unfinished = (
            f"{len(entries) + 1:04}-"  # an addition that was killed before its entry was there
        )
        for path in sorted(self.folder.iterdir()):
            if path.name in listed or path.name == CHAIN or path.name.startswith("."):
                continue
            if not (path.name.startswith(unfinished) and path.name.endswith(".proof.json")):
                raise altered(self.folder, path.name)
        if head is not None and head not in {entry.digest for entry in entries}:
            raise DataError(
                '"{folder}": no entry has the digest {head}: something was altered, or taken away, since it was noted',
                folder=self.folder,
                head=head,
            )
        claims = certified = 0
        outputs: list[PublishedOutput] = []
        for entry in entries:
            if not entry.is_output:
                continue
            outputs.append(PublishedOutput.from_dict(entry.name, entry.content["plan"]))
            if entry.proof is not None:
                checked = _verified(self.folder, entry, outputs)
                claims, certified = claims + checked["claims"], certified + checked["certified"]
        return {
            "accepted": True,
            "outputs": len(outputs),
            "withdrawn": len(entries) - len(outputs),
            "without_certificate": sum(one.is_output and one.proof is None for one in entries),
            "claims": claims,
            "certified": certified,
            "head": entries[-1].digest,
        }


@dataclass(frozen=True)
class _Released:
    """Released records as the table of all their columns."""

    plan: dict[str, Any]
    identifier: str | None
    left_out: tuple[str, ...]


def _released(folder: Path, earlier: Sequence[LedgerEntry]) -> _Released:
    """Return the records of a run of ``assess`` as one table: how many people have each combination.

    Raises:
        StudyError: They cannot be put together with tables, or with records that went out before.
    """
    study = load_study(folder / STUDY)
    if not isinstance(study, AssessStudy) or len(study.datasets) > 1 or study.person:
        raise StudyError(
            '"{folder}" cannot be put together with other outputs; give the run of assess on one file of one record '
            "per person",
            folder=folder,
        )
    dataset, adversary = study.datasets[0], study.adversary
    seen = (dataset.date, dataset.derive, dataset.bands, dataset.group)
    if any(seen) or study.treatment != Treatment():
        raise StudyError(
            '"{folder}" looks at its values in another way, or leaves records out; assess the file as it is released',
            folder=folder,
        )
    for entry in earlier:
        if (
            adversary.identifier is not None
            and entry.content.get("identifier") == adversary.identifier
        ):
            raise StudyError(
                'the ledger has records by "{id}", too ({name}): assess both files together, with `id`; they are one '
                "longitudinal release",
                id=adversary.identifier,
                name=entry.name,
            )
    columns = [
        *adversary.quasi_identifiers,
        *(one for secret in adversary.secrets for one in secret),
    ]
    source = open_source(dataset.path, dialect=dataset.dialect)
    left_out = tuple(
        f"column {name}"
        for name in source.columns
        if name not in columns and name not in (*study.drop, adversary.identifier)
    )
    counts = Counter(
        tuple(value or "" for value in record.values())
        for batch in source.batches(columns)
        for record in batch.to_pylist()
    )
    domains = zip(columns, zip(*counts, strict=True), strict=True)
    plan = {
        "attributes": {name: {"values": sorted(set(values))} for name, values in domains},
        "tables": [
            {
                "id": folder.absolute().name,
                "by": columns,
                "rows": [[*key, count] for key, count in sorted(counts.items())],
            }
        ],
    }
    return _Released(plan, adversary.identifier, left_out)


def no_ledger(folder: Path) -> DataError:
    """Return the error of a folder that is no ledger."""
    return DataError(
        '"{folder}" is not a ledger; glasshouse ledger add begins one with the first output that went out',
        folder=folder,
    )


def altered(folder: Path, file: str) -> DataError:
    """Return the error of a ledger in which something is not as it was written."""
    return DataError(
        '"{folder}": {file} is not as it was written: the ledger was altered; take it from a copy',
        folder=folder,
        file=file,
    )


def _verified(folder: Path, entry: LedgerEntry, outputs: list[PublishedOutput]) -> dict[str, int]:
    """Check a certificate, and that it is about all outputs up to its own."""
    try:
        proof = json.loads(_read(folder / str(entry.proof)))
        checked = verify(proof)
        is_about = proof["published"] == published(joined(outputs)).to_dict()
    except (Refused, KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise altered(folder, str(entry.proof)) from None
    if not is_about:
        raise altered(folder, str(entry.proof))
    return checked


def _certificate(answer: Succession) -> Mapping[str, Any] | None:
    """Return the proof of what all outputs tell; None: it would be too large."""
    bounds = answer.bounds
    if bounds is None or len(bounds.system.cells) * len(bounds.system.rows) > _MOST_PROVED:
        return None
    return proof_of(bounds)


def _entries(folder: Path) -> tuple[LedgerEntry, ...]:
    """Return the entries of a ledger; every file is compared with its digest, and every entry with the one before.

    An entry that follows the last one without a line in the chain counts: its addition was killed in the last moment.

    Raises:
        DataError: Something was altered.
    """
    chain = folder / CHAIN
    if not chain.is_file():
        if any(_FILE.fullmatch(path.name) for path in folder.glob("*.json")):
            raise altered(folder, CHAIN)
        return ()
    entries: list[LedgerEntry] = []
    lines = _read(chain).splitlines(keepends=True)
    for line in lines:
        name = line.partition("  ")[2].strip()
        if not _FILE.fullmatch(name):
            raise altered(folder, CHAIN)
        if not name.endswith(_PROOF):
            entries.append(_entry(folder, name, entries))
    if list(_lines(entries)) != lines:
        raise altered(folder, CHAIN)
    while further := [
        path.name
        for path in sorted(folder.glob(f"{len(entries) + 1:04}-*.json"))
        if not path.name.endswith(_PROOF)
    ]:
        entries += [_entry(folder, name, entries) for name in further]
    return tuple(entries)


def _lines(entries: Sequence[LedgerEntry]) -> Iterator[str]:
    """Yield the lines of the chain."""
    for entry in entries:
        if entry.proof is not None:
            yield f"{entry.content['certificate']['sha256']}  {entry.proof}\n"
        yield f"{entry.digest}  {entry.file}\n"


_PROOF = ".proof.json"
_FILE = re.compile(r"\d{4,}-[\w.-]*\.json")


def _entry(folder: Path, name: str, earlier: Sequence[LedgerEntry]) -> LedgerEntry:
    """Return an entry that follows others.

    Raises:
        DataError: It does not, or its certificate is not the one that it names.
    """
    previous = earlier[-1].digest if earlier else NOTHING
    try:
        written = (folder / name).read_bytes()
        content = json.loads(written)
        follows = (content["number"], content["previous"]) == (len(earlier) + 1, previous)
        is_ours = content["form"] == FORM and content["event"] in (ADDED, WITHDRAWN)
        is_whole = isinstance(content["name"], str) and (
            content["event"] == WITHDRAWN or isinstance(content["plan"], dict)
        )
        certificate = content["certificate"]
        proof = None
        if certificate is not None:
            proof = str(certificate["file"])
            is_whole &= bool(_FILE.fullmatch(proof))
            if _digest((folder / proof).read_bytes()) != certificate["sha256"]:
                raise altered(folder, proof)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise altered(folder, name) from None
    if not (follows and is_ours and is_whole):
        raise altered(folder, name)
    return LedgerEntry(name, _digest(written), content, proof)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = system_reason(error) if isinstance(error, OSError) else "UTF-8"
        raise DataError(
            "{file}: cannot be read ({reason})", file=path.name, reason=reason
        ) from None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _source(path: Path) -> dict[str, str]:
    """Return what was read by name, each with its SHA-256."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return {
        file.name if file == path else file.relative_to(path).as_posix(): _digest(file.read_bytes())
        for file in files
        if file.is_file()
    }


def _others(folder: Path) -> list[str]:
    """Return what lies in a folder that is no ledger yet: drafts and locks are nothing."""
    names = [path.name for path in folder.iterdir()]
    return [name for name in names if not is_draft(name) and name not in (CHAIN, f".{CHAIN}.lock")]


def _slug(name: str) -> str:
    """Return a name as part of the name of a file.

    >>> _slug("Ages & sex/2026")
    'Ages-sex-2026'
    """
    return re.sub(r"[^\w.]+", "-", name).strip("-.")[:60] or "output"


def _somebody() -> str:
    """Return who is logged in, as far as the system knows."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
