"""From the datasets of a study to the tables that it asks about: read, treated, and joined."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from glasshouse.conditions import taken_apart
from glasshouse.errors import GlasshouseError, StudyError
from glasshouse.language import marked, printable, text, unknown_name
from glasshouse.measures.coverage import Fate
from glasshouse.measures.first_look import FirstLook
from glasshouse.progress import OnProgress, Progress
from glasshouse.runs.folder import MANIFEST, stored_release
from glasshouse.sources import Source, display_name, open_source
from glasshouse.sources.delimited import DelimitedFile
from glasshouse.sources.files import own_place, telling_paths
from glasshouse.sources.source import FIRST_BYTES, FIRST_RECORDS
from glasshouse.study import (
    Address,
    Adversary,
    ColumnType,
    Dataset,
    Question,
    ReleaseStudy,
    Treatment,
    datasets_of,
    parse_condition,
)
from glasshouse.study.anonymise import GROUP, AnonymiseStudy
from glasshouse.study.assess import (
    PERSON_SECRETS,
    AssessStudy,
    parse_person_secret,
    parse_precision,
)
from glasshouse.study.membership import MembershipStudy
from glasshouse.study.protect import ProtectStudy
from glasshouse.study.target import PeopleStudy, TargetStudy
from glasshouse.table import (
    Collection,
    ColumnProfile,
    EncodedColumn,
    EncodedTable,
    Labels,
    Role,
    Step,
    as_viewed,
    available_columns,
    collect,
    dataset_tags,
    one_record_each,
    owner_column,
    person_column,
    profile,
    read,
    treat,
    view_steps,
)
from glasshouse.table.encoded import is_saved_table, load_table
from glasshouse.table.profiles import has_no_header, lacks_header, nobody_among
from glasshouse.table.views import with_questions
from glasshouse.views import derivation

LABELLED = frozenset({".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt", ".arrow"})
"""How the names of files end that may say what their columns and values stand for,"""
PACKED = frozenset({".zip", ".gz", ".bz2", ".xz", ".zst"})
"""and of those that such a file may be packed in."""
MOST_UNPACKED = 1 << 26
"""A larger one is not unpacked for its labels."""
MOST_READ_BESIDES = 1 << 28
"""Of a larger file a column that seems to hold one value is not read whole, and so not known to."""
MOST_CELLS, LEAST_RECORDS = 1 << 21, 1000
"""A first look is at so many values of a file, but at least at so many records."""


@dataclass(frozen=True)
class Prepared:
    """A dataset as the study asks about it."""

    table: EncodedTable
    """The records that belong to the study."""
    read: EncodedTable
    """All records, as they were read."""
    steps: tuple[Step, ...]
    """What was left out, and which columns are seen otherwise than they are written."""


def prepared(
    study: ReleaseStudy,
    *,
    also: Sequence[str] = (),
    tables: Sequence[EncodedTable] = (),
    memory: int | None = None,
    on_progress: OnProgress | None = None,
) -> Iterator[Prepared]:
    """Read and treat the datasets of a study, one by one, the focal one first.

    Of auxiliary datasets only the quasi-identifiers, and what links them, are read; of others also what is named.
    Tables that are given take the place of the files. What the memory does not hold of the codes is kept on disk.
    """
    for number, table in enumerate(tables or _read_all(study, also, memory, on_progress)):
        # Whom the study is about is a matter of the focal dataset: in another, who is left out would seem absent.
        is_focal = not study.is_joined or number == 0
        treatment = study.treatment if is_focal else Treatment()
        if treatment.drop_suppressed is None:
            alone = isinstance(study, AssessStudy) and not study.is_joined
            treatment = treatment.model_copy(update={"drop_suppressed": alone})
        as_value = table.missing_is_a_value or study.adversary.missing_is_a_value
        table = replace(table, missing_is_a_value=as_value)
        is_apart = isinstance(study, AssessStudy) and study.missing_as == "apart" and is_focal
        apart = table.quasi_identifiers if is_apart else ()
        yield _prepare(table, treatment, study.datasets[number], study, apart)


def _read_all(
    study: ReleaseStudy,
    also: Sequence[str],
    memory: int | None,
    on_progress: OnProgress | None,
) -> Iterator[EncodedTable]:
    """Read the datasets of a study, one by one."""
    files, names = study.datasets, dataset_names(study)
    tags = dataset_tags(names)
    for number, (dataset, name) in enumerate(zip(files, names, strict=True)):
        of_file = _part_of_whole(on_progress, number, len(files))
        if study.is_joined:
            yield _read_known(
                dataset,
                name,
                tags[number],
                study,
                focal=number == 0,
                memory=memory,
                on_progress=of_file,
            )
        else:
            known_as = name if len(files) > 1 else dataset.name
            yield _read_dataset(
                dataset, study, name=known_as, also=also, memory=memory, on_progress=of_file
            )


def joined(
    study: ReleaseStudy,
    *,
    tables: Sequence[EncodedTable] = (),
    memory: int | None = None,
    on_progress: OnProgress | None = None,
) -> Collection:
    """Read, treat and join the datasets of a study on the identifier."""
    steps: list[Step] = []

    def datasets() -> Iterator[EncodedTable]:
        for dataset in prepared(study, tables=tables, memory=memory, on_progress=on_progress):
            steps.extend(dataset.steps)
            yield dataset.table

    collection = collect(
        datasets(),
        quasi_identifiers=study.adversary.knowable,
        seed=study.seed,
        tags=dataset_tags(dataset_names(study)),
    )
    return replace(collection, steps=(*steps, *collection.steps))


def strangers(collection: Collection) -> tuple[str, ...]:
    """Say of which auxiliary datasets hold nobody of the focal one: the join is defined, and seldom meant."""
    focal, *others = collection.members
    return tuple(
        text(
            'note: {table} has nobody of {focal}: no value of "{identifier}" is in both, and everybody is absent; is '
            "it the same identifier, written the same way?",
            table=member.name,
            focal=focal.name,
            identifier=str(collection.table.identifier),
        )
        for member in others
        if not member.linked
    )


def only_one(
    study: ReleaseStudy,
    *,
    also: Sequence[str] = (),
    tables: Sequence[EncodedTable] = (),
    memory: int | None = None,
    on_progress: OnProgress | None = None,
) -> Prepared:
    """Read and treat the only dataset of a study, and keep one record of every person."""
    datasets = prepared(study, also=also, tables=tables, memory=memory, on_progress=on_progress)
    return one_each(next(datasets), seed=study.seed)


def one_each(prepared: Prepared, *, seed: int) -> Prepared:
    """Keep one record of every person, where the study says which column names a person."""
    if prepared.table.identifier is None:
        return prepared
    treated = one_record_each(prepared.table, seed=seed)
    return Prepared(treated.table, prepared.read, (*prepared.steps, *treated.steps))


def read_file(
    dataset: Dataset, columns: Container[str] | None = None, **roles: Any
) -> EncodedTable:
    """Read columns of a file as a study says that it is written down.

    Only what is said of ``columns`` matters, if they are given: a dataset of several may lack others.
    """
    words: dict[str, Any] = {}
    for word in ("types", "missing", "date", "derive", "bands", "group"):
        rules = getattr(dataset, word)
        words[word] = {
            name: rule for name, rule in rules.items() if columns is None or name in columns
        }
    return read(dataset.path, dialect=dataset.dialect, **words | {"name": dataset.name} | roles)


def as_written(dataset: Dataset, numbers: Iterable[str] = ()) -> Dataset:
    """Return a dataset with numbers and codes as they are: who belongs to the study is asked before they are seen."""
    types = dict.fromkeys(dataset.group, ColumnType.TEXT) | dict.fromkeys(
        numbers, ColumnType.NUMBER
    )
    types |= dict.fromkeys(dataset.bands, ColumnType.NUMBER) | dataset.types
    return dataset.model_copy(update={"types": types, "bands": {}, "group": {}})


def columns_of(dataset: Dataset) -> tuple[str, ...]:
    """Return the columns of a dataset, those that are derived of others included."""
    there = available_columns(dataset.path, dialect=dataset.dialect)
    forms = dataset.date_forms
    derived = [
        name
        for name, rule in dataset.derive.items()
        if set(there).issuperset(derivation(rule, forms).columns)
    ]
    return (*there, *derived)


def _read_dataset(
    dataset: Dataset,
    study: ReleaseStudy,
    *,
    name: str | None,
    also: Sequence[str],
    memory: int | None,
    on_progress: OnProgress | None,
) -> EncodedTable:
    """Read the columns of a dataset that a study has to do with, and others that are named."""
    numbers: tuple[str, ...] = ()
    if isinstance(study, AssessStudy):
        numbers = tuple(study.within)
        if dataset.dialect.decimal != "." or dataset.dialect.thousands is not None:
            known = {name: parse_precision(name, written) for name, written in study.about.items()}
            near = [name for name, way in known.items() if way.off is not None and not way.in_days]
            numbers = (*numbers, *near, *filter(None, [study.weight]))
    return read_file(
        as_written(dataset, numbers),
        **roles_of(study, also, questions=_questions_to(dataset, study)),
        name=name,
        memory=memory,
        on_progress=on_progress,
    )


def roles_of(
    study: ReleaseStudy, also: Sequence[str] = (), *, questions: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return what the columns of the only dataset of a study are, by the words of ``read``.

    Args:
        study: The study.
        also: Columns without a role that are read, too.
        questions: Secrets that are questions about a column, with that column.
    """
    adversary, questions = study.adversary, questions or {}
    secrets = () if is_of_people(study) else adversary.secret_columns
    return {
        "quasi_identifiers": adversary.quasi_identifiers,
        "sensitive": [name for name in secrets if name not in questions],
        "id": adversary.identifier,
        "prior_weight": adversary.prior_weight,
        "facts": adversary.facts,
        "also": tuple(dict.fromkeys((*study.columns_without_role(), *questions.values(), *also))),
    }


