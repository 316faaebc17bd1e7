# SPDX-License-Identifier: BSD-2-Clause
srcs-y += sized_ta.c
