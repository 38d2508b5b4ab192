"""``assess``: who of a release can be named, and what can be inferred, by someone who knows some attributes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse import microdata
from glasshouse.arrays import Integers
from glasshouse.errors import DataError, StudyError
from glasshouse.language import marked, printable, quoted, text, text_for, translated
from glasshouse.measures.attacks import last_window, widest
from glasshouse.measures.first_look import FirstLook
from glasshouse.microdata import (
    Assessment,
    Attack,
    Sweep,
    assess,
    attacks,
    neighbourhoods,
    record_risks,
    sweep,
)
from glasshouse.microdata.assessment import CataloguedAttacks
from glasshouse.microdata.attacks import Explanation, Exposure
from glasshouse.microdata.closeness import Closeness, close_guesses
from glasshouse.microdata.column_noise import column_noise
from glasshouse.microdata.gains import Gain, RecordWorth, read_gain_matrix, with_abstaining
from glasshouse.microdata.households import household_risks
from glasshouse.microdata.knowledge import InexactKnowledge, inexact_knowledge, refuse_unfit
from glasshouse.microdata.lattice import (
    attack_with_all_subsets,
    holds_whole_set,
    largest_size,
    numbered_from,
    share_of,
    steps_of,
)
from glasshouse.microdata.memorisation import SyntheticRelease, assess_synthetic
from glasshouse.microdata.special_uniques import SpecialUniques, find_special_uniques
from glasshouse.microdata.survey_weights import (
    WeightedClasses,
    sample_risks,
    weighted_sample,
)
from glasshouse.progress import Progress
from glasshouse.qif import Tries
from glasshouse.runs.advice import advise
from glasshouse.runs.reading import (
    Prepared,
    columns_of,
    first_looks,
    first_read,
    joined,
    one_each,
    only_one,
    prepared,
    questions_among,
    read_file,
    secrets_by_name,
    strangers,
)
from glasshouse.runs.run import Resources, Run, run_key
from glasshouse.sources import MISSING, open_source
from glasshouse.sources.delimited import DelimitedFile
from glasshouse.study import Address, Adversary, Dataset, Secret, attributes, validated
from glasshouse.study.adversaries import CatalogueAdversary, chosen_adversaries
from glasshouse.study.assess import (
    AssessStudy,
    parse_person_secret,
    parse_tolerance,
    with_default_subsets,
)
from glasshouse.study.policy import OPEN_DATA, ReleasePolicy
from glasshouse.table import (
    EncodedColumn,
    EncodedTable,
    Role,
    Step,
    one_record_each,
    profile,
    table_profile,
)
from glasshouse.table.generalised import SUPPRESSED, without_suppressed
from glasshouse.table.partition import partition
from glasshouse.table.profiles import knowable, meaning_of, meaning_of_name, naming_column
from glasshouse.table.treatment import SUPPRESSED_RECORD

STEPS_PER_WINDOW = 1_000_000
"""The steps of the sweep of a window are numbered from a multiple of this on."""
MOST_BYTES = 1 << 28
"""Of a larger file a column that may name people is not read besides, as all its values are distinct."""


def checkpoint_key(study: AssessStudy) -> str | None:
    """Return the digest that the finished steps of a sweep must agree with; None: nothing is swept."""
    in_files = not any(isinstance(dataset.path, Address) for dataset in study.datasets)
    is_swept = (
        study.sweep is not None
        and not study.person
        and study.missing_as != "matches"
        and study.trained_on is None
    )
    is_kept = is_swept and not _has_parts(study) and in_files
    return run_key(study) if is_kept else None


def answer(
    study: AssessStudy,
    *,
    resources: Resources,
    tables: Sequence[EncodedTable] = (),
    save_table: Path | None = None,
    per_record: bool = False,
    explain: bool = False,
    advising: bool = True,
    trained_on: EncodedTable | None = None,
    holdout: EncodedTable | None = None,
) -> (
    Run[AssessStudy, Assessment]
    | Run[AssessStudy, microdata.Family]
    | Run[AssessStudy, microdata.People]
    | Run[AssessStudy, SyntheticRelease]
):
    """Carry out a study of collective attacks.

    Args:
        study: What is asked.
        resources: What there is to work with.
        tables: The data, where it is in memory.
        save_table: Where to keep the encoded table, so that a later run skips parsing.
        per_record: Whether each record's risk is wanted, too: with all quasi-identifiers, or the one set chosen.
        explain: Whether to build every table from the records to the hyper, for small data.
        advising: Whether to say what could be released instead, where the policy is not met.
        trained_on: The people whom a synthetic release was made from, where they are in memory.
        holdout: Others like them, likewise.

    Raises:
        DataError: The data is malformed or lacks a column.
        StudyError: The question does not fit the data.
        BudgetError: It does not fit the memory.
    """
    extras = {"`save_table`": save_table, "`per_record`": per_record, "`explain`": explain}
    other = _of_another_kind(study, resources, tables, extras, [trained_on, holdout])
    if other is not None:
        return other
    if study.missing_as == "matches":
        _refuse(
            {"`explain`": explain, "`resume`": resources.resume},
            marked("{option} is about classes; leave it out, or say `missing_as` value or apart"),
        )
    if explain and study.adversary.prior:
        raise StudyError(
            "`explain` shows the prior that the release gives; leave out `prior` with it"
        )
    known = known_of_each(study) if per_record else ()
    on_progress = resources.on_progress
    looks = first_looks(study, tables)
    if len(study.datasets) > 1:
        if save_table is not None:
            raise StudyError("`save_table` keeps one dataset; assess the files one by one for it")
        collection = joined(study, tables=tables, memory=resources.memory, on_progress=on_progress)
        whole, steps, members = collection.table, collection.steps, collection.members
        windows, notes = list(collection.windows()), strangers(collection)
    else:
        person = None if save_table or tables else _countable_person(study, looks)
        also = () if person is None else (person,)
        single = only_one(
            study, also=also, tables=tables, memory=resources.memory, on_progress=on_progress
        )
        whole, steps, members = single.table, single.steps, ()
        windows, notes = [whole], ()
        looks = tuple(replace(one, one_each=_one_each(single, one, person, study)) for one in looks)
    if study.group is not None:
        from glasshouse.mitigation.anatomy import assess_by_group

        grouped = replace(assess_by_group(whole, study.group), steps=steps)
        return Run(study, grouped, first_looks=looks)
    explanations = _explanations(study, windows[-1]) if explain else ()
    assessment = assessed(study, windows, resources)
    if save_table is not None:
        single.read.save(save_table)
    outcome = replace(
        assessment,
        steps=steps,
        members=members,
        suppressed=_suppressed_records(windows[0], steps),
        sanitised=_is_sanitised(windows[0], steps),
        explanations=explanations,
        exposures=_exposures(study, windows[-1], resources),
        known_sets=_known_sets(study, assessment, windows, resources),
        weighted=_weighted(study, windows[-1], assessment),
        households=None
        if study.household is None
        else household_risks(
            windows[-1],
            study.household,
            weight=study.weight,
            missing_matches=study.missing_as == "matches",
        ),
        special=_special(study, windows[-1]),
        noise=tuple(
            column_noise(windows[-1], name, chances, prior=study.adversary.prior.get(name))
            for name, chances in study.noises.items()
        ),
    )
    if len(study.datasets) == 1:
        beside = _with_suppressed(study, steps, resources, [single.read])
        outcome = replace(outcome, with_suppressed=beside)
    if advising:
        outcome = replace(
            outcome,
            advice=advise(
                outcome,
                windows[-1],
                study,
                generalising=study.advise,
                resources=resources,
                assessed=assessed,
                looks=looks,
            ),
        )
    risks = _record_risks(study, whole, known, outcome.special) if per_record else None
    return Run(study, outcome, per_record=risks, warnings=notes, first_looks=looks)


def _of_another_kind(
    study: AssessStudy,
    resources: Resources,
    tables: Sequence[EncodedTable],
    extras: dict[str, Any],
    people: Sequence[EncodedTable | None],
) -> (
    Run[AssessStudy, Assessment]
    | Run[AssessStudy, microdata.Family]
    | Run[AssessStudy, microdata.People]
    | Run[AssessStudy, SyntheticRelease]
    | None
):
    """Carry out a study of people, of a synthetic release, of parts or of linked files; None: it is none of them."""
    if study.person:
        _refuse(
            {**extras, "`resume`": resources.resume},
            marked("{option} is about records, and `person` about people; leave out one of them"),
        )
        return _people(study, resources, tables)
    if study.trained_on is not None:
        _refuse(
            {**extras, "`resume`": resources.resume},
            marked("{option} is for a release of people; leave it out with `trained_on`"),
        )
        return _synthetic(study, resources, tables, people)
    if _has_parts(study):
        refuse_in_parts({**extras, "`resume`": resources.resume})
        return _parts(study, resources, tables)
    if study.links:
        _refuse(
            extras,
            marked("{option} is for datasets with an identifier; leave it out with `link`"),
        )
        return _linkage(study, resources, tables)
    return None


def _record_risks(
    study: AssessStudy,
    table: EncodedTable,
    known: tuple[str, ...],
    special: SpecialUniques | None,
) -> pa.Table:
    """Return the risk of each record with some quasi-identifiers, and what else is scored of it."""
    is_matched = study.missing_as == "matches"
    risks = (
        neighbourhoods.matched_risks(table, quasi_identifiers=known)
        if is_matched
        else record_risks(table, quasi_identifiers=known, drop_suppressed=False)
    ).to_frame()
    if study.weight is not None:
        of_sample = neighbourhoods.matched_sample_risks if is_matched else sample_risks
        risks = risks.append_column("individual", [of_sample(table, study.weight, known)])
    if special is None:
        return risks
    scores = special.to_frame()
    for name in scores.column_names:
        if name not in risks.column_names:
            risks = risks.append_column(name, scores[name])
    return risks


def _special(study: AssessStudy, table: EncodedTable) -> SpecialUniques | None:
    """Return the special uniques of a release, if the study asks for them: of the sizes that its subsets have."""
    if study.suda is None:
        return None
    if study.sweep is None:
        largest = max(map(len, study.chosen_subsets()))
    else:
        largest = largest_size(study.sweep, len(study.adversary.knowable), table.records)
    return find_special_uniques(
        table,
        fraction=study.suda,
        largest=largest,
        missing_is_no_item=study.missing_as == "matches",
    )


def _explanations(study: AssessStudy, table: EncodedTable) -> tuple[Explanation, ...]:
    """Return every table from the records to the hyper, of each attack."""
    return tuple(
        attacks.explain(table, sensitive=secret, drop_suppressed=False)
        for secret in ((), *study.adversary.secrets)
    )


def assessed(
    study: AssessStudy, windows: Sequence[EncodedTable], resources: Resources
) -> Assessment:
    """Return what is measured of windows of a collection, or of a single dataset: all that a study asks of records.

    Raises:
        StudyError: The question does not fit the data.
        BudgetError: It does not fit the memory.
    """
    refuse_unfit(windows[-1], study.precisions)
    assessment = _assessment(study, windows, resources)
    return replace(
        assessment,
        close=_close_guesses(study, windows[-1]),
        inexact=_inexact(study, windows[-1], assessment),
    )


def _parts(
    study: AssessStudy, resources: Resources, tables: Sequence[EncodedTable]
) -> Run[AssessStudy, microdata.Family]:
    """Carry out a study of the parts of a release, or of several releases one by one."""
    looks = first_looks(study, tables)
    family = _family(study, resources, tables)
    beside = _with_suppressed(study, family.steps, resources, tables)
    family = replace(family, with_suppressed=beside)
    return Run(study, family, first_looks=looks)


def _people(
    study: AssessStudy, resources: Resources, tables: Sequence[EncodedTable]
) -> Run[AssessStudy, microdata.People]:
    """Count people, where they have several records and some of these are known."""
    single = only_one(
        study, tables=tables, memory=resources.memory, on_progress=resources.on_progress
    )
    secrets = study.adversary.secret_columns
    notes: tuple[str, ...] = ()
    if not study.unlinked:
        secrets = tuple(_secrets_of_people(single.table, study.person, secrets))
        differing = [
            name
            for name, secret in zip(study.adversary.secret_columns, secrets, strict=True)
            if name != secret
        ]
        if differing:
            notes = (
                text(
                    "note: {columns} differs between the records of a person, and is taken as the most frequent value "
                    "of each (most COLUMN); any COLUMN=VALUE, sum COLUMN or other COLUMN ask something else",
                    columns=quoted(differing),
                ),
            )
            adversary = study.adversary.model_copy(update={"sensitive": secrets})
            study = study.model_copy(update={"adversary": adversary})
    outcome = microdata.assess_people(
        single.table,
        study.person,
        knows=study.knows,
        subsets=study.chosen_subsets(),
        secrets=secrets,
        unlinked=study.unlinked,
        seed=study.seed,
        on_progress=resources.on_progress,
    )
    looks = first_looks(study, tables)
    beside = _with_suppressed(study, single.steps, resources, [single.read])
    outcome = replace(outcome, steps=(*single.steps, *outcome.steps), with_suppressed=beside)
    return Run(study, outcome, warnings=notes, first_looks=looks)


def _synthetic(
    study: AssessStudy,
    resources: Resources,
    tables: Sequence[EncodedTable],
    people: Sequence[EncodedTable | None],
) -> Run[AssessStudy, SyntheticRelease]:
    """Count what a synthetic release tells of those whom it was made from, and of others like them."""
    options: dict[str, Any] = {"memory": resources.memory, "on_progress": resources.on_progress}
    files = [only_one(study, tables=tables, **options)]
    for dataset, table in zip((study.trained_on, study.holdout), people, strict=True):
        if dataset is None:
            continue
        if table is None:
            _refuse_strange(study, dataset)
        given = () if table is None else (table,)
        files.append(only_one(study.of_people(dataset), tables=given, **options))
    outcome = assess_synthetic(
        *(file.table for file in files),
        quasi_identifiers=study.adversary.knowable,
        sensitive=study.adversary.secret_columns,
        subsets=study.sweep or study.chosen_subsets(),
        threads=resources.threads,
        **options,
    )
    steps = tuple(step for file in files for step in file.steps)
    return Run(study, replace(outcome, steps=steps), first_looks=first_looks(study, tables))


def _refuse_strange(study: AssessStudy, dataset: Dataset) -> None:
    """Make sure that a file of people has something of what a synthetic one is asked about.

    Raises:
        DataError: It has nothing of it.
    """
    adversary, there = study.adversary, columns_of(dataset)
    asked = (*adversary.quasi_identifiers, *adversary.fact_columns, *adversary.secret_columns)
    if not set(asked).intersection(there):
        raise DataError(
            "{file}: has none of the columns that {synthetic} is asked about ({columns}); is it the file that it was "
            "made from, or a holdout of it?",
            file=dataset.name or dataset.place.name,
            synthetic=study.datasets[0].place.name,
            columns=quoted(asked),
        )


def _with_suppressed(
    study: AssessStudy,
    steps: Sequence[Step],
    resources: Resources,
    tables: Sequence[EncodedTable],
) -> Any:
    """Return what is learned if the suppressed records that were left out are a class; None: none were left out."""
    if not any(step.what == SUPPRESSED_RECORD for step in steps):
        return None
    treatment = study.treatment.model_copy(update={"drop_suppressed": False})
    kept = study.model_copy(update={"treatment": treatment})
    once = replace(resources, checkpoint=None, resume=False, on_progress=None)
    return answer(kept, resources=once, tables=tables, advising=False).outcome


def _close_guesses(study: AssessStudy, table: EncodedTable) -> tuple[Closeness, ...]:
    """Return how close guesses of numbers come, with the sets of quasi-identifiers that the study asks for."""
    return tuple(
        close_guesses(
            table,
            name,
            parse_tolerance(name, written),
            subsets=study.sweep or study.chosen_subsets(),
            drop_suppressed=False,
        )
        for name, written in study.within.items()
    )


def adversaries_in(
    dataset: Dataset, names: Sequence[str], *, without: Collection[str] = ()
) -> tuple[CatalogueAdversary, ...]:
    """Return adversaries of the catalogue with the columns of a file that they know, by its first records.

    Args:
        dataset: The file.
        names: Who: names, countries, ``all``, or files; of one who is named, something must be in the file.
        without: Columns that nobody knows, such as what she wants to infer.

    Raises:
        DataError: The file is malformed.
        StudyError: There is no such adversary, or nothing that any of them knows is in the file.
    """
    chosen = chosen_adversaries(names)
    _, first = first_read(dataset, None)
    meanings = {column.name: meaning_of(column) for column in profile(first)}
    meanings |= {name: meaning_of_name(name) for name in dataset.derive}
    meanings = {name: meaning for name, meaning in meanings.items() if name not in without}
    placed = [one.in_columns(meanings) for one in chosen]
    telling = tuple(one for one in placed if one.columns or one.name in names)
    if not any(one.columns for one in telling):
        raise StudyError(
            "no column of {file} was found to hold what {adversaries} would know; name columns with "
            "`quasi_identifiers`",
            file=dataset.place.name,
            adversaries=", ".join(names),
        )
    return telling


def _known_sets(
    study: AssessStudy,
    assessment: Assessment,
    windows: Sequence[EncodedTable],
    resources: Resources,
) -> tuple[CataloguedAttacks, ...]:
    """Return what adversaries of a catalogue achieve: as it was swept, or else attacked with what each knows."""
    sets = {one.name: study.known_by(one) for one in study.adversaries}
    attacks: dict[tuple[str, ...], list[Attack]] = {}
    for attack in last_window(assessment.attacks) if sets else ():
        attacks.setdefault(attack.quasi_identifiers, []).append(attack)
    if further := sorted(set(sets.values()) - attacks.keys()):
        for attack in last_window(_attacked(study, windows, further, resources)):
            attacks.setdefault(attack.quasi_identifiers, []).append(attack)
    return tuple(CataloguedAttacks(name, tuple(attacks[known])) for name, known in sets.items())


def _inexact(study: AssessStudy, table: EncodedTable, exact: Assessment) -> InexactKnowledge | None:
    """Return what is learned by who does not know everything exactly, if the study asks for it."""
    if not study.precisions and not study.likely:
        return None
    return inexact_knowledge(
        table,
        study.precisions,
        likely=study.likely,
        secrets=study.adversary.secrets,
        subsets=study.sweep or study.chosen_subsets(),
        drop_suppressed=False,
        attacked=exact.attacks,
    )


def _weighted(
    study: AssessStudy, table: EncodedTable, assessment: Assessment
) -> WeightedClasses | None:
    """Return how many people the classes of the widest set stand for, if the study names survey weights."""
    if study.weight is None:
        return None
    known = widest(assessment.attacks)[0].quasi_identifiers
    if study.missing_as == "matches":
        return neighbourhoods.matched_weights(table, study.weight, known)
    return weighted_sample(table, study.weight, known)


def _exposures(
    study: AssessStudy, table: EncodedTable, resources: Resources
) -> tuple[Exposure, ...]:
    """Return who can be named, where the whole of what can be known was assessed."""
    whole = study.adversary.knowable
    if study.sweep is not None and not holds_whole_set(study.sweep, len(whole)):
        return ()
    is_whole = study.sweep is not None or whole in study.chosen_subsets()
    if is_whole and study.missing_as == "matches":
        return neighbourhoods.matched_exposures(table)
    return attacks.exposures(table, most_records=resources.most_records) if is_whole else ()


def understood(
    dataset: Dataset,
    *,
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[Secret] = (),
    identifier: str | None = None,
    invalid: Sequence[str] = (),
    drop: Sequence[str] = (),
    ignore: Sequence[str] = (),
    weight: str | None = None,
    attacker: Mapping[str, Any] | None = None,
    policy: ReleasePolicy | None = None,
    table: EncodedTable | None = None,
) -> tuple[AssessStudy, tuple[str, ...]]:
    """Return the study that a file suggests by itself, with what is said of it instead, and notes on it.

    What a file suggests may add to the attack and never takes away from it: whatever is not plainly a secret, and does
    not name people by itself, is something that somebody can know.

    Args:
        dataset: The file.
        quasi_identifiers: What an adversary can know of a person; none: what the file suggests.
        sensitive: What she wants to infer; none: what the file suggests, unless what she knows is said.
        identifier: The column that names a person; none: likewise.
        invalid: Records that are left out, besides those that the file suggests.
        drop: Columns that will not be in the release.
        ignore: Columns that are dismissed by name.
        weight: The column of survey weights; a file that seems to have one suggests none.
        attacker: What else is said of her, as content of the study: ``person``, ``knows``, ``unlinked``, ``within``,
            ``about`` and ``likely``. A column of it has the role that it needs, unless roles are said; what the file
            suggests besides, and what does not go with it, is left out, and a note says so.
        policy: What to judge it by; None: open data.
        table: All of its columns, where it is in memory.

    Raises:
        DataError: The file is malformed, or its first line seems to be a record.
        StudyError: Nothing in it looks like something that one can know of a person, or what is said makes no sense.
    """
    dialect, said = dataset.dialect, attacker or {}
    person, close = tuple(said.get("person", ())), tuple(said.get("within", ()))
    home = said.get("household")
    unsure = (*said.get("about", ()), *said.get("likely", ()))
    asked = []
    if sensitive:
        there = None if table is None else tuple(table.columns)
        asked = _columns_asked(dataset, sensitive, there, of_people=bool(person))
    if table is None:
        table = read_file(dataset)
    looked_at = table_profile(table)
    if looked_at.lacks_header and dialect.header and not (dialect.names or quasi_identifiers):
        raise DataError(
            "{name}: its first line looks like a record, not like names; say `no_header`, or `names`",
            name=looked_at.name,
        )
    if dialect.skip is None:
        _refuse_title(dataset)
    nobody: list[str] = []
    columns = looked_at.columns
    if not dialect.strict:
        stripped = dialect.strip or looked_at.is_padded
        nobody = [f"{name}={values}" for name, values in looked_at.nobody(stripped=stripped)]
        if stripped and not dialect.strip:
            dataset = dataset.model_copy(
                update={"dialect": dialect.model_copy(update={"strip": True})}
            )
            columns = tuple(replace(column, name=column.name.strip()) for column in columns)
            nobody = [condition.strip() for condition in nobody]
    rule = OPEN_DATA if policy is None else policy
    taken = {*asked, *person, *close, home, identifier, weight, *drop, *ignore, *rule.ignore}
    known = tuple(quasi_identifiers) or tuple(
        dict.fromkeys([*(name for name in knowable(columns) if name not in taken), *unsure])
    )
    if not known:
        raise StudyError(
            "nothing in {file} looks like something that one could know about a person; name the columns with "
            "`quasi_identifiers`",
            file=dataset.place.name,
        )
    taken |= set(known)
    guessed = [] if quasi_identifiers else [one for one in columns if one.name not in taken]
    secrets = [column.name for column in guessed if column.role is Role.SENSITIVE]
    if person and not said.get("unlinked"):
        secrets = _secrets_of_people(table, person, secrets)
    naming = naming_column(guessed)
    who = None if naming is None else naming.name
    options = [word for word in ("person", "within", "about", "likely") if said.get(word)]
    left_out = {Role.IDENTIFIER: who if person else None}
    content = {
        "datasets": [dataset],
        "adversary": {
            "quasi_identifiers": known,
            "sensitive": sensitive or [*secrets, *close],
            "identifier": identifier or (None if person else who),
        },
        "drop": drop,
        "ignore": ignore,
        "treatment": {"invalid": [*invalid, *(one for one in nobody if one not in invalid)]},
        "weight": weight,
        "policy": rule,
        **said,
    }
    study = with_default_subsets(validated(AssessStudy, content, "check"))
    return study, tuple(_left_out_notes(options, left_out))


def _left_out_notes(options: Sequence[str], columns: Mapping[Role, str | None]) -> Iterator[str]:
    """Say which roles that a file suggests for columns do not go with what was asked."""
    names = [
        f"{quoted([name])} ({translated(role.value)})" for role, name in columns.items() if name
    ]
    if names:
        yield text(
            "note: not used as the file suggests, as this does not go with {options}: {columns}",
            options=", ".join(f"`{word}`" for word in options),
            columns=", ".join(names),
        )


def _columns_asked(
    dataset: Dataset,
    sensitive: Sequence[Secret],
    there: Sequence[str] | None,
    *,
    of_people: bool,
) -> list[str]:
    """Return the columns that secrets are about: themselves, or what is asked of one, or of all records of a person."""
    names = [name for secret in sensitive for name in attributes(secret)]
    if of_people:
        columns = [parse_person_secret(name).column for name in names]
        return [column for column in columns if column is not None]
    if not any(sign in name for name in names for sign in "=<>"):
        return names
    questions = questions_among(names, columns_of(dataset) if there is None else there)
    return [questions.get(name, name) for name in names]


def _secrets_of_people(
    table: EncodedTable, person: Sequence[str], columns: Sequence[str]
) -> list[str]:
    """Return the secrets of people that columns suggest: of what differs between records the most frequent value."""
    if not any(name in table.columns for name in columns):
        return list(columns)
    table = table.of_records(~table.missing(person))
    people = partition(table, person).classes
    return [
        f"most {name}"
        if name in table.columns and partition(table, (*person, name)).classes != people
        else name
        for name in columns
    ]


def _refuse_title(dataset: Dataset) -> None:
    """Make sure that the first lines of a file are no title, and do not group its columns.

    Raises:
        DataError: They seem to be one.
    """
    if isinstance(dataset.path, Address) or not dataset.path.is_file():
        return
    source = open_source(dataset.path, dialect=dataset.dialect)
    title = source.title_lines if isinstance(source, DelimitedFile) else 0
    if title and isinstance(source, DelimitedFile) and source.has_groups:
        raise DataError(
            "{name}: line {line} looks as if it said which columns belong together, and the next line what each is "
            "called; if so, say `skip` {line}",
            name=source.name,
            line=str(title),
        )
    if title:
        raise DataError(
            text_for(
                title,
                "{name}: its first line looks like a title, and the table begins behind it; if it is one, say `skip` "
                "{count}",
                "{name}: its first {count} lines look like a title, and the table begins behind them; if they are one, "
                "say `skip` {count}",
                name=source.name,
            )
        )


def known_of_each(study: AssessStudy) -> tuple[str, ...]:
    """Return the quasi-identifiers that risks per record are of: all of them, or the one set that was chosen.

    Raises:
        StudyError: Several were; or records do not count alike, or she does more than guess once.
    """
    if study.adversary.prior_weight or not study.adversary.guesses_once:
        raise StudyError(
            "`per_record` shows how surely one guess is right, for single columns and records alike; leave out "
            "gains, priors, prior weights and joint secrets with it"
        )
    whole = study.adversary.knowable
    if study.sweep is not None:
        sets = [whole] if holds_whole_set(study.sweep, len(whole)) else []
    else:
        sets = list(study.chosen_subsets())
    if whole in sets:
        return whole
    if len(sets) != 1:
        raise StudyError(
            "`per_record` is about one set of quasi-identifiers; name one in `subsets`"
        )
    return sets[0]


def _has_parts(study: AssessStudy) -> bool:
    """Tell whether the release is assessed part by part."""
    return study.each or study.by is not None


def refuse_in_parts(extras: Mapping[str, object]) -> None:
    """Say what is not asked of a release that is assessed part by part.

    Raises:
        StudyError: It is.
    """
    _refuse(extras, marked("{option} is for a release in one piece; leave out `by` and `each`"))


def _refuse(extras: Mapping[str, object], why: str) -> None:
    for option, value in extras.items():
        if value:
            raise StudyError(why, option=option)


def _countable_person(study: AssessStudy, looks: Sequence[FirstLook]) -> str | None:
    """Return the column that looks like a person's identifier and repeats, if it is not too long to read as well."""
    (dataset,) = study.datasets
    person = looks[0].person if looks else None
    if person is None or isinstance(dataset.path, Address) or not dataset.path.is_file():
        return None
    return person.name if dataset.path.stat().st_size <= MOST_BYTES else None


