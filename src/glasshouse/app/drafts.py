"""The steps before a run: the file, the roles of its columns, and the adversary; kept as a draft of a study.

A draft is a small private file with what was chosen so far. In the end it becomes a ``study.toml`` as anybody could
write it, and a job of the command line carries it out.
"""

from __future__ import annotations

import json
import re
import secrets
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glasshouse.app.guard import Form, form_of
from glasshouse.app.looks import (
    ENCODINGS,
    MISSING,
    QUOTES,
    READING,
    SEPARATORS,
    Look,
    dialect_of,
    histogram,
    in_fields,
    look_at,
    missing_said,
    preview,
    proposed_by,
    reading_label,
    reading_of,
    typed,
)
from glasshouse.app.server import page, see
from glasshouse.app.work import submit_study
from glasshouse.app.workspace import AppWorkspace, Entry
from glasshouse.atomic import new_file
from glasshouse.errors import DataError, GlasshouseError, StudyError
from glasshouse.language import marked, number, spoken, text, text_for, translated

if TYPE_CHECKING:
    from glasshouse.study import Dialect, Question
    from glasshouse.study.assess import AssessStudy
    from glasshouse.table import ColumnProfile

KNOWN, SENSITIVE, IDENTIFIER, WEIGHT = "known", "sensitive", "identifier", "weight"
DROPPED, IGNORED, OUT = "dropped", "ignored", "out"
ROLES = {
    KNOWN: (
        marked("Known"),
        marked("Can be known"),
        marked("judged: people may be identified by it"),
    ),
    SENSITIVE: (
        marked("Sensitive"),
        marked("Sensitive: she wants to find it out"),
        marked("judged: it may be found out"),
    ),
    IDENTIFIER: (
        marked("Names"),
        marked("Names a person"),
        marked("tells people apart; must not be in the release"),
    ),
    WEIGHT: (
        marked("Weight"),
        marked("Survey weight: how many people a record stands for"),
        marked("says how many people a record stands for"),
    ),
    DROPPED: (
        marked("Dropped"),
        marked("Will not be in the release"),
        marked("not in the release"),
    ),
    IGNORED: (
        marked("No concern"),
        marked("Of no concern: nobody can know it"),
        marked("dismissed: in the release, and the verdict says so"),
    ),
    OUT: (
        marked("Nothing"),
        marked("Nothing of these"),
        marked("not looked at: with it the rule is not met"),
    ),
}
"""What a column can be: in a word, as the page calls it, and what becomes of it in the release."""
KINDS = {
    "integer": marked("whole number"),
    "number": marked("number"),
    "date": marked("date"),
    "text": marked("text"),
    "": marked("empty"),
}
"""What the values of a column look like, as the page calls it."""
MOST_YEARS = 30
"""So many further files can be chosen from."""
POLICIES = {
    "open-data": marked("Open data: anybody may have it"),
    "research-file": marked("Research file: under contract"),
    "internal": marked("Internal: staff of the house"),
}
"""The rules that come with the house, as the page calls them."""
ASIDE = frozenset({"datasets", "subsets", "seed", "labels", "command", "subject", "version"})
"""What a draft leaves to the study: which sets are tried, and what all is called."""
HALF_A_YEAR = "±183d"
"""How well a date of birth is known by who knows the age: as it is written."""
_DATE_PARTS = frozenset("day dia month mes year ano".split())


