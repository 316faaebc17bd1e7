# SPDX-License-Identifier: BSD-2-Clause
include $(sub-dir)/../../common/sources.mk

srcs-y += entry.c
srcs-y += commands.c
srcs-y += stack.c
srcs-y += stack_region.c

# Who computes: to add one, its file here and its line in impl.c.
srcs-y += impl.c
srcs-y += impl_tee.c
srcs-y += impl_common.c

global-incdirs-y += ../../common/include
cppflags-y += -DBYTES_UNALIGNED_OK=0	# the kit says -mstrict-align

srcs_ext_base-y := ../../common/src
srcs_ext-y := $(COMMON_SRCS) $(COMMON_CE_SRCS)
$(foreach s,$(srcs_ext-y),$(eval cflags-$(s)-y := $(COMMON_CFLAGS)))
ifeq ($(CFG_ARM64_$(sm)),y)
$(foreach s,$(COMMON_CE_SRCS),$(eval cflags-$(s)-y += $(COMMON_CE_CFLAGS)))
endif
