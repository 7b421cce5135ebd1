# make train | lint | test | docs | coverage | release-check: each builds .venv from the pins when it is missing or out of date,
# then does its job. lint takes a minute, test some minutes, release-check far longer.
# Needs git, make and Python >= 3.11; another interpreter: make test PYTHON=python3.13

PYTHON ?= python3
# Processes that share the tests, a file to each, so that what a file computes for its tests is computed once.
WORKERS ?= 2
# Extras with which make dist tries the wheel; lab must be among them.
EXTRAS ?= play lab signals
# What make test runs: make test TESTS=tests/goita_env/engine.
TESTS ?= tests

VENV := .venv
COMPAT := .venv-compat
PLAIN := .venv-plain
RAY := .venv-ray
WEB := .venv-web
WHEEL := .venv-wheel
# Frameworks that can't stand beside the others, each in an environment of its own.
FRAMEWORKS := .venvs
PIP := bin/python -m pip install --disable-pip-version-check

# $(call new_venv,FOLDER) begins an environment in FOLDER. The note .installing becomes the stamp .installed
# when all is in place; where an earlier install was interrupted the note is still there, and the folder is
# built afresh.
define new_venv
$(if $(wildcard $(1)/.installing),rm -rf $(1))
mkdir -p $(1) && touch $(1)/.installing
$(PYTHON) -m venv $(1)
endef

.PHONY: train test lint format docs coverage release-check test-slow test-compat test-plain test-ray test-web test-frameworks test-wheel dist bench \
	benchmark clean

train: $(VENV)/.installed
	$(VENV)/bin/python train.py

test: $(VENV)/.installed
	$(VENV)/bin/pytest -n $(WORKERS) --dist loadfile $(TESTS)

release-check: EXTRAS := play lab signals train
release-check: lint test docs coverage test-slow test-compat test-plain test-ray test-web test-frameworks dist
	python3 tools/release.py

lint: $(VENV)/.installed
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/vulture
	$(VENV)/bin/mypy

format: $(VENV)/.installed
	$(VENV)/bin/ruff check --fix
	$(VENV)/bin/ruff format

# The site, into docs/_build/html: no network, and a warning is an error. What its pages and the examples take long to
# run, trainings above all, is run here and not by make test.
docs: $(VENV)/.installed
	$(VENV)/bin/pytest -n $(WORKERS) -m pages
	$(VENV)/bin/python -m sphinx -W --keep-going -q -j $(WORKERS) docs docs/_build/html

# Branches of goita_env that its own tests run.
coverage: $(VENV)/.installed
	$(VENV)/bin/pytest -n $(WORKERS) tests/goita_env --cov=goita_env --cov-branch \
		--cov-report=term-missing:skip-covered --cov-fail-under=95

# Longer samples of what make test checks, and inputs drawn at random: weekly.
test-slow: $(VENV)/.installed
	$(VENV)/bin/pytest -n $(WORKERS) -m slow

# The gymnasium that RLlib pins, with the oldest numpy and PettingZoo.
test-compat: $(COMPAT)/.installed
	$(COMPAT)/bin/pytest -n $(WORKERS) tests/goita_env/envs

# A cluster of two nodes on this machine plays the tournament that one process plays.
test-ray: $(RAY)/.installed
	$(RAY)/bin/pytest tests/ray

# Without torch: what plays, measures and searches needs none; the tests of training are left out.
test-plain: $(PLAIN)/.installed
	$(PLAIN)/bin/pytest -n $(WORKERS)

# Pages in the system's Chromium (Debian: chromium); the tests skip where there is none.
test-web: $(WEB)/.installed
	$(WEB)/bin/pytest tests/web

# Source archive and wheel, in dist/. The wheel is installed into fresh environments, away from the source tree and next to
# another package called agents: with [records] the pages that need no other extra run on it; then, in an environment for
# each of EXTRAS, what a user of that extra does.
dist: $(VENV)/.installed
	rm -rf $(WHEEL) build dist
	$(VENV)/bin/python -m build --no-isolation
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/$(PIP) -c constraints.txt "$$(echo dist/*.whl)[records]"
	cd $(WHEEL) && bin/python -I -W error $(CURDIR)/tests/helpers/pages.py
	set -e; for extra in $(EXTRAS); do \
		$(PYTHON) -m venv $(WHEEL)/$$extra; \
		$(WHEEL)/$$extra/$(PIP) -q -c constraints.txt "$$(echo dist/*.whl)[$$extra]"; \
		echo 'SOMEBODY_ELSES = True' > "$$($(WHEEL)/$$extra/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/agents.py"; \
		mkdir $(WHEEL)/$$extra/empty; \
		(cd $(WHEEL)/$$extra/empty && ../bin/python -P $(CURDIR)/tests/helpers/away.py $$extra); \
	done
	$(WHEEL)/lab/$(PIP) -q -c constraints.txt pytest hypothesis
	$(MAKE) test-wheel PYTEST=$(WHEEL)/lab/bin/pytest

