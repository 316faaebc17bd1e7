/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A QEMU plugin that records which blocks of instructions the guest executes between two marker
 * instructions (host/include/marker.h), in order. The markers:
 *
 *   arm     translates all code anew, with the callbacks that recording needs
 *   begin   begins a window behind this instruction
 *   part    the same, but first ends the part before
 *   end     ends the window before this instruction, and writes it to DIR/window-N
 *   hold    ends the window without writing it
 *   keep    writes the window that hold ended; another window must not have begun
 *   disarm  returns to looking for markers only, which has no overhead
 *
 *   qemu-system-aarch64 … -plugin ./libteetrace-1.so,dir=DIR
 *
 * With boot=ADDRESS a window begins with the first instruction of the machine and ends at that
 * address, where the normal world's begins.
 *
 * With memory=on it also records which places in memory are accessed between arm and disarm, by
 * which block (window.h).
 *
 * It supports one virtual CPU. Each instruction is counted when it is executed, because QEMU may
 * leave a block in the middle, at accesses to devices and at aborts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"
#include "window.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_API;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
					   int argc, char **argv);

/* The 7-bit immediate of the hint; parts go from OPEN to LAST_PART. */
enum {
	ARM = 0x70,
	BEGIN = 0x71,
	END = 0x72,
	DISARM = 0x73,
	OPEN = 0x74,
	LAST_PART = 0x78,
	HOLD = 0x79,
	KEEP = 0x7a,
	MARKERS = 0x70, /* bits that are set in every marker */
};

/* Most steps of a window (1.5 GiB), and most steps in memory: earlier ones are in the file. */
enum { STEPS_MAX = 192 << 20, PIECE = 4 << 20 };

static struct {
	qemu_plugin_id_t id;
	char *dir;
	bool armed, recording, held, full;
	bool kept; /* blocks have callbacks from now on, armed or not */
	unsigned windows;

	struct window_block *blocks;
	size_t n_blocks, room_blocks;
	uint32_t *words;
	size_t n_words, room_words;
	struct window_step steps[PIECE]; /* steps since number `spilled` */
	size_t n_steps, spilled;

	char part[4096]; /* path of the unfinished window */
	FILE *file;

	uint32_t block;    /* index of the current block */
	unsigned begun_by; /* marker that began the window */
	uint64_t at_begin; /* instruction count when the window began */
	uint64_t at_end;   /* instruction count when hold ended the window */
	uint64_t written;  /* bytes of all windows written */
	uint64_t room;     /* limit of `written`; 0: no limit */
	uint64_t at_step;  /* instruction count when the current step began */
	uint64_t boot;     /* address that ends the boot's window; 0: none is recorded */
} trace;

#if QEMU_API == 1

static uint64_t counter;

static uint64_t count(void)
{
	return counter;
}

static void count_instruction(struct qemu_plugin_insn *insn)
{
	qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &counter, 1);
}

static void read_word(struct qemu_plugin_insn *insn, uint32_t *word)
{
	memcpy(word, qemu_plugin_insn_data(insn), sizeof(*word));
}

static void prepare(const struct qemu_info *info)
{
}

#else

static qemu_plugin_u64 counter;
static bool data_is_copied;

static uint64_t count(void)
{
	return qemu_plugin_u64_get(counter, 0);
}

static void count_instruction(struct qemu_plugin_insn *insn)
{
	qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, QEMU_PLUGIN_INLINE_ADD_U64,
							    counter, 1);
}

static void read_word(struct qemu_plugin_insn *insn, uint32_t *word)
{
	uintptr_t data = qemu_plugin_insn_data(insn, word, sizeof(*word));

	if (!data_is_copied)
		memcpy(word, (const void *)data, sizeof(*word));
}

static void prepare(const struct qemu_info *info)
{
	counter.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	counter.offset = 0;
	data_is_copied = info->version.cur >= 3;
}

#endif

