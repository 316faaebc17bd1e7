# SPDX-License-Identifier: BSD-2-Clause
srcs-y += entry.c

srcs-y += $(call beside,ta/common/command.c)

cflags-y += -Wno-unused-parameter
global-incdirs-y += ../../common/include
global-incdirs-y += ../common
