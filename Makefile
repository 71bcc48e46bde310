# make test    what has to pass before a change goes in (needs a Python of 3.11 or newer, nothing else)
# make coverage    the same, twice as slow: says which lines and branches nothing runs
# make slow    the few tests that take long
# make clients install OpenRefine, Chromium, Ray, Spark and sssom, a gigabyte, whose tests then run too
# make check   formatting, lint and types
# make docs    write docs/cli, results and printed outputs into the pages, and build the site

VENV ?= .venv
BIN := $(VENV)/bin
# The first Python that is new enough; `make PYTHON=… test` names another.
PYTHON ?= $(shell for each in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	$$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$each && break; done)

# Processes that test at a time; more cores take less time: `make JOBS=8 test`.
JOBS ?= 2
PYTEST := $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal

.PHONY: test coverage slow clients check format docs clean

# More threads would only get in each other's way.
test coverage slow: export OMP_NUM_THREADS = 1
# Hundreds of the tests start Python: none of them shall compile its modules anew.
test coverage slow: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/installed
	$(PYTEST) -m 'not slow'

coverage: $(VENV)/installed
	$(PYTEST) -m 'not slow' --cov --cov-report=term --cov-fail-under=95

slow: $(VENV)/installed
	$(PYTEST) -m slow

clients: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --no-compile -c constraints.txt -e '.[ray,spark]' sssom
	tests/clients/install

check: $(VENV)/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/installed
	$(BIN)/python -m canonym.cli.reference docs/cli
	$(BIN)/python benchmarks/tables.py
	$(BIN)/python -m tests.test_docs README.md docs/index.md docs/quickstart.md docs/linking.md docs/guides/*.md
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# pip knows dependency groups from 25.1 on; the one that a new environment brings may be older.
$(VENV)/installed: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "canonym needs Python 3.11 or newer; none was found" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --no-compile -c constraints.txt -e '.[all,text]' --group dev
	@touch $@

clean:
	rm -rf $(VENV)/installed build dist site htmlcov .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis
