"""The rule that a release is judged by: named conditions on named measures; three rules come with the house.

A condition says how much a measure may be (or must be at least), for an adversary who knows all that can be known of a
person or any so many facts, and how much it may be where access is restricted. A policy judges figures that were
computed without it, so that another one can be held against the same run.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PrivateAttr,
    StrictFloat,
    StrictInt,
    field_validator,
    model_validator,
)

from glasshouse.errors import ContradictionError
from glasshouse.language import either, marked, near_names, quoted, translated

Measure = Literal[
    "columns-not-looked-at",
    "new-columns",
    "direct-identifiers",
    "named",
    "best-guess",
    "highest-risk",
    "smallest-class",
    "inference-added",
    "inference-certain",
    "close-added",
    "close-certain",
    "some-records",
    "any-records",
    "named-inexactly",
    "best-guess-inexactly",
    "inference-added-inexactly",
    "inference-certain-inexactly",
    "household-named",
    "household-best-guess",
    "membership-certain",
    "believed",
    "placed",
    "noise",
    "re-identified",
    "newly-certain",
    "recovered-counts",
    "small-counts",
    "below-threshold",
    "empty-counts",
    "one-class",
    "dominated",
    "estimable",
    "few-degrees",
    "parts-not-checked",
    "remembered",
    "copied",
]
"""What a condition is about; `MEASURES` says what each means."""
SINGLING_OUT, LINKABILITY, INFERENCE = (
    marked("Singling out"),
    marked("Linkability"),
    marked("Inference"),
)
"""The three risks of the Opinion 05/2014 on anonymisation techniques."""


@dataclass(frozen=True)
class MeasureKind:
    """What a measure is, for all who tell of it."""

    words: str
    """What it counts, in the words of a report; ``{of}`` stands for a sensitive attribute."""
    risk: str
    """Which of the three risks it is about."""
    of_secret: bool = False
    """Whether each sensitive attribute has its own."""
    in_points: bool = False
    """Whether it is told in points."""
    of_people: bool = False
    """Whether people with several records have one for each number of records that are known."""
    counts_columns: bool = False
    """Whether it is a number of columns, instead of a share."""
    counts_people: bool = False
    """Whether it is a number of people or of counts in a table, instead of a share."""

    @property
    def is_number(self) -> bool:
        """Whether it is told as a number, instead of a share."""
        return self.counts_columns or self.counts_people


MEASURES: dict[Measure, MeasureKind] = {
    "columns-not-looked-at": MeasureKind(
        marked("columns of the release that were not looked at"), SINGLING_OUT, counts_columns=True
    ),
    "new-columns": MeasureKind(
        marked("columns of the release that the baseline does not have"),
        SINGLING_OUT,
        counts_columns=True,
    ),
    "direct-identifiers": MeasureKind(
        marked("columns that name or reach people by themselves"), SINGLING_OUT, counts_columns=True
    ),
    "named": MeasureKind(
        marked("people who can be identified for certain"), SINGLING_OUT, of_people=True
    ),
    "best-guess": MeasureKind(
        marked("people for whom one guess at who they are is right"), SINGLING_OUT, of_people=True
    ),
    "highest-risk": MeasureKind(
        marked("the highest chance that one person is identified"), SINGLING_OUT
    ),
    "smallest-class": MeasureKind(
        marked("people who look alike, in the smallest group"), SINGLING_OUT
    ),
    "inference-added": MeasureKind(
        marked("correct guesses at {of} that the release adds"),
        INFERENCE,
        of_secret=True,
        in_points=True,
        of_people=True,
    ),
    "inference-certain": MeasureKind(
        marked("people whose {of} becomes certain"), INFERENCE, of_secret=True, of_people=True
    ),
    "close-added": MeasureKind(
        marked("guesses at {of} that come close, which the release adds"),
        INFERENCE,
        of_secret=True,
        in_points=True,
    ),
    "close-certain": MeasureKind(
        marked("people whose {of} becomes certain within the tolerance"), INFERENCE, of_secret=True
    ),
    "some-records": MeasureKind(
        marked("people whom some of their records give away"), SINGLING_OUT, of_people=True
    ),
    "any-records": MeasureKind(
        marked("people whom any of their records give away"), SINGLING_OUT, of_people=True
    ),
    "named-inexactly": MeasureKind(
        marked(
            "people who are identified almost for certain by someone who does not know all exactly"
        ),
        SINGLING_OUT,
    ),
    "best-guess-inexactly": MeasureKind(
        marked(
            "people for whom one guess at who they are is right, by someone who does not know all exactly"
        ),
        SINGLING_OUT,
    ),
    "inference-added-inexactly": MeasureKind(
        marked(
            "correct guesses at {of} that the release adds for someone who does not know all exactly"
        ),
        INFERENCE,
        of_secret=True,
        in_points=True,
    ),
    "inference-certain-inexactly": MeasureKind(
        marked(
            "people whose {of} becomes almost certain for someone who does not know all exactly"
        ),
        INFERENCE,
        of_secret=True,
    ),
    "household-named": MeasureKind(
        marked("people who can be identified for certain by way of their household"), SINGLING_OUT
    ),
    "household-best-guess": MeasureKind(
        marked("households that one guess by their members together identifies"), SINGLING_OUT
    ),
    "membership-certain": MeasureKind(
        marked("people who are certainly in it, as the release reveals"),
        LINKABILITY,
    ),
    "believed": MeasureKind(
        marked("people whose {of} becomes more than twice as credible"), INFERENCE, of_secret=True
    ),
    "placed": MeasureKind(
        marked("records that published figures place or reveal for certain"), LINKABILITY
    ),
    "noise": MeasureKind(
        marked(
            "people of whom someone, despite the noise, comes to think it likely that they are in a count, or have a "
            "value"
        ),
        LINKABILITY,
    ),
    "re-identified": MeasureKind(
        marked("people whom a rational adversary is expected to name"), SINGLING_OUT
    ),
    "newly-certain": MeasureKind(
        marked("people whose rare record becomes certain after what went out before"),
        LINKABILITY,
        counts_people=True,
    ),
    "recovered-counts": MeasureKind(
        marked("suppressed or rounded counts that become known"), LINKABILITY, counts_people=True
    ),
    "small-counts": MeasureKind(
        marked("counts of few people that it shows for the first time"),
        SINGLING_OUT,
        counts_people=True,
    ),
    "below-threshold": MeasureKind(
        marked("counts and figures of too few records"), SINGLING_OUT, counts_people=True
    ),
    "empty-counts": MeasureKind(marked("counts that are zero"), INFERENCE, counts_people=True),
    "one-class": MeasureKind(
        marked("groups of which everybody has the same value"), INFERENCE, counts_people=True
    ),
    "dominated": MeasureKind(
        marked("figures that few records dominate"), INFERENCE, counts_people=True
    ),
    "estimable": MeasureKind(
        marked("figures from which one contributor estimates another"),
        INFERENCE,
        counts_people=True,
    ),
    "few-degrees": MeasureKind(
        marked("models with too few degrees of freedom"), INFERENCE, counts_people=True
    ),
    "parts-not-checked": MeasureKind(
        marked("parts of the output that nothing here checks"), LINKABILITY, counts_people=True
    ),
    "remembered": MeasureKind(
        marked("what a synthetic release remembers about its own people, at least"), LINKABILITY
    ),
    "copied": MeasureKind(
        marked("people whose whole record a synthetic release holds beyond chance, at least"),
        LINKABILITY,
    ),
}
"""What each measure is: one with a row here is told of by verdicts, forms and rules alike."""
CLASS_SIZES = (1, 2, 3, 4, 5, 10, 20, 50, 100, 1000)
"""The sizes by which the classes of every set of attributes are counted."""

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class PolicyCondition(BaseModel):
    """How much one measure may be."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    measure: Measure
    """What is measured."""
    at_most: Share | None = None
    """The share, chance or number of points (as a share) that it may be; for all measures but the next one's."""
    at_least: StrictInt | None = Field(default=None, ge=1)
    """How many people the smallest class must have."""
    restricted: Literal["any"] | StrictInt | StrictFloat | None = None
    """The same where access is restricted; ``any``: nothing is asked there; unset: the same is asked."""
    knows: StrictInt | Literal["all"] = "all"
    """How many facts the adversary knows of a person, whichever they are; ``all``: all of the quasi-identifiers."""
    records: Annotated[StrictInt, Field(ge=1)] | None = None
    """How many records of a person the adversary happens to know, where people have several; unset: so many of those
    that were assessed as tell most."""
    of: str | None = None
    """Which sensitive attribute it is about; unset: each of them."""
    where_measured: bool = False
    """Whether it is asked only of runs that measure it, such as those of membership; else a rule that is `complete`
    is not met where it was not judged."""
    source: str = ""
    """Where the number comes from."""

    @field_validator("knows", mode="before")
    @classmethod
    def _some_facts(cls, knows: object) -> object:
        if knows != "all" and (type(knows) is not int or knows < 1):
            raise ContradictionError(
                'what the adversary of a condition knows is "all", or a number of facts from 1 on'
            )
        return knows

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        counts = self.measure == "smallest-class"
        limit, name = (self.at_least, "at_least") if counts else (self.at_most, "at_most")
        other = self.at_most if counts else self.at_least
        if limit is None or other is not None:
            raise ContradictionError(
                'a condition on "{measure}" needs `{name}`, and only that',
                measure=self.measure,
                name=name,
            )
        if self.measure == "columns-not-looked-at" and self.at_most != 0:
            raise ContradictionError(
                '"{measure}" is 0 in every rule: dismiss columns by name instead (`ignore`)',
                measure=self.measure,
            )
        if self.measure == "parts-not-checked" and self.at_most != 0:
            raise ContradictionError(
                '"{measure}" is 0 in every rule: say instead what somebody looked at (`seen`)',
                measure=self.measure,
            )
        if self.of is not None and not MEASURES[self.measure].of_secret:
            raise ContradictionError(
                '"{measure}" is not about a sensitive attribute; leave out "of"',
                measure=self.measure,
            )
        if self.records is not None and not MEASURES[self.measure].of_people:
            raise ContradictionError(
                '"{measure}" is not about how many records of a person are known; leave out "records"',
                measure=self.measure,
            )
        given = self.restricted
        restricted = limit if given is None or given == "any" else given
        if not counts and not 0 <= restricted <= 1:
            raise ContradictionError(
                'the condition on "{measure}" has a limit for restricted access of {given}; give a share from 0 to 1',
                measure=self.measure,
                given=str(restricted),
            )
        if restricted > limit if counts else restricted < limit:
            raise ContradictionError(
                'the condition on "{measure}" is stricter where access is restricted; exchange the two numbers',
                measure=self.measure,
            )
        if counts and self.knows != "all":
            for size in (limit, restricted):
                if size not in CLASS_SIZES:
                    raise ContradictionError(
                        "the smallest class with any that many facts is counted by {sizes}; choose one of these",
                        sizes=either([str(size) for size in CLASS_SIZES]),
                    )
        return self

    @property
    def limit(self) -> Fraction:
        """What the measure may be at most, or must be at least, exactly."""
        return _ratio((self.at_least or 0) if self.at_most is None else self.at_most)

    @property
    def restricted_limit(self) -> Fraction | None:
        """The same where access is restricted; None: nothing is asked there."""
        if self.restricted == "any":
            return None
        return self.limit if self.restricted is None else _ratio(float(self.restricted))

    @property
    def people_needed(self) -> int:
        """How few people a release may be of for it to hold where nothing is told of them, so that they look alike."""
        if self.measure == "smallest-class":
            return int(self.limit)
        if self.measure in ("best-guess", "highest-risk") and self.limit:
            return ceil(1 / self.limit)
        return 2 if self.measure == "named" and self.limit < 1 else 1

    @property
    def is_floor(self) -> bool:
        """Whether the measure must be at least the limit, instead of at most."""
        return self.at_least is not None

    def allows(self, value: Fraction, *, restricted: bool = False) -> bool:
        """Tell whether a value meets the condition, or the one where access is restricted."""
        limit = self.restricted_limit if restricted else self.limit
        if limit is None:
            return True
        return value >= limit if self.is_floor else value <= limit


