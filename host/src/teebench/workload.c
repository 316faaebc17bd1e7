/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

int case_number(const char *text, const char *what, uint64_t max,
		uint64_t *value, struct error *err)
{
	bool too_large = false;
	uint64_t n = 0;

	if (!*text || (text[0] == '0' && text[1]))
		goto bad;
	for (const char *p = text; *p; p++) {
		unsigned digit = (unsigned)(*p - '0');

		if (digit > 9)
			goto bad;
		too_large = too_large || n > (UINT64_MAX - digit) / 10;
		n = n * 10 + digit;
	}
	if (too_large || n > max)
		return error_set(err, -EINVAL,
				 "%s is too large, at most %llu is possible: "
				 "%s",
				 what, (unsigned long long)max, text);
	*value = n;
	return 0;
bad:
	return error_set(err, -EINVAL, "%s is \"%s\", not a decimal number",
			 what, text);
}

int case_need_algorithm(struct bench_case *c, enum alg_class class,
			enum alg_class or_class, const char *what,
			struct error *err)
{
	c->algorithm = algorithm_by_name(c->algorithm_name);
	if (c->algorithm &&
	    (c->algorithm->class == class || c->algorithm->class == or_class))
		return case_need_backend(c, err);
	return error_set(err, -EINVAL, "\"%s\" is not %s", c->algorithm_name,
			 what);
}

int case_need_backend(struct bench_case *c, struct error *err)
{
	c->backend = backend_by_name(c->backend_name);
	if (!c->backend)
		return error_set(err, -EINVAL, "there is no backend \"%s\"",
				 c->backend_name);
	return 0;
}

int case_need_tee(struct bench_case *c, struct error *err)
{
	c->backend = backend_by_name("tee");
	if (strcmp(c->backend_name, c->backend->name))
		return error_set(err, -EINVAL,
				 "workload %s is for backend tee only, not "
				 "for \"%s\"",
				 c->workload_name, c->backend_name);
	return 0;
}

int case_need_no_parameters(const struct bench_case *c, struct error *err)
{
	if (strcmp(c->parameters, "none"))
		return error_set(err, -EINVAL,
				 "workload %s has no parameters \"%s\": "
				 "write \"none\"",
				 c->workload_name, c->parameters);
	return 0;
}

int case_need_blocks(const struct bench_case *c, uint64_t bytes,
		     struct error *err)
{
	if (bytes && bytes % c->algorithm->unit_bytes == 0)
		return 0;
	return error_set(err, -EINVAL,
			 "a message of %s has a multiple of %u bytes, not %llu",
			 c->algorithm->title, c->algorithm->unit_bytes,
			 (unsigned long long)bytes);
}

int case_bytes(struct bench_case *c, const char *text, uint64_t max,
	       struct error *err)
{
	uint64_t bytes;
	int ret = case_number(text, "the number of bytes", max, &bytes, err);

	if (!ret)
		c->bytes = (int64_t)bytes;
	return ret;
}

int case_choice(const char *text, const char *const *names, const char *what,
		struct error *err)
{
	char all[160] = "";
	size_t len = 0;

	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], text))
			return i;
	for (size_t i = 0; names[i] && len < sizeof(all); i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s",
					i ? ", " : "", names[i]);
	return error_set(err, -EINVAL, "\"%s\" is not %s (%s)", text, what,
			 all);
}

bool case_in_ta(const struct bench_case *c)
{
	const struct backend *backend = backend_by_name(c->backend_name);

	return backend && backend->crosses;
}

bool case_calls_tee(const struct bench_case *c)
{
	return case_in_ta(c) || !strncmp(c->backend_name, "tee-", 4);
}

struct measure_target case_target(const struct bench_case *c)
{
	return (struct measure_target){
		.run = c->workload->run,
		.state = c->state,
		.ready = c->workload->ready,
		.loops_max = c->loops_max,
	};
}

int case_prepare(struct bench_case *c, struct pool *pool, struct error *err)
{
	c->state = calloc(1, c->workload->state_size);
	if (!c->state)
		return error_set(err, -ENOMEM, "out of memory");
	return c->workload->prepare(c, pool, err);
}

void case_teardown(struct bench_case *c)
{
	if (c->state && c->workload->teardown)
		c->workload->teardown(c->state);
	free(c->state);
	c->state = NULL;
}
