"""What a record stands for, in the singular and the plural of the language that is spoken.

The subject of a study is the user's own word. The common ones are known in every language; of others the plural is
made by the rules of the language, and the word is left as it is.
"""

from __future__ import annotations

from glasshouse.language import marked_for, number, spoken, translated_for

_KNOWN = {
    one: (one, many)
    for one, many in (
        marked_for("person", "people"),
        marked_for("student", "students"),
        marked_for("pupil", "pupils"),
        marked_for("teacher", "teachers"),
        marked_for("patient", "patients"),
        marked_for("child", "children"),
        marked_for("man", "men"),
        marked_for("woman", "women"),
        marked_for("worker", "workers"),
        marked_for("employee", "employees"),
        marked_for("citizen", "citizens"),
        marked_for("voter", "voters"),
        marked_for("customer", "customers"),
        marked_for("household", "households"),
        marked_for("company", "companies"),
        marked_for("importer", "importers"),
        marked_for("record", "records"),
        marked_for("transaction", "transactions"),
        marked_for("dataset", "datasets"),
        marked_for("part", "parts"),
        marked_for("state", "states"),
        marked_for("city", "cities"),
        marked_for("municipality", "municipalities"),
        marked_for("region", "regions"),
        marked_for("year", "years"),
    )
}
_A, _AN = ("uni", "use", "eu", "one"), ("hour", "heir", "honest", "honour")
"""How words begin whose article is not the one of their first letter."""


def singular(noun: str) -> str:
    """Return a noun in the language that is spoken, if it is a common one.

    >>> from glasshouse.language import speaking
    >>> with speaking("pt-BR"):
    ...     singular("student"), singular("aluno")
    ('estudante', 'aluno')
    """
    return translated_for(1, _KNOWN[noun]) if noun in _KNOWN else noun


def indefinite(noun: str) -> str:
    """Return a noun as any one of its kind.

    English has it with its article. The article of Portuguese depends on the gender of the word, which is not known
    of a user's own, so that its sentences are written to do without.

    >>> indefinite("student"), indefinite("employee"), indefinite("hour"), indefinite("user")
    ('a student', 'an employee', 'an hour', 'a user')
    >>> from glasshouse.language import speaking
    >>> with speaking("pt-BR"):
    ...     indefinite("student")
    'estudante'
    """
    if spoken() != "en":
        return singular(noun)
    word = noun.casefold()
    vowel = word.startswith(_AN) or (word[:1] in "aeiou" and not word.startswith(_A))
    return f"{'an' if vowel else 'a'} {noun}"


def plural(noun: str) -> str:
    """Return the plural of a noun.

    >>> plural("person"), plural("student"), plural("company"), plural("box")
    ('people', 'students', 'companies', 'boxes')
    >>> from glasshouse.language import speaking
    >>> with speaking("pt-BR"):
    ...     [plural(noun) for noun in ("person", "aluno", "trabalhador", "homem", "cidadão", "casal", "lei")]
    ['pessoas', 'alunos', 'trabalhadores', 'homens', 'cidadãos', 'casais', 'leis']
    """
    if noun in _KNOWN:
        return translated_for(2, _KNOWN[noun])
    return _portuguese_plural(noun) if spoken() == "pt-BR" else _english_plural(noun)


def counted(count: int, noun: str) -> str:
    """Return a count and its noun.

    >>> counted(1, "person"), counted(2500, "person")
    ('1 person', '2,500 people')
    """
    return f"{number(count)} {singular(noun) if count == 1 else plural(noun)}"


def _english_plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "z", "ch", "sh")) else "s")


def _portuguese_plural(noun: str) -> str:
    """Make a plural by the endings; words in -ão have three plurals, of which the commonest is taken but for people."""
    if noun in ("cidadão", "irmão", "órfão"):
        return noun + "s"
    for ending, many in (("ão", "ões"), ("m", "ns"), ("al", "ais"), ("el", "éis"), ("il", "is")):
        if noun.endswith(ending):
            return noun[: -len(ending)] + many
    return noun + ("es" if noun.endswith(("r", "s", "z")) else "s")