def is_of_people(study: ReleaseStudy) -> bool:
    """Tell whether people have several records: secrets are of all records of a person then, and no columns."""
    return isinstance(study, AssessStudy | TargetStudy) and bool(study.person)


def questions_among(names: Sequence[str], columns: Container[str]) -> dict[str, str]:
    """Return the secrets that are no column but a question about one, such as ``income>5000``, with that column.

    >>> questions_among(["income", "income>5000", "icd=F*"], ["income", "icd"])
    {'income>5000': 'income', 'icd=F*': 'icd'}
    """
    questions = {}
    for name in names:
        if name not in columns and any(sign in name for sign in "=<>"):
            column = taken_apart(name, option=marked("the secret"))[0]
            if column in columns:
                questions[name] = column
    return questions


def _questions_to(dataset: Dataset, study: ReleaseStudy) -> dict[str, str]:
    """Return the secrets of an assessment that are questions about columns of a dataset.

    Raises:
        StudyError: A secret is one of a person with several records, and nothing says whose a record is.
    """
    asks = isinstance(study, AssessStudy) and not is_of_people(study)
    names = study.adversary.secret_columns if asks else ()
    of_people = [name for name in names if name.partition(" ")[0] in PERSON_SECRETS]
    if not of_people and not any(sign in name for name in names for sign in "=<>"):
        return {}
    columns = columns_of(dataset)
    for name in of_people:
        if name not in columns and name.partition(" ")[2]:
            raise StudyError(
                '"{secret}" is asked of all records of a person; say with `person` which column says whose a '
                "record is",
                secret=name,
            )
    return questions_among(names, columns)


