# SPDX-License-Identifier: BSD-2-Clause
include $(sub-dir)/../../common/sources.mk

srcs-y += commands.c
srcs-y += cipher.c
srcs-y += mac.c
srcs-y += storage.c
srcs-y += kernel.c
srcs-y += asym.c

cflags-y += -Wno-unused-parameter
global-incdirs-y += ../../common/include
global-incdirs-y += ../../common/src
global-incdirs-y += ../common
cppflags-y += -DBYTES_UNALIGNED_OK=0	# the kit says -mstrict-align

# It shares these with the normal world and with the other TAs.
common := $(call beside,$(addprefix common/src/,algorithms.c asym.c kernels.c))
srcs-y += $(common) $(call beside,ta/common/command.c)
$(foreach s,$(common),$(eval cflags-$(s)-y := $(COMMON_CFLAGS)))
