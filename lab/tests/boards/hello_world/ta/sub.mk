# SPDX-License-Identifier: BSD-2-Clause
global-incdirs-y += include
srcs-y += hello_world_ta.c
