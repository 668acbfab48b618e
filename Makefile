# One word for everything. `make` alone says what there is.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= $(firstword $(foreach name,python3.11 python3.12 python3.13 python3,$(if $(shell command -v $(name) 2>/dev/null),$(name))))
RUN := .venv/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help setup run say test bench lint clean python

help:  ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16

python:
	@if [ -z "$(PYTHON)" ]; then echo "no Python 3 here: apt-get install python3.11 python3.11-venv" >&2; exit 1; fi

setup: python  ## virtual environments with everything pinned; again does nothing
	@$(PYTHON) -m local.setup dev stack

run: setup  ## the whole system on this machine, until Ctrl-C (ONCE=1: end after the demonstration)
	@$(RUN) -m local up --demo $(if $(ONCE),--once)

test: python  ## every test: unit, functions, contract, stack, and parity with torch
	@$(PYTHON) -m local.browser >/dev/null
	@$(PYTHON) -m local.setup dev stack train
	@$(RUN) -m tests

say: export TEXT := $(value TEXT)
say: python  ## TEXT="..." spoken to speech.wav (VOICE=..., OUT=...)
	@$(PYTHON) -m local.setup dev
	@$(RUN) -m speech say "$$TEXT" -o $(or $(OUT),speech.wav) $(if $(VOICE),--voice $(VOICE))

bench: python  ## measure speed, memory and latency, with Whisper, Piper and Kokoro in the same run; writes bench.json
	@$(PYTHON) -m local.setup dev stack bench
	@$(RUN) -m tests.bench

lint: python  ## ruff, mypy, cfn-lint, sam validate, checkov
	@$(PYTHON) -m local.setup dev lint checkov
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy layers/speech/python/speech layers/cloud/python/cloud local
	for app in functions/*/app.py; do $(RUN) -m mypy $$app || exit 1; done
	SAM_CLI_TELEMETRY=0 AWS_DEFAULT_REGION=us-east-1 .venv-lint/bin/python -m samcli validate --lint
	.venv-lint/bin/cfn-lint
	.venv-checkov/bin/python -m checkov.main

clean:  ## end the stack and remove everything that setup and tests made
	@if [ -x $(RUN) ]; then $(RUN) -m local down; fi
	rm -rf .venv .venv-stack .venv-train .venv-bench .venv-lint .venv-checkov .local .aws-sam .pytest_cache .mypy_cache .ruff_cache .hypothesis bench.json speech.wav
	find . -name __pycache__ -prune -exec rm -rf {} +
