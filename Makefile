# Two commands matter: `make serve` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
export PYTHONPATH := $(CURDIR):$(CURDIR)/book
export PATH := $(CURDIR)/$(BIN):$(PATH)
export IPYTHONDIR := $(CURDIR)/_build/ipython

.PHONY: setup notebooks book serve test lint clean

setup: .venv/ready

.venv/ready: requirements.txt
	@echo "Installing the course's environment into .venv (a few minutes, once) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --progress-bar on -r requirements.txt
	@touch $@
