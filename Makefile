# SPDX-License-Identifier: BSD-2-Clause
# `make help` lists the targets.

PYTHON  ?= python3
BOARD   ?= qemu-v8-icount
PLAN    ?= quick
REPORT  ?= runs/latest/report.html
BUILD   := $(CURDIR)/build
VENV    := .venv
TEEMARK := $(VENV)/bin/teemark
# Two jobs at a time, unless make was told how many.
PARALLEL = $(if $(filter -j%,$(MAKEFLAGS)),,-j2)

# make itself, TF-A's build and OP-TEE's kit cut paths at spaces.
ifneq ($(words $(CURDIR)),1)
$(error the path of this checkout has a space in it, and its tools take none: \
	move it, for example to $(subst $() ,-,$(CURDIR)))
endif

# The rooms; each builds only what changed.
.PHONY: all
all: help

.PHONY: help
help: ## this list
	@echo 'teemark: what trusted execution and hardware crypto cost, and why'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo '  BOARD=$(BOARD) PLAN=$(PLAN) are the defaults of make run'

.PHONY: run
run: build ## build all, boot the exact virtual board, run the plan, write the report
	@$(TEEMARK) run --board $(BOARD) --plan $(PLAN)

# The Python environment comes over the network, the virtual board is compiled: side by side.
.PHONY: build
build: deps ## all that make run needs; fetches by apt, from PyPI and from Debian (1 GB)
	@$(MAKE) --no-print-directory $(PARALLEL) venv vboard
	@$(MAKE) --no-print-directory board

# The virtual board and what runs on it: all of `make build` but the Python environment. `teemark
# vboard install` makes it in a folder of the user's, by BUILD=.
.PHONY: board
board: vboard
	@$(MAKE) --no-print-directory vboard-ta host trace

.PHONY: deps
deps:
	@mk/install-packages mk/system-packages.txt

.PHONY: venv
venv: $(VENV)/.ready

# Versions and digests are those of the locks, for Python 3.11 and newer: nothing else is installed.
# What only tests need comes with the tests (venv-dev).
PIP := $(VENV)/bin/pip --quiet --disable-pip-version-check install --no-compile

$(VENV)/.ready: lab/requirements.lock lab/pyproject.toml | deps
	@echo '[venv] Python environment in $(VENV)'
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'error: $(PYTHON) is older than 3.11; name another: make PYTHON=…' >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) --require-hashes -r lab/requirements.lock
	@$(PIP) --no-index --no-deps --no-build-isolation -e lab
	@touch $@

.PHONY: venv-dev
venv-dev: $(VENV)/.ready-dev

$(VENV)/.ready-dev: lab/requirements-dev.lock $(VENV)/.ready
	@echo '[venv] what the tests need, too'
	@$(PIP) --require-hashes -r lab/requirements-dev.lock
	@touch $@

# By the oldest Python that we support, so that the versions are for all of them.
LOCK := build/lock/bin/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras \
	--no-annotate --no-emit-index-url --no-emit-trusted-host --no-emit-find-links

.PHONY: lock
lock: export CUSTOM_COMPILE_COMMAND = make lock
lock: ## lab/requirements*.lock anew, of the newest versions (PYTHON=python3.11)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || \
		{ echo 'error: locks are made by Python 3.11: make lock PYTHON=…' >&2; exit 1; }
	@$(PYTHON) -m venv build/lock
	@build/lock/bin/pip install --quiet --disable-pip-version-check pip-tools
	@cd lab && ../$(LOCK) --upgrade --build-deps-for editable -o requirements.lock pyproject.toml
	@cd lab && ../$(LOCK) --upgrade --extra dev -c requirements.lock \
		-o requirements-dev.lock pyproject.toml
	@echo 'labgrid>=26' | (cd lab && ../$(LOCK) --upgrade -o requirements-labgrid.lock -)
	@echo zensical | (cd lab && ../$(LOCK) --upgrade -o requirements-docs.lock -)

# DEPS= leaves the system's packages alone.
DEPS := deps

.PHONY: vboard
vboard: $(DEPS)
	@$(MAKE) --no-print-directory -C vboard all

# The virtual board's, whatever kit the environment names.
.PHONY: vboard-ta
vboard-ta: vboard
	@env -u TA_SIGN_KEY $(MAKE) --no-print-directory $(PARALLEL) -C ta all \
		TA_DEV_KIT_DIR='$(BUILD)/vboard/ta_dev_kit'

.PHONY: ta
ta: vboard
	@$(MAKE) --no-print-directory -C ta all

.PHONY: host
host: vboard
	@$(MAKE) --no-print-directory $(PARALLEL) -C host ARCH=aarch64
	@$(MAKE) --no-print-directory $(PARALLEL) -C host ARCH=native

