PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup run test lint bench eval constraints clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Evatar needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV); the first time this takes a few minutes."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

run: setup
	$(BIN)/evatar tour

test: setup lint
	$(BIN)/python -m pytest

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

bench: setup
	$(BIN)/python -m pytest -m bench tests/benchmarks -s

eval: setup
	$(BIN)/python -m tests.eval --all

constraints:
	uv pip compile --quiet --no-emit-index-url --all-extras --universal --python-version 3.11 pyproject.toml -o constraints.txt

clean:
	rm -rf $(VENV) build *.egg-info
