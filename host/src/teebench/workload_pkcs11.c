/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkcs11/CALL/pkcs11/none: calls of a program to a PKCS #11 module, mostly an Init and the call
 * itself. The module is OP-TEE's libckteec, or the one that --pkcs11-module names.
 */

#include "clock.h"
#include "json.h"
#include "pkcs11.h"
#include "vectors.h"
#include "workload.h"

/* LAYER_CALLS: calls before the samples, in which the time spent in libteec is measured. */
enum { LAYER_CALLS = 4, FIND_MAX = 1000, SIGNATURE_BYTES = 64 };

static const char *const names[] = {
	"session",       "session-info", "random-32", "digest-sha256", "hmac-sha256",
	"aes-128-cbc",   "sign-init",    "sign-p256", "verify-p256",   "keypair-session",
	"keypair-token", "find-10",      "find-100",  "find-1000",     NULL,
};

/*
 * The calls, in the order of `names`. Their vectors: FIPS 180-4, "abc"; RFC 4231, 4.5, with its key
 * padded with zeros to the length that some modules want (HMAC pads it anyway); SP 800-38A, F.2.1.
 */
static const struct action {
	enum { OPEN, INFO, RANDOM, DIGEST, HMAC, AES, SIGN_INIT, SIGN, VERIFY, PAIR, FIND } what;
	unsigned objects; /* number of objects in the token, all to be found */
	bool in_token;    /* the key pair is stored in the token */
	const char *message, *answer, *secret;
} actions[] = {
	{ .what = OPEN },
	{ .what = INFO },
	{ .what = RANDOM },
	{ DIGEST, 0, false, "616263",
	  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", NULL },
	{ HMAC, 0, false,
	  "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"
	  "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd",
	  "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
	  "0102030405060708090a0b0c0d0e0f1011121314151617181900000000000000" },
	{ AES, 0, false, "6bc1bee22e409f96e93d7e117393172a", "7649abac8119b246cee98e9b12e9197d",
	  "2b7e151628aed2a6abf7158809cf4f3c" },
	{ .what = SIGN_INIT },
	{ .what = SIGN },
	{ .what = VERIFY },
	{ .what = PAIR },
	{ .what = PAIR, .in_token = true },
	{ .what = FIND, .objects = 10 },
	{ .what = FIND, .objects = 100 },
	{ .what = FIND, .objects = FIND_MAX },
};

struct p11_case {
	const struct action *is;
	bool opened, pair, begun;
	bool signed_once; /* `out` holds a signature to verify */
	ck session, public_key, private_key, secret;
	uint8_t in[64], out[256];
	size_t in_len;
	ck out_len;
	uint64_t total_ns;
	struct pkcs11_layers layers;
};

static unsigned char yes = 1, no;
/* The DER encoding of P-256's object identifier. */
static uint8_t p256[] = { 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7 };

static int p11_parse(struct bench_case *c, struct error *err)
{
	if (actions[c->name].what == PAIR)
		c->loops_max = 1; /* times vary: each sample is one key pair */
	return 0;
}

static ck make_pair(struct p11_case *k, unsigned char *in_token)
{
	struct ck_attribute public[] = { { CKA_EC_PARAMS, p256, sizeof(p256) },
					 { CKA_VERIFY, &yes, 1 },
					 { CKA_TOKEN, in_token, 1 } };
	struct ck_attribute private[] = { { CKA_SIGN, &yes, 1 },
					  { CKA_PRIVATE, &yes, 1 },
					  { CKA_TOKEN, in_token, 1 } };
	struct ck_mechanism how = { CKM_EC_KEY_PAIR_GEN, NULL, 0 };

	return p11.generate_pair(k->session, &how, public, 3, private, 3, &k->public_key,
				 &k->private_key);
}

static void drop_pair(struct p11_case *k)
{
	if (!k->pair)
		return;
	p11.destroy(k->session, k->public_key);
	p11.destroy(k->session, k->private_key);
	k->pair = false;
}

static ck make_secret(struct p11_case *k, ck type, uint8_t *value, size_t len)
{
	ck class = CKO_SECRET_KEY;
	struct ck_attribute list[] = {
		{ CKA_CLASS, &class, sizeof(class) },
		{ CKA_KEY_TYPE, &type, sizeof(type) },
		{ CKA_TOKEN, &no, 1 },
		{ type == CKK_AES ? CKA_ENCRYPT : CKA_SIGN, &yes, 1 },
		{ CKA_VALUE, value, len },
	};

	return p11.create(k->session, list, 5, &k->secret);
}

/*
 * Makes or destroys objects until there are as many as the case finds; if memory runs out, out_len
 * is the number made. The cases of FIND take turns, and share their objects and a session.
 */
static ck make_objects(struct p11_case *k)
{
	static ck session, list[FIND_MAX];
	static unsigned count;
	uint8_t value[16] = { 1 };
	ck res = 0;

	if (!count)
		session = k->session;
	k->session = session;
	while (!res && count < k->is->objects) {
		res = make_secret(k, CKK_AES, value, sizeof(value));
		if (!res)
			list[count++] = k->secret;
	}
	k->out_len = count;
	while (count > (res ? 0 : k->is->objects))
		p11.destroy(session, list[--count]);
	return res;
}

static ck make_things(struct p11_case *k)
{
	uint8_t value[64] = { 1 };
	const struct action *is = k->is;
	ck res = 0;

	if (is->message)
		k->in_len = vector_bytes(k->in, sizeof(k->in), is->message);
	else
		k->in_len = 32;
	if (is->secret)
		return make_secret(k, is->what == HMAC ? CKK_GENERIC_SECRET : CKK_AES, value,
				   vector_bytes(value, sizeof(value), is->secret));
	if (is->what == SIGN_INIT || is->what == SIGN || is->what == VERIFY) {
		memset(k->in, 0x5a, k->in_len);
		res = make_pair(k, &no);
		k->pair = !res;
	}
	return is->what == FIND ? make_objects(k) : res;
}

static int p11_prepare(struct bench_case *c, struct error *err)
{
	struct p11_case *k = c->state;
	int ret = pkcs11_open(&k->session, err);
	ck res;

	if (ret)
		return ret;
	k->opened = true;
	k->is = &actions[c->name];
	res = make_things(k);
	if (res == CKR_DEVICE_MEMORY)
		return error_skip(err, -ENOMEM, "no-memory",
				  "the module's memory is full after %lu objects of %u", k->out_len,
				  k->is->objects);
	return res ? pkcs11_failed(err, "make what the call needs", res) : 0;
}

static ck end_signing(struct p11_case *k)
{
	k->begun = false;
	k->out_len = sizeof(k->out);
	return p11.sign(k->session, k->in, k->in_len, k->out, &k->out_len);
}

static ck sign(struct p11_case *k, ck mechanism, ck key)
{
	struct ck_mechanism how = { mechanism, NULL, 0 };
	ck res = p11.sign_init(k->session, &how, key);

	k->begun = !res;
	return res || k->is->what == SIGN_INIT ? res : end_signing(k);
}

static ck verify(struct p11_case *k)
{
	struct ck_mechanism how = { CKM_ECDSA, NULL, 0 };
	ck res = p11.verify_init(k->session, &how, k->public_key);

	return res ? res : p11.verify(k->session, k->in, k->in_len, k->out, SIGNATURE_BYTES);
}

static ck find_all(struct p11_case *k)
{
	static ck found[FIND_MAX];
	ck type = CKK_AES, res;
	struct ck_attribute like = { CKA_KEY_TYPE, &type, sizeof(type) };

	k->out_len = 0;
	res = p11.find_init(k->session, &like, 1);
	if (!res)
		res = p11.find(k->session, found, FIND_MAX, &k->out_len);
	return res ? res : p11.find_final(k->session);
}

static ck call_once(struct p11_case *k)
{
	uint8_t iv[16];
	struct ck_mechanism cbc = { CKM_AES_CBC, iv, sizeof(iv) };
	struct ck_mechanism sha = { CKM_SHA256, NULL, 0 };
	ck res, other;

	switch (k->is->what) {
	case OPEN:
		res = pkcs11_another(&other);
		return res ? res : p11.close(other);
	case INFO:
		return p11.session_info(k->session, k->out);
	case RANDOM:
		return p11.random(k->session, k->out, 32);
	case DIGEST:
		k->out_len = sizeof(k->out);
		res = p11.digest_init(k->session, &sha);
		return res ? res : p11.digest(k->session, k->in, k->in_len, k->out, &k->out_len);
	case HMAC:
		return sign(k, CKM_SHA256_HMAC, k->secret);
	case AES:
		for (uint8_t i = 0; i < 16; i++)
			iv[i] = i;
		k->out_len = sizeof(k->out);
		res = p11.encrypt_init(k->session, &cbc, k->secret);
		return res ? res : p11.encrypt(k->session, k->in, k->in_len, k->out, &k->out_len);
	case SIGN_INIT:
	case SIGN:
		return sign(k, CKM_ECDSA, k->private_key);
	case VERIFY:
		return verify(k);
	case PAIR:
		res = make_pair(k, k->is->in_token ? &yes : &no);
		k->pair = !res;
		return res;
	case FIND:
		break;
	}
	return find_all(k);
}

/*
 * Prepares a run(): makes the objects to find or the signature to verify, destroys the last key
 * pair, and ends an operation that was begun.
 */
static int p11_ready(struct bench_case *c, struct error *err)
{
	struct p11_case *k = c->state;
	ck res = 0;

	if (k->is->what == PAIR)
		drop_pair(k);
	if (k->is->what == FIND)
		res = make_objects(k);
	if (k->is->what == VERIFY && !k->signed_once) {
		res = sign(k, CKM_ECDSA, k->private_key);
		k->signed_once = !res;
	}
	if (k->begun)
		res = end_signing(k);
	return res ? pkcs11_failed(err, "sign", res) : 0;
}

static int p11_once(struct bench_case *c, struct error *err)
{
	struct p11_case *k = c->state;
	/* An operation that was begun must be ended before the next. */
	ck res = k->begun ? end_signing(k) : 0;

	if (!res)
		res = call_once(k);
	return res ? pkcs11_failed(err, names[k->is - actions], res) : 0;
}

/* Checks the signature of `in` by libcrypto, if that is there. */
static int check_signature(struct bench_case *c, struct error *err)
{
	struct p11_case *k = c->state;
	const struct backend *openssl = backend_by_name("openssl");
	uint8_t point[80];
	struct ck_attribute want = { CKA_EC_POINT, point, sizeof(point) };
	ck res = p11.get(k->session, k->public_key, &want, 1);
	struct asym_job job = { .alg = asym_by_name("ecdsa-p256"),
				.use = ASYM_VERIFY,
				.key_len = 64,
				.in_len = k->in_len,
				.out_len = SIGNATURE_BYTES };
	struct workplace *workplace;
	int ret = 0;

	/* An OCTET STRING with an uncompressed point. */
	if (res || want.len != 67 || point[2] != 4)
		return pkcs11_failed(err, "tell a public key", res);
	if (pool_workplace(c->pool, openssl, WORKPLACE_ASYM, ASYM_BUFFER_BYTES, &workplace, NULL))
		return 0;
	workplace->owner = NULL;
	job.in = &workplace->in;
	job.out = &workplace->out;
	memcpy(workplace->in.data, k->in, k->in_len);
	memcpy(workplace->in.data + ASYM_KEY_AT, point + 3, 64);
	memcpy(workplace->out.data, k->out, SIGNATURE_BYTES);
	for (int i = 0; !ret && i < ASYM_STEPS; i++)
		ret = openssl->asym_step(workplace->session, &job, (enum asym_step)i, err);
	if (ret)
		return case_wrong_result(err, "a wrong signature by the PKCS #11 module");
	c->checked_by = openssl->name;
	return 0;
}

static int p11_check(struct bench_case *c, struct error *err)
{
	struct p11_case *k = c->state;
	uint8_t want[64];
	ck res;

	if (k->is->answer) {
		size_t len = vector_bytes(want, sizeof(want), k->is->answer);

		if (k->out_len != len || memcmp(k->out, want, len))
			return case_wrong_result(err, "wrong result of %s by the PKCS #11 module",
						 names[k->is - actions]);
		memset(k->out, 0, len);
	}
	res = k->is->what == SIGN_INIT ? end_signing(k) : 0;
	if (res)
		return pkcs11_failed(err, "sign", res);
	if (k->is->what == SIGN_INIT || k->is->what == SIGN)
		return check_signature(c, err);
	/* The key of aes-128-cbc may be found, too. */
	return k->is->what != FIND || k->out_len - k->is->objects <= 1 ?
		       0 :
		       case_wrong_result(err, "%lu objects found", k->out_len);
}

/* Measures how much time a few calls spend in libteec (k->layers), and in all. */
static int take_layers(struct bench_case *c, struct error *err)
{
	struct p11_case *k = c->state;
	int ret = 0;

	memset(&k->layers, 0, sizeof(k->layers));
	for (int i = 0; !ret && i < LAYER_CALLS; i++) {
		uint64_t begin;

		ret = p11_ready(c, err);
		pkcs11_layers = k->layers;
		begin = clock_now_ns();
		if (!ret)
			ret = p11_once(c, err);
		k->total_ns += clock_now_ns() - begin;
		k->layers = pkcs11_layers;
		if (!ret)
			ret = p11_check(c, err);
	}
	return ret;
}

static int p11_verify(struct bench_case *c, struct error *err)
{
	struct p11_case *k = c->state;
	ck res;
	int ret = p11_check(c, err);

	if (!ret && (k->is->what == PAIR)) {
		memset(k->in, 0x5a, k->in_len);
		res = sign(k, CKM_ECDSA, k->private_key);
		ret = res ? pkcs11_failed(err, "sign", res) : check_signature(c, err);
	}
	if (!ret && k->is->what == VERIFY) {
		k->out[SIGNATURE_BYTES / 2] ^= 1;
		res = verify(k);
		k->out[SIGNATURE_BYTES / 2] ^= 1;
		if (res != CKR_SIGNATURE_INVALID)
			ret = case_wrong_result(err,
						"a flipped bit is taken for a right signature by the "
						"PKCS #11 module");
	}
	return ret ? ret : take_layers(c, err);
}

static void p11_facts(const struct bench_case *c, struct json *json)
{
	const struct p11_case *k = c->state;

	json_string(json, "module", pkcs11_file);
	json_u64(json, "initialize_ns", pkcs11_begun.initialize_ns);
	json_u64(json, "login_ns", pkcs11_begun.login_ns);
	json_object(json, "layers");
	json_u64(json, "calls", LAYER_CALLS);
	json_u64(json, "total_ns", k->total_ns);
	json_u64(json, "invoke_ns", k->layers.invoke_ns);
	json_u64(json, "invokes", k->layers.invokes);
	json_u64(json, "memory_ns", k->layers.memory_ns);
	json_u64(json, "allocations", k->layers.allocations);
	json_object_end(json);
}

static void p11_teardown(struct bench_case *c)
{
	struct p11_case *k = c->state;

	if (!k->opened)
		return;
	if (!pkcs11_kept)
		drop_pair(k);
	pkcs11_close();
}

const struct workload workload_pkcs11 = {
	.name = "pkcs11",
	.summary = "a call of a PKCS #11 module, with its Init",
	.parameters = "none",
	.names = names,
	.backend = "pkcs11",
	.state_size = sizeof(struct p11_case),
	.parse = p11_parse,
	.prepare = p11_prepare,
	.ready = p11_ready,
	.once = p11_once,
	.refereed = true,
	.verify = p11_verify,
	.check = p11_check,
	.facts = p11_facts,
	.teardown = p11_teardown,
};
