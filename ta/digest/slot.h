/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A message in the making, by the TEE Internal Core API or by the code of common/src: opened for an
 * algorithm once, then used for any number of messages. All zeros: closed.
 */
#pragma once

#include <teemark/algorithms.h>
#include <teemark/digest.h>
#include <teemark/ta_digest.h>

#include "command.h"

struct digest_slot {
	const struct algorithm *alg; /* NULL: closed */
	uint32_t impl;               /* enum ta_digest_impl */
	/* The code in common/src that computes; NULL: the TEE does. */
	const struct digest_class *class;
	union digest_ctx ctx;
	/* Allocating one costs several system calls, so it is kept. */
	TEE_OperationHandle operation;
	bool begun; /* the operation holds part of a message */
};

/* Bits 1 << enum ta_digest_impl of those that have any algorithm. */
uint32_t digest_impls_present(void);

/*
 * Opens the slot for what the two numbers from the client name; one that is
 * open for the same is kept, with what it allocated.
 * TEE_ERROR_NOT_SUPPORTED: no such implementation, or not of this algorithm.
 */
TEE_Result digest_slot_open(struct digest_slot *slot, uint32_t alg_id, uint32_t impl);
/* Frees and wipes; accepts a closed one. */
void digest_slot_close(struct digest_slot *slot);

/* Begins a message; drops one that was begun. */
void digest_slot_begin(struct digest_slot *slot);
void digest_slot_update(struct digest_slot *slot, const void *data, size_t len);
/*
 * Takes the last bytes; out is memory of the TA with out_bytes of the
 * algorithm. The message is over, whatever is returned.
 */
TEE_Result digest_slot_final(struct digest_slot *slot, const void *data, size_t len, uint8_t *out);
