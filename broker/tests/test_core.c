/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plugins' core over a TA that is made up: how often it is called, for
 * whom, and that nobody is given another's copy or another message's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "core.h"
#include "ta.h"

static unsigned int calls, asked_for, opened;
static uint32_t fresh;
static bool dead;

int tz_ta_open(struct tee_session **tee, bool extensions, struct error *err)
{
	static struct tee_session session;

	(void)extensions;
	(void)err;
	opened++;
	*tee = &session;
	return 0;
}

void tee_session_close(struct tee_session *session)
{
	(void)session;
}

int tee_shm_alloc(struct tee_session *session, size_t size, uint32_t flags, TEEC_SharedMemory **shm,
		  struct error *err)
{
	(void)session;
	(void)flags;
	(void)err;
	*shm = calloc(1, sizeof(**shm));
	(*shm)->buffer = malloc(size);
	(*shm)->size = size;
	return 0;
}

void tee_shm_free(struct tee_session *session, TEEC_SharedMemory *shm)
{
	(void)session;
	free(shm->buffer);
	free(shm);
}

/*
 * The TA: a copy is the message with its receiver's id at byte 40. Nobody whose
 * id begins with x may read; a message with '!' at byte 30 is refused.
 */
int tee_invoke(struct tee_session *session, uint32_t command, TEEC_Operation *op, const char *doing,
	       struct error *err)
{
	const TEEC_RegisteredMemoryReference *in = &op->params[0].memref;
	const TEEC_RegisteredMemoryReference *out = &op->params[2].memref;
	const uint8_t *names = op->params[1].memref.parent->buffer;
	const uint8_t *end = names + op->params[1].memref.size;
	const uint8_t *message = in->parent->buffer;
	uint8_t *copy = (uint8_t *)out->parent->buffer + out->offset;

	(void)session;
	(void)doing;
	assert_int_equal(command, TA_BROKER_CMD_FORWARD);
	calls++;
	fresh = op->params[3].value.a;
	op->params[3].value.a = 0;
	asked_for = 0;
	if (dead) {
		dead = false;
		err->code = -EIO;
		err->tee_result = TEEC_ERROR_TARGET_DEAD;
		return -EIO;
	}
	if (message[30] == '!') {
		err->code = -EPERM;
		return -EPERM;
	}
	names += 2 + ((size_t)names[0] << 8 | names[1]);
	for (; names < end; names += 1 + names[0], asked_for++) {
		assert_true(copy + in->size <= (uint8_t *)out->parent->buffer + out->parent->size);
		memcpy(copy, message, in->size);
		memset(copy + 40, 0, 20);
		memcpy(copy + 40, names + 1, names[0]);
		if (names[1] != 'x')
			op->params[3].value.a |= 1u << asked_for;
		copy += (in->size + 15) / 16 * 16;
	}
	return 0;
}

static uint8_t message[TZ_MESSAGE_MAX + 1];

static void new_message(uint8_t which)
{
	memset(message, which, sizeof(message));
}

static struct tz_core *core;

static int setup(void **state)
{
	struct tz_core_options options = { .expect = true };

	(void)state;
	opened = 0;
	return tz_core_open(&core, &options, NULL);
}

static int teardown(void **state)
{
	(void)state;
	tz_core_close(core);
	return 0;
}

static bool gets(const char *topic, const char *who, size_t len)
{
	const uint8_t *copy = tz_core_copy(core, topic, who, message, len, NULL);

	if (!copy)
		return false;
	assert_string_equal((const char *)copy + 40, who);
	assert_memory_equal(copy, message, 40);
	return true;
}

static int arrives(const char *topic, uint8_t which, size_t len)
{
	struct error err = { 0 };

	new_message(which);
	return tz_core_arrived(core, topic, message, len, &err);
}

/* The second message is one call for all; who went isn't made a copy again. */
static void test_those_who_got_the_last_are_expected(void **state)
{
	(void)state;
	assert_int_equal(arrives("tz/a", 1, 100), 0);
	assert_int_equal(fresh, TZ_FRESH);
	assert_true(gets("tz/a", "ann", 100));
	assert_int_equal(fresh, 0);
	assert_true(gets("tz/a", "bob", 100));
	assert_false(gets("tz/a", "xenia", 100));
	assert_true(gets("tz/a", "ann", 100)); /* a second subscription */
	assert_int_equal(calls, 4);
	calls = 0;
	assert_int_equal(arrives("tz/a", 2, 100), 0);
	assert_int_equal(asked_for, 3);
	assert_true(gets("tz/a", "bob", 100));
	assert_false(gets("tz/a", "xenia", 100));
	assert_int_equal(calls, 1);
	assert_int_equal(arrives("tz/a", 3, 100), 0);
	assert_int_equal(asked_for, 2); /* ann took none */
	assert_int_equal(arrives("tz/b", 4, 100), 0);
	assert_int_equal(asked_for, 0); /* another topic */
	assert_int_equal(tz_core_counts(core)->copies, 3);
	assert_int_equal(tz_core_counts(core)->expected, 1);
}