def _one_each(
    single: Prepared, look: FirstLook, person: str | None, study: AssessStudy
) -> Attack | None:
    """Return how people are named by all quasi-identifiers if each counts once.

    A person is a value of a column; or else records that are the same in every column are of one, if all were seen.
    """
    table = single.table
    if study.missing_as == "matches":  # of people counted once it is not known
        return None
    if person is not None:
        named = replace(table, roles={**table.roles, person: Role.IDENTIFIER})
        people = one_record_each(named, seed=study.seed).table
    elif look.seems_repeated and look.firsts is not None and look.records == single.read.records:
        positions = np.arange(table.records) if table.positions is None else table.positions
        people = table.of_records(np.flatnonzero(np.isin(positions, look.firsts)))
    else:
        return None
    known = [study.adversary.knowable]
    return assess(people, subsets=known, sensitive=(), drop_suppressed=False).attacks[0]


def _suppressed_records(table: EncodedTable, steps: Sequence[Step]) -> int:
    """Count the records of a sanitised release that tell nothing of their person, be they left out or not."""
    left_out = sum(step.left_out for step in steps if step.what == SUPPRESSED_RECORD)
    return left_out or table.records - without_suppressed(table).records


def _is_sanitised(table: EncodedTable, steps: Sequence[Step]) -> bool:
    """Tell whether ``*`` is a value of what can be known, in records that were left out or not."""
    columns = [column for name in table.quasi_identifiers for column in table.columns_of(name)]
    return any(step.what == SUPPRESSED_RECORD for step in steps) or any(
        column.values.index(SUPPRESSED).as_py() >= 0 for column in columns
    )


