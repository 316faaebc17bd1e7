/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bits: Linux, arch/arm64/include/uapi/asm/hwcap.h (AT_HWCAP) and
 * arch/arm/include/uapi/asm/hwcap.h (NEON in AT_HWCAP, crypto in AT_HWCAP2).
 */
#include <sys/auxv.h>

#include "cpu.h"

static const char *const names[CPU_FEATURES] = {
	[CPU_NEON] = "neon",     [CPU_AES] = "aes",   [CPU_PMULL] = "pmull",
	[CPU_SHA1] = "sha1",     [CPU_SHA2] = "sha2", [CPU_SHA3] = "sha3",
	[CPU_SHA512] = "sha512",
};

const char *cpu_feature_name(enum cpu_feature feature)
{
	return names[feature];
}

#if defined(__aarch64__)
const char *cpu_built_for(void)
{
	return "aarch64";
}

bool cpu_has(enum cpu_feature feature)
{
	static const unsigned char bit[CPU_FEATURES] = {
		[CPU_NEON] = 1,    [CPU_AES] = 3,  [CPU_PMULL] = 4,
		[CPU_SHA1] = 5,    [CPU_SHA2] = 6, [CPU_SHA3] = 17,
		[CPU_SHA512] = 21,
	};

	return getauxval(AT_HWCAP) >> bit[feature] & 1;
}
#elif defined(__arm__)
const char *cpu_built_for(void)
{
	return "arm";
}

bool cpu_has(enum cpu_feature feature)
{
	switch (feature) {
	case CPU_NEON:
		return getauxval(AT_HWCAP) >> 12 & 1;
	case CPU_AES:
		return getauxval(AT_HWCAP2) >> 0 & 1;
	case CPU_PMULL:
		return getauxval(AT_HWCAP2) >> 1 & 1;
	case CPU_SHA1:
		return getauxval(AT_HWCAP2) >> 2 & 1;
	case CPU_SHA2:
		return getauxval(AT_HWCAP2) >> 3 & 1;
	case CPU_SHA3: /* no AArch32 instructions exist for these */
	case CPU_SHA512:
	case CPU_FEATURES:
		break;
	}
	return false;
}
#else
const char *cpu_built_for(void)
{
#if defined(__x86_64__)
	return "x86_64";
#else
	return "another architecture than ARM";
#endif
}

bool cpu_has(enum cpu_feature feature)
{
	(void)feature;
	return false;
}
#endif
