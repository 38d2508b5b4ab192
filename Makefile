# Two commands do the main jobs on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CORES = $(shell getconf _NPROCESSORS_ONLN)
# So many processes run tests: some wait, for a page or a child, while others work.
PROCESSES = $(shell expr $(CORES) + 2)
unexport PYTHONDONTWRITEBYTECODE # some hundred processes read what the first one has parsed
CONSTRAINED := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help demo app docs test check lint types imports messages doctests collected tests quick browser r thorough soak bare oldest acro matrix benchmarks papers clean

help: ## Show what can be done
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Glasshouse needs Python 3.11 or newer; set PYTHON=python3.x")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(CONSTRAINED) --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(BIN)/python
	$(CONSTRAINED) uv && $(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '.[dev]' \
		|| $(CONSTRAINED) --no-compile --editable '.[dev]' # which knows mirrors that are set for pip only
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed ## Install, assess a synthetic census, name the report
	$(BIN)/glasshouse demo
	@echo "The same in a browser, and a file of yours after it: make app"

$(VENV)/.installed-app: pyproject.toml constraints.txt | $(BIN)/python
	$(CONSTRAINED) --editable '.[app]'
	@touch $@

app: $(VENV)/.installed-app ## Install, make the demo, open it in a browser (ARGS=--no-browser does not)
	@test -e glasshouse-demo/report.json || $(BIN)/glasshouse demo
	$(BIN)/glasshouse app glasshouse-demo $(ARGS)

$(VENV)/.installed-docs: pyproject.toml constraints.txt | $(BIN)/python
	$(CONSTRAINED) --editable '.[docs]'
	@touch $@

docs: $(VENV)/.installed-docs ## Build the site in both languages into site/, without a request
	$(BIN)/python scripts/website.py

test: $(VENV)/.installed-dev ## Install what the tests need and run every check
	$(MAKE) --jobs 2 --output-sync lint doctests types imports browser collected
	$(MAKE) tests

check: lint imports messages ## The checks that take seconds, as before every commit

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	@$(BIN)/python scripts/compiled.py restore --types
	$(BIN)/mypy
	@$(BIN)/python scripts/compiled.py keep --types

imports: $(VENV)/.installed-dev
	$(BIN)/lint-imports

messages: $(VENV)/.installed-dev
	$(BIN)/python scripts/messages.py --check

doctests: $(VENV)/.installed-dev
	@$(BIN)/python scripts/compiled.py restore
	$(BIN)/pytest --quiet --doctest-modules src

collected: $(VENV)/.installed-dev # what one process has parsed, those that run the tests need not
	@$(BIN)/pytest --quiet --collect-only > $(VENV)/collected.txt 2>&1 || { cat $(VENV)/collected.txt; exit 1; }
	@grep ' tests collected' $(VENV)/collected.txt

tests: $(VENV)/.installed-dev
	@$(BIN)/python scripts/compiled.py restore
	$(BIN)/pytest --numprocesses $(PROCESSES) --dist loadscope --no-loadscope-reorder; \
	status=$$?; $(BIN)/python scripts/compiled.py keep; exit $$status

quick: $(VENV)/.installed-dev ## Run the tests that find most faults, in two minutes
	@$(BIN)/python scripts/compiled.py restore
	$(BIN)/pytest --numprocesses $(CORES) --dist loadscope --no-loadscope-reorder @tests/quick.txt

browser: $(VENV)/.installed-dev
	@PATH="$(BIN):$$PATH" sh scripts/browser.sh

r: $(VENV)/.installed-dev ## Check the R package: R and what its tests need are installed where that can be done
	@GLASSHOUSE_COMMAND=$(abspath $(BIN))/glasshouse sh scripts/r.sh

thorough: $(VENV)/.installed-dev ## Run the tests with every random case, width and theme; takes an hour
	GLASSHOUSE_THOROUGH=1 $(MAKE) tests

soak: $(VENV)/.installed-dev ## Kill 200 runs and damage 500 files; takes a quarter of an hour
	$(BIN)/python -m tests.soak

# Environments of their own, made anew: what is tried must not depend on what was installed before.
TRIED := tests/qif tests/study tests/sources tests/test_views.py tests/test_conditions.py tests/test_verbs.py \
	tests/cli/test_errors.py tests/microdata/test_attack.py tests/microdata/test_golden.py
TRY = NUMBA_CACHE_DIR=$(CURDIR)/$(1)/compiled GLASSHOUSE_WITHOUT_EXTRAS=1 $(1)/bin/pytest --quiet --tb=short $(TRIED)

bare: ## Try what is installed without any extra: the demo, a check, and the tests that need none
	$(PYTHON) -m venv --clear .venv-bare
	.venv-bare/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[tests]'
	.venv-bare/bin/glasshouse demo --out .venv-bare/demo
	.venv-bare/bin/glasshouse check .venv-bare/demo/census-2019.csv || test $$? -eq 4
	$(call TRY,.venv-bare)

oldest: ## Try the lowest versions that pyproject.toml allows, of whatever has a wheel
	$(PYTHON) -m venv --clear .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet uv
	.venv-oldest/bin/uv pip install --quiet --python .venv-oldest/bin/python --only-binary :all: \
		--resolution lowest-direct --editable '.[app,formats,forms,learn,pdf,postgres,tests]'
	$(call TRY,.venv-oldest)

acro: $(VENV)/.installed-dev ## Let ACRO, in an environment of its own, write again the folders that tests read
	$(PYTHON) -m venv .venv-acro && .venv-acro/bin/pip install --quiet acro
	GLASSHOUSE_ACRO=$(abspath .venv-acro)/bin/python $(BIN)/pytest --quiet tests/sources/test_acro.py

matrix: ## Try both, and both with Python 3.13 where there is one
	$(MAKE) bare oldest
	! python3.13 --version || $(MAKE) bare oldest PYTHON=python3.13

benchmarks: $(VENV)/.installed-dev ## Run every benchmark; each prints ratios against a baseline
	for benchmark in benchmarks/*.py; do $(BIN)/python $$benchmark || exit 1; done

papers: $(VENV)/.installed ## Print the tables of five publications at full size, beside ours; takes half an hour or more
	for paper in papers/*[0-9].py; do $(BIN)/python $$paper --full || exit 1; done

clean: ## Remove the environment and everything generated
	rm -rf $(VENV) .venv-bare .venv-oldest .venv-acro .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis glasshouse-demo site