@cache
def _ratio(limit: float) -> Fraction:
    """Return a limit exactly: the small ratio that it is the nearest float of, or else the decimal as written.

    >>> _ratio(0.33), _ratio(1 / 3), _ratio(0.12345)
    (Fraction(33, 100), Fraction(1, 3), Fraction(2469, 20000))
    """
    ratio = Fraction(limit).limit_denominator(1000)
    return ratio if float(ratio) == limit else Fraction(str(limit))


class MagnitudeRule(BaseModel):
    """The numbers of the rules about the records behind an output; by default those of ACRO."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    threshold: StrictInt = Field(default=10, ge=1)
    """How many records, or values, are behind a count or a figure at least."""
    n: StrictInt = Field(default=2, ge=1)
    """How many of the largest records are looked at together,"""
    k: float = Field(default=0.9, gt=0, le=1)
    """and how much of a total they may make up."""
    p: float = Field(default=0.1, ge=0)
    """How much of the largest the others must be, but for the two largest."""
    zeros: bool = True
    """Whether a count that is zero counts."""
    freedom: StrictInt = Field(default=10, ge=1)
    """How many degrees of freedom a model has at least."""


class ReleasePolicy(BaseModel):
    """A rule for releases."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=80)
    """What it is called."""
    excludes: str = ""
    """What it does not cover, in a sentence."""
    complete: bool = False
    """Whether every condition must have been judged, so that what was not measured is not met."""
    ignore: tuple[str, ...] = ()
    """Columns that it dismisses by name: nobody could know them, and they say nothing of a person."""
    conditions: tuple[PolicyCondition, ...] = Field(min_length=1, max_length=100)
    """All of them must hold."""
    magnitudes: MagnitudeRule = MagnitudeRule()
    """The numbers of the rules about the records behind an output."""
    _file: str = PrivateAttr(default="")

    @property
    def option(self) -> str | None:
        """What a command calls it: its name, or the file that it was read from; None: that is not known."""
        return self.name if POLICIES.get(self.name) == self else self._file or None

    @property
    def title(self) -> str:
        """What it is called in a sentence."""
        return translated(TITLES.get(self.name, self.name))

    @property
    def people_needed(self) -> int:
        """How few people a release may be of, if nothing at all is told of them: of fewer, none meets it."""
        return max((one.people_needed for one in self.conditions if one.records is None), default=1)

    def read_from(self, file: str) -> Self:
        """Return it with the file that it was read from, as it was typed."""
        self._file = file
        return self

    def __eq__(self, other: object) -> bool:
        """Tell whether it asks the same, wherever it was read from."""
        return isinstance(other, ReleasePolicy) and dict(self) == dict(other)

    def __hash__(self) -> int:
        return hash((self.name, self.conditions))


