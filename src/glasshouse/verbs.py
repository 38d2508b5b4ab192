"""The commands as Python functions: the same words, the same questions, the same answers.

Each takes data (an encoded table, a file, or a frame of pandas, Polars, Arrow or DuckDB) and returns a `Run`.

>>> import glasshouse as gh
>>> import pyarrow as pa
>>> people = pa.table({"age": [20, 30, 30], "sex": ["F", "F", "F"], "illness": ["a", "b", "b"]})
>>> run = gh.assess(people, quasi_identifiers=["age", "sex"], sensitive=["illness"])
>>> run
<Run of assess: 3 records>
>>> [attack.certain for attack in run.outcome.attacks][-2:]
[1, 3]
"""

from __future__ import annotations

import inspect as inspect_module
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from os import PathLike
from pathlib import Path
from textwrap import wrap
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar, get_args

from pydantic import BaseModel

from glasshouse.conditions import facts_of, taken_apart
from glasshouse.errors import StudyError, UnjudgedError
from glasshouse.language import near_names, quoted, text
from glasshouse.measures.verdict import Verdict, verdict_on
from glasshouse.mitigation.hierarchies import Hierarchy
from glasshouse.progress import OnProgress
from glasshouse.runs import Outcome, Resources, Run
from glasshouse.runs import run as carry_out
from glasshouse.runs.assess import understood
from glasshouse.runs.folder import beside, is_run, stored_coverage, stored_measures
from glasshouse.runs.ledger import Ledger
from glasshouse.runs.reading import questions_among
from glasshouse.runs.run import in_memory
from glasshouse.sources.entry import UNNAMED, is_on_spark
from glasshouse.sources.frames import reread
from glasshouse.study import (
    Adversary,
    Dataset,
    Dialect,
    Question,
    load_policy,
    load_question,
    load_study,
    validated,
)
from glasshouse.study.anonymise import AnonymiseStudy, Protection, method_of
from glasshouse.study.assess import AssessStudy, parse_person_secret, with_default_subsets
from glasshouse.study.compare import CompareStudy
from glasshouse.study.deter import DeterStudy
from glasshouse.study.entry import description_of, in_python, models_in
from glasshouse.study.membership import MembershipStudy
from glasshouse.study.policy import ReleasePolicy
from glasshouse.study.protect import ProtectStudy
from glasshouse.study.tables import TablesStudy
from glasshouse.study.target import TargetStudy
from glasshouse.study.threat import ThreatStudy
from glasshouse.table import (
    EncodedTable,
    TableProfile,
    available_columns,
    profile,
    table_profile,
)
from glasshouse.table import read as read_table
from glasshouse.table.profiles import knowable
from glasshouse.tabulation import TablesOutcome

PolicyChoice = str | PathLike[str] | ReleasePolicy
"""The name of a policy, a file with one, or one that was made."""
Data = Any
"""An encoded table, a path, or a frame; of several, a list."""
Bands = Mapping[str, str | Sequence[object]]
"""Per column, where bands begin, or ``quantiles:5``."""
P = ParamSpec("P")
R = TypeVar("R")


_RUNNING = {
    "per_record": "Whether each record's own figures are wanted, too: ``run.per_record``.",
    "threads": "How many threads to use; by default as many as there are processors.",
    "memory": "How many bytes may be used.",
    "on_progress": "Told how far it is.",
}
"""What keywords are that say how something is worked out, and not what is asked."""
_KEYWORDS = {
    "identifier": "id",
    "time_limit": "seconds",
    "reading": "learner",
    "people": "register",
}
"""Entries of a study that have another word in Python."""
_MORE = "…"
"""What stands for the words of a study, in a docstring that has more to say of a keyword."""


