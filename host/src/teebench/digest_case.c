/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "digest_case.h"
#include "json.h"
#include "known_answer.h"

static size_t room(const struct bench_case *c)
{
	return c->bytes > KNOWN_ANSWER_BYTES ? (size_t)c->bytes : KNOWN_ANSWER_BYTES;
}

int digest_case_parse(struct bench_case *c, struct error *err)
{
	return pool_reserve(c->pool, c->backend, DESK_DIGEST, room(c), err);
}

int digest_case_open(struct bench_case *c, enum desk_use use, size_t need, struct error *err)
{
	struct digest_case *d = c->state;
	int ret;

	if (!c->backend->digest)
		return backend_lacks(c->backend, c->algorithm, err);
	d->pool = c->pool;
	d->backend = c->backend;
	d->alg = c->algorithm;
	d->bytes = (size_t)c->bytes;
	if (use == DESK_DIGEST)
		need = room(c);
	ret = pool_desk(c->pool, c->backend, use, need, &d->desk, err);
	if (ret)
		return ret;
	d->session = d->desk->session;
	return d->backend->supports(d->session, d->alg, err);
}

int digest_case_check(void *state, struct error *err)
{
	struct digest_case *d = state;
	char what[64];
	int ret;

	snprintf(what, sizeof(what), "%zu bytes by backend %s", d->bytes, d->backend->name);
	ret = known_answer_compare(d->alg, d->out, d->want, what, err);
	memset(d->out, 0, sizeof(d->out));
	return ret;
}

int digest_case_verify_data(struct digest_case *d, const uint8_t *data, struct error *err)
{
	struct error why = { 0 };
	int ret = known_answer_digest(d->pool, d->backend, d->alg, data, d->bytes, d->want,
				      &d->checked_by, &why);

	/* Nobody else has it: the vectors must do, and the first result. */
	if (ret == -ENOENT) {
		memcpy(d->want, d->out, sizeof(d->want));
		ret = 0;
	} else if (ret && err) {
		*err = why;
	}
	if (!ret)
		ret = digest_case_check(d, err);
	return ret ? ret : known_answer_check(d->desk, d->alg, false, err);
}

int digest_case_verify(void *state, struct error *err)
{
	struct digest_case *d = state;

	return digest_case_verify_data(d, d->desk->in.data, err);
}

struct tee_session *digest_case_ta(const void *state)
{
	return desk_ta(((const struct digest_case *)state)->desk);
}

void digest_case_facts(const void *state, struct json *json)
{
	const struct digest_case *d = state;

	json_string_or_null(json, "checked_by", d->checked_by);
}
