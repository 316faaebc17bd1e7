/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes a call tree of a window: teetrace-walk WINDOW TABLE
 *
 * The plugin wrote WINDOW. TABLE has the function and domain of each block in WINDOW;
 * teemark/trace/tree.py makes TABLE from symbols, and reads this program's output:
 *
 *   node PARENT FUNCTION SELF CALLS UNSURE HELD   numbered from 0 on; PARENT -1: a root;
 *                                       UNSURE 1: a return was lost inside; HELD of the SELF
 *                                       instructions ran with interrupts held off
 *   held NUMBER INSTRUCTIONS            stretches with interrupts held off, and their sum
 *   size LOG2 NUMBER INSTRUCTIONS       those of 2^LOG2 instructions and more
 *   stretch INSTRUCTIONS ABOVE BEGINS ENDS   the longest ones, by their nodes: the innermost one
 *                                       that all of it is below, its first and its last
 *   pass FROM TO KIND COUNT             changes of domain
 *   lost FROM TO KIND COUNT             returns that match no call
 *   end DEPTH                           depth of the stack at the window's end
 *
 * A frame has a return address and the domain of this address. Calls, system calls and SMCs push
 * the address behind them, faults their own. A return pops all frames down to the innermost one
 * with the address that is reached, also across levels. So one rule covers returns from functions,
 * from system calls, from SMCs, and from a TA.
 *
 * QEMU takes an interrupt between two blocks, often between a call and the first instruction of the
 * called function. The interrupt's frame therefore remembers how the block before it ended; this
 * call is completed when the interrupt is over.
 *
 * A jump to another function (a tail call) makes a node below the jumping function's node, but no
 * frame, because both functions return together.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "held.h"
#include "window.h"

struct node {
	uint32_t parent, function;
	uint32_t first, next; /* first child; next child of `parent` */
	uint64_t self, calls, held;
	bool unsure; /* a return was lost while this node was on the stack */
};

#define NO_NODE UINT32_MAX

struct frame {
	uint64_t back; /* return address; 0: not known */
	uint32_t function;
	uint32_t node;
	uint32_t first; /* node called; tail calls led from it to `node` */
	uint8_t domain;
	uint8_t back_domain;
	uint8_t pending; /* kind of the block before the fault */
	bool fault;      /* fault: may also return to `back` - 4 */
	bool opaque;     /* calls inside get frames, but no nodes */
};

struct stack {
	struct frame *frames;
	size_t n, room;
};

enum { KEPT = 8 };

struct thread {
	struct stack stack;
	/*
	 * OP-TEE's stacks each time the normal world took over, the latest last. OP-TEE resumes one
	 * of them, or none if its call was complete. There are several because the kernel makes
	 * other calls while one waits, such as fast calls about an interrupt.
	 */
	struct stack kept[KEPT];
	size_t n_kept;
};

struct link { /* number of transitions between two functions or domains */
	uint32_t from, to;
	uint8_t kind;
	uint64_t count;
};

struct links {
	struct link *list;
	size_t n, room;
};

static struct {
	struct node *nodes;
	size_t n_nodes, room_nodes;
	uint32_t roots; /* the first root */
	struct links passes, lost;

	struct thread *threads;
	size_t n_threads, room_threads;
	size_t current; /* current thread; 0: the one that the window began in */
	uint32_t functions;
	/* The previous step's block, as step() prepared it, and the address behind the step. */
	struct table_block last;
	uint64_t last_end;
	bool lost_one; /* a return was lost, in any thread */
} walk = { .roots = NO_NODE };

static void *grow(void *items, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return items;
	*room = *room ? *room * 2 : 64;
	items = realloc(items, *room * size);
	if (!items)
		errx(1, "out of memory");
	return items;
}

static void count_link(struct links *links, uint32_t from, uint32_t to, uint8_t kind)
{
	for (size_t i = 0; i < links->n; i++) {
		struct link *link = &links->list[i];

		if (link->from == from && link->to == to && link->kind == kind) {
			link->count++;
			return;
		}
	}
	links->list = grow(links->list, links->n, &links->room, sizeof(*links->list));
	links->list[links->n++] = (struct link){ from, to, kind, 1 };
}

