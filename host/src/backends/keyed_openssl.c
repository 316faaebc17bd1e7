/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `openssl` for ciphers, AEADs and HMACs: libcrypto's EVP and HMAC
 * interfaces, opened at run time; 3.x and 1.1. Its few prototypes stand here
 * (manual pages EVP_EncryptInit(3), HMAC(3)).
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "keyed.h"
#include "libcrypto.h"

typedef struct evp_cipher_st EVP_CIPHER;
typedef struct evp_cipher_ctx_st EVP_CIPHER_CTX;
typedef struct evp_md_st EVP_MD;
typedef struct hmac_ctx_st HMAC_CTX;

/* EVP_CTRL_AEAD_* of evp.h */
enum { CTRL_SET_IVLEN = 0x9, CTRL_GET_TAG = 0x10, CTRL_SET_TAG = 0x11 };

static struct {
	pthread_once_t once;
	char missing[48]; /* a symbol that is needed and not there */

	EVP_CIPHER *(*fetch)(void *lib, const char *name, const char *query);
	void (*cipher_free)(EVP_CIPHER *cipher);
	const EVP_CIPHER *(*by_name)(const char *name);
	EVP_CIPHER_CTX *(*ctx_new)(void);
	void (*ctx_free)(EVP_CIPHER_CTX *ctx);
	int (*ctx_reset)(EVP_CIPHER_CTX *ctx);
	int (*set_padding)(EVP_CIPHER_CTX *ctx, int padding);
	int (*ctrl)(EVP_CIPHER_CTX *ctx, int type, int arg, void *ptr);
	int (*init)(EVP_CIPHER_CTX *ctx, const EVP_CIPHER *cipher, void *engine,
		    const unsigned char *key, const unsigned char *iv, int enc);
	int (*update)(EVP_CIPHER_CTX *ctx, unsigned char *out, int *out_len,
		      const unsigned char *in, int in_len);
	int (*final)(EVP_CIPHER_CTX *ctx, unsigned char *out, int *out_len);
	/* Deprecated since 3.0, and may go. */
	HMAC_CTX *(*hmac_new)(void);
	void (*hmac_free)(HMAC_CTX *ctx);
	int (*hmac_init)(HMAC_CTX *ctx, const void *key, int len,
			 const EVP_MD *md, void *engine);
	int (*hmac_update)(HMAC_CTX *ctx, const unsigned char *data,
			   size_t len);
	int (*hmac_final)(HMAC_CTX *ctx, unsigned char *out, unsigned *len);
	const EVP_MD *(*md_by_name)(const char *name);
} evp = { .once = PTHREAD_ONCE_INIT };

static void evp_load(void)
{
	struct {
		const char *name;
		void *function; /* address of a function pointer */
		bool needed;
	} const symbols[] = {
		{ "EVP_CIPHER_fetch", &evp.fetch, false },      /* 3.0 */
		{ "EVP_CIPHER_free", &evp.cipher_free, false }, /* 3.0 */
		{ "EVP_get_cipherbyname", &evp.by_name, true },
		{ "EVP_CIPHER_CTX_new", &evp.ctx_new, true },
		{ "EVP_CIPHER_CTX_free", &evp.ctx_free, true },
		{ "EVP_CIPHER_CTX_reset", &evp.ctx_reset, true },
		{ "EVP_CIPHER_CTX_set_padding", &evp.set_padding, true },
		{ "EVP_CIPHER_CTX_ctrl", &evp.ctrl, true },
		{ "EVP_CipherInit_ex", &evp.init, true },
		{ "EVP_CipherUpdate", &evp.update, true },
		{ "EVP_CipherFinal_ex", &evp.final, true },
		{ "HMAC_CTX_new", &evp.hmac_new, false },
		{ "HMAC_CTX_free", &evp.hmac_free, false },
		{ "HMAC_Init_ex", &evp.hmac_init, false },
		{ "HMAC_Update", &evp.hmac_update, false },
		{ "HMAC_Final", &evp.hmac_final, false },
		{ "EVP_get_digestbyname", &evp.md_by_name, true },
	};
	void *handle = libcrypto_handle(NULL);

	for (size_t i = 0; handle && i < sizeof(symbols) / sizeof(*symbols);
	     i++) {
		void *symbol = dlsym(handle, symbols[i].name);

		if (!symbol && symbols[i].needed)
			snprintf(evp.missing, sizeof(evp.missing), "%s",
				 symbols[i].name);
		/* POSIX lets a function's address pass through a void *. */
		memcpy(symbols[i].function, &symbol, sizeof(symbol));
	}
}