# A small selection of tests with an installed wheel; PYTEST is that of its environment.
test-wheel:
	$(PYTEST) tests/goita_env/test_rules.py tests/goita_env/test_examples.py tests/goita_env/envs/test_vector.py \
		tests/goita_agents/bots/test_greedy.py tests/goita_lab/arena/statistics/test_intervals.py

# The examples of RLlib and TorchRL.
test-frameworks: $(FRAMEWORKS)/rllib/.installed $(FRAMEWORKS)/torchrl/.installed
	$(FRAMEWORKS)/rllib/bin/pytest tests/frameworks
	$(FRAMEWORKS)/torchrl/bin/pytest tests/frameworks

bench: $(VENV)/.installed-bench
	$(VENV)/bin/python benchmarks/throughput.py

# Plays the bots against each other and renews the tables in docs/strength.md; a quarter of an hour on two cores.
benchmark: $(VENV)/.installed
	$(VENV)/bin/python benchmarks/roster.py

# hatchling comes first, and from the pins, because the project is then built without isolation.
$(VENV)/.installed: pyproject.toml constraints.txt
	$(call new_venv,$(VENV))
	$(VENV)/$(PIP) -c constraints.txt hatchling
	$(VENV)/$(PIP) -c constraints.txt --no-build-isolation -e '.[train,signals,render,openspiel,docs,dev]'
	mv $(VENV)/.installing $@

$(VENV)/.installed-bench: $(VENV)/.installed
	$(VENV)/$(PIP) -c constraints.txt --no-build-isolation -e '.[bench]'
	touch $@

$(COMPAT)/.installed: pyproject.toml constraints.txt
	$(call new_venv,$(COMPAT))
	sed 's/^gymnasium==.*/gymnasium==1.2.2/; s/^numpy==.*/numpy==2.0.2/; s/^pettingzoo==.*/pettingzoo==1.25.0/' constraints.txt \
		> $(COMPAT)/constraints.txt
	$(COMPAT)/$(PIP) -c $(COMPAT)/constraints.txt hatchling
	$(COMPAT)/$(PIP) -c $(COMPAT)/constraints.txt --no-build-isolation -e '.[records,render]' pytest pytest-xdist hypothesis
	mv $(COMPAT)/.installing $@

$(PLAIN)/.installed: pyproject.toml constraints.txt
	$(call new_venv,$(PLAIN))
	$(PLAIN)/$(PIP) -c constraints.txt hatchling
	$(PLAIN)/$(PIP) -c constraints.txt --no-build-isolation -e '.[signals,render,docs,dev]'
	mv $(PLAIN)/.installing $@

$(RAY)/.installed: pyproject.toml constraints.txt
	$(call new_venv,$(RAY))
	sed 's/^gymnasium==.*/gymnasium==1.2.2/' constraints.txt > $(RAY)/constraints.txt
	echo ray==2.60.0 >> $(RAY)/constraints.txt
	$(RAY)/$(PIP) -c $(RAY)/constraints.txt hatchling
	$(RAY)/$(PIP) -c $(RAY)/constraints.txt --no-build-isolation -e '.[ray,signals]' pytest hypothesis
	mv $(RAY)/.installing $@

$(WEB)/.installed: pyproject.toml constraints.txt
	$(call new_venv,$(WEB))
	$(WEB)/$(PIP) -c constraints.txt hatchling
	$(WEB)/$(PIP) -c constraints.txt --no-build-isolation -e '.[signals,render]' pytest hypothesis playwright axe-playwright-python
	mv $(WEB)/.installing $@

# Beside what a framework pins, the versions that the checks run with.
$(FRAMEWORKS)/rllib/.installed: pyproject.toml constraints.txt
	$(call new_venv,$(FRAMEWORKS)/rllib)
	sed 's/^gymnasium==.*/gymnasium==1.2.2/' constraints.txt > $(FRAMEWORKS)/rllib/constraints.txt
	echo ray==2.60.0 >> $(FRAMEWORKS)/rllib/constraints.txt
	$(FRAMEWORKS)/rllib/$(PIP) -c $(FRAMEWORKS)/rllib/constraints.txt hatchling
	$(FRAMEWORKS)/rllib/$(PIP) -c $(FRAMEWORKS)/rllib/constraints.txt --no-build-isolation -e '.[ray]' torch pytest hypothesis
	mv $(FRAMEWORKS)/rllib/.installing $@

$(FRAMEWORKS)/torchrl/.installed: pyproject.toml constraints.txt
	$(call new_venv,$(FRAMEWORKS)/torchrl)
	$(FRAMEWORKS)/torchrl/$(PIP) -c constraints.txt hatchling
	$(FRAMEWORKS)/torchrl/$(PIP) -c constraints.txt --no-build-isolation -e . torch torchrl==0.14.1 'tensordict>=0.14.3,<0.15' pytest hypothesis
	mv $(FRAMEWORKS)/torchrl/.installing $@

clean:
	rm -rf $(VENV) $(COMPAT) $(PLAIN) $(RAY) $(WEB) $(FRAMEWORKS) $(WHEEL) build dist docs/_build .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