def read_register(
    study: PeopleStudy | AnonymiseStudy, table: EncodedTable | None = None
) -> EncodedTable:
    """Read the register of the population: what it has of what the adversary can know.

    Args:
        study: What is asked.
        table: The register, where it is in memory.

    Raises:
        StudyError: It has none of it.
    """
    dataset = study.population
    if dataset is None:
        raise StudyError("there is no register of the population; name one with `population`")
    if table is not None:
        return _prepare(table, study.treatment, dataset, study).table
    there = columns_of(dataset)
    adversary = study.adversary
    columns = (*adversary.quasi_identifiers, *adversary.fact_columns)
    known = [column for column in columns if column in there]
    name = dataset.name or display_name(dataset.place)
    for column in adversary.knowable:
        if column not in there and (not isinstance(study, TargetStudy) or not known):
            raise StudyError(unknown_name("column", column, name, there))
    chosen = [parse_condition(text).column for text in study.treatment.where]
    for column in chosen:
        if column not in there:
            raise StudyError(
                "`where` chooses people of the release and of the register alike: {fault}",
                fault=unknown_name("column", column, name, there),
            )
    register = read_file(
        as_written(dataset), there, quasi_identifiers=known, also=chosen, name=name
    )
    return _prepare(register, study.treatment, dataset, study).table


