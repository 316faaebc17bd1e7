/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The digest TA's client: its commands as calls of a model, which holds every
 * answer against what it should be. Include it after cmocka.h.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <tee_internal_api.h>
#include <teemark/ta_digest.h>

#include "model.h"

#define ONESHOT TEE_PARAM_TYPES(1, 5, 6, 1)

static const uint32_t impls[] = { TA_DIGEST_IMPL_TEE, TA_DIGEST_IMPL_C };

extern uint8_t message[5000];
extern uint8_t output[64];

TEE_Result oneshot(struct model *model, uint32_t alg, uint32_t impl, size_t len, size_t out_len,
		   uint32_t repeat);
TEE_Result init(struct model *model, uint32_t alg, uint32_t impl);
TEE_Result update(struct model *model, size_t offset, size_t len);
TEE_Result final(struct model *model, size_t out_len);
TEE_Result final_with(struct model *model, size_t offset, size_t len, size_t out_len);
TEE_Result stack(struct model *model);

/* A test of cmocka's with a new model, *state; nothing is left afterwards. */
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int setup(void **state);
int teardown(void **state);
