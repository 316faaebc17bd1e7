# SPDX-License-Identifier: BSD-2-Clause
# The TAs, by OP-TEE's own rules for Android, which want a folder and a UUID for each. So the TAs of
# ta/size are left out, which are many of one folder: teebench skips ta-size without them.
define teemark-ta
LOCAL_PATH := $(TOP_OF_TEEMARK)/ta/$(1)
local_module := $(shell sed -n 's/^BINARY *:= *//p' $(TOP_OF_TEEMARK)/ta/$(1)/Makefile).ta
include $$(BUILD_OPTEE_MK)
endef
$(foreach ta,digest probe bench broker,$(eval $(call teemark-ta,$(ta))))
