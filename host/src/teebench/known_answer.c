/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Vectors: NIST, "Cryptographic Standards and Guidelines: Examples with
 * Intermediate Values", SHA-1, SHA-2 and SHA-3; messages of one and two
 * blocks.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "known_answer.h"
#include "stop.h"

/* So many bytes are hashed between two looks at whether to stop. */
enum { STEP = 4 << 20 };

#define VECTOR_ABC "abc"
#define VECTOR_448 "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
#define VECTOR_896                                                 \
	"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn" \
	"hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"

static const struct vector {
	const char *algorithm;
	const char *message;
	const char *digest; /* hexadecimal */
} vectors[] = {
	/* clang-format off */
	{ "sha1", VECTOR_ABC,
	  "a9993e364706816aba3e25717850c26c9cd0d89d" },
	{ "sha1", VECTOR_448,
	  "84983e441c3bd26ebaae4aa1f95129e5e54670f1" },
	{ "sha1", VECTOR_896,
	  "a49b2446a02c645bf419f995b67091253a04a259" },
	{ "sha224", VECTOR_ABC,
	  "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7" },
	{ "sha224", VECTOR_448,
	  "75388b16512776cc5dba5da1fd890150b0c6455cb4f58b1952522525" },
	{ "sha224", VECTOR_896,
	  "c97ca9a559850ce97a04a96def6d99a9e0e0e2ab14e6b8df265fc0b3" },
	{ "sha256", VECTOR_ABC,
	  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
	{ "sha256", VECTOR_448,
	  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	{ "sha256", VECTOR_896,
	  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
	{ "sha384", VECTOR_ABC,
	  "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
	  "8086072ba1e7cc2358baeca134c825a7" },
	{ "sha384", VECTOR_448,
	  "3391fdddfc8dc7393707a65b1b4709397cf8b1d162af05abfe8f450de5f36bc6"
	  "b0455a8520bc4e6f5fe95b1fe3c8452b" },
	{ "sha384", VECTOR_896,
	  "09330c33f71147e83d192fc782cd1b4753111b173b3b05d22fa08086e3b0f712"
	  "fcc7c71a557e2db966c3e9fa91746039" },
	{ "sha512", VECTOR_ABC,
	  "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
	  "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f" },
	{ "sha512", VECTOR_448,
	  "204a8fc6dda82f0a0ced7beb8e08a41657c16ef468b228a8279be331a703c335"
	  "96fd15c13b1b07f9aa1d3bea57789ca031ad85c7a71dd70354ec631238ca3445" },
	{ "sha512", VECTOR_896,
	  "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
	  "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909" },
	{ "sha3-224", VECTOR_ABC,
	  "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf" },
	{ "sha3-224", VECTOR_448,
	  "8a24108b154ada21c9fd5574494479ba5c7e7ab76ef264ead0fcce33" },
	{ "sha3-224", VECTOR_896,
	  "543e6868e1666c1a643630df77367ae5a62a85070a51c14cbf665cbc" },
	{ "sha3-256", VECTOR_ABC,
	  "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532" },
	{ "sha3-256", VECTOR_448,
	  "41c0dba2a9d6240849100376a8235e2c82e1b9998a999e21db32dd97496d3376" },
	{ "sha3-256", VECTOR_896,
	  "916f6061fe879741ca6469b43971dfdb28b1a32dc36cb3254e812be27aad1d18" },
	{ "sha3-384", VECTOR_ABC,
	  "ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b2"
	  "98d88cea927ac7f539f1edf228376d25" },
	{ "sha3-384", VECTOR_448,
	  "991c665755eb3a4b6bbdfb75c78a492e8c56a22c5c4d7e429bfdbc32b9d4ad5a"
	  "a04a1f076e62fea19eef51acd0657c22" },
	{ "sha3-384", VECTOR_896,
	  "79407d3b5916b59c3e30b09822974791c313fb9ecc849e406f23592d04f625dc"
	  "8c709b98b43b3852b337216179aa7fc7" },
	{ "sha3-512", VECTOR_ABC,
	  "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e"
	  "10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0" },
	{ "sha3-512", VECTOR_448,
	  "04a371e84ecfb5b8b77cb48610fca8182dd457ce6f326a0fd3d7ec2f1e91636d"
	  "ee691fbe0c985302ba1b0d8dc78c086346b533b49c030d99a27daf1139d6e75e" },
	{ "sha3-512", VECTOR_896,
	  "afebb2ef542e6579c50cad06d2e578f9f8dd6881d7dc824d26360feebf18a4fa"
	  "73e3261122948efcfd492e74e82e2189ed0fb440d187f382270cb455f21dd185" },
	/* clang-format on */
};

static void to_hex(char *hex, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sprintf(hex + 2 * i, "%02x", data[i]);
	hex[2 * len] = '\0';
}

int digest_differs(const struct algorithm *alg, const uint8_t *got,
		   const uint8_t *want, const char *of_what, struct error *err)
{
	char g[2 * ALG_DIGEST_MAX_BYTES + 1], w[sizeof(g)];

	if (!memcmp(got, want, alg->out_bytes))
		return 0;
	to_hex(g, got, 8);
	to_hex(w, want, 8);
	error_set(err, -EBADMSG, "wrong %s of %s: %s… instead of %s…",
		  alg->title, of_what, g, w);
	error_hint(err, "the timing of a wrong result means nothing; the "
			"backend or its installation is broken");
	return -EBADMSG;
}

static int check_vector(const struct backend *backend, struct session *session,
			const struct algorithm *alg,
			const struct buffer *buffer, const struct vector *v,
			struct error *err)
{
	uint8_t got[ALG_DIGEST_MAX_BYTES] = { 0 };
	char hex[2 * ALG_DIGEST_MAX_BYTES + 1];
	size_t len = strlen(v->message);
	int ret;

	memcpy(buffer->data, v->message, len);
	ret = backend->digest(session, alg, buffer, 0, len, got, 1, err);
	if (ret)
		return ret;
	to_hex(hex, got, alg->out_bytes);
	if (!strcmp(hex, v->digest))
		return 0;
	error_set(err, -EBADMSG,
		  "backend %s computes a wrong %s of NIST's "
		  "message \"%.16s…\": %.16s… instead of %.16s…",
		  backend->name, alg->title, v->message, hex, v->digest);
	error_hint(err, "the timing of a wrong result means nothing; the "
			"backend or its installation is broken");
	return -EBADMSG;
}

int known_answer_check(const struct backend *backend, struct session *session,
		       const struct algorithm *alg, const struct buffer *buffer,
		       struct error *err)
{
	uint8_t saved[KNOWN_ANSWER_BYTES];
	bool found = false;
	int ret = 0;

	if (buffer->size < sizeof(saved))
		return error_set(err, -EINVAL,
				 "too small a buffer for known "
				 "answers");
	memcpy(saved, buffer->data, sizeof(saved));
	for (size_t i = 0; !ret && i < sizeof(vectors) / sizeof(*vectors);
	     i++) {
		if (strcmp(vectors[i].algorithm, alg->name))
			continue;
		found = true;
		ret = check_vector(backend, session, alg, buffer, &vectors[i],
				   err);
	}
	memcpy(buffer->data, saved, sizeof(saved));
	if (!ret && !found)
		return error_set(err, -ENOENT,
				 "no published vector of %s is "
				 "known",
				 alg->title);
	return ret;
}

int known_answer_by_c(const struct algorithm *alg, const uint8_t *data,
		      size_t len, uint8_t *out, struct error *err)
{
	const struct backend *c = backend_by_name("c");
	struct buffer in = { .data = (uint8_t *)data, .size = len };
	struct buffer scratch = { 0 };
	struct session *session;
	size_t at = 0;
	int ret;

	ret = c->open(&session, err);
	if (ret)
		return ret;
	ret = c->supports(session, alg, err);
	if (!ret)
		ret = c->buffer_alloc(session, KNOWN_ANSWER_BYTES, &scratch,
				      err);
	if (!ret) {
		memset(scratch.data, 0, scratch.size);
		ret = known_answer_check(c, session, alg, &scratch, err);
	}
	if (!ret)
		ret = c->digest_init(session, alg, err);
	for (; !ret && len - at > STEP; at += STEP) {
		ret = c->digest_update(session, &in, at, STEP, err);
		if (!ret)
			ret = stop_check(err);
	}
	if (!ret)
		ret = c->digest_final(session, &in, at, len - at, out, err);
	c->buffer_free(session, &scratch);
	c->close(session);
	return ret;
}
