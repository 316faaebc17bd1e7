# SPDX-License-Identifier: BSD-2-Clause
include $(sort $(wildcard $(BR2_EXTERNAL_TEEMARK_PATH)/package/*/*.mk))
