/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * This says a second time what the digest TA has to answer: the contract of
 * ta_digest.h over libcrypto. The unit tests and the fuzzer call the TA
 * through it; the first answer that differs ends the process.
 */
#pragma once

#include <tee_internal_api.h>

struct model;

/* Opens a session of the TA. */
struct model *model_open(void);
/* From here on memory changes during calls: digests are any. */
void model_hostile(struct model *model);
void model_close(struct model *model);

/*
 * Calls the TA and compares result, outputs, and all that must not change.
 * Memrefs are given as the client would; their buffers are copied into
 * allocations of exactly their size, and out again.
 */
TEE_Result model_invoke(struct model *model, uint32_t cmd, uint32_t types,
			TEE_Param params[TEE_NUM_PARAMS]);
