/* SPDX-License-Identifier: BSD-2-Clause */
/* Features of the CPU, as the kernel's hwcap reports them (never guessed). */
#pragma once

#include <stdbool.h>

/* The reason why something that needs masked instructions is skipped. */
#define CPU_MASKED "this CPU's crypto instructions aren't used: OPENSSL_armcap masks them"

enum cpu_feature {
	CPU_NEON,
	CPU_AES,
	CPU_PMULL,
	CPU_SHA1,
	CPU_SHA2,
	CPU_SHA3,
	CPU_SHA512,
	CPU_FEATURES,
};

/* Returns the feature's name as in Linux' /proc/cpuinfo for arm64: "neon", "aes", … */
const char *cpu_feature_name(enum cpu_feature feature);
/* Returns true if the kernel lists the feature and it isn't masked; always false on CPUs other than ARM's. */
bool cpu_has(enum cpu_feature feature);
/*
 * Returns true if OPENSSL_armcap masks all features but NEON, for our own code as for OpenSSL's: an emulator's
 * CPU can have more than its board's.
 */
bool cpu_masked(void);
/* Returns the architecture that this program was built for: "aarch64", "arm", "x86_64", … */
const char *cpu_built_for(void);
