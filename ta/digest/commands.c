/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands of ta_digest.h.
 *
 * Shared memory is read by the digests alone, which decide nothing by it, and
 * the only thing written there is a finished digest.
 */
#include "commands.h"

static TEE_Result info(struct session *session, TEE_Param *params)
{
	(void)session;

	params[0].value.a = TA_DIGEST_ABI;
	params[0].value.b = digest_impls_present();
	return TEE_SUCCESS;
}

static TEE_Result oneshot(struct session *session, TEE_Param *params)
{
	struct digest_slot *slot = &session->oneshot;
	uint32_t repeat = params[3].value.a;
	uint8_t digest[ALG_DIGEST_MAX_BYTES] = { 0 };
	struct input in = { 0 };
	TEE_Result res = TEE_SUCCESS;

	if (!ta_work_ok(repeat, params[1].memref.size))
		return TEE_ERROR_BAD_PARAMETERS;
	res = get_input(&in, &params[1]);
	if (res != TEE_SUCCESS)
		return res;
	res = digest_slot_open(slot, params[0].value.a, params[0].value.b);
	if (res != TEE_SUCCESS)
		return res;
	res = check_output(&params[2], slot->alg->out_bytes);
	if (res != TEE_SUCCESS)
		return res;

	for (uint32_t i = 0; i < repeat && res == TEE_SUCCESS; i++) {
		slot->impl->begin(slot);
		res = slot->impl->final(slot, in.data, in.len, digest);
	}
	if (res != TEE_SUCCESS) {
		digest_slot_close(slot);
		goto out;
	}

	put_output(&params[2], digest, slot->alg->out_bytes);
	session->digests += repeat;
	session->bytes += (uint64_t)repeat * in.len;
out:
	TEE_MemFill(digest, 0, sizeof(digest));
	return res;
}

static TEE_Result init(struct session *session, TEE_Param *params)
{
	struct digest_slot *slot = &session->stream;
	TEE_Result res = TEE_SUCCESS;

	session->streaming = false;
	res = digest_slot_open(slot, params[0].value.a, params[0].value.b);
	if (res != TEE_SUCCESS)
		return res;

	slot->impl->begin(slot);
	session->streaming = true;
	return TEE_SUCCESS;
}

static TEE_Result update(struct session *session, TEE_Param *params)
{
	struct digest_slot *slot = &session->stream;
	struct input in = { 0 };
	TEE_Result res = TEE_SUCCESS;

	if (!session->streaming)
		return TEE_ERROR_BAD_STATE;
	res = get_input(&in, &params[0]);
	if (res != TEE_SUCCESS)
		return res;

	slot->impl->update(slot, in.data, in.len);
	session->updates++;
	session->bytes += in.len;
	return TEE_SUCCESS;
}

/* The last bytes are in params[0]; without any it is all zeros. */
static TEE_Result final(struct session *session, TEE_Param *params)
{
	struct digest_slot *slot = &session->stream;
	uint8_t digest[ALG_DIGEST_MAX_BYTES] = { 0 };
	struct input in = { 0 };
	TEE_Result res = TEE_SUCCESS;

	if (!session->streaming)
		return TEE_ERROR_BAD_STATE;
	res = check_output(&params[1], slot->alg->out_bytes);
	if (res == TEE_ERROR_SHORT_BUFFER)
		return res;

	session->streaming = false;
	if (res != TEE_SUCCESS)
		return res;
	res = get_input(&in, &params[0]);
	if (res != TEE_SUCCESS)
		return res;

	res = slot->impl->final(slot, in.data, in.len, digest);
	if (res == TEE_SUCCESS) {
		put_output(&params[1], digest, slot->alg->out_bytes);
		session->digests++;
		session->bytes += in.len;
	}
	TEE_MemFill(digest, 0, sizeof(digest));
	return res;
}

static TEE_Result final_without_input(struct session *session,
				      TEE_Param *params)
{
	params[0].memref.buffer = NULL;
	params[0].memref.size = 0;
	return final(session, params);
}

static TEE_Result stats(struct session *session, TEE_Param *params)
{
	const struct stack_region *stack = &session->stack;

	params[0].value.a = stack_high_water(stack);
	params[0].value.b = stack->top - stack->low;
	params[1].value.a = session->digests;
	params[1].value.b = session->updates;
	params[2].value.a = (uint32_t)session->bytes;
	params[2].value.b = (uint32_t)(session->bytes >> 32);
	return TEE_SUCCESS;
}

/*
 * Of OP-TEE's TA library; not there when its kit was built without
 * CFG_WITH_STATS, nor outside of OP-TEE.
 */
struct heap_stats {
	char name[32];
	uint32_t allocated;
	uint32_t max_allocated;
	uint32_t size;
	uint32_t failures;
	uint32_t biggest_failure;
	uint32_t biggest_failure_used;
};

void malloc_get_stats(struct heap_stats *stats) __attribute__((weak));

static TEE_Result heap(struct session *session, TEE_Param *params)
{
	struct heap_stats stats = { 0 };

	(void)session;

	if (!malloc_get_stats)
		return TEE_ERROR_NOT_SUPPORTED;
	malloc_get_stats(&stats);
	params[0].value.a = stats.max_allocated;
	params[0].value.b = stats.size;
	return TEE_SUCCESS;
}

const struct command commands[] = {
	{ .id = TA_DIGEST_CMD_NOP, .any_types = true, .run = command_nop },
	{ .id = TA_DIGEST_CMD_INFO,
	  .types = TYPES(VALUE_OUT, NONE, NONE, NONE),
	  .run = info },
	{ .id = TA_DIGEST_CMD_ONESHOT,
	  .types = TYPES(VALUE_IN, MEMREF_IN, MEMREF_OUT, VALUE_IN),
	  .run = oneshot },
	{ .id = TA_DIGEST_CMD_INIT,
	  .types = TYPES(VALUE_IN, NONE, NONE, NONE),
	  .run = init },
	{ .id = TA_DIGEST_CMD_UPDATE,
	  .types = TYPES(MEMREF_IN, NONE, NONE, NONE),
	  .run = update },
	{ .id = TA_DIGEST_CMD_FINAL,
	  .types = TYPES(MEMREF_IN, MEMREF_OUT, NONE, NONE),
	  .run = final },
	{ .id = TA_DIGEST_CMD_FINAL,
	  .types = TYPES(NONE, MEMREF_OUT, NONE, NONE),
	  .run = final_without_input },
	{ .id = TA_DIGEST_CMD_STATS,
	  .types = TYPES(VALUE_OUT, VALUE_OUT, VALUE_OUT, NONE),
	  .run = stats },
	{ .id = TA_DIGEST_CMD_HEAP,
	  .types = TYPES(VALUE_OUT, NONE, NONE, NONE),
	  .run = heap },
	COMMAND_CLOCK_ROW,
	{ 0 },
};
