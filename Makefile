# make demo   the whole point, in under a minute after the build
# make test   everything that is checked
# make tools  load tools of others, from package registries
# make fuzz   the parsers of other tools' outputs against damaged ones, FUZZ_SECONDS each (600)
.PHONY: demo test lint tools fuzz

CARGO ?= cargo
PYTHON ?= python3
VENV := .venv

demo:
	$(CARGO) build --release --locked -p truetail
	$${CARGO_TARGET_DIR:-target}/release/truetail demo

# The log of a run is also read by another implementation, in Python. Where that cannot be had (no venv module, no
# registry), its test says SKIPPED and the rest goes on.
test: lint tools
	@$(MAKE) --no-print-directory $(VENV)/ready || echo "no Python environment: the test that needs it will say SKIPPED"
	if [ -e $(VENV)/ready ]; then export TRUETAIL_TEST_PYTHON="$(CURDIR)/$(VENV)/bin/python"; fi; \
		$(CARGO) test --workspace --locked
	PYTHON=$(PYTHON) bindings/python/test.sh

# Other people's load tools, from package registries; quick when all are there. Tests of those that are missing say so.
tools:
	@tools/install.sh || echo "not every load tool could be installed: the tests of the others run, those say skipped"

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

$(VENV)/ready: tests/requirements.txt
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

fuzz:
	fuzz/run.sh