NOTHING_UNSEEN = PolicyCondition(measure="columns-not-looked-at", at_most=0)
"""What every rule asks of a release, whatever it says: that each of its columns was measured, dropped or dismissed."""
NOTHING_UNCHECKED = PolicyCondition(measure="parts-not-checked", at_most=0)
"""What every rule asks of an output that has parts which cannot be put together with others: that somebody saw them."""


_NOT_COVERED = marked(
    "It does not cover what an adversary may learn from other sources, data that are wrong, or harm to groups of "
    "people."
)
_PRECEDENTS = marked(
    "cell sizes of 3, 5, 11 and 20 have precedents: El Emam 2013, Guide to the De-Identification of Personal Health "
    "Information"
)
_MEDICINES = marked(
    "0.09 for public disclosure: European Medicines Agency, EMA/90915/2016 (Policy 0070); no cell from 1 to 10: CMS "
    "cell size suppression policy"
)
_SINGLED_OUT = marked(
    "nobody may be singled out: Article 29 Working Party, Opinion 05/2014 (WP216); the number for restricted access "
    "has no official source"
)
_INFERRED = marked(
    "nothing may be inferred with significant probability: Article 29 Working Party, Opinion 05/2014 (WP216); no "
    "official source gives a number, these were chosen for this rule"
)
_DIRECT = marked(
    "what identifies people directly is not anonymous information: General Data Protection Regulation, "
    "recital 26; Brazilian General Data Protection Law, article 12"
)
_CERTAIN = marked(
    "nothing may follow for certain from several outputs: Handbook on Statistical Disclosure Control for Outputs "
    "(2019), on differencing"
)
_THRESHOLD = marked("counts of at least 10: the default of ACRO")
_NATIONAL = marked(
    "counts of at least 10: threshold that the Office for National Statistics (ONS) holds research outputs against, as "
    "one part of what it looks at (its advice to users of the Longitudinal Study)"
)
_ACRO = marked("the defaults of ACRO: 10 records, (2, 90%) dominance, p = 10%")
_FREEDOM = marked(
    "at least 10 degrees of freedom: Handbook on Statistical Disclosure Control for Outputs (2019), and the default of "
    "ACRO"
)
_IDENTIFYING = marked(
    "It limits who can be identified. What can be inferred about people is measured, and not judged by it."
)
_HUMANITARIAN = marked(
    "a global risk of 3%: Centre for Humanitarian Data (HDX), which estimates it from a sample with sdcMicro; here it "
    "is the share of right guesses at the records of the file itself, which is never lower"
)
_CLINICAL = marked(
    "0.09 for public disclosure of clinical reports: European Medicines Agency, EMA/90915/2016 (Policy 0070)"
)
_CHOSEN = marked("no official source gives a number; it was chosen for this rule")


