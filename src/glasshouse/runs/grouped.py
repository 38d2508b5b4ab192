"""Releases by Anatomy: who can be named goes by the quasi-identifiers, what can be inferred by the groups."""

from __future__ import annotations

from glasshouse.microdata import Assessment, assess
from glasshouse.table import EncodedTable


def assess_by_group(release: EncodedTable, group: str) -> Assessment:
    """Assess a release by Anatomy: people are named by their quasi-identifiers, which it publishes as they are.

    What is inferred goes by the group: beside it, the value of a record is a random one of its group.
    """
    named = assess(release.with_roles(quasi_identifiers=release.quasi_identifiers))
    known = release.with_roles(quasi_identifiers=[group], sensitive=release.sensitive)
    return Assessment(named.records, (*named.attacks[:1], *assess(known).attacks[1:]))
