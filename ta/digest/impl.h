/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who computes a digest inside the TA.
 *
 * To add one: a number in ta_digest.h, a file that defines a `const struct
 * digest_impl`, its line in sub.mk and its line in impl.c.
 */
#ifndef IMPL_H
#define IMPL_H

#include <tee_internal_api.h>

#include <teemark/algorithms.h>
#include <teemark/digest.h>
#include <teemark/ta_digest.h>

struct digest_impl;

/*
 * One message in the making: opened for an algorithm once, then used for any
 * number of messages. All zeros: closed.
 */
struct digest_slot {
	const struct digest_impl *impl;
	const struct algorithm *alg;
	union {
		struct {
			TEE_OperationHandle operation;
			bool begun; /* holds part of a message */
		} tee;
		struct {
			const struct digest_class *class;
			union digest_ctx ctx;
		} common;
	} state;
};

struct digest_impl {
	enum ta_digest_impl id;
	enum digest_code code; /* for impl_common.c */

	/* Was this algorithm compiled in? */
	bool (*has)(const struct digest_impl *impl,
		    const struct algorithm *alg);

	/* Allocates; slot->impl and slot->alg are set. */
	TEE_Result (*open)(struct digest_slot *slot);
	/* Frees and wipes. */
	void (*close)(struct digest_slot *slot);

	/* Begins a message; drops one that was begun. */
	void (*begin)(struct digest_slot *slot);
	void (*update)(struct digest_slot *slot, const void *data, size_t len);
	/*
	 * Takes the last bytes; out is memory of the TA with out_bytes of the
	 * algorithm. The message is over, whatever is returned.
	 */
	TEE_Result (*final)(struct digest_slot *slot, const void *data,
			    size_t len, uint8_t *out);
};

extern const struct digest_impl impl_tee, impl_c, impl_ce;

/* Bits 1 << id of those that have any algorithm. */
uint32_t digest_impls_present(void);

/*
 * Opens the slot for what the two numbers from the client name; one that is
 * open for the same is kept, with what it allocated.
 * TEE_ERROR_NOT_SUPPORTED: no such implementation, or not of this algorithm.
 */
TEE_Result digest_slot_open(struct digest_slot *slot, uint32_t alg_id,
			    uint32_t impl_id);

/* Accepts a closed one. */
void digest_slot_close(struct digest_slot *slot);

#endif
