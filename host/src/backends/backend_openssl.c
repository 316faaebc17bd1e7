/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The backend `openssl` uses libcrypto's EVP and HMAC interfaces, 3.x and 1.1, opened at run time.
 * The prototypes it needs are declared here (manual pages EVP_DigestInit(3), EVP_EncryptInit(3),
 * HMAC(3), RAND_bytes(3)), so no OpenSSL headers are needed to build.
 */

#include "cpu.h"
#include "openssl_asym.h"
#include "shared_library.h"

typedef struct evp_md_st EVP_MD;
typedef struct evp_md_ctx_st EVP_MD_CTX;
typedef struct evp_cipher_st EVP_CIPHER;
typedef struct evp_cipher_ctx_st EVP_CIPHER_CTX;
typedef struct hmac_ctx_st HMAC_CTX;

/* values of EVP_CTRL_AEAD_* in evp.h */
enum { CTRL_SET_IVLEN = 0x9, CTRL_GET_TAG = 0x10, CTRL_SET_TAG = 0x11 };

enum { REQUIRED, OPTIONAL };
static struct {
#define F(type, name, symbol, optional, parameters) type(*name) parameters;
#include "backend_openssl.inc"
#undef F
} evp;
static const struct symbol symbols[] = {
#define F(type, name, symbol, optional, parameters) { #symbol, &evp.name, optional },
#include "backend_openssl.inc"
	{ 0 },
};

static struct shared_library libcrypto = {
	.title = "libcrypto",
	.skip = "no-libcrypto",
	.hint = "install OpenSSL's library (package libssl3)",
	.names = (const char *const[]){ "libcrypto.so.3", "libcrypto.so.1.1", NULL },
	.symbols = symbols,
};

const char *libcrypto_version(struct error *err)
{
	return shared_library_load(&libcrypto, err) ? NULL : evp.version(0);
}

enum { IDS = 64 }; /* larger than any algorithm's id */

struct session {
	struct openssl_asym asym; /* first, because openssl_asym.c casts the session to it */
	EVP_MD_CTX *md_ctx;
	EVP_CIPHER_CTX *ctx;
	HMAC_CTX *hmac; /* made on first use */
	/* Each is fetched only once: a fetch takes longer than hashing a short message. */
	const EVP_MD *mds[IDS];
	const EVP_CIPHER *ciphers[IDS];
	const struct algorithm *stream; /* algorithm of the digest under way */
};

extern const struct backend backend_openssl;

static int openssl_probe(struct error *err)
{
	return shared_library_load(&libcrypto, err);
}

static void openssl_close(struct session *s)
{
	evp.md_ctx_free(s->md_ctx);
	evp.ctx_free(s->ctx);
	if (s->hmac)
		evp.hmac_free(s->hmac);
	openssl_asym_close(&s->asym);
	for (size_t i = 0; i < IDS; i++) {
		if (evp.md_fetch && evp.md_free)
			evp.md_free((EVP_MD *)s->mds[i]);
		if (evp.fetch && evp.cipher_free)
			evp.cipher_free((EVP_CIPHER *)s->ciphers[i]);
	}
}

static int openssl_open(struct session *s, const struct backend *self, enum backend_use use,
			struct error *err)
{
	s->md_ctx = evp.md_ctx_new();
	s->ctx = evp.ctx_new();
	if (!s->md_ctx || !s->ctx)
		return error_memory(err);
	return use == USE_ASYM ? openssl_asym_open(&s->asym, err) : 0;
}

static const EVP_MD *find_md(struct session *s, const struct algorithm *alg)
{
	if (alg->id >= IDS || !alg->evp)
		return NULL;
	if (!s->mds[alg->id])
		s->mds[alg->id] = evp.md_fetch && evp.md_free ? evp.md_fetch(NULL, alg->evp, NULL) :
								evp.md_by_name(alg->evp);
	return s->mds[alg->id];
}

static const EVP_CIPHER *find_cipher(struct session *s, const struct algorithm *alg)
{
	if (alg->id >= IDS || !alg->evp)
		return NULL;
	if (!s->ciphers[alg->id])
		s->ciphers[alg->id] = evp.fetch && evp.cipher_free ?
					      evp.fetch(NULL, alg->evp, NULL) :
					      evp.by_name(alg->evp);
	return s->ciphers[alg->id];
}

