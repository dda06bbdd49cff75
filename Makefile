# Everything happens in a virtual environment of this checkout; nothing is installed outside of it.
# The first that runs and is new enough: a name may be pyenv's, of a version that is not chosen.
PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && exit; done; echo python3)
VENV ?= .venv
BIN = $(VENV)/bin
# One process of tests more than cores: some tests wait more than they compute.
WORKERS = $(shell echo $$(( $$(nproc) + 1 )))
SPHINX = $(BIN)/python -m sphinx --quiet --fail-on-warning \
	--conf-dir doc --doctree-dir build/doctrees . build/html
PYTEST = $(BIN)/python -m pytest -q --numprocesses $(WORKERS) --durations 10
# Without ensurepip (on Debian and Ubuntu: python3-venv), Python leaves an environment that has no pip.
ENVIRONMENT = test -x $(BIN)/pip || { $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "$(PYTHON) is \
	Python %d.%d. 3.11 or newer is needed: make PYTHON=python3.12, for example" % sys.version_info[:2])' && $(PYTHON) -m venv $(VENV); }
PIP = $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --constraint constraints.txt

# Some containers keep Python from storing bytecode. Each process of a cloud would compile Nova anew, for seconds.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint docs unit quick functional cloud compiled faults mutants nova-tests matrix sample clean

demo: $(VENV)/demo
	$(BIN)/python -m nova_twotier.tools.demo

test: lint unit functional cloud

lint: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive nova_twotier filters weighers tools
	$(BIN)/shellcheck devstack/settings devstack/plugin.sh devstack/lib/*.sh tests/unit/devstack/*.sh
	$(SPHINX)

# The documentation as a site: open build/html/index.html. Nothing is fetched while it is built.
docs: $(VENV)/docs
	$(SPHINX)

# Stestr, too, lists all unit tests, but runs only a few: how it finds and calls a test is all that differs. Pytest takes
# less time for all, since it gives each process the next test that is left.
unit: $(VENV)/test
	$(PYTEST) --dist worksteal tests/unit
	$(BIN)/stestr run --concurrency $(WORKERS) '^tests\.unit\.(agent|audit|conf|ledger|plugin|replay)\.'

# The unit tests that take no long workloads, and no programs in processes of their own.
LONG = api/test_openapi.py calibration client/test_shell.py cmd core devstack manager sim test_contributing.py
quick: $(VENV)/test
	$(PYTEST) $(LONG:%=--deselect=tests/unit/%) tests/unit

functional: $(VENV)/test
	$(PYTEST) --dist worksteal tests/functional
	$(BIN)/python -m tests.nova.compare --part

cloud: $(VENV)/test
	$(PYTEST) --dist loadfile --no-loadscope-reorder tests/cloud

# The simulator from the same source, but compiled: .compiled/bin/twotier-sim.
compiled: VENV = .compiled
compiled:
	@$(ENVIRONMENT)
	$(PIP) mypy setuptools wheel
	NOVA_TWOTIER_COMPILE=3 $(PIP) --no-build-isolation '.[sim]'

# The queue manager while everything goes wrong; seed and more: make faults FAULTS='--seed 7 kills'.
faults: $(VENV)/test
	$(BIN)/python -m nova_twotier.tools.faults $(FAULTS)

# Which changes of core's code its tests do not notice: make mutants MUTANTS='core/hosts.py --sample 20'.
mutants: $(VENV)/mutation
	$(BIN)/python -m tests.mutation $(MUTANTS)

# All of Nova's own tests that schedule or move servers, without and with the plugin.
nova-tests: $(VENV)/test
	$(BIN)/python -m tests.nova.compare

# The plugin on every release of Nova that it serves.
matrix: $(VENV)/test
	$(BIN)/nox

# What is generated: the commented samples of configuration and policy, the list of reasons, and what policies say of themselves.
sample: $(VENV)/docs
	$(BIN)/oslo-config-generator --config-file etc/nova-twotier/config-generator.conf
	$(BIN)/oslopolicy-sample-generator --config-file etc/nova-twotier/policy-generator.conf
	$(BIN)/python -m nova_twotier.tools.reasons > doc/reasons.md
	$(BIN)/python -m nova_twotier.tools.policy_pages --facts

clean:
	rm -rf $(VENV) .compiled build .demo .fakecloud .faults .nox .stestr mutants

$(VENV)/demo $(VENV)/docs $(VENV)/mutation $(VENV)/test: $(VENV)/%: setup.cfg pyproject.toml constraints.txt
	@$(ENVIRONMENT)
	$(PIP) --editable '.[$*]'
	if [ $* = test ] && pkg-config --exists libvirt 2>/dev/null; then $(PIP) --editable '.[agent]' \
		|| echo "libvirt-python cannot be built: the tests of the node agent are skipped"; fi
	touch $@