# mosquitto comes over the network: no other target needs it.
.PHONY: broker mosquitto
mosquitto:
	@test -d build/vboard/broker/mosquitto || vboard/scripts/broker || true

broker: vboard-ta ## plugins and teemq of MQTT-TZ for the virtual board, with Debian's mosquitto
	@test -d build/vboard/broker/mosquitto || vboard/scripts/broker
	@$(MAKE) --no-print-directory $(PARALLEL) -C broker ARCH=aarch64
	@$(MAKE) --no-print-directory $(PARALLEL) -C broker ARCH=native

.PHONY: trace
trace:
	@$(MAKE) --no-print-directory -C trace

.PHONY: host-armhf
host-armhf: vboard
	@$(MAKE) --no-print-directory $(PARALLEL) -C host ARCH=armhf

# Packages of distributions build by themselves what is missing here: no apt, no virtual board. ARCH,
# CC, CFLAGS: host/Makefile; TA_DEV_KIT_DIR, CROSS_COMPILE, TA_SIGN_KEY: ta/ta.mk.
ARCH ?= native

.PHONY: install
install: ## programs and TAs below DESTDIR (SET=teehash: only these; PREFIX, TADIR)
	@$(MAKE) --no-print-directory -C host install ARCH=$(ARCH)
	@$(MAKE) --no-print-directory -C ta install

# What people's boards run: any glibc since 2.28, or musl (vboard/scripts/libc).
KINDS := aarch64-glibc aarch64-musl armhf-glibc armhf-musl

.PHONY: host-boards $(KINDS)
host-boards: $(KINDS)
$(KINDS): vboard
	@BUILD='$(BUILD)' vboard/scripts/libc $(subst -, ,$@)
	@$(MAKE) --no-print-directory $(PARALLEL) -C host ARCH=$(firstword $(subst -, ,$@)) \
		LIBC=$(lastword $(subst -, ,$@))

.PHONY: dist
dist: build build/docs/.ready ## a release in build/dist: wheel, programs, TAs, source, site; fetches the boards' C libraries
	@mk/install-node-packages
	@$(MAKE) --no-print-directory host-boards
	@mk/dist build '$(CURDIR)/$(VENV)/bin/python'

.PHONY: deb
deb: board ## Debian packages in build/deb, for arm64 and this machine's architecture
	@TA_DEV_KIT_DIR='$(TA_DEV_KIT_DIR)' mk/deb '$(BUILD)' arm64
	@mk/deb '$(BUILD)' $(shell dpkg --print-architecture)

.PHONY: man
man: venv ## man pages of all programs, in build/man (man -l build/man/teemark-run.1)
	@$(MAKE) --no-print-directory -C host man
	@mk/manual build/man $(TEEMARK) 'what trusted execution and hardware crypto cost on a board'
	@$(VENV)/bin/python -c 'from teemark.cli.main import TABLE; \
		[print(row.name, row.help) for row in TABLE]' | while read -r name summary; do \
		mk/manual build/man "$(TEEMARK) $$name" "$$summary" || exit 1; done

# What both strands need is built first, or they would wait for each other's jobs: some of it comes
# over the network, and meanwhile the rest is compiled. Without libteec's header, which comes with the
# virtual board's packages, the unit test that compares ours with it would be skipped. Tests of boards
# often wait; the others take what time they leave, and no more than that.
.PHONY: test unit-beside
test: deps ## each thing once, on the real OP-TEE too; fetches a browser, axe-core and Wycheproof
	@$(MAKE) --no-print-directory -j5 test-deps venv-dev vboard unit-programs mosquitto
	@$(MAKE) --no-print-directory $(PARALLEL) board-programs
	@$(MAKE) --no-print-directory $(PARALLEL) --output-sync=target board-beside unit-beside

unit-beside:
	@nice $(MAKE) --no-print-directory test-unit

# A browser, axe-core and speedscope, which look at the report's page and at an exported trace. Where
# they can't be had, those tests are skipped and say so.
.PHONY: test-deps
test-deps:
	@mk/install-packages mk/test-packages.txt || echo '[deps] no browser: its tests are skipped'
	@$(MAKE) --no-print-directory build/docs/.ready || echo '[deps] no zensical: its tests are skipped'
	@mk/install-node-packages
	@mk/install-wycheproof

# Byte code is kept, whatever the environment says: a test that starts a program would compile all of
# it again.
PYTEST := env -u PYTHONDONTWRITEBYTECODE PYTHONPYCACHEPREFIX='$(BUILD)/pycache' \
	$(VENV)/bin/pytest -q -c lab/pyproject.toml --rootdir=lab
