/* SPDX-License-Identifier: BSD-2-Clause */
/* MACs of the TEE Internal Core API. The operation is kept from message to message. */
#include "session.h"

/* Returns TEE_TYPE_HMAC_x for TEE_ALG_HMAC_x: both number the digests in the same way. */
#define HMAC_TYPE(alg) (TEE_TYPE_HMAC_MD5 - 1 + (0xff & (alg)))

_Static_assert(HMAC_TYPE(TEE_ALG_HMAC_SHA1) == TEE_TYPE_HMAC_SHA1 &&
		       HMAC_TYPE(TEE_ALG_HMAC_SHA224) == TEE_TYPE_HMAC_SHA224 &&
		       HMAC_TYPE(TEE_ALG_HMAC_SHA256) == TEE_TYPE_HMAC_SHA256 &&
		       HMAC_TYPE(TEE_ALG_HMAC_SHA384) == TEE_TYPE_HMAC_SHA384 &&
		       HMAC_TYPE(TEE_ALG_HMAC_SHA512) == TEE_TYPE_HMAC_SHA512,
	       "the key types of HMACs are not numbered as their algorithms");

TEE_Result mac_set_key(struct session *session, TEE_Param *params)
{
	const struct algorithm *alg = algorithm_by_id(params[0].value.a);
	const struct input in = input_of(&params[1]);
	TEE_Result res = TEE_SUCCESS;

	if (!alg || alg->class != ALG_MAC)
		return TEE_ERROR_NOT_SUPPORTED;
	if (!in.len || in.len > ALG_KEY_MAX_BYTES)
		return TEE_ERROR_BAD_PARAMETERS;
	res = operation_prepare(&session->mac, alg, TEE_MODE_MAC, HMAC_TYPE(alg->tee), in.len);
	if (!res)
		res = operation_set_key(&session->mac, &in);
	if (res)
		cipher_close(&session->mac);
	return res;
}

TEE_Result mac_message(struct session *session, TEE_Param *params)
{
	const struct input in = input_of(&params[0]);
	struct cipher *mac = &session->mac;
	uint32_t repeat = params[2].value.a;
	uint8_t out[ALG_DIGEST_MAX_BYTES] = { 0 };
	TEE_Result res = TEE_SUCCESS;

	if (!ta_work_ok(repeat, in.len))
		return TEE_ERROR_BAD_PARAMETERS;
	if (!mac->alg)
		return TEE_ERROR_BAD_STATE;
	res = check_output(&params[1], mac->alg->out_bytes);
	if (res)
		return res;
	for (uint32_t i = 0; i < repeat && !res; i++) {
		tee_size len = mac->alg->out_bytes;

		TEE_MACInit(mac->operation, NULL, 0);
		res = TEE_MACComputeFinal(mac->operation, in.data, in.len, out, &len);
		if (!res && len != mac->alg->out_bytes)
			res = TEE_ERROR_GENERIC;
	}
	if (!res)
		put_output(&params[1], out, mac->alg->out_bytes);
	TEE_MemFill(out, 0, sizeof(out));
	return res;
}
