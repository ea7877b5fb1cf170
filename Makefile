# memweb: `make run` starts it, `make test` checks it. Everything is installed into .venv, nothing outside it.

BIN := .venv/bin
# Linting and the like must not touch a person's own memories, so they use the settings of the tests.
TEST_SETTINGS := DJANGO_SETTINGS_MODULE=tests.settings
CHROMIUM := $(firstword $(foreach name,chromium chromium-browser google-chrome google-chrome-stable,$(shell command -v $(name) 2>/dev/null)))

.PHONY: help install run test e2e lint types format bench lock

help: ## list what can be made
	@sed -n 's/^\([a-z0-9]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|' 2>/dev/null || grep '##' Makefile

install: ## make .venv with everything pinned in requirements.lock (make install PYTHON=... picks the Python)
	@PYTHON="$(PYTHON)" sh scripts/install

run: install ## start memweb: database, indexes, first import, server, sign-in link
	@$(BIN)/memweb up

test: install ## run all tests; those in a browser where Chromium is found
ifeq ($(CHROMIUM),)
	@echo "Chromium was not found, so the browser tests are left out; on Debian and Ubuntu: apt install chromium"
	@$(BIN)/python -m pytest -m "not browser"
else
	@$(BIN)/python -m pytest
endif

e2e: install ## run the browser tests only
ifeq ($(CHROMIUM),)
	@echo "memweb: Chromium was not found; on Debian and Ubuntu: apt install chromium" >&2; exit 1
else
	@$(BIN)/python -m pytest -m browser
endif

lint: install ## check style, import rules and missing migrations
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/lint-imports
	@$(TEST_SETTINGS) $(BIN)/python manage.py makemigrations --check --dry-run

types: install ## check types
	@$(TEST_SETTINGS) $(BIN)/mypy

format: install ## put the code into its style
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

bench: install ## measure speed; see docs/operations.md
	@$(BIN)/python -m benchmarks

lock: install ## pin the dependencies of pyproject.toml anew in requirements.lock
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra dev --no-header --no-emit-index-url \
		--generate-hashes pyproject.toml --output-file requirements.lock
