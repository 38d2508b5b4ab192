"""Whom a release is assessed against, as a part of a study: what she knows, wants, believes and earns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, StrictBool, StrictFloat, StrictInt, model_validator

from glasshouse.language import text
from glasshouse.study.base import Model

Worth = Annotated[StrictFloat, Field(allow_inf_nan=False)]
Probability = Annotated[StrictFloat, Field(ge=0, le=1, allow_inf_nan=False)]


class Gain(Model):
    """What a guess is worth to the adversary, beside the plain chance of a right one."""

    tries: StrictInt | None = Field(default=None, ge=1)
    """She may guess so many values, and wins if one of them is right."""
    worth: dict[str, dict[str, Worth]] = Field(default_factory=dict)
    """Per sensitive attribute, what naming each value right is worth; ``*`` stands for all others."""
    matrix: dict[str, Path] = Field(default_factory=dict)
    """Per secret (joint ones as ``a+b``), a file with what each action earns for each value."""
    abstain: StrictBool = False
    """Whether she may also do nothing, for nothing, where a matrix says what actions earn."""
    record_worth: str | None = None
    """The column that says what naming each person is worth."""
    currency: str | None = Field(default=None, min_length=1)
    """What gains are counted in, where they are money: printed before each."""

    @model_validator(mode="after")
    def _one_per_secret(self) -> Self:
        if self.tries is not None and (self.worth or self.matrix or self.record_worth):
            raise ValueError(text("give the adversary tries or worth, not both"))
        for name in self.worth:
            if name in self.matrix:
                raise ValueError(
                    text('"{name}" has a worth and a gain matrix; give one of them', name=name)
                )
        counted = self.tries or self.worth or self.matrix or self.record_worth
        if self.currency is not None and not counted:
            raise ValueError(
                text("a currency needs something that is worth money: a worth or a gain")
            )
        if self.abstain and not self.matrix:
            raise ValueError(
                text("abstaining needs a gain matrix: without losses she loses nothing")
            )
        return self


Secret = str | tuple[str, ...]
"""A sensitive attribute, or several that are inferred together."""


class Adversary(Model):
    """What the adversary knows, wants, and believes beforehand."""

    quasi_identifiers: tuple[str, ...] = ()
    """The attributes that she can know of a person from elsewhere."""
    facts: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Attributes that she knows together or not at all, such as a birth date in three columns, under one name."""
    sensitive: tuple[Secret, ...] = ()
    """The attributes that she wants to infer; an inner list is inferred jointly."""
    identifier: str | None = None
    """The column that names a person, if there is one. It is never used to tell records apart."""
    weight: str | None = None
    """The column of record weights that shapes her prior; unset: every record is as likely."""
    prior: dict[str, dict[str, Probability]] = Field(default_factory=dict)
    """Per secret (joint ones as ``a+b``), how probable she holds each value; ``*``: all others, alike. Unset: as
    frequent as it is in the release."""
    gain: Gain = Gain()
    """What guesses are worth to her."""

    @property
    def knowable(self) -> tuple[str, ...]:
        """All that she can know of a person: the quasi-identifiers, then the facts."""
        return (*self.quasi_identifiers, *self.facts)

    @model_validator(mode="after")
    def _each_column_has_one_role(self) -> Self:
        if not self.knowable:
            raise ValueError(text("name at least one of the quasi_identifiers, or a fact"))
        for fact, columns in self.facts.items():
            if not fact or not columns or not all(columns):
                raise ValueError(
                    text('fact "{fact}" needs a name and at least one column', fact=fact)
                )
            if fact in self.quasi_identifiers:
                raise ValueError(
                    text(
                        '"{fact}" is a quasi-identifier and also a fact; rename the fact', fact=fact
                    )
                )
        roles: dict[str, str] = {}
        secrets = dict.fromkeys(name for secret in self.sensitive for name in attributes(secret))
        others = [(name, text("the identifier")) for name in (self.identifier,) if name is not None]
        others += [(name, text("the weight")) for name in (self.weight,) if name is not None]
        for name, role in (
            *((name, text("a quasi-identifier")) for name in self.quasi_identifiers),
            *((name, text("a quasi-identifier")) for part in self.facts.values() for name in part),
            *((name, text("sensitive")) for name in secrets),
            *others,
        ):
            if name in roles:
                if roles[name] == role:
                    raise ValueError(
                        text(
                            'column "{name}" is given twice; name each quasi-identifier once',
                            name=name,
                        )
                    )
                raise ValueError(
                    text(
                        'column "{name}" is {role} and also {other}; choose one',
                        name=name,
                        role=roles[name],
                        other=role,
                    )
                )
            roles[name] = role
        together = [attributes(secret) for secret in self.sensitive]
        for names in together:
            if not names or not all(names) or len(set(names)) < len(names):
                raise ValueError(
                    text("a secret needs at least one sensitive attribute, and each once")
                )
        if len({frozenset(names) for names in together}) < len(together):
            raise ValueError(text("a sensitive attribute is given twice"))
        said = {"+".join(names) for names in together}
        for what, given in (
            (text("worth"), self.gain.worth),
            (text("a gain matrix"), self.gain.matrix),
            (text("a prior"), self.prior),
        ):
            for name in given:
                if name not in said:
                    raise ValueError(
                        text(
                            '{what} is given for "{name}", which is no secret of hers',
                            what=what,
                            name=name,
                        )
                    )
        return self


def attributes(secret: Secret) -> tuple[str, ...]:
    """Return the columns of a secret, be it one attribute or several.

    >>> attributes("income"), attributes(("income", "religion"))
    (('income',), ('income', 'religion'))
    """
    return (secret,) if isinstance(secret, str) else secret
