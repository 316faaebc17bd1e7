/* SPDX-License-Identifier: BSD-2-Clause */
#include "tee_share.h"

#ifdef HAVE_TEEC

/* The digest TA is asked nothing: its first call is measured. */
static int open_share(const void *kind, size_t size, void **value,
		      struct error *err)
{
	const struct ta_name *ta = kind;
	struct tee_session *tee;
	int ret = ta == &ta_digest_name ?
			  ta_session_open(ta, &tee, err) :
			  ta_session_open_greeted(ta, &tee, NULL, err);

	(void)size;
	*value = tee;
	return ret;
}

static void close_share(void *value)
{
	tee_session_close(value);
}

int tee_share(struct pool *pool, const struct ta_name *ta,
	      struct tee_session **tee, struct error *err)
{
	void *value;
	int ret = pool_share(pool, ta, open_share, close_share, &value, err);

	*tee = value;
	return ret;
}

int tee_share_reserve(struct pool *pool, const struct ta_name *ta,
		      struct error *err)
{
	return pool_share_reserve(pool, ta, 0, err);
}

#else

int tee_absent_prepare(struct bench_case *c, struct pool *pool,
		       struct error *err)
{
	(void)c;
	(void)pool;
	return tee_probe(err);
}

/* Never called: nothing was prepared. */
int tee_absent_run(void *state, uint32_t loops, uint32_t repeat,
		   struct error *err)
{
	(void)state;
	(void)loops;
	(void)repeat;
	return tee_probe(err);
}

int tee_absent_verify(void *state, struct error *err)
{
	(void)state;
	return tee_probe(err);
}

void tee_absent_teardown(void *state)
{
	(void)state;
}

#endif
