/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the normal world's code, which reads shared memory but decides nothing by it. */
#include <teemark/kernels.h>

#include "session.h"

_Static_assert(KERNEL_COPY_BYTES <= sizeof(((struct session *)0)->buffer), "no room to copy to");

TEE_Result kernel_run(struct session *session, TEE_Param *params)
{
	const struct input in = input_of(&params[1]);
	uint32_t kernel = params[0].value.a, repeat = params[0].value.b;
	uint64_t result = 0;

	if (!ta_work_ok(repeat, in.len))
		return TEE_ERROR_BAD_PARAMETERS;
	for (uint32_t i = 0; i < repeat; i++) {
		switch (kernel) {
		case TA_BENCH_KERNEL_MEMCPY:
			result = kernel_memcpy(session->buffer, KERNEL_COPY_BYTES, in.data, in.len);
			break;
		case TA_BENCH_KERNEL_MEMTOUCH:
			result = kernel_memtouch(in.data, in.len);
			break;
		case TA_BENCH_KERNEL_INTLOOP:
			result = kernel_intloop(in.len);
			break;
		default:
			return TEE_ERROR_NOT_SUPPORTED;
		}
	}
	/* The copy is wiped once a call, so wiping doesn't count in the cost of a repetition. */
	if (kernel == TA_BENCH_KERNEL_MEMCPY)
		TEE_MemFill(session->buffer, 0,
			    in.len < KERNEL_COPY_BYTES ? in.len : KERNEL_COPY_BYTES);

	params[2].value.a = (uint32_t)result;
	params[2].value.b = (uint32_t)(result >> 32);
	return TEE_SUCCESS;
}
