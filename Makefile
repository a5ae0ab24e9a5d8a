# Each target sets up what it needs: a virtual environment in .venv, with the tested versions.
VENV := .venv
BIN := $(VENV)/bin
KERAS := .venv-keras
PYTHON ?= python3
CASES ?= 20000
SEED ?=
DEVICE ?= cpu
SHARDS ?= $(shell nproc)
JOBS ?= 2

ON_GPU := PYTHONPATH=$(CURDIR)/src $(PYTHON)

.PHONY: help demo test compile-gpu test-gpu test-keras test-browser check check-page format battery bench bench-gpu page clean
.DEFAULT_GOAL := help

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# torch first and alone: its version decides which build everything after it is content with
$(VENV)/ready-demo: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[all]'
	touch $@

$(VENV)/ready: $(VENV)/ready-demo
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[all,keras,test,check]'
	touch $@

$(VENV)/ready-bench: $(VENV)/ready
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[bench]'
	touch $@

$(VENV)/ready-browser: $(VENV)/ready
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[browser]'
	touch $@

# an environment of its own: `make test` must not depend on whether TensorFlow and JAX are there
$(KERAS)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(KERAS)
	$(KERAS)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(KERAS)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[keras,view]' jax pytest tensorflow-cpu
	touch $@

demo: $(VENV)/ready-demo  ## kernel regression as attention, then a translation: a table, figures and a page in build/
	$(BIN)/regard demo --figure build/demo.png --page build/demo.html

# In two processes, one thread each: more is no faster where two cores are. What they say comes last.
test: $(VENV)/ready  ## every test, and every example in a docstring
	@mkdir -p build; failed=0; pids=; \
	for i in $$(seq 0 $$(($(JOBS) - 1))); do \
		OMP_NUM_THREADS=1 $(BIN)/python -m pytest -p no:cacheprovider --durations 12 --shard $$i/$(JOBS) \
			--doctest-modules --ignore tests/browser src tests >build/test-$$i.txt 2>&1 & pids="$$pids $$!"; \
	done; \
	for pid in $$pids; do wait $$pid || failed=1; done; \
	for i in $$(seq 0 $$(($(JOBS) - 1))); do cat build/test-$$i.txt; done; \
	exit $$failed

# needs no GPU; some 650 kernels for each, half an hour on one core
compile-gpu: $(VENV)/ready  ## every GPU kernel as compiled for sm_80, sm_89 and sm_90: does it, and is there room? [ARCH=90]
	$(BIN)/python -m tests.compiled $(if $(ARCH),--arch $(ARCH))

# on a machine that has torch and triton and where nothing can be installed: its own Python. What a
# package that is missing there keeps from being collected is told, and the rest runs. In as many
# processes as there are cores: nearly all of the time goes to compiling kernels.
test-gpu:  ## the whole suite and the battery on a GPU, with the Python that is there
	@$(PYTHON) -c 'import torch' 2>/dev/null || { echo "test-gpu: $(PYTHON) has no torch" >&2; exit 2; }
	@$(PYTHON) -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' || { \
		echo "test-gpu: there is no GPU here, or this torch has no CUDA; nothing was run" >&2; \
		echo "make test runs the GPU's kernels in Triton's interpreter" >&2; exit 2; }
	@mkdir -p build; failed=0; pids=; \
	for i in $$(seq 0 $$(($(SHARDS) - 1))); do \
		$(ON_GPU) -m pytest -p no:cacheprovider --continue-on-collection-errors --shard $$i/$(SHARDS) \
			--doctest-modules src tests >build/test-gpu-$$i.txt 2>&1 & pids="$$pids $$!"; \
	done; \
	for pid in $$pids; do wait $$pid || failed=1; done; \
	grep -hE '^(FAILED|ERROR|SKIPPED)' build/test-gpu-*.txt | sort | uniq -c; \
	tail -qn 1 build/test-gpu-*.txt; \
	$(ON_GPU) -m tests.battery --device cuda --cases $(CASES) $(if $(SEED),--seed $(SEED)) \
		|| failed=1; \
	exit $$failed

test-keras: test-keras-tensorflow test-keras-jax  ## the tests of regard.keras on TensorFlow and on JAX

test-keras-%: $(KERAS)/ready
	KERAS_BACKEND=$* $(KERAS)/bin/python -m pytest -p no:cacheprovider --doctest-modules \
		src/regard/keras tests/keras tests/examples/test_keras_width.py

# Debian's Chromium: what pip's Playwright brings would be fetched from elsewhere. Noto for Chinese.
test-browser: $(VENV)/ready-browser  ## the page in a real browser; installs Chromium where it may
	@command -v chromium >/dev/null || [ -n "$$REGARD_CHROMIUM" ] || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			apt-get update -qq && apt-get install -y -qq chromium fonts-noto-cjk >/dev/null; \
		else \
			echo "test-browser: no Chromium here; install the packages chromium and fonts-noto-cjk," >&2; \
			echo "or say where one is: make test-browser REGARD_CHROMIUM=/path/to/chromium" >&2; exit 2; \
		fi; }
	OMP_NUM_THREADS=1 REGARD_BROWSER=required $(BIN)/python -m pytest -p no:cacheprovider tests/browser

page/node_modules/.package-lock.json: page/package.json page/package-lock.json
	@command -v npm >/dev/null || { \
		echo "page: no npm here; install Node 18 or later, with npm" >&2; exit 2; }
	cd page && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

page: page/node_modules/.package-lock.json  ## the page's script and style, from page/src into the package
	cd page && npm run --silent build

check-page: page/node_modules/.package-lock.json  ## the page's types and tests, and that it is built from its sources
	cd page && npm run --silent check && npm test --silent && node build.mjs ../build/page
	@diff -rq build/page src/regard/viewing/built || { \
		echo "check-page: src/regard/viewing/built is not what page/src gives; make page" >&2; exit 1; }

check: $(VENV)/ready  ## ruff (its rules and its format), mypy --strict, import-linter; the page, where Node is
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory check-page; \
	else echo "check: no npm here, so the page was not checked"; fi

format: $(VENV)/ready  ## ruff's fixes, and the code rewritten in its format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

battery: $(VENV)/ready  ## the long randomised run: make battery CASES=20000 [SEED=1] [DEVICE=cuda]
	$(BIN)/python -m tests.battery --cases $(CASES) --device $(DEVICE) $(if $(SEED),--seed $(SEED))

bench: $(VENV)/ready-bench  ## ours beside the peers: times, memory, growth; writes benchmarks/REPORT.md
	$(BIN)/python -m benchmarks.run
	$(BIN)/python -m benchmarks.layers
	$(BIN)/python -m benchmarks.regression
	$(BIN)/python -m benchmarks.long_sound
	$(BIN)/python -m benchmarks.report

# with the Python that is there, as test-gpu; the report where its plots can be drawn
bench-gpu:  ## attention on a GPU beside its peers: adds rows, and to REPORT.md; [ARGS=--no-compile]
	PYTHONPATH=src:. $(PYTHON) -m benchmarks.gpu $(ARGS)
	@if $(PYTHON) -c 'import matplotlib, sklearn' 2>/dev/null; then \
		PYTHONPATH=src:. $(PYTHON) -m benchmarks.report; \
	else \
		echo "bench-gpu: no matplotlib or scikit-learn here; the rows are in benchmarks/data"; \
		echo "make the report where they are: python -m benchmarks.report"; \
	fi

clean:  ## remove the environment and what was built
	rm -rf $(VENV) $(KERAS) build page/node_modules page/build
