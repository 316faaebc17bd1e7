/* SPDX-License-Identifier: BSD-2-Clause */
/* A mode is added by its functions (aes.h), and a line here by its kernel name. */
#include <teemark/algorithms.h>

#include "aes.h"

static const struct {
	const char *kernel;
	const struct aes_mode *mode;
} modes[] = {
	{ "ecb(aes)", &aes_ecb }, { "cbc(aes)", &aes_cbc }, { "ctr(aes)", &aes_ctr },
	{ "xts(aes)", &aes_xts }, { "gcm(aes)", &aes_gcm },
};

static struct aes_state *state_of(union cipher_ctx *ctx)
{
	return (struct aes_state *)(void *)ctx;
}

bool cipher_set_key(union cipher_ctx *ctx, uint16_t alg_id, bool encrypt, const uint8_t *key)
{
	const struct algorithm *alg = algorithm_by_id(alg_id);
	struct aes_state *state = state_of(ctx);

	if (!alg || (alg->class != ALG_CIPHER && alg->class != ALG_AEAD))
		return false;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].kernel, alg->kernel))
			continue;
		memset(state, 0, sizeof(*state));
		state->mode = modes[i].mode;
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
	state_of(ctx)->mode->tag(state_of(ctx), tag);
}

void cipher_wipe(union cipher_ctx *ctx)
{
	wipe(ctx, sizeof(*ctx));
}
