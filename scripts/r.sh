#!/bin/sh
# Check the R package: find R and the packages that its tests need, or install them; build it; R CMD check it.
#
# "sh scripts/r.sh document" renews the help pages from the comments instead.
set -eu
needed="jsonlite testthat knitr rmarkdown"
[ "${1:-check}" != document ] || needed="$needed roxygen2"

missing() {
    command -v Rscript >/dev/null || { echo r-base-core r-base-dev; }
    command -v pandoc >/dev/null || echo pandoc
    for package in $needed; do
        Rscript --vanilla -e "if (!requireNamespace('$package', quietly = TRUE)) quit(status = 1)" >/dev/null 2>&1 \
            || echo "r-cran-$package"
    done
}

absent=$(missing | tr '\n' ' ')
if [ -n "$absent" ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $absent >/dev/null
    absent=$(missing | tr '\n' ' ')
fi
if [ -n "$absent" ]; then
    echo "the R package is not checked: install $absent(Debian's names) first" >&2
    exit "${GLASSHOUSE_NOTHING_SKIPPED:-0}"
fi

cd "$(dirname "$0")/.."
if [ "${1:-check}" = document ]; then
    Rscript --vanilla -e 'roxygen2::roxygenise("r")'
    exit
fi
GLASSHOUSE_COMMAND=${GLASSHOUSE_COMMAND:-$PWD/.venv/bin/glasshouse}
export GLASSHOUSE_COMMAND
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
root=$PWD
cd "$place"
R CMD build "$root/r"
# The vignette has been carried out by building it.
R CMD check --no-manual --no-vignettes glasshouse_*.tar.gz
grep -q '^Status: OK' glasshouse.Rcheck/00check.log || {
    cat glasshouse.Rcheck/tests/*.Rout.fail 2>/dev/null
    echo "R CMD check has something to say, see above" >&2
    exit 1
}
sed -n '/^```r$/,/^```$/{/^```/d;p}' "$root/r/README.md" > example.R
Rscript --vanilla -e '.libPaths(c("glasshouse.Rcheck", .libPaths())); pdf(NULL); source("example.R")' >/dev/null
tests=$(sed -n 's/^.*\[ FAIL 0 .* SKIP \([0-9]*\) .* PASS \([0-9]*\) \].*$/\2 passed, 0 failed, \1 skipped/p' glasshouse.Rcheck/tests/testthat.Rout | tail -1)
echo "R: ${tests:?its tests did not run}"
