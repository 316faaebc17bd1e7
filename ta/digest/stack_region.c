/* SPDX-License-Identifier: BSD-2-Clause */
#include <tee_internal_api.h>

#include "stack.h"
#include "user_ta_header_defines.h"

#define PAGE 4096u

/* The kit's user_ta_header.c adds this to TA_STACK_SIZE. */
#define FRAMEWORK_STACK_SIZE 2048u

#define STACK_SIZE (TA_STACK_SIZE + FRAMEWORK_STACK_SIZE)

/* Room for the frame of stack_paint() itself. */
#define MARGIN 256u

/*
 * OP-TEE maps the stack at a page and starts at its end, which with whole
 * pages is the end of a page. From there to an entry point of the TA is less
 * than a page: the framework's frames take some hundred bytes.
 */
_Static_assert(STACK_SIZE % PAGE == 0, "the stack has to be whole pages");

void stack_region_find(struct stack_region *region)
{
	uintptr_t sp = 0, top = 0;

	__asm__ volatile("mov	%0, sp" : "=r"(sp));
	top = (sp + PAGE - 1) / PAGE * PAGE;
	*region = (struct stack_region){
		.low = top - STACK_SIZE,
		.unused = (sp - MARGIN) / sizeof(uint64_t) * sizeof(uint64_t),
		.top = top,
	};
	/* Asks rather than dies, should another OP-TEE do it otherwise. */
	if (TEE_CheckMemoryAccessRights(TEE_MEMORY_ACCESS_READ | TEE_MEMORY_ACCESS_WRITE |
						TEE_MEMORY_ACCESS_ANY_OWNER,
					(void *)region->low, STACK_SIZE) != TEE_SUCCESS)
		*region = (struct stack_region){ 0 };
}
