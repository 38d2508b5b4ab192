"""112,637,066 synthetic outpatient records, 7 quasi-identifiers, a procedure code of about 4,000 values.

The size of São Paulo's base in Gonze et al. 2025. Promise: within 12 GiB.
"""

from __future__ import annotations

import resource
import sys

from census import Stream
from glasshouse import synthetic
from glasshouse.microdata.influence import best_subsets
from glasshouse.table import EncodedTable, read
from whole import swept

RECORDS = 112_637_066
PROMISED_GIB = 12.0


def outpatient(records: int) -> EncodedTable:
    made = synthetic.generator("outpatient")
    return read(
        Stream(records, name=made.name),
        quasi_identifiers=made.quasi_identifiers,
        sensitive=made.sensitive,
        name=made.name,
    )


def main() -> bool:
    _, outcome, _ = swept(lambda: outpatient(RECORDS))
    for best in best_subsets(outcome).subsets:
        if best.sensitive:
            print(f"{float(best.leakage.posterior):.2%} with {', '.join(best.quasi_identifiers)}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak {peak:.2f} GiB (promised: at most {PROMISED_GIB:g})")
    return peak <= PROMISED_GIB


if __name__ == "__main__":
    sys.exit(not main())
