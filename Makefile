# Each target sets up what it needs: a virtual environment in .venv, with the tested versions.
VENV := .venv
BIN := $(VENV)/bin
KERAS := .venv-keras
PYTHON ?= python3
CASES ?= 20000
SEED ?=

.PHONY: help demo test test-keras check format battery bench clean
.DEFAULT_GOAL := help

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# torch first and alone: its version decides which build everything after it is content with
$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[all,keras,test,check]'
	touch $@

$(VENV)/ready-bench: $(VENV)/ready
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[bench]'
	touch $@

# an environment of its own: `make test` must not depend on whether TensorFlow and JAX are there
$(KERAS)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(KERAS)
	$(KERAS)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(KERAS)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[keras,view]' jax pytest tensorflow-cpu
	touch $@

demo: $(VENV)/ready  ## kernel regression as attention: a table and a figure, in build/demo.png
	$(BIN)/regard demo --figure build/demo.png

test: $(VENV)/ready  ## every test, and every example in a docstring
	$(BIN)/python -m pytest --doctest-modules src tests

test-keras: test-keras-tensorflow test-keras-jax  ## the tests of regard.keras on TensorFlow and on JAX

test-keras-%: $(KERAS)/ready
	KERAS_BACKEND=$* $(KERAS)/bin/python -m pytest -p no:cacheprovider --doctest-modules \
		src/regard/keras tests/keras tests/examples/test_keras_width.py

check: $(VENV)/ready  ## ruff (its rules and its format), mypy --strict, import-linter
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/ready  ## ruff's fixes, and the code rewritten in its format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

battery: $(VENV)/ready  ## the long randomised run: make battery CASES=20000 [SEED=1]
	$(BIN)/python -m tests.battery --cases $(CASES) $(if $(SEED),--seed $(SEED))

bench: $(VENV)/ready-bench  ## ours beside the peers: times, memory, growth; writes benchmarks/REPORT.md
	$(BIN)/python -m benchmarks.run
	$(BIN)/python -m benchmarks.layers
	$(BIN)/python -m benchmarks.regression
	$(BIN)/python -m benchmarks.report

clean:  ## remove the environment and what was built
	rm -rf $(VENV) $(KERAS) build
