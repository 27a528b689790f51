# make run   - install into .venv and answer a real question
# make test  - install what the tests need and run all of them
# make docs  - build the documentation site in docs/_build
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport PYTHONDONTWRITEBYTECODE  # else every command that a test starts compiles the package again

.PHONY: run test lint quick bench docs clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q -e '.[plot]'
	touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q -e '.[dev]'
	touch $@

run: $(VENV)/.core
	$(BIN)/tightrope demo

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test quick: export OPENBLAS_NUM_THREADS := 1  # there are as many workers as cores

test: $(VENV)/.dev lint
	$(BIN)/python tests/postgres.py
	$(BIN)/coverage erase
	$(BIN)/python -m pytest -n auto --dist worksteal --cov --cov-branch --cov-report=
	$(BIN)/python -m pytest --doctest-modules src --cov --cov-append --cov-report=
	$(BIN)/coverage report --include='*/numerics/*,*/curves/*,*/mechanisms/*,*/noise/*,*/queries/*,*/budget/*,*/accounting/*' --fail-under=98 --skip-covered

quick: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto -x tests/papers tests/oracles/test_vectors.py tests/laws/test_values.py \
		tests/laws/test_accountant.py tests/attacks/test_peer_mistakes.py tests/doors/test_public_names.py

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/core.py
	$(BIN)/python benchmarks/compare.py --write
	$(BIN)/python benchmarks/soundness.py
	$(BIN)/python benchmarks/sweep.py
	$(BIN)/python benchmarks/noise.py
	$(BIN)/python benchmarks/ledger.py

clean:
	rm -rf $(VENV) docs/_build .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
