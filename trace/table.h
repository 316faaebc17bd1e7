/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of a window's blocks that teemark/trace/tree.py writes: a struct table_head, then a
 * struct table_block for each block of the window.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TABLE_MAGIC "TTABLE1"

enum domain { PROGRAM, KERNEL, TFA, CORE, TA, DOMAINS };

/* How a block ends. */
enum kind { OTHER, CALL, RETURN, ERET, SVC, SMC, CUT, KINDS };

enum flag {
	ENTRY = 1,  /* first block of a function */
	VECTOR = 2, /* in an exception vector */
	SWITCH = 4, /* in the kernel's function that switches threads */
	OPAQUE = 8, /* no symbols: its functions can't be told apart */
	TABLE = 16, /* in a table of exception vectors: its RET is a jump */
	/* Functions of OP-TEE's core that change which interrupts are masked: held.c. */
	SETS_MASK = 32,
	ASKS_SPINLOCK = 64,
	RPC = 128,
	ENTERS = 256,
};

static inline bool is_secure(enum domain domain)
{
	return domain == CORE || domain == TA;
}

struct table_head {
	char magic[8];
	uint64_t blocks;
	uint64_t functions;
};

struct table_block {
	uint64_t address; /* as the block's domain counts addresses */
	uint32_t function;
	uint8_t domain;
	uint8_t kind;
	uint16_t flags;
};