def secrets_by_name(adversary: Adversary) -> dict[str, tuple[str, ...]]:
    """Return the attributes of each secret, by the name that a study and its results give it: ``a+b``."""
    return {"+".join(columns): columns for columns in adversary.secrets}


def dataset_names(study: ReleaseStudy) -> tuple[str, ...]:
    """Return the names of a study's datasets in the results: those of the files, told apart by their folders."""
    short_paths = telling_paths(dataset.place for dataset in study.datasets)
    names = [
        dataset.name or printable(short_paths[own_place(dataset.place)].as_posix())
        for dataset in study.datasets
    ]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise StudyError(
            'two datasets are called "{name}"; give each once, or rename one', name=twice
        )
    return tuple(names)


def _read_known(
    dataset: Dataset,
    name: str,
    tag: str,
    study: ReleaseStudy,
    *,
    focal: bool,
    memory: int | None,
    on_progress: OnProgress | None,
) -> EncodedTable:
    """Read what a dataset of a collection has of the quasi-identifiers; of the focal one also the secrets."""
    there = columns_of(dataset)
    return read_file(
        as_written(dataset),
        there,
        **roles_in_collection(dataset, tag, study, there, focal=focal),
        name=name,
        memory=memory,
        on_progress=on_progress,
    )


def roles_in_collection(
    dataset: Dataset, tag: str, study: ReleaseStudy, there: Sequence[str], *, focal: bool
) -> dict[str, Any]:
    """Return what the columns of a dataset of a collection are, by the words of ``read``.

    Args:
        dataset: The dataset.
        tag: What its columns are tagged with.
        study: What is asked.
        there: Its columns.
        focal: Whether it is the focal one.

    Raises:
        StudyError: A column that the study asks for is in none.
    """
    adversary = study.adversary
    known = [column for column in adversary.quasi_identifiers if _untagged(column, tag) in there]
    facts = {
        fact: tuple(column for column in columns if column in there)
        for fact, columns in adversary.facts.items()
    }
    columns = (
        *adversary.quasi_identifiers,
        *adversary.fact_columns,
        *dataset.types,
        *dataset.missing,
        *dataset.date,
        *dataset.derive,
        *dataset.bands,
        *dataset.group,
    )
    for column in columns if focal else ():
        _check_somewhere(column, study, tagged=column in adversary.quasi_identifiers)
    questions = _questions_to(dataset, study) if focal else {}
    secrets = [name for name in adversary.secret_columns if name not in questions]
    return {
        "quasi_identifiers": list(dict.fromkeys(_untagged(column, tag) for column in known)),
        "sensitive": secrets if focal else (),
        "id": adversary.identifier,
        "prior_weight": adversary.prior_weight if focal else None,
        "facts": {fact: columns for fact, columns in facts.items() if columns},
        "also": (*study.columns_without_role(), *questions.values())
        if focal
        else _link_columns(study, there),
    }


def _untagged(name: str, tag: str) -> str:
    """Return a quasi-identifier without its tag, if it is this one's."""
    return name.removesuffix(f"@{tag}")


def _check_somewhere(name: str, study: ReleaseStudy, *, tagged: bool) -> None:
    """Make sure that some dataset has a column; a quasi-identifier may be tagged with a dataset."""
    every: dict[str, None] = {}
    names = dataset_names(study)
    for dataset, tag in zip(study.datasets, dataset_tags(names), strict=True):
        there = columns_of(dataset)
        if name in there or (tagged and _untagged(name, tag) in ("", *there)):
            return  # ``@2015`` is whether somebody is there
        every |= dict.fromkeys(there)
    raise StudyError(unknown_name("column", name, ", ".join(names), every))


