# `make` alone lists the commands. Each sets up what it needs first, once, and says so.

PYTHON   ?= python3
WORKERS  ?= logical
ARGS     ?=
UPGRADE  ?=
VERSION  ?=
DRY      ?=

VENV     := .venv
BIN      := $(VENV)/bin
UV       := build/lock/bin/uv
# The newest that was tried; only `make lock` uses it.
UV_VERSION := 0.13.7

SAY      := @printf '\n\033[1m%s\033[0m\n'

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check fix fuzz mutants bench browser hooks lock tree release clean

help: ## List these commands
	@printf 'Tidemill: make COMMAND\n\n'
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1|\2/' | awk -F'|' '{ printf "%-9s %s\n", $$1, $$2 }'
	@printf '\nMore words for a command go in ARGS: make test ARGS="-k breaker"\n'

demo: $(VENV)/ready-base ## Watch Tidemill scrape a small web of misbehaving sites
	$(SAY) 'Running the demo (Ctrl-C ends it)'
	@$(BIN)/tidemill demo $(ARGS)

test: $(VENV)/ready-develop browser ## Run all tests, with the real PostgreSQL, Redis and Chromium
	$(SAY) 'Running the tests'
	@$(BIN)/pytest -n $(WORKERS) --maxprocesses 8 --dist worksteal $(ARGS)

check: $(VENV)/ready-develop ## Check style, types, layers and secrets; change nothing
	$(SAY) 'Checking style'
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	$(SAY) 'Checking types'
	@$(BIN)/mypy
	$(SAY) 'Checking layers'
	@$(BIN)/lint-imports
	$(SAY) 'Checking files'
	@if [ -e .git ]; then $(FILE_HOOKS); else echo 'Not a git checkout: nothing to check for secrets and whitespace.'; fi

# What a commit is checked for that ruff and mypy have not seen yet: secrets, whitespace, merge markers, size.
FILE_HOOKS = PRE_COMMIT_HOME=build/pre-commit SKIP=ruff-check,ruff-format,mypy $(BIN)/pre-commit run --all-files

hooks: $(VENV)/ready-develop ## Check every commit before it is made
	@$(BIN)/pre-commit install

fix: $(VENV)/ready-develop ## Format, and repair what can be repaired safely
	$(SAY) 'Fixing style'
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

fuzz: $(VENV)/ready-develop ## Read mutated pages of the fixtures (ROUNDS=2000), then random ones (SECONDS=600, SEED=)
	$(SAY) 'Reading mutated pages'
	@PYTHONPATH=tests $(BIN)/python -m rig.mutated_pages $(or $(ROUNDS),2000)
	@$(BIN)/python tools/fuzz.py --seconds $(or $(SECONDS),600) $(if $(SEED),--seed $(SEED))

mutants: $(VENV)/ready-develop ## Plant one bug after the other, and show which test notices it (ARGS="--only fence")
	@$(BIN)/python tools/mutants.py $(ARGS)

bench: $(VENV)/ready-bench ## Measure against Scrapy and a bare script; writes bench.json
	$(SAY) 'Measuring (several minutes)'
	@$(BIN)/tidemill bench $(ARGS)

# Debian's package where we may install it, else npm's, unpacked; without either, tests that need one skip and say so.
FOUND := $(BIN)/python -c 'from tidemill.fetching.browsers.find_browser import find_browser; find_browser()' 2>/dev/null

browser: $(VENV)/ready-develop ## Get a Chromium for pages that need JavaScript, if there is none
	@$(FOUND) || { printf '\nGetting a Chromium\n'; \
		{ [ "$$(id -u)" = 0 ] && apt-get update -qq >/dev/null 2>&1 && \
		  apt-get install -qq -y chromium-headless-shell >/dev/null 2>&1; } || \
		{ npm install --silent --no-save --no-audit --no-fund --prefix build/npm @sparticuz/chromium && \
		  $(BIN)/python tests/rig/unpack_chromium.py build/npm/node_modules/@sparticuz/chromium build/chromium; } || \
		echo 'There is none to be had: the tests in a browser are skipped.'; }

# Nothing that names a host or a machine gets into the files.
LOCK = $(UV) --quiet --no-config pip compile --universal --python-version 3.11 --generate-hashes $(UPGRADE) \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links
EXTRAS := $(addprefix --extra ,postgres browser curl redis celery s3 parquet apprise traces web-poet scrapy)

# The widest set is resolved first and the others within it, so that all of them agree.
lock: $(UV) ## Pin every dependency again (UPGRADE=--upgrade for newer ones)
	$(SAY) 'Locking the requirements'
	@$(LOCK) pyproject.toml $(EXTRAS) --group test --group check --group bench -o requirements/bench.txt
	@$(LOCK) pyproject.toml $(EXTRAS) --group test --group check -c requirements/bench.txt -o requirements/develop.txt
	@$(LOCK) pyproject.toml -c requirements/develop.txt -o requirements/base.txt
	@$(LOCK) --group release -c requirements/bench.txt -o requirements/release.txt

tree: ## Write the tree of the code into CONTRIBUTING.md
	@$(PYTHON) tools/tree.py

# Without VERSION, DRY=1 rehearses the version that the package has.
release: $(VENV)/ready-develop $(VENV)/ready-release ## Check, build, try and tag VERSION (DRY=1 for a rehearsal)
	@$(BIN)/python tools/release.py $(VERSION) $(if $(DRY),--dry-run)

clean: ## Remove the virtual environment, builds and caches
	@rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(UV):
	$(SAY) 'Installing uv, for locking only'
	@$(PYTHON) -m venv build/lock
	@build/lock/bin/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

# One stamp per set of requirements: newer than its lock file and pyproject.toml means installed.
$(VENV)/ready-%: requirements/%.txt pyproject.toml | $(VENV)/made
	$(SAY) 'Installing the pinned requirements ($<)'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --use-pep517 --require-hashes -r $<
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo 'Tidemill needs Python 3.11 or newer as "$(PYTHON)"; name another with: make PYTHON=python3.12 ...' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo 'This Python cannot make virtual environments. On Debian or Ubuntu: sudo apt install python3-venv' >&2; exit 1; }
	$(SAY) 'Creating a virtual environment in $(VENV)'
	@$(PYTHON) -m venv $(VENV)
	@touch $@
