/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file that the plugin writes for each window: what the guest executed
 * between two markers. A struct window_head, then its steps, blocks and words.
 * Little endian; read by walk.c and by teemark/trace/window.py.
 */
#pragma once

#include <stdint.h>

#define WINDOW_MAGIC "TTRACE4"

enum {
	WINDOW_CUT = 1 /* more steps than fit: what is there is the beginning */
};

struct window_head {
	char magic[8];
	uint64_t blocks;
	uint64_t words;
	uint64_t steps;
	uint64_t instructions;
	uint64_t flags;
	uint64_t marker; /* that it began at */
};

struct window_block {   /* as QEMU translated it */
	uint64_t vaddr; /* of its first instruction */
	uint64_t haddr; /* the same in QEMU's own memory */
	uint32_t instructions;
	uint32_t word; /* index of its first instruction's word */
};

struct window_step { /* as the guest executed it */
	uint32_t block;
	uint32_t instructions; /* begun: fewer than the block's if it was left */
};
