/* SPDX-License-Identifier: BSD-2-Clause */
/* The command table of ta_bench.h, and the commands without state in the session. */
#include <trace.h>

#include "session.h"

const size_t session_bytes = sizeof(struct session);

void session_close(struct session *session)
{
	cipher_close(&session->cipher);
	cipher_close(&session->mac);
	asym_close(&session->asym);
	object_close(session);
}

static TEE_Result info(struct session *session, TEE_Param *params)
{
	params[0].value.a = TA_BENCH_ABI;
	params[0].value.b = TA_BENCH_AE_DECRYPT_MAX;
	return TEE_SUCCESS;
}

static TEE_Result increment(struct session *session, TEE_Param *params)
{
	params[0].value.a++;
	return TEE_SUCCESS;
}

static TEE_Result random_fill(struct session *session, TEE_Param *params)
{
	uint8_t *out = params[0].memref.buffer;
	size_t len = params[0].memref.size;
	uint32_t repeat = params[1].value.a;

	if (!ta_work_random_ok(repeat, len))
		return TEE_ERROR_BAD_PARAMETERS;
	for (uint32_t i = 0; i < repeat; i++) {
		for (size_t at = 0; at < len; at += TA_BENCH_RANDOM_CHUNK) {
			size_t chunk = len - at < TA_BENCH_RANDOM_CHUNK ? len - at :
									  TA_BENCH_RANDOM_CHUNK;

			TEE_GenerateRandom(out + at, chunk);
		}
	}
	return TEE_SUCCESS;
}

static const char line[] = "teemark: a line of 64 bytes, as a debug message would be ......\n";
_Static_assert(sizeof(line) == 64 + 1, "a line is 64 bytes");

/* Makes a request to OP-TEE: prints a line on the console, or reads a clock. */
static TEE_Result ask(struct session *session, TEE_Param *params)
{
	uint32_t what = params[0].value.a, times = params[0].value.b;
	TEE_Time now = { 0 };

	if (times > TA_BENCH_ASK_MAX)
		return TEE_ERROR_BAD_PARAMETERS;
	for (uint32_t i = 0; i < times; i++) {
		switch (what) {
		case TA_BENCH_ASK_LINE:
			trace_ext_puts(line);
			break;
		case TA_BENCH_ASK_REE_TIME:
			TEE_GetREETime(&now);
			break;
		case TA_BENCH_ASK_SYSTEM_TIME:
			TEE_GetSystemTime(&now);
			break;
		default:
			return TEE_ERROR_NOT_SUPPORTED;
		}
	}
	params[1].value.a = times;
	params[1].value.b = now.seconds * 1000 + now.millis;
	return TEE_SUCCESS;
}

static TEE_Result allocate_digest(TEE_OperationHandle *operation, const struct algorithm *alg)
{
	operation_free(*operation);
	*operation = TEE_HANDLE_NULL;
	return TEE_AllocateOperation(operation, alg->tee, TEE_MODE_DIGEST, 0);
}

static TEE_Result digest_part(struct session *session, TEE_Param *params)
{
	const struct algorithm *alg = algorithm_by_id(params[0].value.a);
	uint32_t part = params[0].value.b, repeat = params[1].value.a;
	TEE_OperationHandle operation = TEE_HANDLE_NULL;
	uint8_t digest[ALG_DIGEST_MAX_BYTES] = { 0 };
	TEE_Result res = TEE_SUCCESS;

	if (!ta_work_ok(repeat, 0) || part > TA_BENCH_DIGEST_FINISH)
		return TEE_ERROR_BAD_PARAMETERS;
	if (!alg || alg->class != ALG_DIGEST ||
	    TEE_IsAlgorithmSupported(alg->tee, TEE_CRYPTO_ELEMENT_NONE))
		return TEE_ERROR_NOT_SUPPORTED;
	res = check_output(&params[2], alg->out_bytes);
	if (res)
		return res;
	res = allocate_digest(&operation, alg);
	for (uint32_t i = 0; i < repeat && !res; i++) {
		if (part == TA_BENCH_DIGEST_ALLOCATE)
			res = allocate_digest(&operation, alg);
		else if (part == TA_BENCH_DIGEST_RESET)
			TEE_ResetOperation(operation);
		else
			res = operation_digest(operation, NULL, 0, digest, alg->out_bytes);
	}
	if (!res)
		res = operation_digest(operation, NULL, 0, digest, alg->out_bytes);
	if (!res)
		put_output(&params[2], digest, alg->out_bytes);
	operation_free(operation);
	return res;
}

