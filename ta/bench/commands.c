/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands of ta_bench.h. */
#include "session.h"

static TEE_Result info(struct session *session, TEE_Param *params)
{
	(void)session;

	params[0].value.a = TA_BENCH_ABI;
	params[0].value.b = TA_BENCH_AE_DECRYPT_MAX;
	return TEE_SUCCESS;
}

static TEE_Result increment(struct session *session, TEE_Param *params)
{
	(void)session;

	params[0].value.a++;
	return TEE_SUCCESS;
}

const struct command commands[] = {
	{ .id = TA_BENCH_CMD_NOP, .any_types = true, .run = command_nop },
	{ .id = TA_BENCH_CMD_INFO,
	  .types = TYPES(VALUE_OUT, NONE, NONE, NONE),
	  .run = info },
	{ .id = TA_BENCH_CMD_INCREMENT,
	  .types = TYPES(VALUE_INOUT, NONE, NONE, NONE),
	  .run = increment },

	{ .id = TA_BENCH_CMD_CIPHER_PREPARE,
	  .types = TYPES(VALUE_IN, NONE, NONE, NONE),
	  .run = cipher_prepare },
	{ .id = TA_BENCH_CMD_CIPHER_SET_KEY,
	  .types = TYPES(MEMREF_IN, NONE, NONE, NONE),
	  .run = cipher_set_key },
	{ .id = TA_BENCH_CMD_CIPHER_SET_IV,
	  .types = TYPES(MEMREF_IN, NONE, NONE, NONE),
	  .run = cipher_set_iv },
	{ .id = TA_BENCH_CMD_CIPHER_UPDATE,
	  .types = TYPES(MEMREF_IN, MEMREF_OUT, VALUE_IN, NONE),
	  .run = cipher_update },
	{ .id = TA_BENCH_CMD_CIPHER_MESSAGE,
	  .types = TYPES(MEMREF_IN, MEMREF_IN, MEMREF_OUT, VALUE_IN),
	  .run = cipher_message },

	{ .id = TA_BENCH_CMD_MAC_SET_KEY,
	  .types = TYPES(VALUE_IN, MEMREF_IN, NONE, NONE),
	  .run = mac_set_key },
	{ .id = TA_BENCH_CMD_MAC,
	  .types = TYPES(MEMREF_IN, MEMREF_OUT, VALUE_IN, NONE),
	  .run = mac_message },

	{ .id = TA_BENCH_CMD_STORAGE_CREATE,
	  .types = TYPES(MEMREF_IN, MEMREF_IN, VALUE_IN, NONE),
	  .run = storage_create },
	{ .id = TA_BENCH_CMD_STORAGE_OPEN,
	  .types = TYPES(MEMREF_IN, VALUE_IN, VALUE_OUT, NONE),
	  .run = storage_open },
	{ .id = TA_BENCH_CMD_STORAGE_READ,
	  .types = TYPES(MEMREF_OUT, VALUE_IN, NONE, NONE),
	  .run = storage_read },
	{ .id = TA_BENCH_CMD_STORAGE_WRITE,
	  .types = TYPES(MEMREF_IN, VALUE_IN, NONE, NONE),
	  .run = storage_write },
	{ .id = TA_BENCH_CMD_STORAGE_RENAME,
	  .types = TYPES(MEMREF_IN, NONE, NONE, NONE),
	  .run = storage_rename },
	{ .id = TA_BENCH_CMD_STORAGE_TRUNCATE,
	  .types = TYPES(VALUE_IN, NONE, NONE, NONE),
	  .run = storage_truncate },
	{ .id = TA_BENCH_CMD_STORAGE_DELETE,
	  .types = TYPES(NONE, NONE, NONE, NONE),
	  .run = storage_delete },
	{ .id = TA_BENCH_CMD_STORAGE_CLOSE,
	  .types = TYPES(NONE, NONE, NONE, NONE),
	  .run = storage_close },
	{ .id = TA_BENCH_CMD_STORAGE_FETCH,
	  .types = TYPES(MEMREF_IN, MEMREF_OUT, VALUE_IN, NONE),
	  .run = storage_fetch },

	{ .id = TA_BENCH_CMD_RANDOM,
	  .types = TYPES(MEMREF_OUT, VALUE_IN, NONE, NONE),
	  .run = random_fill },
	{ .id = TA_BENCH_CMD_KERNEL,
	  .types = TYPES(VALUE_IN, MEMREF_IN, VALUE_OUT, NONE),
	  .run = kernel_run },
	{ .id = TA_BENCH_CMD_ASK,
	  .types = TYPES(VALUE_IN, VALUE_OUT, NONE, NONE),
	  .run = ask },
	{ .id = TA_BENCH_CMD_DIGEST_PART,
	  .types = TYPES(VALUE_IN, VALUE_IN, MEMREF_OUT, NONE),
	  .run = digest_part },

	{ .id = TA_BENCH_CMD_ASYM_SAYS,
	  .types = TYPES(VALUE_IN, VALUE_OUT, NONE, NONE),
	  .run = asym_says },
	{ .id = TA_BENCH_CMD_ASYM_ALLOCATE,
	  .types = TYPES(VALUE_IN, NONE, NONE, NONE),
	  .run = asym_allocate },
	{ .id = TA_BENCH_CMD_ASYM_IMPORT,
	  .types = TYPES(MEMREF_IN, NONE, NONE, NONE),
	  .run = asym_import },
	{ .id = TA_BENCH_CMD_ASYM_GENERATE,
	  .types = TYPES(NONE, NONE, NONE, NONE),
	  .run = asym_generate },
	{ .id = TA_BENCH_CMD_ASYM_PUBLIC,
	  .types = TYPES(MEMREF_OUT, NONE, NONE, NONE),
	  .run = asym_public },
	{ .id = TA_BENCH_CMD_ASYM_PREPARE,
	  .types = TYPES(NONE, NONE, NONE, NONE),
	  .run = asym_prepare },
	{ .id = TA_BENCH_CMD_ASYM_OPERATE,
	  .types = TYPES(MEMREF_IN, MEMREF_OUT, NONE, NONE),
	  .run = asym_operate },
	{ .id = TA_BENCH_CMD_ASYM_VERIFY,
	  .types = TYPES(MEMREF_IN, MEMREF_IN, NONE, NONE),
	  .run = asym_verify },
	COMMAND_CLOCK_ROW,
	{ 0 },
};
