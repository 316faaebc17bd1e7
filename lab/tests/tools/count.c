/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A second opinion on what trace/plugin.c records and trace/walk.c makes of it:
 * a QEMU plugin that shares no line with them, loaded beside them into one boot.
 * lab/tests/tools/walker.py compares.
 *
 *   qemu-system-aarch64 … -plugin ./count.so,dir=DIR,core=END,vectors=START-END,…
 *
 * It keeps no record of steps and no stack. Each instruction has a counter of its
 * own. Each place behind a BL or BLR waits by itself for its own call to come
 * back, and takes the difference of a counter:
 *
 *   program, kernel, TF-A   instructions executed while the same task of the
 *                           kernel is current. Which one is, the addresses tell
 *                           that cpu_switch_to() saves to and loads from.
 *   OP-TEE, TA              instructions of the secure world while the same task is
 *                           current: a call is its task's, and another task of the
 *                           kernel calls when OP-TEE notifies it. Where OP-TEE left
 *                           for the normal world in the middle of something, those
 *                           of TF-A on the way out, too; not what OP-TEE executes
 *                           from its entry up to the ERET with which it goes on.
 *   OP-TEE's entry          instructions there: what lies before that ERET, and
 *                           fast calls, which have none.
 *
 * DIR/count-N, for each window between two markers:
 *
 *   total N
 *   at LEVEL ADDRESS N             instructions executed at the address
 *   call LEVEL ADDRESS CALLS OPEN INCLUSIVE   of the function there: OPEN calls
 *                                  hadn't returned when the window ended
 *   unclear N                      calls by BLR whose target isn't known
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../trace/qemu_plugin.h"

#if QEMU_API != 1
#error "written for QEMU 7.2"
#endif

typedef uint32_t qemu_plugin_meminfo_t;
typedef void (*on_memory_t)(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t vaddr,
			    void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, on_memory_t cb,
				      enum qemu_plugin_cb_flags flags, int rw, void *data);

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 1;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
					   int argc, char **argv);

enum { SECURE_START = 0x0e000000, SECURE_END = 0x0f000000, CORE_START = 0x0e100000 };
enum level { PROGRAM, KERNEL, FIRMWARE, CORE, TA, LEVELS };
enum last { OTHER, DIRECT, INDIRECT, RETURN, EXCEPTION_RETURN };
/* Contexts: of OP-TEE's entry, and of each task two: itself, and what OP-TEE does in its calls. */
enum { ENTRY, TASKS, CONTEXTS = 255 };
enum { BUCKETS = 1 << 16, PENDING = 16 };

/* stp x19, x20, [x8], #16 and the ldp: only cpu_switch_to() saves a task so */
enum { SAVES = (int)0xa8815113, LOADS = (int)0xa8c15113 };

struct open {
	struct place *callee;
	uint64_t start;
	unsigned context;
	bool outermost;
};

/* An address: its instruction, the function that begins there, the calls that return there. */
struct place {
	struct place *next, *all;
	uint64_t address, executed, before;
	enum level level;
	uint64_t calls, inclusive;
	uint32_t *active; /* calls of the function that are open, by context */
	struct open *open;
	size_t n_open, room_open;
};

struct block {
	struct place *first, *behind;
	uint64_t n, target;
	enum level level;
	enum last last;
	bool vector;
};

struct pending { /* a call whose first instruction is still to come */
	struct place *site;
	uint64_t target; /* 0: not known */
	int exceptions;  /* that are being handled */
};

struct context {
	uint64_t task, count;
	struct pending pending[PENDING];
	size_t n_pending;
};

static struct {
	qemu_plugin_id_t id;
	const char *dir;
	bool armed, recording;
	bool entering, leaving; /* OP-TEE: until its ERET; by TF-A, in the middle of something */
	bool asking;            /* TF-A, for OP-TEE: it comes back without an entry */
	unsigned windows, n_contexts, current;
	uint64_t counter, seen, begun, unclear;
	uint64_t anchor, core_end, next_task, vectors[8][2];
	size_t n_vectors;
	uint64_t block_start;
	struct block *block;
	struct place *table[BUCKETS], *places;
	struct context contexts[CONTEXTS];
} all;

static void *allocate(size_t size)
{
	void *made = calloc(1, size);

	if (!made)
		abort();
	return made;
}

static struct place *place(enum level level, uint64_t address)
{
	struct place **at = &all.table[(address >> 2 ^ address >> 18 ^ level * 77) % BUCKETS];

	for (struct place *p = *at; p; p = p->next)
		if (p->address == address && p->level == level)
			return p;
	struct place *made = allocate(sizeof(*made));
	*made = (struct place){ .next = *at, .all = all.places, .address = address, .level = level };
	all.places = *at = made;
	return made;
}

static unsigned context(enum level level)
{
	return level < CORE ? all.current : all.entering ? ENTRY : all.current + 1;
}