def verb(*models: type[BaseModel]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for a function that answers a wrong call with a sentence.

    What its keywords are that are entries of a study, the models say: its docstring need only tell the others, and what
    is more in Python.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect_module.signature(function)
        names = [name for name, p in signature.parameters.items() if p.kind is p.KEYWORD_ONLY]

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                raise StudyError(_wrong_call(function.__name__, kwargs, names, error)) from None
            at_hand: Any = [_at_hand(argument) for argument in args]
            named: Any = {name: _at_hand(argument) for name, argument in kwargs.items()}
            return function(*at_hand, **named)

        call.__doc__ = _documented(function, {**_words(models), **_RUNNING})
        return call

    return decorated


def _at_hand(argument: object) -> object:
    """Return an argument that can be looked at more than once: of a stream of Arrow, the table."""
    if isinstance(argument, list):
        return [_at_hand(entry) for entry in argument]
    return reread(argument, UNNAMED)


def _words(models: Iterable[type[BaseModel]]) -> dict[str, str]:
    """Return what entries are, by their keywords: those of a model, then those of the models in it."""
    words: dict[str, str] = {}
    waiting = list(models)
    for model in waiting:
        for name, field in model.model_fields.items():
            described = description_of(model, name)
            if described is not None:
                sentence = in_python(described, several=get_args(field.annotation)[1:] == (...,))
                words.setdefault(_KEYWORDS.get(name, name), sentence)
            waiting += [one for one in models_in(field.annotation) if one not in waiting]
    return words


def _documented(function: Callable[..., object], words: Mapping[str, str]) -> str:
    """Return the docstring of a verb with what each of its keywords is."""
    written = inspect_module.getdoc(function) or ""
    head, begins, rest = written.partition("\n\nArgs:\n")
    if not begins:
        head, begins, rest = written.partition("\n\nRaises:\n")
        rest = f"\n\nRaises:\n{rest}" if begins else ""
    arguments, ends, tail = rest.partition("\n\n")
    more = dict(re.findall(r"^    (\w+): (.*(?:\n        .*)*)", arguments, re.MULTILINE))
    lines = []
    for name in inspect_module.signature(function).parameters:
        sentence = " ".join(more.get(name, _MORE).split()).replace(_MORE, words.get(name, _MORE))
        lines += wrap(
            f"{name}: {sentence}",
            width=116,
            initial_indent="    ",
            subsequent_indent="        ",
            break_on_hyphens=False,
        )
    return "\n".join([f"{head}\n\nArgs:", *lines]) + ends + tail


def _wrong_call(
    name: str, kwargs: Mapping[str, object], names: Sequence[str], error: TypeError
) -> str:
    for word in kwargs:
        near = near_names(word, names)
        if word not in names and near:
            return text(
                '{function}() has no "{word}"; did you mean {near}?',
                function=name,
                word=word,
                near=quoted(near),
            )
    return text(
        "{function}() cannot be called so: {reason}; it takes {names}",
        function=name,
        reason=error,
        names=", ".join(names),
    )


@verb(Dataset, Adversary)
def read(
    data: Data,
    *,
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    id: str | None = None,  # noqa: A002 - the word of the command line
    prior_weight: str | None = None,
    facts: Mapping[str, Sequence[str]] | None = None,
    also: Sequence[str] = (),
    types: Mapping[str, str] | None = None,
    missing: Mapping[str, Sequence[str]] | None = None,
    date: Mapping[str, str] | None = None,
    derive: Mapping[str, str] | None = None,
    bands: Bands | None = None,
    group: Mapping[str, str] | None = None,
    separator: str | None = None,
    quote: str | None = '"',
    encoding: str | None = None,
    header: bool = True,
    names: Sequence[str] = (),
    skip: int | None = None,
    skip_end: int | None = None,
    strip: bool = False,
    strict: bool = False,
    decimal: str = ".",
    thousands: str | None = None,
    sheet: str | None = None,
    table: str | None = None,
    query: str | None = None,
    member: str | None = None,
    name: str | None = None,
    memory: int | None = None,
    on_progress: OnProgress | None = None,
) -> EncodedTable:
    """Read a file or a frame into an encoded table, which any number of questions can be asked about.

    Args:
        data: A path to a file of any kind that ``docs/files.md`` names, to a folder of them or with wildcards, or to a
            saved table; or a frame of pandas, Polars, Arrow, or a DuckDB relation. A frame of Spark stays on its
            cluster: the table is one that `assess` takes, see ``docs/scale.md``.
        prior_weight: … Survey weights are read with `also`.
        also: Further columns to read, without a role.
        name: What results call the table; by default the file's name.
        memory: How many bytes the process may take; codes beyond a small part of it are kept on disk.

    Raises:
        DataError: The data is malformed, or a column is not in it.
        StudyError: A column is given two roles.
    """
    written = {
        "separator": separator,
        "quote": quote,
        "encoding": encoding,
        "header": header,
        "names": tuple(names),
        "skip": skip,
        "skip_end": skip_end,
        "strip": strip,
        "strict": strict,
        "decimal": decimal,
        "thousands": thousands,
        "sheet": sheet,
        "table": table,
        "query": query,
        "member": member,
    }
    dialect = validated(Dialect, written, "read")
    reader: Any = read_table
    if is_on_spark(data):
        from glasshouse.engines.spark.table import SparkTable

        reader = SparkTable.of
    table_read: EncodedTable = reader(
        data,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        id=id,
        prior_weight=prior_weight,
        facts=facts,
        also=also,
        dialect=None if dialect == Dialect() else dialect,
        types=types,
        missing=missing,
        date=date,
        derive=derive,
        bands=bands,
        group=group,
        name=name,
        memory=memory,
        on_progress=on_progress,
        **({} if is_on_spark(data) else {"looks_at_rest": True}),
    )
    return table_read


@verb()
def run(
    study: Question | str | PathLike[str],
    *,
    threads: int | None = None,
    memory: int | None = None,
    on_progress: OnProgress | None = None,
) -> Run[Question, Outcome]:
    """Carry out any study.

    Args:
        study: One that was loaded, or the path of a ``study.toml``.

    Raises:
        GlasshouseError: As the command that answers it says.
    """
    question = study if isinstance(study, Question) else load_study(Path(study))
    return carry_out(
        question, resources=Resources(on_progress=on_progress, threads=threads, memory=memory)
    )


@verb(Dataset)
def inspect(
    data: Data,
    *,
    missing: Mapping[str, Sequence[str]] | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool = True,
    skip: int | None = None,
    strip: bool = False,
    on_progress: OnProgress | None = None,
) -> TableProfile:
    """Tell what data hold: columns with their kind, distinct and missing values, and a suggested role with its reason.

    Args:
        data: A file or a frame, as in `read`.

    Raises:
        DataError: The data is malformed.
    """
    if isinstance(data, EncodedTable):
        return table_profile(data)
    return table_profile(
        read(
            data,
            missing=missing,
            separator=separator,
            encoding=encoding,
            header=header,
            skip=skip,
            strip=strip,
            on_progress=on_progress,
        )
    )


@verb()
def hierarchies(
    data: Data,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    rules: Mapping[str, str | PathLike[str]] | None = None,
) -> dict[str, Hierarchy]:
    """Suggest by which hierarchies columns can be generalised, each from its values to nothing at all.

    Args:
        data: A file, a frame or an encoded table.
        quasi_identifiers: The columns; by default those of the table, or else what somebody could know.
        rules: Per column a rule such as ``intervals:5,10``, or the file of a hierarchy, instead of a suggestion.

    Raises:
        DataError: The data is malformed, or a value is not in its hierarchy.
        StudyError: There is no column to generalise.
    """
    from glasshouse.runs.anonymise import hierarchies_of

    table = data if isinstance(data, EncodedTable) else read_table(data)
    known = tuple(quasi_identifiers or table.quasi_identifiers or knowable(profile(table)))
    if not known:
        raise StudyError("say which columns are to be generalised: quasi_identifiers=[…]")
    content = {"method": "k-anonymity", "k": 2, "hierarchies": dict(rules or {})}
    protection = validated(Protection, content, "hierarchies")
    return dict(hierarchies_of(protection, table.with_roles(quasi_identifiers=known)))


@verb(AssessStudy)
def assess(
    data: Data,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str | Sequence[str]] | None = None,
    id: str | None = None,  # noqa: A002 - the word of the command line
    facts: Mapping[str, Sequence[str]] | None = None,
    subsets: str | Sequence[str | Sequence[str]] | None = None,
    weight: str | None = None,
    prior_weight: str | None = None,
    prior: Mapping[str, Mapping[Any, float]] | None = None,
    tries: int | None = None,
    worth: Mapping[str, Mapping[Any, float]] | None = None,
    person: str | Sequence[str] | None = None,
    knows: int | str | None = None,
    unlinked: bool = False,
    within: Mapping[str, object] | None = None,
    about: Mapping[str, str] | None = None,
    likely: Mapping[str, object] | None = None,
    missing_as: str | None = None,
    household: str | None = None,
    noise: Mapping[str, str] | None = None,
    suda: float | None = None,
    date: Mapping[str, str] | None = None,
    derive: Mapping[str, str] | None = None,
    bands: Bands | None = None,
    group: Mapping[str, str] | None = None,
    where: Sequence[str] = (),
    invalid: Sequence[str] = (),
    drop_missing: bool = False,
    drop: Sequence[str] = (),
    ignore: Sequence[str] = (),
    missing_is_a_value: bool = False,
    by: str | None = None,
    each: bool = False,
    seed: int = 0,
    subject: str = "person",
    policy: PolicyChoice = "open-data",
    trained_on: Data = None,
    holdout: Data = None,
    advise: bool = False,
    explain: bool = False,
    per_record: bool = False,
    threads: int | None = None,
    memory: int | None = None,
    on_progress: OnProgress | None = None,
) -> Run[AssessStudy, Any]:
    """Tell who can be named, and what can be inferred about them, by someone who knows some attributes.

    Args:
        data: The release; a list of several is a longitudinal collection, of which the first is focal.
        quasi_identifiers: … By default those of the table.
        sensitive: … By default the table's sensitive attributes. A question about a column is answered yes or no:
            ``income>5000``, ``icd=F*``.
        id: … By default the table's.
        weight: … Nothing else depends on it.
        prior_weight: … Of a table, its own.
        person: … A secret is then ``any icd=F*``, ``sum price``, ``most clinic``, ``count``, or a column that is the
            same in all records of a person.
        policy: … Or one that was made.
        explain: For small data: whether to keep every table from the records to the hyper.
        memory: How many bytes a sweep may use.

    Raises:
        DataError: The data is malformed or lacks a column.
        StudyError: The question does not fit the data.
        BudgetError: It does not fit the memory.
    """
    seen = _seen(date=date, derive=derive, bands=bands, group=group)
    further = [*map(_column_of, (*where, *invalid)), *filter(None, [by, weight, household])]
    whose = [] if person is None else [*_names(person)]
    secrets = [] if whose else sensitive
    further += _columns_of_people(whose, sensitive) if whose else []
    on_spark = _on_spark(data, quasi_identifiers, secrets, id, facts, prior_weight, further, seen)
    datasets, tables = _datasets(
        [table.first for table in on_spark] or data,
        quasi_identifiers,
        secrets,
        id,
        facts,
        prior_weight,
        also=further,
        seen=seen,
        joined=id is not None and not each,
    )
    adversary = _adversary(tables, quasi_identifiers, sensitive, id, facts, prior_weight)
    beside = {"trained_on": trained_on, "holdout": holdout}
    files_of_people, people = _all_people_beside(beside, tables, adversary, further, seen)
    chosen = [subsets] if isinstance(subsets, str) else subsets
    study = validated(
        AssessStudy,
        {
            "datasets": datasets,
            "adversary": adversary
            | {"prior": _by_text(prior), "gain": {"tries": tries, "worth": _by_text(worth)}}
            | {"missing_is_a_value": missing_is_a_value},
            "treatment": _treatment(where, invalid, drop_missing),
            "drop": drop,
            "ignore": ignore,
            **files_of_people,
            "weight": weight,
            "suda": suda,
            "by": by,
            "each": each,
            "seed": seed,
            "subsets": chosen or ["full"],
            "subject": subject,
            "policy": _policy(policy),
            "advise": advise,
            **_attacker(
                person, knows, unlinked, within, about, likely, missing_as, household, noise
            ),
        },
        "assess",
    )
    study = study if chosen else with_default_subsets(study)
    shown = {"per_record": per_record, "explain": explain}
    resources = Resources(on_progress=on_progress, threads=threads, memory=memory)
    if on_spark:
        there = [replace(table, first=first) for table, first in zip(on_spark, tables, strict=True)]
        return _assessed_on_spark(study, there, resources, **shown)
    return _answer(study, resources, tables=tables, **shown, **people)


