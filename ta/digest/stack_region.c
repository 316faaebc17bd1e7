/* SPDX-License-Identifier: BSD-2-Clause */
#include <tee_internal_api.h>

#include "stack.h"
#include "user_ta_header_defines.h"

#define PAGE 4096u

/* Bytes that the kit's user_ta_header.c adds to TA_STACK_SIZE. */
#define FRAMEWORK_STACK_SIZE 2048u

#define STACK_SIZE (TA_STACK_SIZE + FRAMEWORK_STACK_SIZE)

/* Bytes left unpainted for the frame of stack_paint(). */
#define MARGIN 256u

/*
 * OP-TEE maps the stack at a page boundary. If the stack is whole pages, its upper end is a page
 * boundary, too. At the TA's entry points less than a page is in use (the framework's frames take
 * some hundred bytes), so the next page boundary above is the stack's end.
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
	/* If another OP-TEE has another layout, this check avoids a crash. */
	if (TEE_CheckMemoryAccessRights(TEE_MEMORY_ACCESS_READ | TEE_MEMORY_ACCESS_WRITE |
						TEE_MEMORY_ACCESS_ANY_OWNER,
					(void *)region->low, STACK_SIZE) != TEE_SUCCESS)
		*region = (struct stack_region){ 0 };
}