_OF_RECORDS: frozenset[Measure] = frozenset(
    {
        *("direct-identifiers", "named", "best-guess", "highest-risk", "smallest-class"),
        *("inference-added", "inference-certain"),
    }
)
"""What is measured of every release of records; the other conditions of the rules below are about other questions."""


def _rule(
    name: str,
    rows: tuple[tuple[Measure, float, float | Literal["any"] | None, str], ...],
    *,
    complete: bool = False,
    excludes: str = _NOT_COVERED,
) -> ReleasePolicy:
    conditions = tuple(
        PolicyCondition(
            measure=measure,
            at_most=None if measure == "smallest-class" else limit,
            at_least=int(limit) if measure == "smallest-class" else None,
            restricted=restricted,
            where_measured=measure not in _OF_RECORDS,
            source=source,
        )
        for measure, limit, restricted, source in rows
    )
    return ReleasePolicy(name=name, excludes=excludes, complete=complete, conditions=conditions)


OPEN_DATA = _rule(
    "open-data",
    (
        ("direct-identifiers", 0.0, None, _DIRECT),
        ("named", 0.0, 0.05, _SINGLED_OUT),
        ("best-guess", 0.05, 0.2, _PRECEDENTS),
        ("smallest-class", 11, "any", _MEDICINES),
        ("inference-added", 0.05, 0.2, _INFERRED),
        ("inference-certain", 0.05, 0.2, _INFERRED),
        ("close-added", 0.05, 0.2, _INFERRED),
        ("close-certain", 0.05, 0.2, _INFERRED),
        ("membership-certain", 0.05, 0.2, _CHOSEN),
        ("believed", 0.01, 0.05, _CHOSEN),
        ("placed", 0.05, 0.2, _CHOSEN),
        ("noise", 0.5, "any", _CHOSEN),
        ("re-identified", 0.0, 0.05, _CHOSEN),
        ("remembered", 0.01, 0.05, _CHOSEN),
        ("copied", 0.0, 0.01, _CHOSEN),
    ),
    complete=True,
)
RESEARCH_FILE = _rule(
    "research-file",
    (
        ("direct-identifiers", 0.0, None, _DIRECT),
        ("named", 0.05, 0.2, _SINGLED_OUT),
        ("best-guess", 0.2, 1 / 3, _PRECEDENTS),
        ("inference-added", 0.2, "any", _INFERRED),
        ("inference-certain", 0.2, "any", _INFERRED),
        ("close-added", 0.2, "any", _INFERRED),
        ("close-certain", 0.2, "any", _INFERRED),
        ("membership-certain", 0.2, "any", _CHOSEN),
        ("believed", 0.05, "any", _CHOSEN),
        ("placed", 0.2, "any", _CHOSEN),
        ("noise", 0.5, "any", _CHOSEN),
        ("re-identified", 0.05, 0.2, _CHOSEN),
        ("remembered", 0.05, 0.2, _CHOSEN),
        ("copied", 0.01, 0.05, _CHOSEN),
    ),
)
INTERNAL = _rule(
    "internal",
    (
        ("named", 0.2, None, _SINGLED_OUT),
        ("best-guess", 1 / 3, None, _PRECEDENTS),
        ("re-identified", 0.2, None, _CHOSEN),
        ("remembered", 0.2, None, _CHOSEN),
        ("copied", 0.05, None, _CHOSEN),
    ),
)
HDX = _rule(
    "hdx",
    (("direct-identifiers", 0.0, None, _DIRECT), ("best-guess", 0.03, None, _HUMANITARIAN)),
    complete=True,
    excludes=_IDENTIFYING,
)
EMA = _rule(
    "ema",
    (("direct-identifiers", 0.0, None, _DIRECT), ("highest-risk", 0.09, None, _CLINICAL)),
    complete=True,
    excludes=_IDENTIFYING,
)
OUTPUTS = ReleasePolicy(
    name="outputs",
    excludes=_NOT_COVERED,
    complete=True,
    conditions=(
        PolicyCondition(measure="newly-certain", at_most=0, source=_CERTAIN),
        PolicyCondition(measure="recovered-counts", at_most=0, source=_CERTAIN),
        PolicyCondition(measure="small-counts", at_most=0, source=_THRESHOLD),
        PolicyCondition(measure="few-degrees", at_most=0, where_measured=True, source=_FREEDOM),
    ),
)
"""The rule for what leaves a research environment: nothing becomes certain that was not."""
_OF_OUTPUTS: tuple[Measure, ...] = (
    *("below-threshold", "empty-counts", "one-class", "dominated", "estimable"),
)
ACRO = ReleasePolicy(
    name="acro",
    excludes=_NOT_COVERED,
    complete=True,
    conditions=(
        *OUTPUTS.conditions,
        *(PolicyCondition(measure=measure, at_most=0, source=_ACRO) for measure in _OF_OUTPUTS),
    ),
)
"""The same, with what ACRO asks of the records behind an output by default."""
ONS = ReleasePolicy(
    name="ons",
    excludes=_NOT_COVERED,
    complete=True,
    conditions=(
        *OUTPUTS.conditions[:2],
        PolicyCondition(measure="small-counts", at_most=0, source=_NATIONAL),
        PolicyCondition(
            measure="below-threshold", at_most=0, where_measured=True, source=_NATIONAL
        ),
    ),
)
"""What the Office for National Statistics of the United Kingdom asks of counts."""
POLICIES = {
    policy.name: policy
    for policy in (OPEN_DATA, RESEARCH_FILE, INTERNAL, HDX, EMA, OUTPUTS, ACRO, ONS)
}
"""The rules that come with the house: a file for everybody, one for researchers under contract, one for colleagues;
those of three offices; and one for what leaves a research environment."""
OF_SYNTHETIC: tuple[Measure, ...] = ("remembered", "copied")
"""The measures of a synthetic release, whose records are nobody's: others of records are not asked of it."""
BY_RECORDS: tuple[Measure, ...] = ("some-records", "any-records")
"""The measures of whom some, or any, of their records give away."""
TITLES = {
    "open-data": marked("open data"),
    "research-file": marked("research file"),
    "internal": marked("internal use"),
    "hdx": marked("humanitarian data (HDX)"),
    "ema": marked("clinical reports (EMA)"),
    "outputs": marked("outputs"),
    "acro": marked("outputs, with the defaults of ACRO"),
    "ons": marked("outputs, as the Office for National Statistics asks"),
}
"""What they are called in sentences."""
NOT_FOR_EVERYBODY = ("research-file", "internal")
"""The rules for people inside the house or under contract: what meets them may not be published."""
_IDENTIFYING_ALONE = marked("this rule judges who can be identified, and not what can be inferred")
CAVEATS = {
    "research-file": marked("this rule is for researchers under contract, not for everybody"),
    "internal": marked("this rule is for colleagues inside the house, not for everybody"),
    "hdx": _IDENTIFYING_ALONE,
    "ema": _IDENTIFYING_ALONE,
}
"""What is said with a verdict that is met: for whom a rule is, and what it does not judge."""


