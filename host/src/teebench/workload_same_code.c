/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * same-code/KERNEL/BACKEND/BYTES: one portable source (common/src), compiled for the normal world
 * (backend c) and for the TA (ta-c), so that times differ by the world and not by the code. KERNEL:
 * memcpy, memtouch or intloop. The digests of these backends are such code, too.
 */

#include <teemark/kernels.h>
#include <teemark/ta_bench.h>

#include "tee_client.h"
#include "workload.h"

static const char *const kernels[] = {
	[TA_BENCH_KERNEL_MEMCPY] = "memcpy",
	[TA_BENCH_KERNEL_MEMTOUCH] = "memtouch",
	[TA_BENCH_KERNEL_INTLOOP] = "intloop",
	NULL,
};

struct same_code {
	struct buffer in, copy; /* for backend c */
	uint64_t result, want;
};

/* Returns the backend whose sessions are with the bench TA, which runs the code. */
static const struct backend *ta_backend(void)
{
	return backend_by_name("tee");
}

static int same_parse(struct bench_case *c, struct error *err)
{
	if (strcmp(c->backend_name, "ta-c") && strcmp(c->backend_name, "c"))
		return case_wrong(err, "the same code runs in backends c and ta-c, not in \"%s\"",
				  c->backend_name);
	return case_in_ta(c) ? pool_reserve(c->pool, ta_backend(), WORKPLACE_SAME_CODE,
					    (size_t)c->bytes, err) :
			       0;
}

static uint64_t run_here(const struct same_code *s, enum ta_bench_kernel kernel, size_t bytes)
{
	switch (kernel) {
	case TA_BENCH_KERNEL_MEMCPY:
		return kernel_memcpy(s->copy.data, KERNEL_COPY_BYTES, s->in.data, bytes);
	case TA_BENCH_KERNEL_MEMTOUCH:
		return kernel_memtouch(s->in.data, bytes);
	case TA_BENCH_KERNEL_INTLOOP:
		break;
	}
	return kernel_intloop(bytes);
}

static int same_prepare(struct bench_case *c, struct error *err)
{
	struct same_code *s = c->state;
	size_t bytes = (size_t)c->bytes;
	int ret;

	c->result = &s->result;
	c->want = &s->want;
	c->want_bytes = sizeof(s->want);
	ret = buffer_alloc(NULL, NULL, bytes, &s->in, err);
	if (!ret)
		ret = buffer_alloc(NULL, NULL, KERNEL_COPY_BYTES, &s->copy, err);
	if (ret)
		return ret;
	pool_message(s->in.data, bytes);
	return case_in_ta(c) ? pool_workplace(c->pool, ta_backend(), WORKPLACE_SAME_CODE, bytes,
					      &c->workplace, err) :
			       0;
}

static int invoke(const struct bench_case *c, struct tee_session *tee, uint32_t repeat,
		  struct error *err)
{
	struct same_code *s = c->state;
	TEEC_Operation op = { 0 };
	int ret;

	tee_set_value(&op, 0, (uint32_t)c->name, repeat);
	tee_set_memref(&op, 1, TEEC_MEMREF_PARTIAL_INPUT, c->workplace->in.priv, 0,
		       (size_t)c->bytes);
	tee_set_type(&op, 2, TEEC_VALUE_OUTPUT);
	ret = tee_invoke(tee, TA_BENCH_CMD_KERNEL, &op, "run code in the bench TA", err);
	s->result = op.params[2].value.a | (uint64_t)op.params[2].value.b << 32;
	return ret;
}

static int same_run(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err)
{
	enum ta_bench_kernel kernel = (enum ta_bench_kernel)c->name;
	size_t bytes = (size_t)c->bytes;
	struct same_code *s = c->state;
	int ret = 0;

	if (c->workplace) { /* backend ta-c */
		struct tee_session *tee = workplace_ta(c->workplace);

		for (uint32_t i = 0; !ret && i < loops; i++)
			ret = invoke(c, tee, repeat, err);
		return ret;
	}
	for (uint32_t i = 0; i < loops; i++)
		for (uint32_t k = 0; k < repeat; k++)
			s->result = run_here(s, kernel, bytes);
	return ret;
}

/* Returns the expected result, computed byte by byte by different code. */
static uint64_t expected(const struct bench_case *c)
{
	const struct same_code *s = c->state;
	const uint8_t *p = s->in.data;
	uint64_t x = 0, first = 0, last = 0;
	size_t n = (size_t)c->bytes;
	size_t tail = n ? (n - 1) % KERNEL_COPY_BYTES + 1 : 0;

	switch ((enum ta_bench_kernel)c->name) {
	case TA_BENCH_KERNEL_MEMCPY:
		p += n - tail;
		for (size_t i = 0; i < 8 && i < tail; i++) {
			first |= (uint64_t)p[i] << 8 * i;
			last |= (uint64_t)p[tail < 8 ? i : tail - 8 + i] << 8 * i;
		}
		return first + 3 * last;
	case TA_BENCH_KERNEL_MEMTOUCH:
		for (size_t i = 0; i < n; i++)
			if (i % 64 < 8 && i / 64 * 64 + 8 <= n)
				x += (uint64_t)p[i] << 8 * (i % 64);
		return x;
	case TA_BENCH_KERNEL_INTLOOP:
		break;
	}
	while (n--)
		x = 6364136223846793005u * x + 1442695040888963407u;
	return x;
}

static int same_verify(struct bench_case *c, struct error *err)
{
	struct same_code *s = c->state;

	s->want = expected(c);
	return case_check(c, err);
}

static void same_teardown(struct bench_case *c)
{
	struct same_code *s = c->state;

	buffer_free(NULL, NULL, &s->in);
	buffer_free(NULL, NULL, &s->copy);
}

const struct workload workload_same_code = {
	.name = "same-code",
	.summary = "one source compiled for both worlds",
	.parameters = "BYTES",
	.names = kernels,
	.most = 1 << 28,
	.repeats = true,
	.state_size = sizeof(struct same_code),
	.parse = same_parse,
	.prepare = same_prepare,
	.run = same_run,
	.verify = same_verify,
	.ta_clock = true,
	.teardown = same_teardown,
};
