/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands of ta_digest.h.
 *
 * Only digests read shared memory, and they decide nothing by it. Only finished digests are written
 * to it.
 */
#include "slot.h"
#include "stack.h"

/* The complete state of a session; sessions share nothing. */
struct session {
	struct clock clock;
	struct digest_slot oneshot; /* kept open for the next call */
	struct digest_slot stream;
	bool streaming; /* between INIT and FINAL */
	struct stack_region stack;
};
COMMAND_SESSION(struct session);

const size_t session_bytes = sizeof(struct session);

TEE_Result session_open(struct session *session)
{
	stack_region_find(&session->stack);
	stack_paint(&session->stack);
	return TEE_SUCCESS;
}

void session_close(struct session *session)
{
	digest_slot_close(&session->oneshot);
	digest_slot_close(&session->stream);
}

static TEE_Result info(struct session *session, TEE_Param *params)
{
	params[0].value.a = TA_DIGEST_ABI;
	params[0].value.b = digest_impls_present();
	return TEE_SUCCESS;
}

static TEE_Result oneshot(struct session *session, TEE_Param *params)
{
	struct digest_slot *slot = &session->oneshot;
	const struct input in = input_of(&params[1]);
	uint32_t repeat = params[3].value.a;
	uint8_t digest[ALG_DIGEST_MAX_BYTES] = { 0 };
	TEE_Result res = TEE_SUCCESS;

	if (!ta_work_ok(repeat, in.len))
		return TEE_ERROR_BAD_PARAMETERS;
	res = digest_slot_open(slot, params[0].value.a, params[0].value.b);
	if (!res)
		res = check_output(&params[2], slot->alg->out_bytes);
	if (res)
		return res;
	for (uint32_t i = 0; i < repeat && !res; i++) {
		digest_slot_begin(slot);
		res = digest_slot_final(slot, in.data, in.len, digest);
	}
	if (res)
		digest_slot_close(slot);
	else
		put_output(&params[2], digest, slot->alg->out_bytes);
	TEE_MemFill(digest, 0, sizeof(digest));
	return res;
}

static TEE_Result init(struct session *session, TEE_Param *params)
{
	struct digest_slot *slot = &session->stream;
	TEE_Result res = digest_slot_open(slot, params[0].value.a, params[0].value.b);

	session->streaming = !res;
	if (!res)
		digest_slot_begin(slot);
	return res;
}

static TEE_Result update(struct session *session, TEE_Param *params)
{
	const struct input in = input_of(&params[0]);

	if (!session->streaming)
		return TEE_ERROR_BAD_STATE;
	digest_slot_update(&session->stream, in.data, in.len);
	return TEE_SUCCESS;
}

/* Ends a message. params[0] holds the last bytes; it is all zeros if the client gave none. */
static TEE_Result final(struct session *session, TEE_Param *params)
{
	struct digest_slot *slot = &session->stream;
	const struct input in = input_of(&params[0]);
	uint8_t digest[ALG_DIGEST_MAX_BYTES] = { 0 };
	TEE_Result res = TEE_SUCCESS;

	if (!session->streaming)
		return TEE_ERROR_BAD_STATE;
	res = check_output(&params[1], slot->alg->out_bytes);
	if (res)
		return res;
	session->streaming = false;
	res = digest_slot_final(slot, in.data, in.len, digest);
	if (!res)
		put_output(&params[1], digest, slot->alg->out_bytes);
	TEE_MemFill(digest, 0, sizeof(digest));
	return res;
}

static TEE_Result final_without_input(struct session *session, TEE_Param *params)
{
	params[0].memref.buffer = NULL;
	params[0].memref.size = 0;
	return final(session, params);
}

static TEE_Result stack(struct session *session, TEE_Param *params)
{
	params[0].value.a = stack_high_water(&session->stack);
	params[0].value.b = session->stack.top - session->stack.low;
	return TEE_SUCCESS;
}

const struct command commands[] = {
	{ TA_DIGEST_CMD_NOP, ANY_TYPES, command_nop },
	ROW(TA_DIGEST_CMD_INFO, info, VALUE_OUT),
	ROW(TA_DIGEST_CMD_ONESHOT, oneshot, VALUE_IN, MEMREF_IN, MEMREF_OUT, VALUE_IN),
	ROW(TA_DIGEST_CMD_INIT, init, VALUE_IN),
	ROW(TA_DIGEST_CMD_UPDATE, update, MEMREF_IN),
	ROW(TA_DIGEST_CMD_FINAL, final, MEMREF_IN, MEMREF_OUT),
	ROW(TA_DIGEST_CMD_FINAL, final_without_input, NONE, MEMREF_OUT),
	ROW(TA_DIGEST_CMD_STACK, stack, VALUE_OUT),
	CLOCK_ROW,
	{ 0 },
};
