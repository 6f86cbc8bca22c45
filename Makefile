# Everything a newcomer or CI runs. Needs only Python >= 3.11, git and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test check docs format bench package-check clean help

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[plot,audio,birdnet,review,distributed]" --group test --group check
	touch $(STAMP)

demo: $(STAMP)  ## the main job end to end, about a minute
	$(BIN)/raravis demo

test: $(STAMP)  ## every test, doctest and README block, with coverage
	$(BIN)/python -m pytest --cov --cov-report=term:skip-covered

check: $(STAMP)  ## style, types, the dependency arrow and spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

docs: $(STAMP)  ## the documentation, under build/site; warnings are errors
	$(BIN)/python -m pip install --quiet --group docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python tools/docs/check_site.py build/site

format: $(STAMP)  ## apply the code style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP)  ## the benchmarks, as ratios; JSON under benchmarks/results
	$(BIN)/python -m pip install --quiet --group benchmark
	$(BIN)/python benchmarks/run.py

package-check: $(STAMP)  ## build, and install in empty environments: core, each extra, all
	$(BIN)/python tools/package_check.py

clean:  ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .coverage build dist