/* A queued message comes by when another one is at hand. */
static void test_a_copy_is_of_the_message_that_is_asked_about(void **state)
{
	(void)state;
	arrives("tz/a", 1, 100);
	assert_true(gets("tz/a", "ann", 100));
	arrives("tz/a", 2, 100);
	new_message(1);
	calls = 0;
	assert_true(gets("tz/a", "ann", 100));
	assert_int_equal(calls, 1);
	assert_true(gets("tz/b", "ann", 100)); /* the same on another topic */
	assert_int_equal(calls, 2);
	assert_true(gets("tz/b", "ann", 90)); /* and a shorter one */
	assert_int_equal(calls, 3);
}

static void test_what_the_ta_refuses_leaves_nothing(void **state)
{
	(void)state;
	arrives("tz/a", 1, 100);
	assert_true(gets("tz/a", "ann", 100));
	assert_int_not_equal(arrives("tz/a", '!', 100), 0);
	assert_null(tz_core_copy(core, "tz/a", "ann", message, 100, NULL));
	assert_int_equal(tz_core_counts(core)->refused, 1);
	assert_int_not_equal(arrives("tz/a", 1, TZ_MESSAGE_MAX + 1), 0);
	assert_int_not_equal(arrives("tz/a", 1, 0), 0);
	assert_false(gets("tz/a", "an id that is longer than thirty-two", 100));
	assert_false(gets("tz/a", "", 100));
}

/* More readers than one call takes, and than the output has room for. */
static void test_many_readers_and_long_messages(void **state)
{
	static const size_t sizes[] = { 100, TZ_TEXT_MAX };

	(void)state;
	for (int s = 0; s < 2; s++) {
		for (uint8_t round = 0; round < 3; round++) {
			char who[32];

			arrives("tz/a", (uint8_t)(10 + round), sizes[s]);
			for (int i = 0; i < 100; i++) {
				snprintf(who, sizeof(who), "reader%d", i);
				assert_true(gets("tz/a", who, sizes[s]));
			}
		}
	}
}

static void test_a_ta_that_died_is_opened_again(void **state)
{
	(void)state;
	dead = true;
	assert_int_not_equal(arrives("tz/a", 1, 100), 0);
	assert_int_equal(arrives("tz/a", 2, 100), 0);
	assert_true(gets("tz/a", "ann", 100));
	assert_int_equal(opened, 2);
}

static bool no_random;

/* In the place of OpenSSL's. */
int RAND_bytes(unsigned char *out, int len)
{
	memset(out, 7, (size_t)len);
	return !no_random;
}

static void test_without_random_bytes_nothing_is_sealed_anew(void **state)
{
	struct tz_client sender = { .id = "ann", .key = { 1 }, .counter = 1 };
	struct tz_client receiver = { .id = "bob", .key = { 2 } };
	uint8_t sealed[100 + TZ_OVERHEAD(3)], plain[100] = { 0 }, copy[sizeof(sealed)];
	struct error err = { 0 };

	(void)state;
	assert_int_equal(tz_seal(&sender, "tz/a", plain, sizeof(plain), sealed, &err), 0);
	no_random = true;
	assert_int_equal(tz_reencrypt(&sender, &receiver, "tz/a", sealed, sizeof(sealed), plain,
				      copy, &err),
			 -EIO);
	no_random = false;
	assert_int_equal(tz_reencrypt(&sender, &receiver, "tz/a", sealed, sizeof(sealed), plain,
				      copy, &err),
			 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_those_who_got_the_last_are_expected),
		TEST(test_a_copy_is_of_the_message_that_is_asked_about),
		TEST(test_what_the_ta_refuses_leaves_nothing),
		TEST(test_many_readers_and_long_messages),
		TEST(test_a_ta_that_died_is_opened_again),
		TEST(test_without_random_bytes_nothing_is_sealed_anew),
	};

	return cmocka_run_group_tests_name("broker core", tests, NULL, NULL);
}