@verb(AssessStudy)
def check(
    data: Data | Run[Any, Any],
    *,
    policy: PolicyChoice = "open-data",
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str | Sequence[str]] | None = None,
    id: str | None = None,  # noqa: A002 - the word of the command line
    person: str | Sequence[str] | None = None,
    knows: int | str | None = None,
    unlinked: bool = False,
    within: Mapping[str, object] | None = None,
    about: Mapping[str, str] | None = None,
    likely: Mapping[str, object] | None = None,
    missing_as: str | None = None,
    household: str | None = None,
    noise: Mapping[str, str] | None = None,
    weight: str | None = None,
    trained_on: Data = None,
    holdout: Data = None,
    invalid: Sequence[str] = (),
    drop: Sequence[str] = (),
    ignore: Sequence[str] = (),
    baseline: str | PathLike[str] | None = None,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Verdict:
    """Tell whether a release meets a rule: ``verdict.meets`` is True only where it does, and all was looked at.

    Args:
        data: A run, or the folder of one; or a release, which is understood and assessed first.
        policy: … Or one that was made.
        quasi_identifiers: … By default those of the table, or what a file suggests.
        sensitive: … Likewise.
        id: … Likewise.
        person: … Of a file, the columns of this and of the next ones have the role that they need, and what it suggests
            that does not go with them is left out.
        weight: … A column that seems to be one of survey weights is not taken for it.
        baseline: The folder of a run before: nothing may be worse than in it, and no column new.

    Raises:
        DataError: The data is malformed or lacks a column, or the folder is that of no run.
        StudyError: Nothing of it is known to be knowable; or something is asked beside a run, which has decided it.
        UnjudgedError: Nothing was measured that the policy asks for.
    """
    rule = _policy(policy)
    attacker = _attacker(
        person, knows, unlinked, within, about, likely, missing_as, household, noise
    )
    people = {"trained_on": trained_on, "holdout": holdout}
    said = {"quasi_identifiers": quasi_identifiers, "sensitive": sensitive, "id": id}
    if isinstance(data, Run) or (isinstance(data, str | PathLike) and is_run(Path(data))):
        left_out = {"weight": weight, "invalid": invalid, "drop": drop, "ignore": ignore}
        named = {word: file is not None for word, file in people.items()}
        _refuse_beside_a_run(said | attacker | left_out | named)

    def study_of(dataset: Dataset, table: EncodedTable | None = None) -> AssessStudy:
        """Return the study that data suggest by themselves, with what is said of them instead."""
        return understood(
            dataset,
            quasi_identifiers=quasi_identifiers or (),
            sensitive=[name if isinstance(name, str) else tuple(name) for name in sensitive or ()],
            identifier=id,
            invalid=invalid,
            drop=drop,
            ignore=ignore,
            weight=weight,
            attacker=attacker
            | {
                word: {"path": Path(file)}
                for word, file in people.items()
                if isinstance(file, str | PathLike)
            },
            policy=rule,
            table=table,
        )[0]

    if isinstance(data, str | PathLike) and is_run(Path(data)):
        measured, coverage = stored_measures(Path(data)), stored_coverage(Path(data))
    else:
        run: Run[Any, Any] = data
        resources = Resources(on_progress=on_progress, threads=threads)
        if isinstance(data, str | PathLike):
            study = study_of(Dataset(path=Path(data)))
            run = carry_out(study, resources=resources, advising=False)
        elif not isinstance(data, Run):
            roles: dict[str, Any] = said | {"invalid": invalid}
            if not isinstance(data, EncodedTable) and not is_on_spark(data):
                data = read_table(data)
                study = study_of(Dataset(path=Path("release")), data)
                roles = _suggested_roles(study)
            run = assess(
                data,
                **roles,
                person=person,
                knows=knows,
                unlinked=unlinked,
                within=within,
                about=about,
                likely=likely,
                missing_as=missing_as,
                household=household,
                noise=noise,
                weight=weight,
                **people,
                drop=drop,
                ignore=ignore,
                policy=rule,
                threads=threads,
                on_progress=on_progress,
            )
        measured, coverage = run.measures, run.coverage
    if baseline is not None:
        measured, rule = beside(Path(baseline), measured, coverage, rule)
    verdict = verdict_on(measured, rule, coverage)
    if verdict is None:
        raise UnjudgedError(
            "nothing was measured that the rule asks for; assess the release itself, as a whole"
        )
    return verdict


