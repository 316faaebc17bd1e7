/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bench TA's client: its commands as calls, over the shim.
 *
 * The shim aborts wherever a TEE would panic, so a test that ends at all has
 * shown that nothing of what it did ends a TA. Include it after cmocka.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <tee_internal_api.h>
#include <teemark/algorithms.h>
#include <teemark/ta_bench.h>

#define BAD_STATE      TEE_ERROR_BAD_STATE
#define BAD_PARAMETERS TEE_ERROR_BAD_PARAMETERS
#define NOT_SUPPORTED  TEE_ERROR_NOT_SUPPORTED
#define SHORT_BUFFER   TEE_ERROR_SHORT_BUFFER

#define VALUE(a_, b_)                  \
	{                              \
		.value = {(a_), (b_) } \
	}
#define MEMREF(p_, n_)                          \
	{                                       \
		.memref = {(void *)(p_), (n_) } \
	}

/* A test of cmocka's in a new session, *state; nothing is left afterwards. */
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int setup(void **state);
int teardown(void **state);

/* The shared memory: all memrefs lie in it. */
extern uint8_t shared[256 * 1024];

/* Input, output, and at the end small things. */
#define IN    (shared)
#define OUT   (shared + 100 * 1024)
#define SMALL (shared + 240 * 1024)

/* Copies to shared memory, where a client's buffers are; returns at. */
void *put(uint8_t *at, const void *data, size_t len);

void *open_session(void);
TEE_Result invoke(void *session, uint32_t cmd, uint32_t types, TEE_Param *p);
/* A command without parameters. */
TEE_Result call_plain(void *s, uint32_t cmd);

/* Ciphers */
TEE_Result call_prepare(void *s, uint32_t alg, uint32_t direction);
TEE_Result call_set_key(void *s, const uint8_t *key, size_t len);
TEE_Result call_set_iv(void *s, const uint8_t *iv, size_t len);
TEE_Result call_update(void *s, const uint8_t *in, size_t len, uint8_t *out, size_t *out_len,
		       uint32_t repeat);
TEE_Result call_message(void *s, const uint8_t *iv, size_t iv_len, const uint8_t *in, size_t len,
			uint8_t *out, size_t *out_len, uint32_t repeat);

/* MACs */
TEE_Result call_mac_set_key(void *s, uint32_t alg, const uint8_t *key, size_t len);
/* The output goes to OUT. */
TEE_Result call_mac(void *s, const uint8_t *in, size_t len, size_t *out_len, uint32_t repeat);

/* An object of these bytes, which stays open. */
TEE_Result call_create(void *s, const char *name, const void *data, size_t len, uint32_t storage);

/* A session in which every command has something to work on. */
void make_ready(void *s);

/* The published ciphers and MACs (vectors.h). */
FILE *open_vectors(const char *directory);
