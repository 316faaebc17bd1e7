/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "bench_client.h"
#include "shim.h"

uint8_t shared[256 * 1024];

TEE_Result invoke(void *session, uint32_t cmd, uint32_t types, TEE_Param *p)
{
	return TA_InvokeCommandEntryPoint(session, cmd, types, p);
}

/* Copies to shared memory, where a client's buffers are. */
void *put(uint8_t *at, const void *data, size_t len)
{
	if (len)
		memcpy(at, data, len);
	return at;
}

void *open_session(void)
{
	TEE_Param p[TEE_NUM_PARAMS] = { 0 };
	void *session = NULL;

	assert_int_equal(TA_OpenSessionEntryPoint(0, p, &session), TEE_SUCCESS);
	return session;
}

TEE_Result call_plain(void *s, uint32_t cmd)
{
	TEE_Param p[TEE_NUM_PARAMS] = { 0 };

	return invoke(s, cmd, 0x0000, p);
}

TEE_Result call_prepare(void *s, uint32_t alg, uint32_t direction)
{
	TEE_Param p[TEE_NUM_PARAMS] = { VALUE(alg, direction) };

	return invoke(s, TA_BENCH_CMD_CIPHER_PREPARE, 0x0001, p);
}

TEE_Result call_set_key(void *s, const uint8_t *key, size_t len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(put(SMALL, key, len), len) };

	return invoke(s, TA_BENCH_CMD_CIPHER_SET_KEY, 0x0005, p);
}

TEE_Result call_set_iv(void *s, const uint8_t *iv, size_t len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(put(SMALL, iv, len), len) };

	return invoke(s, TA_BENCH_CMD_CIPHER_SET_IV, 0x0005, p);
}

TEE_Result call_update(void *s, const uint8_t *in, size_t len, uint8_t *out, size_t *out_len,
		       uint32_t repeat)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(in, len), MEMREF(out, *out_len), VALUE(repeat, 0) };
	TEE_Result res = invoke(s, TA_BENCH_CMD_CIPHER_UPDATE, 0x0165, p);

	*out_len = p[1].memref.size;
	return res;
}

TEE_Result call_message(void *s, const uint8_t *iv, size_t iv_len, const uint8_t *in, size_t len,
			uint8_t *out, size_t *out_len, uint32_t repeat)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(put(SMALL, iv, iv_len), iv_len), MEMREF(in, len),
					MEMREF(out, *out_len), VALUE(repeat, 0) };
	TEE_Result res = invoke(s, TA_BENCH_CMD_CIPHER_MESSAGE, 0x1655, p);

	*out_len = p[2].memref.size;
	return res;
}

TEE_Result call_mac_set_key(void *s, uint32_t alg, const uint8_t *key, size_t len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { VALUE(alg, 0), MEMREF(put(SMALL, key, len), len) };

	return invoke(s, TA_BENCH_CMD_MAC_SET_KEY, 0x0051, p);
}

TEE_Result call_mac(void *s, const uint8_t *in, size_t len, size_t *out_len, uint32_t repeat)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(in, len), MEMREF(OUT, *out_len), VALUE(repeat, 0) };
	TEE_Result res = invoke(s, TA_BENCH_CMD_MAC, 0x0165, p);

	*out_len = p[1].memref.size;
	return res;
}

TEE_Result call_create(void *s, const char *name, const void *data, size_t len, uint32_t storage)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(put(SMALL, name, strlen(name)), strlen(name)),
					MEMREF(put(IN, data, len), len), VALUE(storage, 0) };

	return invoke(s, TA_BENCH_CMD_STORAGE_CREATE, 0x0155, p);
}

/* A session in which every command has something to work on. */
void make_ready(void *s)
{
	uint8_t key[64] = { 1 };

	assert_int_equal(call_prepare(s, 30, TA_BENCH_ENCRYPT), TEE_SUCCESS);
	assert_int_equal(call_set_key(s, key, 16), TEE_SUCCESS);
	assert_int_equal(call_set_iv(s, NULL, 0), TEE_SUCCESS);
	assert_int_equal(call_mac_set_key(s, 22, key, 32), TEE_SUCCESS);
	assert_int_equal(call_create(s, "ready", "data", 4, TA_BENCH_STORAGE_REE_FS), TEE_SUCCESS);
}

FILE *open_vectors(const char *directory)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/ciphers.txt", directory);
	file = fopen(path, "r");
	assert_non_null(file);
	return file;
}

int setup(void **state)
{
	for (size_t i = 0; i < sizeof(shared); i++)
		shared[i] = (uint8_t)(i * 131 + (i >> 8));
	shim_fail_alloc = 0;
	shim_unsupported_alg = 0;
	shim_storage_result = 0;
	shim_shared = shared;
	shim_shared_size = sizeof(shared);
	shim_secret_len = 0;
	*state = open_session();
	return 0;
}

int teardown(void **state)
{
	TA_CloseSessionEntryPoint(*state);
	assert_int_equal(shim_allocations, 0);
	shim_storage_clear();
	return 0;
}