def promised(policy: ReleasePolicy) -> dict[str, float]:
    """Return what to promise of naming for the conditions of a policy to hold; nothing: there are none.

    A class has at least so many people if nobody's risk is above what lies between one in so many and one in one less.

    >>> promised(POLICIES["open-data"])
    {'highest_risk': 0.09545, 'average_risk': 0.05}
    >>> promised(POLICIES["research-file"])
    {'average_risk': 0.2}
    """
    size, highest, average = 1, Fraction(1), Fraction(1)
    for condition in policy.conditions:
        if condition.records is not None:  # which a release of one record each has no measure of
            continue
        if condition.measure == "smallest-class":
            size = max(size, int(condition.limit))
        elif condition.measure == "named" and condition.limit == 0:
            size = max(size, 2)
        elif condition.measure == "highest-risk":
            highest = min(highest, condition.limit)
        elif condition.measure == "best-guess":
            average = min(average, condition.limit)
    if size > 1:
        highest = min(
            highest, Fraction(f"{float(Fraction(1, size) + Fraction(1, size - 1)) / 2:.4g}")
        )
    risks = {"highest_risk": highest, "average_risk": average}
    return {name: float(risk) for name, risk in risks.items() if risk < 1}


def promise_of(policy: ReleasePolicy) -> dict[str, Any]:
    """Return what `anonymise` is to promise for a policy: the very policy where it is built in, else as `promised`.

    >>> promise_of(POLICIES["research-file"])
    {'method': 'policy'}
    """
    return {"method": "policy"} if POLICIES.get(policy.name) == policy else dict(promised(policy))


def policy_called(name: str) -> ReleasePolicy:
    """Return one of the `POLICIES`.

    Raises:
        ContradictionError: There is none of that name.
    """
    if name in POLICIES:
        return POLICIES[name]
    near = near_names(name, POLICIES)
    if near:
        raise ContradictionError(
            'there is no rule "{name}"; did you mean {near}?', name=name, near=quoted(near)
        )
    raise ContradictionError(
        'there is no rule "{name}"; they are {known}, or a file that ends in .toml',
        name=name,
        known=quoted(POLICIES),
    )


def _of_its_name(written: object) -> object:
    return policy_called(written) if isinstance(written, str) else written


def _by_its_name(policy: ReleasePolicy) -> str | dict[str, Any]:
    for name, rule in POLICIES.items():
        if policy == rule:
            return name
    return policy.model_dump(mode="json", exclude_none=True, exclude_defaults=True)


PolicyEntry = Annotated[ReleasePolicy, BeforeValidator(_of_its_name), PlainSerializer(_by_its_name)]
"""A policy as a study has it: by the name of one of the `POLICIES`, or written out."""