const struct command commands[] = {
	{ TA_BENCH_CMD_NOP, ANY_TYPES, command_nop },
	ROW(TA_BENCH_CMD_INFO, info, VALUE_OUT),
	ROW(TA_BENCH_CMD_INCREMENT, increment, VALUE_INOUT),

	ROW(TA_BENCH_CMD_CIPHER_PREPARE, cipher_prepare, VALUE_IN),
	ROW(TA_BENCH_CMD_CIPHER_SET_KEY, cipher_set_key, MEMREF_IN),
	ROW(TA_BENCH_CMD_CIPHER_SET_IV, cipher_set_iv, MEMREF_IN),
	ROW(TA_BENCH_CMD_CIPHER_UPDATE, cipher_update, MEMREF_IN, MEMREF_OUT, VALUE_IN),
	ROW(TA_BENCH_CMD_CIPHER_MESSAGE, cipher_message, MEMREF_IN, MEMREF_IN, MEMREF_OUT,
	    VALUE_IN),

	ROW(TA_BENCH_CMD_MAC_SET_KEY, mac_set_key, VALUE_IN, MEMREF_IN),
	ROW(TA_BENCH_CMD_MAC, mac_message, MEMREF_IN, MEMREF_OUT, VALUE_IN),

	ROW(TA_BENCH_CMD_STORAGE_CREATE, storage_create, MEMREF_IN, MEMREF_IN, VALUE_IN),
	ROW(TA_BENCH_CMD_STORAGE_OPEN, storage_open, MEMREF_IN, VALUE_IN, VALUE_OUT),
	ROW(TA_BENCH_CMD_STORAGE_READ, storage_read, MEMREF_OUT, VALUE_IN),
	ROW(TA_BENCH_CMD_STORAGE_WRITE, storage_write, MEMREF_IN, VALUE_IN),
	ROW(TA_BENCH_CMD_STORAGE_RENAME, storage_rename, MEMREF_IN),
	ROW(TA_BENCH_CMD_STORAGE_TRUNCATE, storage_truncate, VALUE_IN),
	ROW(TA_BENCH_CMD_STORAGE_DELETE, storage_delete, NONE),
	ROW(TA_BENCH_CMD_STORAGE_CLOSE, storage_close, NONE),
	ROW(TA_BENCH_CMD_STORAGE_FETCH, storage_fetch, MEMREF_IN, MEMREF_OUT, VALUE_IN),

	ROW(TA_BENCH_CMD_RANDOM, random_fill, MEMREF_OUT, VALUE_IN),
	ROW(TA_BENCH_CMD_KERNEL, kernel_run, VALUE_IN, MEMREF_IN, VALUE_OUT),
	ROW(TA_BENCH_CMD_ASK, ask, VALUE_IN, VALUE_OUT),
	ROW(TA_BENCH_CMD_DIGEST_PART, digest_part, VALUE_IN, VALUE_IN, MEMREF_OUT),

	ROW(TA_BENCH_CMD_ASYM_SAYS, asym_says, VALUE_IN, VALUE_OUT),
	ROW(TA_BENCH_CMD_ASYM_ALLOCATE, asym_allocate, VALUE_IN),
	ROW(TA_BENCH_CMD_ASYM_IMPORT, asym_import, MEMREF_IN),
	ROW(TA_BENCH_CMD_ASYM_GENERATE, asym_generate, NONE),
	ROW(TA_BENCH_CMD_ASYM_PUBLIC, asym_public, MEMREF_OUT),
	ROW(TA_BENCH_CMD_ASYM_PREPARE, asym_prepare, NONE),
	ROW(TA_BENCH_CMD_ASYM_OPERATE, asym_operate, MEMREF_IN, MEMREF_OUT),
	ROW(TA_BENCH_CMD_ASYM_VERIFY, asym_verify, MEMREF_IN, MEMREF_IN),
	CLOCK_ROW,
	{ 0 },
};
