/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ciphers and AEADs of the TEE Internal Core API, step by step. The API panics at a step out of
 * sequence, so the session records its steps.
 *
 * Keys and IVs are copied before use. Messages are read from and written to shared memory without a
 * copy, except those that an AEAD decrypts: the TEE reads these twice, to check and to decrypt, and
 * the client could change them in between.
 */
#include "session.h"

#define TAG_BYTES 16
#define TAG_BITS  (8 * TAG_BYTES)

static bool is_xts(const struct algorithm *alg)
{
	return alg->tee == TEE_ALG_AES_XTS;
}

static bool is_aead(const struct algorithm *alg)
{
	return alg->class == ALG_AEAD;
}

static size_t key_count(const struct algorithm *alg)
{
	return is_xts(alg) ? 2 : 1;
}

void cipher_close(struct cipher *cipher)
{
	operation_free(cipher->operation);
	TEE_FreeTransientObject(cipher->keys[0]);
	TEE_FreeTransientObject(cipher->keys[1]);
	TEE_MemFill(cipher, 0, sizeof(*cipher));
}

TEE_Result operation_prepare(struct cipher *cipher, const struct algorithm *alg, uint32_t mode,
			     uint32_t type, size_t key_len)
{
	size_t n = key_count(alg);
	TEE_Result res = TEE_SUCCESS;

	cipher_close(cipher);
	res = TEE_AllocateOperation(&cipher->operation, alg->tee, mode, key_len * 8);
	for (size_t i = 0; i < n && !res; i++)
		res = TEE_AllocateTransientObject(type, key_len * 8 / n, &cipher->keys[i]);
	if (res)
		cipher_close(cipher);
	else
		cipher->alg = alg;
	return res;
}

TEE_Result cipher_prepare(struct session *session, TEE_Param *params)
{
	const struct algorithm *alg = algorithm_by_id(params[0].value.a);
	uint32_t direction = params[0].value.b;
	TEE_Result res = TEE_SUCCESS;

	if (!alg || (alg->class != ALG_CIPHER && alg->class != ALG_AEAD))
		return TEE_ERROR_NOT_SUPPORTED;
	if (direction != TA_BENCH_ENCRYPT && direction != TA_BENCH_DECRYPT)
		return TEE_ERROR_BAD_PARAMETERS;

	res = operation_prepare(&session->cipher, alg,
				direction == TA_BENCH_ENCRYPT ? TEE_MODE_ENCRYPT : TEE_MODE_DECRYPT,
				TEE_TYPE_AES, alg->key_bytes);
	if (!res)
		session->cipher.encrypt = direction == TA_BENCH_ENCRYPT;
	return res;
}

TEE_Result operation_set_key(struct cipher *cipher, const struct input *in)
{
	uint8_t key[ALG_KEY_MAX_BYTES] = { 0 };
	size_t n = key_count(cipher->alg), len = in->len / n;
	TEE_Attribute attribute = { 0 };
	TEE_Result res = TEE_SUCCESS;

	if (cipher->keyed)
		TEE_ResetOperation(cipher->operation);
	cipher->keyed = false;
	cipher->have_iv = false;
	cipher->begun = false;

	TEE_MemMove(key, in->data, in->len);
	/* Some TEEs don't accept two equal keys for XTS, and panic only later. */
	if (n == 2 && !TEE_MemCompare(key, key + len, len))
		res = TEE_ERROR_BAD_PARAMETERS;
	for (size_t i = 0; i < n && !res; i++) {
		TEE_ResetTransientObject(cipher->keys[i]);
		TEE_InitRefAttribute(&attribute, TEE_ATTR_SECRET_VALUE, key + i * len, len);
		res = TEE_PopulateTransientObject(cipher->keys[i], &attribute, 1);
	}
	if (!res)
		res = n == 2 ? TEE_SetOperationKey2(cipher->operation, cipher->keys[0],
						    cipher->keys[1]) :
			       TEE_SetOperationKey(cipher->operation, cipher->keys[0]);
	cipher->keyed = !res;
	for (size_t i = 0; i < n; i++)
		TEE_ResetTransientObject(cipher->keys[i]);
	TEE_MemFill(key, 0, sizeof(key));
	return res;
}

