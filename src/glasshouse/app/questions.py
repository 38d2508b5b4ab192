"""Further questions: runs side by side, and what one form each asks: tables, a synthetic file, a release, totals.

An `Asking` is a form made of declared entries, a run, and its report; a further question is one more of them.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glasshouse.app.guard import Form, form_of
from glasshouse.app.looks import in_fields, look_at
from glasshouse.app.notes import notes_of
from glasshouse.app.runs import pictures
from glasshouse.app.server import page
from glasshouse.app.work import asked_by, submit, submit_study
from glasshouse.app.workspace import MANIFEST, AppWorkspace, Entry
from glasshouse.errors import GlasshouseError, StudyError
from glasshouse.language import marked, number, text, translated

if TYPE_CHECKING:
    from glasshouse.study import Question
    from glasshouse.study.entry import Description

SLIDERS: dict[str, tuple[float, float, float, float]] = {
    "access_cost": (0, 10_000, 50, 100),
    "penalty": (0, 100_000, 500, 10_000),
    "detection": (0.5, 50, 0.5, 1),
    "gain": (0, 50_000, 250, 8000),
    "exploit_cost": (0, 1000, 5, 10),
}
"""What can be moved, from where to where, by which steps, and where it begins."""


POSITIONAL = "-"
"""How something is typed that has no option of its own."""
EXAMPLES = {"number": "25", "pair": "1 4", "columns": "age, sex"}
"""What is written into fields of some kinds."""
MOST_OFFERED, LONGEST_WRITTEN = 200, 2000
"""So many files a form offers, and so many letters a field takes."""


def _submit(
    request: Request, words: list[str], entries: list[Entry], *, title: str, name: str
) -> Response:
    """Ask the command line for a run of some files or runs."""
    workspace: AppWorkspace = request.app.state.workspace
    workspace.check_inside(entry.path for entry in entries)
    shown = ["glasshouse", *words, *(entry.path.name for entry in entries), "--out", "run"]
    words = [*words, *(str(entry.path) for entry in entries)]
    return submit(request, words, title=title, name=name, command=shlex.join(shown))


def _compare(request: Request) -> Response:
    workspace: AppWorkspace = request.app.state.workspace
    ticked, trouble = [], ""
    if request.method == "POST":
        ticked = form_of(request).getlist("run")
        chosen = [workspace.entry(one) for one in ticked]
        trouble = _incomparable(workspace, chosen)
        if not trouble:
            title = text("Comparing {count} runs", count=len(chosen))
            return _submit(request, ["compare"], chosen, title=title, name="compared")
    return page(
        request,
        "compare.html",
        status=422 if trouble else 200,
        title=text("Runs side by side"),
        trouble=trouble,
        ticked=ticked,
        runs=[
            one
            for one in workspace.summaries()
            if (one.entry.path / MANIFEST).exists()  # what has none tells a story of several
            and not one.is_damaged
        ],
        notes=notes_of(workspace),
        command="glasshouse compare run2018 run2019 --out changes",
    )


def _incomparable(workspace: AppWorkspace, chosen: list[Entry]) -> str:
    """Say why runs cannot be compared; nothing where they can."""
    if len(chosen) < 2:
        return text("Choose two runs or more to compare.")
    commands = {workspace.run(entry.identifier).command for entry in chosen}
    if len(commands) > 1:
        return text(
            "Only runs of the same command can be compared; these are of {commands}.",
            commands=", ".join(sorted(commands)),
        )
    return ""


@dataclass(frozen=True)
class AskedEntry:
    """A field of a form that asks for an entry of a question."""

    name: str
    """What the question calls it."""
    kind: str = "text"
    """``text``, ``choice``, ``number``, ``pair`` (of numbers), ``columns``;
    or ``file``, ``files``, ``output``, ``plan`` or ``run``."""
    model: str = ""
    """Where it is declared, as a module and a class of `glasshouse.study`; empty: `says` is its label."""
    says: str = ""
    """Its label, where no entry is declared, or its own is of another thing."""
    option: str = ""
    """How it is typed; empty: as it is called, and of what is given first, without a word."""

    @property
    def is_file(self) -> bool:
        """Whether a file or a run is chosen."""
        return self.kind in ("file", "files", "output", "plan", "run")

    @property
    def described(self) -> Description | None:
        """What is said of it where it is declared."""
        from glasshouse.study.entry import description_of

        module, _, name = self.model.partition(".")
        model = getattr(import_module(f"glasshouse.study.{module}"), name, None) if name else None
        return description_of(model, self.name) if model is not None else None

    @property
    def label(self) -> str:
        """What the form calls it."""
        described = self.described
        declared = described and (described.label or described.says)
        return in_fields(translated(self.says or declared or self.name)).removesuffix(".")

    @property
    def hint(self) -> str:
        """What its value looks like, and what is taken where nothing is written."""
        unless = self.described and self.described.unless
        taken = text("empty: {unless}", unless=translated(unless)) if unless else ""
        example = EXAMPLES.get(self.kind)
        such = text("such as {example}", example=example) if example else ""
        return "; ".join(filter(None, (such, taken)))

    @property
    def choices(self) -> list[str]:
        """What can be chosen."""
        return self.described.shows.split("|") if self.kind == "choice" and self.described else []

    def offered(self, workspace: AppWorkspace) -> list[Entry]:
        """Return the files or runs that can be chosen."""
        if self.kind == "run":
            return [entry for entry in workspace.runs() if _makes_release(entry)]
        if self.kind == "plan":
            return workspace.plans()
        several = {"file": workspace.files, "files": workspace.files, "output": workspace.outputs}
        return several[self.kind]()[:MOST_OFFERED] if self.kind in several else []

    def answer(self, workspace: AppWorkspace, form: Form) -> Any:
        """Return what a form says of it, as the question takes it; None: nothing.

        Raises:
            DataError: There is no such file.
            StudyError: It is not what it should be.
        """
        written = form.get(self.name).strip()[:LONGEST_WRITTEN]
        if self.is_file:
            chosen = [workspace.entry(one) for one in form.getlist(self.name) if one]
            return chosen or None
        if self.kind in ("number", "pair") and written:
            parts = re.findall(r"[0-9]{1,12}", written)
            if len(parts) != len(EXAMPLES[self.kind].split()) or re.search(r"[^0-9 ,]", written):
                raise StudyError(
                    "“{written}” is not what “{field}” asks for, such as {example}",
                    written=written,
                    field=self.label,
                    example=EXAMPLES[self.kind],
                )
            return tuple(map(int, parts)) if self.kind == "pair" else int(parts[0])
        if self.kind == "columns":
            return tuple(name.strip() for name in written.split(",") if name.strip()) or None
        return written or None

    def typed(self, answer: Any) -> Iterator[str]:
        """Yield what was answered as it is typed."""
        option = self.option or f"--{self.name.replace('_', '-')}"
        answers = answer if isinstance(answer, list) or self.kind == "columns" else [answer]
        for one in answers if answer is not None else ():
            words = (
                [one.path.name]
                if isinstance(one, Entry)
                else map(str, one if self.kind == "pair" else [one])
            )
            yield from words if option == POSITIONAL else (option, *words)


@dataclass(frozen=True)
class Asking:
    """A question with a form, a run and a report: what it is called, what it asks for, and how it is carried out."""

    word: str
    """Its address."""
    title: str
    """What it is about."""
    lead: str
    """What it answers."""
    command: tuple[str, ...]
    """The command that answers it."""
    entries: tuple[AskedEntry, ...]
    """The fields of its form; the first one must be answered."""
    carry_out: Callable[[Request, Mapping[str, Any], str], Response]
    """Carries it out, of what was answered and the command that says the same."""

    def __call__(self, request: Request) -> Response:
        """Return its page, or carry it out."""
        workspace: AppWorkspace = request.app.state.workspace
        form = form_of(request) if request.method == "POST" else Form()
        trouble, words = "", [*self.command]
        if request.method == "POST":
            try:
                uploaded = form.files.get("file")
                if uploaded:
                    kept = workspace.keep(*uploaded)
                    form.entries.append((self.entries[0].name, kept.identifier))
                answers = {one.name: one.answer(workspace, form) for one in self.entries}
                words += [word for one in self.entries for word in one.typed(answers[one.name])]
                if answers[self.entries[0].name] is None:
                    raise StudyError("choose a file or a run first")
                return self.carry_out(request, answers, shlex.join([*words, "--out", "run"]))
            except GlasshouseError as error:
                trouble = in_fields(workspace.without_paths(str(error)))
        return page(
            request,
            "ask.html",
            status=422 if trouble else 200,
            title=translated(self.title),
            lead=translated(self.lead),
            asking=self,
            fields=[(one, one.offered(workspace), form.getlist(one.name)) for one in self.entries],
            trouble=trouble,
            command=shlex.join([*words, "--out", "run"]),
        )


def _given(answers: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return what was answered of some entries."""
    return {name: answers[name] for name in names if answers[name] is not None}


