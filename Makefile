# The commands of developers and of continuous integration. Each target installs what it needs, can be repeated, and is
# quick the second time. `make` alone lists them.

ARGS ?=
CTEST_ARGS ?=
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 600
BINARY ?= build/bin/shepherd
DESTDIR ?=
PREFIX ?= /usr/local

.DEFAULT_GOAL := help
.PHONY: help run build install uninstall test lint asan tsan fuzz bench bench-runner bench-grpc bench-chat mutants clean packages packages-test
MAKEFLAGS += --no-builtin-rules

help: ## Shows this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

packages:
	@tools/install-packages build
	@command -v npm >/dev/null || tools/install-packages page
packages-test: packages
	@tools/install-packages test $$(command -v go >/dev/null || echo go)

# Ninja reconfigures when a CMakeLists changes, but it does not track presets.
build/%/build.ninja: CMakePresets.json
	cmake --preset $*
	@touch $@

run: build ## Builds and starts the server; ARGS="--listen 127.0.0.1:9000" are passed on
	@echo "Starting Shepherd. Open the login link below in a browser."
	@echo "In another terminal, build/bin/shepherd demo starts a few scripted agents that need no account."
	@exec build/bin/shepherd serve $(ARGS)

build: packages build/release/build.ninja ## Builds the release program: build/bin/shepherd
	@tools/timed "The release program" cmake --build --preset release --parallel $(JOBS) --target shepherd
	@mkdir -p build/bin && ln -sfn ../release/bin/shepherd build/bin/shepherd

# Does not build, so that `sudo make install` leaves no root-owned file in the build directory.
install: ## Installs program, manual, completions and systemd units below PREFIX (/usr/local); make build first
	@tools/install-files install "$(BINARY)" "$(DESTDIR)" "$(PREFIX)"

uninstall: ## Removes what make install has installed
	@tools/install-files uninstall "$(BINARY)" "$(DESTDIR)" "$(PREFIX)"

# Builds everything before the tests start, so that no test competes with a compiler.
test: packages-test build/dev/build.ninja build/tsan/build.ninja build/asan-ubsan/build.ninja ## Builds and runs all tests and checks
	@tools/make-venv
	@tools/install-agent
	@tools/install-mcp-servers
	@tools/timed "The program and its tests" cmake --build --preset dev --parallel $(JOBS)
	@tools/timed "For the thread sanitizer" cmake --build --preset tsan --parallel $(JOBS) --target sanitized_tests
	@tools/timed "For the address sanitizer and fuzzing" \
	  cmake --build --preset asan-ubsan --parallel $(JOBS) --target sanitized_tests fuzz_targets
	@ctest --preset dev --parallel $(JOBS) $(CTEST_ARGS)

lint: packages-test build/dev/build.ninja ## Checks format, layers, file rules, clang-tidy and lock annotations
	@ctest --preset dev --label-regex checks

asan: packages-test build/asan-ubsan/build.ninja ## Runs every C++ test with address and undefined-behaviour sanitizers
	@cmake --build --preset asan-ubsan --parallel $(JOBS)
	@ctest --preset asan-ubsan --label-exclude 'checks|e2e' --parallel $(JOBS)

tsan: packages-test build/tsan/build.ninja ## Runs every C++ test with the thread sanitizer
	@cmake --build --preset tsan --parallel $(JOBS)
	@ctest --preset tsan --label-exclude 'checks|e2e' --parallel $(JOBS)

fuzz: packages-test build/asan-ubsan/build.ninja ## Fuzzes every target for FUZZ_SECONDS (600); keeps what it finds in build/fuzz
	@cmake --build --preset asan-ubsan --parallel $(JOBS) --target fuzz_targets
	@tools/run-fuzz $(FUZZ_SECONDS)

bench: build ## Measures against limits and peers in the same run (docs/performance.md)
	@tools/install-packages bench
	@build/bin/shepherd bench --peers $(ARGS)

bench-runner: build packages-test build/dev/build.ninja ## Measures the runner: 100 agents at once, 1,000 stops, 100 kills of itself
	@tools/make-venv
	@cmake --build --preset dev --parallel $(JOBS) --target scripted_agent tick_watch
	@build/venv/bin/python -B bench/runner_bench.py $(ARGS)

bench-grpc: build packages-test ## Measures a word to one of 100 streaming agents, there and back
	@tools/make-venv
	@build/venv/bin/python -B bench/grpc_bench.py $(ARGS)

bench-chat: build packages-test ## Measures chats beside the bare backend: first token, 200 streams at once, idle sessions
	@tools/make-venv
	@build/venv/bin/python -B bench/chat_bench.py $(ARGS)

mutants: packages-test ## Looks whether tests notice small faults in the source; ARGS="--area model --seed 7"
	@tools/mutate $(ARGS)

clean: ## Removes everything that was built
	rm -rf build
