/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a session has; it has nothing else, and shares nothing but the
 * persistent objects. Each part is all zeros when it is new.
 */
#ifndef SESSION_H
#define SESSION_H

#include <tee_internal_api.h>

#include <teemark/algorithms.h>
#include <teemark/asym.h>
#include <teemark/ta_bench.h>

#include "command.h"

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

struct mac {
	const struct algorithm *alg; /* NULL: there is no key */
	TEE_OperationHandle operation;
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
	struct cipher cipher;
	struct mac mac;
	struct asym asym;
	TEE_ObjectHandle object; /* the one that is open, or null */
	/* Never holds anything between two calls. */
	uint8_t buffer[TA_BENCH_AE_DECRYPT_MAX + ALG_TAG_MAX_BYTES];
};
COMMAND_SESSION(struct session);

extern const struct command commands[];

/* The handlers, by the file that has them. */
TEE_Result cipher_prepare(struct session *session, TEE_Param *params);
TEE_Result cipher_set_key(struct session *session, TEE_Param *params);
TEE_Result cipher_set_iv(struct session *session, TEE_Param *params);
TEE_Result cipher_update(struct session *session, TEE_Param *params);
TEE_Result cipher_message(struct session *session, TEE_Param *params);

TEE_Result mac_set_key(struct session *session, TEE_Param *params);
TEE_Result mac_message(struct session *session, TEE_Param *params);

TEE_Result storage_create(struct session *session, TEE_Param *params);
TEE_Result storage_open(struct session *session, TEE_Param *params);
TEE_Result storage_read(struct session *session, TEE_Param *params);
TEE_Result storage_fetch(struct session *session, TEE_Param *params);
TEE_Result storage_write(struct session *session, TEE_Param *params);
TEE_Result storage_rename(struct session *session, TEE_Param *params);
TEE_Result storage_truncate(struct session *session, TEE_Param *params);
TEE_Result storage_delete(struct session *session, TEE_Param *params);
TEE_Result storage_close(struct session *session, TEE_Param *params);

TEE_Result random_fill(struct session *session, TEE_Param *params);
TEE_Result kernel_run(struct session *session, TEE_Param *params);
TEE_Result ask(struct session *session, TEE_Param *params);
TEE_Result digest_part(struct session *session, TEE_Param *params);

TEE_Result asym_says(struct session *session, TEE_Param *params);
TEE_Result asym_allocate(struct session *session, TEE_Param *params);
TEE_Result asym_import(struct session *session, TEE_Param *params);
TEE_Result asym_generate(struct session *session, TEE_Param *params);
TEE_Result asym_public(struct session *session, TEE_Param *params);
TEE_Result asym_prepare(struct session *session, TEE_Param *params);
TEE_Result asym_operate(struct session *session, TEE_Param *params);
TEE_Result asym_verify(struct session *session, TEE_Param *params);

/* TEE_HANDLE_NULL is fine; before 3.20, OP-TEE's own function panics then. */
static inline void operation_free(TEE_OperationHandle operation)
{
	if (operation != TEE_HANDLE_NULL)
		TEE_FreeOperation(operation);
}

/* They free and wipe; each accepts what is closed. */
void cipher_close(struct cipher *cipher);
void mac_close(struct mac *mac);
void asym_close(struct asym *asym);
void object_close(struct session *session);

/*
 * An object that holds a key, of len bytes in memory of the TA. Where `key`
 * is no handle one is allocated.
 * TEE_ERROR_NOT_SUPPORTED: this TEE has no such keys of that length.
 */
TEE_Result key_object_fill(TEE_ObjectHandle *key, uint32_t type,
			   const uint8_t *data, size_t len);

#endif
