/* SPDX-License-Identifier: BSD-2-Clause */
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
