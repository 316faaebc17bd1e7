# SPDX-License-Identifier: BSD-2-Clause
srcs-y += entry.c

srcs_ext_base-y := ../..
srcs_ext-y := $(addprefix ta/common/,command.c stateless.c)

global-incdirs-y += ../../common/include
global-incdirs-y += ../common
global-cppflags-y += -DTA_DATA_KIB=$(KIB)
