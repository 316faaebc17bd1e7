/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file that the plugin writes for each window, with what the guest executed between two
 * markers: a struct window_head, then steps, blocks and words. Little endian; read by walk.c and
 * teemark/trace/window.py.
 */
#pragma once

#include <stdint.h>

#define WINDOW_MAGIC "TTRACE4"

enum {
	WINDOW_CUT = 1 /* only the beginning: more steps than fit */
};

struct window_head {
	char magic[8];
	uint64_t blocks;
	uint64_t words;
	uint64_t steps;
	uint64_t instructions;
	uint64_t flags;
	uint64_t marker; /* the marker that began the window */
};

struct window_block {   /* a block of instructions, as QEMU translated it */
	uint64_t vaddr; /* virtual address of the first instruction */
	uint64_t haddr; /* address of the first instruction in QEMU's memory */
	uint32_t instructions;
	uint32_t word; /* index of the first instruction's word */
};

struct window_step { /* one execution of a block */
	uint32_t block;
	uint32_t instructions; /* executed; fewer than the block's if it was left early */
};

/*
 * With the plugin's option memory=on it writes the file `memory`, too: a window whose steps are
 * the blocks that were executed between ARM and DISARM, each once. Behind it stand the places in
 * memory that they accessed, as 64-bit numbers; read by teemark/trace/memory.py.
 */
enum {
	TOUCHED_GRANULE = 4,    /* log2 of the bytes of a place */
	TOUCHED_BY_STACK = 36,  /* this bit: the address was relative to the stack pointer */
	TOUCHED_BLOCK = 37,     /* from this bit on: the block; below bit 36: address / 16 */
	TOUCHED_ADDRESSES = 40, /* bits of an address; accesses to higher ones aren't recorded */
};
