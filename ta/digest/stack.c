/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack.h"

/* Unlikely as data: no address, no small number, no text. */
#define PAINT UINT64_C(0xa5c3965a3c695a69)

/* Paints through volatile, for nobody but the scan ever reads what is painted. */
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
