/* SPDX-License-Identifier: BSD-2-Clause */
/* One session for two. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/digest.h>
#include <teemark/ta_digest.h>

#include "board.h"
#include "torture.h"

struct partner {
	pthread_t thread;
	TEEC_Session *session;
	bool streams;
	unsigned int calls, right, refused, wrong;
	uint32_t strange; /* a result that is neither */
};

static void count_result(struct partner *p, TEEC_Result res, bool equal)
{
	if (res == TEEC_SUCCESS && equal)
		p->right++;
	else if (res == TEEC_SUCCESS)
		p->wrong++;
	else if (res == TEEC_ERROR_BUSY || res == TEEC_ERROR_BAD_STATE)
		p->refused++;
	else
		p->strange = res;
}

static void *take_part(void *arg)
{
	struct partner *p = arg;
	const struct algorithm *alg = algorithm_by_name(p->streams ? "sha512" : "sha256");
	const struct digest_class *class = digest_class_find(DIGEST_CODE_C, alg->id);
	uint8_t in[MAX_LEN], want[ALG_DIGEST_MAX_BYTES];
	union digest_ctx ctx;

	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)(i * 7 + p->streams);
	class->init(&ctx);
	class->update(&ctx, in, sizeof(in));
	class->final(&ctx, want);
	for (unsigned int i = 0; i < p->calls && !p->strange; i++) {
		uint8_t out[ALG_DIGEST_MAX_BYTES] = { 0 };
		size_t half = sizeof(in) / 2;
		TEEC_Result res;

		if (p->streams) {
			res = INVOKE(p->session, TA_DIGEST_CMD_INIT, TYPES(VALUE, NONE, NONE, NONE),
				     value(alg->id, i % 2));
			if (!res)
				res = INVOKE(p->session, TA_DIGEST_CMD_UPDATE,
					     TYPES(IN, NONE, NONE, NONE), memref(in, half));
			if (!res)
				res = INVOKE(p->session, TA_DIGEST_CMD_FINAL,
					     TYPES(IN, OUT, NONE, NONE),
					     memref(in + half, sizeof(in) - half),
					     memref(out, alg->out_bytes));
		} else {
			res = INVOKE(p->session, TA_DIGEST_CMD_ONESHOT,
				     TYPES(VALUE, IN, OUT, VALUE), value(alg->id, i % 2),
				     memref(in, sizeof(in)), memref(out, alg->out_bytes),
				     value(1, 0));
		}
		count_result(p, res, !memcmp(out, want, alg->out_bytes));
	}
	return NULL;
}

int check_parallel(char **argv)
{
	struct partner partners[2] = { 0 };
	TEEC_Session session;
	int bad = 0;

	if (open_session(&session, (TEEC_UUID)TA_DIGEST_UUID))
		die("cannot open a session of the digest TA");
	for (int i = 0; i < 2; i++) {
		partners[i].session = &session;
		partners[i].calls = atoi(argv[0]);
		partners[i].streams = i;
		if (pthread_create(&partners[i].thread, NULL, take_part, &partners[i]))
			die("no thread");
	}
	for (int i = 0; i < 2; i++) {
		struct partner *p = &partners[i];

		pthread_join(p->thread, NULL);
		printf("%s: %u right, %u refused, %u wrong, 0x%08x\n", i ? "streams" : "messages",
		       p->right, p->refused, p->wrong, p->strange);
		bad |= p->wrong || p->strange || !p->right;
	}
	/* Alive, and as before. */
	partners[0] = (struct partner){ .session = &session, .calls = 10 };
	take_part(&partners[0]);
	printf("afterwards: %u right\n", partners[0].right);
	TEEC_CloseSession(&session);
	return bad || partners[0].right != 10;
}