static int failed(struct error *err, const struct algorithm *alg, const char *what)
{
	return error_set(err, -EIO, "libcrypto fails to %s for %s", what, alg->title);
}

static int openssl_digest(struct session *s, const struct algorithm *alg, const struct buffer *in,
			  size_t len, uint8_t *out, uint32_t repeat, struct error *err)
{
	const EVP_MD *md = find_md(s, alg);

	if (!md)
		return backend_lacks(&backend_openssl, alg, err);
	for (uint32_t i = 0; i < repeat; i++)
		if (evp.md_init(s->md_ctx, md, NULL) != 1 ||
		    evp.md_update(s->md_ctx, in->data, len) != 1 ||
		    evp.md_final(s->md_ctx, out, NULL) != 1)
			return failed(err, alg, "compute the digest");
	return 0;
}

static int openssl_digest_init(struct session *s, const struct algorithm *alg, struct error *err)
{
	const EVP_MD *md = find_md(s, alg);

	if (!md)
		return backend_lacks(&backend_openssl, alg, err);
	s->stream = alg;
	return evp.md_init(s->md_ctx, md, NULL) == 1 ? 0 : failed(err, alg, "compute the digest");
}

static int openssl_digest_update(struct session *s, const struct buffer *in, size_t offset,
				 size_t len, struct error *err)
{
	if (evp.md_update(s->md_ctx, in->data + offset, len) != 1)
		return failed(err, s->stream, "compute the digest");
	return 0;
}

static int openssl_digest_final(struct session *s, const struct buffer *in, size_t offset,
				size_t len, uint8_t *out, struct error *err)
{
	if ((len && evp.md_update(s->md_ctx, in->data + offset, len) != 1) ||
	    evp.md_final(s->md_ctx, out, NULL) != 1)
		return failed(err, s->stream, "compute the digest");
	return 0;
}

static int set_up_mac(struct session *s, const struct keyed_job *job, struct error *err)
{
	const EVP_MD *md = find_md(s, job->alg);

	/* The HMAC functions are in libcrypto together, or all missing. */
	if (!evp.hmac_new || !md)
		return backend_lacks(&backend_openssl, job->alg, err);
	if (!s->hmac)
		s->hmac = evp.hmac_new();
	if (!s->hmac || evp.hmac_init(s->hmac, job->key, job->alg->key_bytes, md, NULL) != 1)
		return failed(err, job->alg, "set the key");
	return 0;
}

static int prepare(struct session *s, const struct keyed_job *job, struct error *err)
{
	const EVP_CIPHER *cipher = find_cipher(s, job->alg);

	if (!cipher)
		return backend_lacks(&backend_openssl, job->alg, err);
	if (evp.ctx_reset(s->ctx) != 1 ||
	    evp.init(s->ctx, cipher, NULL, NULL, NULL, !job->decrypt) != 1 ||
	    evp.set_padding(s->ctx, 0) != 1)
		return failed(err, job->alg, "prepare");
	if (job->alg->class == ALG_AEAD &&
	    evp.ctrl(s->ctx, CTRL_SET_IVLEN, job->alg->iv_bytes, NULL) != 1)
		return failed(err, job->alg, "set the nonce's length");
	return 0;
}

static int set_key(struct session *s, const struct keyed_job *job, struct error *err)
{
	return evp.init(s->ctx, NULL, NULL, job->key, NULL, -1) == 1 ?
		       0 :
		       failed(err, job->alg, "set the key");
}

static int set_iv(struct session *s, const struct keyed_job *job, struct error *err)
{
	return evp.init(s->ctx, NULL, NULL, NULL, job->alg->iv_bytes ? job->iv : NULL, -1) == 1 ?
		       0 :
		       failed(err, job->alg, "set the IV");
}

static int cipher_buffer(struct session *s, const struct keyed_job *job, size_t len,
			 struct error *err)
{
	int done = 0;

	if (evp.update(s->ctx, job->out->data, &done, job->in->data, (int)len) != 1)
		return failed(err, job->alg, "go on with the message");
	if ((size_t)done != len)
		return error_set(err, -EIO, "libcrypto returned %d of %zu bytes", done, len);
	return 0;
}

static int openssl_set_up(struct session *s, const struct keyed_job *job, struct error *err)
{
	int ret;

	if (job->alg->class == ALG_MAC)
		return set_up_mac(s, job, err);
	ret = prepare(s, job, err);
	return ret ? ret : set_key(s, job, err);
}

