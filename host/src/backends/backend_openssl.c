/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `openssl`: libcrypto's EVP interface, opened at run time; 3.x and 1.1. Its
 * few prototypes stand here (manual pages EVP_MD_fetch(3), EVP_DigestInit(3)),
 * so that no headers are needed to build.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "libcrypto.h"

typedef struct evp_md_st EVP_MD;
typedef struct evp_md_ctx_st EVP_MD_CTX;

static struct {
	pthread_once_t once;
	void *handle;
	const char *name; /* NULL: not loaded, and why: */
	char why[160];

	EVP_MD *(*md_fetch)(void *lib, const char *name, const char *query);
	void (*md_free)(EVP_MD *md);
	const EVP_MD *(*get_digestbyname)(const char *name);
	EVP_MD_CTX *(*ctx_new)(void);
	void (*ctx_free)(EVP_MD_CTX *ctx);
	int (*init)(EVP_MD_CTX *ctx, const EVP_MD *md, void *engine);
	int (*update)(EVP_MD_CTX *ctx, const void *data, size_t len);
	int (*final)(EVP_MD_CTX *ctx, unsigned char *out, unsigned *len);
	const char *(*version)(int type);
} crypto = { .once = PTHREAD_ONCE_INIT };

static void crypto_load(void)
{
	static const char *const names[] = { "libcrypto.so.3",
					     "libcrypto.so.1.1" };
	struct {
		const char *name;
		void *function; /* address of a function pointer */
		int needed;
	} const symbols[] = {
		{ "EVP_MD_fetch", &crypto.md_fetch, 0 }, /* 3.0 */
		{ "EVP_MD_free", &crypto.md_free, 0 },   /* 3.0 */
		{ "EVP_get_digestbyname", &crypto.get_digestbyname, 1 },
		{ "EVP_MD_CTX_new", &crypto.ctx_new, 1 },
		{ "EVP_MD_CTX_free", &crypto.ctx_free, 1 },
		{ "EVP_DigestInit_ex", &crypto.init, 1 },
		{ "EVP_DigestUpdate", &crypto.update, 1 },
		{ "EVP_DigestFinal_ex", &crypto.final, 1 },
		{ "OpenSSL_version", &crypto.version, 1 },
	};
	const char *name = NULL;

	for (size_t i = 0; !crypto.handle && i < sizeof(names) / sizeof(*names);
	     i++) {
		name = names[i];
		crypto.handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
		if (!crypto.handle && i == 0) {
			const char *why = dlerror();

			snprintf(crypto.why, sizeof(crypto.why), "%s",
				 why ? why : "dlopen() failed");
		}
	}
	if (!crypto.handle)
		return;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		void *symbol = dlsym(crypto.handle, symbols[i].name);

		if (!symbol && symbols[i].needed) {
			snprintf(crypto.why, sizeof(crypto.why), "%s has no %s",
				 name, symbols[i].name);
			return;
		}
		/* POSIX lets a function's address pass through a void *. */
		memcpy(symbols[i].function, &symbol, sizeof(symbol));
	}
	crypto.name = name;
}

void *libcrypto_handle(struct error *err)
{
	pthread_once(&crypto.once, crypto_load);
	if (crypto.name)
		return crypto.handle;
	error_skip(err, -ENOENT, "no-libcrypto", "cannot load libcrypto: %s",
		   crypto.why);
	error_hint(err, "install OpenSSL's library (package libssl3)");
	return NULL;
}

const char *libcrypto_version(void)
{
	return libcrypto_handle(NULL) ? crypto.version(0) : NULL;
}

struct session {
	EVP_MD_CTX *ctx;
	/* Fetched once each, for a fetch costs more than a short digest. */
	const EVP_MD *md[64];
	const struct algorithm *stream;
};

static int openssl_probe(struct error *err)
{
	return libcrypto_handle(err) ? 0 : -ENOENT;
}