@verb(TargetStudy)
def target(
    data: Data,
    known: Mapping[str, object] | Sequence[str | Mapping[str, object] | Sequence[str]],
    *,
    person: str | Sequence[str] | None = None,
    sensitive: Sequence[str | Sequence[str]] | None = None,
    id: str | None = None,  # noqa: A002 - the word of the command line
    prior_weight: str | None = None,
    tries: int | None = None,
    worth: Mapping[str, Mapping[Any, float]] | None = None,
    population: Data = None,
    fraction: float | None = None,
    date: Mapping[str, str] | None = None,
    derive: Mapping[str, str] | None = None,
    bands: Bands | None = None,
    group: Mapping[str, str] | None = None,
    where: Sequence[str] = (),
    missing_is_a_value: bool = False,
    seed: int = 0,
    subject: str = "person",
    policy: PolicyChoice = "open-data",
    on_progress: OnProgress | None = None,
) -> Run[TargetStudy, Any]:
    """Tell what someone who knows a few facts about one person learns about that person.

    Args:
        data: The release; of several, joined by the identifier, the first is focal.
        sensitive: … By default the table's sensitive attributes. With ``person``, a secret is one of the person, as in
            `assess`: ``any icd=F*``, ``other icd``.
        id: … By default the table's.
        policy: … Or one that was made.

    Raises:
        DataError: The data is malformed or lacks a column, or nobody fits what is known.
        StudyError: The question does not fit the data.
    """
    whose = [] if person is None else [*_names(person)]
    facts = _known_records(known) if whose else _conditions(known)
    parts = [fact for one in facts for fact in facts_of(one)]
    columns = list(dict.fromkeys(map(_column_of, parts)))
    seen = _seen(date=date, derive=derive, bands=bands, group=group)
    further = list(map(_column_of, where))
    secrets = [] if whose else sensitive
    further += _columns_of_people(whose, sensitive) if whose else []
    datasets, tables = _datasets(
        data, columns, secrets, id, None, prior_weight, also=further, seen=seen
    )
    people = _population(population, columns, further, seen)
    study = validated(
        TargetStudy,
        {
            "datasets": datasets,
            "adversary": _adversary(tables, columns, sensitive, id, None, prior_weight)
            | {"gain": {"tries": tries, "worth": _by_text(worth)}}
            | {"missing_is_a_value": missing_is_a_value},
            "treatment": _treatment(where, (), False),
            "known": facts,
            "person": whose,
            "seed": seed,
            "population": people[0],
            "fraction": fraction,
            "subject": subject,
            "policy": _policy(policy),
        },
        "target",
    )
    resources = Resources(on_progress=on_progress)
    return _answer(study, resources, tables=tables, population=people[1])


@verb(MembershipStudy)
def membership(
    data: Data,
    population: Data = None,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    known: Mapping[str, object] | Sequence[str] = (),
    fraction: float | None = None,
    weight: str | None = None,
    id: str | None = None,  # noqa: A002 - the word of the command line
    date: Mapping[str, str] | None = None,
    derive: Mapping[str, str] | None = None,
    bands: Bands | None = None,
    group: Mapping[str, str] | None = None,
    where: Sequence[str] = (),
    subject: str = "person",
    policy: PolicyChoice = "open-data",
    on_progress: OnProgress | None = None,
) -> Run[MembershipStudy, Any]:
    """Tell who is in a release, or in which of several.

    Args:
        data: The release, or several.
        quasi_identifiers: What release and register share; by default those of the table.
        weight: … Without a fraction they estimate it.
        id: The column that names a person in several releases, so that they are linked; not in the register.
        policy: … Or one that was made.

    Raises:
        DataError: The data is malformed or lacks a column, or the register lacks people of the release.
        StudyError: The question does not fit the data.
    """
    seen = _seen(date=date, derive=derive, bands=bands, group=group)
    further = [*map(_column_of, where)]
    datasets, tables = _datasets(
        data,
        quasi_identifiers,
        (),
        id,
        None,
        None,
        also=[*further, *filter(None, [weight])],
        seen=seen,
    )
    shared = quasi_identifiers or (tables[0].quasi_identifiers if tables else ())
    people = _population(population, shared, further, seen)
    study = validated(
        MembershipStudy,
        {
            "datasets": datasets,
            "adversary": {"quasi_identifiers": tuple(shared), "identifier": id},
            "treatment": _treatment(where, (), False),
            "known": _conditions(known),
            "population": people[0],
            "fraction": fraction,
            "weight": weight,
            "subject": subject,
            "policy": _policy(policy),
        },
        "membership",
    )
    resources = Resources(on_progress=on_progress)
    return _answer(study, resources, tables=tables, population=people[1])


@verb(ProtectStudy)
def protect(
    data: Data,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    id: str | None = None,  # noqa: A002 - the word of the command line
    policy: PolicyChoice = "open-data",
    noise: str | PathLike[str] | Mapping[str, Any] | None = None,
    people: int | None = None,
    suppression: float = 0.01,
    household: str | None = None,
    hierarchies: Mapping[str, str | PathLike[str]] | None = None,
    importance: Mapping[str, float] | None = None,
    weight: str | None = None,
    keep: Sequence[str] = (),
    ignore: Sequence[str] = (),
    keep_order: bool = False,
    drop_suppressed: bool = True,
    where: Sequence[str] = (),
    invalid: Sequence[str] = (),
    drop_missing: bool = False,
    missing_is_a_value: bool = False,
    seed: int = 0,
    subject: str = "person",
    seconds: float | None = None,
    on_progress: OnProgress | None = None,
) -> Run[Any, Any]:
    """Find versions of a release that meet a rule, and what each costs; ``run.release`` is the one to take.

    Args:
        data: The data.
        quasi_identifiers: … By default those of the table.
        sensitive: … By default the table's sensitive attributes.
        id: … By default the table's.
        policy: The rule to meet: a name, a file, or one that was made.
        noise: The data is the file of a table of counts, and these get noise: ``geometric:epsilon=1``, or the file of
            a perturbation table. The run is one of ``tables`` then, and ``run.question.tables[0].rows`` are the
            released counts: nothing draws them again.
        people: With ``noise``: how many people the table is of.
        ignore: … Of what is kept, too.
        seed: What random choices follow from; keep it as secret as the data.
        seconds: After so many seconds: …

    Raises:
        DataError: The data is malformed, or a value is not in its hierarchy.
        StudyError: No version meets the rule, or the question is not well posed.
        BudgetError: The time was over before any version was found.
    """
    means = _means(
        suppression, hierarchies, importance, weight, keep, keep_order=keep_order, seconds=seconds
    )
    means |= {"household": household}
    treatment = _treatment(where, invalid, drop_missing)
    if noise is not None or people is not None:
        words = {
            "seed": seed or None,
            "id": id,
            "ignore": ignore,
            "drop_suppressed": not drop_suppressed,
        }
        usual = _means(0.01, None, None, None, (), keep_order=False, seconds=None)
        words |= {name: value != usual.get(name) for name, value in means.items()} | treatment
        _refuse_beside_noise(words | {"missing_is_a_value": missing_is_a_value}, noise)
        counts = {
            "tables": [{"path": data, "noise": noise}],
            "people": people,
            "quasi_identifiers": list(quasi_identifiers or ()),
            "sensitive": list(sensitive or ()),
            "subject": subject,
            "policy": _policy(policy),
        }
        return _released_with_noise(data, counts, on_progress)
    content, tables = _to_protect(
        data,
        (quasi_identifiers, sensitive, id),
        means,
        treatment=treatment,
        missing_is_a_value=missing_is_a_value,
    )
    content |= {"ignore": ignore, "seed": seed, "subject": subject, "policy": _policy(policy)}
    content["means"] = means | {"drop_suppressed": drop_suppressed}
    study = validated(ProtectStudy, content, "protect")
    return _answer(study, Resources(on_progress=on_progress), tables=tables)


