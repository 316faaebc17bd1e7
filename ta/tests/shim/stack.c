/* SPDX-License-Identifier: BSD-2-Clause */
/* For the digest TA: a stack of its own for the marks; nothing runs on it. */
#include "stack.h"

void stack_region_find(struct stack_region *region)
{
	static uint64_t stack[1024];

	region->low = (uintptr_t)stack;
	region->unused = (uintptr_t)(stack + 1000);
	region->top = (uintptr_t)(stack + 1024);
}