def _prepare(
    table: EncodedTable,
    treatment: Treatment,
    dataset: Dataset,
    study: ReleaseStudy,
    apart: Sequence[str] = (),
) -> Prepared:
    """Leave out what does not belong, then see the rest as the adversary does.

    Raises:
        DataError: A condition is on a column that the table lacks: it cannot be told who meets it.
    """
    treated = treat(
        table,
        where=[parse_condition(text) for text in treatment.where],
        invalid=[parse_condition(text) for text in treatment.invalid],
        drop_missing=treatment.drop_missing,
        apart=apart,
        drop_suppressed=bool(treatment.drop_suppressed),
    )
    answered = treated.table
    if isinstance(study, AssessStudy) and not is_of_people(study):
        secrets = study.adversary.secret_columns
        answered = with_questions(answered, list(questions_among(secrets, answered.columns)))
    seen = as_seen(answered, dataset, study)
    return Prepared(seen, table, (*treated.steps, *view_steps(seen)))


def as_seen(table: EncodedTable, dataset: Dataset, study: ReleaseStudy) -> EncodedTable:
    """Return a table with the numbers and codes of a dataset in bands and groups.

    Where the study is about several files, bands are called alike in all, be their numbers whole or not.
    """
    whole = {view.column for view in table.views if view.word == "derive"}
    in_all = dict.fromkeys(set(dataset.bands) - whole, ColumnType.NUMBER)
    return as_viewed(
        table,
        bands={name: rule for name, rule in dataset.bands.items() if name in table.columns},
        group={name: rule for name, rule in dataset.group.items() if name in table.columns},
        types=dataset.types if len(study.files) == 1 else in_all | dataset.types,
    )


def _link_columns(study: ReleaseStudy, columns: Sequence[str]) -> list[str]:
    """Return the columns of an auxiliary dataset by which its records are linked, where there is no identifier."""
    links = study.links if isinstance(study, AssessStudy) else ()
    return [key.name for key in links if key.name in columns]


def _part_of_whole(on_progress: OnProgress | None, place: int, files: int) -> OnProgress | None:
    """Return a listener to the progress of one of several files, which tells that of all."""
    if on_progress is None or files == 1:
        return on_progress
    return lambda now: on_progress(
        Progress("reading", place + (1.0 if now.share is None else now.share), files)
    )


def labels_of(question: Question, tables: Sequence[EncodedTable] = ()) -> Labels:
    """Return what the files of a study call their columns and values; of several, the first that says it.

    Raises:
        StudyError: The study has a label for a column that no file of it has.
    """
    labels = reduce(or_, (table.labels for table in reversed(tables)), Labels())
    columns = dict.fromkeys(name for table in tables for name in table.columns)
    named = {name for by_column in question.labels.values() for name in by_column}
    for dataset in () if tables else reversed(list(datasets_of(question))):
        if not named and not _may_have_labels(dataset):
            continue
        try:
            if not isinstance(dataset.path, Address):
                labels |= _labels_beside(dataset.path)
                if is_saved_table(dataset.path):
                    table = load_table(dataset.path)
                    labels |= table.labels
                    columns |= dict.fromkeys(table.columns)
                    continue
            source = open_source(dataset.path, dialect=dataset.dialect)
        except GlasshouseError:  # which is told where the file is read
            return labels
        labels |= Labels.of(source)
        columns |= dict.fromkeys(source.columns)
    if isinstance(question, ReleaseStudy):
        columns |= dict.fromkeys(question.adversary.facts)
    for name in sorted(named if columns else ()):
        if name not in columns:
            raise StudyError(unknown_name("column", name, text("the data"), columns))
    return labels


