# SPDX-License-Identifier: BSD-2-Clause
#
# The Makefiles of the TAs have this in common. A TA's own Makefile sets
# BINARY (its UUID) and NAME, then includes this.
#
#   TA_DEV_KIT_DIR  OP-TEE's TA development kit (export-ta_arm64, export-ta_arm32)
#   CROSS_COMPILE   prefix of the compiler
#   O               where to build
#   PYTHON3         a Python that has the module cryptography, to sign with
#   TA_SIGN_KEY     the key (default: the kit's own, which is public)

ta-root := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))

TA_DEV_KIT_DIR	?= $(ta-root)/../build/vboard/ta_dev_kit
CROSS_COMPILE	?= aarch64-linux-gnu-
O		?= $(ta-root)/../build/ta/$(NAME)

# The first of these that can sign; python3 may be one without the module.
ifndef PYTHON3
PYTHON3 := $(shell for p in python3 /usr/bin/python3; do \
	$$p -c 'import cryptography' 2>/dev/null && { echo $$p; exit; }; done)
endif

# No traces: one line on a serial console costs more than what is measured.
CFG_TEE_TA_LOG_LEVEL ?= 0

# $(call beside,FILES) names sources outside of the TA's folder, given relative to the repository.
# Absolute names are taken by kits of every version (srcs_ext-y needs 4.5 or newer).
beside = $(addprefix $(abspath $(ta-root)/..)/,$(1))

ifneq ($(wildcard $(TA_DEV_KIT_DIR)/mk/ta_dev_kit.mk),)

ifeq ($(PYTHON3),)
ifneq ($(MAKECMDGOALS),clean)
$(error no Python has the module 'cryptography', which signs TAs. \
	Hint: apt-get install python3-cryptography, or name one: PYTHON3=…)
endif
endif

include $(TA_DEV_KIT_DIR)/mk/ta_dev_kit.mk

else

.PHONY: all clean
all:
	@echo 'error: no TA development kit at $(TA_DEV_KIT_DIR)' >&2
	@echo 'hint: make vboard fetches one, or name yours: TA_DEV_KIT_DIR=…' >&2
	@exit 1

clean:
	@rm -rf '$(O)'

endif
