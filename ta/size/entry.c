/* SPDX-License-Identifier: BSD-2-Clause */
/* A TA that does nothing but occupy memory (ta_size.h). */
#include <teemark/ta_size.h>

#include "command.h"

const size_t session_bytes = sizeof(struct clock);

const struct command commands[] = {
	ROW(TA_SIZE_CMD_NOP, command_nop, NONE),
	{ 0 },
};