def _assessment(
    study: AssessStudy, windows: Sequence[EncodedTable], resources: Resources
) -> Assessment:
    """Attack each window of a collection; a single dataset is the only window of itself."""
    if study.sweep is None or study.missing_as == "matches":
        names, records = study.adversary.knowable, windows[-1].records
        subsets: Sequence[tuple[str, ...]] = (
            neighbourhoods.subsets_of(study.sweep, names, records)
            if study.sweep
            else study.chosen_subsets()
        )
        return Assessment(windows[0].records, _attacked(study, windows, subsets, resources))
    checkpoint = resources.checkpoint
    finished = checkpoint.start(resume=resources.resume) if checkpoint else {}
    if not study.adversary.guesses_once:
        every = tuple(
            attack
            for place, window in enumerate(windows)
            for attack in _window_games(study, window, place, len(windows), resources, finished)
        )
        return Assessment(windows[0].records, every)
    swept = [
        _window_sweep(study.sweep, window, place, len(windows), resources, finished)
        for place, window in enumerate(windows)
    ]
    every = tuple(
        attack
        for window, of_window in zip(windows, swept, strict=True)
        for attack in _with_whole_set(of_window.attacks(), window, resources)
    )
    return Assessment(windows[0].records, every, sweep=swept[-1])


def _attacked(
    study: AssessStudy,
    windows: Sequence[EncodedTable],
    subsets: Sequence[tuple[str, ...]],
    resources: Resources,
) -> tuple[Attack, ...]:
    """Attack each window with some sets of quasi-identifiers, one by one."""
    if study.missing_as == "matches":
        return neighbourhoods.matched_attacks(
            windows[-1],
            subsets=subsets,
            sensitive=study.adversary.secrets,
            on_progress=resources.on_progress,
        )
    return assess(
        windows,
        subsets=subsets,
        drop_suppressed=False,
        most_records=resources.most_records,
        **_aims(study.adversary),
    ).attacks


