"""How many of those who are alone in a sample are alone in the population, by models of how the population is made.

Classes are cells k of a table of all possible combinations, K of them, with F_k people, of whom f_k are in the sample:
each person with the chance π. Given the model, the chance that a sample unique is a population unique is known, and so
is that of a right match, E[1/F | f = 1]. Two models are standard:

- Poisson log-linear (Skinner and Holmes 1998; Skinner and Shlomo 2008): F_k is Poisson with the mean μ_k, log μ_k a sum
  of main effects, whose likeliest values are in closed form, μ_k = N·Π n(value)/n. With ν = μ(1 − π) the chances are
  e^−ν and (1 − e^−ν)/ν. Where attributes belong together, this model knows less than it could, and risks come out
  rather high.
- Negative binomial (Bethlehem, Keller and Pannekoek 1990): the chances of the cells are Gamma with the mean 1/K and the
  scale β, by moments β = (K·s²/n − 1)/n, s² the variance of f over all K cells. With α = 1/(Kβ) and
  s = (1 + nβ)/(1 + Nβ) the chances are s^(α+1) and (s − s^(α+1))/(α(1 − s)).

They are estimates. The error that comes with one is its standard deviation if the model is true; that it is not true is
the larger error, and nobody knows it. The two differ, often by much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from glasshouse.arrays import Floats
from glasshouse.language import marked
from glasshouse.table import EncodedColumn
from glasshouse.table.partition import Partition


@dataclass(frozen=True)
class ModelEstimate:
    """What a model says of those who are alone in a sample."""

    name: str
    """The model."""
    reference: str
    """Who proposed it."""
    sample_uniques: int
    """How many records are alone in the sample: a fact."""
    population_uniques: float
    """How many of them are alone in the population, by estimate."""
    error: float
    """The standard deviation of that number, if the model is true."""
    matches: float
    """How many of them are matched right by somebody who does not know who was sampled, by estimate."""


def modelled_uniques(
    columns: Sequence[EncodedColumn], classes: Partition, people: Fraction
) -> tuple[ModelEstimate, ...]:
    """Estimate by both models how many who are alone in the sample are alone in the population.

    Args:
        columns: What is known of a person.
        classes: The classes of the sample by it.
        people: How many people the population has.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> from glasshouse.table.partition import partition
    >>> table = read(pa.table({"age": [20, 20, 20, 30], "sex": ["F", "F", "M", "M"]}), also=["age", "sex"])
    >>> poisson, binomial = modelled_uniques(
    ...     list(table.columns.values()), partition(table, ["age", "sex"]), Fraction(8)
    ... )
    >>> round(poisson.population_uniques, 6) == round(math.exp(-3 * 2 / 4) + math.exp(-1 * 2 / 4), 6)  # ν = n·Π
    True
    """
    records, uniques = classes.records, classes.uniques
    left_out = max(float(people) - records, 0.0)
    alone = classes.order[classes.starts[:-1][classes.sizes == 1]]
    expected = np.full(uniques, left_out)
    cells = 1.0
    for column in columns:
        expected *= (column.tally / records)[column.codes[alone]]
        cells *= column.cardinality
    poisson = np.exp(-expected)
    matched = np.ones(uniques)
    np.divide(-np.expm1(-expected), expected, out=matched, where=expected > 0)
    chance, match = _negative_binomial(classes, cells, left_out)
    return (
        _estimate(marked("Poisson log-linear"), "Skinner and Shlomo 2008", poisson, matched),
        _estimate(
            marked("negative binomial"),
            "Bethlehem, Keller and Pannekoek 1990",
            np.full(uniques, chance),
            np.full(uniques, match),
        ),
    )


def _estimate(name: str, reference: str, chances: Floats, matches: Floats) -> ModelEstimate:
    return ModelEstimate(
        name,
        reference,
        len(chances),
        float(chances.sum()),
        math.sqrt(float((chances * (1 - chances)).sum())),
        float(matches.sum()),
    )


def _negative_binomial(classes: Partition, cells: float, left_out: float) -> tuple[float, float]:
    """Return the chance that a sample unique is a population unique, and that it is matched right.

    Where the cells are no more uneven than by chance, β = 0: all have the same mean, and the model is Poisson's.
    """
    n = classes.records
    squares = float((classes.sizes.astype(np.float64) ** 2).sum())
    spread = (squares / n - n / cells) * (cells / (cells - 1) if cells > 1 else 1.0)
    beta = (spread - 1) / n
    if not left_out:
        return 1.0, 1.0
    if beta <= 0:
        mean = left_out / cells
        return math.exp(-mean), -math.expm1(-mean) / mean
    alpha = 1 / (cells * beta)
    s = (1 + n * beta) / (1 + (n + left_out) * beta)
    chance = s ** (alpha + 1)
    match = -s * math.log(s) / (1 - s)
    if alpha > 1e-9:
        match = (s - chance) / (alpha * (1 - s))
    return chance, match