static uint32_t *children(uint32_t parent)
{
	return parent == NO_NODE ? &walk.roots : &walk.nodes[parent].first;
}

/*
 * Returns the child node of `parent` for a function. The node moves to the front of its siblings,
 * because most functions soon come again.
 */
static uint32_t child(uint32_t parent, uint32_t function)
{
	uint32_t *at = children(parent), node;

	while (*at != NO_NODE && walk.nodes[*at].function != function)
		at = &walk.nodes[*at].next;
	node = *at;
	if (node == NO_NODE) {
		walk.nodes = grow(walk.nodes, walk.n_nodes, &walk.room_nodes, sizeof(*walk.nodes));
		node = (uint32_t)walk.n_nodes++;
		walk.nodes[node] =
			(struct node){ .parent = parent, .function = function, .first = NO_NODE };
	} else {
		*at = walk.nodes[node].next;
	}
	at = children(parent);
	walk.nodes[node].next = *at;
	*at = node;
	return node;
}

static struct thread *thread(void)
{
	return &walk.threads[walk.current];
}

static struct frame *top(void)
{
	struct stack *s = &thread()->stack;

	return s->n ? &s->frames[s->n - 1] : NULL;
}

/*
 * Copies the chain of tail calls from node `first` to node `last` below another node; returns the
 * copy of `last`.
 */
static uint32_t chain(uint32_t below, uint32_t first, uint32_t last)
{
	if (last != first)
		below = chain(below, first, walk.nodes[last].parent);
	return child(below, walk.nodes[last].function);
}

static struct frame *add_frame(struct frame frame)
{
	struct stack *s = &thread()->stack;

	s->frames = grow(s->frames, s->n, &s->room, sizeof(*s->frames));
	s->frames[s->n++] = frame;
	return top();
}

/* Pushes a frame for the function of b; `back` has the return address and its domain. */
static void push(const struct table_block *b, struct frame back)
{
	const struct frame *above = top();
	uint32_t parent = above ? above->node : NO_NODE;

	back.function = b->function;
	back.domain = b->domain;
	back.opaque = b->flags & OPAQUE;
	if (back.opaque && above && above->function == b->function) {
		back.node = above->node;
	} else {
		back.node = child(parent, b->function);
		walk.nodes[back.node].calls++;
	}
	back.first = back.node;
	add_frame(back);
}

static void push_call(const struct table_block *b)
{
	push(b, (struct frame){ .back = walk.last_end, .back_domain = walk.last.domain });
}

/* Pushes the frame of an exception that returns to `domain`. */
static void push_fault(const struct table_block *b, uint8_t domain)
{
	push(b, (struct frame){ .back = walk.last_end,
				.back_domain = domain,
				.pending = walk.last.kind,
				.fault = true });
}

static void push_root(const struct table_block *b)
{
	push(b, (struct frame){ .back_domain = b->domain });
}

/* Follows a jump to another function, which returns where the jumping function would have. */
static void jump(const struct table_block *b)
{
	struct frame *frame = top();
	uint32_t node = frame->node;

	frame->function = b->function;
	frame->domain = b->domain;
	frame->opaque = b->flags & OPAQUE;
	if (frame->function == walk.nodes[node].function)
		return;
	/* The jump leads to an earlier function of the tail calls, which has two parts. */
	while (node != frame->first && walk.nodes[node].function != b->function)
		node = walk.nodes[node].parent;
	if (walk.nodes[node].function != b->function) {
		node = child(frame->node, b->function);
		walk.nodes[node].calls++;
	}
	frame->node = node;
}

/* Replaces the top frame by one for b, as it isn't known how b was reached. */
static void replace_top(const struct table_block *b)
{
	struct frame frame = *top();

	thread()->stack.n--;
	push(b, frame);
}