@dataclass(frozen=True)
class Draft:
    """What was chosen so far."""

    identifier: str
    """What pages call it."""
    file: str
    """The identifier of the file."""
    roles: dict[str, str] = field(default_factory=dict)
    """The role of each column."""
    known: tuple[str, ...] | None = None
    """What she knows of what can be known; None: all of it."""
    persona: str = ""
    """The persona that was chosen last."""
    tries: int = 1
    """How often she may guess."""
    policy: str = "open-data"
    """The rule that the release is judged by."""
    advise: bool = False
    """Whether to look for a protection, too."""
    together: bool = False
    """Whether the parts of a date are known together or not at all."""
    years: tuple[str, ...] = ()
    """The identifiers of further files: other years of the same people, or other places."""
    several: bool = False
    """Whether people have several records each, so that people are counted and not records."""
    records: int = 4
    """Of how many records of a person she knows what they say, at most; 0: of all of them."""
    unlinked: bool = False
    """Whether the release keeps no pseudonym, so that she cannot tell which records are of one person."""
    within: dict[str, str] = field(default_factory=dict)
    """How close a guess of a secret need be that is a number, as it was written: ``10%`` or ``5``."""
    about: dict[str, str] = field(default_factory=dict)
    """How well she knows what she does not know exactly, as it was written: ``±2``, ``±7d`` or ``90%``."""
    reading: dict[str, str] = field(default_factory=dict)
    """How the file is written, as far as somebody said it: of `READING`."""
    invalid: tuple[str, ...] = ()
    """Conditions of records that are left out as nobody's."""
    likely: dict[str, str] = field(default_factory=dict)
    """With which chance she knows what she may not know at all, as it was written: ``50%``."""
    missing_as: str = "value"
    """What a missing value of what she knows is: ``value``, ``matches`` (every value), or ``apart``."""

    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By column, the values that stand for missing."""
    is_asked: bool = False
    """Whether it has become a run."""
    aside: tuple[str, ...] = ()
    """What of the question of a run that it was made of is not in it, as options are called."""

    @property
    def person(self) -> tuple[str, ...]:
        """The column that says whose a record is; nothing where records are counted."""
        can_be = not self.years and not self.of(WEIGHT)
        return self.of(IDENTIFIER) if self.several and can_be else ()

    @property
    def close(self) -> dict[str, str]:
        """How close guesses need be, of the secrets that it is asked of."""
        asked = self.of(SENSITIVE) if self.counts_alike else ()
        return {name: how for name, how in self.within.items() if name in asked}

    @property
    def counts_alike(self) -> bool:
        """Whether every record of one file counts once, so that it can be asked who is unsure, or guesses closely."""
        return not (self.person or self.years)

    @property
    def doubtful(self) -> tuple[str, ...]:
        """The columns of which she may be unsure."""
        return self.single if self.counts_alike else ()

    @property
    def unsure(self) -> dict[str, dict[str, str]]:
        """What she does not know exactly, or only with some chance, by the options that say so."""
        return {
            option: {name: how for name, how in written.items() if name in self.doubtful}
            for option, written in (("about", self.about), ("likely", self.likely))
        }

    @property
    def guesses(self) -> int:
        """How often she may guess; once where people are counted, and where she is unsure."""
        return 1 if self.person or any(self.unsure.values()) else self.tries

    @property
    def facts(self) -> dict[str, tuple[str, ...]]:
        """The parts of dates that she knows together, by what they are of."""
        return dates_of(self.quasi_identifiers) if self.together else {}

    @property
    def single(self) -> tuple[str, ...]:
        """What she knows by itself."""
        parted = {name for columns in self.facts.values() for name in columns}
        return tuple(name for name in self.quasi_identifiers if name not in parted)

    @property
    def knowable(self) -> tuple[str, ...]:
        """The columns that can be known."""
        return self.of(KNOWN)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that she knows."""
        return tuple(name for name in self.knowable if self.known is None or name in self.known)

    def of(self, role: str) -> tuple[str, ...]:
        """Return the columns of a role."""
        return tuple(name for name, one in self.roles.items() if one == role)


@dataclass(frozen=True)
class Persona:
    """Somebody in particular who may look for people, and what a file has of what she knows."""

    name: str
    """What pages call her."""
    title: str
    """Who she is."""
    sentence: str
    """What she knows."""
    columns: tuple[str, ...]
    """The columns of the file that she knows."""
    about: Mapping[str, str] = field(default_factory=dict)
    """How well she knows some of them, as it is written: a date of birth, by the age."""
    lacks: tuple[str, ...] = ()
    """What she knows and no column was found for, in words."""

    @property
    def has(self) -> str:
        """Say what of it is in the file; nothing if nothing is."""
        from glasshouse.app.runs import listed

        known = [
            text("{column} (to half a year, by the age)", column=listed([name]))
            if name in self.about
            else listed([name])
            for name in self.columns
        ]
        return text("In this file: {columns}.", columns=", ".join(known)) if known else ""

    @property
    def lacking(self) -> str:
        """Say what of it is not; nothing if all is."""
        return text("Not in this file: {known}.", known=", ".join(self.lacks)) if self.lacks else ""


