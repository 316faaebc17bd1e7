/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libcrypto's EVP_PKEY interface, 3.0 and later, opened at run time. The prototypes it needs are
 * declared here (manual pages EVP_PKEY_fromdata(3), EVP_PKEY_sign(3), EVP_PKEY_derive(3),
 * EVP_DigestSignInit(3), OSSL_PARAM(3), EVP_PKEY-RSA(7), EVP_PKEY-EC(7), EVP_PKEY-X25519(7),
 * EVP_PKEY_encapsulate(3), EVP_PKEY-ML-KEM(7), EVP_PKEY-ML-DSA(7)); ML-KEM and ML-DSA need
 * libcrypto 3.5.
 *
 * OpenSSL encodes ECDSA signatures in ASN.1, a TEE as two numbers. This file uses two numbers and
 * converts them in ASYM_OPERATE, by a few hundred instructions. ASYM_PREPARE of a key agreement
 * imports the other side's public key, by 100,000 instructions for P-256.
 */

#include "openssl_asym.h"
#include "shared_library.h"

typedef struct evp_pkey_st EVP_PKEY;
typedef struct evp_pkey_ctx_st EVP_PKEY_CTX;
typedef struct evp_md_ctx_st EVP_MD_CTX;
typedef struct bignum_st BIGNUM;

/* The layout of OSSL_PARAM (core.h of OpenSSL). */
struct param {
	const char *key;
	unsigned type;
	void *data;
	size_t len, returned;
};

enum { UNSIGNED = 2, TEXT = 4, BYTES = 5 };     /* values of OSSL_PARAM_* in core.h */
enum { PUBLIC_KEY = 0x86, KEY_PAIR = 0x87 };    /* values of EVP_PKEY_* in evp.h */
enum { POINT_UNCOMPRESSED = 4, PARTS_MAX = 9 }; /* prefix in SEC 1, 2.3.3; most parts of a key */

typedef int init_function(EVP_PKEY_CTX *ctx, const struct param *params);
typedef int operate_function(EVP_PKEY_CTX *ctx, unsigned char *out, size_t *len,
			     const unsigned char *in, size_t in_len);

static struct {
#define F(type, name, symbol, parameters) type(*name) parameters;
#include "openssl_asym.inc"
#undef F
} evp;
static const struct symbol symbols[] = {
#define F(type, name, symbol, parameters) { #symbol, &evp.name, false },
#include "openssl_asym.inc"
	{ 0 },
};

static struct shared_library libcrypto = {
	.title = "libcrypto 3.0",
	.skip = "no-libcrypto",
	.hint = "install OpenSSL's library, 3.0 or later (package libssl3)",
	.names = (const char *const[]){ "libcrypto.so.3", NULL },
	.symbols = symbols,
};

static void drop_ctx(struct openssl_asym *a)
{
	evp.ctx_free(a->ctx);
	a->ctx = NULL;
}

static void drop_key(struct openssl_asym *a)
{
	drop_ctx(a);
	evp.free(a->key);
	a->key = NULL;
}

int openssl_asym_open(struct openssl_asym *a, struct error *err)
{
	int ret = shared_library_load(&libcrypto, err);

	if (ret)
		return ret;
	a->md_ctx = evp.md_new();
	return a->md_ctx ? 0 : error_memory(err);
}

void openssl_asym_close(struct openssl_asym *a)
{
	if (!libcrypto.name)
		return;
	drop_key(a);
	evp.free(a->peer);
	evp.ctx_free(a->maker);
	evp.md_free(a->md_ctx);
}

static int failed(struct error *err, const struct asym_job *job, const char *what)
{
	return error_set(err, -EIO, "libcrypto fails to %s for %s", what, job->alg->title);
}

/* Returns true if the message itself is signed, not its digest, as in EdDSA. */
static bool signs_message(const struct asym_job *job)
{
	return (job->use == ASYM_SIGN || job->use == ASYM_VERIFY) && !job->alg->digest_bytes;
}

static void add(struct param **next, const char *key, unsigned type, const void *data, size_t len)
{
	*(*next)++ = (struct param){ key, type, (void *)data, len, 0 };
}

static void add_text(struct param **next, const char *key, const char *text)
{
	add(next, key, TEXT, text, strlen(text));
}