def _may_have_labels(dataset: Dataset) -> bool:
    """Tell whether a file may say what its columns and values stand for, and can be opened quickly."""
    if isinstance(dataset.path, Address):
        return False
    path = dataset.path
    if path.suffix.lower() in PACKED:
        return path.is_file() and path.stat().st_size <= MOST_UNPACKED
    is_of_run = (path.parent / MANIFEST).is_file()
    return path.suffix.lower() in LABELLED or path.is_dir() or is_of_run


def _labels_beside(path: Path) -> Labels:
    """Return what the original of a release that ``anonymise`` wrote calls its columns and values."""
    try:
        release = stored_release(path.parent)
    except GlasshouseError:
        return Labels()
    return release.labels if release.path == path else Labels()


def first_looks(study: ReleaseStudy, tables: Sequence[EncodedTable] = ()) -> tuple[FirstLook, ...]:
    """Look at the first records of the files of a release, or of the tables that take their place.

    Where one of them cannot be looked at there is none, so that nothing is said of what was not looked at.

    Raises:
        StudyError: A column that is to be dropped or ignored is in none of them.
    """
    if tables:  # which may lack columns of the release
        looks = tuple(_look_at_table(table, study) for table in tables)
        if any(table.unread is None for table in tables):
            return tuple(replace(look, is_whole=False) for look in looks)
    else:
        try:
            named = zip(study.datasets, dataset_names(study), strict=True)
            looks = tuple(_first_look(dataset, name, study) for dataset, name in named)
        except GlasshouseError:  # what is wrong with a file is told where it is read
            return ()
    there = dict.fromkeys(column.name for look in looks for column in look.columns)
    for name in (*study.drop, *study.ignore):
        if name not in there:
            raise StudyError(
                unknown_name("column", name, ", ".join(look.name for look in looks), there)
            )
    return looks


def _look_at_table(table: EncodedTable, study: ReleaseStudy) -> FirstLook:
    """Look at the first records of a table, and of the columns of its source that it lacks."""
    first = first_records(table)
    unread = table.unread
    if unread is not None:
        others = {
            name: column for name, column in unread.columns.items() if name not in first.columns
        }
        first_others = replace(unread, columns=others, roles={})
        further = profile(first_others) if others else ()
    else:
        further = ()
    look = look_at(first, study, further=further, is_complete=table.records <= FIRST_RECORDS)
    return replace(look, repeated=0)


def _first_look(dataset: Dataset, name: str, study: ReleaseStudy) -> FirstLook:
    source, first = first_read(dataset, name)
    further = _not_saved(dataset, first)
    look = look_at(first, study, further=further, dataset=dataset)
    return _as_written(look, dataset, source, first)


def look_at_file(dataset: Dataset) -> FirstLook:
    """Look at how a file is written, and at its first records, before anything is asked of it."""
    source, first = first_read(dataset, None)
    look = FirstLook(first.name, profile(first), first.records)
    return _as_written(look, dataset, source, first)


def _as_written(
    look: FirstLook, dataset: Dataset, source: Source, first: EncodedTable
) -> FirstLook:
    """Return a look with what was assumed of how its file is written."""
    dialect = dataset.dialect
    if ColumnType.NUMBER in dataset.types.values() and dialect.decimal == ".":
        look = replace(look, decimal=".")
    if not isinstance(source, DelimitedFile):
        return replace(look, encoding=source.assumed_encoding)
    return replace(
        look,
        separator=None if dialect.separator else source.dialect.separator,
        encoding=source.assumed_encoding,
        skipped=source.skipped_lines,
        renamed=source.renamed,
        has_header=dialect.header,
        first_is_record=dialect.header and has_no_header(first),
    )


def _not_saved(dataset: Dataset, first: EncodedTable) -> tuple[ColumnProfile, ...]:
    """Return the columns of the file that a saved table was read from, and lacks: nobody knows what they hold."""
    if not (isinstance(dataset.path, Path) and is_saved_table(dataset.path)):
        return ()
    return tuple(
        ColumnProfile(
            name,
            first.records,
            kind="text",
            distinct=first.records,
            missing=0,
            unique=first.records,
            role=Role.QUASI_IDENTIFIER,
            reason="",
        )
        for name in load_table(dataset.path).lacking
    )


