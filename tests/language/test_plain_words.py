"""Messages are said as a native would say them: no habit that a reader stumbled over, and one word for each thing."""

from __future__ import annotations

import re

import pytest

from tests.language.test_catalogue import pairs

ENGLISH = {
    "what is shown is not told": r"\b(is|are|be|was|were) (not )?told\b(?! apart)|\b(tells?|told) of\b|"
    r"\btells? (less|more|nothing|everything|how|what|where|which|whose|all|exactly|most)\b",
    "what is known is known about somebody": r"\b(knows?|known|knew|learns?|learned|believes?|nothing|anything) of "
    r"(an? (?!(column|word)\b)|the |one |this |these |them\b|her\b|people|somebody|anybody|\{)",
    "somebody who knows has a name or is someone": r"(^|[.;:] )[Ww]ho (knows|has|goes|looks|does|uses) [^?]*"
    r"\b(may|can|never|learns|might)\b",
    "what is not a number is not “no number”": r"(?<!here )\b(is|are) no (?!longer|more|better|worse|surer|such|other|"
    r"single|greater|one)[a-z]",
    "so many is that many": r"\bso many (?!standard|sizes|allocations)[a-z]+s\b",
    "people are identified": r"\b(can|could|be|been|is|are) named\b(?! \")|\bnames? (people|a person|anybody|nobody|"
    r"somebody|everybody)\b",
    "a guess is right or correct about something": r"\bright guesses of\b|\bguesses of\b",
    "a rule is a rule": r"(?<![`\w-])polic(y|ies)(?![`\w:])",
    "tables have columns": r"\battributes? (known|that she knows|of a person|add)\b|\b([Ll]eave|[Ll]eaving) out "
    r"(one |any one |an )?attributes?\b",
}
"""What a habit is called, and what shows it (a regular expression)."""
PORTUGUESE = {
    "what is known is known of somebody": r"\bconhecem?\b[^.]* de cada (pessoa|\{)",
    "a guess is a tentativa": r"\bpalpites?\b",
    "one may identify one person": r"\bidentificam-se\b",
    "a rule is a regra": r"\bpol[íi]ticas?\b(?! (de|0070))",
}
ALLOWED = (
    "free text, which may name anybody",  # it holds names
    "places that can be named",  # places, not people
    "What a policy says",  # the glossary, where the word of the option is explained
    "EMA/90915/2016 (Policy",  # its title
    "O que uma política diz",  # the glossary
    "no legal advice",  # a form, as the law says it
    "no personal data",  # the words of the law
    "nothing is said of it",  # a form
)
"""Messages in which such words are meant."""


def habitual(said: list[str], habit: str) -> list[str]:
    """Return what shows a habit, but for what is allowed."""
    return [
        one
        for one in said
        if one not in ("policy", "política")  # the word of the glossary
        and re.search(habit, one, re.MULTILINE)
        and not any(words in one for words in ALLOWED)
    ]


@pytest.mark.parametrize("habit", ENGLISH)
def test_no_english_message_has_a_habit_that_readers_stumbled_over(habit: str) -> None:
    assert habitual([english for english, _ in pairs()], ENGLISH[habit]) == []


@pytest.mark.parametrize("habit", PORTUGUESE)
def test_no_portuguese_message_has_a_habit_that_readers_stumbled_over(habit: str) -> None:
    assert habitual([foreign for _, foreign in pairs()], PORTUGUESE[habit]) == []


@pytest.mark.parametrize(
    ("said", "habit"),
    [
        ("It is not told.", "what is shown is not told"),
        ("What she knows of a person", "what is known is known about somebody"),
        ("Who knows more may learn more.", "somebody who knows has a name or is someone"),
        ("“x” is no number", "what is not a number is not “no number”"),
        ("people who have so many records", "so many is that many"),
        ("3 people can be named outright", "people are identified"),
        ("right guesses of {secret}", "a guess is right or correct about something"),
        ("Leave out attributes", "tables have columns"),
    ],
)
def test_a_habit_is_noticed(said: str, habit: str) -> None:
    assert habitual([said], ENGLISH[habit]) == [said]


@pytest.mark.parametrize(
    "said",
    ["Who is at risk?", "people cannot be told apart", "it is no longer shown", "there is no run"],
)
def test_what_is_plain_is_left_alone(said: str) -> None:
    assert not [habit for habit, words in ENGLISH.items() if habitual([said], words)]
