# make train | make test: each builds .venv from the pins when it is missing or out of date, then does its job.
# Needs git, make and Python >= 3.11; another interpreter: make test PYTHON=python3.13

PYTHON ?= python3
# Processes that share the tests.
WORKERS ?= 2

VENV := .venv
COMPAT := .venv-compat
PIP := bin/python -m pip install --disable-pip-version-check

# $(call new_venv,FOLDER) begins an environment in FOLDER. The note .installing becomes the stamp .installed
# when all is in place; where an earlier install was interrupted the note is still there, and the folder is
# built afresh.
define new_venv
$(if $(wildcard $(1)/.installing),rm -rf $(1))
mkdir -p $(1) && touch $(1)/.installing
$(PYTHON) -m venv $(1)
endef

.PHONY: train test lint format test-slow test-compat bench clean

train: $(VENV)/.installed
	$(VENV)/bin/python train.py

test: lint
	$(VENV)/bin/pytest -n $(WORKERS)

lint: $(VENV)/.installed
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy --strict goita_env agents

format: $(VENV)/.installed
	$(VENV)/bin/ruff check --fix
	$(VENV)/bin/ruff format

test-slow: $(VENV)/.installed
	$(VENV)/bin/pytest -m slow

# The oldest supported gymnasium, which is also the one that RLlib pins.
test-compat: $(COMPAT)/.installed
	$(COMPAT)/bin/pytest -n $(WORKERS) $(wildcard tests/test_env_*.py tests/test_vector.py)

bench: $(VENV)/.installed-bench
	$(VENV)/bin/python benchmarks/throughput.py

# hatchling comes first, and from the pins, because the project is then built without isolation.
$(VENV)/.installed: pyproject.toml constraints.txt
	$(call new_venv,$(VENV))
	$(VENV)/$(PIP) -c constraints.txt hatchling
	$(VENV)/$(PIP) -c constraints.txt --no-build-isolation -e '.[train,eval,records,dev]'
	mv $(VENV)/.installing $@

$(VENV)/.installed-bench: $(VENV)/.installed
	$(VENV)/$(PIP) -c constraints.txt --no-build-isolation -e '.[bench]'
	touch $@

$(COMPAT)/.installed: pyproject.toml constraints.txt
	$(call new_venv,$(COMPAT))
	sed 's/^gymnasium==.*/gymnasium==1.2.2/' constraints.txt > $(COMPAT)/constraints.txt
	$(COMPAT)/$(PIP) -c $(COMPAT)/constraints.txt hatchling
	$(COMPAT)/$(PIP) -c $(COMPAT)/constraints.txt --no-build-isolation -e '.[records]' pytest pytest-xdist hypothesis
	mv $(COMPAT)/.installing $@

clean:
	rm -rf $(VENV) $(COMPAT) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