def _with_whole_set(
    attacks: Sequence[Attack], window: EncodedTable, resources: Resources
) -> Sequence[Attack]:
    """Return the attacks of a sweep with what it does not compute of the whole set: capacities, the smallest class."""
    counted = 1 + len(window.sensitive)
    swept = attacks[-counted:]
    is_whole = len(swept[0].quasi_identifiers) == len(window.quasi_identifiers)
    if not is_whole or (not window.sensitive and swept[0].class_sizes.is_exact):
        return attacks
    alone = assess(window, drop_suppressed=False, most_records=resources.most_records).attacks
    return (
        *attacks[:-counted],
        *(
            replace(
                attack,
                class_sizes=whole.class_sizes,
                capacity=whole.capacity,
                additive_capacity=whole.additive_capacity,
            )
            for attack, whole in zip(swept, alone, strict=True)
        ),
    )


def _window_sweep(
    subsets: str,
    table: EncodedTable,
    place: int,
    windows: int,
    resources: Resources,
    finished: Mapping[int, Integers],
) -> Sweep:
    """Sweep one of several windows, whose steps have numbers of their own."""
    first = place * STEPS_PER_WINDOW
    return sweep(
        table,
        subsets=subsets,
        threads=resources.threads,
        memory=resources.memory,
        on_progress=share_of(resources.on_progress, place, windows),
        finished=steps_of(finished, first, STEPS_PER_WINDOW),
        on_step=numbered_from(first, resources.checkpoint.save if resources.checkpoint else None),
        drop_suppressed=False,
    )


