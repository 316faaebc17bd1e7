/* SPDX-License-Identifier: BSD-2-Clause */
/* A memory reference inside another one of the same call. */
#include <stdio.h>

#include <teemark/ta_digest.h>

#include "board.h"
#include "torture.h"

enum { LARGE = 1 << 20 };

/* A digest of all of shm; it is to be written at the offset. */
static TEEC_Result digest_into(TEEC_SharedMemory *shm, size_t offset)
{
	TEEC_Operation operation = {
		.paramTypes =
			TYPES(VALUE, TEEC_MEMREF_PARTIAL_INPUT, TEEC_MEMREF_PARTIAL_OUTPUT, VALUE),
		.params = { value(algorithm_by_name("sha256")->id, TA_DIGEST_IMPL_TEE),
			    { .memref = { shm, LARGE, 0 } },
			    { .memref = { shm, 32, offset } },
			    value(1, 0) },
	};
	TEEC_Session session;
	TEEC_Result res;

	if (open_session(&session, (TEEC_UUID)TA_DIGEST_UUID))
		die("cannot open a session of the digest TA");
	res = TEEC_InvokeCommand(&session, TA_DIGEST_CMD_ONESHOT, &operation, NULL);
	TEEC_CloseSession(&session);
	return res;
}

int check_nested(char **argv)
{
	TEEC_SharedMemory shm = {
		.size = LARGE,
		.flags = TEEC_MEM_INPUT | TEEC_MEM_OUTPUT,
	};

	(void)argv;
	if (TEEC_AllocateSharedMemory(&context, &shm))
		die("no shared memory");
	printf("in the middle: 0x%08x\n", digest_into(&shm, LARGE / 2));
	printf("in the last page: 0x%08x\n", digest_into(&shm, LARGE - 64));
	TEEC_ReleaseSharedMemory(&shm);
	return 0;
}
