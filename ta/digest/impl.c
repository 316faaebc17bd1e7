/* SPDX-License-Identifier: BSD-2-Clause */
#include "impl.h"

static const struct digest_impl *const impls[] = {
	&impl_tee,
	&impl_c,
	&impl_ce,
};

#define IMPLS (sizeof(impls) / sizeof(impls[0]))

static const struct digest_impl *find(uint32_t id)
{
	for (size_t i = 0; i < IMPLS; i++)
		if (impls[i]->id == id)
			return impls[i];
	return NULL;
}

uint32_t digest_impls_present(void)
{
	uint32_t mask = 0;

	for (size_t i = 0; i < IMPLS; i++)
		for (size_t j = 0; j < algorithms_count; j++)
			if (algorithms[j].class == ALG_DIGEST &&
			    impls[i]->has(impls[i], &algorithms[j]))
				mask |= 1u << impls[i]->id;
	return mask;
}

TEE_Result digest_slot_open(struct digest_slot *slot, uint32_t alg_id,
			    uint32_t impl_id)
{
	const struct digest_impl *impl = find(impl_id);
	const struct algorithm *alg = algorithm_by_id(alg_id);
	TEE_Result res = TEE_SUCCESS;

	if (!impl || !alg || alg->class != ALG_DIGEST || !impl->has(impl, alg))
		return TEE_ERROR_NOT_SUPPORTED;
	if (slot->impl == impl && slot->alg == alg)
		return TEE_SUCCESS;

	digest_slot_close(slot);
	slot->impl = impl;
	slot->alg = alg;
	res = impl->open(slot);
	if (res != TEE_SUCCESS) {
		/* Nothing was allocated that close() could free. */
		slot->impl = NULL;
		slot->alg = NULL;
	}
	return res;
}

void digest_slot_close(struct digest_slot *slot)
{
	if (slot->impl)
		slot->impl->close(slot);
	TEE_MemFill(slot, 0, sizeof(*slot));
}
