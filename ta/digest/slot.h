/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A digest in progress, by the TEE Internal Core API or by the code of common/src. A slot is opened
 * for one algorithm, and then serves any number of messages. All zeros: closed.
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
	/* Kept between messages, because allocating one takes several system calls. */
	TEE_OperationHandle operation;
	bool begun; /* the operation holds part of a message */
};

/* Returns a mask of 1 << enum ta_digest_impl, of the implementations with any algorithm. */
uint32_t digest_impls_present(void);

/*
 * Opens the slot for an algorithm and implementation, both numbers from the client. A slot that is
 * already open for these is kept as it is. Returns TEE_ERROR_NOT_SUPPORTED if the implementation
 * doesn't exist or lacks the algorithm.
 */
TEE_Result digest_slot_open(struct digest_slot *slot, uint32_t alg_id, uint32_t impl);
/* Frees and wipes a slot; accepts a closed one. */
void digest_slot_close(struct digest_slot *slot);

/* Begins a message, and drops one that is under way. */
void digest_slot_begin(struct digest_slot *slot);
void digest_slot_update(struct digest_slot *slot, const void *data, size_t len);
/*
 * Hashes the last bytes and writes out_bytes of the algorithm to `out`, memory of the TA. The
 * message has ended, whatever is returned.
 */
TEE_Result digest_slot_final(struct digest_slot *slot, const void *data, size_t len, uint8_t *out);
