/* SPDX-License-Identifier: BSD-2-Clause */
/* The digests of common/src, the same code as in the normal world. */
#include "impl.h"

static bool has(const struct digest_impl *impl, const struct algorithm *alg)
{
	return digest_class_find(impl->code, alg->id);
}

static TEE_Result open(struct digest_slot *slot)
{
	slot->state.common.class =
		digest_class_find(slot->impl->code, slot->alg->id);
	return TEE_SUCCESS;
}

/* Nothing to free; who closes a slot wipes it. */
static void close(struct digest_slot *slot)
{
	(void)slot;
}

static void begin(struct digest_slot *slot)
{
	slot->state.common.class->init(&slot->state.common.ctx);
}

static void update(struct digest_slot *slot, const void *data, size_t len)
{
	slot->state.common.class->update(&slot->state.common.ctx, data, len);
}

static TEE_Result final(struct digest_slot *slot, const void *data, size_t len,
			uint8_t *out)
{
	update(slot, data, len);
	slot->state.common.class->final(&slot->state.common.ctx, out);
	return TEE_SUCCESS;
}

const struct digest_impl impl_c = {
	.id = TA_DIGEST_IMPL_C,
	.code = DIGEST_CODE_C,
	.has = has,
	.open = open,
	.close = close,
	.begin = begin,
	.update = update,
	.final = final,
};

const struct digest_impl impl_ce = {
	.id = TA_DIGEST_IMPL_CE,
	.code = DIGEST_CODE_CE,
	.has = has,
	.open = open,
	.close = close,
	.begin = begin,
	.update = update,
	.final = final,
};
