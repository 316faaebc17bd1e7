/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file in which a watched program's calls into the TEE are kept: a struct
 * watch_head, then its records. All processes that the program forks or starts
 * write into one file, which they have mapped. Written by watch.c, read by
 * teemark/trace/calls.py. What is in a buffer is never kept, only its size.
 */
#pragma once

#include <stdint.h>

#define WATCH_MAGIC "TWATCH1"

enum watch_function {
	WATCH_OPEN,
	WATCH_CLOSE,
	WATCH_INVOKE,
	WATCH_REGISTER,
	WATCH_ALLOCATE,
	WATCH_RELEASE,
};

struct watch_head {
	char magic[8];
	uint64_t room;  /* records that fit */
	uint64_t calls; /* made: more than `room` found no room */
	uint64_t processes;
	uint64_t windows; /* kept by QEMU's plugin, which numbers them likewise */
	uint64_t owner;   /* process whose call is in a window now; 0: none */
	uint64_t own_ns;  /* what a call takes longer because it is watched */
	uint64_t every;   /* of each kind of call, which are kept: each n-th */
};

struct watch_param {
	uint64_t size;   /* of a memory reference */
	uint64_t memory; /* of a registered one: the address of its struct */
};

struct watch_call {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t caller;           /* where the call returns to */
	uint64_t handle;           /* address of the session or shared memory */
	uint64_t size;             /* of the shared memory */
	struct watch_param params[4];
	uint8_t uuid[16]; /* of TEEC_OpenSession(), as the API has it */
	uint32_t pid, tid;
	uint32_t function; /* enum watch_function */
	uint32_t command;
	uint32_t types;
	uint32_t result, origin;
	int32_t window;   /* -1: not kept */
	uint64_t printed; /* bytes on stdout before it, if that is a file */
};
