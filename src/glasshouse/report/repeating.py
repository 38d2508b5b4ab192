"""How the figures of a report can be had again."""

from __future__ import annotations

from glasshouse.language import text
from glasshouse.report.page import Provenance


def instructions(provenance: Provenance) -> tuple[str, ...]:
    """Return how to repeat the figures; the command follows the first sentence, the study all of them."""
    version = provenance.version
    if not provenance.study:
        return (text("Run this command with Glasshouse {version}:", version=version),)
    if not provenance.abridged and not provenance.seed_withheld:
        return (
            text(
                "Save this as study.toml and run this command with Glasshouse {version}:",
                version=version,
            ),
        )
    return (
        text(
            "Run this command with Glasshouse {version} and the study.toml of the run:",
            version=version,
        ),
        _left_out(provenance),
    )


def _left_out(provenance: Provenance) -> str:
    """Say what the study lacks here, of what the run has."""
    if not provenance.seed_withheld:
        return text("Here the study is without the values of the data that it names.")
    if not provenance.abridged:
        return text(
            "Here the study is without its seed, which may be that of the random choices that protect a release."
        )
    return text(
        "Here the study is without the values of the data that it names, and without its seed, which may be that of "
        "the random choices that protect a release."
    )