/* Adds a big-endian number as a parameter in the host's byte order, stored at *room. */
static void add_number(struct param **next, const char *key, const uint8_t *data, size_t len,
		       uint8_t **room)
{
	uint8_t *turned = *room;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	for (size_t i = 0; i < len; i++)
		turned[i] = data[len - 1 - i];
#else
	memcpy(turned, data, len);
#endif
	*room += len;
	add(next, key, UNSIGNED, turned, len);
}

/* Lists the parts of a key in `next`; `numbers` and `point` hold the converted values. */
static void list_parts(const struct asym_algorithm *alg, const uint8_t *data, size_t len,
		       struct param *next, uint8_t *numbers, uint8_t *point)
{
	static const char *const factors[] = {
		"rsa-factor1", "rsa-factor2", "rsa-exponent1", "rsa-exponent2", "rsa-coefficient1",
	};
	size_t n = alg->value_bytes, at = asym_public_bytes(alg);

	if (alg->kind == ASYM_RSA) {
		add_number(&next, "n", data, n, &numbers);
		add_number(&next, "e", data + n, ASYM_EXPONENT_BYTES, &numbers);
		if (len > at)
			add_number(&next, "d", data + at, n, &numbers);
		at += n;
		for (size_t i = 0; at < len && i < 5; i++, at += n / 2)
			add_number(&next, factors[i], data + at, n / 2, &numbers);
	} else if (alg->kind == ASYM_EC) {
		*point = POINT_UNCOMPRESSED;
		memcpy(point + 1, data, at);
		add_text(&next, "group", alg->group);
		add(&next, "pub", BYTES, point, at + 1);
		if (len > at)
			add_number(&next, "priv", data + at, n, &numbers);
	} else {
		add(&next, "pub", BYTES, data, at);
		if (len > at)
			add(&next, alg->kind == ASYM_SEED ? "seed" : "priv", BYTES, data + at,
			    len - at);
	}
}

static int make_key(struct openssl_asym *a, const struct asym_job *job, const uint8_t *data,
		    size_t len, EVP_PKEY **key, struct error *err)
{
	uint8_t numbers[ASYM_PUBLIC_MAX_BYTES + ASYM_PRIVATE_MAX_BYTES];
	uint8_t point[ASYM_PUBLIC_MAX_BYTES + 1];
	struct param params[PARTS_MAX] = { 0 };
	bool private = len > asym_public_bytes(job->alg);
	int ok;

	evp.free(*key);
	*key = NULL;
	list_parts(job->alg, data, len, params, numbers, point);
	ok = evp.fromdata_init(a->maker) == 1 &&
	     evp.fromdata(a->maker, key, private ? KEY_PAIR : PUBLIC_KEY, params) == 1;
	memset(numbers, 0, sizeof(numbers));
	return ok ? 0 : failed(err, job, "import a key");
}

static int allocate(struct openssl_asym *a, const struct asym_job *job, struct error *err)
{
	drop_key(a);
	evp.ctx_free(a->maker);
	a->maker = evp.by_name(NULL, job->alg->evp, NULL);
	return a->maker ? 0 :
			  error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
				     "libcrypto has no %s", job->alg->title);
}

static int prepare(struct openssl_asym *a, const struct asym_job *job, struct error *err)
{
	init_function *const init[ASYM_USES] = {
		[ASYM_SIGN] = evp.sign_init,
		[ASYM_VERIFY] = evp.verify_init,
		[ASYM_DERIVE] = evp.derive_init,
		[ASYM_ENCRYPT] = evp.encrypt_init,
		[ASYM_DECRYPT] = evp.decrypt_init,
		[ASYM_ENCAPSULATE] = evp.encapsulate_init,
		[ASYM_DECAPSULATE] = evp.decapsulate_init,
	};
	const struct asym_algorithm *alg = job->alg;
	struct param params[PARTS_MAX] = { 0 }, *next = params;

	drop_ctx(a);
	if (signs_message(job)) {
		/* A context that was used keeps its old key, even if it is given another. */
		evp.md_free(a->md_ctx);
		a->md_ctx = evp.md_new();
		return a->md_ctx ? 0 : failed(err, job, "prepare");
	}
	a->ctx = evp.by_key(NULL, a->key, NULL);
	if (alg->padding[0])
		add_text(&next, "pad-mode", alg->padding);
	if (alg->digest[0])
		add_text(&next, "digest", alg->digest);
	if (!strcmp(alg->padding, "pss"))
		add_text(&next, "saltlen", "digest");
	if (!a->ctx || init[job->use](a->ctx, params) != 1)
		return failed(err, job, "prepare");
	return job->use == ASYM_DERIVE ?
		       make_key(a, job, job->in->data, job->in_len, &a->peer, err) :
		       0;
}

