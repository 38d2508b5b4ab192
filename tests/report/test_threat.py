"""The report of an anonymised table: what it tells beyond the population, in both languages, and nobody's value."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from glasshouse import report
from glasshouse.groups import Beliefs, Measures, ThreatOutcome
from glasshouse.groups.estimates import FIGURES, Aggregate, Sampled, Stop, figure_title
from glasshouse.groups.measures import Threat
from glasshouse.language import LANGUAGES, percentage, speaking
from glasshouse.report.archive import in_every_language, to_json
from glasshouse.report.html import to_html
from glasshouse.report.page import Page, Provenance, Severity
from glasshouse.report.threat.findings import (
    _underrated,
    as_fraction,
    likeliest,
    threat_findings,
)
from glasshouse.report.threat.page import (
    MOST_RANKS,
    _summary,
    _tiles,
    guesses,
    measures_section,
    ranked_beliefs,
    sampling_section,
    times_surer,
)
from glasshouse.runs import Resources
from glasshouse.runs.threat import answer
from glasshouse.study import Dataset
from glasshouse.study.threat import ThreatStudy
from tests.cli.test_longitudinal import write
from tests.cli.test_threat import HORIZONTAL, PEOPLE, VERTICAL
from tests.examples import examples
from tests.report.reading import assert_it_says, tries
from tests.report.snapshots import assert_snapshot

PROVENANCE = Provenance("1.2.3", 'command = "threat"\n', ("release.csv",))
VICTIM = ("nat=M", "zip=45501")
SECRETS = ("Heart", "Flu", "Stomach", "HIV", "Diabetes", "45501", "77701", "nat=M")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("people.csv", PEOPLE)


def study(**question: Any) -> ThreatStudy:
    return ThreatStudy(release=Dataset(path=Path("release.json")), **question)


def asked(release: dict[str, Any], **question: Any) -> ThreatOutcome:
    Path("release.json").write_text(json.dumps(release), encoding="utf-8")
    return answer(study(**question), resources=Resources()).outcome


_TABLES: dict[str, ThreatOutcome] = {}
"""What came out of each table, which takes a while to visit in full."""


def of_table(release: dict[str, Any]) -> ThreatOutcome:
    name = release["name"]
    if name not in _TABLES:
        _TABLES[name] = asked(release, original=Dataset(path=Path("people.csv")))
    return _TABLES[name]


def page_of(run: ThreatOutcome) -> Page:
    question = study(known=VICTIM) if run.one_victim else study()
    return report.page_of(run, question, provenance=PROVENANCE)


@pytest.mark.parametrize(("letter", "release"), [("b", HORIZONTAL), ("c", VERTICAL)])
def test_the_victim_of_the_paper_is_told_of_without_a_value(
    letter: str, release: dict[str, Any]
) -> None:
    """Boreale, Corradi and Viscardi 2020, Table I: 7/12 and 2/3 instead of 693/1909."""
    run = asked(release, known=VICTIM)
    assert_snapshot(f"threat-victim-{letter}", lambda: threat_findings(run))


@pytest.mark.parametrize(("letter", "release"), [("b", HORIZONTAL), ("c", VERTICAL)])
def test_the_tables_of_the_paper(letter: str, release: dict[str, Any]) -> None:
    run = of_table(release)
    assert_snapshot(f"threat-table-{letter}", lambda: threat_findings(run))


def test_the_analyst_is_told_the_likeliest_value() -> None:
    run = asked(HORIZONTAL, known=VICTIM)
    assert threat_findings(run, exact=True)[0].sentence == (
        "Someone who knows that this person is in the table believes “Heart” with a probability "
        "of 58.3%; for people like them in the population it is 36.3%: being in the table makes "
        "it 1.61 times as likely."
    )
    with speaking("pt-BR"):
        said = threat_findings(run, exact=True)[0].sentence
    assert "“Heart”" in said
    assert "58,3%" in said


def test_values_that_are_equally_likely_are_told_together() -> None:
    """Either of the two ZIP codes: ½ and ½, whatever the population is like."""
    run = asked(HORIZONTAL, known=("zip=45501..45502",))
    assert_snapshot("threat-victim-tie", lambda: threat_findings(run))
    belief, against = threat_findings(run, exact=True)
    assert belief.sentence.startswith(
        "Someone who knows that this person is in the table finds “Flu” and “Heart” equally "
        "likely, with a probability of 50.0% each;"
    )
    assert "does not reveal which" in belief.sentence
    assert "points at no single disease" in against.sentence
    assert "points at this one" not in against.sentence
    assert belief.severity is Severity.HIGH


def believed(run: ThreatOutcome, **beliefs: Any) -> ThreatOutcome:
    """Return a run with other beliefs about its victim."""
    return replace(run, knowledge=replace(run.knowledge, **beliefs))


def belief_of(*probabilities: float, error: float | None = None) -> Beliefs:
    own = np.array([probabilities])
    return Beliefs(own, None if error is None else np.full(own.shape, error))


@pytest.mark.parametrize(
    ("attacker", "learner", "severity", "said"),
    [
        ((0.6, 0.4), (0.6, 0.4), Severity.SAFE, "would choose the same disease"),
        ((0.6, 0.4), (0.4, 0.6), Severity.MODERATE, "points at this one"),
        ((0.6, 0.4), (0.5, 0.5), Severity.MODERATE, "2 values of disease equally likely"),
        ((0.5, 0.5), (0.5, 0.5), Severity.SAFE, "finds the same 2 equally likely"),
        ((0.5, 0.5), (0.6, 0.4), Severity.SAFE, "would choose one of these"),
        ((0.4, 0.4, 0.2), (0.4, 0.2, 0.4), Severity.SAFE, "one of these, or another"),
        ((0.4, 0.4, 0.2), (0.2, 0.2, 0.6), Severity.MODERATE, "would choose another"),
    ],
)
def test_what_being_in_the_table_points_at(
    attacker: tuple[float, ...], learner: tuple[float, ...], severity: Severity, said: str
) -> None:
    run = asked(VERTICAL, known=VICTIM)
    zeros = (0.0,) * (5 - len(attacker))
    run = believed(run, attacker=belief_of(*attacker, *zeros), learner=belief_of(*learner, *zeros))
    against = threat_findings(run)[1]
    assert against.severity is severity
    assert said in against.sentence
    for code in LANGUAGES:
        with speaking(code):
            assert all(finding.sentence for finding in threat_findings(run, exact=True))


def test_a_difference_within_the_errors_is_not_claimed() -> None:
    run = asked(VERTICAL, known=VICTIM)
    near = believed(
        run,
        attacker=belief_of(0.6, 0.4, 0, 0, 0, error=0.003),
        learner=belief_of(0.3171, 0.3154, 0.2, 0.1, 0.0675, error=0.0033),
    )
    other = believed(near, learner=belief_of(0.3154, 0.3171, 0.2, 0.1, 0.0675, error=0.0033))
    for each in (near, other):
        against = threat_findings(each)[1]
        assert against.severity is Severity.NOTE
        assert "cannot be said" in against.sentence
    apart = believed(near, learner=belief_of(0.2, 0.4, 0.2, 0.1, 0.1, error=0.0033))
    assert "points at this one" in threat_findings(apart)[1].sentence


def test_no_surer_and_not_known_to_be_surer_are_two_things() -> None:
    run = asked(VERTICAL, known=VICTIM)
    same = (0.6, 0.4, 0.0, 0.0, 0.0)
    exact = believed(run, attacker=belief_of(*same), learner=belief_of(*same))
    assert "makes it no more likely" in threat_findings(exact)[0].sentence
    drawn = believed(
        run,
        attacker=belief_of(0.601, 0.399, 0, 0, 0),
        learner=belief_of(*same, error=0.003),
    )
    for named in (False, True):
        finding = threat_findings(drawn, exact=named)[0]
        assert (
            "whether being in the table makes it easier to guess cannot be said" in finding.sentence
        )
        assert finding.severity is Severity.NOTE


def test_the_likeliest_values_are_those_within_the_errors() -> None:
    assert likeliest(belief_of(0.5, 0.5, 0.0)) == [0, 1]
    assert likeliest(belief_of(0.4, 0.6)) == [1]
    assert likeliest(belief_of(0.49, 0.51, error=0.004)) == [1]
    assert likeliest(belief_of(0.49, 0.51, error=0.006)) == [1, 0]


def test_a_report_on_one_victim_holds_no_value_in_any_language() -> None:
    run = asked(HORIZONTAL, known=VICTIM)
    pages = in_every_language(lambda: page_of(run))
    for content in (to_json(pages), *(to_html(page) for page in pages.values())):
        for value in SECRETS:
            assert value not in content, value
    for page in pages.values():
        assert "nat e zip" in page.lead or "nat and zip" in page.lead


def test_beliefs_about_a_victim_are_ranked_each_by_itself() -> None:
    knowledge = asked(HORIZONTAL, known=VICTIM).knowledge
    rows = ranked_beliefs(knowledge, "learner")
    assert [label for label, *_ in rows] == ["no. 1", "no. 2", "no. 3", "no. 4", "no. 5"]
    for column in ([row[1] for row in rows], [row[2] for row in rows]):
        assert column == sorted(column, reverse=True)
        assert sum(column) == pytest.approx(1)


def test_beyond_the_likeliest_few_values_are_summed_up() -> None:
    many = {f"value {i}": 0.01 for i in range(MOST_RANKS + 8)}
    told = SimpleNamespace(of=lambda victim: {"attacker": many, "learner": many})
    rows = ranked_beliefs(cast(Any, told), "learner")
    assert len(rows) == MOST_RANKS
    assert rows[-1][0] == "all 9 others"
    assert rows[-1][1] == pytest.approx(0.09)


def test_every_picture_has_its_numbers_in_a_table() -> None:
    for run in (of_table(VERTICAL), asked(VERTICAL, known=VICTIM)):
        for code, page in in_every_language(lambda run=run: page_of(run)).items():  # type: ignore[misc]
            assert page.pictures, code
            for figure in page.pictures:
                assert figure.table is not None, figure.label
                assert figure.label
                assert figure.caption
            assert page.adversary
            assert page.limits
            assert len({term.name for term in page.glossary}) == len(page.glossary)


def of_levels(measures: Measures, counts: dict[tuple[float, float], int]) -> Measures:
    """Return measures of so many records with each belief of attacker and learner, all of them threatened."""

    def threat(place: int) -> Threat:
        level = np.repeat([pair[place] for pair in counts], list(counts.values()))
        return Threat(level, np.full(len(level), True), level, undecided=0)

    attacker, learner = threat(0), threat(1)
    return replace(
        measures, attacker=attacker, learner=learner, random_worlds=attacker, ideal=learner
    )


def test_a_picture_of_people_has_no_small_count_and_none_that_tells_one() -> None:
    run = of_table(VERTICAL)
    assert run.measures is not None

    def drawn(counts: dict[tuple[float, float], int]) -> tuple[list[tuple[int, str]], list[str]]:
        """Return length and label of each bar, and the numbers of the table behind them."""
        assert run.measures is not None
        picture = times_surer(of_levels(run.measures, counts))
        assert picture.table is not None
        (data,) = picture.chart["datasets"].values()
        bars = [(row["records"], row["label"]) for row in data]
        return bars, [row[-1].text for row in picture.table.groups[0].rows]

    bars, table = drawn({(0.2, 0.4): 500, (0.5, 0.4): 60, (0.9, 0.3): 40, (0.9, 0.1): 3})
    assert table == ["500", "60", "not shown", "0", "not shown"]
    assert bars[:2] == [(500, "500 (82.9%)"), (60, "60 (10.0%)")]
    assert bars[2:] == [(10, "not shown"), (0, "0"), (10, "not shown")]
    bars, table = drawn({(0.2, 0.4): 500, (0.9, 0.3): 40})
    assert table == ["500", "0", "40", "0", "0"]


def levels(attacker: float, learner: float, *, threatened: bool = True) -> Callable[..., Measures]:
    """Return a change of measures after which all records have these threat levels."""

    def changed(measures: Measures) -> Measures:
        def threat(level: float) -> Threat:
            size = measures.records
            return Threat(
                np.full(size, level),
                np.full(size, threatened),
                np.full(size, level),
                undecided=0,
            )

        return replace(measures, attacker=threat(attacker), learner=threat(learner))

    return changed


@pytest.mark.parametrize(
    ("attacker", "learner", "severity", "said"),
    [
        (0.9, 0.2, Severity.HIGH, "more than 2 times as sure of their true disease (up to"),
        (0.3, 0.2, Severity.SAFE, "make an attacker more than 2 times as sure of their disease"),
        (0.2, 0.2, Severity.SAFE, "makes an attacker no surer of anybody's disease"),
        (0.1, 0.2, Severity.SAFE, "makes an attacker no surer of anybody's disease"),
    ],
)
def test_severity_follows_from_how_much_surer_she_is(
    attacker: float, learner: float, severity: Severity, said: str
) -> None:
    run = of_table(VERTICAL)
    assert run.measures is not None
    run = replace(run, measures=levels(attacker, learner)(run.measures))
    beyond, guessed = threat_findings(run)[:2]
    assert beyond.severity is severity
    assert said in beyond.sentence
    assert (guessed.severity is Severity.SAFE) == (attacker <= learner)
    for code in LANGUAGES:
        with speaking(code):
            assert all(finding.sentence for finding in threat_findings(run))


def test_a_high_threshold_hides_no_risk() -> None:
    run = of_table(VERTICAL)
    assert run.measures is not None
    run = replace(run, measures=replace(levels(0.9, 0.3)(run.measures), exceeds=8.0))
    beyond = threat_findings(run)[0]
    assert beyond.severity is Severity.HIGH
    assert "more than 8 times as sure of their disease: at most 3 times" in beyond.sentence
    assert "8 of 8 records" not in beyond.figure
    assert "8 above 2" in beyond.figure


def test_what_nobody_would_guess_is_told_as_such() -> None:
    run = of_table(VERTICAL)
    assert run.measures is not None
    run = replace(run, measures=levels(0.3, 0.1, threatened=False)(run.measures))
    assert "for none of them does it become her best guess" in threat_findings(run)[0].sentence


def test_without_the_original_nobody_knows_how_often_she_is_right() -> None:
    (finding,) = threat_findings(asked(VERTICAL))
    assert "How often that is right can be counted with the original only." in finding.sentence
    page = page_of(asked(VERTICAL))
    assert page.pictures == ()
    assert page.limits[-1] == "These figures are exact (enumeration), not sampled."


def figure(name: str, *, error: float = 0.001, rhat: float = 1.001) -> Aggregate:
    return Aggregate(name, 0.5, error, rhat, rhat, 900.0, geweke=1.0, weiss=0.4)


def sampled(**further: Any) -> Sampled:
    """Return what a sampler may have told, without its draws."""
    nothing = cast(Any, None)
    told: dict[str, Any] = {
        "knowledge": nothing,
        "aggregates": (figure("gt_attacker"), figure("abs_attacker", error=400.0)),
        "figures": (figure("ti_above_1.5_of_all", error=0.003),),
        "ratios": nothing,
        "stopped": Stop.PRECISION,
        "converged": True,
        "largest_error": 0.01,
        "limit": 1.01,
        "chains": 4,
        "burn_in": 400,
        "sweeps": 2000,
        "every": 1,
        "seed": 0,
        "trace_names": (),
        "traces": nothing,
        "traced": nothing,
        "details": nothing,
    }
    return Sampled(**told | further)


@pytest.mark.parametrize(
    ("further", "said"),
    [
        ({}, "the standard error of a share is at most 0.3 percentage points"),
        ({"converged": False}, "sample longer before relying on them"),
        (
            {"aggregates": (figure("gt_attacker", rhat=1.4),)},
            "These figures are not to be relied on",
        ),
    ],
)
def test_sampled_figures_say_how_far_to_rely_on_them(further: dict[str, Any], said: str) -> None:
    run = replace(of_table(VERTICAL), sampled=sampled(**further))
    finding = threat_findings(run)[2]
    assert said in finding.sentence
    assert finding.figure.startswith("4 chains, 2,000 sweeps")


def test_a_figure_and_its_error_have_the_same_units() -> None:
    run = of_table(VERTICAL)
    assert run.measures is not None
    figures = {
        "ti_above_2_of_all": figure("ti_above_2_of_all", error=0.003),
        "highest_ti": figure("highest_ti", error=3e-85),
    }
    section = measures_section(replace(run.measures, figures=figures))
    cells = {
        row[0].text: [cell.text for cell in row[1:]] for row in section.tables[1].groups[0].rows
    }
    value, error = cells["records with a relative threat above 2"]
    assert (float(value), error) == (0.125, "0.003")
    assert cells["highest relative threat (Ti) of a threatened record"][1] == "< 0.000001"


@pytest.mark.parametrize(
    ("random", "error", "said"),
    [
        (0.9, 0.001, "more often than someone who also learns from the table (60.0%)"),
        (0.1, 0.001, "the table would seem safer than it is"),
        (0.9, 0.4, None),
        (0.603, 0.0001, None),
        (0.597, 0.0001, None),
    ],
)
def test_random_worlds_are_told_of_in_both_directions(
    random: float, error: float, said: str | None
) -> None:
    run = of_table(VERTICAL)
    assert run.measures is not None
    measures = levels(0.6, 0.5)(run.measures)
    measures = replace(
        measures,
        random_worlds=levels(random, 0.5)(run.measures).attacker,
        figures={"gt_attacker_random_ties": figure("gt_attacker_random_ties", error=error)},
    )
    told = [finding.sentence for finding in threat_findings(replace(run, measures=measures))]
    about = [sentence for sentence in told if "every possible table" in sentence]
    assert len(about) == (said is not None)
    if said is not None:
        assert said in about[0]


def test_absolute_error_is_told_per_record() -> None:
    run = of_table(VERTICAL)
    assert run.measures is not None
    error = figure("abs_attacker", error=0.8)
    section = measures_section(replace(run.measures, figures={"abs_attacker": error}))
    column = [title.title for title in section.tables[0].columns].index(
        "absolute error per record (ABS), 0 to 2"
    )
    per_record = run.measures.attacker.absolute_error / run.measures.records
    assert 0 <= per_record <= 2
    assert section.tables[0].groups[0].rows[0][column].text == f"{per_record:.4f} ± 0.1"


def test_every_sampled_figure_of_a_sentence_has_its_error() -> None:
    run = of_table(VERTICAL)
    assert run.measures is not None
    names = ("highest_ti_of_all", "ti_above_2_of_all", "ti_above_2", "gt_attacker_random_ties")
    figures = {name: figure(name, error=0.25) for name in names}
    counts = {(0.9, 0.2): 10, (0.5, 0.2): 10, (0.2, 0.2): 20}
    measures = replace(of_levels(run.measures, counts), figures=figures)
    threatened = np.repeat([True, False, True], list(counts.values()))
    measures = replace(measures, attacker=replace(measures.attacker, threatened=threatened))
    beyond = threat_findings(replace(run, measures=measures))[0]
    assert "20 people (50.0% ± 25)" in beyond.sentence
    assert "(up to 4.5 ± 0.25 times); for 10 ± 10 of them" in beyond.sentence
    assert "highest relative threat 4.5 ± 0.25; 20 ± 10 of 40 records above 2" in beyond.figure
    assert "50.0% ± 25" in json.dumps(times_surer(measures).chart, ensure_ascii=False)
    picture = guesses(measures)
    assert picture.table is not None
    assert picture.table.groups[0].rows[2][1].text.endswith("± 25")


def test_what_the_sampler_warns_of_is_said_in_the_language_of_the_report() -> None:
    apart = sampled(stopped=Stop.SWEEPS, aggregates=(figure("gt_attacker", rhat=1.4),))
    assert len(apart.warnings) == 3
    assert any("several modes" in warning for warning in apart.warnings)
    with speaking("pt-BR"):
        section = sampling_section(apart)
        assert any("várias modas" in note for note in section.notes)
        assert any("1,40" in note for note in section.notes)
        told: list[str] = apart.to_dict()["warnings"]
    assert any("several modes" in warning for warning in told), "what programs read is English"


def test_every_figure_has_a_title_in_every_language() -> None:
    for code in LANGUAGES:
        with speaking(code):
            titles = {
                figure_title(name) for name in (*FIGURES, "ti_above_1.5", "ti_above_2_of_all")
            }
        assert len(titles) == len(FIGURES) + 2
    with speaking("pt-BR"):
        assert (
            figure_title("ti_above_1.5") == "registros ameaçados com ameaça relativa acima de 1,5"
        )


GUESSED = {
    "more": {"en": "up from", "pt-BR": "contra"},
    "same": {"en": "as often as", "pt-BR": "tanto quanto"},
    "less": {"en": "less often than", "pt-BR": "menos do que"},
}
"""What says how attacker and learner compare."""


def numbers_in(sentence: str) -> list[float]:
    """Return the numbers of a sentence in either language, without those in per cent; none has thousands."""
    return [
        float(figure.replace(",", "."))
        for figure in re.findall(r"(?<![\d.,])\d+(?:[.,]\d+)?(?![\d.,]*%)(?!\d)", sentence)
    ]


@tries(
    "threat",
    *("guesses at their {secret} are right in {attacker}", "sure of their true {secret}"),
    *(
        "anybody's {secret}",
        "as sure of their {secret}: at most",
        "harms {people}",
        "{people}: being in",
    ),
    *("for nobody does the table make", "For {share} of {people}", "For nobody does the table"),
)
@settings(max_examples=examples(40), deadline=None)
@given(st.integers(1, 999), st.integers(1, 999), st.integers(1, 40), st.integers(0, 40))
@example(300, 300, 5, 5)
@example(500, 500, 5, 0)
def test_what_compares_says_the_numbers_of_the_outcome(
    attacker: int, learner: int, surer: int, others: int
) -> None:
    run = of_table(VERTICAL)
    assert run.measures is not None
    belief = attacker / 1000, learner / 1000
    counts = {belief: surer, (0.5, 0.5): others} if belief != (0.5, 0.5) else {belief: surer}
    measures = of_levels(run.measures, counts)
    right = [threat.share_at_random for threat in (measures.attacker, measures.learner)]
    shares = [as_fraction(share) for share in right]
    case = "same"
    if percentage(shares[0]) != percentage(shares[1]):
        case = "more" if right[0] > right[1] else "less"
    most = max(measures.relative)
    for language in LANGUAGES:
        with speaking(language):
            beyond, guessed, *_ = threat_findings(replace(run, measures=measures))
            summary = _summary(replace(run, measures=measures), "person")
            tile, gain, *_ = _tiles(replace(run, measures=measures), "person")
            title = " ".join(times_surer(measures).chart["title"]["text"])
        concerned = Fraction(surer if attacker > 2 * learner else 0, sum(counts.values()))
        assert_it_says(f"{summary} {title}", *[concerned] * (2 if concerned else 0))
        assert_it_says(tile.figure, concerned)
        assert ("nobody" in tile.sentence or "ninguém" in tile.sentence) == (not concerned)
        assert_it_says(gain.figure, *shares[::-1])
        said = [name for name, words in GUESSED.items() if words[language] in guessed.sentence]
        assert said == [case]
        figures = shares[:1] if case == "same" else shares
        assert_it_says(guessed.sentence, *figures, measures.baseline)
        if attacker > 2 * learner:
            assert_it_says(beyond.sentence, Fraction(surer, sum(counts.values())))
            people, limit, highest = numbers_in(beyond.sentence)
            assert (people, limit) == (surer, 2)
            assert highest > limit
            assert highest == pytest.approx(most, rel=0.005)
        else:
            assert beyond.severity is Severity.SAFE
            assert all(figure <= max(2.0, 1.005 * most) for figure in numbers_in(beyond.sentence))


@tries("threat", "makes it {times} times as likely", "makes it no more likely")
@settings(max_examples=examples(30), deadline=None)
@given(st.integers(1, 99), st.integers(1, 99))
def test_what_is_believed_of_a_person_says_the_numbers_of_the_outcome(
    attacker: int, learner: int
) -> None:
    if "victim" not in _TABLES:
        _TABLES["victim"] = asked(VERTICAL, known=VICTIM)
    run = _TABLES["victim"]
    first, second = attacker / 100, learner / 100
    rest = ((1 - first) / 5, (1 - second) / 5)
    if first <= rest[0]:
        return
    beliefs = [
        (one, *[other] * 3, 1 - one - 3 * other)
        for one, other in zip((first, second), rest, strict=True)
    ]
    if beliefs[0][4] >= first:
        return
    run = believed(run, attacker=belief_of(*beliefs[0]), learner=belief_of(*beliefs[1]))
    for language in LANGUAGES:
        with speaking(language):
            sentence = threat_findings(run, exact=True)[0].sentence
        assert_it_says(sentence, as_fraction(first), as_fraction(second))
        surer = {"en": "times as likely", "pt-BR": "multiplica"}[language] in sentence
        assert surer == (attacker > learner)
        if surer:
            assert numbers_in(sentence)[-1] == pytest.approx(first / second, rel=0.006)


@tries("threat", "makes one of them up to", "makes none of them more likely", "cannot be said.")
@settings(max_examples=examples(30), deadline=None)
@given(st.integers(2, 4), st.integers(1, 24), st.booleans())
@example(2, 1, True)
@example(4, 25, False)
def test_what_is_believed_of_several_values_says_the_numbers_of_the_outcome(
    tied: int, learner: int, sampled: bool
) -> None:
    if "victim" not in _TABLES:
        _TABLES["victim"] = asked(VERTICAL, known=VICTIM)
    values = len(_TABLES["victim"].release.sensitive.values)
    sure = 1 / tied if not sampled else 0.6
    belief = (sure, *[sure] * (tied - 1)) if not sampled else (0.6, 0.4)
    attacker = (*belief, *[0.0] * (values - len(belief)))
    other = 0.599 if sampled else learner / 100
    rest = (1 - (other if sampled else tied * other)) / (values - (1 if sampled else tied))
    learned = (*[other] * (1 if sampled else tied), *[rest] * (values - (1 if sampled else tied)))
    run = believed(
        _TABLES["victim"],
        attacker=belief_of(*attacker),
        learner=belief_of(*learned, error=0.003 if sampled else None),
    )
    for language in LANGUAGES:
        with speaking(language):
            sentence = threat_findings(run, exact=True)[0].sentence
        assert_it_says(sentence, as_fraction(sure), as_fraction(other))
        surer = {"en": "times as likely", "pt-BR": "multiplica"}[language] in sentence
        assert surer == (not sampled and sure > other)
        if surer:
            assert numbers_in(sentence)[-1] == pytest.approx(sure / other, rel=0.006)


@tries("threat", "Someone who takes every possible table", "hardly any of its use is lost")
@settings(max_examples=examples(40), deadline=None)
@given(st.integers(1, 99), st.integers(1, 99), st.integers(0, 100))
@example(50, 50, 95)
def test_simpler_worlds_and_what_is_left_of_use_are_told_as_they_are(
    attacker: int, random: int, faithful: int
) -> None:
    run = of_table(VERTICAL)
    assert run.measures is not None
    assert run.measures.faithfulness is not None
    measures = replace(
        levels(attacker / 100, 0.5)(run.measures),
        random_worlds=levels(random / 100, 0.5)(run.measures).attacker,
        faithfulness=replace(run.measures.faithfulness, bounded=faithful / 100),
    )
    for language in LANGUAGES:
        with speaking(language):
            *_, last = threat_findings(replace(run, measures=measures))
            simpler = _underrated(measures)
        assert_it_says(last.sentence, Fraction(faithful, 100))
        lost = [name for name, words in LOST.items() if words[language] in last.sentence]
        assert lost == ["little" if faithful < 50 else "part" if faithful < 90 else "hardly"]
        assert (simpler is None) == (abs(random - attacker) <= 1)
        if simpler is not None:
            assert_it_says(simpler.sentence, Fraction(random, 100), Fraction(attacker, 100))
            safer = {"en": "safer than it is", "pt-BR": "menor do que é"}[language]
            assert (safer in simpler.sentence) == (random < attacker)


LOST = {
    "little": {"en": "little of its use", "pt-BR": "pouca utilidade"},
    "part": {"en": ": part of its use", "pt-BR": "parte da utilidade"},
    "hardly": {"en": "hardly any", "pt-BR": "quase nada"},
}
"""What says how much of its use a table has lost."""


@tries("threat", seeds=6)
def test_sentences_of_random_worlds_read_back(seed: int) -> None:
    """Tables of random people in random groups, reckoned from the beginning."""
    chance = random.Random(seed)
    people = [
        (chance.choice("MJ"), chance.choice(("45501", "66601")), chance.choice(("Flu", "HIV")))
        for _ in range(4)
    ]
    groups = [people[:2], people[2:]]
    release = VERTICAL | {
        "name": f"world {seed}",
        "groups": [
            {
                "sensitive": sorted(ill for *_, ill in group),
                "rows": sorted([nat, code] for nat, code, _ in group),
            }
            for group in groups
        ],
    }
    columns = zip(*people, strict=True)
    write("people.csv", {name: list(column) for name, column in zip(PEOPLE, columns, strict=True)})
    run = asked(release, original=Dataset(path=Path("people.csv")))
    measures = run.measures
    assert measures is not None
    right = [
        as_fraction(threat.share_at_random) for threat in (measures.attacker, measures.learner)
    ]
    ills = [ill for *_, ill in people]
    assert measures.baseline == Fraction(max(map(ills.count, ills)), 4)
    for language in LANGUAGES:
        with speaking(language):
            beyond, guessed, *_ = threat_findings(run)
        case = "same"
        if percentage(right[0]) != percentage(right[1]):
            case = "more" if right[0] > right[1] else "less"
        assert [name for name, words in GUESSED.items() if words[language] in guessed.sentence] == [
            case
        ]
        assert_it_says(
            guessed.sentence, *(right[:1] if case == "same" else right), measures.baseline
        )
        above = sum(measures.relative > 2)
        assert_it_says(beyond.sentence, *([Fraction(int(above), 4)] if above else []))


@pytest.mark.parametrize(
    ("surer", "others", "severity"),
    [(650, 30_000, Severity.HIGH), (2, 98, Severity.HIGH), (90, 30_000, Severity.MODERATE)],
)
def test_more_than_a_few_people_of_whom_the_table_tells_more_are_a_high_risk(
    surer: int, others: int, severity: Severity
) -> None:
    run = of_table(VERTICAL)
    assert run.measures is not None
    measures = of_levels(run.measures, {(0.9, 0.1): surer, (0.5, 0.5): others})
    assert threat_findings(replace(run, measures=measures))[0].severity is severity


def test_the_highest_factor_is_told_from_the_limit() -> None:
    run = of_table(VERTICAL)
    assert run.measures is not None
    measures = of_levels(run.measures, {(0.4004, 0.2): 10, (0.5, 0.5): 10})
    said = threat_findings(replace(run, measures=measures))[0].sentence
    assert "more than 2 times as sure of their true disease (up to 2.002 times)" in said


def test_the_first_screen_says_whom_being_in_the_table_costs_something() -> None:
    run = of_table(VERTICAL)
    assert run.measures is not None
    measures = of_levels(run.measures, {(0.9, 0.1): 650, (0.5, 0.5): 1_350})
    page = page_of(replace(run, measures=measures))
    assert page.first_sentence == (
        "Being in the table harms 650 people (32.5%): an attacker is more than 2 times as sure "
        "of their disease."
    )
    assert [tile.figure for tile in page.tiles][:2] == ["32.5%", "37.0% → 63.0%"]
    assert page.actions[0].sentence.startswith("Try larger groups")
    assert not page.actions[0].command, "whether it would help is not known"
