/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests ask this of the shim, beside the API itself. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A panic: prints what for, and aborts. A TA must never get here. */
_Noreturn void shim_panic(const char *what);

/* The calls from the n-th on (1: the next) fail; 0: none does. */
extern unsigned int shim_fail_alloc;    /* what allocates */
extern unsigned int shim_fail_do_final; /* TEE_DigestDoFinal */
/* Pretends that this algorithm was not compiled in. */
extern uint32_t shim_unsupported_alg;

/* The next calls that touch a persistent object return this, if it isn't 0. */
extern uint32_t shim_storage_result;

/*
 * Memory of the normal world, whose names, keys, IVs, tags and ciphertexts of
 * AEADs a TA must copy before it uses them: a panic otherwise.
 */
extern const uint8_t *shim_shared;
extern size_t shim_shared_size;
void shim_not_shared(const void *p, size_t len, const char *what);

/*
 * More such memory, the parameters of a call. The normal world changes it all
 * the while: here a byte of each, whenever the TA calls the TEE.
 */
struct shim_region {
	uint8_t *at;
	size_t len; /* 0: none */
};
extern struct shim_region shim_hostile[4];
/* For the shim itself: the normal world goes on. */
void shim_meanwhile(void);

/* Memory that is freed must not hold these bytes: a panic otherwise. */
extern const uint8_t *shim_secret;
extern size_t shim_secret_len;

/* Forgets all persistent objects; a panic if one is open. */
void shim_storage_clear(void);

/*
 * The counters of ta/common/counter.h: they advance by these steps when they
 * are read, and by as many a byte of TEE_GenerateRandom(), a handler's work.
 */
enum { SHIM_VIRTUAL_STEP = 100, SHIM_PHYSICAL_STEP = 7, SHIM_HZ = 62500000 };
/* How often they were read, the frequency included. */
extern size_t shim_counter_readings;
/* Where both begin. */
void shim_counters_set(uint64_t count);

/* How often the TA wrote to the console, and asked for each time. */
extern size_t shim_lines, shim_ree_times, shim_system_times;

/* Counts the allocations that nobody has freed yet. */
extern size_t shim_allocations;
/* TEE_AllocateOperation calls so far. */
extern size_t shim_operations_made;

/* For the shim itself: counts down, then is true every time. */
bool shim_fails(unsigned int *countdown);