def _window_games(
    study: AssessStudy,
    table: EncodedTable,
    place: int,
    windows: int,
    resources: Resources,
    finished: Mapping[int, Integers],
) -> Sequence[Attack]:
    """Sweep one of several windows for an adversary beyond one guess; the whole set comes with its capacities."""
    first, aims = place * STEPS_PER_WINDOW, _aims(study.adversary)
    swept = attack_with_all_subsets(
        table,
        subsets=study.sweep or "all",
        threads=resources.threads,
        memory=resources.memory,
        on_progress=share_of(resources.on_progress, place, windows),
        finished=steps_of(finished, first, STEPS_PER_WINDOW),
        on_step=numbered_from(first, resources.checkpoint.save if resources.checkpoint else None),
        **aims,
    )
    if swept[-1].quasi_identifiers != table.quasi_identifiers:
        return swept
    most = resources.most_records
    whole = assess(table, drop_suppressed=False, most_records=most, **aims).attacks
    return (*swept[: -len(whole)], *whole)


def _aims(adversary: Adversary) -> dict[str, Any]:
    """Return what an adversary is after, as attacks take it."""
    secrets = secrets_by_name(adversary)
    return {
        "sensitive": adversary.secrets,
        "gains": study_gains(adversary),
        "priors": {secrets[name]: dict(prior) for name, prior in adversary.prior.items()},
    }


