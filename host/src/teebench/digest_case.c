/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "digest_case.h"
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
	int ret;

	((struct digest_case *)c->state)->c = c;
	if (!c->backend->digest)
		return backend_lacks(c->backend, c->algorithm, err);
	if (use == DESK_DIGEST)
		need = room(c);
	ret = pool_desk(c->pool, c->backend, use, need, &c->desk, err);
	return ret ? ret : c->backend->digest_init(c->desk->session, c->algorithm, err);
}

int digest_case_check(void *state, struct error *err)
{
	struct digest_case *d = state;
	char what[64];
	int ret;

	snprintf(what, sizeof(what), "%lld bytes by backend %s", (long long)d->c->bytes,
		 d->c->backend->name);
	ret = known_answer_compare(d->c->algorithm, d->out, d->want, what, err);
	memset(d->out, 0, sizeof(d->out));
	return ret;
}

int digest_case_verify_data(struct digest_case *d, const uint8_t *data, struct error *err)
{
	struct bench_case *c = d->c;
	struct error why = { 0 };
	int ret = known_answer_digest(c->pool, c->backend, c->algorithm, data, (size_t)c->bytes,
				      d->want, &c->checked_by, &why);

	/* If no other backend has the algorithm, the vectors must do, and the first result. */
	if (ret == -ENOENT) {
		memcpy(d->want, d->out, sizeof(d->want));
		ret = 0;
	} else if (ret && err) {
		*err = why;
	}
	if (!ret)
		ret = digest_case_check(d, err);
	return ret ? ret : known_answer_check(c->desk, c->algorithm, false, err);
}

int digest_case_verify(void *state, struct error *err)
{
	struct digest_case *d = state;

	return digest_case_verify_data(d, d->c->desk->in.data, err);
}
