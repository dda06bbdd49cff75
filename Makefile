# Everything happens in a virtual environment of this checkout; nothing is installed outside of it.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test lint unit functional cloud sample clean

demo: $(VENV)/demo
	$(BIN)/python -m nova_twotier.tools.demo

test: lint unit functional cloud

lint: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

unit: $(VENV)/test
	$(BIN)/stestr run
	$(BIN)/python -m pytest -q tests/unit

functional: $(VENV)/test
	$(BIN)/python -m pytest -q tests/functional

cloud: $(VENV)/test
	$(BIN)/python -m pytest -q tests/cloud

# The commented sample of the configuration, from the options' own help texts.
sample: $(VENV)/demo
	$(BIN)/oslo-config-generator --config-file etc/nova-twotier/config-generator.conf

clean:
	rm -rf $(VENV) .demo .fakecloud .stestr

$(VENV)/demo $(VENV)/test: $(VENV)/%: setup.cfg pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.[$*]'
	touch $@