def _linkage(
    study: AssessStudy, resources: Resources, in_memory: Sequence[EncodedTable]
) -> Run[AssessStudy, Assessment]:
    """Link the datasets by keys that may change."""
    if study.subsets != ("full",):
        raise StudyError(
            "datasets that are linked by keys are assessed with the whole set; leave out `subsets`"
        )
    if study.adversary.gain.model_dump(exclude_defaults=True) or study.adversary.prior:
        raise StudyError(
            "gains and priors are for datasets with an identifier; leave them out with `link`"
        )
    datasets = list(
        prepared(
            study, tables=in_memory, memory=resources.memory, on_progress=resources.on_progress
        )
    )
    focal, *auxiliaries = (dataset.table for dataset in datasets)
    keys = [
        [
            microdata.LinkKey(key.name, persists=key.persists, shift=position * key.shift)
            for key in study.links
        ]
        for position in range(1, len(datasets))
    ]
    outcome = microdata.link(
        focal,
        auxiliaries,
        keys=keys,
        quasi_identifiers=study.adversary.knowable,
        sensitive=study.adversary.secrets,
        memory=resources.memory,
    )
    steps = tuple(step for dataset in datasets for step in dataset.steps)
    notes = tuple(
        text_for(
            missing,
            'note: {count} record of {table} has no "{key}": an empty key is unknown, and agrees with nothing',
            'note: {count} records of {table} have no "{key}": an empty key is unknown, and agrees with nothing',
            table=dataset.table.name,
            key=printable(key.name),
        )
        for dataset in datasets
        for key in study.links
        if (missing := _missing_values(dataset.table.column(key.name)))
    )
    looks = first_looks(study, in_memory)
    return Run(study, replace(outcome, steps=steps), warnings=notes, first_looks=looks)


