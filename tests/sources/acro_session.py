"""Let ACRO itself write the folders that tests read: run by the Python of an environment that has ACRO.

    python tests/sources/acro_session.py records.json folder

It knows nothing of Glasshouse. The folders below ``tests/sources/acro`` were written so, by ACRO 1.0.2.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any

TABLES = (("parents", "has_nurs"), ("parents", "finance"), ("has_nurs", "social"))


def main(records: Path, folder: Path) -> None:
    import acro  # type: ignore[import-not-found, unused-ignore]
    import pandas as pd  # type: ignore[import-untyped, unused-ignore]

    logging.disable()
    frame = pd.DataFrame(json.loads(records.read_text()))
    frame["income"] = [1000 + 7 * number % 400 for number in range(len(frame))]
    frame["children"] = [number % 4 for number in range(len(frame))]

    def session(name: str, *tables: tuple[str, str], **options: Any) -> Any:
        made = acro.ACRO(**options)
        for down, across in tables:
            made.crosstab(frame[down], frame[across], margins=True)
        made.output_folder = folder / name
        return made

    def close(made: Any) -> None:
        for uid in made.results.results:
            made.add_exception(uid, "none")
        made.finalise(str(made.output_folder))

    close(session("first", TABLES[0], suppress=True))
    second = session("second", *TABLES[1:], suppress=True)
    second.crosstab(frame["parents"], frame["finance"], values=frame["income"], aggfunc="mean")
    second.ols(frame["income"], frame[["children"]])
    few = frame.head(8)
    second.ols(few["income"], few[["children"]])
    close(second)
    close(session("rounded", TABLES[0], mitigation="round"))
    zeros = session("zeros", suppress=True)
    zeros.sdc_checks.risk_appetite["zeros_are_disclosive"] = False
    zeros.crosstab(frame["parents"], frame["has_nurs"], margins=True)
    close(zeros)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