TEE_Result cipher_set_key(struct session *session, TEE_Param *params)
{
	const struct input in = input_of(&params[0]);

	if (!session->cipher.alg)
		return TEE_ERROR_BAD_STATE;
	if (in.len != session->cipher.alg->key_bytes)
		return TEE_ERROR_BAD_PARAMETERS;
	return operation_set_key(&session->cipher, &in);
}

/* Begins a message with cipher->iv, and drops one that is under way. */
static TEE_Result begin(struct cipher *cipher)
{
	size_t len = cipher->alg->iv_bytes;
	TEE_Result res = TEE_SUCCESS;

	if (is_aead(cipher->alg)) {
		if (cipher->begun)
			TEE_ResetOperation(cipher->operation);
		cipher->begun = false;
		res = TEE_AEInit(cipher->operation, cipher->iv, len, TAG_BITS, 0, 0);
	} else {
		TEE_CipherInit(cipher->operation, len ? cipher->iv : NULL, len);
	}
	cipher->begun = !res;
	return res;
}

static TEE_Result take_iv(struct cipher *cipher, const TEE_Param *param)
{
	const struct input in = input_of(param);

	if (!cipher->keyed)
		return TEE_ERROR_BAD_STATE;
	if (in.len != cipher->alg->iv_bytes)
		return TEE_ERROR_BAD_PARAMETERS;
	if (in.len)
		TEE_MemMove(cipher->iv, in.data, in.len);
	cipher->have_iv = true;
	return TEE_SUCCESS;
}

TEE_Result cipher_set_iv(struct session *session, TEE_Param *params)
{
	TEE_Result res = take_iv(&session->cipher, &params[0]);

	return !res ? begin(&session->cipher) : res;
}

/* Returns true if the cipher takes len bytes; an XTS message can't be empty. */
static bool length_ok(const struct algorithm *alg, size_t len)
{
	return len % alg->unit_bytes == 0 && (len || !is_xts(alg));
}

/* Processes the next piece of the message; `out` has room for in->len bytes. */
static TEE_Result update(struct cipher *cipher, const struct input *in, uint8_t *out)
{
	tee_size len = in->len;
	TEE_Result res = TEE_SUCCESS;

	if (is_xts(cipher->alg)) {
		/* TEE_CipherDoFinal() gives all output; TEE_CipherUpdate() may hold some back. */
		res = TEE_CipherDoFinal(cipher->operation, in->data, in->len, out, &len);
		cipher->begun = false;
	} else if (!in->len) {
		return TEE_SUCCESS;
	} else {
		res = TEE_CipherUpdate(cipher->operation, in->data, in->len, out, &len);
	}
	if (!res && len != in->len)
		res = TEE_ERROR_GENERIC;
	return res;
}

TEE_Result cipher_update(struct session *session, TEE_Param *params)
{
	struct cipher *cipher = &session->cipher;
	const struct input in = input_of(&params[0]);
	uint32_t repeat = params[2].value.a;
	TEE_Result res = TEE_SUCCESS;

	if (!ta_work_ok(repeat, in.len))
		return TEE_ERROR_BAD_PARAMETERS;
	if (!cipher->have_iv || (repeat == 1 && !cipher->begun))
		return TEE_ERROR_BAD_STATE;
	if (is_aead(cipher->alg))
		return TEE_ERROR_NOT_SUPPORTED;
	if (!length_ok(cipher->alg, in.len))
		return TEE_ERROR_BAD_PARAMETERS;
	res = check_output(&params[1], in.len);
	if (res)
		return res;
	for (uint32_t i = 0; i < repeat && !res; i++) {
		if (repeat > 1)
			res = begin(cipher);
		if (!res)
			res = update(cipher, &in, params[1].memref.buffer);
	}
	if (!res)
		params[1].memref.size = in.len;
	return res;
}

