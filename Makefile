# Needs Python 3.11 or newer and make; sets up .venv by itself.
PYTHON ?= python3
# Where this is set, each of the hundreds of processes of the tests would compile what it imports.
unexport PYTHONDONTWRITEBYTECODE
BIN := .venv/bin
# Python compiles the modules that it imports, which are a part of those that are installed.
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
RUNS ?= 100

.PHONY: setup reproduce test verify lint benchmark docs dist clean

setup: .venv/tools

.venv:
	$(PYTHON) -m venv .venv

# The package with what draws figures; or with all tools of tests and docs.
.venv/package: pyproject.toml constraints.txt | .venv
	$(INSTALL) --editable '.[plots]'
	touch $@

.venv/tools: pyproject.toml constraints.txt | .venv
	$(INSTALL) --editable '.[dev]'
	touch .venv/package $@

reproduce: .venv/package
	$(BIN)/lowregret reproduce --runs $(RUNS) --seed 1 --out reproduction

# One process more than cores: tests often wait for another process.
test: setup
	$(BIN)/pytest --numprocesses $$($(PYTHON) -c 'import os; print(os.cpu_count() + 1)') --durations 15 --quiet -m "not heavy" $(TESTS)

# Tests that take long, the oldest supported Numba, in .venv-oldest, and the policies of other packages, in .venv-peers.
verify: setup
	$(BIN)/pytest --numprocesses auto --quiet -m heavy -o faulthandler_timeout=3600
	$(PYTHON) tools/verify_numba.py
	$(PYTHON) tools/verify_peers.py
	$(PYTHON) tools/verify_confseq.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/codespell

docs: setup  # site/index.html; with --quiet, --strict would see no warning
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

dist: setup  # dist/*.tar.gz, dist/*.whl
	$(BIN)/python -m build
	$(BIN)/python tools/verify_wheel.py

benchmark: setup
	$(BIN)/python benchmarks/all.py

clean:
	rm -rf .venv .venv-oldest .venv-peers .venv-confseq .cache dist site benchmarks/results reproduction .pytest_cache .mypy_cache .ruff_cache .hypothesis
