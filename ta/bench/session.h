/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of a session; sessions share only the persistent objects, and in the single instance
 * the heap. Each part is all zeros when it is new.
 */
#pragma once

#include <teemark/algorithms.h>
#include <teemark/asym.h>
#include <teemark/ta_bench.h>

#include "command.h"

/* A cipher; also used for a MAC, which has the same steps but no IV. */
struct cipher {
	const struct algorithm *alg; /* NULL: not prepared */
	bool encrypt;
	bool keyed;
	bool have_iv; /* an IV was set after the key */
	bool begun;   /* a message is under way */
	uint8_t iv[ALG_IV_MAX_BYTES];
	TEE_OperationHandle operation;
	TEE_ObjectHandle keys[2]; /* objects that pass the key; XTS has two keys */
};

struct asym {
	const struct asym_algorithm *alg; /* NULL: nothing is allocated */
	enum asym_use use;
	bool have_key; /* the key object holds a key */
	bool prepared; /* the operation has the key */
	TEE_OperationHandle operation;
	TEE_ObjectHandle key;
};

struct session {
	struct clock clock;
	struct cipher cipher, mac;
	struct asym asym;
	TEE_ObjectHandle object; /* the open persistent object, or null */
	/* Working memory of one call; wiped before the call returns. */
	uint8_t buffer[TA_BENCH_AE_DECRYPT_MAX + ALG_TAG_MAX_BYTES];
};
COMMAND_SESSION(struct session);

/* The handlers of the commands, by source file. */
handler cipher_prepare, cipher_set_key, cipher_set_iv, cipher_update, cipher_message;
handler mac_set_key, mac_message;
handler storage_create, storage_open, storage_read, storage_fetch, storage_write, storage_rename,
	storage_truncate, storage_delete, storage_close;
handler kernel_run;
handler asym_says, asym_allocate, asym_import, asym_generate, asym_public, asym_prepare,
	asym_operate, asym_verify;

/* Release and wipe a part of the session; closing it twice is allowed. */
void cipher_close(struct cipher *cipher);
void asym_close(struct asym *asym);
void object_close(struct session *session);

/*
 * Allocates the operation and its key objects, in place of the old ones. Returns
 * TEE_ERROR_NOT_SUPPORTED if this TEE lacks keys of that type and length (bytes).
 */
TEE_Result operation_prepare(struct cipher *cipher, const struct algorithm *alg, uint32_t mode,
			     uint32_t type, size_t key_len);
/* Sets a key of the prepared length. The operation copies it, and the key objects are emptied. */
TEE_Result operation_set_key(struct cipher *cipher, const struct input *in);
