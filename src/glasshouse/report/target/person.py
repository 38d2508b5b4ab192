"""What is said of one person where people have several records, some of which are known: people are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from glasshouse.language import marked, number, text, text_for
from glasshouse.microdata.individual import PersonTarget, Target, TargetSecret
from glasshouse.report.attacks import change_the_pseudonym
from glasshouse.report.discretion import COARSELY, Among, Discretion, Told, one_of_few
from glasshouse.report.page import Action, Finding, remedies
from glasshouse.report.target.record import TargetTold
from glasshouse.report.words import counted, enumeration, joined, sentences
from glasshouse.study.assess import parse_person_secret
from glasshouse.study.target import TargetStudy

ADVERSARY = (
    marked(
        "The adversary knows the whole release and that the person is in it. Of the person she happens to know "
        "{known}. What she knows is taken to be right."
    ),
    marked(
        "Which of the person's records she knows is chance, each choice of that many equally likely; before, "
        "everybody who has that many records is equally likely to be the person."
    ),
    marked("The release shows which records belong to the same person, under a pseudonym."),
)
CANDIDATES = marked(
    "A candidate is anybody who has as many different records as are known, none of which contradicts "
    "what is known about it. A candidate is the likelier the more of all choices of that many of their "
    "records would fit."
)
FITTING = {
    "only one": marked(
        "Nobody else has that many records, and they fit what is known ({known}): this person is found with "
        "certainty."
    ),
    "one": marked(
        "Of the {people}, only one has records that fit what is known ({known}): this person is found with certainty."
    ),
    "one of few": marked(
        "{few} have that many records, and those of only one fit what is known ({known}): this person is "
        "found with certainty."
    ),
    "some of few": marked(
        "{few} have that many records, and those of several fit what is known ({known}): a guess at which of "
        "them is this person is right in {after} of cases."
    ),
    "all alike": marked(
        "All of the {people} have records that fit what is known ({known}): it rules out nobody, and a guess at which "
        "of them is this person is right in {after} of cases, as before."
    ),
    "all": marked(
        "All of the {people} have records that fit what is known ({known}): it rules out nobody, but makes some of "
        "them likelier. A guess at which of them is this person is right in {after} of cases; without what is known, "
        "in {before}."
    ),
    "some": marked(
        "{candidates} of the {people} have records that fit what is known ({known}): a guess at which of them is this "
        "person is right in {after} of cases; without what is known, in {before}."
    ),
}
"""How many people may be meant."""


def target_told(target: Target, subject: str, *, exact: bool = False) -> TargetTold:
    """Return an attack on one person as a reader may be told of it.

    Args:
        target: What came out.
        subject: What a record stands for.
        exact: Whether values and small numbers of people are told: for the analyst's own eyes, never for a report.
    """
    discretion = Discretion(exact)
    if isinstance(target, PersonTarget):
        exactly: TargetTold = PersonTold(target, subject, discretion)
    else:
        exactly = TargetTold(target, subject, discretion)
    return exactly if exact else exactly.as_told()


@dataclass(frozen=True)
class PersonTold(TargetTold):
    """The attack on one of people with several records, as a reader may be told of it; and the words for it."""

    target: PersonTarget

    limits = CANDIDATES
    fitting = marked("The people who have records that fit everything that is known.")
    suppression = marked("This holds unless this person fits only by records that are suppressed.")
    known_before = marked(
        "Nothing is learned about this person's {secret}: it is the same for everybody who has that many "
        "records."
    )

    # What may be told

    def _among(self, records: int, candidates: int) -> tuple[Among, Among]:
        """Return how chances are told among all who have so many records, and among those who fit.

        Those who fit are not equally likely: their chances would tell whose records fit.
        """
        return self.discretion.among(records), self.discretion.among(candidates, coarse=True)

    @property
    def hides_everybody(self) -> bool:
        """Whether so few people have as many records as are known that their number is not told."""
        return self._among(self.target.records, self.target.candidates)[0].people is None

    def _hidden_prior(self) -> Told | None:
        """Return the bound that is told where the chance would tell how few have so many records."""
        return one_of_few() if self.hides_everybody else None

    def _hidden_naming(self) -> Told | None:
        naming = self.target.naming
        if self.is_rough or self.discretion.exact or naming.posterior in (1, naming.prior):
            return super()._hidden_naming()
        return Told.saying(COARSELY.percentage(naming.posterior), COARSELY.drawn(naming.posterior))

    def _everybody_as_told(self) -> PersonTarget:
        """Return the outcome without how many have so many records, where they are few, and whose records fit."""
        target = self.target
        if self.hides_everybody:
            few = self.discretion.stand_in(target.records)
            target = replace(
                target,
                records=few,
                naming=replace(target.naming, prior=Fraction(1, few + 1)),
                secrets=tuple(replace(secret, missing=0) for secret in target.secrets),
            )
        naming = target.naming
        if naming.posterior != naming.prior:
            chance, most = COARSELY.drawn(naming.posterior), COARSELY.bounds(naming.posterior)[1]
            chance = most if chance == naming.prior else chance  # it is not as before
            target = replace(target, naming=replace(naming, posterior=chance))
        return target

    # Words

    @property
    def noun(self) -> str:
        """What is counted."""
        return self.subject

    @property
    def known(self) -> str:
        """Of how many records what is known."""
        return joined(
            [
                text_for(
                    count,
                    "{known} of {count} record",
                    "{known} of {count} records",
                    known=enumeration(columns),
                )
                for columns, count in Counter(self.target.histories.known).items()
            ]
        )

    @property
    def how_little(self) -> str:
        """How many records are known."""
        return counted(len(self.target.histories.known), "record")

    @property
    def everybody(self) -> str:
        """Of how many people with as many records as are known some fit."""
        people = self.discretion.people(self.target.records, self.subject)
        count = len(self.target.histories.known)
        if count == 1:
            return people
        return text("{people} with at least {count} records", people=people, count=count)

    def secret_words(self, secret: TargetSecret) -> str:
        """Say what a secret is: of all records of a person, or of another record than the known ones."""
        asked = parse_person_secret(secret.secret[0])
        if secret.another:
            return text("{column} in another record", column=enumeration([str(asked.column)]))
        return f"“{secret.secret[0]}”" if asked.how else super().secret_words(secret)

    @property
    def unlearned(self) -> tuple[list[str], list[str]]:
        """The secrets that are missing in every record that fits, and those of another record that nobody has."""
        names = self.target.unlearned
        others = [name for name in names if parse_person_secret(name).how == "other"]
        return [name for name in names if name not in others], others

    def suppressed(self) -> str:
        """Say how many people may be meant although what is known of them is suppressed."""
        return text_for(
            self.discretion.stand_in(self.target.suppressed),
            "Besides, {people} fits only by records that are suppressed, with nothing but “*” of what is known: it may "
            "be this person.",
            "Besides, {people} fit only by records that are suppressed, with nothing but “*” of what is known: this "
            "person may be one of them.",
            people=self.discretion.people(self.target.suppressed, self.subject),
        )

    def less_detail(self) -> str:
        """Say what makes more people fit."""
        return change_the_pseudonym()

    def actions(self, findings: Sequence[Finding], question: TargetStudy) -> tuple[Action, ...]:
        """Return what could be done, with no command: none tells what comes of it."""
        return remedies(findings)

    # Who may be meant

    def _template(self) -> str:
        return FITTING[self._case()]

    def _case(self) -> str:
        candidates, records = self.target.candidates, self.target.records
        if self.hides_everybody:
            return "one of few" if candidates == 1 else "some of few"
        if candidates == 1:
            return "only one" if records == 1 else "one"
        if candidates < records:
            return "some"
        return "all" if self.target.naming.additive else "all alike"

    def _means(self) -> str:
        if self.target.candidates == 1:
            return text(
                "Whoever finds the pseudonym has all records of the person, including those that nobody knew about."
            )
        return text(
            "Which of those who fit is this person cannot be said with certainty; the fewer of their records do "
            "not fit, the likelier they are. What they have in common is learned all the same."
        )

    def learned_by_all(self) -> tuple[str, str]:
        """Say what it means that all who fit have the same secret; nothing of the others who fit."""
        same = text(
            "It is the same for everybody who fits, so that it does not matter who of them is this person."
        )
        return same, ""

    # The page

    def lead(self) -> str:
        """Say of how many people it is, and what is known."""
        return text(
            "{people} with {records}; what is known about one of them: {known}. This report is personal data.",
            known=self.known,
            **self._everybody_there(),
        )

    def _everybody_there(self) -> dict[str, str]:
        """Return how many people there are, also of those with fewer records, and how many records."""
        histories = self.target.histories
        return {
            "people": counted(histories.people, self.subject),
            "records": counted(histories.records, "record"),
        }

    def adversary(self) -> tuple[str, ...]:
        """Say what the adversary knows."""
        return sentences(*ADVERSARY, known=self.known)

    def summary(self) -> str:
        """Return the sentence of the first screen."""
        if self.target.candidates == 1:
            return marked(
                "This person can be found: nobody else has records that fit what is known."
            )
        if self.is_rough:
            return marked("This person can be found among fewer than {smallest} {people}.")
        return marked(
            "This person is one of {candidates}, of the {everybody}, whose records fit what is known."
        )

    def _of_all(self) -> str:
        """Say of how many people those are who fit, unless these are few."""
        if self.hides_everybody:
            return text_for(
                self.target.candidates,
                "has records that fit what is known",
                "have records that fit what is known",
            )
        return text_for(
            self.target.candidates,
            "has records that fit what is known, of {everybody} who have that many",
            "have records that fit what is known, of {everybody} who have that many",
            everybody=number(self.target.records),
        )

    def caption(self) -> str:
        """Say what before and after are in a picture."""
        return text(
            "“Before”: of anybody who has that many records. “After”: of this person, whose records fit what is "
            "known. Each is ranked by itself: no. 1 after may be another value than no. 1 before. Which values "
            "they are is not shown."
        )

    def notes(self) -> list[str]:
        """Say of how many people a secret is missing, or who has no other record that tells it."""
        secrets = [secret for secret in self.target.secrets if secret.missing]
        without = max((secret.missing for secret in secrets if secret.another), default=0)
        notes = [
            text(
                "What is said about {secret} leaves out people for whom it is missing, as missing values cannot be "
                "learned: {people}.",
                secret=enumeration(secret.secret),
                people=self.discretion.people(secret.missing, self.subject),
            )
            for secret in secrets
            if not secret.another
        ]
        if without:
            notes.append(
                text(
                    "What is said about another record leaves out people without a record besides the known ones: "
                    "{people}.",
                    people=self.discretion.people(without, self.subject),
                )
            )
        return notes

    # The terminal

    def heading(self) -> str:
        """Say how many people there are, and how many of those with enough records fit."""
        return text_for(
            self.target.candidates,
            "{datasets}: {people} with {records}; of {everybody}, {count} has records that fit what is known",
            "{datasets}: {people} with {records}; of {everybody}, {count} have records that fit what is known",
            datasets=", ".join(self.target.datasets),
            everybody=self.everybody,
            **self._everybody_there(),
        )