def _refuse_beside_noise(words: Mapping[str, object], noise: object) -> None:
    """Make sure that nothing is said of records where counts get noise.

    Raises:
        StudyError: Something is, or no noise is named.
    """
    if noise is None:
        raise StudyError("`people` is about a table of counts that gets noise; give `noise`, too")
    for name, value in words.items():
        if value:
            raise StudyError(
                "with `noise` a table of counts is protected; leave out {given}", given=f"`{name}`"
            )


def _released_with_noise(
    data: Data, content: dict[str, Any], on_progress: OnProgress | None
) -> Run[TablesStudy, TablesOutcome]:
    """Add noise to a table of counts, and assess what is released."""
    from glasshouse.runs.noisy_release import answer_release, released_with_noise

    if not isinstance(data, str | PathLike):
        raise StudyError("noise is added to the counts of a file; name the file of the table")
    released = released_with_noise(validated(TablesStudy, content, "protect"))
    return answer_release(released, resources=Resources(on_progress=on_progress))


@verb(AnonymiseStudy)
def anonymise(
    data: Data,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    id: str | None = None,  # noqa: A002 - the word of the command line
    method: str | None = None,
    k: int | None = None,
    l: float | None = None,  # noqa: E741 - the word of the field
    t: float | None = None,
    population: Data = None,
    fraction: float | None = None,
    recoding: str = "global",
    suppression: float = 0.0,
    hierarchies: Mapping[str, str | PathLike[str]] | None = None,
    importance: Mapping[str, float] | None = None,
    weight: str | None = None,
    keep: Sequence[str] = (),
    ignore: Sequence[str] = (),
    keep_order: bool = False,
    date: Mapping[str, str] | None = None,
    derive: Mapping[str, str] | None = None,
    bands: Bands | None = None,
    group: Mapping[str, str] | None = None,
    where: Sequence[str] = (),
    invalid: Sequence[str] = (),
    drop_missing: bool = False,
    missing_is_a_value: bool = False,
    seed: int = 0,
    subject: str = "person",
    policy: PolicyChoice = "open-data",
    seconds: float | None = None,
    on_progress: OnProgress | None = None,
    **protection: Any,
) -> Run[AnonymiseStudy, Any]:
    """Protect a release at the least loss, and measure again; ``run.release`` is the protected table.

    Args:
        data: The data.
        quasi_identifiers: … By default those of the table.
        sensitive: … By default the table's sensitive attributes.
        id: … By default the table's.
        population: … It is for ``k_map``, ``presence`` and ``population_uniques``.
        fraction: … It is for ``population_uniques``.
        ignore: … Of what is kept, too.
        seed: What random choices follow from; keep it as secret as the data.
        policy: … Or one that was made.
        seconds: After so many seconds: …
        protection: Further entries of a study's ``protection``, such as ``diversity``, ``highest_risk``, ``beta``,
            ``k_map``, ``aggregate``, ``perturb`` or ``sample``.

    Raises:
        DataError: The data is malformed, or a value is not in its hierarchy.
        StudyError: The protection cannot be reached, or is not well posed.
        BudgetError: The time was over before any protection was found.
    """
    _refuse_unknown("anonymise", protection, Protection.model_fields)
    seen = _seen(date=date, derive=derive, bands=bands, group=group)
    means = _means(
        suppression, hierarchies, importance, weight, keep, keep_order=keep_order, seconds=seconds
    )
    means |= {"household": protection.pop("household", None)}
    treatment = _treatment(where, invalid, drop_missing)
    content, tables = _to_protect(
        data,
        (quasi_identifiers, sensitive, id),
        means,
        treatment=treatment,
        missing_is_a_value=missing_is_a_value,
        seen=seen,
    )
    content |= {"ignore": ignore, "seed": seed, "subject": subject, "policy": _policy(policy)}
    shared = quasi_identifiers or (tables[0].quasi_identifiers if tables else ())
    people = _population(population, shared, _columns_beside(means, treatment), seen)
    promise = {"method": method or method_of(k=k, l=l, t=t, changes=protection)}
    content["protection"] = {
        **means,
        **promise,
        "k": k,
        "l": l,
        "t": t,
        "recoding": recoding,
        **protection,
    }
    content |= {"population": people[0], "fraction": fraction}
    study = validated(AnonymiseStudy, content, "anonymise")
    resources = Resources(on_progress=on_progress)
    return _answer(study, resources, tables=tables, population=people[1])


def _means(
    suppression: float,
    hierarchies: Mapping[str, str | PathLike[str]] | None,
    importance: Mapping[str, float] | None,
    weight: str | None,
    keep: Sequence[str],
    *,
    keep_order: bool,
    seconds: float | None,
) -> dict[str, Any]:
    """Return what may be done to protect a release, as content of a study."""
    return {
        "suppression": suppression,
        "hierarchies": dict(hierarchies or {}),
        "importance": dict(importance or {}),
        "weight": weight,
        "keep": list(keep),
        "keep_order": keep_order,
        "time_limit": seconds,
    }


def _columns_beside(means: Mapping[str, Any], treatment: Mapping[str, Any]) -> list[str]:
    """Return the columns that a release to be protected needs without their having a role."""
    conditions = (*treatment["where"], *treatment["invalid"])
    further = filter(None, [means["weight"], means.get("household")])
    return [*means["keep"], *further, *map(_column_of, conditions)]


