/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any window of a trace, as walk.c has it after its checks: a guest may do what
 * it likes, and its symbols be wrong. Each instruction is in the tree once.
 */
#include "walk.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BLOCKS = 16, MOST = 7, BLOCK_BYTES = 4, STEPS = 1024 };

static struct window_block blocks[BLOCKS];
static struct table_block table[BLOCKS];
static struct window_step list[STEPS];
static uint32_t words[BLOCKS * (MOST + 1)];

static void take_block(size_t i, const uint8_t *from)
{
	/* Few places, so that some are returned to, and vectors among them. */
	blocks[i].instructions = 1 + (from[0] & MOST);
	blocks[i].word = (uint32_t)i * (MOST + 1);
	/* Instructions that mask and unmask interrupts (held.c), and others. */
	for (uint32_t k = 0; k <= MOST; k++)
		words[blocks[i].word + k] = 0xd50340df ^ (from[k % BLOCK_BYTES] & 0x2f) << 4;
	table[i] = (struct table_block){
		.address = 4 * (uint64_t)(from[1] & 63) + (from[0] & 0x80 ? 0x800 : 0),
		.function = from[0] >> 3 & 7,
		.domain = from[2] % DOMAINS,
		.kind = (from[2] >> 4) % KINDS,
		.flags = from[3] & (ENTRY | VECTOR | SWITCH | OPAQUE | TABLE),
	};
}

static void forget(void)
{
	for (size_t i = 0; i < walk.n_threads; i++) {
		drop_kept(&walk.threads[i], 0);
		free(walk.threads[i].stack.frames);
	}
	free(walk.threads);
	free(walk.nodes);
	free(walk.passes.list);
	free(walk.lost.list);
	memset(&walk, 0, sizeof(walk));
	walk.roots = NO_NODE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct steps steps = {
		.blocks = blocks,
		.list = list,
		.words = words,
		.table = table,
		.n_blocks = BLOCKS,
		.window = "fuzzed",
	};
	uint64_t stepped = 0, counted = 0;

	if (size < (size_t)BLOCKS * BLOCK_BYTES)
		return 0;
	for (size_t i = 0; i < BLOCKS; i++, data += BLOCK_BYTES)
		take_block(i, data);
	size -= (size_t)BLOCKS * BLOCK_BYTES;
	for (; steps.n < size && steps.n < STEPS; steps.n++) {
		uint8_t at = data[steps.n];
		uint32_t all = blocks[at % BLOCKS].instructions;
		/* Some are left before their end. */
		uint32_t begun = at & 0x80 ? 1 + (at >> 4 & MOST) : all;

		list[steps.n] = (struct window_step){
			.block = at % BLOCKS,
			.instructions = begun < all ? begun : all,
		};
		stepped += list[steps.n].instructions;
	}
	walk.functions = 8;
	follow(&steps);
	for (size_t i = 0; i < walk.n_nodes; i++) {
		counted += walk.nodes[i].self;
		if (walk.nodes[i].parent != NO_NODE && walk.nodes[i].parent >= i)
			abort();
	}
	if (counted != stepped)
		abort();
	forget();
	return 0;
}