/* The places in memory that were accessed: a hash table with open addressing, 0: a free slot. */
static struct {
	bool wanted;
	uint64_t *slots;
	size_t n, room; /* room is a power of two */
	uint8_t *ran;   /* by block: whether it was executed */
	size_t room_ran;
} touched;

/* Makes room for `more` items behind the first n items. Returns the new address of the items. */
static void *grow(void *items, size_t n, size_t more, size_t *room, size_t size)
{
	if (n + more <= *room)
		return items;
	*room = *room ? *room * 2 : 65536;
	items = realloc(items, *room * size);
	if (!items) {
		fprintf(stderr, "teetrace: out of memory\n");
		exit(1);
	}
	return items;
}

static void spill(void)
{
	fwrite(trace.steps, sizeof(*trace.steps), trace.n_steps - trace.spilled, trace.file);
	trace.spilled = trace.n_steps;
}

static void close_step(void)
{
	uint64_t now = count();

	if (trace.n_steps && !trace.full)
		trace.steps[(trace.n_steps - 1) % PIECE].instructions =
			(uint32_t)(now - trace.at_step);
	trace.at_step = now;
}

static void open_step(void)
{
	close_step();
	if (trace.full || trace.n_steps == STEPS_MAX) {
		trace.full = true;
		return;
	}
	if (trace.n_steps - trace.spilled == PIECE)
		spill();
	trace.steps[trace.n_steps++ % PIECE] = (struct window_step){ trace.block, 0 };
}

static void touch(uint64_t place);

/* Doubles the table, before it is half full. */
static void make_room_to_touch(void)
{
	uint64_t *before = touched.slots;
	size_t room = touched.room;

	touched.room = room ? room * 2 : 1 << 16;
	touched.slots = calloc(touched.room, sizeof(*touched.slots));
	if (!touched.slots) {
		fprintf(stderr, "teetrace: out of memory\n");
		exit(1);
	}
	touched.n = 0;
	for (size_t i = 0; i < room; i++)
		if (before[i])
			touch(before[i]);
	free(before);
}

static void touch(uint64_t place)
{
	size_t i;

	if (2 * touched.n >= touched.room)
		make_room_to_touch();
	i = (place * 0x9e3779b97f4a7c15u) >> 20 & (touched.room - 1);
	while (touched.slots[i] && touched.slots[i] != place)
		i = (i + 1) & (touched.room - 1);
	touched.n += !touched.slots[i];
	touched.slots[i] = place;
}

static void forget_touched(void)
{
	touched.n = 0;
	if (touched.slots)
		memset(touched.slots, 0, touched.room * sizeof(*touched.slots));
	if (touched.ran)
		memset(touched.ran, 0, touched.room_ran);
}

static void on_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *by)
{
	uint64_t last = address + (1u << qemu_plugin_mem_size_shift(info)) - 1;

	if (!trace.armed || last >> TOUCHED_ADDRESSES)
		return;
	touch((uintptr_t)by | address >> TOUCHED_GRANULE);
	if (last >> TOUCHED_GRANULE != address >> TOUCHED_GRANULE)
		touch((uintptr_t)by | last >> TOUCHED_GRANULE);
}

/* Returns whether a load or store addresses memory relative to the stack pointer. */
static bool by_stack(uint32_t word)
{
	return (word & 0x0a000000) == 0x08000000 && (word >> 5 & 31) == 31 &&
	       (word & 0x3b000000) != 0x18000000; /* a load relative to the PC */
}

