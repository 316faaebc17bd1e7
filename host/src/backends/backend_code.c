/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `c` and `ce`: the very sources that the TA compiles (common/src), in the
 * normal world.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/digest.h>

#include "backend.h"
#include "cpu.h"

struct session {
	enum digest_code code;
	const struct digest_class *stream; /* a message under way */
	union digest_ctx ctx;
};

static int c_probe(struct error *err)
{
	(void)err;
	return 0;
}

static int ce_probe(struct error *err)
{
	static const enum cpu_feature any[] = { CPU_SHA1, CPU_SHA2, CPU_SHA3,
						CPU_SHA512 };

	if (!strstr("aarch64 arm", cpu_built_for()))
		return error_skip(err, -EOPNOTSUPP, "no-ce",
				  "this program was built for %s, which has no "
				  "ARMv8 Crypto Extensions",
				  cpu_built_for());
	for (size_t i = 0; i < sizeof(any) / sizeof(*any); i++)
		if (cpu_has(any[i]))
			return 0;
	return error_skip(err, -EOPNOTSUPP, "no-ce",
			  "this CPU has no Crypto Extensions for digests "
			  "(none of sha1, sha2, sha3, sha512 in hwcap)");
}

/* The instructions that the code for an algorithm needs. */
static int ce_check_cpu(const struct algorithm *alg, struct error *err)
{
	static const struct {
		const char *prefix;
		enum cpu_feature feature;
	} needs[] = {
		{ "sha1", CPU_SHA1 },     { "sha224", CPU_SHA2 },
		{ "sha256", CPU_SHA2 },   { "sha384", CPU_SHA512 },
		{ "sha512", CPU_SHA512 }, { "sha3-", CPU_SHA3 },
	};

	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++) {
		if (strncmp(alg->name, needs[i].prefix,
			    strlen(needs[i].prefix)))
			continue;
		if (cpu_has(needs[i].feature))
			return 0;
		return error_skip(err, -EOPNOTSUPP, "no-ce",
				  "this CPU has no instructions for %s (no %s "
				  "in hwcap)",
				  alg->title,
				  cpu_feature_name(needs[i].feature));
	}
	return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
			  "no code with Crypto Extensions for %s", alg->title);
}

static int code_find(const struct session *s, const struct algorithm *alg,
		     const struct digest_class **class, struct error *err)
{
	*class = digest_class_find(s->code, alg->id);
	if (*class)
		return 0;
	return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
			  "no %s code for %s",
			  s->code == DIGEST_CODE_C ? "portable C" :
						     "Crypto Extensions",
			  alg->title);
}

static int code_supports(struct session *s, const struct algorithm *alg,
			 struct error *err)
{
	const struct digest_class *class;
	int ret;

	s->stream = NULL;
	ret = code_find(s, alg, &class, err);
	if (!ret && s->code == DIGEST_CODE_CE)
		ret = ce_check_cpu(alg, err);
	return ret;
}

static int code_open(struct session **session, enum digest_code code,
		     struct error *err)
{
	struct session *s = calloc(1, sizeof(*s));

	*session = s;
	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->code = code;
	return 0;
}

static int c_open(struct session **session, struct error *err)
{
	return code_open(session, DIGEST_CODE_C, err);
}

static int ce_open(struct session **session, struct error *err)
{
	int ret = ce_probe(err);

	*session = NULL;
	return ret ? ret : code_open(session, DIGEST_CODE_CE, err);
}

static void code_close(struct session *s)
{
	free(s);
}

static int code_digest(struct session *s, const struct algorithm *alg,
		       const struct buffer *in, size_t offset, size_t len,
		       uint8_t *out, uint32_t repeat, struct error *err)
{
	const struct digest_class *class;
	int ret = code_find(s, alg, &class, err);

	if (ret)
		return ret;
	for (uint32_t i = 0; i < repeat; i++) {
		class->init(&s->ctx);
		class->update(&s->ctx, in->data + offset, len);
		class->final(&s->ctx, out);
	}
	return 0;
}

static int code_digest_init(struct session *s, const struct algorithm *alg,
			    struct error *err)
{
	int ret = code_supports(s, alg, err);

	if (ret)
		return ret;
	ret = code_find(s, alg, &s->stream, err);
	if (!ret)
		s->stream->init(&s->ctx);
	return ret;
}

static int no_stream(struct error *err)
{
	return error_set(err, -EPROTO, "no message was begun");
}

static int code_digest_update(struct session *s, const struct buffer *in,
			      size_t offset, size_t len, struct error *err)
{
	if (!s->stream)
		return no_stream(err);
	s->stream->update(&s->ctx, in->data + offset, len);
	return 0;
}

static int code_digest_final(struct session *s, const struct buffer *in,
			     size_t offset, size_t len, uint8_t *out,
			     struct error *err)
{
	if (!s->stream)
		return no_stream(err);
	if (in && len)
		s->stream->update(&s->ctx, in->data + offset, len);
	s->stream->final(&s->ctx, out);
	s->stream = NULL;
	return 0;
}

#define CODE_BACKEND(symbol, name_, summary_, probe_, open_) \
	const struct backend symbol = {                      \
		.name = (name_),                             \
		.summary = (summary_),                       \
		.probe = (probe_),                           \
		.open = (open_),                             \
		.close = code_close,                         \
		.supports = code_supports,                   \
		.buffer_alloc = buffer_alloc_plain,          \
		.buffer_free = buffer_free_plain,            \
		.digest = code_digest,                       \
		.digest_init = code_digest_init,             \
		.digest_update = code_digest_update,         \
		.digest_final = code_digest_final,           \
	}

extern const struct backend backend_c, backend_ce;

CODE_BACKEND(backend_c, "c", "portable C, in the normal world", c_probe,
	     c_open);
CODE_BACKEND(backend_ce, "ce", "ARMv8 Crypto Extensions, in the normal world",
	     ce_probe, ce_open);
