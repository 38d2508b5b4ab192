"""The words of the field: one table, from which every report and the pages of the documentation take theirs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from glasshouse.language import marked, translated
from glasshouse.report.page import Term

TERMS = {
    marked("release"): marked("What the publisher lets others see: one dataset, or several."),
    marked("record"): marked("One row of the release; here, what it says about one person."),
    marked("attribute"): marked(
        "One column of the release: a property of every person, such as age, municipality or income."
    ),
    marked("direct identifier"): marked(
        "A column that identifies or reaches a person by itself, such as a name, a taxpayer's number or a "
        "telephone number. It belongs in no release."
    ),
    marked("pseudonym"): marked(
        "A random code in the place of an identifier. It identifies nobody, but it joins all records of a "
        "person."
    ),
    marked("quasi-identifier"): marked(
        "A column that does not identify a person by itself but that others can know about them, such as "
        "age, school or municipality. Several together often single a person out."
    ),
    marked("sensitive attribute"): marked(
        "What a person would not want to be learned from the release, such as an illness, a disability or an income."
    ),
    marked("class"): marked(
        "All records that are alike on the quasi-identifiers (an equivalence class). Someone alone in a class is "
        "unique."
    ),
    marked("population"): marked(
        "All people whom the release may be about. A sample holds only some of them."
    ),
    marked("sampling fraction"): marked("The share of the population that is in the release."),
    marked("register"): marked(
        "A list of the people of a population with some facts about them, such as a voters' roll: what an "
        "adversary may have besides the release."
    ),
    marked("longitudinal collection"): marked(
        "Several releases about the same people, such as one a year. What changes in a person's life from one to the "
        "next singles them out."
    ),
    marked("synthetic data"): marked(
        "Records made by a program in the shape of real ones. None of them describes a person."
    ),
    marked("adversary"): marked(
        "Anyone who uses the release to learn something about a person that the publisher did not mean to "
        "reveal: a neighbour, a journalist, a company. She is assumed to be rational and to know how the "
        "release was made."
    ),
    marked("target"): marked("The person about whom the adversary wants to learn something."),
    marked("attack"): marked(
        "What the adversary does to learn something: she compares what she knows about a person with the "
        "release, and concludes."
    ),
    marked("re-identification"): marked("Finding out which record is that of a known person."),
    marked("attribute inference"): marked(
        "Finding out a person's sensitive attribute, with or without knowing which record is theirs."
    ),
    marked("membership"): marked("Whether a person is in the release at all."),
    marked("linkage"): marked(
        "Finding the records of the same person in two datasets, by an identifier or by values that seldom change."
    ),
    marked("differencing"): marked(
        "Subtracting one published figure from another, so that a small group comes to light that neither of them "
        "shows."
    ),
    marked("reconstruction"): marked(
        "Working out single records from published totals: what holds under every allocation of the records that "
        "meets the totals is certain."
    ),
    marked("exploit"): marked(
        "One attempt of the adversary to use what she found against a person, which costs her something and may be "
        "detected and fined."
    ),
    marked("attacker"): marked(
        "Whoever knows that the target's record is in the anonymised table."
    ),
    marked("learner"): marked(
        "Whoever uses the anonymised table to learn about the population and then guesses for a person: what anybody "
        "may learn."
    ),
    marked("prior"): marked(
        "What the adversary knows before the attack, as a probability for each possible secret."
    ),
    marked("posterior"): marked(
        "What the adversary knows after the attack: the prior, corrected by what she observed."
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
    marked("best guess"): marked(
        "The answer that is likeliest to be right, given all that the adversary knows. How often it is right is the "
        "success of one try."
    ),
    marked("certainty"): marked(
        "Probability 1, without any doubt: one record only can be the person's, or all that can be hold the same "
        "value."
    ),
    marked("Shapley value"): marked(
        "The fair share of one column in what all together leak: its contribution averaged over all orders "
        "in which the columns can become known."
    ),
    marked("uniqueness"): marked(
        "Being alone in one's class: nobody else has the same values of the quasi-identifiers."
    ),
    marked("sample uniqueness"): marked(
        "Being unique among the records of the release. Somebody outside it may have the same values."
    ),
    marked("population uniqueness"): marked(
        "Being unique in the whole population: anyone who knows the quasi-identifiers of such a person finds "
        "the record with certainty."
    ),
    marked("prosecutor risk"): marked(
        "The chance that a record is identified by an adversary who knows that the person is in the release: "
        "1 divided by the size of the class."
    ),
    marked("journalist risk"): marked(
        "The chance that a record is identified by an adversary who has a register of the population but "
        "does not know who is in the release: 1 divided by the number of people of the register who fit."
    ),
    marked("marketer risk"): marked(
        "The share of all records that an adversary identifies correctly if she links every record with "
        "somebody of the register who fits."
    ),
    marked("relative threat"): marked(
        "How many times as sure of the true value the attacker is as the learner: what the table reveals "
        "about the person, beyond the population."
    ),
    marked("value at risk"): marked(
        "The amounts of all transactions, each times the chance that the adversary identifies who is behind "
        "it."
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
        "A release of two tables: one with the quasi-identifiers and one with the sensitive values, linked "
        "by groups only. Nothing is generalised; within a group it is not shown which value is whose."
    ),
    marked("generalisation"): marked(
        "Publishing less detail: a decade instead of an age, a state instead of a city."
    ),
    marked("hierarchy"): marked(
        "How a value is generalised step by step: a municipality becomes a state, a state the whole country."
    ),
    marked("recoding"): marked(
        "Replacing values by generalised ones: alike in all records (global), or only as far as each class needs "
        "(local)."
    ),
    marked("top and bottom coding"): marked(
        "Putting all values above or below a limit into one, such as “90 years or more”."
    ),
    marked("suppression"): marked(
        "Leaving out a record, or everything it says: every column becomes “*”."
    ),
    marked("complementary suppression"): marked(
        "Holding back further figures of a table, so that a suppressed one cannot be worked out from the totals."
    ),
    marked("rounding window"): marked(
        "All sums that a rounded total can stand for: to the nearest thousand, 12,000 may be anything from 11,500 to "
        "12,500."
    ),
    marked("smallest-cell rule"): marked(
        "A count of people below a limit, ten unless another is set, is shown as “fewer than”; a figure from "
        "which it could be worked out is shown as a bound, or not at all."
    ),
    marked("utility"): marked(
        "How well a release still serves those who have an honest question: how near its answers are to those of the "
        "original."
    ),
    marked("loss"): marked(
        "The Loss metric, which a search makes least: for each column the mean share of its domain that a released "
        "value stands for, joined by a geometric mean; 0 where nothing is generalised, 1 where everything is."
    ),
    marked("policy"): marked(
        "The rule that a release is judged by: conditions on measures of risk, each with a limit for everybody and, "
        "where there is one, a limit for restricted access."
    ),
    marked("verdict"): marked(
        "What a policy says about a release: do not publish it as it is; publish it only with changes or "
        "under restricted access; or it meets the rule."
    ),
    marked("margin"): marked(
        "How far a measured value is on the right side of its limit; below 0 it is on the wrong one."
    ),
    marked("restricted access"): marked(
        "Giving a release to known users only, under conditions that bind them."
    ),
    marked("residual risk"): marked(
        "The risk that is left after all protection, and that whoever decides to publish takes on."
    ),
    marked("deterrence"): marked(
        "Making an attack not worth its while for a rational adversary: by price, by penalty, by the chance of "
        "detection or by larger groups."
    ),
    marked("price of access"): marked(
        "What the adversary pays before she can begin, such as for a register."
    ),
    marked("penalty"): marked("What the adversary pays when an attempt is detected."),
    marked("discount"): marked("What something one step later is worth beside the same now."),
    marked("optimal plan"): marked(
        "What earns a rational adversary most: whether to begin, whom to try, and when to stop."
    ),
}
"""What each word means, in one or two sentences: of data, attacks, measures, protection, decisions and economics."""


def glossary(
    *names: str | bool, terms: Iterable[Mapping[str, str] | bool] = (), **words: object
) -> tuple[Term, ...]:
    """Return the words of a report with their meanings: its own ones, then those of the field by the alphabet.

    Args:
        names: Words of the field, several of them with commas between; False: they do not occur.
        terms: Its own words with their meanings, all `marked`; False: they do not occur.
        words: What is filled in for the parts of its own meanings.

    >>> [term.name for term in glossary("record, class", "target", terms=[{"Fit": "To be like someone."}, False])]
    ['Fit', 'class', 'record', 'target']
    """
    own_terms = [
        Term(translated(name), translated(meaning, **words))
        for group in terms
        if isinstance(group, Mapping)
        for name, meaning in group.items()
    ]
    of_the_field = [
        Term(translated(name), translated(TERMS[name]))
        for name in ", ".join(name for name in names if isinstance(name, str)).split(", ")
    ]
    return (*own_terms, *sorted(of_the_field, key=lambda term: term.name.casefold()))
