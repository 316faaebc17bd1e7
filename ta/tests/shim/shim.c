/* SPDX-License-Identifier: BSD-2-Clause */
/* The API over libc and libcrypto. */
#define _GNU_SOURCE /* memmem() */
#include "shim.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tee_internal_api.h>
#include <trace.h>

#include "../../common/counter.h"

unsigned int shim_fail_alloc;
unsigned int shim_fail_do_final;
uint32_t shim_unsupported_alg;
size_t shim_allocations;
size_t shim_operations_made;

size_t shim_counter_readings;
size_t shim_lines, shim_ree_times, shim_system_times;

static uint64_t count_virtual, count_physical;

const uint8_t *shim_shared, *shim_secret;
size_t shim_shared_size, shim_secret_len;
struct shim_region shim_hostile[4];

void shim_panic(const char *what)
{
	fprintf(stderr, "TEE_Panic: %s\n", what);
	abort();
}

void trace_ext_puts(const char *str)
{
	shim_meanwhile();
	shim_lines += strlen(str) == 64 && strchr(str, '\n') == str + 63;
}

void TEE_GetREETime(TEE_Time *time)
{
	shim_meanwhile();
	time->millis = (uint32_t)shim_ree_times++;
}

void TEE_GetSystemTime(TEE_Time *time)
{
	shim_meanwhile();
	time->millis = (uint32_t)shim_system_times++;
}

/* Counts down, then fails every time. */
bool shim_fails(unsigned int *countdown)
{
	shim_meanwhile();
	if (!*countdown)
		return false;
	if (*countdown > 1) {
		--*countdown;
		return false;
	}
	return true;
}

void *TEE_Malloc(size_t size, uint32_t hint)
{
	void *p = NULL;

	if (hint != TEE_MALLOC_FILL_ZERO)
		shim_panic("TEE_Malloc: hint");
	if (shim_fails(&shim_fail_alloc))
		return NULL;
	p = calloc(1, size);
	shim_allocations += p != NULL;
	return p;
}

static bool overlap(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
	return a_len && b_len && a < b + b_len && b < a + a_len;
}

void shim_not_shared(const void *p, size_t len, const char *what)
{
	if (shim_shared && overlap(p, len, shim_shared, shim_shared_size))
		shim_panic(what);
	for (int i = 0; i < 4; i++)
		if (overlap(p, len, shim_hostile[i].at, shim_hostile[i].len))
			shim_panic(what);
}

void shim_meanwhile(void)
{
	static uint32_t x = 1;

	for (int i = 0; i < 4; i++) {
		const struct shim_region *region = &shim_hostile[i];

		if (!region->len)
			continue;
		x = x * 1664525 + 1013904223;
		region->at[(x >> 8) % region->len] ^= 1 << (x >> 4) % 8;
		/* Small things are heads of many: the first byte, too. */
		region->at[0] ^= x >> 31;
	}
}

void TEE_Free(void *buffer)
{
	size_t size = buffer ? malloc_usable_size(buffer) : 0;

	if (shim_secret_len && buffer && memmem(buffer, size, shim_secret, shim_secret_len))
		shim_panic("TEE_Free: a secret was left in memory");
	shim_allocations -= buffer != NULL;
	free(buffer);
}

void TEE_MemMove(void *dest, const void *src, size_t size)
{
	memmove(dest, src, size);
	shim_meanwhile();
}

int32_t TEE_MemCompare(const void *a, const void *b, size_t size)
{
	shim_meanwhile();
	return memcmp(a, b, size);
}

void TEE_MemFill(void *buffer, uint8_t x, size_t size)
{
	memset(buffer, x, size);
	shim_meanwhile();
}

/* Any bytes; the same every time. As OP-TEE, it has little room for them. */
void TEE_GenerateRandom(void *buffer, size_t size)
{
	uint8_t *out = buffer;
	static uint32_t x = 1;

	if (!buffer || size > 3072)
		shim_panic("TEE_GenerateRandom");
	shim_meanwhile();
	count_virtual += size * SHIM_VIRTUAL_STEP;
	count_physical += size * SHIM_PHYSICAL_STEP;
	for (size_t i = 0; i < size; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		out[i] = (uint8_t)x;
	}
}

void shim_counters_set(uint64_t count)
{
	count_virtual = count;
	count_physical = count;
}

uint64_t counter_virtual(void)
{
	shim_counter_readings++;
	return count_virtual += SHIM_VIRTUAL_STEP;
}

uint64_t counter_physical(void)
{
	shim_counter_readings++;
	return count_physical += SHIM_PHYSICAL_STEP;
}

uint32_t counter_frequency(void)
{
	shim_counter_readings++;
	return SHIM_HZ;
}
