/* SPDX-License-Identifier: BSD-2-Clause */
/* `c` for algorithms with a key: the portable AES and HMAC of common/src. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/cipher.h>
#include <teemark/hmac.h>

#include "keyed.h"

struct portable {
	struct keyed head;
	struct hmac hmac;
	union cipher_ctx cipher;
};

static void portable_close(struct keyed *k)
{
	struct portable *s = (struct portable *)(void *)k;

	if (!s)
		return;
	hmac_wipe(&s->hmac);
	cipher_wipe(&s->cipher);
	keyed_memory_free(k);
	free(s);
}

static int portable_open(struct keyed **k, size_t size, struct error *err)
{
	struct portable *s = calloc(1, sizeof(*s));
	int ret;

	*k = NULL;
	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	ret = keyed_memory(&s->head, size, err);
	if (ret)
		portable_close(&s->head);
	else
		*k = &s->head;
	return ret;
}

static int unsupported(const struct keyed_job *job, struct error *err)
{
	return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
			  "no portable C code for %s", job->alg->title);
}

static int portable_set_up(struct keyed *k, const struct keyed_job *job,
			   struct error *err)
{
	struct portable *s = (struct portable *)(void *)k;
	const struct algorithm *alg = job->alg;
	bool done = alg->class == ALG_MAC ?
			    hmac_set_key(&s->hmac, DIGEST_CODE_C, alg->id,
					 job->key, alg->key_bytes) :
			    cipher_set_key(&s->cipher, alg->id, !job->decrypt,
					   job->key);

	return done ? 0 : unsupported(job, err);
}

static void mac(struct portable *s, size_t len)
{
	hmac_begin(&s->hmac);
	hmac_update(&s->hmac, s->head.in, len);
	hmac_final(&s->hmac, s->head.out);
}

/* Of all bytes, whichever differ. */
static bool equal(const uint8_t *a, const uint8_t *b, size_t len)
{
	uint8_t differs = 0;

	for (size_t i = 0; i < len; i++)
		differs |= a[i] ^ b[i];
	return !differs;
}

static int message(struct portable *s, const struct keyed_job *job,
		   struct error *err)
{
	size_t len = job->decrypt ? keyed_result_len(job) : job->len;
	uint8_t tag[ALG_TAG_MAX_BYTES];

	cipher_begin(&s->cipher, job->iv);
	cipher_update(&s->cipher, s->head.in, s->head.out, len);
	if (job->alg->class != ALG_AEAD)
		return 0;
	cipher_tag(&s->cipher, tag);
	if (!job->decrypt) {
		memcpy(s->head.out + len, tag, sizeof(tag));
		return 0;
	}
	if (equal(tag, s->head.in + len, sizeof(tag)))
		return 0;
	memset(s->head.out, 0, len);
	return error_set(err, -EBADMSG, "the tag of %s is wrong",
			 job->alg->title);
}

static int portable_message(struct keyed *k, const struct keyed_job *job,
			    uint32_t repeat, struct error *err)
{
	struct portable *s = (struct portable *)(void *)k;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < repeat; i++) {
		if (job->alg->class == ALG_MAC)
			mac(s, job->len);
		else
			ret = message(s, job, err);
	}
	return ret;
}

/* Its functions take the parameters themselves. */
static int portable_arrange(struct keyed *k, const struct keyed_job *job,
			    enum keyed_step step, struct error *err)
{
	(void)k;
	(void)job;
	if (step != KEYED_PREPARE)
		return 0;
	return error_skip(err, -EOPNOTSUPP, "no-step",
			  "the C code has nothing to prepare: a key is all it "
			  "wants");
}

static int portable_step(struct keyed *k, const struct keyed_job *job,
			 enum keyed_step step, struct error *err)
{
	struct portable *s = (struct portable *)(void *)k;

	switch (step) {
	case KEYED_SET_KEY:
		return portable_set_up(k, job, err);
	case KEYED_SET_IV:
		cipher_begin(&s->cipher, job->iv);
		return 0;
	case KEYED_CIPHER_BUFFER:
		cipher_update(&s->cipher, s->head.in, s->head.out, job->len);
		return 0;
	case KEYED_PREPARE:
		break;
	}
	return portable_arrange(k, job, step, err);
}

extern const struct keyed_backend keyed_c;

const struct keyed_backend keyed_c = {
	.name = "c",
	.open = portable_open,
	.close = portable_close,
	.set_up = portable_set_up,
	.message = portable_message,
	.arrange = portable_arrange,
	.step = portable_step,
};
