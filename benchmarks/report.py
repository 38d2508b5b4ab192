"""The report of all 2,047 subsets: CPU of building, of HTML and of paper, against drawing one picture; and its bytes.

Promises: at most 5 CPU seconds in all for building and HTML, and at most 3 MB.
"""

from __future__ import annotations

import sys

from census import school_census
from glasshouse.microdata import Assessment
from glasshouse.microdata.lattice import sweep
from glasshouse.report import Page, Provenance, archive
from glasshouse.report.assess.page import assessment_page
from glasshouse.report.charts import to_svg
from glasshouse.report.html import to_html
from glasshouse.report.pdf import to_pdf
from measure import cpu_seconds

RECORDS = 20_000
SECONDS, BYTES = 5.0, 3_000_000
PROVENANCE = Provenance(version="0", study='command = "assess"\n', datasets=("people.csv",))


def main() -> bool:
    table = school_census(RECORDS)
    swept = sweep(table)
    assessment = Assessment.of_sweep(swept)

    def build() -> Page:
        return assessment_page(assessment, subject="student", provenance=PROVENANCE, sweep=swept)

    page = build()
    picture = cpu_seconds(lambda: to_svg(page.figures[-1].chart), repeats=3)
    print(f"{len(swept.masks):,} subsets; drawing one picture: {picture:.3f} CPU s")
    steps = {
        "building the page": cpu_seconds(build, repeats=3),
        "HTML": cpu_seconds(lambda: to_html(page), repeats=3),
        "paper": cpu_seconds(lambda: to_pdf(page), repeats=3),
    }
    for name, seconds in steps.items():
        print(f"{name}: {seconds:.3f} CPU s, {seconds / picture:.1f} pictures")
    sizes = {
        "HTML": len(to_html(page).encode()),
        "paper": len(to_pdf(page)),
        "JSON": len(archive.to_json({"en": page}).encode()),
    }
    for name, size in sizes.items():
        print(f"{name}: {size:,} bytes")
    whole = steps["building the page"] + steps["HTML"]
    held = whole <= SECONDS and max(sizes.values()) <= BYTES
    print(
        f"building and HTML: {whole:.3f} CPU s (promised: at most {SECONDS:g}), {sizes['HTML']:,} bytes (promised: at "
        f"most {BYTES:,}) {'holds' if held else 'BROKEN'}"
    )
    return held


if __name__ == "__main__":
    sys.exit(not main())