static void begin_call(struct place *site, struct place *callee, unsigned by)
{
	if (site->n_open == site->room_open) {
		site->room_open = site->room_open ? 2 * site->room_open : 4;
		site->open = realloc(site->open, site->room_open * sizeof(*site->open));
		if (!site->open)
			abort();
	}
	if (!callee->active)
		callee->active = allocate(CONTEXTS * sizeof(*callee->active));
	site->open[site->n_open++] =
		(struct open){ callee, all.contexts[by].count, by, !callee->active[by]++ };
	callee->calls++;
}

static void end_call(struct place *site)
{
	unsigned by = context(site->level);

	for (size_t i = site->n_open; i-- > 0;) {
		struct open over = site->open[i];

		if (over.context != by)
			continue;
		if (over.outermost)
			over.callee->inclusive += all.contexts[by].count - over.start;
		over.callee->active[by]--;
		memmove(site->open + i, site->open + i + 1,
			(--site->n_open - i) * sizeof(*site->open));
		return;
	}
}

/* Is b where the latest call that hasn't begun goes to? */
static bool begins(struct pending *call, const struct block *b, const struct block *before)
{
	enum level level = call->site->level;

	if (call->target)
		return b->level == level && b->first->address == call->target;
	if (before && before->last == EXCEPTION_RETURN && before->level == level)
		call->exceptions--;
	if (b->level != level)
		return false;
	if (b->vector)
		call->exceptions++;
	return level == PROGRAM || level == TA || !call->exceptions;
}

static void begin_pending(const struct block *b, const struct block *before)
{
	unsigned by = context(b->level);
	struct context *c = &all.contexts[by];

	if (!c->n_pending || !begins(&c->pending[c->n_pending - 1], b, before))
		return;
	begin_call(c->pending[--c->n_pending].site, b->first, by);
}

static void call(const struct block *from)
{
	struct context *c = &all.contexts[context(from->level)];

	if (c->n_pending == PENDING) {
		all.unclear++;
		c->n_pending = 0;
	}
	c->pending[c->n_pending++] = (struct pending){ from->behind, from->target, 0 };
}

static void change_task(void)
{
	unsigned i = TASKS;

	while (i < all.n_contexts && all.contexts[i].task != all.next_task)
		i += 2;
	if (i == CONTEXTS)
		abort();
	if (i == all.n_contexts) {
		all.contexts[i] = (struct context){ .task = all.next_task };
		all.n_contexts += 2;
	}
	all.current = i;
	all.next_task = 0;
}

/* Counts the instructions since the last call of this function as executed by `block`. */
static void book(const struct block *block)
{
	uint64_t n = all.counter - all.seen;

	all.seen = all.counter;
	all.contexts[all.current].count += n;
	if (block->level == TA || (block->level == CORE && !all.entering) ||
	    (block->level == FIRMWARE && all.leaving))
		all.contexts[all.current + 1].count += n;
	else if (block->level == CORE)
		all.contexts[ENTRY].count += n;
}

static void on_block(unsigned int cpu, void *data)
{
	struct block *b = data, *before = all.block;
	bool whole = before && all.counter - all.block_start == before->n;

	(void)cpu;
	all.block = b;
	all.block_start = all.counter;
	if (!all.recording || !before)
		return;
	book(before);
	if (whole && (before->last == DIRECT || before->last == INDIRECT))
		call(before);
	if (whole && before->last == RETURN && all.next_task)
		change_task();
	if (before->level == FIRMWARE && b->level == CORE && !all.asking)
		all.entering = true;
	else if (before->level == CORE && whole && before->last == EXCEPTION_RETURN)
		all.entering = false;
	if (before->level == CORE && b->level == FIRMWARE) {
		all.leaving = !all.entering;
		all.asking = true;
	} else if (b->level != FIRMWARE) {
		all.leaving = all.asking = false;
	}
	end_call(b->first);
	begin_pending(b, whole ? before : NULL);
}

static void on_task(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *load)
{
	(void)cpu;
	(void)info;
	if (!all.recording)
		return;
	if (load)
		all.next_task = vaddr;
	else if (!all.contexts[all.current].task)
		all.contexts[all.current].task = vaddr;
}

static void begin_window(void)
{
	for (struct place *p = all.places; p; p = p->all) {
		p->before = p->executed;
		p->calls = p->inclusive = p->n_open = 0;
		if (p->active)
			memset(p->active, 0, CONTEXTS * sizeof(*p->active));
	}
	memset(all.contexts, 0, sizeof(all.contexts));
	all.n_contexts = TASKS + 2;
	all.current = TASKS;
	all.begun = all.seen = all.counter;
	all.entering = all.leaving = all.asking = false;
	all.unclear = all.next_task = 0;
	all.recording = true;
}