/* Returns the index of the innermost frame that returns to b in b's domain; -1: none. */
static ptrdiff_t frame_before(const struct stack *s, const struct table_block *b)
{
	for (size_t i = s->n; i-- > 0;) {
		const struct frame *f = &s->frames[i];

		if (f->back && f->back_domain == b->domain && f->pending != CALL &&
		    f->pending != RETURN &&
		    (f->back == b->address || (f->fault && f->back == b->address + 4)))
			return (ptrdiff_t)i;
	}
	return -1;
}

/*
 * Returns the index of the exception frame that an ERET to b ends; -1: none. If the exception came
 * right after a call or jump, its exact return address isn't known, but its possible targets are.
 */
static ptrdiff_t exception_before(const struct stack *s, const struct table_block *b)
{
	ptrdiff_t exact = frame_before(s, b);

	for (size_t i = s->n; exact < 0 && i-- > 1;) {
		const struct frame *f = &s->frames[i], *by = f - 1;

		if (!f->fault || f->back_domain != b->domain)
			continue;
		if ((by->domain == b->domain && by->function == b->function &&
		     f->pending != CALL) ||
		    (b->flags & (ENTRY | OPAQUE) && (f->pending == CALL || f->pending == OTHER)))
			return (ptrdiff_t)i;
	}
	return exact;
}

/* Completes the call or jump that an exception interrupted; b is its target. */
static void do_pending(const struct frame *over, const struct table_block *b)
{
	if (over->pending == CALL)
		push(b, (struct frame){ .back = over->back, .back_domain = over->back_domain });
	else if (over->fault && over->pending == OTHER && top() && top()->domain == b->domain)
		jump(b);
}

/* Pops all frames from index i on: execution returns to b. */
static void go_back(size_t i, const struct table_block *b)
{
	struct frame over = thread()->stack.frames[i];

	thread()->stack.n = i;
	do_pending(&over, b);
}

/* Frees the kept stacks from index `from` on, because nothing can resume them. */
static void drop_kept(struct thread *t, size_t from)
{
	while (t->n_kept > from)
		free(t->kept[--t->n_kept].frames);
}

/*
 * Keeps the frames of OP-TEE from index `from` on, when the processor returns to the kernel. The
 * kernel's own SMCs to TF-A have no such frames.
 */
static void keep(size_t from)
{
	struct thread *t = thread();
	struct stack *kept;
	size_t first = from;

	while (first < t->stack.n && !is_secure(t->stack.frames[first].domain))
		first++;
	if (first == t->stack.n)
		return;
	if (t->n_kept == KEPT) {
		free(t->kept[0].frames);
		memmove(t->kept, t->kept + 1, (KEPT - 1) * sizeof(*t->kept));
		t->n_kept--;
	}
	kept = &t->kept[t->n_kept++];
	*kept = (struct stack){ 0 };
	for (size_t i = first; i < t->stack.n; i++) {
		struct frame *f = &t->stack.frames[i];

		if (!is_secure(f->domain))
			continue;
		kept->frames = grow(kept->frames, kept->n, &kept->room, sizeof(*kept->frames));
		kept->frames[kept->n++] = *f;
	}
}

/*
 * Restores OP-TEE's kept stack number `which`, as if it had never left: the first n kept frames
 * replace the frames of the code that resumed it.
 */
static void put_back(size_t which, size_t n)
{
	struct thread *t = thread();
	size_t base = walk.current != 0; /* keep the root frame of any thread but 0 */

	for (size_t i = 0; i < t->stack.n; i++)
		if (t->stack.frames[i].domain == TFA)
			base = i + 1;
	t->stack.n = base;
	for (size_t i = 0; i < n; i++) {
		struct frame f = t->kept[which].frames[i];
		const struct frame *above = top();
		uint32_t parent = above ? above->node : NO_NODE;

		if (f.opaque && above && above->function == f.function) {
			f.first = f.node = parent;
		} else {
			f.node = chain(parent, f.first, f.node);
			f.first = child(parent, walk.nodes[f.first].function);
		}
		add_frame(f);
	}
	drop_kept(t, which);
}

