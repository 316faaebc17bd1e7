/* SPDX-License-Identifier: BSD-2-Clause */
#include "slot.h"

/* Returns true if the implementation has the algorithm. *class is its code; NULL for the TEE's. */
static bool find(uint32_t impl, const struct algorithm *alg, const struct digest_class **class)
{
	*class = NULL;
	if (impl == TA_DIGEST_IMPL_TEE)
		return !TEE_IsAlgorithmSupported(alg->tee, TEE_CRYPTO_ELEMENT_NONE);
	if (impl == TA_DIGEST_IMPL_C)
		*class = digest_class_find(DIGEST_CODE_C, alg->id);
	else if (impl == TA_DIGEST_IMPL_CE)
		*class = digest_class_find(DIGEST_CODE_CE, alg->id);
	return *class != NULL;
}

uint32_t digest_impls_present(void)
{
	const struct digest_class *class = NULL;
	uint32_t mask = 0;

	for (uint32_t impl = 0; impl <= TA_DIGEST_IMPL_CE; impl++)
		for (size_t i = 0; i < algorithms_count; i++)
			if (algorithms[i].class == ALG_DIGEST && find(impl, &algorithms[i], &class))
				mask |= 1u << impl;
	return mask;
}

TEE_Result digest_slot_open(struct digest_slot *slot, uint32_t alg_id, uint32_t impl)
{
	const struct algorithm *alg = algorithm_by_id(alg_id);
	const struct digest_class *class = NULL;
	TEE_Result res = TEE_SUCCESS;

	if (!alg || alg->class != ALG_DIGEST || !find(impl, alg, &class))
		return TEE_ERROR_NOT_SUPPORTED;
	if (slot->impl == impl && slot->alg == alg)
		return TEE_SUCCESS;
	digest_slot_close(slot);
	if (!class)
		res = TEE_AllocateOperation(&slot->operation, alg->tee, TEE_MODE_DIGEST, 0);
	if (res)
		return res;
	slot->alg = alg;
	slot->impl = impl;
	slot->class = class;
	return TEE_SUCCESS;
}

void digest_slot_close(struct digest_slot *slot)
{
	operation_free(slot->operation);
	TEE_MemFill(slot, 0, sizeof(*slot));
}

/* Begins a message. Only an operation with part of a message needs a reset. */
void digest_slot_begin(struct digest_slot *slot)
{
	if (slot->class)
		slot->class->init(&slot->ctx);
	else if (slot->begun)
		TEE_ResetOperation(slot->operation);
	slot->begun = false;
}

void digest_slot_update(struct digest_slot *slot, const void *data, size_t len)
{
	if (slot->class) {
		slot->class->update(&slot->ctx, data, len);
	} else if (len) {
		slot->begun = true;
		TEE_DigestUpdate(slot->operation, data, len);
	}
}

TEE_Result digest_slot_final(struct digest_slot *slot, const void *data, size_t len, uint8_t *out)
{
	TEE_Result res = TEE_SUCCESS;

	if (slot->class) {
		slot->class->update(&slot->ctx, data, len);
		slot->class->final(&slot->ctx, out);
		return TEE_SUCCESS;
	}
	res = operation_digest(slot->operation, data, len, out, slot->alg->out_bytes);
	slot->begun = res != TEE_SUCCESS;
	return res;
}
