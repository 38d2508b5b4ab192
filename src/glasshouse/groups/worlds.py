"""Random worlds and the ideal: what needs no inference from the release, or no release at all.

Random worlds (Boreale et al. 2020, example 1): every table that the release allows is as likely as any other. With the
victim's row uniform, p_RW(s | r) ∝ Σ_{j: s_j = s} Pr(R_j = r), where Pr(R_j = r) is one in |l_j| for a generalised
value that holds r, and the share of rows equal to r in an Anatomy group.

Ideal (equation 20): p_I(s, r | t) = (α_s + γ_s) / (α_0 + N) · Π_a (β_r + δ_r^s) / (β_0 + γ_s), from the original.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.groups.knowledge import Beliefs, Knowledge, normalised
from glasshouse.groups.release import Release
from glasshouse.groups.victims import Original, Victims


def random_worlds(release: Release, victims: Victims) -> NDArray[np.float64]:
    """Return p_RW per victim and sensitive value; not a number for who is in no group."""
    return normalised(_weights(release, victims))


def ideal_joint(
    release: Release, original: Original, codes: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return p_I(s, r | t), equation (20), for some combinations r of values (combinations × sensitive values)."""
    return np.exp(_log_ideal(release, original, codes))


def with_ideal(knowledge: Knowledge, original: Original) -> Knowledge:
    """Return the same knowledge, and beside it what the original would teach about the same people, all fully known."""
    log_joint = _log_ideal(knowledge.release, original, knowledge.victims.codes)
    shares = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    return replace(knowledge, ideal=Beliefs(normalised(shares)), ideal_joint=np.exp(log_joint))


def value_counts(release: Release, original: Original) -> list[NDArray[np.int64]]:
    """Return, per attribute, how many records have each value with each sensitive value (δ, values × sensitive)."""
    counts = []
    for place, attribute in enumerate(release.attributes):
        own = np.zeros((len(attribute.values), len(release.sensitive.values)), np.int64)
        np.add.at(own, original.codes[:, place], original.weights)
        counts.append(own)
    return counts


def _log_ideal(
    release: Release, original: Original, codes: NDArray[np.int32]
) -> NDArray[np.float64]:
    alphas = release.sensitive.alphas
    gamma = original.weights.sum(axis=0)
    log_joint = np.tile(np.log((alphas + gamma) / (alphas.sum() + gamma.sum())), (len(codes), 1))
    counts = value_counts(release, original)
    for place, attribute in enumerate(release.attributes):
        shares = (attribute.betas[:, None] + counts[place]) / (attribute.betas.sum() + gamma)
        log_joint += np.log(shares)[codes[:, place]]
    return log_joint


def _weights(release: Release, victims: Victims) -> NDArray[np.float64]:
    starts, codes, counts = sensitive_counts(release)
    shares = _row_shares(release, victims)
    weights = np.zeros((len(victims), len(release.sensitive.values)))
    _add_up(victims.candidate_starts, victims.candidates, shares, starts, codes, counts, weights)
    return weights


def sensitive_counts(
    release: Release,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return the distinct sensitive values of each group: where they begin, their codes, how often each is there."""
    width = len(release.sensitive.values)
    cells, counts = np.unique(
        release.group_of_row * width + release.sensitive_codes, return_counts=True
    )
    groups = np.bincount(cells // width, minlength=release.groups)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(groups)])
    return starts, (cells % width).astype(np.int32), counts


def _row_shares(release: Release, victims: Victims) -> NDArray[np.float64]:
    """Return, per victim and candidate group, the chance that a row of it agrees with the victim in a random world."""
    victim = np.repeat(np.arange(len(victims)), np.diff(victims.candidate_starts))
    shares = np.ones(len(victims.candidates))
    if release.is_vertical:
        _equal_rows(
            release.codes, release.starts, victim, victims.candidates, *_marks(victims), shares
        )
        return shares
    for place, attribute in enumerate(release.attributes):
        known, label = victims.codes[victim, place], release.codes[victims.candidates, place]
        _common(
            known,
            label,
            victims.known[place].starts,
            victims.known[place].members,
            attribute.sets.starts,
            attribute.sets.members,
            shares,
        )
    return shares


def _marks(
    victims: Victims,
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Return what is known of victims as flat arrays: codes, bases of attributes, starts and members of all sets."""
    lengths = [len(sets) + 1 for sets in victims.known]
    bases = np.cumsum([0, *lengths[:-1]])
    offsets = np.cumsum([0, *(len(sets.members) for sets in victims.known[:-1])])
    starts = [sets.starts + offset for sets, offset in zip(victims.known, offsets, strict=True)]
    members = np.concatenate([sets.members for sets in victims.known])
    return victims.codes, bases, np.concatenate(starts), members


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _add_up(
    candidate_starts: NDArray[np.int64],
    candidates: NDArray[np.int64],
    shares: NDArray[np.float64],
    starts: NDArray[np.int64],
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> None:
    for victim in range(weights.shape[0]):
        for place in range(candidate_starts[victim], candidate_starts[victim + 1]):
            group = candidates[place]
            for entry in range(starts[group], starts[group + 1]):
                weights[victim, codes[entry]] += shares[place] * counts[entry]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _common(
    known: NDArray[np.int32],
    label: NDArray[np.int32],
    known_starts: NDArray[np.int64],
    known_members: NDArray[np.int32],
    label_starts: NDArray[np.int64],
    label_members: NDArray[np.int32],
    shares: NDArray[np.float64],
) -> None:
    """Multiply by the share of each label's values that are among the known ones; both are in ascending order."""
    for place in range(shares.size):
        low, high = known_starts[known[place]], known_starts[known[place] + 1]
        first, last = label_starts[label[place]], label_starts[label[place] + 1]
        size, common = last - first, 0
        if high - low == 1:
            shares[place] /= size
            continue
        while low < high and first < last:
            if known_members[low] == label_members[first]:
                common += 1
                low += 1
                first += 1
            elif known_members[low] < label_members[first]:
                low += 1
            else:
                first += 1
        shares[place] *= common / size


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _equal_rows(
    rows: NDArray[np.int32],
    row_starts: NDArray[np.int64],
    victim: NDArray[np.int64],
    groups: NDArray[np.int64],
    codes: NDArray[np.int32],
    bases: NDArray[np.int64],
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    shares: NDArray[np.float64],
) -> None:
    """Set the share of a group's rows that agree with the victim on every attribute."""
    for place in range(shares.size):
        begin, end = row_starts[groups[place]], row_starts[groups[place] + 1]
        agreeing = 0
        for row in range(begin, end):
            agrees = True
            for attribute in range(rows.shape[1]):
                own = bases[attribute] + codes[victim[place], attribute]
                low, high, value = starts[own], starts[own + 1], rows[row, attribute]
                while high - low > 1:
                    middle = (low + high) // 2
                    if members[middle] <= value:
                        low = middle
                    else:
                        high = middle
                if members[low] != value:
                    agrees = False
                    break
            agreeing += agrees
        shares[place] = agreeing / (end - begin)