static bool resume(const struct table_block *b)
{
	struct thread *t = thread();

	for (size_t which = t->n_kept; which-- > 0;) {
		const struct stack *kept = &t->kept[which];
		const struct frame *last = &kept->frames[kept->n - 1];
		ptrdiff_t n = exception_before(kept, b);

		if (n < 0 && !(b->flags & ENTRY) && last->domain == b->domain &&
		    last->function == b->function)
			n = (ptrdiff_t)kept->n; /* OP-TEE continues in the function that it left */
		if (n >= 0) {
			struct frame over = { 0 };

			if ((size_t)n < kept->n)
				over = kept->frames[n];
			put_back(which, (size_t)n);
			do_pending(&over, b);
			return true;
		}
	}
	return false;
}

/* Returns the index behind the interrupt's frame, if one of the last two frames is one; else 0. */
static size_t interrupted_at(const struct stack *kept)
{
	for (size_t i = kept->n; i > 0 && i + 2 > kept->n; i--)
		if (kept->frames[i - 1].fault)
			return i;
	return 0;
}

/*
 * Resumes OP-TEE if the next interrupt came before OP-TEE's first instruction. It resumes the
 * latest interrupted stack or, if there is none, the latest stack that left by an RPC.
 */
static bool resume_to_vector(const struct table_block *b)
{
	const struct thread *t = thread();
	struct frame interrupted = { .back_domain = b->domain, .fault = true };
	size_t which = t->n_kept;
	size_t n;

	if (!which)
		return false;
	/* Leaving by an interrupt adds the vector's frame, and perhaps one function's. */
	while (which > 0 && !interrupted_at(&t->kept[which - 1]))
		which--;
	which = which ? which - 1 : t->n_kept - 1;
	n = interrupted_at(&t->kept[which]);
	if (n)
		interrupted = t->kept[which].frames[--n];
	else
		n = t->kept[which].n;
	put_back(which, n);
	push(b, interrupted);
	return true;
}

/* Replaces the frames from i on by exception b, which came right after exception i. */
static void interrupt_again(size_t i, const struct table_block *b)
{
	struct frame over = thread()->stack.frames[i];

	thread()->stack.n = i;
	over.fault = true;
	push(b, over);
}

/*
 * Handles an exception that comes before the first instruction after another exception's return:
 * its frame replaces the other's, and returns to the same address. Returns false if there is no
 * other.
 */
static bool return_to_vector(const struct table_block *b)
{
	const struct stack *s = &thread()->stack;

	for (size_t i = s->n; i-- > 0 && s->frames[i].domain != TFA;) {
		const struct frame *f = &s->frames[i];

		if (f->domain == b->domain && (f->fault || f->back_domain != b->domain)) {
			interrupt_again(i, b);
			return true;
		}
	}
	return false;
}

/* Marks the nodes of all frames above the first as unsure. */
static void doubt_stack(void)
{
	const struct stack *s = &thread()->stack;

	for (size_t i = 1; i < s->n; i++) {
		uint32_t node = s->frames[i].node;

		for (; node != s->frames[i].first; node = walk.nodes[node].parent)
			walk.nodes[node].unsure = true;
		walk.nodes[node].unsure = true;
	}
}

/*
 * Follows a return to b that matches no frame. If the function of b is on the stack, execution goes
 * on there; otherwise b replaces the function that returned.
 */
static void lose(const struct table_block *b)
{
	struct thread *t = thread();

	walk.lost_one = true;
	if (walk.current) {
		/* This thread was first seen in the middle of a call, so its caller is unknown. */
		t->stack.n = 1;
		push_root(b);
		return;
	}
	count_link(&walk.lost, walk.last.function, b->function, walk.last.kind);
	doubt_stack();
	for (size_t i = t->stack.n; i-- > 0 && !(b->flags & ENTRY);)
		if (t->stack.frames[i].domain == b->domain &&
		    t->stack.frames[i].function == b->function) {
			t->stack.n = i + 1;
			return;
		}
	replace_top(b);
}