static int one_mac(struct session *s, const struct keyed_job *job, struct error *err)
{
	if (evp.hmac_init(s->hmac, NULL, 0, NULL, NULL) != 1 ||
	    evp.hmac_update(s->hmac, job->in->data, job->len) != 1 ||
	    evp.hmac_final(s->hmac, job->out->data, NULL) != 1)
		return failed(err, job->alg, "compute the MAC");
	return 0;
}

static int one_message(struct session *s, const struct keyed_job *job, struct error *err)
{
	bool aead = job->alg->class == ALG_AEAD;
	int tag = job->alg->out_bytes;
	size_t len = job->decrypt ? keyed_result_len(job) : job->len;
	int rest = 0;
	int ret = set_iv(s, job, err);

	if (!ret && aead && job->decrypt &&
	    evp.ctrl(s->ctx, CTRL_SET_TAG, tag, job->in->data + len) != 1)
		ret = failed(err, job->alg, "set the tag");
	if (!ret)
		ret = cipher_buffer(s, job, len, err);
	if (ret)
		return ret;
	if (evp.final(s->ctx, job->out->data + len, &rest) != 1) {
		if (!aead || !job->decrypt)
			return failed(err, job->alg, "end the message");
		return error_set(err, -EBADMSG, "the tag of %s is wrong", job->alg->title);
	}
	if (aead && !job->decrypt && evp.ctrl(s->ctx, CTRL_GET_TAG, tag, job->out->data + len) != 1)
		return failed(err, job->alg, "get the tag");
	return 0;
}

static int openssl_message(struct session *s, const struct keyed_job *job, uint32_t repeat,
			   struct error *err)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < repeat; i++)
		ret = job->alg->class == ALG_MAC ? one_mac(s, job, err) : one_message(s, job, err);
	return ret;
}

static size_t openssl_len_max(const struct session *s, const struct keyed_job *job)
{
	return 1u << 30; /* lengths in the EVP interface are ints */
}

static int openssl_step(struct session *s, const struct keyed_job *job, enum keyed_step step,
			struct error *err)
{
	if (step == KEYED_PREPARE)
		return prepare(s, job, err);
	if (step == KEYED_SET_KEY)
		return set_key(s, job, err);
	return step == KEYED_SET_IV ? set_iv(s, job, err) : cipher_buffer(s, job, job->len, err);
}

static int openssl_random(struct session *s, const struct buffer *out, size_t len, uint32_t repeat,
			  struct error *err)
{
	for (uint32_t i = 0; i < repeat; i++)
		if (evp.rand_bytes(out->data, (int)len) != 1)
			return error_set(err, -EIO, "RAND_bytes fails");
	return 0;
}

/*
 * Returns the environment variable, and its value, that keep OpenSSL from using the CPU's crypto
 * instructions. OPENSSL_armcap keeps only NEON; OPENSSL_ia32cap loses AES-NI, PCLMULQDQ and SHA-NI
 * (manual page OPENSSL_ia32cap(3); crypto/arm_arch.h).
 */
static const char *openssl_mask(const char **value)
{
	if (strstr(cpu_built_for(), "x86")) {
		*value = "~0x200000200000000:~0x20000000";
		return "OPENSSL_ia32cap";
	}
	*value = cpu_has(CPU_NEON) ? "1" : "0";
	return "OPENSSL_armcap";
}

const struct backend backend_openssl = {
	.name = "openssl",
	.title = "OpenSSL",
	.summary = "OpenSSL's libcrypto, in the normal world",
	.local = true,
	.may_offload = true,
	.mask = openssl_mask,
	.probe = openssl_probe,
	.uses = 1u << USE_DIGESTS | 1u << USE_KEYS | 1u << USE_RANDOM | 1u << USE_ASYM,
	.session_bytes = sizeof(struct session),
	.open = openssl_open,
	.close = openssl_close,
	.digest = openssl_digest,
	.digest_init = openssl_digest_init,
	.digest_update = openssl_digest_update,
	.digest_final = openssl_digest_final,
	.set_up = openssl_set_up,
	.message = openssl_message,
	.len_max = openssl_len_max,
	.step = openssl_step,
	.random = openssl_random,
	.asym_step = openssl_asym_step,
	.generate = openssl_asym_generate,
	.public_key = openssl_asym_public_key,
};
