"""Never a false claim: whatever ``anonymise`` promises holds in the file that it writes, read by plain Python."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.cli.main import main
from glasshouse.mitigation.criteria import (
    DistinctDiversity,
    EntropyDiversity,
    EqualCloseness,
    HighestRisk,
    InferenceRisk,
    KAnonymity,
    OrderedCloseness,
    RecursiveDiversity,
)
from tests.examples import examples
from tests.mitigation.test_recoding import AnyCriterion, holds

KNOWN = ("age", "town")
ANCESTORS: dict[str, dict[str, tuple[str, ...]]] = {
    "age": {
        "1": ("1", "1-2", "1-4", "*"),
        "2": ("2", "1-2", "1-4", "*"),
        "3": ("3", "3-4", "1-4", "*"),
        "4": ("4", "3-4", "1-4", "*"),
    },
    "town": {"x": ("x", "x|y", "*"), "y": ("y", "x|y", "*"), "z": ("z", "z", "*")},
}
SECRETS = ("10", "20", "30")


@dataclass(frozen=True)
class Asked:
    """A table, and what is asked of its release."""

    rows: list[tuple[str, str, str]]
    options: Mapping[str, str]
    suppression: str
    recoding: str

    def arguments(self) -> list[str]:
        given = [part for option, value in self.options.items() for part in (option, value)]
        how = ["--suppression", self.suppression, "--recoding", self.recoding, "--keep-order"]
        return [*given, *how]

    def promises(self) -> list[AnyCriterion]:
        """What the options mean, said once more."""
        found: list[AnyCriterion] = []
        for option, text in self.options.items():
            if option == "--k":
                found.append(KAnonymity(int(text)))
            elif option == "--highest-risk":
                found.append(HighestRisk(Fraction(text)))
            elif option == "--inference-risk":
                found.append(InferenceRisk(Fraction(text), "ill"))
            elif option == "--t":
                present = sorted({secret for *_, secret in self.rows})
                if self.options["--closeness"] == "equal":
                    found.append(EqualCloseness(Fraction(text), "ill"))
                elif len(present) > 1:
                    found.append(OrderedCloseness(Fraction(text), "ill", tuple(present)))
            elif option == "--l":
                kind = self.options["--diversity"]
                if kind == "distinct":
                    found.append(DistinctDiversity(int(text), "ill"))
                elif kind == "entropy":
                    found.append(EntropyDiversity(int(text), "ill"))
                else:
                    found.append(
                        RecursiveDiversity(Fraction(self.options["--c"]), int(text), "ill")
                    )
        return found


@st.composite
def asked(draw: st.DrawFn) -> Asked:
    row = st.tuples(
        st.sampled_from(sorted(ANCESTORS["age"])),
        st.sampled_from(sorted(ANCESTORS["town"])),
        st.sampled_from(SECRETS),
    )
    options = {"--k": str(draw(st.integers(1, 6)))}
    if draw(st.booleans()):
        kind = draw(st.sampled_from(["distinct", "entropy", "recursive"]))
        options |= {"--l": str(draw(st.integers(1, 3))), "--diversity": kind}
        if kind == "recursive":
            options["--c"] = draw(st.sampled_from(["0.5", "1.0", "2.5"]))
    if draw(st.booleans()):
        options |= {"--t": draw(st.sampled_from(["0.1", "0.3", "0.6"]))}
        options |= {"--closeness": draw(st.sampled_from(["equal", "ordered"]))}
    if draw(st.booleans()):
        options["--highest-risk"] = draw(st.sampled_from(["0.1", "0.25", "0.5"]))
    if draw(st.booleans()):
        options["--inference-risk"] = draw(st.sampled_from(["0.4", "0.7", "0.9"]))
    recoding = draw(st.sampled_from(["global", "local", "mondrian"]))
    suppression = "0" if recoding == "mondrian" else draw(st.sampled_from(["0", "0.1", "0.4"]))
    return Asked(draw(st.lists(row, min_size=1, max_size=24)), options, suppression, recoding)


def carried_out(asked: Asked, folder: Path) -> tuple[int, str]:
    """Run the command; return its exit code and what it said of an error."""
    with (folder / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([(*KNOWN, "ill"), *asked.rows])
    files = []
    for name, ancestors in ANCESTORS.items():
        (folder / name).write_text("".join(";".join(own) + "\n" for own in ancestors.values()))
        files += ["--hierarchy", f"{name}={folder / name}"]
    known = [part for name in KNOWN for part in ("-q", name)]
    command = ["anonymise", str(folder / "people.csv"), *known, "-s", "ill", *files]
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = main([*command, *asked.arguments(), "--out", str(folder / "run")])
    return code, said.getvalue()


@settings(max_examples=examples(50), deadline=None)
@given(asked())
def test_what_is_promised_holds_in_the_file(asked: Asked) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        code, said = carried_out(asked, folder)
        if code:
            assert code == 2, said
            assert said.count("\n") == 1, said
            assert not (folder / "run").exists()
            together = [secret for *_, secret in asked.rows]
            met = all(holds(promise, together, together) for promise in asked.promises())
            assert not met, f"all records in one class would do: {said}"
            return
        with (folder / "run" / "release.csv").open(newline="") as file:
            released = list(csv.DictReader(file))
        manifest = json.loads((folder / "run" / "manifest.json").read_text())
    check(asked, released, manifest["suppressed"], manifest["classes"])


def check(asked: Asked, released: list[dict[str, str]], suppressed: int, told: int) -> None:
    """Read the release as anybody could, and judge it."""
    assert len(released) == len(asked.rows)
    classes = defaultdict(list)
    for original, row in zip(asked.rows, released, strict=True):
        assert row["ill"] == original[2]
        for name, value in zip(KNOWN, original, strict=False):
            assert row[name] in ANCESTORS[name][value]
        classes[row["age"], row["town"]].append(row["ill"])
    if suppressed:
        hidden = classes.pop(("*", "*"))
        assert len(hidden) == suppressed
    assert suppressed <= floor(Fraction(asked.suppression) * len(asked.rows))
    assert len(classes) == told
    everyone = [secret for *_, secret in asked.rows]
    for promise in asked.promises():
        for values in classes.values():
            assert holds(promise, values, everyone), (promise, values)
