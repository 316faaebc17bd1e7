/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The backends `c` and `ce` run the sources that the TA also compiles (common/src), in the normal
 * world.
 */
#include <stdlib.h>

#include <teemark/digest.h>

#include "backend.h"
#include "cpu.h"

struct session {
	enum digest_code code;
	const struct digest_class *stream; /* digest of the message under way */
	union digest_ctx ctx;
};

extern const struct backend backend_c, backend_ce;

static int ce_probe(struct error *err)
{
	if (cpu_masked())
		return error_skip(err, -EOPNOTSUPP, "no-ce", CPU_MASKED);
	if (!strstr("aarch64 arm", cpu_built_for()))
		return error_skip(err, -EOPNOTSUPP, "no-ce",
				  "this program was built for %s, which has no "
				  "ARMv8 Crypto Extensions",
				  cpu_built_for());
	if (cpu_has(CPU_SHA1) || cpu_has(CPU_SHA2) || cpu_has(CPU_SHA3) || cpu_has(CPU_SHA512))
		return 0;
	return error_skip(err, -EOPNOTSUPP, "no-ce",
			  "this CPU has no Crypto Extensions for digests "
			  "(none of sha1, sha2, sha3, sha512 in hwcap)");
}

/* Returns 0 if the CPU has the instructions that the code for an algorithm needs. */
static int ce_check_cpu(const struct algorithm *alg, struct error *err)
{
	static const struct {
		const char *prefix;
		enum cpu_feature feature;
	} needs[] = {
		{ "sha1", CPU_SHA1 },     { "sha224", CPU_SHA2 },   { "sha256", CPU_SHA2 },
		{ "sha384", CPU_SHA512 }, { "sha512", CPU_SHA512 }, { "sha3-", CPU_SHA3 },
	};

	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++) {
		if (strncmp(alg->name, needs[i].prefix, strlen(needs[i].prefix)))
			continue;
		if (cpu_has(needs[i].feature))
			return 0;
		return error_skip(err, -EOPNOTSUPP, "no-ce",
				  "this CPU has no instructions for %s (no %s in hwcap)",
				  alg->title, cpu_feature_name(needs[i].feature));
	}
	return backend_lacks(&backend_ce, alg, err);
}

static int code_find(const struct session *s, const struct algorithm *alg,
		     const struct digest_class **class, struct error *err)
{
	*class = digest_class_find(s->code, alg->id);
	if (*class)
		return 0;
	return backend_lacks(s->code == DIGEST_CODE_C ? &backend_c : &backend_ce, alg, err);
}

static int code_open(struct session *s, const struct backend *self, enum backend_use use,
		     struct error *err)
{
	s->code = (enum digest_code)self->code;
	return 0;
}

static int code_digest(struct session *s, const struct algorithm *alg, const struct buffer *in,
		       size_t len, uint8_t *out, uint32_t repeat, struct error *err)
{
	const struct digest_class *class;
	int ret = code_find(s, alg, &class, err);

	if (ret)
		return ret;
	for (uint32_t i = 0; i < repeat; i++) {
		class->init(&s->ctx);
		class->update(&s->ctx, in->data, len);
		class->final(&s->ctx, out);
	}
	return 0;
}

static int code_digest_init(struct session *s, const struct algorithm *alg, struct error *err)
{
	int ret = code_find(s, alg, &s->stream, err);

	if (!ret && s->code == DIGEST_CODE_CE)
		ret = ce_check_cpu(alg, err);
	if (!ret)
		s->stream->init(&s->ctx);
	return ret;
}

static int code_digest_update(struct session *s, const struct buffer *in, size_t offset, size_t len,
			      struct error *err)
{
	s->stream->update(&s->ctx, in->data + offset, len);
	return 0;
}

static int code_digest_final(struct session *s, const struct buffer *in, size_t offset, size_t len,
			     uint8_t *out, struct error *err)
{
	if (len)
		s->stream->update(&s->ctx, in->data + offset, len);
	s->stream->final(&s->ctx, out);
	return 0;
}

#define DIGESTS_OF_CODE                                                            \
	.local = true, .session_bytes = sizeof(struct session), .open = code_open, \
	.digest = code_digest, .digest_init = code_digest_init,                    \
	.digest_update = code_digest_update, .digest_final = code_digest_final

const struct backend backend_c = {
	.name = "c",
	.title = "C, normal world",
	.summary = "portable C, in the normal world",
	.uses = 1u << USE_DIGESTS,
	.code = DIGEST_CODE_C,
	DIGESTS_OF_CODE,
};

const struct backend backend_ce = {
	.name = "ce",
	.title = "CE, normal world",
	.summary = "ARMv8 Crypto Extensions, in the normal world",
	.probe = ce_probe,
	.uses = 1u << USE_DIGESTS,
	.code = DIGEST_CODE_CE,
	DIGESTS_OF_CODE,
};
