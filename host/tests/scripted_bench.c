/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * teebench on a board whose truth is known: its clock moves only as this script says, and its TEE
 * is here. What it writes goes through the lab to the cells of a report
 * (lab/tests/.../test_clock_to_cell.py has the same numbers).
 *
 * In nanoseconds: a call into the TEE takes 40,000, of which 10,000 are the client's and the driver's
 * and 3,000 the TA's. A message takes 500 for each of its pages and 2,000 for a request of the TEE's
 * to the normal world besides. A block of SHA-256 takes 640 by the TEE's API, 480 by C in the TA, 400
 * by C here and 64 by OpenSSL, which takes 700 for each message besides. The first call of each
 * command takes a million more; each call into the TEE waits 50 for a CPU.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlfcn.h>

#include <teemark/digest.h>
#include <teemark/ta_digest.h>

#include "clock.h"
#include "ta_counter.h"
#include "ta_session.h"
#include "tee_client.h"
#include "tracepoints.h"
#include "usage.h"

enum {
	CALL_NS = 40000,
	CLIENT_NS = 10000, /* of the call */
	INSIDE_NS = 3000,  /* of the call */
	PAGE_NS = 500,
	REQUEST_NS = 2000,
	FIRST_NS = 1000000,
	TEE_BLOCK_NS = 640,
	TA_C_BLOCK_NS = 480,
	C_BLOCK_NS = 400,
	OPENSSL_BLOCK_NS = 64,
	OPENSSL_NS = 700,
	WAIT_NS = 50,
};

static uint64_t now = 1000000000, inside_ns, last_call_ns;
static bool requested; /* by the TEE, in the last call */
static struct usage used;
static bool counting; /* the TA's own clock */

/* Passes time in the kernel or the TEE, or else in this process. */
static void take(uint64_t ns, bool system)
{
	static uint64_t ns_of[2];

	now += ns;
	ns_of[system] += ns;
	used.user_us = (int64_t)(ns_of[false] / 1000);
	used.sys_us = (int64_t)(ns_of[true] / 1000);
}

static uint64_t blocks(size_t len)
{
	return (len + 9 + 63) / 64;
}

/* ---- Clocks. */

uint64_t __wrap_clock_now_ns(void);
void __wrap_clock_measure(struct clock_facts *facts);
void __wrap_usage_read(const struct usage_meter *meter, struct usage *usage);

uint64_t __wrap_clock_now_ns(void)
{
	return now;
}

void __wrap_clock_measure(struct clock_facts *facts)
{
	*facts = (struct clock_facts){ 1, 1, 1 };
}

void __wrap_usage_read(const struct usage_meter *meter, struct usage *usage)
{
	(void)meter;
	*usage = used;
}

void __wrap_ta_counter_find(struct ta_counter *counter);
int __wrap_ta_counter_start(const struct ta_counter *counter, struct tee_session *tee,
			    struct error *err);
int __wrap_ta_counter_stop(const struct ta_counter *counter, struct tee_session *tee, uint64_t *ns,
			   struct error *err);

void __wrap_ta_counter_find(struct ta_counter *counter)
{
	*counter = (struct ta_counter){ .clock = TA_CLOCK_VIRTUAL, .hz = 1000000000 };
}

int __wrap_ta_counter_start(const struct ta_counter *counter, struct tee_session *tee,
			    struct error *err)
{
	(void)counter;
	(void)tee;
	(void)err;
	counting = true;
	inside_ns = 0;
	return 0;
}

int __wrap_ta_counter_stop(const struct ta_counter *counter, struct tee_session *tee, uint64_t *ns,
			   struct error *err)
{
	(void)counter;
	(void)tee;
	(void)err;
	counting = false;
	*ns = inside_ns;
	return 0;
}

/* ---- The normal world: right results, in the script's time. */

const struct digest_class *__real_digest_class_find(enum digest_code code, uint16_t id);
const struct digest_class *__wrap_digest_class_find(enum digest_code code, uint16_t id);
void *__real_dlsym(void *handle, const char *name);
void *__wrap_dlsym(void *handle, const char *name);

static size_t hashed;

static void c_update(union digest_ctx *ctx, const void *data, size_t len)
{
	hashed += len;
	sha256_c.update(ctx, data, len);
}

static void c_final(union digest_ctx *ctx, uint8_t *out)
{
	take(blocks(hashed) * C_BLOCK_NS, false);
	hashed = 0;
	sha256_c.final(ctx, out);
}

const struct digest_class *__wrap_digest_class_find(enum digest_code code, uint16_t id)
{
	static struct digest_class sha256;
	const struct digest_class *real = __real_digest_class_find(code, id);

	sha256 = (struct digest_class){ sha256_c.alg_id, sha256_c.init, c_update, c_final };
	return real == &sha256_c ? &sha256 : real;
}

static int (*real_update)(void *ctx, const void *data, size_t len);

static int openssl_update(void *ctx, const void *data, size_t len)
{
	take(OPENSSL_NS + blocks(len) * OPENSSL_BLOCK_NS, false);
	return real_update(ctx, data, len);
}

void *__wrap_dlsym(void *handle, const char *name)
{
	void *symbol = __real_dlsym(handle, name);

	if (strcmp(name, "EVP_DigestUpdate"))
		return symbol;
	memcpy(&real_update, &symbol, sizeof(symbol));
	return (void *)openssl_update;
}

/* ---- The TEE. */

