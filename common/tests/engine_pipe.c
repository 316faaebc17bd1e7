/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs what comes on stdin, answers on stdout; until stdin ends. */
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"

int main(void)
{
	struct engine_request request;
	struct engine_reply reply;

	while (fread(&request, sizeof(request), 1, stdin) == 1) {
		size_t size = (request.offset + request.len + 63) / 64 * 64;
		uint8_t *base = aligned_alloc(64, size ? size : 64);

		if (!base || request.offset > ENGINE_OFFSET_MAX)
			return 1;
		if (request.len && fread(base + request.offset, request.len, 1, stdin) != 1)
			return 1;
		engine_run(&request, base, &reply);
		free(base);
		if (fwrite(&reply, sizeof(reply), 1, stdout) != 1 || fflush(stdout))
			return 1;
	}
	return 0;
}
