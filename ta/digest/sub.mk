# SPDX-License-Identifier: BSD-2-Clause
include $(sub-dir)/../../common/sources.mk

srcs-y += commands.c
srcs-y += slot.c
srcs-y += stack.c
srcs-y += stack_region.c

cflags-y += -Wno-unused-parameter
global-incdirs-y += ../../common/include
global-incdirs-y += ../common
cppflags-y += -DBYTES_UNALIGNED_OK=0	# the kit says -mstrict-align

# It shares these with the normal world and with the other TAs.
common := $(call beside,$(addprefix common/src/,$(COMMON_DIGEST_SRCS)))
common-ce := $(call beside,$(addprefix common/src/,$(COMMON_CE_SRCS)))
srcs-y += $(common) $(common-ce) $(call beside,ta/common/command.c)
$(foreach s,$(common) $(common-ce),$(eval cflags-$(s)-y := $(COMMON_CFLAGS)))
ifeq ($(CFG_ARM64_$(sm)),y)
$(foreach s,$(common-ce),$(eval cflags-$(s)-y += $(COMMON_CE_CFLAGS)))
endif
