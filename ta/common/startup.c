/* SPDX-License-Identifier: BSD-2-Clause */
/* What OP-TEE calls when an instance begins and ends. */
#include <tee_internal_api.h>

TEE_Result TA_CreateEntryPoint(void)
{
	return TEE_SUCCESS;
}

void TA_DestroyEntryPoint(void)
{
}

/*
 * OP-TEE's start-up code calls this to prepare the TEE Arithmetical API, and
 * with it come 40 KB of code and 14 KB of memory that every call maps anew. A
 * TA that does no such arithmetic defines it itself and gets none of them.
 * Should the TA use TEE_BigInt…(), the linker reports this as defined twice.
 */
void _TEE_MathAPI_Init(void);

void _TEE_MathAPI_Init(void)
{
}
