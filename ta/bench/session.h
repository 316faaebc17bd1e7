/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session has this and nothing else, and shares nothing but the
 * persistent objects. Each part is all zeros when it is new.
 */
#pragma once

#include <teemark/algorithms.h>
#include <teemark/asym.h>
#include <teemark/ta_bench.h>

#include "command.h"

/* A cipher, or a MAC, which is prepared and keyed in one and has no IV. */
struct cipher {
	const struct algorithm *alg; /* NULL: not prepared */
	bool encrypt;
	bool keyed;
	bool have_iv; /* since the key was set */
	bool begun;   /* a message is under way */
	uint8_t iv[ALG_IV_MAX_BYTES];
	TEE_OperationHandle operation;
	TEE_ObjectHandle keys[2]; /* to set the key by; XTS has two */
};

struct asym {
	const struct asym_algorithm *alg; /* NULL: nothing is allocated */
	enum asym_use use;
	bool have_key; /* the object has one */
	bool prepared; /* the operation has it */
	TEE_OperationHandle operation;
	TEE_ObjectHandle key;
};

struct session {
	struct clock clock;
	struct cipher cipher, mac;
	struct asym asym;
	TEE_ObjectHandle object; /* the one that is open, or null */
	/* Never holds anything between two calls. */
	uint8_t buffer[TA_BENCH_AE_DECRYPT_MAX + ALG_TAG_MAX_BYTES];
};
COMMAND_SESSION(struct session);

/* The handlers, by the file that has them. */
handler cipher_prepare, cipher_set_key, cipher_set_iv, cipher_update, cipher_message;
handler mac_set_key, mac_message;
handler storage_create, storage_open, storage_read, storage_fetch, storage_write, storage_rename,
	storage_truncate, storage_delete, storage_close;
handler kernel_run;
handler asym_says, asym_allocate, asym_import, asym_generate, asym_public, asym_prepare,
	asym_operate, asym_verify;

/* These free what a session holds, and wipe it; closing twice is allowed. */
void cipher_close(struct cipher *cipher);
void asym_close(struct asym *asym);
void object_close(struct session *session);

/*
 * Allocates the operation and the objects for keys of that type, anew. TEE_ERROR_NOT_SUPPORTED: this
 * TEE has no such keys of that length.
 */
TEE_Result operation_prepare(struct cipher *cipher, const struct algorithm *alg, uint32_t mode,
			     uint32_t type, size_t key_len);
/* Sets a key of the length that was prepared, which the operation copies; the objects are emptied. */
TEE_Result operation_set_key(struct cipher *cipher, const struct input *in);
