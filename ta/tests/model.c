/* SPDX-License-Identifier: BSD-2-Clause */
#include "model.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/algorithms.h>
#include <teemark/digest.h>
#include <teemark/ta_clock.h>
#include <teemark/ta_digest.h>

#include "shim.h"

#define CHECK(condition)                                                                 \
	do {                                                                             \
		if (!(condition)) {                                                      \
			fprintf(stderr, "%s:%d: the TA broke: %s\n", __FILE__, __LINE__, \
				#condition);                                             \
			abort();                                                         \
		}                                                                        \
	} while (0)

struct model {
	void *session;
	bool hostile;
	bool streaming;
	const struct algorithm *alg;
	EVP_MD_CTX *ctx;
	uint32_t clock; /* enum ta_clock */
	uint64_t ticks;
	uint32_t hz; /* that the clock's last answer has */
	uint64_t ticks_said;
};

struct model *model_open(void)
{
	struct model *model = calloc(1, sizeof(*model));
	TEE_Param none[TEE_NUM_PARAMS] = { 0 };

	CHECK(model);
	model->ctx = EVP_MD_CTX_new();
	CHECK(TA_OpenSessionEntryPoint(0, none, &model->session) == TEE_SUCCESS);
	return model;
}

void model_close(struct model *model)
{
	TA_CloseSessionEntryPoint(model->session);
	EVP_MD_CTX_free(model->ctx);
	free(model);
}

void model_hostile(struct model *model)
{
	model->hostile = true;
}

static bool is_memref(uint32_t types, int i)
{
	uint32_t type = TEE_PARAM_TYPE_GET(types, i);

	return type >= TEE_PARAM_TYPE_MEMREF_INPUT && type <= TEE_PARAM_TYPE_MEMREF_INOUT;
}

/* NULL: this implementation has no such algorithm here (x86: no ce). */
static const struct algorithm *supported(uint32_t alg_id, uint32_t impl)
{
	const struct algorithm *alg = algorithm_by_id(alg_id);

	if (!alg || alg->class != ALG_DIGEST)
		return NULL;
	if (impl == TA_DIGEST_IMPL_TEE)
		return alg;
	return impl == TA_DIGEST_IMPL_C && digest_class_find(DIGEST_CODE_C, alg->id) ? alg : NULL;
}

static bool bad_memref(const TEE_Param *param)
{
	return param->memref.size && !param->memref.buffer;
}

/* The digest as the client finds it, and the size it took. */
struct answer {
	TEE_Result res;
	bool ran;                   /* a handler */
	const TEE_Param *digest_at; /* NULL: no digest */
	uint8_t digest[EVP_MAX_MD_SIZE];
	size_t digest_len;
};

static void want_oneshot(const TEE_Param *p, struct answer *want)
{
	const struct algorithm *alg = supported(p[0].value.a, p[0].value.b);
	uint32_t repeat = p[3].value.a;

	if (!repeat || repeat > TA_REPEAT_MAX ||
	    (repeat > 1 && p[1].memref.size > TA_WORK_MAX / repeat)) {
		want->res = TEE_ERROR_BAD_PARAMETERS;
		return;
	}
	if (!alg) {
		want->res = TEE_ERROR_NOT_SUPPORTED;
		return;
	}
	want->digest_len = alg->out_bytes;
	if (p[2].memref.size < alg->out_bytes) {
		want->res = TEE_ERROR_SHORT_BUFFER;
		return;
	}
	CHECK(EVP_Digest(p[1].memref.buffer, p[1].memref.size, want->digest, NULL,
			 EVP_get_digestbyname(alg->evp), NULL));
	want->digest_at = &p[2];
}

static void want_init(struct model *model, const TEE_Param *p, struct answer *want)
{
	model->alg = supported(p[0].value.a, p[0].value.b);
	model->streaming = model->alg != NULL;
	want->res = model->alg ? TEE_SUCCESS : TEE_ERROR_NOT_SUPPORTED;
	if (model->alg)
		CHECK(EVP_DigestInit_ex(model->ctx, EVP_get_digestbyname(model->alg->evp), NULL));
}

static void want_update(struct model *model, const TEE_Param *p, struct answer *want)
{
	if (!model->streaming) {
		want->res = TEE_ERROR_BAD_STATE;
		return;
	}
	CHECK(EVP_DigestUpdate(model->ctx, p[0].memref.buffer, p[0].memref.size));
}

static void want_final(struct model *model, const TEE_Param *p, bool input, struct answer *want)
{
	if (!model->streaming) {
		want->res = TEE_ERROR_BAD_STATE;
		return;
	}
	want->digest_len = model->alg->out_bytes;
	if (p[1].memref.size < want->digest_len) {
		want->res = TEE_ERROR_SHORT_BUFFER;
		return;
	}
	model->streaming = false;
	if (input)
		CHECK(EVP_DigestUpdate(model->ctx, p[0].memref.buffer, p[0].memref.size));
	CHECK(EVP_DigestFinal_ex(model->ctx, want->digest, NULL));
	want->digest_at = &p[1];
}

static void want_clock(struct model *model, const TEE_Param *p, struct answer *want)
{
	if (p[0].value.a > TA_CLOCK_PHYSICAL) {
		want->res = TEE_ERROR_BAD_PARAMETERS;
		return;
	}
	model->ticks_said = model->ticks;
	model->hz = model->clock ? SHIM_HZ : 0;
	model->clock = p[0].value.a;
	model->ticks = 0;
}

/* Returns what the call must answer, and takes the model's state along. */
static void predict(struct model *model, uint32_t cmd, uint32_t types, const TEE_Param *p,
		    struct answer *want)
{
	static const uint32_t expected[] = {
		[TA_DIGEST_CMD_NOP] = 0,          [TA_DIGEST_CMD_INFO] = 0x0002,
		[TA_DIGEST_CMD_ONESHOT] = 0x1651, [TA_DIGEST_CMD_INIT] = 0x0001,
		[TA_DIGEST_CMD_UPDATE] = 0x0005,  [TA_DIGEST_CMD_FINAL] = 0x0065,
		[TA_DIGEST_CMD_STACK] = 0x0002,
	};

	if (cmd == TA_CLOCK_CMD) {
		if (types == 0x0221)
			want_clock(model, p, want);
		else
			want->res = TEE_ERROR_BAD_PARAMETERS;
		return;
	}
	if (cmd > TA_DIGEST_CMD_STACK) {
		want->res = TEE_ERROR_NOT_SUPPORTED;
		return;
	}
	if (cmd == TA_DIGEST_CMD_NOP) {
		for (int i = 0; i < TEE_NUM_PARAMS; i++)
			if (TEE_PARAM_TYPE_GET(types, i) == 4 || TEE_PARAM_TYPE_GET(types, i) > 7)
				want->res = TEE_ERROR_BAD_PARAMETERS;
		if (types >> 16)
			want->res = TEE_ERROR_BAD_PARAMETERS;
		want->ran = want->res == TEE_SUCCESS;
		return;
	}
	if (types != expected[cmd] && !(cmd == TA_DIGEST_CMD_FINAL && types == 0x0060)) {
		want->res = TEE_ERROR_BAD_PARAMETERS;
		return;
	}
	for (int i = 0; i < TEE_NUM_PARAMS; i++) {
		if (is_memref(types, i) && bad_memref(&p[i])) {
			want->res = TEE_ERROR_BAD_PARAMETERS;
			return;
		}
	}

	want->ran = true;
	switch (cmd) {
	case TA_DIGEST_CMD_ONESHOT:
		want_oneshot(p, want);
		break;
	case TA_DIGEST_CMD_INIT:
		want_init(model, p, want);
		break;
	case TA_DIGEST_CMD_UPDATE:
		want_update(model, p, want);
		break;
	case TA_DIGEST_CMD_FINAL:
		want_final(model, p, types == 0x0065, want);
		break;
	}
}

static void check_values(const struct model *model, uint32_t cmd, const TEE_Param *p)
{
	switch (cmd) {
	case TA_DIGEST_CMD_INFO:
		CHECK(p[0].value.a == TA_DIGEST_ABI);
		CHECK(p[0].value.b == (1u << TA_DIGEST_IMPL_TEE | 1u << TA_DIGEST_IMPL_C));
		break;
	case TA_DIGEST_CMD_STACK:
		CHECK(p[0].value.a && p[0].value.a <= p[0].value.b);
		break;
	case TA_CLOCK_CMD:
		CHECK(p[1].value.a == (uint32_t)model->ticks_said);
		CHECK(p[1].value.b == model->ticks_said >> 32);
		CHECK(p[2].value.a == model->hz && p[2].value.b == 0);
		break;
	}
}

/* Two readings around a handler, and none where the clock is off. */
static void check_clock(struct model *model, bool ran, size_t readings)
{
	static const uint32_t steps[] = { 0, SHIM_VIRTUAL_STEP, SHIM_PHYSICAL_STEP };

	CHECK(readings == (ran && model->clock ? 2 : 0));
	if (ran)
		model->ticks += steps[model->clock];
}

/*
 * Each buffer ends where its allocation ends, but for one that begins where
 * one before begins: they share the larger's.
 */
static void *copy_of(const TEE_Param *params, uint32_t types, int i, const TEE_Param *call,
		     size_t *room)
{
	uint8_t *copy;

	*room = params[i].memref.size;
	for (int k = 0; k < TEE_NUM_PARAMS; k++) {
		if (!is_memref(types, k) || params[k].memref.buffer != params[i].memref.buffer)
			continue;
		if (k < i)
			return call[k].memref.buffer;
		if (params[k].memref.size > *room)
			*room = params[k].memref.size;
	}
	copy = malloc(*room);
	CHECK(copy || !*room);
	memcpy(copy, params[i].memref.buffer, *room);
	return copy;
}

/* Checks what a client finds in memory of which nobody else changed anything. */
static void check_memory(const struct answer *want, const TEE_Param *given, const uint8_t *found,
			 size_t room)
{
	const uint8_t *before = given->memref.buffer;
	size_t written = 0;

	if (want->digest_at && before == want->digest_at->memref.buffer) {
		written = want->digest_len;
		CHECK(!memcmp(found, want->digest, written));
	}
	/* The rest stays as it was. */
	CHECK(!memcmp(found + written, before + written, room - written));
}

TEE_Result model_invoke(struct model *model, uint32_t cmd, uint32_t types,
			TEE_Param params[TEE_NUM_PARAMS])
{
	struct answer want = { 0 };
	TEE_Param call[TEE_NUM_PARAMS];
	size_t rooms[TEE_NUM_PARAMS] = { 0 };
	TEE_Result res = TEE_SUCCESS;
	size_t readings = 0;

	memcpy(call, params, sizeof(call));
	for (int i = 0; i < TEE_NUM_PARAMS; i++) {
		if (!is_memref(types, i) || !params[i].memref.buffer)
			continue;
		call[i].memref.buffer = copy_of(params, types, i, call, &rooms[i]);
		if (model->hostile)
			shim_hostile[i] = (struct shim_region){ call[i].memref.buffer,
								params[i].memref.size };
	}

	predict(model, cmd, types, params, &want);
	readings = shim_counter_readings;
	res = TA_InvokeCommandEntryPoint(model->session, cmd, types, call);
	memset(shim_hostile, 0, sizeof(shim_hostile));
	CHECK(res == want.res);
	if (cmd != TA_CLOCK_CMD)
		check_clock(model, want.ran, shim_counter_readings - readings);
	if (res == TEE_SUCCESS)
		check_values(model, cmd, call);

	for (int i = 0; i < TEE_NUM_PARAMS; i++) {
		const TEE_Param *given = &params[i];

		if (!is_memref(types, i))
			continue;
		if (given == want.digest_at)
			CHECK(call[i].memref.size == want.digest_len);
		else if (res == TEE_ERROR_SHORT_BUFFER &&
			 TEE_PARAM_TYPE_GET(types, i) == TEE_PARAM_TYPE_MEMREF_OUTPUT)
			CHECK(call[i].memref.size == want.digest_len);
		else
			CHECK(call[i].memref.size == given->memref.size);
		if (given->memref.buffer && !model->hostile)
			check_memory(&want, given, call[i].memref.buffer, rooms[i]);
	}
	for (int i = TEE_NUM_PARAMS - 1; i >= 0; i--) {
		bool shared = false;

		for (int k = 0; k < i; k++)
			shared = shared || (is_memref(types, k) &&
					    call[k].memref.buffer == call[i].memref.buffer);
		if (is_memref(types, i) && params[i].memref.buffer && !shared)
			free(call[i].memref.buffer);
	}
	return res;
}
