/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of ta_torture share this. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tee_client_api.h>
#include <teemark/algorithms.h>

#define VALUE  TEEC_VALUE_INPUT
#define RESULT TEEC_VALUE_OUTPUT
#define IN     TEEC_MEMREF_TEMP_INPUT
#define OUT    TEEC_MEMREF_TEMP_OUTPUT
#define NONE   TEEC_NONE
#define TYPES  TEEC_PARAM_TYPES
#define TAG    16

enum { MAX_LEN = 2500 };

static inline TEEC_Parameter value(uint32_t a, uint32_t b)
{
	return (TEEC_Parameter){ .value = { a, b } };
}

static inline TEEC_Parameter memref(const void *data, size_t len)
{
	return (TEEC_Parameter){ .tmpref = { (void *)data, len } };
}

extern TEEC_Context context;

/*
 * Where this thread's invoke() has memory pass: four slots that both worlds
 * keep mapped, so that the TEE isn't told of pages before and after each call.
 * NULL, and in the beginning: as temporary memory references.
 */
enum { SHARED_SLOT = 4096, SHARED_SIZE = 4 * SHARED_SLOT };
extern _Thread_local TEEC_SharedMemory *shared;

TEEC_Result open_session(TEEC_Session *session, TEEC_UUID uuid);
/* params: four, of which types says what they are. */
TEEC_Result invoke(TEEC_Session *session, uint32_t cmd, uint32_t types, TEEC_Parameter *params);

#define INVOKE(session, cmd, types, ...) \
	invoke((session), (cmd), (types), (TEEC_Parameter[4]){ __VA_ARGS__ })

/* These are of the bench TA. */
TEEC_Result prepare(TEEC_Session *s, const struct algorithm *alg, bool encrypt, const uint8_t *key);
TEEC_Result message(TEEC_Session *s, const struct algorithm *alg, const uint8_t *iv,
		    const uint8_t *in, size_t len, uint8_t *out, size_t *out_len, uint32_t repeat);
TEEC_Result set_iv(TEEC_Session *s, const struct algorithm *alg, const uint8_t *iv);
TEEC_Result update(TEEC_Session *s, const uint8_t *in, uint8_t *out, size_t len);
TEEC_Result mac(TEEC_Session *s, const struct algorithm *alg, const uint8_t *key, size_t key_len,
		const uint8_t *data, size_t len, uint8_t *out);

/* The same by libcrypto, to compare with; an AEAD's tag is behind the ciphertext. */
void encrypt_here(const struct algorithm *alg, const uint8_t *key, const uint8_t *iv,
		  const uint8_t *in, size_t len, uint8_t *out);
void mac_here(const struct algorithm *alg, const uint8_t *key, const uint8_t *data, size_t len,
	      uint8_t *out);

/* Each: the arguments that follow its name; the exit status. */
int check_vectors(char **argv);
int check_sessions(char **argv);
int check_parallel(char **argv);
int keep(char **argv);
int kept(char **argv);
int meet_stranger(char **argv);
int check_hostile(char **argv);
int check_keys(char **argv);
int check_work(char **argv);
int check_longest(char **argv);
int check_nested(char **argv);
int check_opens(char **argv);
int check_first(char **argv);
int hold(char **argv);
