/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file that records a watched program's calls into the TEE: a struct watch_head, then records.
 * All processes that the program forks or starts map this one file and write to it. watch.c writes
 * it, teemark/trace/calls.py reads it. Contents of buffers are never recorded, only sizes.
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
	uint64_t room;  /* capacity in records */
	uint64_t calls; /* calls made; those beyond `room` were not recorded */
	uint64_t processes;
	uint64_t windows; /* windows kept so far; QEMU's plugin counts the same */
	uint64_t owner;   /* PID of the process that has the window; 0: none */
	uint64_t own_ns;  /* ns that watching adds to a call */
	uint64_t every;   /* keeps the window of each n-th call of a kind */
};

struct watch_param {
	uint64_t size;   /* of a memory reference, in bytes */
	uint64_t memory; /* registered memory: address of its struct */
};

struct watch_call {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t caller;           /* return address of the call */
	uint64_t handle;           /* address of the session's or shared memory's struct */
	uint64_t size;             /* of the shared memory, in bytes */
	struct watch_param params[4];
	uint8_t uuid[16]; /* TEEC_OpenSession(): UUID as in TEEC_UUID */
	uint32_t pid, tid;
	uint32_t function; /* enum watch_function */
	uint32_t command;
	uint32_t types;
	uint32_t result, origin;
	int32_t window;   /* number of its window; -1: none kept */
	uint64_t printed; /* stdout's offset before the call, if stdout is a file */
};
