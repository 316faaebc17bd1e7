/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "known_answer.h"
#include "message_case.h"
#include "prng.h"

static size_t room(size_t bytes)
{
	return bytes > KNOWN_ANSWER_BYTES ? bytes : KNOWN_ANSWER_BYTES;
}

int message_case_reserve(const struct bench_case *c, enum workplace_use use, size_t bytes,
			 struct error *err)
{
	const struct backend *backend = c->backend;
	size_t next = 0;
	int ret = 0;

	do
		ret = pool_reserve(c->pool, backend, use, room(bytes), err);
	while (!ret && use == WORKPLACE_KEYED &&
	       (backend = known_answer_referee(c->backend, use, &next)));
	return ret;
}

int message_case_parse_keyed(struct bench_case *c, struct error *err)
{
	return message_case_reserve(c, WORKPLACE_KEYED, (size_t)c->bytes, err);
}

static int set_up(struct workplace *workplace, struct keyed_job *job, struct error *err)
{
	workplace->owner = NULL;
	job->in = &workplace->in;
	job->out = &workplace->out;
	return workplace->backend->set_up(workplace->session, job, err);
}

/* Returns the workplace of another backend, set up for *job; NULL if no other can do it. */
static struct workplace *find_other(const struct bench_case *c, struct keyed_job *job)
{
	const struct backend *referee;
	struct workplace *workplace;
	size_t next = 0;

	while ((referee = known_answer_referee(c->backend, WORKPLACE_KEYED, &next)))
		if (!pool_workplace(c->pool, referee, WORKPLACE_KEYED, room(job->len), &workplace,
				    NULL) &&
		    (!referee->len_max || job->len <= referee->len_max(workplace->session, job)) &&
		    !set_up(workplace, job, NULL))
			return workplace;
	return NULL;
}

int message_case_referee(struct bench_case *c, struct keyed_job *job, struct workplace **workplace,
			 struct error *err)
{
	*workplace = find_other(c, job);
	if (*workplace) {
		c->checked_by = (*workplace)->backend->name;
		return 0;
	}
	/* Otherwise the case's own workplace computes, and published vectors are the only check. */
	*workplace = c->workplace;
	return set_up(*workplace, job, err);
}

/*
 * Encrypts or authenticates `len` bytes by another backend or, if there is none, by the case's own.
 */
static int compute_otherwise(struct bench_case *c, const uint8_t *in, size_t len, uint8_t *out,
			     size_t out_len, struct error *err)
{
	struct keyed_job job = ((struct message_case *)c->state)->job;
	struct workplace *workplace;
	int ret;

	job.decrypt = false;
	job.len = len;
	ret = message_case_referee(c, &job, &workplace, err);
	if (ret)
		return ret;
	memcpy(workplace->in.data, in, len);
	ret = workplace->backend->message(workplace->session, &job, 1, err);
	memcpy(out, workplace->out.data, out_len);
	return ret;
}

/* Sets c->want to the expected result of the message `in`. */
static int find_want(struct bench_case *c, const uint8_t *in, struct error *err)
{
	struct message_case *m = c->state;
	struct error why = { 0 };
	int ret;

	c->want_bytes = keyed_result_len(&m->job);
	c->want = m->want = malloc(c->want_bytes ? c->want_bytes : 1);
	if (!m->want)
		return error_memory(err);
	if (c->algorithm->class != ALG_DIGEST)
		return compute_otherwise(c, in, m->job.len, m->want, c->want_bytes, err);
	ret = known_answer_digest(c->pool, c->backend, c->algorithm, in, (size_t)c->bytes, m->want,
				  &c->checked_by, &why);
	/* Without another backend for the algorithm, the first result counts; vectors check it. */
	if (ret == -ENOENT) {
		memcpy(m->want, m->digest, c->want_bytes);
		return 0;
	}
	if (ret && err)
		*err = why;
	return ret;
}

int message_case_verify_data(struct bench_case *c, const uint8_t *in, struct error *err)
{
	const struct message_case *m = c->state;
	int ret = c->want ? 0 : find_want(c, in, err);

	if (!ret)
		ret = case_check(c, err);
	return ret ? ret : known_answer_check(c->workplace, c->algorithm, m->job.decrypt, err);
}

int message_case_verify(struct bench_case *c, struct error *err)
{
	const struct message_case *m = c->state;

	return message_case_verify_data(c, m->in ? m->in : c->workplace->in.data, err);
}

/* Makes the message: pseudorandom bytes or, for decrypting, their ciphertext by another backend. */
static int fill(struct bench_case *c, size_t bytes, struct error *err)
{
	struct message_case *m = c->state;
	uint8_t *message = malloc(bytes ? bytes : 1);

	m->in = m->job.decrypt ? malloc(m->job.len ? m->job.len : 1) : message;
	if (m->job.decrypt)
		m->want = message;
	if (!message || !m->in)
		return error_memory(err);
	pool_message(message, bytes);
	if (!m->job.decrypt)
		return 0;
	c->want = message;
	c->want_bytes = bytes;
	return compute_otherwise(c, message, bytes, m->in, m->job.len, err);
}

static int check_length(const struct bench_case *c, const struct keyed_job *job, struct error *err)
{
	size_t max = c->backend->len_max ? c->backend->len_max(c->workplace->session, job) :
					   SIZE_MAX;

	if (job->len <= max)
		return 0;
	return error_skip(err, -EMSGSIZE, "too-long",
			  "backend %s %s %s of at most %zu bytes in one message", c->backend->name,
			  job->decrypt ? "decrypts" : "takes", job->alg->title, max);
}

int message_case_open(struct bench_case *c, enum workplace_use use, bool decrypt, size_t bytes,
		      struct error *err)
{
	const struct algorithm *alg = c->algorithm;
	const struct backend *backend = c->backend;
	struct message_case *m = c->state;
	struct prng prng;
	int ret;

	if (use == WORKPLACE_KEYED ? !backend->message : !backend->digest)
		return backend_lacks(backend, alg, err);
	ret = pool_workplace(c->pool, backend, use, room(bytes), &c->workplace, err);
	if (ret)
		return ret;
	prng.state = 0x6b657973; /* "keys" in ASCII */
	prng_fill(&prng, m->key, sizeof(m->key));
	prng_fill(&prng, m->iv, sizeof(m->iv));
	m->job = (struct keyed_job){
		.alg = alg,
		.decrypt = decrypt,
		.key = m->key,
		.iv = m->iv,
		.len = bytes + (decrypt && alg->class == ALG_AEAD ? alg->out_bytes : 0),
	};
	if (use != WORKPLACE_KEYED) {
		c->result = m->digest;
		return backend->digest_init(c->workplace->session, alg, err);
	}
	ret = check_length(c, &m->job, err);
	if (!ret)
		ret = set_up(c->workplace, &m->job, err);
	return ret ? ret : fill(c, bytes, err);
}

int message_case_prepare_keyed(struct bench_case *c, struct error *err)
{
	bool decrypt = !strncmp(c->parameters, "dec/", 4);

	return message_case_open(c, WORKPLACE_KEYED, decrypt, (size_t)c->bytes, err);
}

int message_case_ready_keyed(struct bench_case *c, struct error *err)
{
	struct message_case *m = c->state;
	int ret;

	if (c->workplace->owner == c)
		return 0;
	ret = set_up(c->workplace, &m->job, err);
	if (ret)
		return ret;
	memcpy(c->workplace->in.data, m->in, m->job.len);
	c->workplace->owner = c;
	return 0;
}

void message_case_teardown(struct bench_case *c)
{
	struct message_case *m = c->state;

	free(m->in);
	free(m->want);
}
