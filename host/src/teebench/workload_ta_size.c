/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ta-size/KIB/tee/none: an empty call to a TA with KIB KiB of data, all of which OP-TEE maps on
 * every call.
 */

#include <teemark/ta_size.h>

#include "tee_call.h"

static const unsigned sizes[] = TA_SIZE_ALL;
static const char *const names[] = {
	"32", "256", "1024", "4096", "8192", NULL,
};

_Static_assert(sizeof(sizes) / sizeof(*sizes) == sizeof(names) / sizeof(*names) - 1,
	       "a size without a name");

static int size_prepare(struct bench_case *c, struct error *err)
{
	unsigned kib = sizes[c->name];
	TEEC_UUID uuid = TA_SIZE_UUID(0);
	char name[40];
	struct tee_call *s = c->state;
	int ret;

	uuid.clockSeqAndNode[5] = TA_SIZE_BCD_(kib, 10000);
	uuid.clockSeqAndNode[6] = TA_SIZE_BCD_(kib, 100);
	uuid.clockSeqAndNode[7] = TA_SIZE_BCD_(kib, 1);
	snprintf(name, sizeof(name), "the size TA of %u KiB", kib);
	s->command = TA_SIZE_CMD_NOP;
	s->doing = "make an empty call to a size TA";
	ret = tee_session_open(&s->tee, &uuid, name, err);
	if (ret && error_tee_memory(err))
		error_hint(err, "ta-too-large",
			   "the secure world's memory has no room for a TA of this size");
	return ret;
}

/* Checks that the size TA accepts its empty command, which has no output, and refuses another. */
static int size_verify(struct bench_case *c, struct error *err)
{
	struct tee_call *s = c->state;
	struct error refused = { 0 };

	if (tee_invoke(s->tee, TA_SIZE_CMD_NOP + 1, &s->op, "test", &refused) != -EOPNOTSUPP)
		return error_set(err, -EPROTO,
				 "what answers is not the size TA: it takes a "
				 "command that there is not");
	return tee_call_run(c, 1, 1, err);
}

static void size_teardown(struct bench_case *c)
{
	tee_session_close(((struct tee_call *)c->state)->tee);
}

const struct workload workload_ta_size = {
	.name = "ta-size",
	.summary = "an empty call, by the TA's size of data in KiB",
	.parameters = "none",
	.names = names,
	.backend = "tee",
	.state_size = sizeof(struct tee_call),
	.prepare = size_prepare,
	.run = tee_call_run,
	.verify = size_verify,
	.teardown = size_teardown,
};