# By four processes: many tests wait, for a connection or for a signal to arrive.
PYTEST_UNIT := $(PYTEST) -n 4 -m 'not board and not quiet and not packages and not farm and not exhaustive'

# THOROUGH=1: more examples of each property, longer fuzzing. Two strands side by side; what they
# need is built before.
.PHONY: test-unit
test-unit: deps test-deps venv-dev ## the tests that need no virtual board
	@$(MAKE) --no-print-directory $(PARALLEL) unit-programs
	@$(MAKE) --no-print-directory $(PARALLEL) -C host ARCH=native
	@$(MAKE) --no-print-directory -C trace
	@$(MAKE) --no-print-directory $(PARALLEL) --output-sync=target unit-host unit-rest

# What they run; each folder by itself, side by side.
UNIT_PROGRAMS := common/tests ta/tests broker/tests host/tests host/tests/teehash host/tests/fuzz
.PHONY: unit-programs $(UNIT_PROGRAMS)
unit-programs: $(UNIT_PROGRAMS)
$(UNIT_PROGRAMS):
	@$(MAKE) --no-print-directory -C $@ all

.PHONY: unit-host
unit-host:
	@$(MAKE) --no-print-directory -C host/tests test
	@$(MAKE) --no-print-directory -C host/tests/fuzz test
	@$(PYTEST_UNIT) host/tests

.PHONY: unit-rest
unit-rest:
	@$(MAKE) --no-print-directory -C common/tests test
	@$(MAKE) --no-print-directory -C ta/tests test
	@$(MAKE) --no-print-directory -C broker/tests test
	@$(PYTEST_UNIT) lab/tests

# Three strands, each with boards of its own, as a strand waits half of its time; a file stays in one
# strand, and so do files that share a board (lab/tests/conftest.py). What the board runs is built
# before, or each would build it.
PYTEST_BOARD := $(PYTEST) -n 3 --dist loadfile --no-loadscope-reorder

.PHONY: test-board board-beside
test-board: board-programs ## what claims to work on a TEE, once each, on the virtual board
	@$(MAKE) --no-print-directory board-beside

board-beside:
	@$(PYTEST_BOARD) -m 'board and not exhaustive' lab/tests

.PHONY: test-long
test-long: board-programs ## all that make test leaves out: every type, boot, plan, cut (an hour)
	@THOROUGH=1 $(PYTEST_BOARD) -m 'board or exhaustive' lab/tests

.PHONY: board-programs
board-programs: build venv-dev host-armhf
	@$(MAKE) --no-print-directory $(PARALLEL) -C ta/tests board
	@$(MAKE) --no-print-directory $(PARALLEL) -C host ARCH=aarch64 tests
	@$(MAKE) --no-print-directory broker || echo '[broker] no mosquitto: its tests are skipped'

# What sends signals, has threads or waits for another process. Those of boards boot one each time:
#   make test-again N=5 TESTS='-m "board and not exhaustive" lab/tests/boards'
WAITING := host/tests/test_masks.c host/tests/test_measure.c host/tests/test_tee_client.c \
	host/tests/test_afalg.c ta/tests/test_digest_trouble.c \
	-m "not board and not quiet" host/tests/test_teebench.py host/tests/teehash

.PHONY: test-again
test-again: override export TESTS := $(or $(value TESTS),$(WAITING))
test-again: deps venv-dev ## TESTS (pytest's words, sources of C tests) N (20) times beside LOAD (2) busy loops: how often each failed
	@$(VENV)/bin/python lab/tests/tools/again.py --times '$(or $(N),20)' --load '$(or $(LOAD),2)' \
		--tests "$$TESTS" -- $(PYTEST)

# The generator has an environment of its own: 140 MB that nothing else needs.
build/docs/.ready: lab/requirements-docs.lock
	@$(PYTHON) -m venv --clear build/docs
	@build/docs/bin/pip --quiet --disable-pip-version-check install --require-hashes -r $<
	@touch $@

.PHONY: docs
docs: build/docs/.ready venv ## docs/ as a site in build/site, which opens without a server, too
	@mk/install-node-packages
	@mk/docs

.PHONY: test-packages
test-packages: dist venv-dev ## the release, packages and CI recipes, in chroots and without a checkout (20 minutes)
	@$(PYTEST) -m packages lab/tests

# labgrid has an environment of its own: 80 MB, and a plugin of pytest, that no other test needs.
build/labgrid/.ready: lab/requirements-labgrid.lock
	@$(PYTHON) -m venv --clear build/labgrid
	@build/labgrid/bin/pip --quiet --disable-pip-version-check install --require-hashes -r $<
	@touch $@

