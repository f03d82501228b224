# Everything runs from .venv, which `make install` creates; only python3 with its venv module is needed.
PYTHON ?= python3
TEST_WORKERS ?= 2

BIN := .venv/bin
PIP_INSTALL := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt
INSTALLED := .venv/.installed
CORE := .venv/.core

.DEFAULT_GOAL := help
.PHONY: help install train test test-slow check format docs notebooks benchmark hooks clean

help: ## show this list
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|' 2>/dev/null \
		|| grep -E '^[a-z-]+:.*## ' Makefile

install: $(INSTALLED) ## create .venv with deepcrib and everything it uses; again only when its versions change

$(INSTALLED): $(CORE)
	$(PIP_INSTALL) -e '.[all]'
	touch $@

# What training and matches need. torch comes first and alone: it is by far the largest, and decides versions of others.
$(CORE): pyproject.toml constraints.txt
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv
	$(PIP_INSTALL) torch
	$(PIP_INSTALL) -e .
	touch $@

train: $(CORE) ## train the quick agent and measure it; installs the core alone
	$(BIN)/deepcrib train experiment=quick

# Tests start some hundred interpreters, which load compiled modules faster than they compile them.
test: install ## run the test suite
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n $(TEST_WORKERS) --dist worksteal

test-slow: install ## run the tests that take half a minute or more each
	$(BIN)/pytest -m slow

check: install ## lint, formatting and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: install ## repair what ruff can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: install ## build the site into docs/_build/html; a warning is an error
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

notebooks: install ## execute the notebooks and keep their outputs
	$(BIN)/python notebooks/execute.py

benchmark: install ## games and training iterations a second on this machine
	$(BIN)/python -m benchmarks.speed.machine

hooks: install ## run `make check` before every commit
	$(BIN)/pre-commit install

clean: ## remove .venv and caches, never outputs/
	rm -rf .venv build dist docs/_build docs/reference .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find deepcrib tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
