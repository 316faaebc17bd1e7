/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The digests of the TEE Internal Core API. Allocating an operation costs
 * several system calls, so it is kept between messages.
 */
#include "command.h"
#include "impl.h"

static bool has(const struct digest_impl *impl, const struct algorithm *alg)
{
	(void)impl;

	return TEE_IsAlgorithmSupported(alg->tee, TEE_CRYPTO_ELEMENT_NONE) ==
	       TEE_SUCCESS;
}

static TEE_Result open(struct digest_slot *slot)
{
	slot->state.tee.begun = false;
	return TEE_AllocateOperation(&slot->state.tee.operation, slot->alg->tee,
				     TEE_MODE_DIGEST, 0);
}

static void close(struct digest_slot *slot)
{
	TEE_FreeOperation(slot->state.tee.operation);
}

/* A new operation, and one after TEE_DigestDoFinal(), needs no reset. */
static void begin(struct digest_slot *slot)
{
	if (slot->state.tee.begun)
		TEE_ResetOperation(slot->state.tee.operation);
	slot->state.tee.begun = false;
}

static void update(struct digest_slot *slot, const void *data, size_t len)
{
	if (!len)
		return;
	slot->state.tee.begun = true;
	TEE_DigestUpdate(slot->state.tee.operation, data, len);
}

static TEE_Result final(struct digest_slot *slot, const void *data, size_t len,
			uint8_t *out)
{
	tee_size out_len = slot->alg->out_bytes;
	TEE_Result res = TEE_ERROR_GENERIC;

	res = TEE_DigestDoFinal(slot->state.tee.operation, data, len, out,
				&out_len);
	if (res == TEE_SUCCESS && out_len != slot->alg->out_bytes)
		res = TEE_ERROR_GENERIC;
	slot->state.tee.begun = res != TEE_SUCCESS;
	return res;
}

const struct digest_impl impl_tee = {
	.id = TA_DIGEST_IMPL_TEE,
	.has = has,
	.open = open,
	.close = close,
	.begin = begin,
	.update = update,
	.final = final,
};
