/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests ask of the shim, beside the API itself. */
#ifndef SHIM_H
#define SHIM_H

#include <stddef.h>
#include <stdint.h>

/* A panic: prints what for, and aborts. A TA must never get here. */
_Noreturn void shim_panic(const char *what);

/* The calls from the n-th on (1: the next) fail; 0: none does. */
extern unsigned int shim_fail_alloc;    /* TEE_Malloc, TEE_AllocateOperation */
extern unsigned int shim_fail_do_final; /* TEE_DigestDoFinal */
/* Pretends that this algorithm was not compiled in. */
extern uint32_t shim_unsupported_alg;

/* What is allocated at the moment. */
extern size_t shim_allocations;
/* TEE_AllocateOperation calls so far. */
extern size_t shim_operations_made;

#endif
