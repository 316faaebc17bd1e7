# SPDX-License-Identifier: BSD-2-Clause
# The TAs, by OP-TEE's own rules for Android, which want a folder and a UUID for each. So those are
# left out that are many of one folder: teebench skips ta-size and parts of parallel without them.
define teemark-ta
LOCAL_PATH := $(TOP_OF_TEEMARK)/ta/$(1)
local_module := $(shell sed -n '/^BINARY/{s/.*:= *//p;q}' $(TOP_OF_TEEMARK)/ta/$(1)/Makefile).ta
include $$(BUILD_OPTEE_MK)
endef
$(foreach ta,digest probe bench broker,$(eval $(call teemark-ta,$(ta))))