def dates_of(columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the columns that are day, month and year of the same thing, by what it is.

    >>> dates_of(["day_of_birth", "sex", "year_of_birth", "year"])
    {'birth': ('day_of_birth', 'year_of_birth')}
    """
    from glasshouse.table.profiles import folded

    groups: dict[str, list[str]] = {}
    for name in columns:
        words = [word for word in re.split(r"[\W_]+", folded(name)) if word]
        rest = "_".join(word for word in words if word not in _DATE_PARTS and len(word) > 2)
        if rest and any(word in _DATE_PARTS for word in words):
            groups.setdefault(rest, []).append(name)
    return {
        rest: tuple(group)
        for rest, group in groups.items()
        if len(group) > 1 and rest not in columns
    }


def _look_of(workspace: AppWorkspace, draft: Draft) -> Look:
    """Return a first look at the file of a draft."""
    return look_at(workspace.entry(draft.file), dialect_of(draft.reading), draft.missing)


def _open(request: Request) -> Response:
    return see(f"/file/{request.query_params.get('file', '')}")


def _file(request: Request) -> Response:
    """What was understood of a file, and what each of its columns is."""
    workspace: AppWorkspace = request.app.state.workspace
    if request.url.path.startswith("/draft/"):
        draft = draft_of(workspace, request.path_params["identifier"])
        return _columns_page(request, draft, is_kept=True)
    draft = Draft(
        "", request.path_params["identifier"], reading=reading_of(request.query_params.get)
    )
    return _columns_page(request, draft, said=request.query_params.getlist(MISSING))


def _columns_page(
    request: Request,
    draft: Draft,
    *,
    said: Sequence[str] = (),
    is_kept: bool = False,
    trouble: str = "",
) -> Response:
    """Return the page on a file and its columns.

    Args:
        request: What was asked.
        draft: What was chosen so far.
        said: Which values stand for missing, as an address says it, where the draft does not.
        is_kept: Whether it is a draft that was begun, and not only an address.
        trouble: What is wrong with the roles.
    """
    workspace: AppWorkspace = request.app.state.workspace
    entry, reading = workspace.entry(draft.file), draft.reading
    exact = request.query_params.get("values") == "yes"
    words = ["glasshouse", "inspect", entry.path.name, *typed(reading)]
    context: dict[str, Any] = {
        "title": entry.name,
        "draft": draft if is_kept else None,
        "here": "",
        "entry": entry,
        "exact": exact,
        "reading": {name: reading.get(name, "") for name in READING},
        "fields": {name: reading_label(name) for name in READING},
        "separators": {sign: translated(label) for sign, label in SEPARATORS.items()},
        "quotes": {sign: translated(label) for sign, label in QUOTES.items()},
        "encodings": ENCODINGS,
    }
    try:
        look = look_at(entry, dialect_of(reading), draft.missing)
        if said:
            draft = replace(draft, missing=missing_said(said, list(look.table.columns)))
            look = look_at(entry, dialect_of(reading), draft.missing)
    except GlasshouseError as error:
        trouble = in_fields(workspace.without_paths(str(error)))
        proposed = proposed_by(str(error))
        context |= {
            "again": urlencode(reading),
            "instead": urlencode(reading | proposed) if proposed else "",
            "command": shlex.join(words),
        }
        return page(
            request, "file.html", status=422, **context, look=None, trouble=trouble, doubt=""
        )
    doubt, instead = look.doubt
    roles = draft.roles or suggested_roles(look.profile.columns)
    ticked = [
        f"{place}.{value}"
        for place, name, value in look.maybe_missing
        if value in draft.missing.get(name, ())
    ]
    words += _missing_words(draft)
    return page(
        request,
        "file.html",
        **_understood(look, shlex.join(words)),
        **context,
        again=urlencode([*reading.items(), *((MISSING, one) for one in ticked)]),
        command=command_of(workspace, draft) if is_kept else shlex.join(words),
        look=look,
        trouble=trouble,
        doubt=doubt,
        instead=urlencode(reading | instead),
        ticked=ticked,
        roles={name: tuple(map(translated, words)) for name, words in ROLES.items()},
        kinds={name: translated(label) for name, label in KINDS.items()},
        columns=[
            (column, roles.get(column.name, OUT), histogram(look.table.column(column.name), column))
            for column in look.profile.columns
        ],
        further=_further(workspace, draft),
        years=draft.years,
        invalid=draft.invalid,
        names=list(look.table.columns),
        rows=preview(look.table, exact=exact),
    )


def _missing_words(draft: Draft) -> list[str]:
    """Return which values stand for missing, as it is typed."""
    words = []
    for name, values in draft.missing.items():
        listed = ",".join(f'"{value}"' if "," in value else value for value in values)
        words += ["--missing", f"{name}={listed}"]
    return words


def _understood(look: Look, command: str) -> dict[str, Any]:
    """Return the page of ``inspect`` on a file, for its template."""
    from importlib.metadata import version

    from glasshouse.app.runs import pictures
    from glasshouse.disclosure import smallest_cell
    from glasshouse.report import Provenance
    from glasshouse.report.html import template_context
    from glasshouse.report.inspect.page import page as inspect_page
    from glasshouse.table import Role
    from glasshouse.table.profiles import identifying, people_of

    profile = look.profile
    known = [c.name for c in profile.columns if c.role is Role.QUASI_IDENTIFIER]
    content = inspect_page(
        profile,
        identifying(people_of(look.table), known),
        assumptions=[in_fields(phrase) for phrase in look.table.assumptions],
        command=command,
        provenance=Provenance(version("glasshouse"), "", (), smallest_cell=smallest_cell()),
        with_values=not look.doubt[0],
    )
    if look.has_more:
        read, rest = number(look.table.records), content.tiles[1:]
        figure = text("{records} and more", records=read)
        content = replace(
            content,
            lead=text("From its first {records} records; the file has more.", records=read),
            tiles=(replace(content.tiles[0], figure=figure), *rest),
        )
    return template_context(content) | {"pictures": pictures}


def suggested_roles(columns: Sequence[ColumnProfile]) -> dict[str, str]:
    """Return what columns are taken for, as `check` takes them: whatever is not plainly something else can be known.

    A column that names people by itself and is not the one by which they are told apart is counted as what it is.
    """
    from glasshouse.table import Role
    from glasshouse.table.profiles import knowable, naming_column

    known, person = knowable(columns), naming_column(columns)
    roles = {column.name: SENSITIVE if column.role is Role.SENSITIVE else OUT for column in columns}
    roles |= dict.fromkeys(known, KNOWN)
    return roles if person is None else roles | {person.name: IDENTIFIER}


def _begin(request: Request) -> Response:
    """Begin a draft with the roles that are chosen, or with those that are suggested."""
    workspace: AppWorkspace = request.app.state.workspace
    entry = workspace.entry(request.path_params["identifier"])
    form = form_of(request)
    reading = reading_of(form.get)
    names = list(look_at(entry, dialect_of(reading)).table.columns)
    missing = missing_said(form.getlist(MISSING), names)
    look = look_at(entry, dialect_of(reading), missing)
    draft = Draft(
        secrets.token_hex(10),
        entry.identifier,
        suggested_roles(look.profile.columns),
        reading=reading,
        missing=missing,
        invalid=() if reading.get("totals") == "keep" else look.nobody,
    )
    keep_draft(workspace, draft)
    return (
        _with_roles(request, draft) if form.get("go") else see(f"/draft/{draft.identifier}/roles")
    )


def _roles(request: Request) -> Response:
    """The roles of a draft that was begun."""
    workspace: AppWorkspace = request.app.state.workspace
    draft = draft_of(workspace, request.path_params["identifier"])
    if request.method == "POST":
        return _with_roles(request, draft)
    return _columns_page(request, draft, is_kept=True)


def _with_roles(request: Request, draft: Draft) -> Response:
    """Take the roles that a form says, and go on to the adversary if they can be."""
    workspace: AppWorkspace = request.app.state.workspace
    form = form_of(request)
    roles = {
        name: form.get(f"role-{place}", role)
        for place, (name, role) in enumerate(draft.roles.items())
    }
    further = [one.identifier for one in _further(workspace, draft)]
    draft = replace(
        draft,
        roles={name: role if role in ROLES else OUT for name, role in roles.items()},
        years=tuple(one for one in form.getlist("year") if one in further),
    )
    trouble = _trouble(draft)
    if trouble:
        return _columns_page(request, draft, is_kept=True, trouble=trouble)
    keep_draft(workspace, draft)
    return see(f"/draft/{draft.identifier}/adversary")


def _further(workspace: AppWorkspace, draft: Draft) -> list[Entry]:
    """Return the other files of the same kind in the folder of a draft's file."""
    place = workspace.entry(draft.file).path
    return [
        entry
        for entry in workspace.files()
        if entry.path != place
        and entry.path.parent == place.parent
        and entry.path.suffix == place.suffix
    ][:MOST_YEARS]


def _trouble(draft: Draft) -> str:
    """Say what is wrong with the roles; nothing if they can be used."""
    if not draft.knowable:
        return text("Choose at least one column that can be known about a person.")
    for role in (IDENTIFIER, WEIGHT):
        if len(draft.of(role)) > 1:
            return text(
                "Only one column can be “{role}”; choose another for the rest.",
                role=translated(ROLES[role][1]),
            )
    return ""


def _adversary(request: Request) -> Response:
    from glasshouse.app.runs import listed
    from glasshouse.study import Gain
    from glasshouse.study.assess import AssessStudy
    from glasshouse.study.entry import label_of

    workspace: AppWorkspace = request.app.state.workspace
    draft = draft_of(workspace, request.path_params["identifier"])
    look = _look_of(workspace, draft)
    field, trouble = "", ""
    if request.method == "POST":
        draft = _chosen(draft, form_of(request), look)
        keep_draft(workspace, draft)
        field, trouble = _doubt(draft)
        if not trouble and form_of(request).get("go"):
            return _start(request, draft)
    return page(
        request,
        "adversary.html",
        title=text("Who may look for people in {file}", file=workspace.entry(draft.file).name),
        draft=draft,
        here="adversary",
        field=field,
        trouble=trouble,
        file=workspace.entry(draft.file).name,
        personas=list(_personas(look, draft)),
        policies={name: translated(label) for name, label in POLICIES.items()},
        labels={name: label_of(AssessStudy, name) for name in ("policy", "advise", "missing_as")}
        | {"tries": label_of(Gain, "tries")},
        sentence=_sentence(draft),
        cost=_cost(draft),
        person=listed(draft.of(IDENTIFIER)) if not draft.years and not draft.of(WEIGHT) else "",
        secrets=listed(draft.of(SENSITIVE)),
        numbers=_numbers(look, draft),
        doubtful=[
            (place, listed([name]), draft.about.get(name, ""), draft.likely.get(name, ""))
            for place, name in enumerate(draft.knowable)
            if name in draft.doubtful
        ],
        known=[(name, listed([name])) for name in draft.knowable],
        dates="; ".join(map(listed, dates_of(draft.quasi_identifiers).values())),
        command=command_of(workspace, draft),
    )


def _doubt(draft: Draft) -> tuple[str, str]:
    """Say in which field something is wrong with what is chosen of the adversary, and what; nothing if it is not."""
    from glasshouse.study.assess import parse_chance, parse_precision, parse_tolerance

    if not draft.quasi_identifiers:
        return "", text("Choose at least one thing that she knows.")
    for place, name in enumerate(draft.of(SENSITIVE)):
        if name in draft.close and _is_refused(parse_tolerance, name, draft.close[name]):
            return f"within-{place}", text(
                "“{written}” is neither a share such as 10% nor an amount such as 5.",
                written=draft.close[name],
            )
    about, likely = draft.unsure["about"], draft.unsure["likely"]
    for place, name in enumerate(draft.knowable):
        written = about.get(name)
        if written and (written.startswith("@") or _is_refused(parse_precision, name, written)):
            return f"about-{place}", text(
                "“{written}” is none of ±2 (or +-2), ±7d for dates, and 90%.", written=written
            )
        chance = likely.get(name)
        if chance and _is_refused(parse_chance, name, chance):
            return f"likely-{place}", text(
                "“{written}” is not a chance from 0% to 100%, such as 50%.", written=chance
            )
    asked_besides = (draft.person, draft.years, draft.close, about, likely, draft.advise)
    if draft.missing_as == "matches" and (draft.guesses > 1 or any(asked_besides)):
        return "missing-as", text(
            "That it matches every value goes with one guess by exact knowledge, in one file and with no protection "
            "looked for; leave out the rest, or choose otherwise."
        )
    return "", ""


def _is_refused(parse: Callable[[str, str], object], name: str, written: str) -> bool:
    try:
        parse(name, written)
    except StudyError:
        return True
    return False


def _numbers(look: Look, draft: Draft) -> list[tuple[int, str, str]]:
    """Return the secrets that are numbers: their places, what they are called, and how close a guess need be."""
    from glasshouse.app.runs import listed

    if not draft.counts_alike:
        return []
    columns = look.profile.columns
    numeric = {column.name for column in columns if column.kind in ("integer", "number")}
    return [
        (place, listed([name]), draft.within.get(name, ""))
        for place, name in enumerate(draft.of(SENSITIVE))
        if name in numeric
    ]


def _personas(look: Look, draft: Draft) -> Iterator[Persona]:
    """Yield who may look for people in a file, with the columns that she knows, and what of it the file lacks.

    They are those of the catalogue, of the country whose language is spoken, or of the European Union; and whoever has
    the next release of the same columns. Columns are told by their names and values, as the command line tells them.
    Who knows an age knows a date of birth to half a year.
    """
    from glasshouse.study.adversaries import chosen_adversaries, in_words, meaning_in_words
    from glasshouse.table.profiles import meaning_of

    columns = draft.knowable
    profiles = {one.name: one for one in look.profile.columns if one.name in columns}
    meanings = {name: meaning_of(one) for name, one in profiles.items()}
    births = [
        name
        for name, meaning in meanings.items()
        if (meaning == "birth-date" and len(profiles[name].dates) == 1) or meaning == "birth-year"
    ]
    for one in chosen_adversaries(["br" if spoken() == "pt-BR" else "eu"]):
        placed = one.in_columns(meanings)
        known = {name for names in placed.columns.values() for name in names}
        by_age = [name for name in births if "age" in placed.missing]
        yield Persona(
            one.name.partition("/")[2],
            in_words(one.title),
            text("knows {known}", known=", ".join(map(meaning_in_words, one.knows))),
            tuple(name for name in columns if name in known or name in by_age),
            {name: HALF_A_YEAR for name in by_age if meanings[name] == "birth-date"},
            tuple(
                meaning_in_words(missing)
                for missing in placed.missing
                if missing != "age" or not by_age
            ),
        )
    yield Persona(
        "next-year",
        text("Whoever keeps this release"),
        text(
            "has the same columns of the same people again when the next one appears, and links them"
        ),
        tuple(columns),
    )


def _chosen(draft: Draft, form: Form, look: Look) -> Draft:
    """Return a draft with what the page on the adversary says."""
    from glasshouse.study.assess import MOST_KNOWN

    positions = {f"{place}": name for place, name in enumerate(draft.knowable)}
    known = tuple(positions[one] for one in form.getlist("known") if one in positions)
    persona, about = form.get("persona"), _written(form, "about", draft.knowable)
    chosen = next((one for one in _personas(look, draft) if one.name == persona), None)
    if chosen is not None:
        known = chosen.columns
        before = {name: how for name, how in about.items() if how != HALF_A_YEAR}
        about = {**before, **chosen.about}
    else:
        persona = draft.persona if set(known) == set(draft.quasi_identifiers) else ""
    tries, records = form.get("tries", "1"), form.get("records", "4")
    policy = form.get("policy")
    return replace(
        draft,
        is_asked=False,
        known=known,
        persona=persona,
        tries=min(max(int(tries), 1), 1000) if re.fullmatch(r"\d{1,6}", tries) else 1,
        policy=policy if policy in POLICIES else draft.policy,
        advise=form.get("advise") == "yes",
        together=form.get("together") == "yes",
        several=form.get("several") == "yes",
        unlinked=form.get("unlinked") == "yes",
        records=min(int(records), MOST_KNOWN) if re.fullmatch(r"\d{1,6}", records) else 4,
        within=_written(form, "within", draft.of(SENSITIVE)),
        about=about,
        likely=_written(form, "likely", draft.knowable),
        missing_as=_one_of(form.get("missing_as"), ("value", "matches", "apart")),
    )


def _one_of(chosen: str | None, words: Sequence[str]) -> str:
    """Return what was chosen of some words; the first where it is none of them."""
    return chosen if chosen is not None and chosen in words else words[0]


def _written(form: Form, word: str, columns: Sequence[str]) -> dict[str, str]:
    """Return what was written into the fields of columns that have one of this word."""
    return {
        name: written
        for place, name in enumerate(columns)
        if (written := form.get(f"{word}-{place}").strip()[:20])
    }


def _sentence(draft: Draft) -> str:
    """Return in one sentence what will be asked."""
    from glasshouse.report.words import enumeration

    known, secret = draft.quasi_identifiers, draft.of(SENSITIVE)
    if known and draft.person:
        records = (
            text_for(draft.records, "one record", "up to {count} records")
            if draft.records
            else text("all records")
        )
        return text(
            "Whom could someone identify who knows {known} of {records} of a person?",
            known=enumeration(known),
            records=records,
        )
    if not known:
        return ""
    if not secret:
        return text("Whom could someone who knows {known} identify?", known=enumeration(known))
    return text(
        "Whom could someone who knows {known} identify, and what would she learn about {secret}?",
        known=enumeration(known),
        secret=enumeration(secret),
    )


def _cost(draft: Draft) -> str:
    """Return how much there is to do."""
    from glasshouse.study.assess import MOST_SWEPT, SWEPT_BY_DEFAULT

    known = len(draft.single) + len(draft.facts)
    if not known:
        return ""
    if draft.person:
        return text("All of these columns are tried together.")
    if known > MOST_SWEPT:
        return text(
            "Only the whole set is tried: there are too many columns to try every choice of them."
        )
    if known > SWEPT_BY_DEFAULT:
        return text("As many sets of these columns are tried as a minute is enough for.")
    return text("{sets} sets of these columns are tried.", sets=number(2**known - 1))


def study_of(workspace: AppWorkspace, draft: Draft) -> AssessStudy:
    """Return the study that a draft stands for.

    Raises:
        StudyError: It makes no sense.
    """
    from glasshouse.study import load_policy, validated
    from glasshouse.study.assess import AssessStudy, with_default_subsets

    identifier, weight = draft.of(IDENTIFIER), draft.of(WEIGHT)
    look = _look_of(workspace, draft)
    content = {
        "datasets": [
            {
                "path": entry.path,
                "dialect": _dialect(look),
                "date": _dates(workspace, draft),
                "missing": draft.missing,
                "types": look.types,
            }
            for entry in files_of(workspace, draft)
        ],
        "each": bool(draft.years) and not identifier,
        "adversary": {
            "quasi_identifiers": draft.single,
            "facts": draft.facts,
            "sensitive": draft.of(SENSITIVE),
            "identifier": identifier[0] if identifier and not draft.person else None,
            "gain": {"tries": draft.guesses} if draft.guesses > 1 else {},
        },
        "treatment": {"invalid": draft.invalid},
        "drop": draft.of(DROPPED),
        "ignore": draft.of(IGNORED),
        "weight": weight[0] if weight else None,
        "advise": draft.advise and not draft.person,
        "person": draft.person,
        "knows": (draft.records or "all") if draft.person else None,
        "unlinked": draft.unlinked and bool(draft.person),
        "within": draft.close,
        "missing_as": draft.missing_as,
        **draft.unsure,
    }
    study = with_default_subsets(validated(AssessStudy, content, "assess"))
    return study.model_copy(update={"policy": load_policy(draft.policy)})


def _dialect(look: Look) -> Dialect:
    """Return how a file is written: where numbers have a comma, points may stand between thousands."""
    dialect = look.dataset.dialect
    return dialect.model_copy(update={"thousands": "."}) if look.types else dialect


def draft_from(workspace: AppWorkspace, question: Question | None) -> Draft:
    """Return a draft with the question of a run, as far as pages can ask it.

    Raises:
        DataError: Its file is gone, or lies outside of the folders.
        StudyError: It is of another kind.
    """
    from glasshouse.study.assess import AssessStudy

    if not isinstance(question, AssessStudy) or isinstance(question.datasets[0].path, str):
        raise StudyError("only a question about the records of a file can be changed here")
    places = [dataset.place for dataset in question.datasets]
    workspace.check_inside(places)
    adversary, dialect = question.adversary, question.datasets[0].dialect
    known = (*adversary.quasi_identifiers, *adversary.fact_columns)
    reading = {
        name: f"{value}"
        for name in ("skip", "skip_end", "encoding", "separator")
        if (value := getattr(dialect, name)) is not None
    }
    reading |= {} if dialect.quote == '"' else {"quote": dialect.quote or "none"}
    reading |= {} if dialect.decimal == "." else {"decimal": dialect.decimal}
    reading |= {"strip": "yes"} if dialect.strip else {}
    reading |= {} if dialect.header else {"header": "no"}
    reading |= {} if question.treatment.invalid else {"totals": "keep"}
    look = look_at(workspace.entry(workspace.identifier(places[0])), dialect_of(reading))
    roles = suggested_roles(look.profile.columns)
    # what could be known and she did not know, is still there to be ticked
    roles = {name: role if role == KNOWN else OUT for name, role in roles.items()}
    for role, names in (
        (KNOWN, known),
        (SENSITIVE, adversary.secret_columns),
        (IDENTIFIER, question.person or filter(None, [adversary.identifier])),
        (WEIGHT, filter(None, [question.weight])),
        (DROPPED, question.drop),
        (IGNORED, question.ignore),
    ):
        roles |= {name: role for name in names if name in roles}
    knows = question.knows
    return Draft(
        secrets.token_hex(10),
        workspace.identifier(places[0]),
        roles,
        known=tuple(name for name in roles if name in known),
        tries=adversary.gain.tries or 1,
        policy=question.policy.name if question.policy.name in POLICIES else "open-data",
        advise=question.advise,
        together=bool(adversary.facts),
        years=tuple(map(workspace.identifier, places[1:])),
        several=bool(question.person),
        records=knows if isinstance(knows, int) else 0 if knows == "all" else 4,
        unlinked=question.unlinked,
        within=dict(question.within),
        about=dict(question.about),
        reading=reading,
        missing={name: tuple(codes) for name, codes in question.datasets[0].missing.items()},
        invalid=question.treatment.invalid,
        likely=dict(question.likely),
        missing_as=question.missing_as,
    )


def left_aside(workspace: AppWorkspace, draft: Draft, question: Question | None) -> list[str]:
    """Return the settings of a run's question that a draft of it does not have, as options call them."""
    ours, theirs = (
        {**content, **content.pop("adversary"), **content.pop("treatment")}
        for content in (
            study_of(workspace, draft).model_dump(),
            {} if question is None else question.model_dump(),
        )
    )
    unlike = [name for name in theirs if name not in ASIDE and ours.get(name) != theirs[name]]
    return [f"--{name.replace('_', '-')}" for name in unlike]


def _dates(workspace: AppWorkspace, draft: Draft) -> dict[str, str]:
    """Return how dates are written that she knows within some days, where the file tells it."""
    from glasshouse.study.assess import parse_precision

    asked = {
        name
        for name, written in draft.unsure["about"].items()
        if parse_precision(name, written).in_days
    }
    if not asked:
        return {}
    columns = _look_of(workspace, draft).profile.columns
    return {
        column.name: column.dates[0]
        for column in columns
        if column.name in asked and len(column.dates) == 1 and column.dates[0] != "yyyy-mm-dd"
    }


def files_of(workspace: AppWorkspace, draft: Draft) -> list[Entry]:
    """Return the file of a draft, and the further ones."""
    return [workspace.entry(one) for one in (draft.file, *draft.years)]


def command_of(workspace: AppWorkspace, draft: Draft) -> str:
    """Return the command that asks the same; of what cannot be asked as it stands, only its file is in it."""
    from glasshouse.report.assess.front import question_command

    try:
        study = study_of(workspace, draft)
    except StudyError:
        return shlex.join(["glasshouse", "assess", workspace.entry(draft.file).path.name])
    return question_command(study)


def _start(request: Request, draft: Draft) -> Response:
    """Ask for the run of a draft."""
    workspace: AppWorkspace = request.app.state.workspace
    name = workspace.entry(draft.file).path.name
    keep_draft(workspace, replace(draft, is_asked=True))
    return submit_study(
        request,
        study_of(workspace, draft),
        title=text("Assessing {name}", name=name),
        name=name.partition(".")[0],
        command=command_of(workspace, draft),
    )


def draft_of(workspace: AppWorkspace, identifier: str) -> Draft:
    """Return a draft.

    Raises:
        DataError: There is none of that name.
    """
    try:
        if not re.fullmatch("[0-9a-f]{20}", identifier):
            raise ValueError(identifier)
        path: Path = workspace.drafts() / f"{identifier}.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        known = content["known"]
        known = None if known is None else tuple(known)
        lists = {name: tuple(content.get(name, ())) for name in ("years", "invalid", "aside")}
        missing = {name: tuple(codes) for name, codes in content.get(MISSING, {}).items()}
        return Draft(**{**content, "known": known, "missing": missing, **lists})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        raise DataError("there is no such draft; open the file again") from None


def kept_drafts(workspace: AppWorkspace) -> list[tuple[str, str, float]]:
    """Return the drafts of files that are there, the latest first: what pages call each, its file, and since when.

    A draft that was asked has become a run, whose question can be changed.
    """
    drafts = []
    for path in workspace.drafts().glob("*.json"):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            file, when = workspace.entry(content["file"]).name, path.stat().st_mtime
        except (OSError, ValueError, TypeError, KeyError, RecursionError, DataError):
            continue
        if not content.get("is_asked"):
            drafts.append((path.stem, file, when))
    return sorted(drafts, key=lambda one: -one[2])


def keep_draft(workspace: AppWorkspace, draft: Draft) -> None:
    """Write a draft down."""
    path = workspace.drafts() / f"{draft.identifier}.json"
    with new_file(path, private=True, sweep=False) as unfinished:
        unfinished.write_text(json.dumps(asdict(draft)), encoding="utf-8")


routes = [
    Route("/open", _open),
    Route("/file/{identifier}", _file),
    Route("/file/{identifier}/draft", _begin, methods=["POST"]),
    Route("/draft/{identifier}", _file),
    Route("/draft/{identifier}/roles", _roles, methods=["GET", "POST"]),
    Route("/draft/{identifier}/adversary", _adversary, methods=["GET", "POST"]),
]