/* Computes the output's length in bytes; returns an error if such a message is not allowed. */
static TEE_Result message_len(const struct cipher *cipher, size_t len, size_t *out_len)
{
	bool ok = length_ok(cipher->alg, len);

	*out_len = len;
	if (is_aead(cipher->alg) && cipher->encrypt) {
		*out_len = len + TAG_BYTES;
		ok = *out_len >= len;
	} else if (is_aead(cipher->alg)) {
		*out_len = len - TAG_BYTES;
		ok = len >= TAG_BYTES && *out_len <= TA_BENCH_AE_DECRYPT_MAX;
	}
	return ok ? TEE_SUCCESS : TEE_ERROR_BAD_PARAMETERS;
}

/*
 * Encrypts, and writes the tag to the TA's memory first. The normal world can change the ciphertext
 * before the tag is computed; then it learns the tag of another message, which it could also have
 * asked for.
 */
static TEE_Result encrypt_aead(struct cipher *cipher, const struct input *in, uint8_t *out)
{
	uint8_t tag[TAG_BYTES] = { 0 };
	tee_size len = in->len, tag_len = TAG_BYTES;
	TEE_Result res =
		TEE_AEEncryptFinal(cipher->operation, in->data, in->len, out, &len, tag, &tag_len);

	if (!res && (len != in->len || tag_len != TAG_BYTES))
		res = TEE_ERROR_GENERIC;
	if (!res)
		TEE_MemMove(out + in->len, tag, sizeof(tag));
	return res;
}

/* Decrypts in the session's buffer; the plaintext leaves it only if the tag is right. */
static TEE_Result decrypt_aead(struct session *session, const struct input *in, uint8_t *out)
{
	uint8_t *data = session->buffer;
	size_t len = in->len - TAG_BYTES;
	tee_size out_len = len;
	TEE_Result res = TEE_SUCCESS;

	TEE_MemMove(data, in->data, in->len);
	res = TEE_AEDecryptFinal(session->cipher.operation, data, len, data, &out_len, data + len,
				 TAG_BYTES);
	if (!res && out_len != len)
		res = TEE_ERROR_GENERIC;
	/* After a wrong tag the TEE still treats the message as begun. */
	if (res)
		TEE_ResetOperation(session->cipher.operation);
	else if (len)
		TEE_MemMove(out, data, len);
	return res;
}

static TEE_Result one_message(struct session *session, const struct input *in, uint8_t *out)
{
	struct cipher *cipher = &session->cipher;
	TEE_Result res = begin(cipher);

	if (res)
		return res;
	if (!is_aead(cipher->alg))
		return update(cipher, in, out);
	cipher->begun = false;
	return cipher->encrypt ? encrypt_aead(cipher, in, out) : decrypt_aead(session, in, out);
}

TEE_Result cipher_message(struct session *session, TEE_Param *params)
{
	struct cipher *cipher = &session->cipher;
	const struct input in = input_of(&params[1]);
	uint32_t repeat = params[3].value.a;
	size_t out_len = 0;
	TEE_Result res = TEE_SUCCESS;

	if (!ta_work_ok(repeat, in.len))
		return TEE_ERROR_BAD_PARAMETERS;
	if (!cipher->keyed)
		return TEE_ERROR_BAD_STATE;
	res = message_len(cipher, in.len, &out_len);
	if (!res)
		res = check_output(&params[2], out_len);
	if (!res)
		res = take_iv(cipher, &params[0]);
	if (res)
		return res;

	for (uint32_t i = 0; i < repeat && !res; i++)
		res = one_message(session, &in, params[2].memref.buffer);
	if (is_aead(cipher->alg) && !cipher->encrypt)
		TEE_MemFill(session->buffer, 0, in.len);
	/* Ends the message, so that no later step can continue it. */
	if (cipher->begun)
		TEE_ResetOperation(cipher->operation);
	cipher->begun = false;
	if (!res)
		params[2].memref.size = out_len;
	return res;
}
