/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include <teemark/ta_bench.h>

#include "torture.h"

TEEC_Result open_session(TEEC_Session *session, TEEC_UUID uuid)
{
	return TEEC_OpenSession(&context, session, &uuid, TEEC_LOGIN_PUBLIC,
				NULL, NULL, NULL);
}

TEEC_Result invoke(TEEC_Session *session, uint32_t cmd, uint32_t types,
		   TEEC_Parameter *params)
{
	TEEC_Operation op = { .paramTypes = types };
	TEEC_Result res;

	memcpy(op.params, params, sizeof(op.params));
	res = TEEC_InvokeCommand(session, cmd, &op, NULL);
	memcpy(params, op.params, sizeof(op.params));
	return res;
}

TEEC_Result prepare(TEEC_Session *s, const struct algorithm *alg, bool encrypt,
		    const uint8_t *key)
{
	TEEC_Result res = INVOKE(s, TA_BENCH_CMD_CIPHER_PREPARE,
				 TYPES(VALUE, NONE, NONE, NONE),
				 value(alg->id, !encrypt));

	if (res != TEEC_SUCCESS)
		return res;
	return INVOKE(s, TA_BENCH_CMD_CIPHER_SET_KEY,
		      TYPES(IN, NONE, NONE, NONE), memref(key, alg->key_bytes));
}

TEEC_Result message(TEEC_Session *s, const struct algorithm *alg,
		    const uint8_t *iv, const uint8_t *in, size_t len,
		    uint8_t *out, size_t *out_len, uint32_t repeat)
{
	TEEC_Parameter p[4] = { memref(iv, alg->iv_bytes), memref(in, len),
				memref(out, *out_len), value(repeat, 0) };
	TEEC_Result res = invoke(s, TA_BENCH_CMD_CIPHER_MESSAGE,
				 TYPES(IN, IN, OUT, VALUE), p);

	*out_len = p[2].tmpref.size;
	return res;
}

TEEC_Result set_iv(TEEC_Session *s, const struct algorithm *alg,
		   const uint8_t *iv)
{
	return INVOKE(s, TA_BENCH_CMD_CIPHER_SET_IV,
		      TYPES(IN, NONE, NONE, NONE), memref(iv, alg->iv_bytes));
}

TEEC_Result update(TEEC_Session *s, const uint8_t *in, uint8_t *out, size_t len)
{
	return INVOKE(s, TA_BENCH_CMD_CIPHER_UPDATE,
		      TYPES(IN, OUT, VALUE, NONE), memref(in, len),
		      memref(out, len), value(1, 0));
}

TEEC_Result mac(TEEC_Session *s, const struct algorithm *alg,
		const uint8_t *key, size_t key_len, const uint8_t *data,
		size_t len, uint8_t *out)
{
	TEEC_Result res = INVOKE(s, TA_BENCH_CMD_MAC_SET_KEY,
				 TYPES(VALUE, IN, NONE, NONE),
				 value(alg->id, 0), memref(key, key_len));

	if (res != TEEC_SUCCESS)
		return res;
	return INVOKE(s, TA_BENCH_CMD_MAC, TYPES(IN, OUT, VALUE, NONE),
		      memref(data, len), memref(out, alg->out_bytes),
		      value(1, 0));
}
