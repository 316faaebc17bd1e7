/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The digest TA (ta/digest): `tee`, `ta-c` and `ta-ce` are one TA, asked for
 * different implementations.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/ta_digest.h>

#include "backend.h"
#include "clock.h"
#include "ta_session.h"

#ifdef HAVE_TEEC

struct session {
	struct tee_session *tee;
	/* Where the TA puts the digest: a temporary reference costs more. */
	TEEC_SharedMemory *out;
	enum ta_digest_impl impl;
	uint32_t impls;              /* bit mask of those in the TA */
	uint64_t first_ns;           /* the first call's time */
	const struct algorithm *alg; /* of the message under way */
};

static const char *impl_title(enum ta_digest_impl impl)
{
	switch (impl) {
	case TA_DIGEST_IMPL_TEE:
		return "TEE Internal Core API";
	case TA_DIGEST_IMPL_C:
		return "portable C";
	case TA_DIGEST_IMPL_CE:
		return "ARMv8 Crypto Extensions";
	}
	return "unknown";
}

static int ask_info(struct session *s, struct error *err)
{
	uint64_t begin = clock_now_ns();
	int ret = ta_session_greet(&ta_digest_name, s->tee, &s->impls, err);

	s->first_ns = clock_now_ns() - begin;
	if (ret)
		return ret;
	if (!(s->impls & 1u << s->impl))
		return error_skip(err, -EOPNOTSUPP, "no-ta-impl",
				  "the installed digest TA was built without "
				  "its implementation by %s",
				  impl_title(s->impl));
	return 0;
}

static void ta_close(struct session *s)
{
	if (!s)
		return;
	if (s->tee)
		tee_shm_free(s->tee, s->out);
	tee_session_close(s->tee);
	free(s);
}

static int ta_open(struct session **session, enum ta_digest_impl impl,
		   struct error *err)
{
	struct session *s = calloc(1, sizeof(*s));
	int ret;

	*session = NULL;
	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->impl = impl;
	ret = ta_session_open(&ta_digest_name, &s->tee, err);
	if (!ret)
		ret = ask_info(s, err);
	if (!ret)
		ret = tee_shm_alloc(s->tee, ALG_DIGEST_MAX_BYTES,
				    TEEC_MEM_OUTPUT, &s->out, err);
	if (ret) {
		ta_close(s);
		return ret;
	}
	*session = s;
	return 0;
}

static int ta_buffer_alloc(struct session *s, size_t size,
			   struct buffer *buffer, struct error *err)
{
	TEEC_SharedMemory *shm;
	int ret = tee_shm_alloc(s->tee, size ? size : 1, TEEC_MEM_INPUT, &shm,
				err);

	if (ret)
		return ret;
	buffer->data = shm->buffer;
	buffer->size = size;
	buffer->priv = shm;
	return 0;
}

static void ta_buffer_free(struct session *s, struct buffer *buffer)
{
	if (buffer && !buffer->priv) {
		buffer_free_plain(s, buffer);
	} else if (buffer) {
		tee_shm_free(s->tee, buffer->priv);
		memset(buffer, 0, sizeof(*buffer));
	}
}

/*
 * A reference to a part of a buffer: shared or, without priv, ordinary
 * memory. No buffer at all is an empty reference. The parameter's type.
 */
static uint32_t set_memref(TEEC_Parameter *param, const struct buffer *in,
			   size_t offset, size_t len)
{
	if (in && !in->priv) {
		param->tmpref.buffer = in->data + offset;
		param->tmpref.size = len;
		return TEEC_MEMREF_TEMP_INPUT;
	}
	if (!in) {
		param->tmpref.buffer = NULL;
		param->tmpref.size = 0;
		return TEEC_MEMREF_TEMP_INPUT;
	}
	param->memref.parent = in->priv;
	param->memref.offset = offset;
	param->memref.size = len;
	return TEEC_MEMREF_PARTIAL_INPUT;
}

static void set_out(struct session *s, TEEC_Parameter *param)
{
	param->memref.parent = s->out;
	param->memref.offset = 0;
	param->memref.size = ALG_DIGEST_MAX_BYTES;
}