static void end_window(void)
{
	char path[4096];
	FILE *f;

	all.recording = false;
	snprintf(path, sizeof(path), "%s/count-%u", all.dir, all.windows++);
	f = fopen(path, "w");
	if (!f)
		abort();
	fprintf(f, "total %" PRIu64 "\n", all.counter - all.begun);
	for (struct place *p = all.places; p; p = p->all) {
		uint64_t open = 0;

		if (p->executed > p->before)
			fprintf(f, "at %d %#" PRIx64 " %" PRIu64 "\n", p->level, p->address,
				p->executed - p->before);
		for (size_t i = 0; p->active && i < CONTEXTS; i++)
			open += p->active[i];
		if (p->calls)
			fprintf(f, "call %d %#" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
				p->level, p->address, p->calls, open, p->inclusive);
	}
	fprintf(f, "unclear %" PRIu64 "\n", all.unclear);
	if (fclose(f))
		abort();
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

static void after_reset(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
}

static void on_hint(unsigned int cpu, void *data)
{
	unsigned hint = (unsigned)(uintptr_t)data;

	(void)cpu;
	if (hint == 0x70 || hint == 0x73) { /* from here on, to here */
		if (all.armed != (hint == 0x70))
			qemu_plugin_reset(all.id, after_reset);
		all.armed = hint == 0x70;
		all.block = NULL;
	} else if (hint == 0x71 && all.armed) {
		begin_window();
	} else if (hint == 0x72 && all.recording) {
		end_window();
	}
}

/* Physical in the secure world's memory, else virtual. */
static uint64_t locate(struct qemu_plugin_tb *tb, enum level *level)
{
	uint64_t vaddr = qemu_plugin_tb_vaddr(tb);
	uint64_t host = (uintptr_t)qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0));

	/* The first to execute there, at boot, is TF-A, whose addresses are physical. */
	if (!all.anchor && vaddr >= SECURE_START && vaddr < CORE_START)
		all.anchor = host - vaddr;
	host -= all.anchor;
	if (!all.anchor || host < SECURE_START || host >= SECURE_END) {
		*level = vaddr >> 63 ? KERNEL : PROGRAM;
		return vaddr;
	}
	*level = host < CORE_START ? FIRMWARE : host < all.core_end ? CORE : TA;
	return *level == TA ? vaddr : host;
}

static void see_end(struct block *b, uint32_t word, uint64_t address)
{
	if (word >> 26 == 0x25) {
		b->last = DIRECT;
		b->target = address + (uint64_t)((int64_t)((uint64_t)word << 38) >> 36);
	} else if ((word & 0xfffffc1f) == 0xd63f0000 || (word & 0xfefff800) == 0xd63f0800) {
		b->last = INDIRECT;
	} else if ((word & 0xfffffc1f) == 0xd65f0000 || (word & 0xfffffbff) == 0xd65f0bff) {
		b->last = RETURN;
	} else if ((word & 0xfffff3ff) == 0xd69f03e0) {
		b->last = EXCEPTION_RETURN;
	}
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	enum level level;
	uint64_t address = locate(tb, &level);
	struct block *b = all.armed ? allocate(sizeof(*b)) : NULL;
	uint32_t word = 0;

	(void)id;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		memcpy(&word, qemu_plugin_insn_data(insn), sizeof(word));
		if ((word & 0xfffff01f) == 0xd503201f && (word >> 5 & 0x78) == 0x70) {
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_hint,
							       QEMU_PLUGIN_CB_NO_REGS,
							       (void *)(uintptr_t)(word >> 5 &
										   0x7f));
			continue;
		}
		if (!b)
			continue;
		b->n++;
		qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
							   &all.counter, 1);
		qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
							   &place(level, address + 4 * i)->executed,
							   1);
		if (level == KERNEL && (word == (uint32_t)SAVES || word == (uint32_t)LOADS))
			qemu_plugin_register_vcpu_mem_cb(insn, on_task, QEMU_PLUGIN_CB_NO_REGS, 3,
							 word == (uint32_t)LOADS ? &all : NULL);
	}
	if (!b)
		return;
	b->level = level;
	b->first = place(level, address);
	b->behind = place(level, address + 4 * n);
	see_end(b, word, address + 4 * (n - 1));
	for (size_t i = 0; i < all.n_vectors; i++)
		b->vector |= !(address & 0x7f) && address >= all.vectors[i][0] &&
			     address < all.vectors[i][1];
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, b);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	(void)info;
	all.id = id;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "dir=", 4))
			all.dir = strdup(argv[i] + 4);
		else if (!strncmp(argv[i], "core=", 5))
			all.core_end = strtoull(argv[i] + 5, NULL, 0);
		else if (!strncmp(argv[i], "vectors=", 8) && all.n_vectors < 8) {
			uint64_t *range = all.vectors[all.n_vectors++];
			char *end;

			range[0] = strtoull(argv[i] + 8, &end, 0);
			range[1] = strtoull(end + 1, NULL, 0);
		} else {
			fprintf(stderr, "count: unknown option %s\n", argv[i]);
			return -1;
		}
	}
	if (!all.dir || !all.core_end) {
		fprintf(stderr, "count: dir=DIRECTORY and core=END are needed\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	return 0;
}
