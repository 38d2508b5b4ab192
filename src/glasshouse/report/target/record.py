"""What is said of one person where each record is somebody's: who may be meant, as far as a reader may be told.

`person` says what differs where people have several records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from glasshouse.language import marked, number, text, text_for, translated
from glasshouse.microdata.individual import Belief, Target, TargetSecret
from glasshouse.report.assess.front import less_detail
from glasshouse.report.discretion import (
    EXACTLY,
    Among,
    Discretion,
    Told,
    ToldChange,
    change_told,
    one_of_few,
)
from glasshouse.report.page import Action, Finding, Severity, Tile, reassurance
from glasshouse.report.provenance import missing_notes
from glasshouse.report.severity import graded
from glasshouse.report.target.journalist import JournalistTold, one_of_two
from glasshouse.report.words import counted, enumeration, sentences
from glasshouse.study.target import TargetStudy

CANDIDATES = marked(
    "Every record that does not contradict what is known is a candidate, each as likely as the other unless the study "
    "gives weights; one that holds nothing but “*” of it only where no other fits."
)
ADVERSARY = marked(
    "The adversary knows the whole release and, of one person, {known}. What she knows is taken to be right."
)
IN_RELEASE = marked("She knows that the person is in the release.")
MAY_BE_IN_RELEASE = marked(
    "What is said about the record and the secrets is for an adversary who knows that the person is in "
    "the release. One who does not know it has a finding and a section of her own."
)


@dataclass(frozen=True)
class TargetTold:
    """The attack on one person, as a reader may be told of it; and the words for it."""

    target: Target
    """What came out; for a report, the same for all that looks the same there (`as_told`)."""
    subject: str
    """What a record stands for."""
    discretion: Discretion
    """Whether values and small numbers of people are told: for the analyst's own eyes, never for a report."""

    limits = CANDIDATES
    """Who is a candidate."""
    fitting = marked("The records that fit everything that is known.")
    """The same in the glossary."""
    suppression = marked("This holds unless the record is one of those that are suppressed.")
    """What must hold where there are suppressed records."""
    known_before = ""
    """What is said of a secret that is the same for everybody; nothing: as of any."""

    # What may be told

    def _among(self, records: int, candidates: int) -> tuple[Among, Among]:
        """Return how chances are told among all records, and among those that fit."""
        among = self.discretion.among
        all_fit = candidates == records
        return among(records, all_of_them=True), among(candidates, all_of_them=all_fit)

    def among(self, secret: TargetSecret) -> tuple[Among, Among]:
        """Return how chances at a secret are told, before and after: without the records in which it is missing."""
        target = self.target
        return self._among(
            target.records - secret.missing, target.candidates - secret.missing_candidates
        )

    def guess(self, secret: TargetSecret) -> ToldChange:
        """Return how often the best guess at a secret is right."""
        return self._guesses[secret.secret]

    @cached_property
    def _guesses(self) -> dict[tuple[str, ...], ToldChange]:
        """How often the best guess at each secret is right."""
        return {
            secret.secret: change_told(secret.guess, *self.among(secret))
            for secret in self.target.secrets
        }

    @property
    def candidates(self) -> Among:
        """How chances among the candidates are told."""
        return self._among(self.target.records, self.target.candidates)[1]

    @property
    def is_rough(self) -> bool:
        """Whether the candidates are so few that their number is not told."""
        return self.candidates.people is None

    @cached_property
    def naming(self) -> ToldChange:
        """How often a guess at the record is right."""
        exact = change_told(self.target.naming, EXACTLY, EXACTLY)
        return exact.between(self._hidden_prior(), self._hidden_naming())

    def _hidden_prior(self) -> Told | None:
        """Return what is told of a guess without what is known, where not its chance is."""
        return None

    def _hidden_naming(self) -> Told | None:
        """Return the bound of a guess at the record that is told where its chance would tell how few records fit.

        The likeliest of n candidates is the person's with a probability of at least 1/n. Certainty is told.
        """
        few = self.is_rough and self.target.naming.posterior < 1
        return one_of_few() if few else None

    @property
    def journalist(self) -> JournalistTold | None:
        """What it comes to for somebody who does not know that the person is in the release, where that was asked."""
        target = self.target
        if target.journalist is None:
            return None
        return JournalistTold(target.journalist, target.records, target.candidates, self.discretion)

    def as_told(self) -> Self:
        """Return an outcome that is the same for all that looks the same in a report, so that no sentence tells more.

        Of few candidates it is told whether they are one, and of a secret between which bounds the best guess is.
        """
        target, journalist = self._everybody_as_told(), self.journalist
        target = replace(target, secrets=tuple(map(self._secret_as_told, target.secrets)))
        if self.is_rough and target.candidates:
            target = replace(
                target,
                candidates=1 if target.candidates == 1 else 2,
                naming=one_of_two(target.naming),
                secrets=tuple(replace(secret, missing_candidates=0) for secret in target.secrets),
                journalist=None if journalist is None else journalist.as_told(),
            )
        return replace(self, target=target)

    def _everybody_as_told(self) -> Target:
        """Return the outcome without what all records would tell; how many they are is no secret."""
        return self.target

    def _secret_as_told(self, secret: TargetSecret) -> TargetSecret:
        _, among = self.among(secret)
        if among.told(secret.guess.posterior).is_exact:
            return secret
        return replace(secret, values=tuple(_beliefs_as_told(secret, among)))

    # Words

    @property
    def noun(self) -> str:
        """What is counted."""
        return "record"

    @property
    def known(self) -> str:
        """Of which columns something is known; ``@D2`` is whether the person is in dataset D2 at all."""
        return enumeration(
            [
                text("being in {dataset}", dataset=name[1:]) if name.startswith("@") else name
                for name in self.target.known
            ]
        )

    @property
    def how_little(self) -> str:
        """How many facts are known."""
        return text_for(len(self.target.known), "{count} fact", "{count} facts")

    @property
    def everybody(self) -> str:
        """Of how many records some fit."""
        return counted(self.target.records, "record")

    def secret_words(self, secret: TargetSecret) -> str:
        """Say what a secret is."""
        return enumeration(secret.secret)

    @property
    def unlearned(self) -> tuple[list[str], list[str]]:
        """The secrets that are missing in every record that fits, and those of another record that nobody has."""
        return list(self.target.unlearned), []

    def caveats(self, *, unsure: bool = True) -> tuple[str, ...]:
        """Say what must hold: that the person is in the release, and that their record is not suppressed."""
        journalist = self.target.journalist
        outside = journalist is not None and journalist.presence.posterior < 1
        return sentences(
            unsure and outside and marked("This holds if this person is in the release."),
            bool(self.target.suppressed) and self.suppression,
        )

    def with_caveats(self, sentence: str) -> str:
        """Add to a sentence what must hold."""
        return " ".join((sentence, *self.caveats()))

    def suppressed(self) -> str:
        """Say how many records may be meant although what is known of them is suppressed."""
        return text_for(
            self.target.suppressed,
            "{count} further record is suppressed, with nothing but “*” of what is known: it may be this person's.",
            "{count} further records are suppressed, with nothing but “*” of what is known: one of them may be this "
            "person's.",
        )

    def less_detail(self) -> str:
        """Say what makes more records fit."""
        return text(
            "Publish {known} in less detail, so that more people look like this one.",
            known=self.known,
        )

    def actions(self, findings: Sequence[Finding], question: TargetStudy) -> tuple[Action, ...]:
        """Return what could be done, with the command that shows what comes of it."""
        target = self.target
        return less_detail(
            findings, self.less_detail(), question, records=target.records, known=target.known
        )

    # Who may be meant

    def finding(self) -> Finding:
        """Say how many records may be the person's, graded by how likely a guess at it is right."""
        target, naming = self.target, self.naming
        after, before = naming.words
        sentence = translated(
            self._template(),
            known=self.known,
            records=counted(target.records, "record"),
            people=self.everybody,
            few=self.discretion.people(target.records, self.subject),
            candidates=self.discretion.count(target.candidates),
            after=after,
            before=before,
        )
        if not target.candidates:
            return reassurance(sentence, meaning=text("This holds if what is known is right."))
        severity = graded(target.naming.posterior)
        nothing = target.candidates == target.records > 1 and not target.naming.additive
        exposed = severity != Severity.LOW and not nothing
        return Finding(
            Severity.SAFE if nothing and severity == Severity.LOW else severity,
            self.with_caveats(sentence[:1].upper() + sentence[1:]),
            naming.figure,
            self._means(),
            self.less_detail() if exposed else "",
        )

    def _template(self) -> str:
        if not self.target.candidates:
            return marked(
                "None of the {records} fits what is known ({known}): this person is not in the release."
            )
        if self.target.records == 1:
            return marked(
                "The release holds a single record, and it fits what is known ({known}): it is this person's."
            )
        if self.target.candidates == 1:
            return marked(
                "What is known ({known}) fits only one of the {records}: this person is found with certainty."
            )
        if self.target.candidates == self.target.records:
            return marked(
                "All of the {records} fit what is known ({known}): it rules out nobody, and a guess at the record is "
                "right in {after} of cases, as before."
            )
        return marked(
            "{candidates} of the {records} fit what is known ({known}): a guess at which is this person's is right in "
            "{after} of cases; without what is known, in {before}."
        )

    def _means(self) -> str:
        if self.target.candidates == 1:
            return text("All else that the record holds is then known about this person, too.")
        if self.target.candidates == self.target.records:
            return text(
                "What is known does not tell this person apart from anybody in the release."
            )
        return text(
            "Which of the records that fit is this person's cannot be said; what they have in common is learned "
            "all the same."
        )

    def learned_by_all(self) -> tuple[str, str]:
        """Say what it means that all who fit have the same secret, and what is learned of the others who fit."""
        return (
            text(
                "All records that fit say the same, so that it does not matter which of them is this person's."
            ),
            text("The same is learned about everybody else who fits what is known."),
        )

    # The page

    def lead(self) -> str:
        """Say of how many records it is, and what is known."""
        return text(
            "{records}; what is known about one person: {known}. This report is personal data.",
            records=self.everybody,
            known=self.known,
        )

    def adversary(self) -> tuple[str, ...]:
        """Say what the adversary knows."""
        is_in = IN_RELEASE if self.target.journalist is None else MAY_BE_IN_RELEASE
        return sentences(ADVERSARY, is_in, known=self.known)

    def summary(self) -> str:
        """Return the sentence of the first screen; nothing where what is known rules out nobody."""
        if self.target.candidates == self.target.records:
            return ""
        if not self.target.candidates:
            return marked("No record fits what is known: this person is not in the release.")
        if self.target.candidates == 1:
            return marked("This person can be found: only one of the {records} fits what is known.")
        if self.is_rough:
            return marked("This person can be found among fewer than {smallest} of the {records}.")
        return marked(
            "This person cannot be told apart among the {candidates} of {records} that fit what is known."
        )

    def tile(self) -> Tile:
        """Return whether the person can be found."""
        candidates = self.target.candidates
        few = self.is_rough and candidates > 1
        figure = (self.discretion.figure if few else counted)(candidates, self.noun)
        return Tile(text("Can this person be found?"), figure, self._of_all())

    def _of_all(self) -> str:
        """Say of how many records those are that fit."""
        return text_for(
            self.target.candidates,
            "fits what is known, of {records} in all",
            "fit what is known, of {records} in all",
            records=number(self.target.records),
        )

    def caption(self) -> str:
        """Say what before and after are in a picture."""
        return text(
            "“Before”: shares in the whole release. “After”: shares among the records that fit what is known. "
            "Each is ranked by itself: no. 1 after may be another value than no. 1 before. Which values they are "
            "is not shown."
        )

    def notes(self) -> list[str]:
        """Say in how many records a secret is missing; to the analyst also of how many that fit."""
        missing = {one.sensitive: one.missing for one in self.target.secrets if one.missing}
        exact = self.discretion.exact
        return missing_notes(missing, exact=exact) + [
            text(
                "The {secret} of {records} of those that fit is missing.",
                secret=enumeration(secret.secret),
                records=counted(secret.missing_candidates, "record"),
            )
            for secret in self.target.secrets
            if exact and secret.missing_candidates
        ]

    # The terminal

    def heading(self) -> str:
        """Say how many records there are, and how many of them fit."""
        return text_for(
            self.target.candidates,
            "{datasets}: {records}, of which {count} fits what is known",
            "{datasets}: {records}, of which {count} fit what is known",
            datasets=", ".join(self.target.datasets),
            records=self.everybody,
        )


def _beliefs_as_told(secret: TargetSecret, among: Among) -> Iterator[Belief]:
    """Yield the values with chances that say no more than how a guess at the likeliest is told."""
    likeliest = among.drawn(secret.guess.posterior)
    rest = (1 - likeliest) / (len(secret.values) - 1)
    for rank, prior in enumerate(sorted((belief.prior for belief in secret.values), reverse=True)):
        yield Belief(str(rank), prior, rest if rank else likeliest)