static void change_domain(const struct table_block *b)
{
	const struct table_block *last = &walk.last;
	const struct stack *s = &thread()->stack;
	bool again = false; /* the caller was interrupted before its first instruction */
	ptrdiff_t i = -1;

	count_link(&walk.passes, last->domain, b->domain, last->kind);
	if (last->kind == ERET)
		i = exception_before(s, b);
	else if (last->kind == RETURN || last->kind == OTHER)
		i = frame_before(s, b);
	if (i < 0 && last->kind == ERET && b->flags & VECTOR) {
		again = true;
		for (i = (ptrdiff_t)s->n - 1; i >= 0; i--)
			if (s->frames[i].back_domain == b->domain &&
			    s->frames[i].domain != b->domain)
				break;
	}
	if (i >= 0 && last->domain == TFA && b->domain == KERNEL)
		keep((size_t)i);
	if (i >= 0 && again)
		interrupt_again((size_t)i, b);
	else if (i >= 0)
		go_back((size_t)i, b);
	else if (again)
		push_root(b);
	else if (last->domain == CORE && last->kind == ERET && resume(b))
		return;
	else if (walk.current && b->domain == PROGRAM)
		lose(b);
	else if (last->kind == SVC || last->kind == SMC || last->kind == ERET)
		push_call(b);
	else
		push_fault(b, last->domain);
}

static void same_domain(const struct table_block *b)
{
	const struct table_block *last = &walk.last;
	struct thread *t = thread();
	ptrdiff_t i;

	if (b->flags & VECTOR && !(last->flags & VECTOR && last->address >> 7 == b->address >> 7)) {
		if (last->kind != ERET ||
		    (!return_to_vector(b) && (b->domain != CORE || !resume_to_vector(b))))
			push_fault(b, b->domain);
		return;
	}
	switch (last->kind) {
	case CALL:
		if (b->address != walk.last_end)
			push_call(b);
		break;
	case RETURN:
		i = frame_before(&t->stack, b);
		if (i >= 0)
			go_back((size_t)i, b);
		else if (!(last->flags & TABLE) &&
			 (b->flags & ENTRY || b->function != top()->function))
			lose(b);
		break;
	case ERET:
		i = exception_before(&t->stack, b);
		if (i >= 0)
			go_back((size_t)i, b);
		else if (!resume(b) &&
			 /* OP-TEE starts a new context with a function */
			 !(b->domain == CORE && b->flags & ENTRY) &&
			 (b->flags & ENTRY || b->function != top()->function))
			lose(b);
		break;
	case SVC:
	case SMC:
		push_call(b);
		break;
	default:
		break; /* a jump, or no jump at all */
	}
}

static void advance(const struct table_block *b, uint32_t instructions)
{
	bool jumped = b->domain == walk.last.domain && walk.last.kind != RETURN &&
		      walk.last.kind != ERET;

	if (!top())
		push_root(b);
	else if (b->domain != walk.last.domain)
		change_domain(b);
	else
		same_domain(b);
	if (!top())
		push_root(b);
	if (top()->function != b->function || top()->domain != b->domain) {
		if (jumped && top()->domain == b->domain)
			jump(b);
		else
			replace_top(b);
	}
	walk.nodes[top()->node].self += instructions;
	walk.last = *b;
	walk.last_end = b->address + 4 * (uint64_t)instructions;
}

static bool switches(void)
{
	return walk.last.flags & SWITCH && walk.last.kind == RETURN;
}

struct steps {
	const struct window_block *blocks;
	const struct window_step *list;
	const uint32_t *words;
	const struct table_block *table;
	size_t n, n_blocks;
	const char *window;
};

/* Follows step i. The window may begin within step 0's block; a later block may be left early. */
static void step(const struct steps *steps, size_t i)
{
	const struct window_step *s = &steps->list[i];
	struct table_block b;
	uint32_t left;

	if (s->block >= steps->n_blocks)
		errx(1, "%s: not a whole window", steps->window);
	b = steps->table[s->block];
	left = steps->blocks[s->block].instructions - s->instructions;
	if (!i) /* the rest of the block that the marker is in */
		b.address += 4 * (uint64_t)left;
	else if (left)
		b.kind = CUT;
	advance(&b, s->instructions);
}

/* Returns the last instruction that step i executed. */
static uint32_t last_word(const struct steps *steps, size_t i)
{
	const struct window_block *block = &steps->blocks[steps->list[i].block];
	uint32_t n = i ? steps->list[i].instructions : block->instructions;

	return n ? steps->words[block->word + n - 1] : 0;
}

