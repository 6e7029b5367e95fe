# `make demo` and `make test` set everything up themselves; `make demo PORT=8001` serves there. PYTHON names the interpreter to start from.
PYTHON ?= python3
VENV := .venv
VALIDATE := .venv-validate
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
TORCH := torch==2.13.0

PART = $(MAKE) --no-print-directory
PYTEST = $(BIN)/python -m pytest -p tests.progress
# Seldom one is starved by its neighbours, or by the rest of the machine: what fails runs once more, alone.
AGAIN = $(PYTEST) -n 0 -rs --last-failed --last-failed-no-failures none
# ALL=1: the tests that are marked slow too.
CHOSEN = $(if $(ALL),,not slow and )
# Or else each process of the tests compiles everything anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo docs test test-all torch unit node e2e types lint format bench validate mutants clean

demo: $(STAMPS)/demo
	$(BIN)/openhype demo $(if $(PORT),--port $(PORT))

test: $(STAMPS)/node $(STAMPS)/browser
	@echo "1 of 3: lint, types and tests of the page's modules; about 12 minutes left in all, on two cores"
	@$(PART) lint types node
	@echo "2 of 3: unit tests that are not slow; about 11 minutes left in all"
	@$(PART) unit
	@echo "3 of 3: browser tests that are not slow; about 4 minutes left in all"
	@$(PART) e2e

test-all: $(STAMPS)/node $(STAMPS)/browser
	@echo "1 of 3: lint, types and tests of the page's modules; about 75 minutes left in all, on two cores"
	@$(PART) lint types node
	@echo "2 of 3: all unit tests; about 74 minutes left in all"
	@$(PART) unit ALL=1
	@echo "3 of 3: all browser tests; about 48 minutes left in all"
	@$(PART) e2e ALL=1

# For the tests of LPIPS, which are skipped without: large, and therefore only what CI and who asks for it installs.
torch: $(STAMPS)/dev
	$(BIN)/python -m pip install --quiet $(TORCH)

lint: $(STAMPS)/node
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/python -m tests.node lint

format: $(STAMPS)/node
	$(BIN)/ruff format .
	$(BIN)/python -m tests.node format

types: $(STAMPS)/node
	$(BIN)/python -m tests.node types

node: $(STAMPS)/node
	$(BIN)/python -m tests.node test

unit: $(STAMPS)/node
	$(PYTEST) tests/unit -n 3 --dist worksteal $(if $(ALL),,-m "not slow") || $(AGAIN) tests/unit

e2e: $(STAMPS)/node $(STAMPS)/browser
	$(PYTEST) tests/e2e -n 3 --dist worksteal -rs -m "$(CHOSEN)not alone" || $(AGAIN) tests/e2e
	$(PYTEST) tests/e2e -n 0 -rs -m "$(CHOSEN)alone" || [ $$? -eq 5 ] || $(AGAIN) tests/e2e  # 5: there are none

# The documentation site with its gallery, in build/docs: warnings are errors, and every link and anchor is checked.
docs: $(STAMPS)/dev
	$(BIN)/python -m tests.docs_site

bench: $(STAMPS)/dev
	$(BIN)/python -m bench

# Which small defects of the modules that must be right do the tests notice? OPTIONS="--mutants 40 --seed 1".
mutants: $(STAMPS)/node
	$(BIN)/python -m pip install --quiet --group mutants
	$(BIN)/python -m tests.mutation $(OPTIONS)

# In an environment of its own: what it compares with is large, and nothing else needs it.
validate: $(VALIDATE)/.installed
	$(VALIDATE)/bin/python -m validate

$(VALIDATE)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "openhype needs Python 3.11 or newer; run: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VALIDATE)
	$(VALIDATE)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(VALIDATE)/bin/python -m pip install --quiet --editable . --group validate
	touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "openhype needs Python 3.11 or newer; run: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	mkdir -p $(STAMPS)

$(STAMPS)/demo: pyproject.toml | $(BIN)/python
	mkdir -p $(STAMPS)
	$(BIN)/python -m pip install --quiet --editable '.[demo,report]'
	touch $@

$(STAMPS)/dev: pyproject.toml | $(BIN)/python
	mkdir -p $(STAMPS)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable '.[demo,report]' --group dev
	touch $@

$(STAMPS)/node: package.json package-lock.json $(STAMPS)/dev
	$(BIN)/python -m tests.node install
	touch $@

$(STAMPS)/browser: $(STAMPS)/dev
	$(BIN)/python -m tests.browser
	touch $@

clean:
	rm -rf $(VENV) $(VALIDATE) node_modules build dist *.egg-info
