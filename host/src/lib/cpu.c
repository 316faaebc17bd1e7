/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bits: Linux, arch/arm64/include/uapi/asm/hwcap.h (AT_HWCAP) and
 * arch/arm/include/uapi/asm/hwcap.h (NEON in AT_HWCAP, crypto in AT_HWCAP2).
 */
#include <sys/auxv.h>

#include "cpu.h"

static const char *const names[CPU_FEATURES] = {
	[CPU_NEON] = "neon", [CPU_AES] = "aes",   [CPU_PMULL] = "pmull",   [CPU_SHA1] = "sha1",
	[CPU_SHA2] = "sha2", [CPU_SHA3] = "sha3", [CPU_SHA512] = "sha512",
};

const char *cpu_feature_name(enum cpu_feature feature)
{
	return names[feature];
}

/* The kernel tells of each feature there; 0: there are no such instructions. */
static const struct {
	unsigned char auxv, bit;
} hwcaps[CPU_FEATURES] = {
#if defined(__aarch64__)
#define BUILT_FOR "aarch64"
	[CPU_NEON] = { AT_HWCAP, 1 },    [CPU_AES] = { AT_HWCAP, 3 },
	[CPU_PMULL] = { AT_HWCAP, 4 },   [CPU_SHA1] = { AT_HWCAP, 5 },
	[CPU_SHA2] = { AT_HWCAP, 6 },    [CPU_SHA3] = { AT_HWCAP, 17 },
	[CPU_SHA512] = { AT_HWCAP, 21 },
#elif defined(__arm__)
#define BUILT_FOR "arm"
	[CPU_NEON] = { AT_HWCAP, 12 },  [CPU_AES] = { AT_HWCAP2, 0 },
	[CPU_PMULL] = { AT_HWCAP2, 1 }, [CPU_SHA1] = { AT_HWCAP2, 2 },
	[CPU_SHA2] = { AT_HWCAP2, 3 },
#elif defined(__x86_64__)
#define BUILT_FOR "x86_64"
#else
#define BUILT_FOR "another architecture than ARM"
#endif
};

const char *cpu_built_for(void)
{
	return BUILT_FOR;
}

bool cpu_has(enum cpu_feature feature)
{
	return hwcaps[feature].auxv && getauxval(hwcaps[feature].auxv) >> hwcaps[feature].bit & 1;
}
