/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sources of the bits: Linux, arch/arm64/include/uapi/asm/hwcap.h (AT_HWCAP) and
 * arch/arm/include/uapi/asm/hwcap.h (NEON in AT_HWCAP, crypto in AT_HWCAP2).
 */
#include <stdlib.h>
#include <sys/auxv.h>

#include "cpu.h"

/* HWCAP(): a feature's word of getauxval() and its bit; word 0: the CPU can't have the feature. */
#if defined(__aarch64__)
#define BUILT_FOR               "aarch64"
#define HWCAP(arm64, auxv, arm) AT_HWCAP, arm64
#elif defined(__arm__)
#define BUILT_FOR               "arm"
#define HWCAP(arm64, auxv, arm) auxv, arm
#elif defined(__x86_64__)
#define BUILT_FOR               "x86_64"
#define HWCAP(arm64, auxv, arm) 0, 0
#else
#define BUILT_FOR               "another architecture than ARM"
#define HWCAP(arm64, auxv, arm) 0, 0
#endif

static const struct {
	const char *name;
	unsigned char auxv, bit;
} features[CPU_FEATURES] = {
	[CPU_NEON] = { "neon", HWCAP(1, AT_HWCAP, 12) },
	[CPU_AES] = { "aes", HWCAP(3, AT_HWCAP2, 0) },
	[CPU_PMULL] = { "pmull", HWCAP(4, AT_HWCAP2, 1) },
	[CPU_SHA1] = { "sha1", HWCAP(5, AT_HWCAP2, 2) },
	[CPU_SHA2] = { "sha2", HWCAP(6, AT_HWCAP2, 3) },
	[CPU_SHA3] = { "sha3", HWCAP(17, 0, 0) },
	[CPU_SHA512] = { "sha512", HWCAP(21, 0, 0) },
};

const char *cpu_feature_name(enum cpu_feature feature)
{
	return features[feature].name;
}

const char *cpu_built_for(void)
{
	return BUILT_FOR;
}

bool cpu_masked(void)
{
	const char *used = getenv(
		"OPENSSL_armcap"); /* crypto/arm_arch.h: NEON, a timer, crypto from bit 2 on */

	return used && strtoull(used, NULL, 0) < 4;
}

bool cpu_has(enum cpu_feature feature)
{
	unsigned char auxv = features[feature].auxv;

	return auxv && getauxval(auxv) >> features[feature].bit & 1 &&
	       (feature == CPU_NEON || !cpu_masked());
}