enum { TRIAL_STEPS = 100000 };

/* Exits with 0 if the next steps fit the stack of thread t; runs in a child process. */
static void __attribute__((noreturn)) try(const struct steps *steps, size_t i, size_t t)
{
	size_t end = steps->n - i > TRIAL_STEPS ? i + TRIAL_STEPS : steps->n;

	walk.current = t;
	walk.lost_one = false;
	while (i < end && !walk.lost_one) {
		uint8_t domain = walk.last.domain;

		step(steps, i++);
		if (switches() || (domain == KERNEL && walk.last.domain == PROGRAM))
			break;
	}
	_exit(walk.lost_one);
}

static bool fits(const struct steps *steps, size_t i, size_t t)
{
	int status;
	pid_t child = fork();

	if (!child)
		try(steps, i, t);
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		err(1, "cannot try a thread's stack");
	return !WEXITSTATUS(status);
}

static void new_thread(void)
{
	walk.threads =
		grow(walk.threads, walk.n_threads, &walk.room_threads, sizeof(*walk.threads));
	walk.current = walk.n_threads++;
	walk.threads[walk.current] = (struct thread){ 0 };
	if (walk.current)
		push(&(struct table_block){ .function = walk.functions + (uint32_t)walk.current - 1,
					    .domain = DOMAINS },
		     (struct frame){ 0 });
}

/* Finds the thread that continues at step i, after the kernel switched threads. */
static void change_thread(const struct steps *steps, size_t i)
{
	for (size_t t = 0; t < walk.n_threads; t++) {
		if (t != walk.current && fits(steps, i, t)) {
			walk.current = t;
			return;
		}
	}
	new_thread();
}

static const void *map(const char *path, size_t *size)
{
	struct stat st;
	void *data;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", path);
	*size = (size_t)st.st_size;
	data = *size ? mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
	if (!data || data == MAP_FAILED)
		errx(1, "%s: cannot be read", path);
	close(fd);
	return data;
}

static void open_files(const char *window, const char *table, struct steps *steps)
{
	const struct window_head *head;
	const struct table_head *known;
	size_t size;

	head = map(window, &size);
	if (size < sizeof(*head) || memcmp(head->magic, WINDOW_MAGIC, 8) || head->blocks > size ||
	    head->words > size || head->steps > size ||
	    size != sizeof(*head) + head->blocks * sizeof(struct window_block) + head->words * 4 +
			    head->steps * sizeof(struct window_step))
		errx(1, "%s: not a whole window", window);
	known = map(table, &size);
	if (size < sizeof(*known) || memcmp(known->magic, TABLE_MAGIC, 8) ||
	    known->blocks != head->blocks || known->functions > UINT32_MAX ||
	    size != sizeof(*known) + known->blocks * sizeof(struct table_block))
		errx(1, "%s: not the table of this window", table);
	steps->list = (const struct window_step *)(head + 1);
	steps->blocks = (const struct window_block *)(steps->list + head->steps);
	steps->words = (const uint32_t *)(steps->blocks + head->blocks);
	steps->n = head->steps;
	steps->n_blocks = head->blocks;
	steps->window = window;
	steps->table = (const struct table_block *)(known + 1);
	walk.functions = (uint32_t)known->functions;
	for (size_t i = 0; i < head->blocks; i++)
		if (steps->blocks[i].word + (uint64_t)steps->blocks[i].instructions > head->words ||
		    steps->table[i].domain >= DOMAINS || steps->table[i].kind >= KINDS)
			errx(1, "%s: not the table of this window", table);
}

/* Stretches of instructions in which the secure world holds off the normal world's interrupts. */

enum { SIZES = 40, LONGEST = 8 };

struct stretch {
	uint64_t instructions;
	uint32_t above;        /* the innermost node that all of it is below */
	uint32_t begins, ends; /* its first node and its last one */
};

