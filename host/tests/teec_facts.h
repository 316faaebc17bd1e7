/* SPDX-License-Identifier: BSD-2-Clause */
/* libteec and its callers must agree on these values; they are taken from the header that is there. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct teec_fact {
	const char *what;
	uint64_t value;
};

#define OFFSET(type, field)                             \
	{                                               \
#type "." #field, offsetof(type, field) \
	}
#define VALUE(constant)               \
	{                             \
#constant, (constant) \
	}
#define SIZE(type)                  \
	{                           \
#type, sizeof(type) \
	}

/* clang-format off */
#define TEEC_FACTS                                                        \
	SIZE(TEEC_UUID), SIZE(TEEC_Parameter), SIZE(TEEC_Operation),      \
	OFFSET(TEEC_SharedMemory, buffer), OFFSET(TEEC_SharedMemory, size), \
	OFFSET(TEEC_SharedMemory, flags),                                 \
	OFFSET(TEEC_Operation, started), OFFSET(TEEC_Operation, paramTypes), \
	OFFSET(TEEC_Operation, params),                                   \
	OFFSET(TEEC_Parameter, tmpref.buffer), OFFSET(TEEC_Parameter, tmpref.size), \
	OFFSET(TEEC_Parameter, memref.parent), OFFSET(TEEC_Parameter, memref.size), \
	OFFSET(TEEC_Parameter, memref.offset),                            \
	OFFSET(TEEC_Parameter, value.a), OFFSET(TEEC_Parameter, value.b), \
	VALUE(TEEC_NONE), VALUE(TEEC_VALUE_INPUT), VALUE(TEEC_VALUE_OUTPUT), \
	VALUE(TEEC_VALUE_INOUT), VALUE(TEEC_MEMREF_TEMP_INPUT),           \
	VALUE(TEEC_MEMREF_TEMP_OUTPUT), VALUE(TEEC_MEMREF_TEMP_INOUT),    \
	VALUE(TEEC_MEMREF_WHOLE), VALUE(TEEC_MEMREF_PARTIAL_INPUT),       \
	VALUE(TEEC_MEMREF_PARTIAL_OUTPUT), VALUE(TEEC_MEMREF_PARTIAL_INOUT), \
	VALUE(TEEC_PARAM_TYPES(1, 2, 3, 5)), VALUE(TEEC_MEM_INPUT),       \
	VALUE(TEEC_MEM_OUTPUT), VALUE(TEEC_LOGIN_PUBLIC),                 \
	VALUE(TEEC_ORIGIN_API), VALUE(TEEC_ORIGIN_TRUSTED_APP),           \
	VALUE(TEEC_ERROR_GENERIC), VALUE(TEEC_ERROR_ITEM_NOT_FOUND),      \
	VALUE(TEEC_ERROR_NOT_SUPPORTED), VALUE(TEEC_ERROR_COMMUNICATION), \
	VALUE(TEEC_ERROR_SECURITY), VALUE(TEEC_ERROR_TARGET_DEAD),        \
	{ NULL, 0 }
/* clang-format on */

/* libteec's, by its own header (real_teec.c). */
extern const struct teec_fact real_facts[];
extern const size_t real_context, real_session, real_memory;
