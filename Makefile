# The one door to everything: `make` lists the targets.
#
#   OPT_LEVEL=3 USE_LTO=1 NATIVE=0   how library and benchmarks are compiled; any other choice than
#                                    these defaults is built beside the release, not over it

MAKEFLAGS += -r --no-print-directory
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help
SHELL := /bin/bash

OPT_LEVEL ?= 3
USE_LTO ?= 1
NATIVE ?= 0
PREFIX ?= /usr/local
DESTDIR ?=
CMD ?= python3 scripts/demo.py
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
NEXTEST_VERSION := 0.9.114# builds with the rust-version of Cargo.toml
CC := gcc
CARGO ?= cargo

# ---- one configuration, one place for its files ----

one_of = $(if $(filter $2,$($1)),,$(error $1=$($1): expected one of $2))
$(call one_of,OPT_LEVEL,0 1 2 3 s)
$(call one_of,USE_LTO,0 1)
$(call one_of,NATIVE,0 1)

CONFIG := opt$(OPT_LEVEL)-lto$(USE_LTO)-native$(NATIVE)
ifeq ($(CONFIG),opt3-lto1-native0)
TARGET_DIR := target
BUILD := build/release
CARGO_BUILD = $(CARGO) build --release -p hakmem-preload
else
TARGET_DIR := target/$(CONFIG)
BUILD := build/$(CONFIG)
CARGO_BUILD = CARGO_PROFILE_RELEASE_OPT_LEVEL=$(OPT_LEVEL) \
	CARGO_PROFILE_RELEASE_LTO=$(if $(filter 1,$(USE_LTO)),fat,off) \
	CARGO_PROFILE_RELEASE_DEBUG=true \
	CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=$(if $(filter 0,$(OPT_LEVEL)),true,false) \
	$(if $(filter 1,$(NATIVE)),RUSTFLAGS="$(RUSTFLAGS) -C target-cpu=native") \
	$(CARGO) build --release -p hakmem-preload --target-dir $(TARGET_DIR)
endif
ARCHIVE := $(TARGET_DIR)/release/libhakmem.a
SHARED := $(TARGET_DIR)/release/libhakmem.so

# The compiler may not know what malloc does, or it would drop calls of it.
CFLAGS := -std=gnu11 -O$(OPT_LEVEL) -g -Wall -Wextra -Werror -pthread -fno-builtin-malloc \
	-fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free -fno-builtin-aligned_alloc \
	$(if $(filter 1,$(NATIVE)),-march=native)

BENCHES := bench_random_mixed bench_tiny_hot bench_tiny bench_tiny_mt test_mf2 \
	bench_producer_consumer bench_larson bench_cache_scratch bench_large_set bench_mass_free \
	bench_realloc bench_calloc bench_thread_churn
OUT :=# where benchmark programs land: the top; verify/negative uses a place of its own
OBJECTS := $(BENCHES:%=$(BUILD)/%.o)
ON_HAKMEM := $(BENCHES:%=$(OUT)%_hakmem)
ON_SYSTEM := $(BENCHES:%=$(OUT)%_system)

.PHONY: help run test lib bench benches verify verify-so verify-benches verify-negative header \
	check-header check-install check-shell install clean ci deps fmt clippy unit bars test-c \
	test-real models FORCE

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 28
	@printf '\n  Benchmarks: NAME_hakmem is linked with libhakmem.a, NAME_system is the same object without\n'
	@sed -n 's|^// \([a-z0-9_]*\): \(.*\)|  \1\t\2|p' $(BENCHES:%=bench-c/%.c) | expand -t 28
	@printf '\n  Debug build, beside the release: make bench_tiny_hakmem OPT_LEVEL=0 USE_LTO=0 NATIVE=0\n'

# ---- use ----

run: lib ## run a program on hakmem and prove it: make run CMD='ls -l'
	@command -v python3 >/dev/null || scripts/deps.sh python3
	@verify/verify_running --library $(SHARED) -- $(CMD)

lib: $(ARCHIVE) ## build target/release/libhakmem.so and libhakmem.a

