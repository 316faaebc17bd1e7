/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A TA to be sacrificed: each command does one thing that may be forbidden.
 * It has no state.
 */
#include <tee_internal_api.h>

#include <teemark/ta_probe.h>

#define NONE      TEE_PARAM_TYPE_NONE
#define VALUE_OUT TEE_PARAM_TYPE_VALUE_OUTPUT

#define NO_PARAMS TEE_PARAM_TYPES(NONE, NONE, NONE, NONE)

/* ISB: the count is not read before what stands before it. */
#if defined(__aarch64__)
#define READ_COUNTER(name)                                        \
	({                                                        \
		uint64_t count_;                                  \
                                                                  \
		__asm__ volatile("isb\n\tmrs	%0, " name "_el0" \
				 : "=r"(count_)                   \
				 :                                \
				 : "memory");                     \
		count_;                                           \
	})

static uint64_t read_virtual(void)
{
	return READ_COUNTER("cntvct");
}

static uint64_t read_physical(void)
{
	return READ_COUNTER("cntpct");
}

static uint32_t read_frequency(void)
{
	return (uint32_t)READ_COUNTER("cntfrq");
}

static TEE_Result ce_sha1(void)
{
	__asm__ volatile(".arch_extension crypto\n\t"
			 "sha1h	s0, s0"
			 :
			 :
			 : "v0");
	return TEE_SUCCESS;
}

static TEE_Result ce_sha256(void)
{
	__asm__ volatile(".arch_extension crypto\n\t"
			 "sha256su0	v0.4s, v0.4s"
			 :
			 :
			 : "v0");
	return TEE_SUCCESS;
}
#elif defined(__arm__)
static uint64_t read_virtual(void)
{
	uint64_t count;

	__asm__ volatile("isb\n\tmrrc	p15, 1, %Q0, %R0, c14" : "=r"(count));
	return count;
}

static uint64_t read_physical(void)
{
	uint64_t count;

	__asm__ volatile("isb\n\tmrrc	p15, 0, %Q0, %R0, c14" : "=r"(count));
	return count;
}

static uint32_t read_frequency(void)
{
	uint32_t hz;

	__asm__ volatile("mrc	p15, 0, %0, c14, c0, 0" : "=r"(hz));
	return hz;
}

/* The TAs use Crypto Extensions in 64-bit state only. */
static TEE_Result ce_sha1(void)
{
	return TEE_ERROR_NOT_SUPPORTED;
}

static TEE_Result ce_sha256(void)
{
	return TEE_ERROR_NOT_SUPPORTED;
}
#else
#error "ta/probe knows Arm CPUs only: add the counter of this one"
#endif

static TEE_Result counter(TEE_Param params[TEE_NUM_PARAMS],
			  uint64_t (*read)(void))
{
	uint64_t count = read();

	params[0].value.a = (uint32_t)count;
	params[0].value.b = (uint32_t)(count >> 32);
	params[1].value.a = read_frequency();
	params[1].value.b = 0;
	return TEE_SUCCESS;
}

TEE_Result TA_CreateEntryPoint(void)
{
	return TEE_SUCCESS;
}

void TA_DestroyEntryPoint(void)
{
}

TEE_Result TA_OpenSessionEntryPoint(uint32_t types,
				    TEE_Param params[TEE_NUM_PARAMS],
				    void **context)
{
	(void)params;

	*context = NULL;
	return types == NO_PARAMS ? TEE_SUCCESS : TEE_ERROR_BAD_PARAMETERS;
}

void TA_CloseSessionEntryPoint(void *context)
{
	(void)context;
}

TEE_Result TA_InvokeCommandEntryPoint(void *context, uint32_t cmd,
				      uint32_t types,
				      TEE_Param params[TEE_NUM_PARAMS])
{
	uint32_t wanted = NO_PARAMS;

	(void)context;

	if (cmd > TA_PROBE_CMD_CE_SHA256)
		return TEE_ERROR_NOT_SUPPORTED;
	if (cmd == TA_PROBE_CMD_COUNTER_VIRTUAL ||
	    cmd == TA_PROBE_CMD_COUNTER_PHYSICAL)
		wanted = TEE_PARAM_TYPES(VALUE_OUT, VALUE_OUT, NONE, NONE);
	if (types != wanted)
		return TEE_ERROR_BAD_PARAMETERS;

	switch (cmd) {
	case TA_PROBE_CMD_COUNTER_VIRTUAL:
		return counter(params, read_virtual);
	case TA_PROBE_CMD_COUNTER_PHYSICAL:
		return counter(params, read_physical);
	case TA_PROBE_CMD_CE_SHA1:
		return ce_sha1();
	case TA_PROBE_CMD_CE_SHA256:
		return ce_sha256();
	default:
		return TEE_SUCCESS;
	}
}
