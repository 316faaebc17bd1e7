/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ECB, CBC and CTR (SP 800-38A), XTS (IEEE 1619 without ciphertext stealing), and GCM by the class
 * gcm_c. To add a mode, write its functions and add a row to `modes`.
 */
#include <teemark/algorithms.h>
#include <teemark/cipher.h>
#include <teemark/gcm.h>

#include "aes.h"

/* The state that a union cipher_ctx holds. */
struct state {
	const struct mode *mode;
	bool encrypt;
	struct aes_key key;
	struct aes_block iv;     /* chaining value, counter or tweak */
	struct aes_block stream; /* CTR: current block of key stream */
	unsigned int used;       /* CTR: bytes of the key stream used */
	union {
		struct aes_key tweak; /* XTS: key of the tweak */
		struct {
			struct gcm_key key;
			struct gcm_message message;
		} gcm;
	};
};

_Static_assert(sizeof(struct state) <= sizeof(union cipher_ctx), "union cipher_ctx is too small");

static void set_key(struct state *state, const uint8_t *key, size_t key_len)
{
	if (state->encrypt)
		aes_set_encrypt_key(&state->key, key, key_len);
	else
		aes_set_decrypt_key(&state->key, key, key_len);
}

static void set_stream_key(struct state *state, const uint8_t *key, size_t key_len)
{
	aes_set_encrypt_key(&state->key, key, key_len);
}

static void begin(struct state *state, const uint8_t *iv)
{
	state->iv = aes_get(iv);
}

static void ecb_begin(struct state *state, const uint8_t *iv)
{
	(void)state;
	(void)iv;
}

static void crypt(const struct state *state, struct aes_block *block)
{
	if (state->encrypt)
		aes_encrypt(&state->key, block);
	else
		aes_decrypt(&state->key, block);
}

static void ecb_update(struct state *state, const uint8_t *in, uint8_t *out, size_t len)
{
	for (size_t i = 0; i < len; i += AES_BLOCK) {
		struct aes_block block = aes_get(in + i);

		crypt(state, &block);
		aes_put(out + i, &block);
	}
}

static void cbc_update(struct state *state, const uint8_t *in, uint8_t *out, size_t len)
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

static void next_stream(struct state *state)
{
	uint8_t *counter = (uint8_t *)&state->iv;

	state->stream = state->iv;
	aes_encrypt(&state->key, &state->stream);
	for (int i = AES_BLOCK - 1; i >= 0 && ++counter[i] == 0; i--)
		;
}

static void ctr_update(struct state *state, const uint8_t *in, uint8_t *out, size_t len)
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

static void ctr_begin(struct state *state, const uint8_t *iv)
{
	begin(state, iv);
	state->used = AES_BLOCK;
}

static void xts_set_key(struct state *state, const uint8_t *key, size_t key_len)
{
	set_key(state, key, key_len / 2);
	aes_set_encrypt_key(&state->tweak, key + key_len / 2, key_len / 2);
}

static void xts_begin(struct state *state, const uint8_t *iv)
{
	begin(state, iv);
	aes_encrypt(&state->tweak, &state->iv);
}

/* Multiplies the tweak by x in GF(2^128), with little-endian bytes (IEEE 1619, 5.2). */
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

static void xts_update(struct state *state, const uint8_t *in, uint8_t *out, size_t len)
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

static void gcm_set_key(struct state *state, const uint8_t *key, size_t key_len)
{
	gcm_c_set_key(&state->gcm.key, key, key_len);
}

static void gcm_mode_begin(struct state *state, const uint8_t *iv)
{
	gcm_begin(&state->gcm.message, iv);
}

static void gcm_update(struct state *state, const uint8_t *in, uint8_t *out, size_t len)
{
	gcm_c_crypt(&state->gcm.message, &state->gcm.key, state->encrypt, in, out, len);
}

static const struct mode {
	const char *kernel; /* `kernel` of the algorithm's row */
	/* state->encrypt is set before this is called. */
	void (*set_key)(struct state *state, const uint8_t *key, size_t key_len);
	void (*begin)(struct state *state, const uint8_t *iv);
	void (*update)(struct state *state, const uint8_t *in, uint8_t *out, size_t len);
} modes[] = {
	{ "ecb(aes)", set_key, ecb_begin, ecb_update },
	{ "cbc(aes)", set_key, begin, cbc_update },
	{ "ctr(aes)", set_stream_key, ctr_begin, ctr_update },
	{ "xts(aes)", xts_set_key, xts_begin, xts_update },
	{ "gcm(aes)", gcm_set_key, gcm_mode_begin, gcm_update },
};

static struct state *state_of(union cipher_ctx *ctx)
{
	return (struct state *)(void *)ctx;
}

bool cipher_set_key(union cipher_ctx *ctx, uint16_t alg_id, bool encrypt, const uint8_t *key)
{
	const struct algorithm *alg = algorithm_by_id(alg_id);
	struct state *state = state_of(ctx);

	if (!alg || (alg->class != ALG_CIPHER && alg->class != ALG_AEAD))
		return false;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].kernel, alg->kernel))
			continue;
		state->mode = &modes[i];
		state->encrypt = encrypt;
		state->mode->set_key(state, key, alg->key_bytes);
		return true;
	}
	return false;
}

void cipher_begin(union cipher_ctx *ctx, const uint8_t *iv)
{
	state_of(ctx)->mode->begin(state_of(ctx), iv);
}

void cipher_update(union cipher_ctx *ctx, const uint8_t *in, uint8_t *out, size_t len)
{
	state_of(ctx)->mode->update(state_of(ctx), in, out, len);
}

void cipher_tag(union cipher_ctx *ctx, uint8_t *tag)
{
	gcm_c_tag(&state_of(ctx)->gcm.message, &state_of(ctx)->gcm.key, tag);
}

void cipher_wipe(union cipher_ctx *ctx)
{
	wipe(ctx, sizeof(*ctx));
}
