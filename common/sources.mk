# SPDX-License-Identifier: BSD-2-Clause
#
# The sources that both worlds compile, each named once. Included by host/,
# ta/ and the tests; the names are relative to common/src.

# A TA that has digests takes these.
COMMON_DIGEST_SRCS := algorithms.c digest.c merkle_damgard.c sha1.c sha256.c \
	sha512.c sha3.c

# All of them.
COMMON_SRCS := $(COMMON_DIGEST_SRCS) kernels.c asym.c

# Compiled with COMMON_CE_CFLAGS on aarch64 and without them elsewhere, where
# they come out empty. Run them only where the CPU has the instructions.
COMMON_CE_SRCS := sha_ce.c
COMMON_CE_CFLAGS := -march=armv8-a+crypto

# AES-256-GCM as the broker's TA and its tests have it; the second list is compiled as COMMON_CE_SRCS.
COMMON_GCM_SRCS := gcm_ct.c
# Its loops are short and of fixed length: unrolled, it takes a third of the time.
COMMON_GCM_CFLAGS := -O3 -fno-tree-vectorize
COMMON_GCM_CE_SRCS := gcm_ce.c

# The sources want this whatever the rest is compiled with.
COMMON_CFLAGS := -O2
