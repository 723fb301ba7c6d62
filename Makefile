# `make demo` and `make test` need nothing but Python 3.11 or newer with its venv module.
# PYTHON=... chooses which (make demo PYTHON=python3.12), ARGS=... goes to pytest (make test ARGS=tests/test_arm.py).
PYTHON ?= python3
VENV ?= .venv
ARGS ?=

BIN := $(VENV)/bin
GOOD_PYTHON := import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))
NEED_PYTHON = $(PYTHON) -c '$(GOOD_PYTHON)' 2>/dev/null || { \
  echo "azureml-k8s needs Python 3.11 or newer, with its venv module (Debian: python3-venv)." >&2; \
  echo "$(PYTHON) is: $$($(PYTHON) --version 2>&1 | tail -n 1). Name another: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; \
  exit 1; }

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test check format lint types contracts test-lowest test-newest test-dist test-coinstall test-peers bench clean same-python

help: ## Show this list.
	@echo "Needs Python 3.11 or newer (now: PYTHON=$(PYTHON))."
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|' 2>/dev/null \
	  || sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1  \2/p' $(MAKEFILE_LIST)

demo: $(VENV)/.with-cli ## Attach, watch and detach a cluster on an emulator on this machine.
	@$(BIN)/azureml-k8s demo

test: $(VENV)/.with-test ## Run the whole test suite.
	@$(BIN)/python -m pytest $(ARGS)

check: lint types contracts ## Format, lint, types, import contracts; then the tests, warnings as errors, with coverage.
	@rm -f .coverage .coverage.*
	@$(BIN)/python -m coverage run -m pytest -W error $(ARGS)
	@$(BIN)/python -m coverage combine --quiet && $(BIN)/python -m coverage report

format: $(VENV)/.with-dev ## Rewrite the files as `make check` wants them.
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

lint: $(VENV)/.with-dev
	@$(BIN)/ruff format --check . && $(BIN)/ruff check .

types: $(VENV)/.with-dev
	@$(BIN)/mypy

contracts: $(VENV)/.with-dev
	@$(BIN)/lint-imports

test-lowest: ## Run the tests on the lowest release that pyproject.toml allows of every direct dependency.
	@$(NEED_PYTHON)
	@PYTHON=$(PYTHON) scripts/test_lowest.sh $(ARGS)

test-newest: ## Run the tests on the newest Python of this machine, warnings as errors.
	@$(NEED_PYTHON)
	@PYTHON=$(PYTHON) scripts/test_newest.sh $(ARGS)

test-dist: $(VENV)/.with-dev ## Build the wheel and the sdist, check them, and test the wheel as installed.
	@PYTHON=$(BIN)/python scripts/test_dist.sh $(ARGS)

test-coinstall: ## Resolve this package together with others that people have (dry runs).
	@$(NEED_PYTHON)
	@PYTHON=$(PYTHON) scripts/test_coinstall.sh

test-peers: $(VENV)/.with-test ## Let the official SDKs, TensorFlow and kmock, each in an environment of its own, use what we offer.
	@$(BIN)/python tests/peers/run.py
	@$(BIN)/python scripts/own_environment.py tests/peers_kmock
	@$(BIN)/python scripts/own_environment.py tests/peers_tensorflow

bench: $(VENV)/.with-test ## Print the figures of the benchmarks.
	@set -e; for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file; done

clean: ## Remove everything that these targets made.
	rm -rf .venv .venv-* build dist .coverage .coverage.* .hypothesis .*_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One environment, a stamp per extra: a second run installs nothing until pyproject.toml changes.
$(VENV)/.made:
	@$(NEED_PYTHON)
	@echo "making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# It keeps its Python: asked for another one, make says so, and does not run the wrong one.
same-python: | $(VENV)/.made
ifneq ($(origin PYTHON),file)
	@$(NEED_PYTHON)
	@test "$$($(PYTHON) --version)" = "$$($(BIN)/python --version)" || { \
	  echo "$(VENV) has $$($(BIN)/python --version), and PYTHON=$(PYTHON) is $$($(PYTHON) --version)." >&2; \
	  echo "Use both: make $(MAKECMDGOALS) PYTHON=$(PYTHON) VENV=.venv-other. Or start anew: make clean" >&2; exit 1; }
endif

$(VENV)/.with-%: $(VENV)/.made pyproject.toml | same-python
	@echo "installing azureml-k8s[$*] into $(VENV)"
	@$(BIN)/python -m pip install -qq --editable '.[$*]'
	@touch $@