int __wrap_tee_probe(struct error *err);
int __wrap_ta_session_open(const struct ta_name *ta, struct tee_session **tee, uint32_t *more,
			   struct error *err);
void __wrap_tee_session_close(struct tee_session *session);
int __wrap_tee_shm_alloc(struct tee_session *session, size_t size, uint32_t flags,
			 TEEC_SharedMemory **shm, struct error *err);
void __wrap_tee_shm_free(struct tee_session *session, TEEC_SharedMemory *shm);
int __wrap_tee_invoke(struct tee_session *session, uint32_t command, TEEC_Operation *op,
		      const char *doing, struct error *err);
int __wrap_tee_invoke_times(struct tee_session *session, uint32_t command, TEEC_Operation *op,
			    uint32_t times, const char *doing, struct error *err);

static struct tee_session ta = { .context_ns = 110000, .open_ns = 5000000, .first_ns = 1200000 };

int __wrap_tee_probe(struct error *err)
{
	(void)err;
	return 0;
}

int __wrap_ta_session_open(const struct ta_name *name, struct tee_session **tee, uint32_t *more,
			   struct error *err)
{
	(void)name;
	(void)err;
	*tee = &ta;
	*more = 1u << TA_DIGEST_IMPL_TEE | 1u << TA_DIGEST_IMPL_C;
	return 0;
}

void __wrap_tee_session_close(struct tee_session *session)
{
	(void)session;
}

int __wrap_tee_shm_alloc(struct tee_session *session, size_t size, uint32_t flags,
			 TEEC_SharedMemory **shm, struct error *err)
{
	(void)session;
	(void)flags;
	(void)err;
	*shm = calloc(1, sizeof(**shm));
	(*shm)->buffer = calloc(1, size);
	(*shm)->size = size;
	return 0;
}

void __wrap_tee_shm_free(struct tee_session *session, TEEC_SharedMemory *shm)
{
	(void)session;
	if (shm)
		free(shm->buffer);
	free(shm);
}

/* Hashes in the TA; returns how long that takes. */
static uint64_t hash(TEEC_Operation *op)
{
	const TEEC_RegisteredMemoryReference *in = &op->params[1].memref;
	uint64_t block_ns = op->params[0].value.b == TA_DIGEST_IMPL_C ? TA_C_BLOCK_NS :
									TEE_BLOCK_NS;
	union digest_ctx ctx;

	sha256_c.init(&ctx);
	sha256_c.update(&ctx, in->parent->buffer, in->size);
	sha256_c.final(&ctx, op->params[2].memref.parent->buffer);
	op->params[2].memref.size = 32;
	return op->params[3].value.a * blocks(in->size) * block_ns;
}

int __wrap_tee_invoke(struct tee_session *session, uint32_t command, TEEC_Operation *op,
		      const char *doing, struct error *err)
{
	static bool known[64];
	uint64_t work = 0, pages = 0;

	(void)session;
	(void)doing;
	/* A case asks with an INIT whether there is its algorithm. */
	if (command != TA_DIGEST_CMD_NOP && command != TA_DIGEST_CMD_ONESHOT &&
	    command != TA_DIGEST_CMD_INIT)
		return error_set(err, -ENOSYS, "the script knows no command %u", command);
	requested = command == TA_DIGEST_CMD_ONESHOT;
	if (requested) {
		pages = (op->params[1].memref.size + 4095) / 4096;
		work = hash(op);
	}
	if (counting)
		inside_ns += INSIDE_NS + work;
	used.runq_ns += WAIT_NS;
	last_call_ns = CALL_NS + pages * PAGE_NS + work + (requested ? REQUEST_NS : 0) +
		       (known[command] ? 0 : FIRST_NS);
	take(last_call_ns, true);
	known[command] = true;
	return 0;
}

int __wrap_tee_invoke_times(struct tee_session *session, uint32_t command, TEEC_Operation *op,
			    uint32_t times, const char *doing, struct error *err)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < times; i++)
		ret = __wrap_tee_invoke(session, command, op, doing, err);
	return ret;
}

/* ---- The kernel's tracepoints: a leg a call, or two with a request for memory between. */

int __wrap_tracepoints_open_legs(struct tracepoints **trace, struct error *err);
int __wrap_tracepoints_start_legs(struct tracepoints *trace, struct error *err);
int __wrap_tracepoints_stop_legs(struct tracepoints *trace, struct tracepoint_legs *legs,
				 struct error *err);
void __wrap_tracepoints_close_legs(struct tracepoints *trace);

int __wrap_tracepoints_open_legs(struct tracepoints **trace, struct error *err)
{
	(void)err;
	*trace = NULL;
	return 0;
}

int __wrap_tracepoints_start_legs(struct tracepoints *trace, struct error *err)
{
	(void)trace;
	(void)err;
	return 0;
}

int __wrap_tracepoints_stop_legs(struct tracepoints *trace, struct tracepoint_legs *legs,
				 struct error *err)
{
	uint64_t begin = CLIENT_NS / 2, end = last_call_ns - CLIENT_NS / 2;

	(void)trace;
	(void)err;
	legs->count = 0;
	if (requested) {
		legs->list[legs->count++] =
			(struct tracepoint_leg){ begin, begin + 8000, 0xffff0000 };
		begin += 8000 + REQUEST_NS;
	}
	legs->list[legs->count++] = (struct tracepoint_leg){ begin, end, 0 };
	return 0;
}

void __wrap_tracepoints_close_legs(struct tracepoints *trace)
{
	(void)trace;
}
