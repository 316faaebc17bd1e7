/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#define TEE_STORAGE_PRIVATE_REE  0x80000000u
#define TEE_STORAGE_PRIVATE_RPMB 0x80000100u