def _to_protect(
    data: Data,
    roles: tuple[Sequence[str] | None, Sequence[str] | None, str | None],
    means: Mapping[str, Any],
    *,
    treatment: dict[str, Any],
    missing_is_a_value: bool,
    seen: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[dict[str, Any], list[EncodedTable]]:
    """Return a release to be protected as content of a study, and its table where it is in memory."""
    further = _columns_beside(means, treatment)
    datasets, tables = _datasets(data, *roles, None, None, also=further, seen=seen)
    adversary = _adversary(tables, *roles, None, None) | {"missing_is_a_value": missing_is_a_value}
    return {"datasets": datasets, "adversary": adversary, "treatment": treatment}, tables


@verb(CompareStudy)
def compare(
    *runs: str | PathLike[str],
    fraction: float | None = None,
    predict: str | None = None,
    subject: str = "person",
    policy: PolicyChoice = "open-data",
    on_progress: OnProgress | None = None,
) -> Run[CompareStudy, Any]:
    """Put runs of the same command side by side: what got worse, what got better.

    Args:
        runs: The folders of the runs, as ``run.report(folder)`` or ``--out`` wrote them.
        fraction: … Of releases, for population uniqueness.
        predict: … Of releases.
        policy: … Or one that was made.

    Raises:
        DataError: A folder holds no run that can be compared.
        StudyError: They are fewer than two, or of different commands.
    """
    content: dict[str, Any] = {
        "runs": list(runs),
        "fraction": fraction,
        "predict": predict,
        "subject": subject,
    }
    content["policy"] = _policy(policy)
    study = validated(CompareStudy, content, "compare")
    return _answer(study, Resources(on_progress=on_progress))


@verb(ThreatStudy)
def threat(
    release: Data,
    original: Data = None,
    *,
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    group: str | None = None,
    known: Mapping[str, object] | Sequence[str] = (),
    hierarchies: Mapping[str, str | PathLike[str]] | None = None,
    learner: int = 5,
    alpha: float | None = None,
    beta: float | None = None,
    seed: int = 0,
    subject: str = "person",
    policy: PolicyChoice = "open-data",
    per_record: bool = False,
    precision: float | None = None,
    sweeps: int | None = None,
    seconds: float | None = None,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Run[ThreatStudy, Any]:
    """Tell what an anonymised table tells about a person, beyond what anyone may learn about the population.

    Args:
        release: The table as published: a file, or the folder of a run of `anonymise`.
        known: … By default everybody in the table is one.
        policy: … Or one that was made.

    Raises:
        DataError: The data is malformed, or the original does not match the release.
        StudyError: The question does not fit the data.
    """
    from glasshouse.runs.threat import study_of_folder

    content: dict[str, Any] = {
        "release": {"path": release},
        "original": None if original is None else {"path": original},
        "quasi_identifiers": list(quasi_identifiers),
        "sensitive": list(sensitive),
        "group": group,
        "hierarchies": dict(hierarchies or {}),
        "seed": seed,
        "subject": subject,
        "policy": _policy(policy),
    }
    if Path(release).is_dir():
        content = study_of_folder(Path(release))
    limits = {"precision": precision, "sweeps": sweeps, "seconds": seconds}
    content |= {"known": _conditions(known), "reading": str(learner), "sampling": limits}
    content |= {"alpha": alpha, "beta": beta}
    study = validated(ThreatStudy, content, "threat")
    resources = Resources(on_progress=on_progress, threads=threads)
    return _answer(study, resources, per_record=per_record)


@verb()
def tables(
    *files: str | PathLike[str],
    study: TablesStudy | Mapping[str, Any] | str | PathLike[str] | None = None,
    subject: str = "person",
    policy: PolicyChoice = "open-data",
    on_progress: OnProgress | None = None,
    **entries: Any,
) -> Run[TablesStudy, TablesOutcome]:
    """Tell who can be read out of published tables together, and prove it.

    Args:
        files: The tables, a file each: long, with counts in the last column.
        study: Or a plan: a study, its content, or the path of it as TOML or JSON.
        subject: What a record stands for, in sentences.
        policy: What the outcome is judged by: a name, a file, or a policy.
        on_progress: Told how far it is.
        entries: The entries of a study of ``tables``: ``people``, ``attributes``, ``sensitive``, ``time_limit``, …;
            of each file ``suppressed``, ``totals`` and ``noise``.

    Raises:
        DataError: A file is malformed or not laid out as it should be.
        StudyError: The plan makes no sense, or lacks what a mark or a total means.
        BudgetError: The combinations do not fit the memory.

    >>> plan = {
    ...     "people": 3,
    ...     "attributes": {"sex": {"values": ["F", "M"]}, "ill": {"values": ["yes", "no"]}},
    ...     "tables": [
    ...         {"by": ["sex"], "rows": [["F", 1], ["M", 2]]},
    ...         {"by": ["ill"], "rows": [["yes", 0], ["no", 3]]},
    ...     ],
    ... }
    >>> tables(study=plan).outcome.bounds.certain_persons
    3
    """
    if isinstance(study, str | PathLike):
        return _answer(load_question(Path(study), TablesStudy), Resources(on_progress=on_progress))
    if isinstance(study, TablesStudy):
        return _answer(study, Resources(on_progress=on_progress))
    of_table = ("suppressed", "totals", "noise")
    _refuse_unknown("tables", entries, [*TablesStudy.model_fields, *of_table])
    protection = {name: entries.pop(name) for name in of_table if name in entries}
    content = dict(study) if study is not None else {}
    if files:
        content["tables"] = [{"path": Path(file), **protection} for file in files]
    words = {"subject": subject, "policy": _policy(policy)}
    asked = validated(TablesStudy, {**content, **words, **_plain(entries)}, "tables")
    return _answer(asked, Resources(on_progress=on_progress))


@verb()
def ledger(folder: str | PathLike[str]) -> Ledger:
    """Open the ledger of what went out, or one that is to be begun: see ``docs/ledger.md``.

    Args:
        folder: Its folder.

    Raises:
        DataError: Something in it was altered.

    >>> import tempfile
    >>> went_out = ledger(tempfile.mkdtemp())
    >>> table = {"by": ["sex"], "rows": [["F", 20], ["M", 30]]}
    >>> plan = {"attributes": {"sex": {"values": ["F", "M"]}}, "tables": [{"id": "sexes", **table}]}
    >>> went_out.check(went_out.read(plan)).verdict
    'publishable'
    """
    return Ledger(Path(folder))


@verb(DeterStudy)
def deter(
    *,
    release: str | PathLike[str] | None = None,
    population: str | PathLike[str] | None = None,
    register: str | PathLike[str] | None = None,
    quasi_identifiers: Sequence[str] = (),
    subject: str = "person",
    policy: PolicyChoice = "open-data",
    on_progress: OnProgress | None = None,
    **terms: Any,
) -> Run[DeterStudy, Any]:
    """Tell whether a rational adversary would attack, how far she would go, and what deters her.

    Args:
        quasi_identifiers: … By these columns they are linked.
        policy: … Or one that was made.
        terms: The entries of a study of ``deter``: ``gain``, ``penalty``, ``access_cost``, ``sizes``, …

    Raises:
        DataError: The data is malformed or lacks a column.
        StudyError: A term makes no sense.
        BudgetError: Too many sizes would have to be looked at.
    """
    _refuse_unknown("deter", terms, DeterStudy.model_fields)
    if isinstance(sizes := terms.get("sizes"), range) and sizes:
        terms["sizes"] = (sizes[0], sizes[-1])
    files = {"release": release, "people": register, "population": population}
    content = {name: {"path": path} for name, path in files.items() if path is not None}
    known = {
        "quasi_identifiers": list(quasi_identifiers),
        "subject": subject,
        "policy": _policy(policy),
    }
    study = validated(DeterStudy, {**content, **known, **_plain(terms)}, "deter")
    return _answer(study, Resources(on_progress=on_progress))


def _refuse_unknown(name: str, words: Mapping[str, object], entries: Iterable[str]) -> None:
    """Make sure that further words of a verb are entries of its study.

    Raises:
        StudyError: One is none; the nearest ones are named.
    """
    names = list(entries)
    for word in words:
        if word not in names:
            fault = TypeError(text('"{word}" is none of its words', word=word))
            raise StudyError(_wrong_call(name, words, names, fault))


def _answer(study: Any, resources: Resources, **options: Any) -> Run[Any, Any]:
    """Carry out a study; where its data is in memory, its figures come from no file."""
    keywords = {name: value for name, value in options.items() if value is not None and value != []}
    done = carry_out(study, resources=resources, **keywords)
    return replace(done, provenance=in_memory()) if keywords.get("tables") else done


def _datasets(
    data: Data,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str | Sequence[str]] | None,
    identifier: str | None,
    facts: Mapping[str, Sequence[str]] | None,
    prior_weight: str | None,
    *,
    also: Sequence[str],
    seen: Mapping[str, Any],
    joined: bool = False,
) -> tuple[list[dict[str, Any]], list[EncodedTable]]:
    """Return the datasets of a study, and the tables where they are in memory.

    Of those that are joined to the first one only what they have of the quasi-identifiers is asked.
    """
    sources = list(data) if isinstance(data, list | tuple) else [data]
    if all(isinstance(source, str | PathLike) for source in sources):
        if not quasi_identifiers and not facts:
            raise StudyError(
                "say what an adversary can know: quasi_identifiers=[…], or read() the file"
            )
        return [{"path": source, **seen} for source in sources], []
    columns = list(dict.fromkeys(name for secret in sensitive or () for name in _names(secret)))
    tables = []
    for number, source in enumerate(sources):
        table = source
        if joined and number > 0 and not isinstance(source, EncodedTable):
            there = available_columns(source)
            tables.append(
                _read_frame(
                    source,
                    seen,
                    quasi_identifiers=[name for name in quasi_identifiers or () if name in there],
                    id=identifier,
                    facts={
                        fact: [name for name in names if name in there]
                        for fact, names in (facts or {}).items()
                        if any(name in there for name in names)
                    },
                )
            )
            continue
        if any(sign in name for name in columns for sign in "=<>"):
            is_read = isinstance(source, EncodedTable)
            there = source.columns if is_read else available_columns(source)
            questions = questions_among(columns, there)
            columns = [name for name in columns if name not in questions]
            also = (*also, *questions.values())
        if not isinstance(source, EncodedTable):
            table = _read_frame(
                source,
                seen,
                quasi_identifiers=quasi_identifiers or (),
                sensitive=columns,
                id=identifier,
                prior_weight=prior_weight,
                facts=facts,
                also=also,
            )
        elif quasi_identifiers or columns:
            table = source.with_roles(
                quasi_identifiers=quasi_identifiers or source.quasi_identifiers,
                sensitive=columns or source.sensitive,
                identifier=identifier or source.identifier,
                prior_weight=prior_weight or source.prior_weight,
                facts=facts or source.facts,
            )
        tables.append(table)
    if len(sources) > 1:
        tables = [
            table if isinstance(source, EncodedTable) else replace(table, name=f"frame_{number}")
            for number, (source, table) in enumerate(zip(sources, tables, strict=True), start=1)
        ]
    for column in (*seen.get("bands", ()), *seen.get("group", ())):
        if not any(column in table.columns for table in tables):
            tables[0].column(column)
    return [_in_memory(table, seen) for table in tables], tables


def _on_spark(
    data: Data,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str | Sequence[str]] | None,
    identifier: str | None,
    facts: Mapping[str, Sequence[str]] | None,
    prior_weight: str | None,
    further: Sequence[str],
    seen: Mapping[str, Any],
) -> list[Any]:
    """Return data on Spark as tables that stay there; none: they are not."""
    sources = list(data) if isinstance(data, list | tuple) else [data]
    if not sources or not all(map(is_on_spark, sources)):
        return []
    from glasshouse.engines.spark.table import SparkTable

    return [
        source
        if isinstance(source, SparkTable)
        else SparkTable.of(
            source,
            quasi_identifiers=quasi_identifiers or (),
            sensitive=[name for secret in sensitive or () for name in _names(secret)],
            id=identifier,
            prior_weight=prior_weight,
            facts=facts,
            also=further,
            types=dict.fromkeys(seen.get("bands", ()), "number"),
            date=seen.get("date"),
            derive=seen.get("derive"),
        )
        for source in sources
    ]