static int take_out(struct session *s, const TEEC_Parameter *param,
		    const struct algorithm *alg, uint8_t *out,
		    struct error *err)
{
	if (alg && param->memref.size != alg->out_bytes)
		return error_set(err, -EPROTO,
				 "the digest TA returned %zu bytes for %s "
				 "instead of %u",
				 param->memref.size, alg->name, alg->out_bytes);
	if (param->memref.size > ALG_DIGEST_MAX_BYTES)
		return error_set(err, -EPROTO,
				 "the digest TA returned too "
				 "long a digest");
	memcpy(out, s->out->buffer, param->memref.size);
	return 0;
}

static int ta_digest(struct session *s, const struct algorithm *alg,
		     const struct buffer *in, size_t offset, size_t len,
		     uint8_t *out, uint32_t repeat, struct error *err)
{
	TEEC_Operation op = { 0 };
	uint32_t in_type;
	int ret;

	op.params[0].value.a = alg->id;
	op.params[0].value.b = (uint32_t)s->impl;
	in_type = set_memref(&op.params[1], in, offset, len);
	set_out(s, &op.params[2]);
	op.params[3].value.a = repeat;
	op.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_INPUT, in_type,
					 TEEC_MEMREF_PARTIAL_OUTPUT,
					 TEEC_VALUE_INPUT);
	ret = tee_invoke(s->tee, TA_DIGEST_CMD_ONESHOT, &op,
			 "hash a message in the digest TA", err);
	if (ret)
		return ret;
	return take_out(s, &op.params[2], alg, out, err);
}

static int ta_digest_init(struct session *s, const struct algorithm *alg,
			  struct error *err)
{
	TEEC_Operation op = {
		.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_INPUT, TEEC_NONE,
					       TEEC_NONE, TEEC_NONE),
	};

	s->alg = alg;
	op.params[0].value.a = alg->id;
	op.params[0].value.b = (uint32_t)s->impl;
	return tee_invoke(s->tee, TA_DIGEST_CMD_INIT, &op,
			  "begin a message in the digest TA", err);
}

static int ta_digest_update(struct session *s, const struct buffer *in,
			    size_t offset, size_t len, struct error *err)
{
	TEEC_Operation op = { 0 };
	uint32_t in_type = set_memref(&op.params[0], in, offset, len);

	op.paramTypes =
		TEEC_PARAM_TYPES(in_type, TEEC_NONE, TEEC_NONE, TEEC_NONE);
	return tee_invoke(s->tee, TA_DIGEST_CMD_UPDATE, &op,
			  "hash a piece of a message in the digest TA", err);
}

static int ta_digest_final(struct session *s, const struct buffer *in,
			   size_t offset, size_t len, uint8_t *out,
			   struct error *err)
{
	TEEC_Operation op = { 0 };
	uint32_t in_type = TEEC_NONE;
	int ret;

	if (in && len)
		in_type = set_memref(&op.params[0], in, offset, len);
	op.paramTypes = TEEC_PARAM_TYPES(in_type, TEEC_MEMREF_PARTIAL_OUTPUT,
					 TEEC_NONE, TEEC_NONE);
	set_out(s, &op.params[1]);
	ret = tee_invoke(s->tee, TA_DIGEST_CMD_FINAL, &op,
			 "end a message in the digest TA", err);
	if (ret)
		return ret;
	return take_out(s, &op.params[1], s->alg, out, err);
}

/* The TA is asked, since only it knows what its TEE can do. */
static int ta_supports(struct session *s, const struct algorithm *alg,
		       struct error *err)
{
	int ret;

	if (alg->class != ALG_DIGEST)
		return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
				  "the digest TA has no %s", alg->title);
	ret = ta_digest_init(s, alg, err);
	if (ret == -EOPNOTSUPP) {
		/* Keep the TEE's word, but say it about the algorithm. */
		error_skip(err, ret, "unsupported-algorithm",
			   "no %s by %s on this board's TEE", alg->title,
			   impl_title(s->impl));
		if (s->impl != TA_DIGEST_IMPL_C)
			error_hint(err, "backend ta-c has every digest%s",
				   s->impl == TA_DIGEST_IMPL_CE ?
					   ", tee those of the TEE's own "
					   "library" :
					   "");
	}
	return ret;
}

static int ta_nop(struct session *s, uint32_t calls, struct error *err)
{
	TEEC_Operation op = {
		.paramTypes = TEEC_PARAM_TYPES(TEEC_NONE, TEEC_NONE, TEEC_NONE,
					       TEEC_NONE),
	};

	int ret = 0;

	for (uint32_t i = 0; !ret && i < calls; i++)
		ret = tee_invoke(s->tee, TA_DIGEST_CMD_NOP, &op,
				 "make an empty call to the digest TA", err);
	return ret;
}