/* Writes a number as an ASN.1 INTEGER without leading zeros; returns the end of it. */
static uint8_t *put_integer(uint8_t *at, const uint8_t *number, size_t len)
{
	while (len > 1 && !*number) {
		number++;
		len--;
	}
	*at++ = 0x02;
	*at++ = (uint8_t)(len + (*number >> 7));
	if (*number >> 7)
		*at++ = 0;
	memcpy(at, number, len);
	return at + len;
}

/* Writes an ECDSA signature, two numbers of n bytes each, in ASN.1; returns the length in bytes. */
static size_t to_asn1(uint8_t *out, const uint8_t *numbers, size_t n)
{
	uint8_t body[ASYM_IN_MAX_BYTES];
	uint8_t *end = put_integer(put_integer(body, numbers, n), numbers + n, n);
	size_t len = (size_t)(end - body), head = 0;

	out[head++] = 0x30;
	if (len > 127)
		out[head++] = 0x81;
	out[head++] = (uint8_t)len;
	memcpy(out + head, body, len);
	return head + len;
}

/* Converts an ASN.1 signature to two numbers of n bytes; returns false if it isn't well-formed. */
static bool from_asn1(uint8_t *numbers, size_t n, const uint8_t *in, size_t len)
{
	size_t at = len > 1 && in[1] == 0x81 ? 3 : 2;

	memset(numbers, 0, 2 * n);
	for (size_t i = 0; i < 2; i++) {
		size_t bytes;

		if (at + 2 > len || in[at] != 0x02 || at + 2 + in[at + 1] > len)
			return false;
		bytes = in[at + 1];
		at += 2;
		if (bytes && !in[at]) {
			bytes--;
			at++;
		}
		if (bytes > n)
			return false;
		memcpy(numbers + i * n + n - bytes, in + at, bytes);
		at += bytes;
	}
	return at == len;
}

/* Begins signing or verifying. Returns the message (*len bytes); NULL: libcrypto fails. */
static const uint8_t *begin(struct openssl_asym *a, const struct asym_job *job, size_t *len)
{
	size_t at = job->alg->kind == ASYM_SEED ? ASYM_CONTEXT_BYTES : 0;
	const struct param with[] = { { "context-string", BYTES, job->in->data, at, 0 }, { 0 } };
	int ok = (job->use == ASYM_SIGN ? evp.md_sign_init :
					  evp.md_verify_init)(a->md_ctx, NULL, NULL, NULL, NULL,
							      a->key, at ? with : NULL);

	*len = job->in_len - at;
	return ok == 1 ? job->in->data + at : NULL;
}

static int sign(struct openssl_asym *a, struct asym_job *job, struct error *err)
{
	const struct asym_algorithm *alg = job->alg;
	uint8_t *out = job->out->data, asn1[ASYM_IN_MAX_BYTES];
	bool ec = alg->kind == ASYM_EC;
	size_t len = ec ? sizeof(asn1) : ASYM_MAX_BYTES, in_len;
	const uint8_t *message;
	int ok;

	if (signs_message(job))
		ok = (message = begin(a, job, &in_len)) &&
		     evp.md_sign(a->md_ctx, out, &len, message, in_len) == 1;
	else
		ok = evp.sign(a->ctx, ec ? asn1 : out, &len, job->in->data, job->in_len) == 1;
	if (ok && ec) {
		ok = from_asn1(out, alg->value_bytes, asn1, len);
		len = 2u * alg->value_bytes;
	}
	job->out_len = len;
	return ok ? 0 : failed(err, job, "sign");
}

static int verify(struct openssl_asym *a, const struct asym_job *job, struct error *err)
{
	const uint8_t *signature = job->out->data;
	uint8_t asn1[ASYM_IN_MAX_BYTES];
	const uint8_t *message;
	size_t len = job->out_len, in_len;
	int ok;

	if (len != job->alg->out_bytes)
		return error_set(err, -EINVAL, "no signature of %s has %zu bytes", job->alg->title,
				 len);
	if (job->alg->kind == ASYM_EC) {
		len = to_asn1(asn1, signature, job->alg->value_bytes);
		signature = asn1;
	}
	if (signs_message(job))
		ok = (message = begin(a, job, &in_len)) &&
		     evp.md_verify(a->md_ctx, signature, len, message, in_len) == 1;
	else
		ok = evp.verify(a->ctx, signature, len, job->in->data, job->in_len) == 1;
	return ok ? 0 :
		    error_set(err, -EBADMSG, "libcrypto refuses a signature of %s",
			      job->alg->title);
}