.PHONY: test-farm
test-farm: build venv-dev build/labgrid/.ready ## virtual boards in a labgrid farm: coordinator, exporter, power switch (3 minutes)
	@PATH="$(CURDIR)/build/labgrid/bin:$$PATH" $(PYTEST) -m farm lab/tests

.PHONY: zoo
zoo: build venv-dev ## each step on virtual boards that differ, told in docs/boards.md (10 minutes)
	@ZOO=1 THOROUGH=1 $(PYTEST) -m board lab/tests/boards/test_zoo_board.py; status=$$?; \
		$(VENV)/bin/python lab/tests/tools/zoo.py && exit $$status

.PHONY: torture
torture: build venv-dev ## the power cut POWER_CUTS (100) times, and sessions opened at once for OPENS_SECONDS (600) in each way
	@OPENS_SECONDS=$(or $(OPENS_SECONDS),600) $(PYTEST) -s -m board lab/tests/boards/test_opens_board.py
	@POWER_CUTS=$(or $(POWER_CUTS),100) $(PYTEST) -s -m board lab/tests/boards/test_power_cut_board.py
	@echo 'reports: build/torture-opens.txt, build/torture.txt'

.PHONY: signals
signals: venv-dev ## a run is told to end SIGNALS (50) times in each state of a board (half an hour)
	@SIGNALS=$(or $(SIGNALS),50) $(PYTEST) -n 2 lab/tests/measure/test_shutdown.py

.PHONY: soak
soak: build broker venv-dev ## MQTT-TZ for MESSAGES (100000) messages, brokers killed, power cut (hours)
	@SOAK=$(or $(MESSAGES),100000) $(PYTEST) -s -m board lab/tests/broker/test_broker_soak.py
	@echo 'report: build/soak.txt'

.PHONY: fuzz
fuzz: deps ## the fuzzers, FUZZ_SECONDS (60) or FUZZ_RUNS each
	@$(MAKE) --no-print-directory -C ta/tests fuzz
	@$(MAKE) --no-print-directory -C host/tests/fuzz fuzz

.PHONY: bench
bench: build venv-dev ## how fast teehash is, and teebench beside openssl, on a quiet machine (5 minutes)
	@$(PYTEST) -m quiet lab/tests/measure/test_real_machine.py lab/tests/model/test_history.py
	@$(VENV)/bin/python lab/tests/tools/teehash_speed.py

.PHONY: mutants
mutants: deps venv-dev ## errors that people make, one at a time, in C and in the lab: do tests notice? (25 minutes; a table by area)
	@$(VENV)/bin/python lab/tests/tools/mutants.py

# It installs nothing unasked.
.PHONY: lint
lint: ## ruff, mypy, clang-format, and no warning of gcc (changes and fetches nothing)
	@mk/install-packages --check mk/system-packages.txt
	@test -e $(VENV)/.ready-dev || { echo 'error: ruff and mypy are missing: make venv-dev' >&2; exit 1; }
	@$(VENV)/bin/ruff check lab
	@$(VENV)/bin/ruff format --check lab
	@cd lab && ../$(VENV)/bin/mypy
	@git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror
	@$(MAKE) --no-print-directory $(PARALLEL) -C host ARCH=native CI=true \
		BUILD="$(CURDIR)/build/lint" SYSROOT="$(CURDIR)/build/vboard/sysroot"
	@$(MAKE) --no-print-directory $(PARALLEL) -C broker ARCH=native CI=true
	@$(MAKE) --no-print-directory -C trace CI=true BUILD="$(CURDIR)/build/lint"

.PHONY: format
format: deps venv-dev ## format the sources
	@$(VENV)/bin/ruff format lab
	@$(VENV)/bin/ruff check --fix lab
	@git ls-files '*.c' '*.h' | xargs clang-format -i

.PHONY: readme
readme: build ## the run that README shows, measured anew on the exact board
	@$(VENV)/bin/python lab/tests/tools/readme.py

.PHONY: picture
picture: test-deps ## the README picture, of REPORT=runs/latest/report.html
	@chromium --headless --no-sandbox --disable-gpu --disable-background-networking \
		--no-first-run --user-data-dir="$(CURDIR)/build/chromium" --hide-scrollbars \
		--window-size=1000,2640 --screenshot="$(CURDIR)/docs/report.png" \
		"file://$(abspath $(REPORT))" 2>/dev/null

.PHONY: clean
clean: ## remove what was built; downloads and the Python environment stay
	@rm -rf build/ta build/kits build/host build/broker build/common build/tests build/lint build/trace
	@$(MAKE) --no-print-directory -C vboard clean

.PHONY: distclean
distclean: ## remove everything that make made, runs excepted
	@rm -rf build $(VENV)