def _path(answers: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """Return the file of an entry as a study has it."""
    return {"path": answers[name][0].path} if answers[name] else None


def _tables(request: Request, answers: Mapping[str, Any], command: str) -> Response:
    from glasshouse.study import validated
    from glasshouse.study.tables import TablesStudy

    shared = _given(answers, "suppressed", "totals", "noise")
    content = {
        "tables": [{"path": one.path, **shared} for one in answers["tables"]],
        "population": _path(answers, "population"),
        **_given(answers, "people", "rare", "quasi_identifiers", "sensitive"),
    }
    study = validated(TablesStudy, content, "tables")
    name = answers["tables"][0].path.stem
    title = text("Who can be read out of {name}", name=name)
    return submit_study(request, study, title=title, name=f"tables-{name}", command=command)


def _synthetic(request: Request, answers: Mapping[str, Any], command: str) -> Response:
    from glasshouse.app.drafts import KNOWN, suggested_roles
    from glasshouse.study import validated
    from glasshouse.study.assess import AssessStudy, with_default_subsets

    release = answers["release"][0]
    if answers["trained_on"] is None:
        raise StudyError("choose the file of real people that it was made from, too")
    roles = suggested_roles(look_at(release).profile.columns)
    known = answers["quasi_identifiers"] or [name for name, role in roles.items() if role == KNOWN]
    sensitive = answers["sensitive"] or ()
    content = {
        "datasets": [{"path": release.path}],
        "trained_on": _path(answers, "trained_on"),
        "holdout": _path(answers, "holdout"),
        "adversary": {
            "quasi_identifiers": [name for name in known if name not in sensitive],
            "sensitive": sensitive,
        },
    }
    study = with_default_subsets(validated(AssessStudy, content, "synthetic"))
    title = text("What {name} remembers of real people", name=release.path.name)
    name = f"synthetic-{release.path.stem}"
    return submit_study(request, study, title=title, name=name, command=command)


def _threat(request: Request, answers: Mapping[str, Any], _command: str) -> Response:
    (entry,) = answers["run"]
    name = entry.path.name
    title = text("What {name} reveals about a person", name=name)
    return _submit(request, ["threat"], [entry], title=title, name=f"threat-{name}")


def _makes_release(entry: Entry) -> bool:
    """Tell whether a run wrote a release of its own."""
    from glasshouse.errors import DataError
    from glasshouse.runs.folder import stored_release

    try:
        stored_release(entry.path)
    except (DataError, RecursionError):  # a manifest may be of any form
        return False
    return True


def _totals(request: Request, answers: Mapping[str, Any], _command: str) -> Response:
    """Solve an instance, or carry out a plan."""
    from glasshouse.study import load_study
    from glasshouse.study.totals import TotalsStudy

    entry = answers["plan"][-1]
    title = text("Totals of {name}", name=entry.path.name)
    if entry.path.suffix.lower() == ".json":
        return _submit(request, ["totals", "solve"], [entry], title=title, name="totals")
    study = load_study(entry.path)
    if not isinstance(study, TotalsStudy):
        raise StudyError("this is a study of another command; give a plan of totals")
    return _carry_out(request, study, entry, title)


def _carry_out(request: Request, study: Question, entry: Entry, title: str) -> Response:
    """Ask the command line for the run of a study that is there."""
    words = ["glasshouse", *asked_by(study), "--study", entry.path.name, "--out", "run"]
    command = shlex.join(words)
    return submit_study(request, study, title=title, name=entry.path.stem, command=command)


def _study(request: Request) -> Response:
    """Carry out a study that is there."""
    from glasshouse.study import load_study

    workspace: AppWorkspace = request.app.state.workspace
    entry = workspace.entry(form_of(request).get("study"))
    return _carry_out(request, load_study(entry.path), entry, entry.name)


TABLES = "tables.TablesStudy"
ASKINGS = (
    Asking(
        "tables",
        marked("Who can be read out of published tables"),
        marked(
            "Counts that went out by age, by sex, by place: who becomes certain where they are put together?"
        ),
        ("glasshouse", "tables"),
        (
            AskedEntry(
                "tables",
                "files",
                says=marked("The published tables, a file each"),
                option=POSITIONAL,
            ),
            AskedEntry("people", "number", TABLES),
            AskedEntry("suppressed", "pair", "tables.PublishedTable"),
            AskedEntry("totals", "choice", "tables.PublishedTable"),
            AskedEntry("noise", "text", "tables.PublishedTable"),
            AskedEntry(
                "quasi_identifiers",
                "columns",
                says=marked("Columns that she may know"),
                option="-q",
            ),
            AskedEntry(
                "sensitive",
                "columns",
                says=marked("Columns that she wants to learn"),
                option="-s",
            ),
            AskedEntry("rare", "number", TABLES),
            AskedEntry("population", "file", TABLES),
        ),
        _tables,
    ),
    Asking(
        "synthetic",
        marked("What a synthetic file remembers of real people"),
        marked(
            "A file of made-up people may still hold real ones: who of those it was made from can be found in it?"
        ),
        ("glasshouse", "assess"),
        (
            AskedEntry("release", "file", says=marked("The synthetic file"), option=POSITIONAL),
            AskedEntry(
                "trained_on", "file", says=marked("The file of real people that it was made from")
            ),
            AskedEntry(
                "holdout",
                "file",
                says=marked("Other people like them, whom it was not made from, to judge it by"),
            ),
            AskedEntry(
                "quasi_identifiers",
                "columns",
                says=marked("Columns that she may know; empty: as suggested"),
                option="-q",
            ),
            AskedEntry(
                "sensitive",
                "columns",
                says=marked("Columns that she wants to learn"),
                option="-s",
            ),
        ),
        _synthetic,
    ),
    Asking(
        "threat",
        marked("What an anonymised table reveals"),
        marked(
            "An anonymised table says something of everybody who may be in it: how much more than the population does, "
            "and of whom?"
        ),
        ("glasshouse", "threat"),
        (AskedEntry("run", "run", says=marked("A run that made a release"), option=POSITIONAL),),
        _threat,
    ),
    Asking(
        "totals",
        marked("Who is behind published totals"),
        marked(
            "Records without names, and totals by place of the same thing: in which places can each record be? Give "
            "one group (an instance, JSON) or the plan of a whole campaign (TOML)."
        ),
        ("glasshouse", "totals", "campaign", "--study"),
        (AskedEntry("plan", "plan", says=marked("A plan or an instance"), option=POSITIONAL),),
        _totals,
    ),
)
"""The questions that are asked by a form, a run and its report."""


def _further(request: Request) -> Response:
    """List what else can be asked."""
    cards = [(f"/{one.word}", translated(one.title), translated(one.lead)) for one in ASKINGS]
    deter = text(
        "Move what an attack costs and brings: the size of the groups that it pays for moves along."
    )
    cards.append(("/deter", text("What would deter her"), deter))
    return page(request, "further.html", title=text("Further questions"), cards=cards)


def _deter(request: Request) -> Response:
    from glasshouse.report.html import template_context
    from glasshouse.runs import run
    from glasshouse.study import validated
    from glasshouse.study.deter import DeterStudy
    from glasshouse.study.entry import label_of

    form = (
        form_of(request)
        if request.method == "POST"
        else Form(list(request.query_params.multi_items()))
    )
    terms = {name: _moved(form.get(name), name) for name in SLIDERS}
    study = validated(DeterStudy, _asked_terms(terms), "deter")
    command = _deter_command(terms)
    if form.get("keep"):
        return submit_study(
            request, study, title=text("What would deter her"), name="deter", command=command
        )
    answer = run(study).page
    return page(
        request,
        "deter.html",
        **template_context(answer) | {"pictures": pictures},
        title=text("What would deter her"),
        sliders=[
            (
                name,
                label_of(DeterStudy, name),
                low,
                high,
                step,
                terms[name],
                number(terms[name], ",g"),
            )
            for name, (low, high, step, _) in SLIDERS.items()
        ],
        command=command,
    )


def _moved(written: str, name: str) -> float:
    """Return where a slider stands."""
    low, high, _, start = SLIDERS[name]
    if not re.fullmatch(r"\d{1,9}(\.\d{1,6})?", written):
        return float(start)
    return min(max(float(written), low), high)


def _asked_terms(terms: Mapping[str, float]) -> dict[str, Any]:
    """Return the terms as a study has them: the chance of detection by its log-odds, alike for every try."""
    chance = terms["detection"] / 100
    odds = round(math.log(chance / (1 - chance)), 2)
    return {**terms, "detection": (odds, 0.0)}


def _deter_command(terms: Mapping[str, float]) -> str:
    words = ["glasshouse", "deter"]
    for name, amount in _asked_terms(terms).items():
        words.append(f"--{name.replace('_', '-')}")
        words += [f"{one:g}" for one in (amount if isinstance(amount, tuple) else (amount,))]
    return shlex.join([*words, "--out", "run"])


routes = [
    Route("/compare", _compare, methods=["GET", "POST"]),
    Route("/further", _further),
    *(
        Route(f"/{one.word}", partial(Asking.__call__, one), methods=["GET", "POST"])
        for one in ASKINGS
    ),
    Route("/study", _study, methods=["POST"]),
    Route("/deter", _deter, methods=["GET", "POST"]),
]