def _seen(**words: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """Return how columns are to be seen, by the words that say it."""
    return {word: dict(rules) for word, rules in words.items() if rules}


def _read_frame(frame: Data, seen: Mapping[str, Any], **roles: Any) -> EncodedTable:
    """Read a frame with its dates; bands and groups wait until it is known who belongs to the study."""
    roles["looks_at_rest"] = True
    if not seen:
        return read_table(frame, **roles)
    there = available_columns(frame)
    types = dict.fromkeys(seen.get("bands", ()), "number")
    return read_table(
        frame,
        types={column: kind for column, kind in types.items() if column in there},
        date={name: form for name, form in seen.get("date", {}).items() if name in there},
        derive=seen.get("derive"),
        **roles,
    )


def _in_memory(table: EncodedTable, seen: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table as the dataset of a study.

    Raises:
        StudyError: Its dates were to be understood when it was read.
    """
    forms = {entry.column: entry.rule for entry in table.views if entry.word == "date"}
    derived = [entry.column for entry in table.views if entry.word == "derive"]
    for column in (*seen.get("date", ()), *seen.get("derive", ())):
        if column in table.columns and column not in (*forms, *derived):
            raise StudyError("`date` and `derive` are for reading: give them to read()")
    later = {word: seen[word] for word in ("bands", "group") if word in seen}
    return {"path": Path(table.name), "name": table.name, "date": forms, **later}


def _adversary(
    tables: Sequence[EncodedTable],
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str | Sequence[str]] | None,
    identifier: str | None,
    facts: Mapping[str, Sequence[str]] | None,
    prior_weight: str | None,
) -> dict[str, Any]:
    """Return whom a release is assessed against: as said, else as the roles of the table say."""
    if not tables:
        return {
            "quasi_identifiers": list(quasi_identifiers or ()),
            "sensitive": list(sensitive or ()),
            "identifier": identifier,
            "prior_weight": prior_weight,
            "facts": {name: list(columns) for name, columns in (facts or {}).items()},
        }
    table = tables[0]
    known = [name for name in table.quasi_identifiers if name not in table.facts]
    return {
        "quasi_identifiers": known,
        "sensitive": list(table.sensitive) if sensitive is None else list(sensitive),
        "identifier": identifier or table.identifier,
        "prior_weight": prior_weight or table.prior_weight,
        "facts": {name: list(columns) for name, columns in table.facts.items()},
    }


def _policy(policy: PolicyChoice) -> ReleasePolicy:
    return policy if isinstance(policy, ReleasePolicy) else load_policy(str(policy))


def _names(secret: str | Sequence[str]) -> tuple[str, ...]:
    return (secret,) if isinstance(secret, str) else tuple(secret)


def _attacker(
    person: str | Sequence[str] | None,
    knows: int | str | None,
    unlinked: bool,
    within: Mapping[str, object] | None,
    about: Mapping[str, str] | None,
    likely: Mapping[str, object] | None,
    missing_as: str | None,
    household: str | None,
    noise: Mapping[str, str] | None,
) -> dict[str, Any]:
    """Return what is said of people and of knowledge that is not exact, as content of a study."""
    return {
        "person": [] if person is None else [*_names(person)],
        "knows": knows,
        "unlinked": unlinked,
        "within": {name: str(tolerance) for name, tolerance in (within or {}).items()},
        "about": dict(about or {}),
        "likely": {name: str(chance) for name, chance in (likely or {}).items()},
        "household": household,
        "noise": dict(noise or {}),
        **({} if missing_as is None else {"missing_as": missing_as}),
    }


def _by_text(numbers: Mapping[str, Mapping[Any, float]] | None) -> dict[str, Any]:
    """Return a number per value of each secret, by the texts that the values are read as: True is ``True``."""
    return {
        secret: {str(value): number for value, number in by_value.items()}
        if isinstance(by_value, Mapping) and len(set(map(str, by_value))) == len(by_value)
        else by_value
        for secret, by_value in dict(numbers or {}).items()
    }


def _treatment(where: Sequence[str], invalid: Sequence[str], drop_missing: bool) -> dict[str, Any]:
    return {"where": list(where), "invalid": list(invalid), "drop_missing": drop_missing}


def _conditions(
    known: Mapping[str, object] | Sequence[str | Mapping[str, object] | Sequence[str]],
) -> list[str]:
    """Return the facts about a person as conditions."""
    if isinstance(known, Mapping):
        return [f"{column}={_quoted(value)}" for column, value in known.items()]
    if not all(isinstance(fact, str) for fact in known):
        raise StudyError(
            "facts of several records are about people who have several; say with `person` which column says "
            "whose a record is"
        )
    return [str(fact) for fact in known]


def _quoted(value: object) -> str:
    """Return a value that is known, or several of which it is one, as a condition has it."""
    several = value if isinstance(value, list | tuple | set | frozenset) else [value]
    return ",".join('"{}"'.format(str(one).replace('"', '""')) for one in several)


def _known_records(
    known: Mapping[str, object] | Sequence[str | Mapping[str, object] | Sequence[str]],
) -> list[str]:
    """Return the known records of a person, each as the text that a study has."""
    if isinstance(known, str | Mapping):
        raise StudyError(
            "give a list of the records that are known, such as [{example}], not one of them",
            example='{"place": "A", "day": 3}',
        )
    records = []
    for record in known:
        facts = facts_of(record) if isinstance(record, str) else tuple(_conditions(record))
        records.append(",".join(facts))
        if facts_of(records[-1]) != facts:
            raise StudyError(
                "what is known about a record is not of the form COLUMN=VALUE for each fact, or a column has a comma "
                "or a sign such as = in its name; say it otherwise, or rename the column"
            )
    return records


def _columns_of_people(
    whose: Sequence[str], sensitive: Sequence[str | Sequence[str]] | None
) -> list[str]:
    """Return the columns of secrets that are of all records of a person, and no columns; and whose a record is."""
    asked = [parse_person_secret(name) for secret in sensitive or () for name in _names(secret)]
    return [*whose, *(one.column for one in asked if one.column is not None)]


def _column_of(condition: str) -> str:
    return taken_apart(condition)[0]


def _population(
    population: Data, columns: Sequence[str], also: Sequence[str], seen: Mapping[str, Any]
) -> tuple[dict[str, Any] | None, EncodedTable | None]:
    """Return the register of a study, and the table where it is in memory."""
    if population is None:
        return None, None
    if isinstance(population, str | PathLike):
        return {"path": Path(population), **seen}, None
    table = population
    if not isinstance(population, EncodedTable):
        table = _read_frame(population, seen, quasi_identifiers=columns, also=also)
    return _in_memory(table, seen), table


def _assessed_on_spark(
    study: AssessStudy,
    tables: Sequence[Any],
    resources: Resources,
    *,
    per_record: bool,
    explain: bool,
) -> Run[Any, Any]:
    """Carry out a study of collective attacks where the data are, on a cluster."""
    from glasshouse.engines.spark.assess import answer

    if study.trained_on is not None:
        raise StudyError("`trained_on` is not for data on Spark; read() a part of them")
    extras = {"`explain`": explain}
    done = answer(study, tables, resources=resources, per_record=per_record, extras=extras)
    return replace(done, provenance=in_memory())


def _refuse_beside_a_run(said: Mapping[str, object]) -> None:
    """Refuse what is said of data beside a run of them, which has decided it."""
    for word, value in said.items():
        if value:
            raise StudyError(
                "what was assessed is in the run; leave out {option}", option=f"`{word}`"
            )


def _suggested_roles(study: AssessStudy) -> dict[str, Any]:
    """Return the roles that a study gives to columns, as `assess` takes them."""
    return {
        "quasi_identifiers": study.adversary.quasi_identifiers,
        "sensitive": study.adversary.sensitive,
        "id": study.adversary.identifier,
        "invalid": study.treatment.invalid,
    }


def _all_people_beside(
    files: Mapping[str, Data | None],
    synthetic: Sequence[EncodedTable],
    adversary: Mapping[str, Any],
    also: Sequence[str],
    seen: Mapping[str, Any],
) -> tuple[dict[str, dict[str, Any]], dict[str, EncodedTable | None]]:
    """Return the files of people beside a synthetic one by the words that name them, and their tables in memory."""
    pairs = {
        word: _people_beside(word, people, synthetic, adversary, also, seen)
        for word, people in files.items()
        if people is not None
    }
    return (
        {word: dataset for word, (dataset, _) in pairs.items()},
        {word: table for word, (_, table) in pairs.items()},
    )


def _people_beside(
    word: str,
    people: Data,
    synthetic: Sequence[EncodedTable],
    adversary: Mapping[str, Any],
    also: Sequence[str],
    seen: Mapping[str, Any],
) -> tuple[dict[str, Any], EncodedTable | None]:
    """Return a file of people beside a synthetic one, and the table where both are in memory.

    Raises:
        StudyError: One of them is in memory, and the other is a file.
    """
    in_files = isinstance(people, str | PathLike)
    if in_files and not synthetic:
        return {"path": Path(people), **seen}, None
    if in_files or not synthetic:
        raise StudyError(
            "of the synthetic release and `{word}` one is a file, and the other in memory; read() both, or neither",
            word=word,
        )
    (dataset,), (table,) = _datasets(
        people,
        adversary["quasi_identifiers"],
        adversary["sensitive"],
        adversary["identifier"],
        adversary["facts"],
        None,
        also=also,
        seen=seen,
    )
    table = replace(table, name=word) if table.name == synthetic[0].name else table
    return dataset | {"path": Path(table.name), "name": table.name}, table


def _plain(terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return terms as a study has them: amounts are decimal numbers."""
    whole = {"belief", "protect", "penalties", "people", "rare", "memory"}
    return {
        name: float(value) if type(value) is int and name not in whole else value
        for name, value in terms.items()
    }