static void write_touched(void)
{
	struct window_head head = { .magic = WINDOW_MAGIC,
				    .blocks = trace.n_blocks,
				    .words = trace.n_words };
	char path[4096 + 16];
	FILE *file;

	snprintf(path, sizeof(path), "%s/memory", trace.dir);
	file = fopen(path, "wb");
	if (!file) {
		perror(path);
		exit(1);
	}
	fseek(file, sizeof(head), SEEK_SET);
	for (size_t i = 0; i < trace.n_blocks; i++) {
		struct window_step step = { (uint32_t)i, trace.blocks[i].instructions };

		if (!touched.ran[i])
			continue;
		fwrite(&step, sizeof(step), 1, file);
		head.steps++;
		head.instructions += step.instructions;
	}
	fwrite(trace.blocks, sizeof(*trace.blocks), trace.n_blocks, file);
	fwrite(trace.words, sizeof(*trace.words), trace.n_words, file);
	for (size_t i = 0; i < touched.room; i++)
		if (touched.slots[i])
			fwrite(&touched.slots[i], sizeof(touched.slots[i]), 1, file);
	fseek(file, 0, SEEK_SET);
	fwrite(&head, sizeof(head), 1, file);
	if (ferror(file) || fclose(file))
		fprintf(stderr, "teetrace: cannot write %s\n", path);
}

static void on_block(unsigned int cpu, void *index)
{
	trace.block = (uint32_t)(uintptr_t)index;
	if (touched.wanted && trace.armed)
		touched.ran[trace.block] = 1;
	if (trace.recording && !trace.full)
		open_step();
}

