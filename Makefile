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
.PHONY: help demo test check fix fuzz mutants bench cluster cluster-down chaos kills match-chaos match-faults browser axe prometheus pooler units rules hooks lock tree release clean

help: ## List these commands
	@printf 'Tidemill: make COMMAND\n\n'
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1|\2/' | awk -F'|' '{ printf "%-12s %s\n", $$1, $$2 }'
	@printf '\nMore words for a command go in ARGS: make test ARGS="-k breaker"\n'

demo: $(VENV)/ready-base ## Watch Tidemill scrape a small web of misbehaving sites
	$(SAY) 'Running the demo (Ctrl-C ends it)'
	@$(BIN)/tidemill demo $(ARGS)

test: $(VENV)/ready-develop browser axe prometheus pooler units ## Run all tests, with the real PostgreSQL, Redis, Chromium and Prometheus
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
	@$(BIN)/python -m benchmarks.live
	@$(BIN)/python -m benchmarks.hot_lists

# The tests' own means find PostgreSQL and Redis.
CLUSTER := PYTHONPATH=tests:. $(BIN)/python -m tools.cluster

cluster: $(VENV)/ready-develop ## Run PostgreSQL, Redis, two web apps, three workers and two beats here until Ctrl-C
	@$(CLUSTER) $(ARGS)

cluster-down: $(VENV)/ready-develop ## Stop the cluster that `make cluster` runs
	@$(CLUSTER) --down

match-chaos: $(VENV)/ready-develop ## Break everything for 72 hours of matches in virtual time (HOURS=, SEED=)
	@PYTHONPATH=tests:. $(BIN)/python -m tools.matches chaos --hours $(or $(HOURS),72) --seed $(or $(SEED),7)

match-faults: $(VENV)/ready-develop ## Play every match under every fault of each site at 60 times the speed (SAMPLE=)
	@PYTHONPATH=tests:. $(BIN)/python -m tools.matches faults --sample $(or $(SAMPLE),0)

chaos: $(VENV)/ready-develop ## Break a cluster at random while it works, and count what was lost (ARGS="--jobs 20000")
	$(SAY) 'Breaking a cluster (several minutes)'
	@PYTHONPATH=tests:. $(BIN)/python -m tools.cluster.chaos $(ARGS)

kills: $(VENV)/ready-develop ## Kill readers, workers and the database while hostile pages are read (KILLS=500), on both stores
	$(SAY) 'Killing processes (up to half an hour each)'
	@cd tests && $(BIN:%=../%)/python -m rig.hostile_crowd --kills $(or $(KILLS),500) --workers 3 --kill-every 0.2 $(ARGS)
	@cd tests && $(BIN:%=../%)/python -m rig.hostile_crowd --kills $(or $(KILLS),500) --workers 3 --kill-every 0.2 --postgres $(ARGS)

# Debian's package where we may install it, else npm's, unpacked; without either, tests that need one skip and say so.
FOUND := $(BIN)/python -c 'from tidemill.fetching.browsers.find_browser import find_browser; find_browser()' 2>/dev/null

browser: $(VENV)/ready-develop ## Get a Chromium for pages that need JavaScript, if there is none
	@$(FOUND) || { printf '\nGetting a Chromium\n'; \
		{ [ "$$(id -u)" = 0 ] && apt-get update -qq >/dev/null 2>&1 && \
		  apt-get install -qq -y chromium-headless-shell >/dev/null 2>&1; } || \
		{ npm install --silent --no-save --no-audit --no-fund --prefix build/npm @sparticuz/chromium && \
		  $(BIN)/python tests/rig/unpack_chromium.py build/npm/node_modules/@sparticuz/chromium build/chromium; } || \
		echo 'There is none to be had: the tests in a browser are skipped.'; }

# What looks at the portal's pages for people who use a keyboard or a screen reader; without it that test is skipped.
AXE := build/npm/node_modules/axe-core/axe.min.js

axe: ## Get axe-core, by which the pages are checked for people who do not use a mouse or see
	@[ -f $(AXE) ] || npm install --silent --no-save --no-audit --no-fund --prefix build/npm axe-core@4.10.2 || \
		echo 'axe-core is not to be had: pages are not looked at for accessibility.'

# Prometheus, Alertmanager and their tools, unpacked from Debian's packages and installed nowhere; no service is started.
PROMETHEUS := build/prometheus/usr/bin

prometheus: ## Get Prometheus and Alertmanager, by which the rules in deploy/ are tried
	@[ -x $(PROMETHEUS)/promtool ] || command -v promtool >/dev/null || { mkdir -p build/prometheus && cd build/prometheus && \
		{ apt-get download -qq prometheus prometheus-alertmanager >/dev/null 2>&1 || \
		  { apt-get update -qq && apt-get download -qq prometheus prometheus-alertmanager; } >/dev/null 2>&1; } && \
		for package in *.deb; do dpkg -x $$package . || exit 1; done; } || \
		echo 'Prometheus is not to be had: its tests are skipped.'

# PgBouncer with the libraries that most machines lack, unpacked in the same way.
pooler: ## Get PgBouncer, behind which workers are tried
	@[ -x build/pgbouncer/usr/sbin/pgbouncer ] || [ -x /usr/sbin/pgbouncer ] || command -v pgbouncer >/dev/null || \
		{ mkdir -p build/pgbouncer && cd build/pgbouncer && \
		{ apt-cache show pgbouncer >/dev/null 2>&1 || apt-get update -qq >/dev/null 2>&1; } && \
		apt-get download -qq pgbouncer $$(apt-cache depends pgbouncer | \
			sed -nE 's/^ *Depends: (lib(c-ares|cares|event)[^ ]*)/\1/p') >/dev/null 2>&1 && \
		for package in *.deb; do dpkg -x $$package . || exit 1; done; } || \
		echo 'PgBouncer is not to be had: its test is skipped.'

units: ## Get systemd-analyze, which checks the units in deploy/, where it is missing and we may install it
	@command -v systemd-analyze >/dev/null || { [ "$$(id -u)" = 0 ] && { apt-get update -qq && \
		apt-get install -qq -y --no-install-recommends systemd; } >/dev/null 2>&1; } || \
		echo 'systemd-analyze is not to be had: its test is skipped.'

rules: $(VENV)/ready-develop ## Write Prometheus' rules and the dashboard in deploy/ from the table of alerts
	@PYTHONPATH=. $(BIN)/python -m tools.rules

# Nothing that names a host or a machine gets into the files.
LOCK = $(UV) --quiet --no-config pip compile --universal --python-version 3.11 --generate-hashes $(UPGRADE) \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links
EXTRAS := $(addprefix --extra ,postgres browser curl redis celery s3 parquet apprise traces web-poet scrapy)

# What the image in deploy/ holds, and whoever installs on a machine of a cluster.
IN_IMAGE := postgres browser curl redis celery s3 parquet

# The widest set is resolved first and the others within it, so that all of them agree.
lock: $(UV) ## Pin every dependency again (UPGRADE=--upgrade for newer ones)
	$(SAY) 'Locking the requirements'
	@$(LOCK) pyproject.toml $(EXTRAS) --group test --group check --group bench -o requirements/bench.txt
	@$(LOCK) pyproject.toml $(EXTRAS) --group test --group check -c requirements/bench.txt -o requirements/develop.txt
	@$(LOCK) pyproject.toml -c requirements/develop.txt -o requirements/base.txt
	@$(LOCK) pyproject.toml $(addprefix --extra ,$(IN_IMAGE)) -c requirements/develop.txt -o requirements/cluster.txt
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
