/* SPDX-License-Identifier: BSD-2-Clause */
#include "session.h"

static TEE_Result allocate(TEE_OperationHandle *operation,
			   const struct algorithm *alg)
{
	operation_free(*operation);
	*operation = TEE_HANDLE_NULL;
	return TEE_AllocateOperation(operation, alg->tee, TEE_MODE_DIGEST, 0);
}

static TEE_Result finish(TEE_OperationHandle operation,
			 const struct algorithm *alg, uint8_t *digest)
{
	tee_size len = alg->out_bytes;
	TEE_Result res = TEE_DigestDoFinal(operation, NULL, 0, digest, &len);

	return res == TEE_SUCCESS && len != alg->out_bytes ? TEE_ERROR_GENERIC :
							     res;
}

TEE_Result digest_part(struct session *session, TEE_Param *params)
{
	const struct algorithm *alg = algorithm_by_id(params[0].value.a);
	uint32_t part = params[0].value.b, repeat = params[1].value.a;
	TEE_OperationHandle operation = TEE_HANDLE_NULL;
	uint8_t digest[ALG_DIGEST_MAX_BYTES] = { 0 };
	TEE_Result res = TEE_SUCCESS;

	(void)session;

	if (!ta_work_ok(repeat, 0) || part > TA_BENCH_DIGEST_FINISH)
		return TEE_ERROR_BAD_PARAMETERS;
	if (!alg || alg->class != ALG_DIGEST ||
	    TEE_IsAlgorithmSupported(alg->tee, TEE_CRYPTO_ELEMENT_NONE) !=
		    TEE_SUCCESS)
		return TEE_ERROR_NOT_SUPPORTED;
	res = check_output(&params[2], alg->out_bytes);
	if (res != TEE_SUCCESS)
		return res;

	res = allocate(&operation, alg);
	for (uint32_t i = 0; i < repeat && res == TEE_SUCCESS; i++) {
		if (part == TA_BENCH_DIGEST_ALLOCATE)
			res = allocate(&operation, alg);
		else if (part == TA_BENCH_DIGEST_RESET)
			TEE_ResetOperation(operation);
		else
			res = finish(operation, alg, digest);
	}
	if (res == TEE_SUCCESS)
		res = finish(operation, alg, digest);
	if (res == TEE_SUCCESS)
		put_output(&params[2], digest, alg->out_bytes);
	operation_free(operation);
	return res;
}
