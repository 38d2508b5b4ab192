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


def main() -> int:
    """Kill, damage, and tell."""
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
            killed_and_resumed(whole, seconds * (point + 0.5) / KILLS) for point in range(KILLS)
        )
        fates = Counter(fate_of(number) for number in range(FILES))
        os.chdir("/")
    wrong = {fate: count for fate, count in fates.items() if fate not in ("read", "refused")}
    print(
        f"| {KILLS} kill points over {seconds:.1f} CPU s | {dict(kills)}, all with the same bytes |"
    )
    print(f"| {FILES} malformed files | {dict(fates - Counter(wrong))} |")
    for fate in wrong:
        print(fate)
    print(f"{sum(os.times()[:4]) - began:.0f} CPU s")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
