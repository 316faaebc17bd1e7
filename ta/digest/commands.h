/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <tee_internal_api.h>

#include "command.h"
#include "impl.h"
#include "stack.h"

/* What a session has; it has nothing else, and shares nothing. */
struct session {
	struct clock clock;
	struct digest_slot oneshot; /* kept for the next call */
	struct digest_slot stream;
	bool streaming; /* between INIT and FINAL */
	struct stack_region stack;
	uint32_t digests;
	uint32_t updates;
	uint64_t bytes;
};
COMMAND_SESSION(struct session);

extern const struct command commands[];

#endif
