"""``make soak``: two hundred kill points and five hundred malformed files; prints what became of them."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections import Counter

from tests.faults import STUDY, contents, fate_of, forked, killed_and_resumed, write_people

KILLS, FILES = 200, 500


def main(points: int = KILLS, files: int = FILES) -> int:
    """Kill, damage, and tell; at fewer points and of fewer files where that is asked for."""
    began = time.process_time()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        write_people()
        assert forked((*STUDY, "--out", "whole"))[0] == 0
        before = sum(os.times()[2:4])
        assert forked((*STUDY, "--out", "again"))[0] == 0
        seconds = sum(os.times()[2:4]) - before
        whole = contents("whole")
        assert contents("again") == whole
        shutil.rmtree("again")
        kills = Counter(
            killed_and_resumed(whole, seconds * (point + 0.5) / points) for point in range(points)
        )
        fates = Counter(fate_of(number) for number in range(files))
        os.chdir("/")
    wrong = {fate: count for fate, count in fates.items() if fate not in ("read", "refused")}
    print(
        f"| {points} kill points over {seconds:.1f} CPU s | {dict(kills)}, all with the same bytes |"
    )
    print(f"| {files} malformed files | {dict(fates - Counter(wrong))} |")
    for fate in wrong:
        print(fate)
    print(f"{sum(os.times()[:4]) - began:.0f} CPU s")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
