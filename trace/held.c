/* SPDX-License-Identifier: BSD-2-Clause */
#include "held.h"

#include <string.h>

enum { FRAMES = 64 };

/* PSTATE.F when the processor left a place in the secure world, to which it may come back. */
struct left {
	uint64_t back;
	struct table_block from;
	bool masked;
	bool fault; /* an exception: the place may not be behind `from`, which may have jumped */
};

static struct {
	bool masked; /* PSTATE.F of the secure world */
	struct left frames[FRAMES];
	size_t n;
	bool asks[FRAMES]; /* calls of thread_set_exceptions(): whether have_spinlock() was called */
	size_t n_asks;
	bool rpcs[FRAMES]; /* PSTATE.F before RPCs */
	size_t n_rpcs;
	bool saved; /* PSTATE.F before interrupts were masked last */
	struct table_block last;
	uint64_t last_end;
	bool begun;
} mask;

/* Makes room for one more in a small list: the oldest item is forgotten if it is full. */
static size_t make_room(void *list, size_t *n, size_t size)
{
	if (*n == FRAMES)
		memmove(list, (char *)list + size, --*n * size);
	return (*n)++;
}

static void push_bool(bool *list, size_t *n, bool value)
{
	list[make_room(list, n, sizeof(*list))] = value;
}

static void leave(bool fault)
{
	mask.frames[make_room(mask.frames, &mask.n, sizeof(*mask.frames))] =
		(struct left){ mask.last_end, mask.last, mask.masked, fault };
}

static bool exactly_behind(const struct left *f, const struct table_block *b)
{
	return f->back == b->address || f->back == b->address + 4;
}

/* Returns whether an interrupt after `from`, which had jumped, may have come before block `b`. */
static bool jumped_to(const struct left *f, const struct table_block *b)
{
	return f->fault &&
	       (f->from.function == b->function || b->flags & ENTRY || f->from.kind == RETURN);
}

static bool find(bool (*fits)(const struct left *, const struct table_block *),
		 const struct table_block *b)
{
	for (size_t i = mask.n; i-- > 0;) {
		const struct left *f = &mask.frames[i];

		if (f->from.domain != b->domain || !fits(f, b))
			continue;
		mask.masked = f->masked;
		mask.n = i;
		return true;
	}
	return false;
}

/* Sets the mask for a return from an exception to block `b`. */
static void come_back(const struct table_block *b)
{
	if (find(exactly_behind, b))
		return;
	if (b->domain == TA)
		mask.masked = false;
	else if (b->flags & RPC && mask.n_rpcs)
		mask.masked = mask.rpcs[--mask.n_rpcs];
	else if (!(b->flags & ENTERS) && find(jumped_to, b))
		return;
	else if (mask.last.domain == TFA || b->flags & ENTERS)
		mask.masked = true;
}

static void change_place(const struct table_block *b)
{
	bool entered = b->domain == CORE && (mask.last.domain != CORE || b->flags & VECTOR);

	if (mask.last.kind == ERET && is_secure(b->domain)) {
		come_back(b);
	} else if (is_secure(mask.last.domain) && b->domain == TFA) {
		leave(false);
	} else if (entered && is_secure(mask.last.domain) && mask.last.kind != ERET) {
		leave(true);
		mask.masked = true;
	}
}

/* Follows MSR DAIFSet, DAIFClr or DAIF at the end of a block of the secure world. */
static void change_mask(const struct table_block *b, uint32_t word)
{
	bool foreign = word >> 8 & 1; /* PSTATE.F */

	if ((word & 0xfffff0ff) == 0xd50340df) { /* DAIFSet */
		if (b->flags & RPC)
			push_bool(mask.rpcs, &mask.n_rpcs, mask.masked);
		mask.saved = mask.masked;
		mask.masked = mask.masked || foreign;
	} else if ((word & 0xfffff0ff) == 0xd50340ff) { /* DAIFClr */
		mask.masked = mask.masked && !foreign;
	} else if ((word & 0xffffffe0) == 0xd51b4220) { /* DAIF */
		if (!(b->flags & SETS_MASK))
			mask.masked = mask.saved;
		else
			mask.masked = !mask.n_asks || !mask.asks[--mask.n_asks];
	}
}

bool held_by(const struct table_block *b, uint32_t word, uint64_t end)
{
	bool held;

	if (mask.begun)
		change_place(b);
	mask.begun = true;
	if (b->flags & SETS_MASK && b->flags & ENTRY)
		push_bool(mask.asks, &mask.n_asks, false);
	if (b->flags & ASKS_SPINLOCK && b->flags & ENTRY && mask.n_asks)
		mask.asks[mask.n_asks - 1] = true;
	held = b->domain == TFA || (is_secure(b->domain) && mask.masked);
	if (is_secure(b->domain))
		change_mask(b, word);
	mask.last = *b;
	mask.last_end = end;
	return held;
}