struct openssl {
	struct keyed head;
	EVP_CIPHER_CTX *ctx;
	HMAC_CTX *hmac;
	/* Fetched once each, for a fetch costs more than a short message. */
	const EVP_CIPHER *ciphers[64];
};

static void openssl_close(struct keyed *k)
{
	struct openssl *s = (struct openssl *)k;

	if (!s)
		return;
	if (s->ctx)
		evp.ctx_free(s->ctx);
	if (s->hmac)
		evp.hmac_free(s->hmac);
	if (evp.fetch && evp.cipher_free)
		for (size_t i = 0; i < sizeof(s->ciphers) / sizeof(*s->ciphers);
		     i++)
			evp.cipher_free((EVP_CIPHER *)s->ciphers[i]);
	keyed_memory_free(k);
	free(s);
}

static int openssl_open(struct keyed **k, size_t size, struct error *err)
{
	struct openssl *s;
	int ret;

	*k = NULL;
	if (!libcrypto_handle(err))
		return -ENOENT;
	pthread_once(&evp.once, evp_load);
	if (evp.missing[0])
		return error_skip(err, -ENOENT, "no-libcrypto",
				  "libcrypto has no %s", evp.missing);
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->ctx = evp.ctx_new();
	ret = s->ctx ? keyed_memory(&s->head, size, err) :
		       error_set(err, -ENOMEM, "out of memory");
	if (ret)
		openssl_close(&s->head);
	else
		*k = &s->head;
	return ret;
}

static int failed(struct error *err, const struct keyed_job *job,
		  const char *what)
{
	return error_set(err, -EIO, "libcrypto fails to %s for %s", what,
			 job->alg->title);
}

static const EVP_CIPHER *find_cipher(struct openssl *s,
				     const struct algorithm *alg)
{
	if (alg->id >= sizeof(s->ciphers) / sizeof(*s->ciphers) || !alg->evp)
		return NULL;
	if (!s->ciphers[alg->id])
		s->ciphers[alg->id] = evp.fetch && evp.cipher_free ?
					      evp.fetch(NULL, alg->evp, NULL) :
					      evp.by_name(alg->evp);
	return s->ciphers[alg->id];
}

static int unsupported(const struct keyed_job *job, struct error *err)
{
	return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
			  "libcrypto has no %s", job->alg->title);
}

static int set_up_mac(struct openssl *s, const struct keyed_job *job,
		      struct error *err)
{
	const EVP_MD *md = evp.md_by_name(job->alg->evp);

	if (!evp.hmac_new || !evp.hmac_free || !evp.hmac_init ||
	    !evp.hmac_update || !evp.hmac_final || !md)
		return unsupported(job, err);
	if (!s->hmac)
		s->hmac = evp.hmac_new();
	if (!s->hmac || evp.hmac_init(s->hmac, job->key, job->alg->key_bytes,
				      md, NULL) != 1)
		return failed(err, job, "set the key");
	return 0;
}

static int prepare(struct openssl *s, const struct keyed_job *job,
		   struct error *err)
{
	const EVP_CIPHER *cipher = find_cipher(s, job->alg);

	if (!cipher)
		return unsupported(job, err);
	if (evp.ctx_reset(s->ctx) != 1 ||
	    evp.init(s->ctx, cipher, NULL, NULL, NULL, !job->decrypt) != 1 ||
	    evp.set_padding(s->ctx, 0) != 1)
		return failed(err, job, "prepare");
	if (job->alg->class == ALG_AEAD &&
	    evp.ctrl(s->ctx, CTRL_SET_IVLEN, job->alg->iv_bytes, NULL) != 1)
		return failed(err, job, "set the nonce's length");
	return 0;
}

static int set_key(struct openssl *s, const struct keyed_job *job,
		   struct error *err)
{
	return evp.init(s->ctx, NULL, NULL, job->key, NULL, -1) == 1 ?
		       0 :
		       failed(err, job, "set the key");
}

