/* SPDX-License-Identifier: BSD-2-Clause */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#include <teemark/ta_bench.h>

#include "board.h"
#include "torture.h"

TEEC_Result open_session(TEEC_Session *session, TEEC_UUID uuid)
{
	return TEEC_OpenSession(&context, session, &uuid, TEEC_LOGIN_PUBLIC, NULL, NULL, NULL);
}

_Thread_local TEEC_SharedMemory *shared;

static uint8_t *slot(int i)
{
	return (uint8_t *)shared->buffer + (size_t)i * SHARED_SLOT;
}

static bool goes_shared(uint32_t type, const TEEC_TempMemoryReference *mem)
{
	return shared && type >= TEEC_MEMREF_TEMP_INPUT && type <= TEEC_MEMREF_TEMP_INOUT &&
	       mem->buffer && mem->size <= SHARED_SLOT;
}

TEEC_Result invoke(TEEC_Session *session, uint32_t cmd, uint32_t types, TEEC_Parameter *params)
{
	TEEC_Operation op = { .paramTypes = types };
	bool in_slot[4];
	TEEC_Result res;

	memcpy(op.params, params, sizeof(op.params));
	for (int i = 0; i < 4; i++) {
		const TEEC_TempMemoryReference *mem = &params[i].tmpref;

		in_slot[i] = goes_shared(TEEC_PARAM_TYPE_GET(types, i), mem);
		if (!in_slot[i])
			continue;
		memcpy(slot(i), mem->buffer, mem->size);
		op.params[i].memref = (TEEC_RegisteredMemoryReference){ shared, mem->size,
									(size_t)i * SHARED_SLOT };
		op.paramTypes += (TEEC_MEMREF_PARTIAL_INPUT - TEEC_MEMREF_TEMP_INPUT) << 4 * i;
	}
	res = TEEC_InvokeCommand(session, cmd, &op, NULL);
	for (int i = 0; i < 4; i++) {
		TEEC_TempMemoryReference *mem = &params[i].tmpref;
		size_t got = op.params[i].memref.size;

		if (!in_slot[i]) {
			params[i] = op.params[i];
			continue;
		}
		if (TEEC_PARAM_TYPE_GET(types, i) != TEEC_MEMREF_TEMP_INPUT && got <= mem->size)
			memcpy(mem->buffer, slot(i), got);
		mem->size = got;
	}
	return res;
}

TEEC_Result prepare(TEEC_Session *s, const struct algorithm *alg, bool encrypt, const uint8_t *key)
{
	TEEC_Result res = INVOKE(s, TA_BENCH_CMD_CIPHER_PREPARE, TYPES(VALUE, NONE, NONE, NONE),
				 value(alg->id, !encrypt));

	if (res != TEEC_SUCCESS)
		return res;
	return INVOKE(s, TA_BENCH_CMD_CIPHER_SET_KEY, TYPES(IN, NONE, NONE, NONE),
		      memref(key, alg->key_bytes));
}

TEEC_Result message(TEEC_Session *s, const struct algorithm *alg, const uint8_t *iv,
		    const uint8_t *in, size_t len, uint8_t *out, size_t *out_len, uint32_t repeat)
{
	TEEC_Parameter p[4] = { memref(iv, alg->iv_bytes), memref(in, len), memref(out, *out_len),
				value(repeat, 0) };
	TEEC_Result res = invoke(s, TA_BENCH_CMD_CIPHER_MESSAGE, TYPES(IN, IN, OUT, VALUE), p);

	*out_len = p[2].tmpref.size;
	return res;
}

TEEC_Result set_iv(TEEC_Session *s, const struct algorithm *alg, const uint8_t *iv)
{
	return INVOKE(s, TA_BENCH_CMD_CIPHER_SET_IV, TYPES(IN, NONE, NONE, NONE),
		      memref(iv, alg->iv_bytes));
}

TEEC_Result update(TEEC_Session *s, const uint8_t *in, uint8_t *out, size_t len)
{
	return INVOKE(s, TA_BENCH_CMD_CIPHER_UPDATE, TYPES(IN, OUT, VALUE, NONE), memref(in, len),
		      memref(out, len), value(1, 0));
}

TEEC_Result mac(TEEC_Session *s, const struct algorithm *alg, const uint8_t *key, size_t key_len,
		const uint8_t *data, size_t len, uint8_t *out)
{
	TEEC_Result res = INVOKE(s, TA_BENCH_CMD_MAC_SET_KEY, TYPES(VALUE, IN, NONE, NONE),
				 value(alg->id, 0), memref(key, key_len));

	if (res != TEEC_SUCCESS)
		return res;
	return INVOKE(s, TA_BENCH_CMD_MAC, TYPES(IN, OUT, VALUE, NONE), memref(data, len),
		      memref(out, alg->out_bytes), value(1, 0));
}

void encrypt_here(const struct algorithm *alg, const uint8_t *key, const uint8_t *iv,
		  const uint8_t *in, size_t len, uint8_t *out)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int n = 0;

	if (!ctx || !EVP_CipherInit_ex(ctx, EVP_get_cipherbyname(alg->evp), NULL, key, iv, 1) ||
	    !EVP_CIPHER_CTX_set_padding(ctx, 0) || !EVP_CipherUpdate(ctx, out, &n, in, (int)len) ||
	    (size_t)n != len || !EVP_CipherFinal_ex(ctx, out + len, &n) ||
	    (alg->class == ALG_AEAD &&
	     !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TAG, out + len)))
		die("libcrypto has no %s", alg->name);
	EVP_CIPHER_CTX_free(ctx);
}

void mac_here(const struct algorithm *alg, const uint8_t *key, const uint8_t *data, size_t len,
	      uint8_t *out)
{
	if (!HMAC(EVP_get_digestbyname(alg->evp), key, alg->key_bytes, data, len, out, NULL))
		die("libcrypto has no %s", alg->name);
}
