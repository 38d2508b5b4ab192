"""A study as frozen models that read from and write to ``study.toml``.

A study holds everything that determines a result besides the data itself, so that a run can be repeated
from its study alone. The models know nothing of the data: whether a column exists is found out when the
data is read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, StrictBool, StrictInt, model_validator

from glasshouse.errors import StudyError, near_names, quoted
from glasshouse.language import marked, text, translated
from glasshouse.study.adversaries import Adversary, Gain, Probability, attributes
from glasshouse.study.base import Model, Question
from glasshouse.study.conditions import without_values
from glasshouse.study.datasets import ConditionText, Dataset, Treatment
from glasshouse.study.files import load_question, validated
from glasshouse.study.protection import Protection

Subset = str | tuple[str, ...]
"""``full`` (the whole set), ``all`` (every subset), ``max:K`` (every one of at most K), or the ones named."""

SWEEP = re.compile(r"all|max:([1-9]\d*)")
"""The words that ask for many subsets at once."""
LINK = re.compile(r"(?P<name>.+?)(?P<shift>[+-][0-9]{1,6})?(=(?P<persists>[0-9.eE+-]+))?")
"""How a linking key is said in short: ``nationality=0.999``, ``age+1``, ``birth_date``."""
SWEPT_BY_DEFAULT = 13
"""Up to so many quasi-identifiers every subset is assessed unless a study says otherwise."""


class Key(Model):
    """An attribute by which records of the same person are linked where there is no identifier."""

    name: str
    """The column, in the focal dataset and in every other."""
    persists: Probability = 1.0
    """How probable it is that a person keeps the value from the focal dataset to another."""
    shift: StrictInt = 0
    """By how much it grows from each dataset to the next, such as an age by the years between."""


class Study(Question):
    """One question about one release, or about a collection of them."""

    commands: ClassVar[tuple[str, ...]] = ("assess", "target", "membership", "anonymise")
    command: Literal["assess", "target", "membership", "anonymise"] = "assess"
    """The command that answers it."""
    datasets: tuple[Dataset, ...] = Field(min_length=1)
    """The files of the release; of several, the first is the focal one."""
    adversary: Adversary
    """Whom the release is assessed against."""
    treatment: Treatment = Treatment()
    """Which records belong to the study."""
    seed: StrictInt = Field(default=0, ge=0, lt=1 << 63)
    """For the choice of one record per person, where somebody has several in a dataset; and for what is random in a
    protected release: keep it as secret as the data."""
    links: tuple[Key, ...] = ()
    """How records of several datasets are linked where there is no identifier."""
    by: str | None = None
    """The column whose values divide the release into parts that are assessed one by one."""
    each: StrictBool = False
    """Whether several datasets are assessed one by one, instead of together."""
    population: Dataset | None = None
    """A register of all people that the release may be about."""
    fraction: Probability | None = None
    """The share of the population that is in the release, where there is no register."""
    known: tuple[ConditionText, ...] = ()
    """What is known of one person."""
    protection: Protection | None = None
    """How the release is to be protected."""
    group: str | None = None
    """The column of Anatomy's groups: within them sensitive values are shuffled, so that what is inferred goes by the
    group, while people are named by their quasi-identifiers."""
    subsets: tuple[Subset, ...] = Field(default=("full",), min_length=1)
    """The sets of quasi-identifiers that she is assumed to know, each assessed on its own."""
    subject: str = Field(default="person", min_length=1)
    """What a record stands for, in the words of the report."""

    @model_validator(mode="after")
    def _datasets_belong_together(self) -> Self:
        several = len(self.datasets) > 1
        linked = self.adversary.identifier is not None or bool(self.links)
        if several and self.command == "target" and not linked:
            raise ValueError(text("several datasets need a column that names a person (--id)"))
        if several and self.command != "membership" and not self.each and not linked:
            raise ValueError(
                text(
                    "several datasets need a column that names a person (--id), keys to link them by (--link), or to "
                    "be assessed one by one (--each)"
                )
            )
        if self.links and self.adversary.identifier is not None:
            raise ValueError(
                text("there is an identifier; linking keys are for where there is none")
            )
        if self.links and not several:
            raise ValueError(text("linking keys need a second dataset to link with"))
        if self.each and not several:
            raise ValueError(text("--each needs several datasets"))
        if self.by is not None and several:
            raise ValueError(
                text("the parts of a column (--by) are of one dataset, not of several")
            )
        return self

    @model_validator(mode="after")
    def _question_is_complete(self) -> Self:
        if (self.command == "anonymise") != (self.protection is not None):
            raise ValueError(text("protection is for anonymise, and anonymise needs one"))
        if self.command == "anonymise" and len(self.datasets) > 1:
            raise ValueError(text("one dataset is anonymised at a time; name one file"))
        joint = [secret for secret in self.adversary.sensitive if len(attributes(secret)) > 1]
        if self.command == "anonymise" and joint:
            raise ValueError(
                text(
                    "anonymise protects sensitive attributes one by one; give -s for each, not several together"
                )
            )
        if self.command == "assess" and (self.known or self.population or self.fraction):
            raise ValueError(
                text(
                    "what is known of one person, a population and a sampling fraction are for target and membership"
                )
            )
        if self.command != "assess" and (
            self.by or self.each or self.links or self.adversary.prior
        ):
            raise ValueError(text("by, each, links and a prior are for assess; leave them out"))
        if self.command == "membership" and (
            self.adversary.weight or self.adversary.gain != Gain() or self.adversary.sensitive
        ):
            raise ValueError(
                text(
                    "membership is a guess at who is there; leave out weights, gains and sensitive attributes"
                )
            )
        if self.command != "assess" and self.adversary.facts:
            raise ValueError(text("facts are for assess; name their columns as quasi-identifiers"))
        treated = self.treatment.invalid or self.treatment.drop_missing
        if treated and (self.population is not None or self.command == "membership"):
            raise ValueError(
                text(
                    "records left out as invalid or missing would be taken for people who are not there; leave out "
                    "invalid and drop_missing where membership is asked"
                )
            )
        if self.command == "target" and not self.known:
            raise ValueError(
                text("say what is known of the person: --know COLUMN=VALUE, once or more")
            )
        if self.population is not None and self.fraction is not None:
            raise ValueError(text("give a population register or a sampling fraction, not both"))
        if self.command == "membership" and self.population is None and self.fraction is None:
            raise ValueError(
                text(
                    "membership needs the people that the release may be about: a register (--population) or a "
                    "sampling fraction (--fraction)"
                )
            )
        if self.fraction == 0:
            raise ValueError(text("a sampling fraction is above 0 and at most 1"))
        return self

    @model_validator(mode="after")
    def _subsets_are_subsets(self) -> Self:
        known = self.adversary.knowable
        for subset in self.subsets:
            if isinstance(subset, str):
                if subset != "full" and not SWEEP.fullmatch(subset):
                    raise ValueError(
                        text(
                            '"{subset}" are no subsets; say full, all, max:K or a list of names',
                            subset=subset,
                        )
                    )
                continue
            if not subset:
                raise ValueError(text("a subset needs at least one quasi-identifier"))
            for name in subset:
                if name not in known:
                    raise ValueError(_no_quasi_identifier(name, known))
        return self

    def abridged(self) -> Self:
        """Return the study without values: what naming one is worth, a prior, what is known, who is left out."""
        gain = self.adversary.gain.model_copy(update={"worth": {}})
        adversary = self.adversary.model_copy(update={"gain": gain, "prior": {}})
        plain: dict[str, Any] = {
            "adversary": adversary,
            "known": without_values(self.known),
            "treatment": self.treatment.abridged(),
        }
        if (
            self.protection is not None
        ):  # whoever knows it can repeat the random choices of a release
            plain["seed"] = 0
        return self.model_copy(update=plain)

    def chosen_subsets(self) -> tuple[tuple[str, ...], ...]:
        """Return the sets of quasi-identifiers to assess.

        They come by size, then in the order in which the quasi-identifiers were given; each once.
        """
        order = self.adversary.knowable
        positions = {chosen for subset in self.subsets for chosen in _positions(subset, order)}
        by_size = sorted(positions, key=lambda subset: (len(subset), subset))
        return tuple(tuple(order[i] for i in subset) for subset in by_size)

    @property
    def sweep(self) -> str | None:
        """``all`` or ``max:K`` where one sweep answers the study, else None.

        A sweep knows single secrets and one guess; anything else is assessed subset by subset.
        """
        adversary = self.adversary
        asked = self.subsets[0] if len(self.subsets) == 1 else None
        if not isinstance(asked, str) or not SWEEP.fullmatch(asked):
            return None
        joint = any(len(attributes(secret)) > 1 for secret in adversary.sensitive)
        plain = adversary.gain == Gain() and not adversary.prior and not self.links
        return asked if plain and not joint else None


def with_default_subsets(study: Study) -> Study:
    """Return the study with the subsets that are assessed when nobody says which: all, where that is quick.

    It is where there are not many and the records weigh the same.
    """
    swept = study.model_copy(update={"subsets": ("all",)})
    adversary = study.adversary
    quick = len(adversary.knowable) <= SWEPT_BY_DEFAULT and adversary.weight is None
    return swept if quick and swept.sweep else study


def make_study(content: dict[str, Any], *, where: str = marked("the study")) -> Study:
    """Build a study from plain values, or say in one line what is wrong with them.

    Raises:
        StudyError: Naming the entry and the reason.
    """
    return validated(Study, content, translated(where))


def make_dataset(content: dict[str, Any], *, where: str = marked("the dataset")) -> Dataset:
    """Build a dataset from plain values, or say in one line what is wrong with them.

    Raises:
        StudyError: Naming the entry and the reason.
    """
    return validated(Dataset, content, translated(where))


def load_study(path: Path) -> Study:
    """Read a ``study.toml`` about microdata; relative paths in it start at its own folder.

    Raises:
        StudyError: The file cannot be read, is not TOML, or is not such a study.
    """
    return load_question(path, Study)


def parse_link(link: str, columns: Collection[str] = ()) -> dict[str, Any]:
    """Return the linking key that a text says in short, as content of a study.

    A text that is the name of one of the columns, as it stands or before the last equals sign, is that column.

    >>> parse_link("age+1"), parse_link("nationality=0.999")
    ({'name': 'age', 'persists': 1.0, 'shift': 1}, {'name': 'nationality', 'persists': 0.999, 'shift': 0})
    """
    name, _, share = link.rpartition("=")
    for plain, probability in ((link, "1"), (name, share)):
        if plain in columns and _is_number(probability):
            return {"name": plain, "persists": float(probability), "shift": 0}
    found = LINK.fullmatch(link)
    try:
        persists = float(found["persists"] or 1) if found else None
    except ValueError:
        persists = None
    if found is None or persists is None:
        raise StudyError(
            text(
                '--link "{link}" is not of the form COLUMN, COLUMN=PROBABILITY or COLUMN+YEARS',
                link=link,
            )
        )
    return {"name": found["name"], "persists": persists, "shift": int(found["shift"] or 0)}


def _no_quasi_identifier(name: str, known: tuple[str, ...]) -> str:
    near = near_names(name, known)
    if near:
        return text(
            '"{name}" in a subset is not a quasi-identifier; did you mean {near}?',
            name=name,
            near=quoted(near),
        )
    return text(
        '"{name}" in a subset is not a quasi-identifier; they are {known}',
        name=name,
        known=quoted(known),
    )


def _is_number(written: str) -> bool:
    try:
        float(written)
    except ValueError:
        return False
    return True


def _positions(subset: Subset, order: tuple[str, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the sets of positions that an entry of ``subsets`` stands for."""
    if not isinstance(subset, str):
        yield tuple(sorted(order.index(name) for name in set(subset)))
    elif subset == "full":
        yield tuple(range(len(order)))
    else:
        limit = subset.partition(":")[2]
        for size in range(1, min(int(limit or len(order)), len(order)) + 1):
            yield from combinations(range(len(order)), size)