def first_read(dataset: Dataset, name: str | None) -> tuple[Source, EncodedTable]:
    """Open a file and read its first records."""
    source = open_source(dataset.path, dialect=dataset.dialect, name=name)
    records = looked_at(len(source.columns))
    first = read(source.first(records, FIRST_BYTES), name=source.name, missing=dataset.missing)
    codes = {
        name: source.missing_codes(name, column.values) for name, column in first.columns.items()
    }
    missing = {name: among for name, among in codes.items() if among}
    return source, replace(
        first, labels=Labels.of(source), missing_codes=missing, assumptions=source.assumptions
    )


def nobody_in(dataset: Dataset) -> tuple[str, ...]:
    """Return the conditions that records of a file meet which are no person's: totals, subtotals, repeated headers.

    All columns are looked at, whichever a study names, as only they tell; nothing is encoded. The conditions hold for
    the values as the dataset is read. Where the first line seems to be a record there are none.

    Raises:
        DataError: The file is malformed.
    """
    source, first = first_read(dataset, None)
    if dataset.dialect.header and not dataset.dialect.names and lacks_header(first):
        return ()
    batches = source.batches(source.columns)
    return nobody_among(source.columns, batches, stripped=dataset.dialect.strip)


def looked_at(columns: int) -> int:
    """Return how many records a first look is at."""
    return min(FIRST_RECORDS, max(LEAST_RECORDS, MOST_CELLS // columns))


def look_at(
    first: EncodedTable,
    study: ReleaseStudy,
    *,
    further: Sequence[ColumnProfile] = (),
    dataset: Dataset | None = None,
    is_complete: bool = False,
) -> FirstLook:
    """Look at the first records of a release.

    Args:
        first: The first records.
        study: What is asked.
        further: Columns of the release that are not among them.
        dataset: The file that they are of, where a column that seems to hold one value can be read whole.
        is_complete: Whether they are all.
    """
    columns = (*profile(first), *further)
    fates = fates_of(columns, study, dataset=dataset, is_complete=is_complete)
    adversary = study.adversary
    if adversary.identifier is not None:
        return FirstLook(first.name, columns, first.records, fates=fates)
    person_columns = study.person if isinstance(study, AssessStudy) else ()
    used = (
        *(*adversary.quasi_identifiers, *adversary.fact_columns),
        *(*adversary.secret_columns, *person_columns),
    )
    unused = [column for column in columns if column.name not in used]
    person = person_column(unused)
    has_person = person is not None and person.repeats > 0
    is_single = len(study.datasets) == 1 and not person_columns
    alike = np.zeros(first.records, np.int64)
    for column in first.columns.values():  # records that were told apart stay so
        pairs = alike * column.cardinality + column.codes
        alike = np.unique(pairs, return_inverse=True)[1]
    firsts = np.unique(alike, return_index=True)[1]
    return FirstLook(
        first.name,
        columns,
        first.records,
        repeated=first.records - len(firsts),
        firsts=firsts,
        person=person if has_person else None,
        owner=owner_column(unused) if is_single and not has_person else None,
        fates=fates,
    )


def fates_of(
    columns: Sequence[ColumnProfile],
    study: ReleaseStudy,
    *,
    dataset: Dataset | None = None,
    is_complete: bool = False,
) -> dict[str, Fate]:
    """Return what becomes of columns when a release is judged; one that is not among them was not looked at.

    What is not in the release, and what was dismissed, counts first; then what was measured.

    Args:
        columns: The columns, by the first records.
        study: What is asked.
        dataset: The file that they are of, where a column that seems to hold one value can be read whole.
        is_complete: Whether these records are all.
    """
    adversary = study.adversary
    tags = [f"@{tag}" for tag in dataset_tags(dataset_names(study))] if study.is_joined else [""]
    known: set[str | None] = {
        name.removesuffix(tag)
        for name in (*adversary.quasi_identifiers, *adversary.fact_columns)
        for tag in tags
    }
    known |= {*adversary.quasi_identifiers}
    names = [column.name for column in columns]
    secrets: set[str | None] = {*adversary.secret_columns}
    person, dropped = {adversary.identifier}, {*study.drop}
    weights = {adversary.prior_weight, adversary.gain.record_worth}
    if isinstance(study, AssessStudy | MembershipStudy):
        weights |= {study.weight}
    if isinstance(study, AssessStudy):
        known |= {study.by, study.group, *(key.name for key in study.links)}
        person |= {*study.person}
        dropped |= {*study.person} if study.unlinked else set()
        if study.person:
            secrets = {parse_person_secret(name).column for name in adversary.secret_columns}
        else:
            secrets |= {*questions_among(adversary.secret_columns, names).values()}
    if isinstance(study, AnonymiseStudy):
        known |= {GROUP} if study.protection.method == "anatomy" else set()
        weights |= {study.protection.weight}
    if isinstance(study, ProtectStudy):
        weights |= {study.means.weight}
    conditions = map(parse_condition, study.treatment.where)
    suspect = {column.name for column in columns if column.role is Role.SENSITIVE}
    pinned = {one.column for one in conditions if len(one.values) == 1 and not one.negated}
    by_fate: dict[Fate, AbstractSet[str | None]] = {
        Fate.DROPPED: dropped,
        Fate.DISMISSED: {*study.ignore},
        Fate.DISMISSED_BY_RULE: {*study.policy.ignore},
        Fate.KNOWN: known,
        Fate.SENSITIVE: secrets,
        Fate.PERSON: person,
        Fate.HOUSEHOLD: {study.household if isinstance(study, AssessStudy) else None},
        Fate.WEIGHT: weights,
        Fate.CONSTANT: pinned - suspect,  # of a secret it would be told of everybody
        Fate.DIRECT: {column.name for column in columns if column.is_direct},
    }
    fates = {
        name: next((f for f, among in by_fate.items() if name in among), None) for name in names
    }
    given = {name: fate for name, fate in fates.items() if fate is not None}
    return given | _constant(columns, given, dataset, is_complete=is_complete)


def _constant(
    columns: Iterable[ColumnProfile],
    fates: Mapping[str, Fate],
    dataset: Dataset | None,
    *,
    is_complete: bool,
) -> dict[str, Fate]:
    """Return the columns without another fate that hold one value in all records, and not only in the first.

    What seems to be a secret is none of them: that everybody shares it is learned by being in the file.
    """
    names = [
        column.name
        for column in columns
        if column.is_constant
        and column.role is not Role.SENSITIVE
        and (column.name not in fates or fates[column.name] is Fate.DIRECT)
    ]
    if names and not is_complete:
        if dataset is None or not _is_soon_read(dataset):
            return {}
        whole = read_file(dataset, names, also=names)
        names = [name for name in names if whole.column(name).cardinality == 1]
    return dict.fromkeys(names, Fate.CONSTANT)


def _is_soon_read(dataset: Dataset) -> bool:
    """Tell whether a file is no longer than may be read besides what is asked of it."""
    path = dataset.path
    return isinstance(path, Path) and path.is_file() and path.stat().st_size <= MOST_READ_BESIDES


def first_records(table: EncodedTable) -> EncodedTable:
    """Return the first records of a table, with the values that they have."""
    columns = {}
    for name, column in table.columns.items():
        used, codes = np.unique(column.codes[:FIRST_RECORDS], return_inverse=True)
        columns[name] = EncodedColumn(name, codes.astype(np.uint32), column.values.take(used))
    records = min(table.records, FIRST_RECORDS)
    return replace(table, records=records, columns=columns, positions=None)


S = TypeVar("S", bound=ReleaseStudy)


def focal_first(study: S, name: str) -> S:
    """Return the study with the named dataset first.

    Raises:
        StudyError: There is none of that name.
    """
    labels = dataset_names(study)
    names: Mapping[str, int] = {
        label: position
        for position, pair in enumerate(zip(dataset_tags(labels), labels, strict=True))
        for label in pair
    }
    if name not in names:
        raise StudyError(unknown_name("dataset", name, text("the collection"), names))
    first = study.datasets[names[name]]
    rest = [dataset for dataset in study.datasets if dataset is not first]
    return study.model_copy(update={"datasets": (first, *rest)})
