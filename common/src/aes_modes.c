/* SPDX-License-Identifier: BSD-2-Clause */
/* ECB, CBC and CTR (SP 800-38A), XTS (IEEE 1619 without stealing). */
#include "aes.h"

static void set_key(struct aes_state *state, const uint8_t *key, size_t key_len)
{
	if (state->encrypt)
		aes_set_encrypt_key(&state->key, key, key_len);
	else
		aes_set_decrypt_key(&state->key, key, key_len);
}

static void set_stream_key(struct aes_state *state, const uint8_t *key, size_t key_len)
{
	aes_set_encrypt_key(&state->key, key, key_len);
}

static void begin(struct aes_state *state, const uint8_t *iv)
{
	state->iv = aes_get(iv);
}

static void ecb_begin(struct aes_state *state, const uint8_t *iv)
{
	(void)state;
	(void)iv;
}

static void crypt(const struct aes_state *state, struct aes_block *block)
{
	if (state->encrypt)
		aes_encrypt(&state->key, block);
	else
		aes_decrypt(&state->key, block);
}

static void ecb_update(struct aes_state *state, const uint8_t *in, uint8_t *out, size_t len)
{
	for (size_t i = 0; i < len; i += AES_BLOCK) {
		struct aes_block block = aes_get(in + i);

		crypt(state, &block);
		aes_put(out + i, &block);
	}
}

static void cbc_update(struct aes_state *state, const uint8_t *in, uint8_t *out, size_t len)
{
	for (size_t i = 0; i < len; i += AES_BLOCK) {
		struct aes_block block = aes_get(in + i);

		if (state->encrypt) {
			aes_xor(&block, &state->iv);
			aes_encrypt(&state->key, &block);
			state->iv = block;
		} else {
			struct aes_block next = block;

			aes_decrypt(&state->key, &block);
			aes_xor(&block, &state->iv);
			state->iv = next;
		}
		aes_put(out + i, &block);
	}
}

static void next_stream(struct aes_state *state)
{
	uint8_t *counter = (uint8_t *)&state->iv;

	state->stream = state->iv;
	aes_encrypt(&state->key, &state->stream);
	for (int i = AES_BLOCK - 1; i >= 0 && ++counter[i] == 0; i--)
		;
}

static void ctr_update(struct aes_state *state, const uint8_t *in, uint8_t *out, size_t len)
{
	const uint8_t *stream = (const uint8_t *)&state->stream;
	size_t i = 0;

	for (; i < len && state->used < AES_BLOCK; i++)
		out[i] = in[i] ^ stream[state->used++];
	for (; len - i >= AES_BLOCK; i += AES_BLOCK) {
		struct aes_block block = aes_get(in + i);

		next_stream(state);
		aes_xor(&block, &state->stream);
		aes_put(out + i, &block);
	}
	if (i < len) {
		next_stream(state);
		state->used = 0;
	}
	for (; i < len; i++)
		out[i] = in[i] ^ stream[state->used++];
}

static void ctr_begin(struct aes_state *state, const uint8_t *iv)
{
	begin(state, iv);
	state->used = AES_BLOCK;
}

static void xts_set_key(struct aes_state *state, const uint8_t *key, size_t key_len)
{
	set_key(state, key, key_len / 2);
	aes_set_encrypt_key(&state->tweak, key + key_len / 2, key_len / 2);
}

static void xts_begin(struct aes_state *state, const uint8_t *iv)
{
	begin(state, iv);
	aes_encrypt(&state->tweak, &state->iv);
}

/* Times x in GF(2^128), the bytes little-endian (IEEE 1619, 5.2). */
static void next_tweak(struct aes_block *tweak)
{
	uint64_t low = BYTES_LE64(tweak->w[0]);
	uint64_t high = BYTES_LE64(tweak->w[1]);
	uint64_t carry = high >> 63;

	high = high << 1 | low >> 63;
	low = low << 1 ^ carry * 0x87;
	tweak->w[0] = BYTES_LE64(low);
	tweak->w[1] = BYTES_LE64(high);
}

static void xts_update(struct aes_state *state, const uint8_t *in, uint8_t *out, size_t len)
{
	for (size_t i = 0; i < len; i += AES_BLOCK) {
		struct aes_block block = aes_get(in + i);

		aes_xor(&block, &state->iv);
		crypt(state, &block);
		aes_xor(&block, &state->iv);
		aes_put(out + i, &block);
		next_tweak(&state->iv);
	}
}

const struct aes_mode aes_ecb = {
	.set_key = set_key,
	.begin = ecb_begin,
	.update = ecb_update,
};

const struct aes_mode aes_cbc = {
	.set_key = set_key,
	.begin = begin,
	.update = cbc_update,
};

const struct aes_mode aes_ctr = {
	.set_key = set_stream_key,
	.begin = ctr_begin,
	.update = ctr_update,
};

const struct aes_mode aes_xts = {
	.set_key = xts_set_key,
	.begin = xts_begin,
	.update = xts_update,
};