static void write_window(void)
{
	struct window_head head = {
		.magic = WINDOW_MAGIC,
		.blocks = trace.n_steps ? trace.n_blocks : 0,
		.words = trace.n_steps ? trace.n_words : 0,
		.steps = trace.n_steps,
		.instructions = trace.at_end - trace.at_begin,
		.flags = trace.full ? WINDOW_CUT : 0,
		.marker = trace.begun_by,
	};
	char path[4096 + 16];

	spill();
	fwrite(trace.blocks, sizeof(*trace.blocks), head.blocks, trace.file);
	fwrite(trace.words, sizeof(*trace.words), head.words, trace.file);
	trace.written += (uint64_t)ftell(trace.file);
	fseek(trace.file, 0, SEEK_SET);
	fwrite(&head, sizeof(head), 1, trace.file);
	snprintf(path, sizeof(path), "%s/window-%u", trace.dir, trace.windows++);
	if (ferror(trace.file) || fclose(trace.file) || rename(trace.part, path))
		fprintf(stderr, "teetrace: cannot write %s\n", path);
	trace.file = NULL;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

static void after_reset(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
}

static void begin_window(unsigned marker)
{
	trace.file = trace.file ? freopen(trace.part, "wb", trace.file) : fopen(trace.part, "wb");
	if (!trace.file || fseek(trace.file, sizeof(struct window_head), SEEK_SET)) {
		perror(trace.part);
		exit(1);
	}
	/* The first step is the rest of the marker's block. */
	trace.begun_by = marker;
	trace.n_steps = trace.spilled = 0;
	/* If no room is left, the window gets neither blocks nor steps. */
	trace.full = trace.room && trace.written > trace.room;
	trace.at_begin = count();
	open_step();
	trace.recording = true;
	trace.held = false;
}

static void hold_window(void)
{
	if (!trace.recording)
		return;
	close_step();
	trace.at_end = count();
	trace.recording = false;
	trace.held = true;
}

static void keep_window(void)
{
	if (trace.held)
		write_window();
	trace.held = false;
}

static void end_window(void)
{
	if (!trace.recording)
		return;
	hold_window();
	keep_window();
}

static void on_marker(unsigned int cpu, void *data)
{
	unsigned marker = (unsigned)(uintptr_t)data;

	switch (marker) {
	case ARM:
	case DISARM:
		if (trace.armed == (marker == ARM))
			break;
		trace.armed = !trace.armed;
		trace.recording = false;
		trace.boot = 0;
		if (trace.armed)
			forget_touched();
		else if (touched.wanted)
			write_touched();
		/*
		 * Takes effect at the end of this block. QEMU 7.2 may use callbacks of
		 * accesses to memory after a reset has freed them, and abort: then there
		 * is no further reset, and blocks keep their callbacks.
		 */
		if (!trace.kept)
			qemu_plugin_reset(trace.id, after_reset);
		trace.kept = touched.wanted;
		break;
	case END:
		end_window();
		break;
	case HOLD:
		hold_window();
		break;
	case KEEP:
		keep_window();
		break;
	default:
		if (!trace.armed || marker > LAST_PART)
			break;
		/* BEGIN and OPEN drop an unfinished window, whose program has died. */
		if (marker > OPEN)
			end_window();
		begin_window(marker);
		break;
	}
}

static void record_block(struct qemu_plugin_tb *tb, size_t n)
{
	uintptr_t index = trace.n_blocks;

	trace.blocks =
		grow(trace.blocks, trace.n_blocks, 1, &trace.room_blocks, sizeof(*trace.blocks));
	trace.blocks[trace.n_blocks++] = (struct window_block){
		.vaddr = qemu_plugin_tb_vaddr(tb),
		.haddr = (uintptr_t)qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0)),
		.instructions = (uint32_t)n,
		.word = (uint32_t)trace.n_words,
	};
	trace.words = grow(trace.words, trace.n_words, n, &trace.room_words, sizeof(*trace.words));
	if (touched.wanted) {
		touched.ran = grow(touched.ran, index, 1, &touched.room_ran, 1);
		touched.ran[index] = 0;
	}
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, (void *)index);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	static const unsigned booted[] = { END, DISARM };
	size_t n = qemu_plugin_tb_n_insns(tb);
	bool counted = trace.armed || trace.kept;

	if (trace.boot && !trace.file)
		begin_window(BEGIN);
	if (counted)
		record_block(tb, n);
	for (size_t i = 0; trace.boot && qemu_plugin_tb_vaddr(tb) == trace.boot && i < 2; i++)
		qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, 0), on_marker,
						       QEMU_PLUGIN_CB_NO_REGS,
						       (void *)(uintptr_t)booted[i]);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint32_t word = 0;

		if (qemu_plugin_insn_size(insn) == sizeof(word))
			read_word(insn, &word);
		if (counted)
			trace.words[trace.n_words++] = word;
		if ((word & 0xfffff01f) == 0xd503201f && (word >> 5 & MARKERS) == MARKERS)
			/* The marker instruction itself isn't counted. */
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_marker,
							       QEMU_PLUGIN_CB_NO_REGS,
							       (void *)(uintptr_t)(word >> 5 &
										   0x7f));
		else if (counted)
			count_instruction(insn);
		if (counted && touched.wanted)
			qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
							 QEMU_PLUGIN_MEM_RW,
							 (void *)((uintptr_t)(trace.n_blocks - 1)
									  << TOUCHED_BLOCK |
								  (uintptr_t)by_stack(word)
									  << TOUCHED_BY_STACK));
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	trace.id = id;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "room=", 5)) {
			trace.room = strtoull(argv[i] + 5, NULL, 10);
			continue;
		}
		if (!strncmp(argv[i], "boot=", 5)) {
			trace.boot = strtoull(argv[i] + 5, NULL, 0);
			trace.armed = true;
			continue;
		}
		if (!strcmp(argv[i], "memory=on")) {
			touched.wanted = true;
			continue;
		}
		if (strncmp(argv[i], "dir=", 4)) {
			fprintf(stderr, "teetrace: unknown option %s\n", argv[i]);
			return -1;
		}
		free(trace.dir);
		trace.dir = strdup(argv[i] + 4);
	}
	if (!trace.dir) {
		fprintf(stderr, "teetrace: dir=DIRECTORY is missing\n");
		return -1;
	}
	if (strcmp(info->target_name, "aarch64") || info->system.smp_vcpus != 1) {
		fprintf(stderr, "teetrace: the guest must be an aarch64 machine with one CPU\n");
		return -1;
	}
	snprintf(trace.part, sizeof(trace.part), "%s/part", trace.dir);
	prepare(info);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	return 0;
}
