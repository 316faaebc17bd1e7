/* SPDX-License-Identifier: BSD-2-Clause */
/* A TA that does nothing and has memory: ta_size.h. */
#include <teemark/ta_size.h>

#include "command.h"

const struct command commands[] = {
	{ TA_SIZE_CMD_NOP, TYPES(NONE, NONE, NONE, NONE), command_nop },
	{ 0 },
};
