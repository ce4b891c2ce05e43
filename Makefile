# Every target does its own set-up in .venv; only Python 3.11+ and make are needed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
CORE   := $(VENV)/.core-installed
STAMP  := $(VENV)/.dev-installed
OLD    := .venv-minimum

.PHONY: demo test types suite test-fast fast-tests installed-tests test-minimum packages docs pictures test-extras without r notebooks peers fuzz proofs theorems theorems-mutants theorems-again theorems-twin kills lint bench studies clean

demo: $(CORE)
	$(BIN)/sfumato demo

# Types are checked, by one process, beside the suite.
test: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) -j 2 types suite

types: $(STAMP)
	$(BIN)/mypy

suite: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# Every promise, in two to three minutes on two free processors once kernels are compiled: all but what tests/slow.txt lists, files
# and single tests that take about six seconds of processor time or more each; the longest stand first. `fast-tests` does it with any Python.
SLOW   := $(shell cat tests/slow.txt)
RUN    ?= $(BIN)/python
test-fast: $(STAMP) fast-tests
fast-tests:
	$(RUN) -m pytest -n auto --dist loadfile --no-loadscope-reorder $(addprefix --deselect=,$(SLOW))

# Wheel and sdist, built and tried where nothing else of this repository is. The wheel has the repository's own files, byte by
# byte, so that what the suite says holds of it too; of the suite it is asked what reads its files, starts its command and needs
# each dependency.
INSTALLED := tests/test_api.py tests/test_packaging.py tests/test_signature.py tests/cli/test_cli_verbs.py tests/cli/test_cli_inputs.py \
	tests/policy/test_schema.py tests/reports/test_report.py tests/table/test_input_files.py tests/charts
installed-tests:
	$(RUN) -m pytest --collect-only -q > /dev/null
	$(RUN) -m pytest -n auto --dist loadfile $(INSTALLED)

packages:
	$(PYTHON) .ci/packages.py

# The part of the suite that touches every dependency, with the oldest version of each that pyproject.toml allows, but for what
# takes long because it draws or enumerates much; then the launch of the studio with the oldest NiceGUI, which wants newer
# ones of some others.
OLDEST := tests/test_jit.py tests/table tests/release tests/policy tests/explanation tests/query tests/privacy tests/cli/test_cli_bad_input.py tests/cli/test_cli_verbs.py
AGED   := SFUMATO_CACHE=$(CURDIR)/$(OLD)/compiled $(OLD)/bin/python -m pytest -n auto --dist loadfile -p no:cacheprovider
test-minimum: $(OLD)/.installed
	$(AGED) $(OLDEST) $(addprefix --deselect=,$(SLOW))
	$(OLD)/bin/python -m pip install -q $$($(OLD)/bin/python .ci/minimum.py studio)
	$(AGED) tests/studio/test_safety.py

# What needs large libraries: Spark on two worker processes (with Java), and differentially private fits.
EXTRAS := tests/scale/test_spark.py tests/synthetic tests/methods/test_synthetic.py tests/attacks/test_others.py
test-extras: $(VENV)/.extras-installed
	$(BIN)/python -m pytest -n auto --dist loadfile $(EXTRAS)

$(VENV)/.extras-installed: $(STAMP)
	$(BIN)/python -m pip install -q -e '.[spark,baselines]'
	touch $@

# The suite without a part of sfumato that an installation may leave out: GUEST=papers, synthetic or studio.
GUEST ?= papers
without: $(STAMP)
	$(BIN)/python -m tests.guests $(GUEST)

# The R package by `R CMD check`, on releases made for it: the same numbers as Python's. Says what is missing where there is no R.
r: $(STAMP)
	$(BIN)/python .ci/r.py

# Publications of every method, killed at random moments: nothing but whole releases and receipts may be left.
kills: $(STAMP)
	$(BIN)/python -m tests.faults.kills $(KILLS)

lint: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)
	$(BIN)/python -m benchmarks $(BENCH)

# Other tools that `make bench BENCH=peers` asks beside ours, each in an environment of its own; gigabytes, so nothing else needs it.
PEERS ?= build/peers
peers:
	for one in sdv smartnoise-synth 'opendp[mbi,polars]' anjana; do \
	    place=$(PEERS)/$$(echo $$one | sed 's/-synth//; s/\[.*//') && $(PYTHON) -m venv $$place && \
	    $$place/bin/python -m pip install -q $$one pandas pyarrow || exit 1; done

# Every notebook of the guide, executed; the suite executes two of them.
notebooks: $(STAMP)
	NOTEBOOKS=all $(BIN)/python -m pytest -n auto tests/docs/test_notebooks.py

# The papers' figures and tables again, into docs/studies.md; QUICK=1 for minutes, STUDY="name …" for some of them.
studies: $(STAMP)
	$(BIN)/python -m sfumato study $(STUDY) $(if $(QUICK),--quick) --out build/studies
	$(BIN)/python -c "from pathlib import Path; from sfumato.studies.page import write_page; write_page(Path('docs/studies.md'), Path('build/studies'))"

# The first picture, that of noisy boxes, and the studio's pages as pictures for the guide; these need Debian's chromium and chromium-driver.
pictures: $(STAMP)
	$(BIN)/python -m benchmarks._first_picture
	$(BIN)/python -m benchmarks._noisy_picture
	$(BIN)/python -m benchmarks._screens

# The guide as a site, in build/site; a broken link is an error.
docs: $(VENV)/.docs-installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

$(VENV)/.docs-installed: $(STAMP)
	$(BIN)/python -m pip install -q -e '.[docs]'
	touch $@

# For FUZZ_SECONDS (300), with FUZZ_SEED (drawn otherwise): the same seed makes the same mutants.
fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz

# Worlds and coins of PROOF_TABLES (400) small tables, where the suite enumerates a few.
proofs: $(STAMP)
	PROOF_TABLES=$${PROOF_TABLES:-400} $(BIN)/python -m pytest tests/methods/test_near_each_proof.py tests/methods/test_near_proof.py

# The theorems of docs/guarantees.md, checked by Coq: `theorems-again` by its second checker, `theorems-mutants` that mistakes in the
# model are noticed, `theorems-twin` that the kernels do what the proved program does. None installs Coq: where it is missing they
# say what to install.
theorems: COQ = $(MAKE) -j 2 -C proofs check
theorems-again: COQ = $(MAKE) -C proofs again
theorems-mutants: COQ = $(PYTHON) proofs/mutants.py
theorems-twin: COQ = $(BIN)/python -m pytest tests/groups/test_coq_twin.py
theorems-twin: $(STAMP)
theorems theorems-again theorems-mutants theorems-twin:
	@if command -v coqc >/dev/null; then $(COQ); else echo "Coq is missing, nothing was checked; Debian has it as" \
	"coq libcoq-mathcomp-algebra libcoq-mathcomp-zify libcoq-mathcomp-algebra-tactics"; fi

$(CORE): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "sfumato needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -e .
	touch $(CORE)

$(STAMP): $(CORE)
	$(BIN)/python -m pip install -q -e '.[dev]'
	touch $(STAMP)

$(OLD)/.installed: pyproject.toml .ci/minimum.py
	test -x $(OLD)/bin/python || $(PYTHON) -m venv $(OLD)
	$(OLD)/bin/python -m pip install -q --upgrade pip
	$(OLD)/bin/python .ci/minimum.py > $(OLD)/constraints.txt
	$(OLD)/bin/python -m pip install -q -c $(OLD)/constraints.txt -e '.[test]'
	touch $@

clean:
	rm -rf $(VENV) $(OLD) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