def _missing_values(column: EncodedColumn) -> int:
    return int(np.count_nonzero(np.asarray(pc.equal(column.values, MISSING))[column.codes]))


def _family(
    study: AssessStudy, resources: Resources, in_memory: Sequence[EncodedTable]
) -> microdata.Family:
    """Assess the parts of a release, or several releases, one by one."""
    adversary = study.adversary
    if not adversary.guesses_once:
        raise StudyError(
            "parts are compared by one guess at single columns; leave out gains, priors and joint secrets with "
            "`by` and `each`"
        )
    if (study.sweep is None and study.subsets != ("full",)) or study.seconds is not None:
        raise StudyError("parts are compared with `subsets` all, max:K or full, and one guess")
    steps: list[Step] = []
    attacked: dict[str, tuple[Attack, ...]] = {}
    whole = 1

    def parts() -> Iterator[tuple[str, EncodedTable]]:
        nonlocal whole
        for dataset in prepared(study, tables=in_memory, on_progress=resources.on_progress):
            single = one_each(dataset, seed=study.seed)
            steps.extend(single.steps)
            whole = single.table.records
            name = "" if study.by is not None else single.table.name
            attacked[name] = _attacked_as_a_whole(single.table, study, resources)
            if study.by is not None:
                yield from microdata.parts_by(single.table, study.by)
                continue
            whole *= len(study.datasets)  # the others are about as large
            yield single.table.name, single.table

    def so_far(now: Progress) -> None:
        if resources.on_progress is not None:
            share = min(1.0, now.done / whole)
            resources.on_progress(Progress("sweeping", share, 1.0, figures={"visits": now.done}))

    compared = microdata.family(
        parts(),
        subsets=study.sweep or [adversary.knowable],
        ordered=study.each,
        threads=resources.threads,
        memory=resources.memory,
        on_progress=so_far,
        drop_suppressed=False,
    )
    return replace(compared, by=study.by, whole=attacked, steps=tuple(steps))


