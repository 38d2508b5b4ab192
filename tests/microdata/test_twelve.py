"""Each of the twelve attack models against Bayes by enumeration, on random small collections.

The models are those of Alvim et al. 2022, Table 1. The reference knows nothing of classes or codes: it lists people,
what is observed of each and what is secret, counts them into a co-occurrence table, and lets `glasshouse.qif` do the
rest in fractions.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.microdata import attack, member, membership, target
from glasshouse.qif import BayesVulnerability, Certainty, CoOccurrence
from glasshouse.table import EncodedTable, collect, read

KNOWN = ("grade", "city")
Rows = dict[str, dict[str, str]]
"""Per person, the values of a dataset."""


@dataclass(frozen=True)
class World:
    """A focal dataset, auxiliary ones, and the people in them."""

    datasets: tuple[Rows, ...]

    @property
    def people(self) -> list[str]:
        return list(self.datasets[0])

    def observed(self, person: str, datasets: int) -> tuple[str | None, ...]:
        return tuple(
            rows[person][name] if person in rows else None
            for rows in self.datasets[:datasets]
            for name in KNOWN
        )

    def table(self, datasets: int) -> EncodedTable:
        tables = [_read(rows, number) for number, rows in enumerate(self.datasets, start=1)]
        return tables[0] if datasets == 1 else collect(tables).window(datasets)

    def known(self, person: str, datasets: int) -> list[str]:
        """Say all that is known of a person, in the language of conditions."""
        said = []
        for number, rows in enumerate(self.datasets[:datasets], start=1):
            tag = "" if number == 1 else f"@D{number}"
            if person in rows:
                said += [f"{name}{tag}={rows[person][name]}" for name in KNOWN]
            else:
                said.append(f"{tag}=absent")
        return said


def _read(rows: Rows, number: int) -> EncodedTable:
    columns = {"id": list(rows)} | {
        name: [row[name] for row in rows.values()] for name in next(iter(rows.values()))
    }
    return read(
        pa.table(columns),
        quasi_identifiers=KNOWN,
        sensitive=["ill"] if number == 1 else [],
        id="id",
        name=f"D{number}",
    )


@st.composite
def worlds(draw: st.DrawFn, least: int, most: int) -> World:
    """Draw datasets of at most six people; at least one of the first is in every other."""
    value = st.sampled_from("ab")
    datasets: list[Rows] = []
    for number in range(draw(st.integers(least, most))):
        ids = draw(st.lists(st.sampled_from("123456"), min_size=1, max_size=6, unique=True))
        if datasets and not set(ids) & set(datasets[0]):
            ids.append(next(iter(datasets[0])))
        names = KNOWN if number else (*KNOWN, "ill")
        datasets.append({person: {name: draw(value) for name in names} for person in ids})
    return World(tuple(datasets))


def check_collective(world: World, datasets: int, secret: str | None) -> str:
    seen = [world.observed(person, datasets) for person in world.people]
    secrets = [
        person if secret is None else world.datasets[0][person][secret] for person in world.people
    ]
    counts = CoOccurrence.from_records(secrets, seen)
    found = attack(world.table(datasets), sensitive=secret)
    assert found.probabilistic.prior == BayesVulnerability().prior(counts.prior())
    assert found.probabilistic.posterior == BayesVulnerability().posterior_of(counts.hyper())
    assert found.deterministic.prior == Certainty().prior(counts.prior())
    assert found.deterministic.posterior == Certainty().posterior_of(counts.hyper())
    return found.code


def check_individual(world: World, datasets: int) -> tuple[str, str]:
    """Attack each person with all that is to be known of them."""
    seen = {person: world.observed(person, datasets) for person in world.people}
    values = {person: world.datasets[0][person]["ill"] for person in world.people}
    naming = CoOccurrence.from_records(world.people, list(seen.values())).hyper()
    counts = CoOccurrence.from_records(list(values.values()), list(seen.values()))
    prior, hyper = counts.prior(), counts.hyper()
    table = world.table(datasets)
    codes = ("", "")
    for person in world.people:
        found = target(table, known=world.known(person, datasets), sensitive=["ill"])
        belief, inner = found.secrets[0], hyper.inner(seen[person])
        assert found.naming.posterior == BayesVulnerability().prior(naming.inner(seen[person]))
        assert {each.value: each.posterior for each in belief.values} == {
            value: inner[value] for value in counts.secrets
        }
        assert {each.value: each.prior for each in belief.values} == {
            value: prior[value] for value in counts.secrets
        }
        assert belief.certain == (max(inner[value] for value in counts.secrets) == 1)
        codes = (found.code, belief.code)
    return codes


@given(worlds(1, 1))
def test_crs_and_cas(world: World) -> None:
    assert check_collective(world, 1, None) == "CRS"
    assert check_collective(world, 1, "ill") == "CAS"


@given(worlds(2, 3))
def test_crl_and_cal(world: World) -> None:
    for datasets in range(2, len(world.datasets) + 1):
        assert check_collective(world, datasets, None) == "CRL"
        assert check_collective(world, datasets, "ill") == "CAL"


@given(worlds(1, 1))
def test_irs_and_ias(world: World) -> None:
    assert check_individual(world, 1) == ("IRS", "IAS")


@given(worlds(2, 3))
def test_irl_and_ial(world: World) -> None:
    assert check_individual(world, len(world.datasets)) == ("IRL", "IAL")


@dataclass(frozen=True)
class Town:
    """A register, and who of it is in each release."""

    register: Rows
    releases: tuple[frozenset[str], ...]

    def pattern(self, person: str) -> tuple[str, ...]:
        return tuple(
            f"R{number}" for number, there in enumerate(self.releases, start=1) if person in there
        )

    def counts(self) -> CoOccurrence:
        seen = [tuple(row.values()) for row in self.register.values()]
        return CoOccurrence.from_records([self.pattern(person) for person in self.register], seen)

    def tables(self) -> tuple[list[EncodedTable], EncodedTable]:
        register = read(pa.table(_columns(self.register)), quasi_identifiers=KNOWN, name="town")
        releases = [
            read(
                pa.table(
                    _columns({p: row for p, row in self.register.items() if p in there}, "id")
                ),
                quasi_identifiers=KNOWN,
                id="id",
                name=f"R{number}",
            )
            for number, there in enumerate(self.releases, start=1)
        ]
        return releases, register


def _columns(rows: Rows, identifier: str | None = None) -> dict[str, list[str]]:
    named = {} if identifier is None else {identifier: list(rows)}
    return named | {name: [row[name] for row in rows.values()] for name in KNOWN}


@st.composite
def towns(draw: st.DrawFn, least: int, most: int) -> Town:
    """Draw at most seven people and the releases that they are in, each of somebody."""
    people = [str(number) for number in range(draw(st.integers(1, 7)))]
    register = {p: {name: draw(st.sampled_from("ab")) for name in KNOWN} for p in people}
    some = st.frozensets(st.sampled_from(people), min_size=1)
    return Town(register, tuple(draw(st.lists(some, min_size=least, max_size=most))))


def check_membership(town: Town) -> str:
    releases, register = town.tables()
    counts, found = town.counts(), membership(releases, register)
    assert found.probabilistic.prior == BayesVulnerability().prior(counts.prior())
    assert found.probabilistic.posterior == BayesVulnerability().posterior_of(counts.hyper())
    assert found.deterministic.prior == Certainty().prior(counts.prior())
    assert found.deterministic.posterior == Certainty().posterior_of(counts.hyper())
    return found.code


def check_member(town: Town) -> str:
    releases, register = town.tables()
    counts, code = town.counts(), ""
    prior, hyper = counts.prior(), counts.hyper()
    for row in town.register.values():
        found = member(releases, register, known=row)
        inner = hyper.inner(tuple(row.values()))
        for pattern, leakage in found.patterns.items():
            assert leakage.prior == prior[pattern]
            assert leakage.posterior == inner[pattern]
        assert found.guess.posterior == BayesVulnerability().prior(inner)
        code = found.code
    return code


@given(towns(1, 1))
def test_cms(town: Town) -> None:
    assert check_membership(town) == "CMS"


@given(towns(2, 3))
def test_cml(town: Town) -> None:
    assert check_membership(town) == "CML"


@given(towns(1, 1))
def test_ims(town: Town) -> None:
    assert check_member(town) == "IMS"


@given(towns(2, 3))
def test_iml(town: Town) -> None:
    assert check_member(town) == "IML"