static void ta_open_cost(const struct session *s, struct open_cost *cost)
{
	cost->context_ns = s->tee->context_ns;
	cost->session_ns = s->tee->open_ns;
	cost->invoke_ns = s->first_ns;
}

static void heap_facts(struct session *s, struct session_facts *facts)
{
	TEEC_Operation op = {
		.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_OUTPUT, TEEC_NONE,
					       TEEC_NONE, TEEC_NONE),
	};
	struct error err = { 0 };
	int ret = tee_invoke(s->tee, TA_DIGEST_CMD_HEAP, &op,
			     "ask the digest TA for its heap", &err);

	if (!ret) {
		facts->heap_peak = op.params[0].value.a;
		facts->heap_size = op.params[0].value.b;
	} else if (ret == -EOPNOTSUPP) {
		snprintf(facts->heap_reason, sizeof(facts->heap_reason),
			 "the TA's library keeps no statistics of its heap "
			 "(OP-TEE built without CFG_WITH_STATS)");
	} else {
		snprintf(facts->heap_reason, sizeof(facts->heap_reason),
			 "%.150s", err.what);
	}
}

static void ta_facts(struct session *s, struct session_facts *facts)
{
	TEEC_Operation op = {
		.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_OUTPUT,
					       TEEC_VALUE_OUTPUT,
					       TEEC_VALUE_OUTPUT, TEEC_NONE),
	};
	struct error err = { 0 };

	*facts = (struct session_facts){ -1, -1, -1, -1, "", "" };
	if (tee_invoke(s->tee, TA_DIGEST_CMD_STATS, &op,
		       "ask the digest TA for its statistics", &err)) {
		snprintf(facts->stack_reason, sizeof(facts->stack_reason),
			 "%.150s", err.what);
	} else {
		facts->stack_peak = op.params[0].value.a;
		facts->stack_size = op.params[0].value.b;
	}
	heap_facts(s, facts);
}

static struct tee_session *ta_tee(struct session *s)
{
	return s->tee;
}

static int ta_open_tee(struct session **session, struct error *err)
{
	return ta_open(session, TA_DIGEST_IMPL_TEE, err);
}

static int ta_open_c(struct session **session, struct error *err)
{
	return ta_open(session, TA_DIGEST_IMPL_C, err);
}

static int ta_open_ce(struct session **session, struct error *err)
{
	return ta_open(session, TA_DIGEST_IMPL_CE, err);
}

#define TA_BACKEND(symbol, name_, summary_, open_)  \
	const struct backend symbol = {             \
		.name = (name_),                    \
		.summary = (summary_),              \
		.probe = tee_probe,                 \
		.open = (open_),                    \
		.close = ta_close,                  \
		.supports = ta_supports,            \
		.buffer_alloc = ta_buffer_alloc,    \
		.buffer_plain = buffer_alloc_plain, \
		.buffer_free = ta_buffer_free,      \
		.digest = ta_digest,                \
		.digest_init = ta_digest_init,      \
		.digest_update = ta_digest_update,  \
		.digest_final = ta_digest_final,    \
		.nop = ta_nop,                      \
		.crosses = true,                    \
		.open_cost = ta_open_cost,          \
		.facts = ta_facts,                  \
		.tee = ta_tee,                      \
	}

#else /* HAVE_TEEC */

/* Never called: the probe fails. */
static int ta_open_none(struct session **session, struct error *err)
{
	*session = NULL;
	return tee_probe(err);
}

static void ta_close(struct session *s)
{
	(void)s;
}

#define TA_BACKEND(symbol, name_, summary_, open_) \
	const struct backend symbol = {            \
		.name = (name_),                   \
		.summary = (summary_),             \
		.probe = tee_probe,                \
		.open = ta_open_none,              \
		.close = ta_close,                 \
	}

#endif /* HAVE_TEEC */

extern const struct backend backend_tee, backend_ta_c, backend_ta_ce;

TA_BACKEND(backend_tee, "tee", "TEE Internal Core API, in the TA", ta_open_tee);
TA_BACKEND(backend_ta_c, "ta-c", "portable C, in the TA", ta_open_c);
TA_BACKEND(backend_ta_ce, "ta-ce", "ARMv8 Crypto Extensions, in the TA",
	   ta_open_ce);