static int set_iv(struct openssl *s, const struct keyed_job *job,
		  struct error *err)
{
	return evp.init(s->ctx, NULL, NULL, NULL,
			job->alg->iv_bytes ? job->iv : NULL, -1) == 1 ?
		       0 :
		       failed(err, job, "set the IV");
}

static int cipher_buffer(struct openssl *s, const struct keyed_job *job,
			 size_t len, struct error *err)
{
	int done = 0;

	if (evp.update(s->ctx, s->head.out, &done, s->head.in, (int)len) != 1)
		return failed(err, job, "go on with the message");
	if ((size_t)done != len)
		return error_set(err, -EIO,
				 "libcrypto returned %d of %zu bytes", done,
				 len);
	return 0;
}

static int openssl_set_up(struct keyed *k, const struct keyed_job *job,
			  struct error *err)
{
	struct openssl *s = (struct openssl *)k;
	int ret;

	if (job->alg->class == ALG_MAC)
		return set_up_mac(s, job, err);
	if (job->alg->class != ALG_CIPHER && job->alg->class != ALG_AEAD)
		return unsupported(job, err);
	ret = prepare(s, job, err);
	if (!ret)
		ret = set_key(s, job, err);
	return ret;
}

static int one_mac(struct openssl *s, const struct keyed_job *job,
		   struct error *err)
{
	if (evp.hmac_init(s->hmac, NULL, 0, NULL, NULL) != 1 ||
	    evp.hmac_update(s->hmac, s->head.in, job->len) != 1 ||
	    evp.hmac_final(s->hmac, s->head.out, NULL) != 1)
		return failed(err, job, "compute the MAC");
	return 0;
}

static int one_message(struct openssl *s, const struct keyed_job *job,
		       struct error *err)
{
	bool aead = job->alg->class == ALG_AEAD;
	int tag = job->alg->out_bytes;
	size_t len = job->decrypt ? keyed_result_len(job) : job->len;
	int rest = 0;
	int ret = set_iv(s, job, err);

	if (!ret && aead && job->decrypt &&
	    evp.ctrl(s->ctx, CTRL_SET_TAG, tag, s->head.in + len) != 1)
		ret = failed(err, job, "set the tag");
	if (!ret)
		ret = cipher_buffer(s, job, len, err);
	if (ret)
		return ret;
	if (evp.final(s->ctx, s->head.out + len, &rest) != 1) {
		if (!aead || !job->decrypt)
			return failed(err, job, "end the message");
		return error_set(err, -EBADMSG, "the tag of %s is wrong",
				 job->alg->title);
	}
	if (aead && !job->decrypt &&
	    evp.ctrl(s->ctx, CTRL_GET_TAG, tag, s->head.out + len) != 1)
		return failed(err, job, "get the tag");
	return 0;
}

static int openssl_message(struct keyed *k, const struct keyed_job *job,
			   uint32_t repeat, struct error *err)
{
	struct openssl *s = (struct openssl *)k;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < repeat; i++)
		ret = job->alg->class == ALG_MAC ? one_mac(s, job, err) :
						   one_message(s, job, err);
	return ret;
}

static size_t openssl_len_max(const struct keyed *k,
			      const struct keyed_job *job)
{
	(void)k;
	(void)job;
	return 1u << 30; /* lengths are int */
}

/* Its functions take the parameters themselves. */
static int openssl_arrange(struct keyed *k, const struct keyed_job *job,
			   enum keyed_step step, struct error *err)
{
	(void)k;
	(void)job;
	(void)step;
	(void)err;
	return 0;
}

static int openssl_step(struct keyed *k, const struct keyed_job *job,
			enum keyed_step step, struct error *err)
{
	struct openssl *s = (struct openssl *)k;

	switch (step) {
	case KEYED_PREPARE:
		return prepare(s, job, err);
	case KEYED_SET_KEY:
		return set_key(s, job, err);
	case KEYED_SET_IV:
		return set_iv(s, job, err);
	case KEYED_CIPHER_BUFFER:
		return cipher_buffer(s, job, job->len, err);
	}
	return error_set(err, -EINVAL, "no such step");
}

extern const struct keyed_backend keyed_openssl;

const struct keyed_backend keyed_openssl = {
	.name = "openssl",
	.open = openssl_open,
	.close = openssl_close,
	.set_up = openssl_set_up,
	.message = openssl_message,
	.len_max = openssl_len_max,
	.arrange = openssl_arrange,
	.step = openssl_step,
};