static void openssl_close(struct session *s)
{
	if (!s)
		return;
	if (s->ctx)
		crypto.ctx_free(s->ctx);
	if (crypto.md_fetch && crypto.md_free)
		for (size_t i = 0; i < sizeof(s->md) / sizeof(*s->md); i++)
			crypto.md_free((EVP_MD *)s->md[i]);
	free(s);
}

static int openssl_open(struct session **session, struct error *err)
{
	struct session *s;
	int ret = openssl_probe(err);

	*session = NULL;
	if (ret)
		return ret;
	s = calloc(1, sizeof(*s));
	if (s)
		s->ctx = crypto.ctx_new();
	if (!s || !s->ctx) {
		openssl_close(s);
		return error_set(err, -ENOMEM, "out of memory");
	}
	*session = s;
	return 0;
}

static const EVP_MD *find_md(struct session *s, const struct algorithm *alg)
{
	if (alg->id >= sizeof(s->md) / sizeof(*s->md) || !alg->evp)
		return NULL;
	if (!s->md[alg->id])
		s->md[alg->id] = crypto.md_fetch && crypto.md_free ?
					 crypto.md_fetch(NULL, alg->evp, NULL) :
					 crypto.get_digestbyname(alg->evp);
	return s->md[alg->id];
}

static int openssl_supports(struct session *s, const struct algorithm *alg,
			    struct error *err)
{
	s->stream = NULL;
	if (alg->class == ALG_DIGEST && find_md(s, alg))
		return 0;
	return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
			  "%s has no %s", crypto.name, alg->title);
}

static int failed(struct error *err, const struct algorithm *alg)
{
	return error_set(err, -EIO, "libcrypto failed to compute %s",
			 alg->title);
}

static int openssl_digest(struct session *s, const struct algorithm *alg,
			  const struct buffer *in, size_t offset, size_t len,
			  uint8_t *out, uint32_t repeat, struct error *err)
{
	const EVP_MD *md = find_md(s, alg);

	if (!md)
		return openssl_supports(s, alg, err);
	s->stream = NULL;
	for (uint32_t i = 0; i < repeat; i++)
		if (crypto.init(s->ctx, md, NULL) != 1 ||
		    crypto.update(s->ctx, in->data + offset, len) != 1 ||
		    crypto.final(s->ctx, out, NULL) != 1)
			return failed(err, alg);
	return 0;
}

static int openssl_digest_init(struct session *s, const struct algorithm *alg,
			       struct error *err)
{
	int ret = openssl_supports(s, alg, err);

	if (ret)
		return ret;
	if (crypto.init(s->ctx, find_md(s, alg), NULL) != 1)
		return failed(err, alg);
	s->stream = alg;
	return 0;
}

static int openssl_digest_update(struct session *s, const struct buffer *in,
				 size_t offset, size_t len, struct error *err)
{
	if (!s->stream)
		return error_set(err, -EPROTO, "no message was begun");
	if (crypto.update(s->ctx, in->data + offset, len) != 1)
		return failed(err, s->stream);
	return 0;
}

static int openssl_digest_final(struct session *s, const struct buffer *in,
				size_t offset, size_t len, uint8_t *out,
				struct error *err)
{
	const struct algorithm *alg = s->stream;
	int ret = 0;

	if (in && len)
		ret = openssl_digest_update(s, in, offset, len, err);
	else if (!alg)
		ret = error_set(err, -EPROTO, "no message was begun");
	if (!ret && crypto.final(s->ctx, out, NULL) != 1)
		ret = failed(err, alg);
	s->stream = NULL;
	return ret;
}

extern const struct backend backend_openssl;

const struct backend backend_openssl = {
	.name = "openssl",
	.summary = "OpenSSL's libcrypto, in the normal world",
	.probe = openssl_probe,
	.open = openssl_open,
	.close = openssl_close,
	.supports = openssl_supports,
	.buffer_alloc = buffer_alloc_plain,
	.buffer_free = buffer_free_plain,
	.digest = openssl_digest,
	.digest_init = openssl_digest_init,
	.digest_update = openssl_digest_update,
	.digest_final = openssl_digest_final,
};