install: lib ## install library, header and pkg-config file: DESTDIR= PREFIX=/usr/local
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include
	install -m 755 $(SHARED) $(DESTDIR)$(PREFIX)/lib/
	install -m 644 $(ARCHIVE) $(DESTDIR)$(PREFIX)/lib/
	install -m 644 include/hakmem.h $(DESTDIR)$(PREFIX)/include/
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' scripts/hakmem.pc.in \
		>$(DESTDIR)$(PREFIX)/lib/pkgconfig/hakmem.pc

# ---- test ----

test: deps ## run every check and test; ends with the sum of passed and failed
	@python3 scripts/test.py

ci: test ## what a CI machine runs

deps: ## install the Debian packages that the tests need
	@scripts/deps.sh

fmt: ## check the Rust formatting
	$(CARGO) fmt --all --check

clippy: ## lint the Rust code, warnings are errors
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings

unit: ## run the Rust tests with cargo-nextest (built first if it is not there)
	@$(CARGO) nextest --version >/dev/null 2>&1 || \
		$(CARGO) install --locked cargo-nextest --version $(NEXTEST_VERSION)
	$(CARGO) nextest run --workspace --all-features --no-fail-fast

models: ## model-check the concurrent protocols with loom
	cd hakmem-models && RUSTFLAGS="--cfg loom" $(CARGO) test --release --target-dir ../target/models

check-shell: ## lint the shell scripts
	shellcheck $$(git ls-files '*.sh')

check-header: lib ## include/hakmem.h is what cbindgen makes, and compiles as C11 and C++17
	@verify/check_header.sh

check-install: lib ## install into a scratch place and build against it with pkg-config
	@verify/check_install.sh

verify: verify-so check-header verify-negative verify-benches ## all of the verify- targets

verify-so: lib ## the shared library exports, needs and maps what it should
	@verify/verify_so.sh $(SHARED)

verify-negative: lib ## builds and runs without hakmem are rejected for the right reason
	@verify/negative/run.py

verify-benches: benches ## every benchmark computes on hakmem what it does on libc
	@verify/benches.py check

test-c: lib ## run the C tests
	@tests-c/run.py

test-real: lib ## compare real programs under preload with a plain run
	@tests/real/test_runner.py
	@tests/real/run.py

header: ## generate include/hakmem.h
	$(CARGO) run -q -p hakmem-preload --example header

# ---- measure ----

bench: benches ## run every benchmark, hakmem beside libc
	@verify/benches.py compare

bars: benches build/hello ## measure the bars the project promises, and say which are met
	@verify/bars.py

# ---- build ----

benches: $(ON_HAKMEM) $(ON_SYSTEM) ## build all benchmarks

# cargo knows when there is nothing to do, and then leaves the files as they are.
$(ARCHIVE) $(SHARED) &: FORCE
	@$(CARGO_BUILD)

$(BUILD):
	@mkdir -p $@

$(OBJECTS): $(BUILD)/%.o: bench-c/%.c bench-c/bench.h bench-c/threads.h bench-c/tiny_ring.h | $(BUILD)
	$(CC) $(CFLAGS) -c -o $@ $<

# Changes when the configuration does, so that the programs at the top follow it.
build/config: FORCE
	@mkdir -p $(@D)
	@echo '$(CONFIG)' | cmp -s - $@ || echo '$(CONFIG)' >$@

# The object comes first: from an archive the linker takes only what is missing at that point.
LINK_INPUTS = $(BUILD)/$*.o $(ARCHIVE)
LINK = $(CC) -pthread $(LDFLAGS) -o $@

$(ON_HAKMEM): $(OUT)%_hakmem: $(BUILD)/%.o $(ARCHIVE) build/config verify/verify_bench.sh
	$(LINK) $(LINK_INPUTS)
	@verify/verify_bench.sh ./$@ $(ARCHIVE)
	@echo '✓ $* built with hakmem'

$(ON_SYSTEM): $(OUT)%_system: $(BUILD)/%.o build/config
	$(LINK) $<

build/hello: verify/hello.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $<

clean: ## remove everything that was built
	rm -rf build $(ON_HAKMEM) $(ON_SYSTEM)
	$(CARGO) clean