def _attacked_as_a_whole(
    table: EncodedTable, study: AssessStudy, resources: Resources
) -> tuple[Attack, ...]:
    """Attack a release with all that can be known, and with the part where its parts are assessed."""
    adversary = study.adversary
    known = adversary.knowable
    if study.by is not None and study.by not in {*known, *adversary.secret_columns}:
        known = (*known, study.by)
        table = table.with_roles(
            quasi_identifiers=(*adversary.quasi_identifiers, study.by),
            sensitive=table.sensitive,
            identifier=table.identifier,
            prior_weight=table.prior_weight,
            facts=adversary.facts,
        )
        known = (*adversary.quasi_identifiers, study.by, *adversary.facts)
    return assess(
        table, subsets=[known], drop_suppressed=False, most_records=resources.most_records
    ).attacks


def study_gains(adversary: Adversary) -> Mapping[tuple[str, ...], Gain]:
    """Return the gain of an adversary's guesses, per secret; the empty one is re-identification."""
    gain = adversary.gain
    secrets = secrets_by_name(adversary)
    gains: dict[tuple[str, ...], Gain] = {}
    if gain.tries is not None:
        gains |= dict.fromkeys([(), *secrets.values()], Tries(gain.tries))
    if gain.record_worth is not None:
        gains[()] = RecordWorth(gain.record_worth)
    gains |= {secrets[name]: dict(worth) for name, worth in gain.worth.items()}
    for name, path in gain.matrix.items():
        matrix = read_gain_matrix(path)
        gains[secrets[name]] = with_abstaining(matrix) if gain.abstain else matrix
    return gains
