# SPDX-License-Identifier: BSD-2-Clause
srcs-y += entry.c

srcs_ext_base-y := ../..
srcs_ext-y := ta/common/startup.c

global-incdirs-y += ../../common/include
global-cppflags-y += -DTA_DATA_KIB=$(KIB)
