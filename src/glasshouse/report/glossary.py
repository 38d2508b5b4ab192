"""The words of the field, explained once for every report; the same in both languages as in code and options."""

from __future__ import annotations

from glasshouse.language import marked, translated
from glasshouse.report.page import Term

_TERMS = {
    marked("adversary"): marked(
        "Whoever uses the release to learn something about a person that the publisher did not mean to tell: a "
        "neighbour, a journalist, a company. She is assumed to be rational and to know how the release was made."
    ),
    marked("quasi-identifier"): marked(
        "An attribute that does not name a person by itself but that others can know of them, such as age, school or "
        "municipality. Several together often single a person out."
    ),
    marked("sensitive attribute"): marked(
        "What a person would not want to be learned from the release, such as an illness, a disability or an income."
    ),
    marked("record"): marked("One row of the release; here, what it tells about one person."),
    marked("class"): marked(
        "All records that are alike on the quasi-identifiers. Who is alone in a class is unique."
    ),
    marked("release"): marked("What the publisher lets others see: one dataset, or several."),
    marked("target"): marked("The person about whom the adversary wants to learn something."),
    marked("prior"): marked(
        "What the adversary knows before the attack, as a probability for each possible secret."
    ),
    marked("channel"): marked(
        "The release seen as a machine: how probable each observation is, given each possible secret."
    ),
    marked("hyper"): marked(
        "What the adversary knows after the attack: a distribution over what she may come to believe, one belief for "
        "each possible observation."
    ),
    marked("gain function"): marked(
        "What each action is worth to the adversary, given what is true: for instance 1 for a right guess and 0 for a "
        "wrong one."
    ),
    marked("vulnerability"): marked(
        "What the adversary can expect to gain if she acts as well as she can. With one guess it is the probability "
        "that the guess is right. Prior: before the attack. Posterior: after it."
    ),
    marked("leakage"): marked(
        "How much the attack adds to the vulnerability: the difference (additive) or the ratio (multiplicative)."
    ),
    marked("capacity"): marked(
        "The most that a release can leak, whatever the adversary believed before and whatever she wants."
    ),
    marked("re-identification"): marked("Finding out which record is that of a known person."),
    marked("attribute inference"): marked(
        "Finding out a person's sensitive attribute, with or without knowing which record is theirs."
    ),
    marked("membership"): marked("Whether a person is in the release at all."),
    marked("Shapley value"): marked(
        "The fair share of one attribute in what all together leak: its contribution averaged over all orders in which "
        "the attributes can become known."
    ),
    marked("k-anonymity"): marked(
        "A release in which each record is alike, on the quasi-identifiers, with at least k − 1 others."
    ),
    marked("l-diversity"): marked(
        "A release in which each class has at least l different sensitive values, none too frequent."
    ),
    marked("t-closeness"): marked(
        "A release in which the sensitive values of each class are distributed nearly as in the whole release: no "
        "farther apart than t."
    ),
    marked("Anatomy"): marked(
        "A release of two tables: one with the quasi-identifiers and one with the sensitive values, linked by groups "
        "only. Nothing is generalised; within a group it is not told which value is whose."
    ),
    marked("suppression"): marked(
        "Leaving a record out, or all that it tells: every attribute becomes “*”."
    ),
    marked("generalisation"): marked(
        "Publishing less detail: a decade instead of an age, a state instead of a city."
    ),
    marked("attacker"): marked(
        "Whoever knows that the target's record is in the anonymised table."
    ),
    marked("learner"): marked(
        "Whoever uses the anonymised table to learn about the population and then guesses for a person: what anybody "
        "may learn."
    ),
    marked("relative threat"): marked(
        "How many times surer of the true value the attacker is than the learner: what the table tells about the "
        "person, beyond the population."
    ),
    marked("value at risk"): marked(
        "The amounts of all transactions, each times the chance that the adversary names who is behind it."
    ),
    marked("exploit"): marked(
        "One attempt of the adversary to use what she found against a person, which costs her something and may be "
        "detected and fined."
    ),
}


def glossary(*names: str) -> tuple[Term, ...]:
    """Return words of the field with their meanings, in the order of the alphabet of the language that is spoken.

    >>> [term.name for term in glossary("record", "class")]
    ['class', 'record']
    """
    terms = [Term(translated(name), translated(_TERMS[name])) for name in names]
    return tuple(sorted(terms, key=lambda term: term.name.casefold()))


def known_terms() -> tuple[str, ...]:
    """Return every word that is explained."""
    return tuple(_TERMS)
