/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack.h"

/* A value that is unlikely on a stack: not an address, a small number or text. */
#define PAINT UINT64_C(0xa5c3965a3c695a69)

/* Writes through volatile, or the compiler would omit stores that only the scan reads. */
void stack_paint(const struct stack_region *region)
{
	for (uintptr_t at = region->low; at < region->unused; at += sizeof(uint64_t))
		*(volatile uint64_t *)at = PAINT;
}

size_t stack_high_water(const struct stack_region *region)
{
	uintptr_t at = region->low;

	while (at < region->unused && *(volatile uint64_t *)at == PAINT)
		at += sizeof(uint64_t);
	return region->top - at;
}