static int operate(struct openssl_asym *a, struct asym_job *job, struct error *err)
{
	operate_function *function = job->use == ASYM_DECRYPT     ? evp.decrypt :
				     job->use == ASYM_DECAPSULATE ? evp.decapsulate :
								    evp.encrypt;
	uint8_t *out = job->out->data;
	size_t *len = &job->out_len, secret_len = ASYM_SECRET_BYTES;
	int ok;

	if (job->use == ASYM_SIGN)
		return sign(a, job, err);
	if (job->use == ASYM_VERIFY)
		return verify(a, job, err);
	*len = ASYM_MAX_BYTES;
	if (job->use == ASYM_DERIVE)
		ok = evp.set_peer(a->ctx, a->peer) == 1 && evp.derive(a->ctx, out, len) == 1;
	else if (job->use == ASYM_ENCAPSULATE)
		ok = evp.encapsulate(a->ctx, out, len, out + job->alg->out_bytes, &secret_len) == 1;
	else
		ok = function(a->ctx, out, len, job->in->data, job->in_len) == 1;
	if (ok && job->use == ASYM_ENCAPSULATE)
		*len += secret_len;
	return ok ? 0 :
		    failed(err, job,
			   job->use == ASYM_DERIVE ? "agree on a key" : "encrypt or decrypt");
}

int openssl_asym_step(struct session *s, struct asym_job *job, enum asym_step step,
		      struct error *err)
{
	struct openssl_asym *a = (struct openssl_asym *)s;

	if (step == ASYM_ALLOCATE)
		return allocate(a, job, err);
	if (step == ASYM_PREPARE)
		return prepare(a, job, err);
	if (step == ASYM_OPERATE)
		return operate(a, job, err);
	drop_ctx(a);
	return make_key(a, job, asym_key_in(job), job->key_len, &a->key, err);
}

int openssl_asym_generate(struct session *s, const struct asym_job *job, struct error *err)
{
	struct openssl_asym *a = (struct openssl_asym *)s;
	struct param params[PARTS_MAX] = { 0 }, *next = params;
	size_t bits = job->alg->bits;

	drop_key(a);
	if (job->alg->kind == ASYM_RSA)
		add(&next, "bits", UNSIGNED, &bits, sizeof(bits));
	else if (job->alg->kind == ASYM_EC)
		add_text(&next, "group", job->alg->group);
	if (evp.keygen_init(a->maker) != 1 ||
	    (next != params && evp.set_params(a->maker, params) != 1) ||
	    evp.generate(a->maker, &a->key) != 1)
		return failed(err, job, "generate a key");
	return 0;
}

static bool get_number(const EVP_PKEY *key, const char *name, uint8_t *out, size_t len)
{
	BIGNUM *number = NULL;
	bool ok = evp.get_number(key, name, &number) == 1 &&
		  evp.number_bytes(number, out, (int)len) == (int)len;

	evp.number_free(number);
	return ok;
}

int openssl_asym_public_key(struct session *s, const struct asym_job *job, uint8_t *out,
			    struct error *err)
{
	struct openssl_asym *a = (struct openssl_asym *)s;
	size_t n = job->alg->value_bytes, len = 0;
	uint8_t point[ASYM_PUBLIC_MAX_BYTES + 1];
	bool ok;

	if (job->alg->kind == ASYM_RSA)
		ok = get_number(a->key, "n", out, n) &&
		     get_number(a->key, "e", out + n, ASYM_EXPONENT_BYTES);
	else if (job->alg->kind != ASYM_EC)
		ok = evp.get_bytes(a->key, "pub", out, n, &len) == 1;
	else
		ok = evp.get_bytes(a->key, "pub", point, sizeof(point), &len) == 1 &&
		     len == 2 * n + 1 && memcpy(out, point + 1, 2 * n);
	return ok ? 0 : failed(err, job, "tell a public key");
}
