"""From the datasets of a study to the tables that it asks about: read, treated, and joined."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from glasshouse.conditions import taken_apart
from glasshouse.errors import GlasshouseError, StudyError
from glasshouse.language import marked, printable, text, unknown_name
from glasshouse.progress import OnProgress, Progress
from glasshouse.report.first_look import FirstLook
from glasshouse.runs.folder import MANIFEST, stored_release
from glasshouse.sources import Source, display_name, open_source
from glasshouse.sources.delimited import DelimitedFile
from glasshouse.sources.files import own_place, telling_paths
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
from glasshouse.study.anonymise import AnonymiseStudy
from glasshouse.study.assess import PERSON_SECRETS, AssessStudy, parse_precision
from glasshouse.study.target import PeopleStudy, TargetStudy
from glasshouse.table import (
    Collection,
    EncodedColumn,
    EncodedTable,
    Labels,
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
from glasshouse.table.profiles import FIRST_RECORDS, has_no_header
from glasshouse.table.views import with_questions
from glasshouse.views import derivation

LABELLED = frozenset({".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt", ".arrow"})
"""How the names of files end that may say what their columns and values stand for,"""
PACKED = frozenset({".zip", ".gz", ".bz2", ".xz", ".zst"})
"""and of those that such a file may be packed in."""
MOST_UNPACKED = 1 << 26
"""A larger one is not unpacked for its labels."""
FIRST_BYTES = 1 << 24
"""A first look reads no more text than this."""
MOST_LOOKED_AT, MOST_CELLS, LEAST_RECORDS = 12, 1 << 21, 1000
"""A first look is at so many files, and at so many values of each, but at least at so many records."""


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
        treatment = Treatment() if study.is_joined and number > 0 else study.treatment
        if treatment.drop_suppressed is None:
            alone = isinstance(study, AssessStudy) and not study.is_joined
            treatment = treatment.model_copy(update={"drop_suppressed": alone})
        as_value = table.missing_is_a_value or study.adversary.missing_is_a_value
        table = replace(table, missing_is_a_value=as_value)
        yield _prepare(table, treatment, study.datasets[number], study)


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
            numbers = (*numbers, *near)
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
        "weight": adversary.weight,
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
                '"{secret}" is asked of all records of a person; say with `person` which column tells whose a record '
                "is",
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
        "weight": adversary.weight if focal else None,
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
    table: EncodedTable, treatment: Treatment, dataset: Dataset, study: ReleaseStudy
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
        labels |= Labels(source.column_labels, source.labels)
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


def first_looks(study: AssessStudy, tables: Sequence[EncodedTable] = ()) -> tuple[FirstLook, ...]:
    """Look at the first records of the files of a release, or of the tables that take their place."""
    if tables:  # which may lack columns of the release
        looks = [look_at(_first_records(table), study) for table in tables[:MOST_LOOKED_AT]]
        return tuple(replace(look, repeated=0) for look in looks)
    looks = []
    names = dataset_names(study)[:MOST_LOOKED_AT]
    for dataset, name in zip(study.datasets, names, strict=False):
        # what is wrong with a file is told where it is read, if it has to do with the question
        with suppress(GlasshouseError):
            looks.append(_first_look(dataset, name, study))
    return tuple(looks)


def _first_look(dataset: Dataset, name: str, study: AssessStudy) -> FirstLook:
    source, first = first_read(dataset, name)
    look, dialect = look_at(first, study), dataset.dialect
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


def first_read(dataset: Dataset, name: str | None) -> tuple[Source, EncodedTable]:
    """Open a file and read its first records."""
    source = open_source(dataset.path, dialect=dataset.dialect, name=name)
    records = looked_at(len(source.columns))
    first = read(source.first(records, FIRST_BYTES), name=source.name, missing=dataset.missing)
    return source, first


def looked_at(columns: int) -> int:
    """Return how many records a first look is at."""
    return min(FIRST_RECORDS, max(LEAST_RECORDS, MOST_CELLS // columns))


def look_at(first: EncodedTable, study: AssessStudy) -> FirstLook:
    """Look at the first records of a release."""
    adversary, columns = study.adversary, profile(first)
    if adversary.identifier is not None:  # which is there to tell people apart, and not published
        published = tuple(column for column in columns if column.name != adversary.identifier)
        return FirstLook(first.name, published, first.records)
    used = (
        *(*adversary.quasi_identifiers, *adversary.fact_columns),
        *(*adversary.secret_columns, *study.person),
    )
    unused = [column for column in columns if column.name not in used]
    person = person_column(unused)
    has_person = person is not None and person.repeats > 0
    is_single = len(study.datasets) == 1 and not study.person
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
    )


def _first_records(table: EncodedTable) -> EncodedTable:
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
