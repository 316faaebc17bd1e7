/* SPDX-License-Identifier: BSD-2-Clause */
/* Compiled with libteec's own header, REAL_TEEC. */
#include REAL_TEEC

#include "teec_facts.h"

const struct teec_fact real_facts[] = { TEEC_FACTS };
const size_t real_context = sizeof(TEEC_Context);
const size_t real_session = sizeof(TEEC_Session);
const size_t real_memory = sizeof(TEEC_SharedMemory);
