/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>

#include "storage.h"

const char *const storage_ops[] = {
	[STORAGE_CREATE] = "create",
	[STORAGE_OPEN] = "open",
	[STORAGE_READ] = "read",
	[STORAGE_WRITE] = "write",
	[STORAGE_RENAME] = "rename",
	[STORAGE_TRUNCATE] = "truncate",
	[STORAGE_DELETE] = "delete",
	[STORAGE_OPEN_READ_CLOSE] = "open-read-close",
	[STORAGE_OPS] = NULL,
};

/* From the key, so that a run that was killed leaves what the next removes. */
static void make_name(struct storage_job *job, const char *key)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

	for (const char *p = key; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 0x100000001b3u;
	snprintf(job->name, sizeof(job->name), "teemark-%016llx",
		 (unsigned long long)hash);
}

void storage_job_of(const struct bench_case *c, struct storage_job *job)
{
	job->op = (enum storage_op)case_choice(c->algorithm_name, storage_ops,
					       "", NULL);
	job->bytes = (size_t)c->bytes;
	make_name(job, c->key);
}

int storage_wrong(struct error *err, const struct storage_job *job,
		  const char *what)
{
	return error_set(err, -EBADMSG, "%s an object of %zu bytes: %s",
			 storage_ops[job->op], job->bytes, what);
}

uint32_t storage_loops_max(enum storage_op op, uint32_t made_max)
{
	return op == STORAGE_READ || op == STORAGE_WRITE ||
			       op == STORAGE_RENAME ||
			       op == STORAGE_OPEN_READ_CLOSE ?
		       0 :
		       made_max;
}