static struct {
	struct stretch now, longest[LONGEST];
	size_t n_longest;
	bool inside;
	uint64_t number, instructions;
	uint64_t sizes[SIZES], instructions_of[SIZES]; /* by log2 of the length */
} stretches;

/* Returns a node as it is printed: -1 for none. A node's number is larger than its parent's. */
static int64_t number_of(uint32_t node)
{
	return node == NO_NODE ? -1 : (int64_t)node;
}

/* Returns the innermost node that both nodes are below; NO_NODE if they have different roots. */
static uint32_t common(uint32_t a, uint32_t b)
{
	while (a != b) {
		uint32_t *later = number_of(a) > number_of(b) ? &a : &b;

		*later = walk.nodes[*later].parent;
	}
	return a;
}

static void end_stretch(void)
{
	struct stretch *list = stretches.longest;
	size_t at = stretches.n_longest;
	unsigned size = 0;

	if (!stretches.inside)
		return;
	stretches.inside = false;
	while (stretches.now.instructions >> size > 1)
		size++;
	stretches.number++;
	stretches.instructions += stretches.now.instructions;
	stretches.sizes[size]++;
	stretches.instructions_of[size] += stretches.now.instructions;
	if (at == LONGEST && list[at - 1].instructions >= stretches.now.instructions)
		return;
	if (at < LONGEST)
		stretches.n_longest++;
	else
		at--;
	for (; at > 0 && list[at - 1].instructions < stretches.now.instructions; at--)
		list[at] = list[at - 1];
	list[at] = stretches.now;
}

/* Adds the step that was followed last to the current stretch, or ends that. */
static void stretch(bool held, uint32_t instructions)
{
	uint32_t node = top()->node;

	if (!held) {
		end_stretch();
		return;
	}
	if (!stretches.inside)
		stretches.now = (struct stretch){ .above = node, .begins = node };
	stretches.inside = true;
	walk.nodes[node].held += instructions;
	stretches.now.instructions += instructions;
	if (stretches.now.ends != node)
		stretches.now.above = common(stretches.now.above, node);
	stretches.now.ends = node;
}

static void print_stretches(void)
{
	printf("held %" PRIu64 " %" PRIu64 "\n", stretches.number, stretches.instructions);
	for (unsigned i = 0; i < SIZES; i++)
		if (stretches.sizes[i])
			printf("size %u %" PRIu64 " %" PRIu64 "\n", i, stretches.sizes[i],
			       stretches.instructions_of[i]);
	for (size_t i = 0; i < stretches.n_longest; i++) {
		const struct stretch *s = &stretches.longest[i];

		printf("stretch %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", s->instructions,
		       number_of(s->above), number_of(s->begins), number_of(s->ends));
	}
}

/* Follows all steps of the window. */
static void follow(const struct steps *steps)
{
	new_thread();
	for (size_t i = 0; i < steps->n; i++) {
		if (i && switches())
			change_thread(steps, i);
		step(steps, i);
		stretch(held_by(&walk.last, last_word(steps, i), walk.last_end),
			steps->list[i].instructions);
	}
	end_stretch();
}

static void print_links(const char *what, const struct links *links)
{
	for (size_t i = 0; i < links->n; i++)
		printf("%s %" PRIu32 " %" PRIu32 " %u %" PRIu64 "\n", what, links->list[i].from,
		       links->list[i].to, links->list[i].kind, links->list[i].count);
}

int main(int argc, char **argv)
{
	struct steps steps;

	if (argc != 3) {
		fprintf(stderr, "usage: teetrace-walk WINDOW TABLE\n");
		return 2;
	}
	open_files(argv[1], argv[2], &steps);
	follow(&steps);
	for (size_t i = 0; i < walk.n_nodes; i++) {
		const struct node *n = &walk.nodes[i];

		printf("node %" PRId64 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %d %" PRIu64 "\n",
		       number_of(n->parent), n->function, n->self, n->calls, n->unsure, n->held);
	}
	print_stretches();
	print_links("pass", &walk.passes);
	print_links("lost", &walk.lost);
	printf("end %zu\n", thread()->stack.n);
	if (fflush(stdout) || ferror(stdout))
		err(1, "cannot write");
	return 0;
}
