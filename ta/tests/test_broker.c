/* SPDX-License-Identifier: BSD-2-Clause */
/* The broker TA: who gets what, and what nobody gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../broker/broker.h"
#include "broker_client.h"
#include "shim.h"

#define FRESH TZ_FRESH

static const uint8_t text[] = "a plaintext that must not be anywhere else";
#define LEN (sizeof(text) - 1)

static int setup(void **state)
{
	struct world *world = malloc(sizeof(*world));

	shim_secret_len = 0;
	shim_storage_result = 0;
	world_make(world);
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	world_end(*state);
	free(*state);
	assert_int_equal(shim_allocations, 0);
	return 0;
}

/* Does the client get the text from copy i of a message of that length? */
static bool gets(struct tz_client *client, const char *topic, size_t len, unsigned int i)
{
	static uint8_t plain[TZ_MESSAGE_MAX];
	struct tz_opened opened;

	return !tz_open(client, topic, output + i * ((len + 15) / 16 * 16), len, plain, &opened,
			NULL) &&
	       opened.len == LEN && !memcmp(plain, text, LEN);
}

static void hex(const uint8_t *bytes, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++)
		sprintf(out + 2 * i, "%02x", bytes[i]);
}

/* Makes a client whose key is agreed with that enrolment key. */
static void agreed_client(struct world *w, struct tz_client *client, const char *id,
			  const uint8_t identity[TZ_PUBLIC_BYTES])
{
	char path[128], digits[2 * TZ_PUBLIC_BYTES + 1];

	hex(identity, TZ_PUBLIC_BYTES, digits);
	snprintf(path, sizeof(path), "%s/%s", w->folder, id);
	unlink(path);
	assert_int_equal(tz_client_make(client, id, path, digits, NULL), 0);
}

static void test_each_reader_gets_a_copy_of_its_own(void **state)
{
	struct world *w = *state;
	size_t len = seal(&w->alice, "tz/c", text, LEN);
	size_t step = (len + 15) / 16 * 16;
	uint32_t done = 0;

	assert_int_equal(call_forward(w, "tz/c", "bob,nobody,carol,alice", len, FRESH, &done),
			 TEE_SUCCESS);
	assert_int_equal(done, 5);
	assert_true(gets(&w->bob, "tz/c", len, 0));
	assert_true(gets(&w->carol, "tz/c", len, 2));
	assert_false(gets(&w->carol, "tz/c", len, 0));
	assert_false(gets(&w->bob, "tz/d", len, 0));
	assert_memory_not_equal(output, output + 2 * step, len);
	/* A message that the TA sealed is none for the TA. */
	memcpy(message, output, len);
	assert_int_equal(call_forward(w, "tz/c", "bob", len, 0, &done), TEE_ERROR_BAD_FORMAT);
	assert_int_equal(statistics(w).refused, 2);
	assert_int_equal(statistics(w).copies, 2);
}

static void test_rules_decide_who_reads_and_who_publishes(void **state)
{
	struct world *w = *state;
	uint32_t done = 0;
	size_t len = seal(&w->alice, "tz/d", text, LEN);

	assert_int_equal(call_forward(w, "tz/d", "carol", len, FRESH, &done), TEE_SUCCESS);
	assert_int_equal(done, 0);
	len = seal(&w->bob, "tz/c", text, LEN);
	assert_int_equal(call_forward(w, "tz/c", "carol", len, FRESH, &done),
			 TEE_ERROR_ACCESS_DENIED);
	assert_int_equal(done, 0);
	assert_int_equal(statistics(w).dropped[TZ_DROP_POLICY], 1);
	/* New rules hold from the next message on, and the key stays. */
	assert_int_equal(call_order(w, TZ_POLICY, &w->carol, "r tz/d\nw tz/c\n"), TEE_SUCCESS);
	len = seal(&w->alice, "tz/d", text, LEN);
	call_forward(w, "tz/d", "carol", len, FRESH, &done);
	assert_true(gets(&w->carol, "tz/d", len, 0));
	len = seal(&w->carol, "tz/c", text, LEN);
	assert_int_equal(call_forward(w, "tz/c", "bob", len, FRESH, &done), TEE_SUCCESS);
}

/* A call that fails writes not a byte: neither a copy's head, nor text, nor tag. */
static void fails(struct world *w, const char *topic, const char *receivers, size_t len,
		  TEE_Result expected)
{
	uint32_t done = 7;

	memset(output, 0xee, sizeof(output));
	assert_int_equal(call_forward(w, topic, receivers, len, FRESH, &done), expected);
	assert_int_equal(done, 0);
	for (size_t i = 0; i < 3 * (len + 16); i++)
		assert_int_equal(output[i], 0xee);
}

/* Any bit of it, or the topic: nothing is sealed, and it may come after. */
static void test_a_changed_message_gives_nothing(void **state)
{
	struct world *w = *state;
	size_t len = seal(&w->alice, "tz/c", text, LEN);
	uint32_t done = 0;

	for (size_t bit = 0; bit < 8 * len; bit += 3) {
		message[bit / 8] ^= 1 << bit % 8;
		memset(output, 0xee, 2 * len);
		assert_int_not_equal(call_forward(w, "tz/c", "bob,carol", len, FRESH, &done),
				     TEE_SUCCESS);
		assert_int_equal(done, 0);
		for (size_t i = 0; i < 2 * len; i++)
			assert_int_equal(output[i], 0xee);
		message[bit / 8] ^= 1 << bit % 8;
	}
	fails(w, "tz/x", "bob", len, TEE_ERROR_MAC_INVALID);
	fails(w, "tz/c", "bob", len - 1, TEE_ERROR_MAC_INVALID);
	assert_int_equal(call_forward(w, "tz/c", "bob", len, FRESH, &done), TEE_SUCCESS);
	assert_true(gets(&w->bob, "tz/c", len, 0));
}

/*
 * Decrypts a copy as its receiver can who doesn't look at the tag. The nonce is that of a later copy
 * than `before`: the TA's salt and counter are known from any copy.
 */
static void open_without_tag(const struct tz_client *client, const uint8_t *before, size_t later,
			     const uint8_t *sealed, size_t len, uint8_t *plain)
{
	uint8_t counter[16], stream[16];
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int n = 0;

	memcpy(counter, before + TZ_NONCE, TZ_NONCE_BYTES);
	tz_put32(counter + 8, tz_get32(counter + 8) + (uint32_t)later);
	EVP_EncryptInit_ex(ctx, EVP_aes_256_ecb(), NULL, client->key, NULL);
	for (size_t i = 0; i < len; i++) {
		if (i % 16 == 0) {
			tz_put32(counter + 12, (uint32_t)(2 + i / 16));
			EVP_EncryptUpdate(ctx, stream, &n, counter, 16);
		}
		plain[i] = sealed[i] ^ stream[i % 16];
	}
	EVP_CIPHER_CTX_free(ctx);
}

/*
 * What alice sealed for tz/secret is handed over as if for tz/c, which carol may read: carol decrypts
 * whatever the call leaves in shared memory, without a tag. Long messages, too, and while memory
 * changes.
 */
static void test_a_message_for_another_topic_shows_nothing_without_a_tag(void **state)
{
	static const size_t sizes[] = { 16, 42, 2047, 4096, 60000 };
	static uint8_t plain[60000], seen[60000];
	struct world *w = *state;
	uint8_t before[TZ_HEAD_MAX];
	size_t len = seal(&w->alice, "tz/c", text, LEN), head = TZ_FIXED + 5;
	uint32_t done = 0;

	assert_int_equal(call_forward(w, "tz/c", "carol", len, FRESH, &done), TEE_SUCCESS);
	memcpy(before, output, sizeof(before));
	/* This is what a copy gives that was made. */
	open_without_tag(&w->carol, before, 0, output + head, LEN, seen);
	assert_memory_equal(seen, text, LEN);
	memset(plain, 0x5a, sizeof(plain));
	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t size = sizes[i / 2];

		len = seal(&w->alice, "tz/secret", plain, size);
		if (i % 2)
			shim_hostile[0] = (struct shim_region){ message + head, size };
		memset(output, 0xee, sizeof(output));
		assert_int_equal(call_forward(w, "tz/c", "carol,bob", len, FRESH, &done),
				 TEE_ERROR_MAC_INVALID);
		memset(shim_hostile, 0, sizeof(shim_hostile));
		for (size_t later = 1; later < 12; later++) {
			open_without_tag(&w->carol, before, later, output + head, size, seen);
			assert_memory_not_equal(seen, plain, size);
		}
		for (size_t at = 0; at < 3 * len; at++)
			assert_int_equal(output[at], 0xee);
	}
}

/* Rules, an unknown sender, a format, a storage that fails, a repeated message: nothing either. */
static void test_no_kind_of_failure_leaves_bytes_behind(void **state)
{
	struct world *w = *state;
	size_t len = seal(&w->bob, "tz/c", text, LEN);

	fails(w, "tz/c", "carol", len, TEE_ERROR_ACCESS_DENIED);
	len = seal(&w->alice, "tz/c", text, LEN);
	message[TZ_FIXED] ^= 1;
	fails(w, "tz/c", "carol", len, TEE_ERROR_ITEM_NOT_FOUND);
	message[TZ_FIXED] ^= 1;
	message[3] = TZ_FROM_BROKER;
	fails(w, "tz/c", "carol", len, TEE_ERROR_BAD_FORMAT);
	message[3] = TZ_TO_BROKER;
	world_restart(w);
	shim_storage_result = TEE_ERROR_STORAGE_NO_SPACE;
	fails(w, "tz/c", "bob,carol", len, TEE_ERROR_STORAGE_NO_SPACE);
	shim_storage_result = 0;
	assert_int_equal(call_forward(w, "tz/c", "bob", len, FRESH, NULL), TEE_SUCCESS);
	fails(w, "tz/c", "bob,carol", len, TEE_ERROR_ACCESS_CONFLICT);
}

static void test_a_message_comes_once(void **state)
{
	struct world *w = *state;
	static uint8_t sent[200][200];
	char path[sizeof(w->alice.path)];
	size_t len = 0;
	uint32_t done = 0;

	for (int i = 0; i < 200; i++) {
		len = seal(&w->alice, "tz/c", text, LEN);
		memcpy(sent[i], message, len);
	}
#define SEND(i, flags) \
	(memcpy(message, sent[i], len), call_forward(w, "tz/c", "bob", len, flags, &done))
	assert_int_equal(SEND(10, FRESH), TEE_SUCCESS);
	assert_int_equal(SEND(10, FRESH), TEE_ERROR_ACCESS_CONFLICT);
	assert_int_equal(SEND(10, 0), TEE_SUCCESS);    /* to a late reader */
	assert_int_equal(SEND(5, FRESH), TEE_SUCCESS); /* out of order */
	assert_int_equal(SEND(5, FRESH), TEE_ERROR_ACCESS_CONFLICT);
	assert_int_equal(SEND(73, FRESH), TEE_SUCCESS);
	assert_int_equal(SEND(10, FRESH), TEE_ERROR_ACCESS_CONFLICT);
	assert_int_equal(SEND(11, FRESH), TEE_SUCCESS);
	assert_int_equal(SEND(9, FRESH), TEE_ERROR_ACCESS_CONFLICT); /* 64 */
	assert_int_equal(SEND(199, FRESH), TEE_SUCCESS);
	assert_int_equal(SEND(135, FRESH), TEE_ERROR_ACCESS_CONFLICT);
	assert_int_equal(SEND(136, FRESH), TEE_SUCCESS);
	/* The counters that were seen outlive the instance. */
	world_restart(w);
	assert_int_equal(SEND(199, FRESH), TEE_ERROR_ACCESS_CONFLICT);
	assert_int_equal(SEND(198, FRESH), TEE_ERROR_ACCESS_CONFLICT);
	/* A start of the sender: an epoch that is larger; the old one ended. */
	strcpy(path, w->alice.path);
	assert_int_equal(tz_client_load(&w->alice, path, NULL), 0);
	len = seal(&w->alice, "tz/c", text, LEN);
	assert_int_equal(call_forward(w, "tz/c", "bob", len, FRESH, &done), TEE_SUCCESS);
	assert_int_equal(SEND(150, FRESH), TEE_ERROR_ACCESS_CONFLICT);
}

static void test_who_is_revoked_gets_nothing_more(void **state)
{
	struct world *w = *state;
	uint8_t again[700], *sealed = again;
	size_t len = seal(&w->alice, "tz/c", text, LEN), n = 0;
	uint32_t done = 0;

	call_forward(w, "tz/c", "bob,carol", len, FRESH, &done);
	assert_int_equal(done, 3);
	n = make_order(w, TZ_REVOKE, &w->bob, NULL, sealed);
	assert_int_equal(give(w, sealed, n), TEE_SUCCESS);
	call_forward(w, "tz/c", "bob,carol", len, 0, &done);
	assert_int_equal(done, 2);
	world_restart(w);
	call_forward(w, "tz/c", "bob,carol", len, 0, &done);
	assert_int_equal(done, 2);
	/* Back with a new key: an old order doesn't revoke it again. */
	new_client(w, &w->bob, "bob");
	assert_int_equal(call_order(w, TZ_ENROL, &w->bob, "r tz/#\n"), TEE_SUCCESS);
	assert_int_equal(give(w, sealed, n), TEE_ERROR_ACCESS_CONFLICT);
	call_forward(w, "tz/c", "bob", len, 0, &done);
	assert_true(gets(&w->bob, "tz/c", len, 0));
	/* A sender, too. */
	assert_int_equal(call_order(w, TZ_REVOKE, &w->alice, NULL), TEE_SUCCESS);
	assert_int_equal(call_forward(w, "tz/c", "bob", len, 0, &done), TEE_ERROR_ITEM_NOT_FOUND);
}

static void test_only_the_administrator_orders(void **state)
{
	struct world *w = *state;
	struct tz_client admin = w->admin;
	uint8_t sealed[700], other[1 + 6 + TZ_WRAPPED_BYTES] = "\6mallor";
	TEE_Param p[TEE_NUM_PARAMS] = { { .memref = { other, sizeof(other) } } };
	size_t n = 0;

	/* Claimed once, also after a restart. */
	assert_int_equal(call(w, TA_BROKER_CMD_CLAIM, 0x0005, p), TEE_ERROR_ACCESS_DENIED);
	world_restart(w);
	assert_int_equal(call(w, TA_BROKER_CMD_CLAIM, 0x0005, p), TEE_ERROR_ACCESS_DENIED);
	/* Alice is no administrator, whatever she calls herself. */
	w->admin = w->alice;
	memcpy(w->admin.identity, admin.identity, TZ_PUBLIC_BYTES);
	assert_int_equal(call_order(w, TZ_POLICY, &w->alice, "r #\n"), TEE_ERROR_ACCESS_DENIED);
	strcpy(w->admin.id, "admin");
	assert_int_equal(call_order(w, TZ_POLICY, &w->alice, "r #\n"), TEE_ERROR_MAC_INVALID);
	w->admin = admin;
	/* Nor does the administrator go by an order. */
	assert_int_equal(call_order(w, TZ_REVOKE, &w->admin, NULL), TEE_ERROR_ACCESS_DENIED);
	/* Twice the same; changed; a key that was wrapped for another id. */
	n = make_order(w, TZ_POLICY, &w->bob, "r tz/c\n", sealed);
	assert_int_equal(give(w, sealed, n), TEE_SUCCESS);
	assert_int_equal(give(w, sealed, n), TEE_ERROR_ACCESS_CONFLICT);
	n = make_order(w, TZ_POLICY, &w->bob, "r tz/c\n", sealed);
	sealed[n - 20] ^= 1;
	assert_int_equal(give(w, sealed, n), TEE_ERROR_MAC_INVALID);
	assert_int_equal(call_order(w, TZ_POLICY, &w->bob, "x tz\n"), TEE_ERROR_BAD_FORMAT);
	assert_int_equal(call_order(w, TZ_POLICY, &w->bob, "r tz"), TEE_ERROR_BAD_FORMAT);
	assert_int_equal(call_order(w, 'X', &w->bob, ""), TEE_ERROR_BAD_FORMAT);
	/* A message is no order, and an order no message. */
	n = seal(&w->admin, "", "x", 1);
	assert_int_equal(give(w, message, n), TEE_ERROR_BAD_FORMAT);
}

/* Orders that were sealed at one start of the administrator, each of them a rule of bob's. */
enum { ORDERS = 6 };
static uint8_t orders[ORDERS][700];
static size_t orders_len[ORDERS];

static void make_orders(struct world *w)
{
	char rules[24];

	for (int i = 0; i < ORDERS; i++) {
		snprintf(rules, sizeof(rules), "r tz/%d\n", i);
		orders_len[i] = make_order(w, i == 4 ? 'X' : TZ_POLICY, &w->bob, rules, orders[i]);
	}
}

static TEE_Result order(struct world *w, int i)
{
	return give(w, orders[i], orders_len[i]);
}

static void test_an_order_comes_once_and_in_its_sequence(void **state)
{
	struct world *w = *state;

	make_orders(w);
	assert_int_equal(order(w, 1), TEE_SUCCESS);
	assert_int_equal(order(w, 0), TEE_ERROR_ACCESS_CONFLICT); /* came late */
	assert_int_equal(order(w, 2), TEE_SUCCESS);
	/* Number 3 is lost, and 4 is refused for what it says: nothing before may come again. */
	assert_int_equal(order(w, 4), TEE_ERROR_BAD_FORMAT);
	for (int i = 0; i < 3; i++)
		assert_int_equal(order(w, i), TEE_ERROR_ACCESS_CONFLICT);
	world_restart(w);
	for (int i = 0; i < 3; i++)
		assert_int_equal(order(w, i), TEE_ERROR_ACCESS_CONFLICT);
	assert_int_equal(order(w, 5), TEE_SUCCESS);
	assert_int_equal(order(w, 3), TEE_ERROR_ACCESS_CONFLICT);
	assert_int_equal(order(w, 4), TEE_ERROR_ACCESS_CONFLICT);
}

/* The storage fails at an order: it wasn't obeyed, and may come again, as may none before it. */
static void test_an_order_that_storage_refuses_is_not_half_obeyed(void **state)
{
	struct world *w = *state;
	size_t len = seal(&w->alice, "tz/2", text, LEN);
	uint32_t done = 0;

	make_orders(w);
	assert_int_equal(order(w, 0), TEE_SUCCESS);
	shim_storage_result = TEE_ERROR_STORAGE_NO_SPACE;
	assert_int_equal(order(w, 2), TEE_ERROR_STORAGE_NO_SPACE);
	shim_storage_result = 0;
	assert_int_equal(order(w, 0), TEE_ERROR_ACCESS_CONFLICT);
	call_forward(w, "tz/2", "bob", len, 0, &done);
	assert_int_equal(done, 0);
	assert_int_equal(order(w, 2), TEE_SUCCESS);
	assert_int_equal(order(w, 1), TEE_ERROR_ACCESS_CONFLICT);
	call_forward(w, "tz/2", "bob", len, 0, &done);
	assert_int_equal(done, 1);
}

static TEE_Result identity_of(struct world *w, uint8_t public[TZ_PUBLIC_BYTES])
{
	TEE_Param p[TEE_NUM_PARAMS] = { { .memref = { public, TZ_PUBLIC_BYTES } } };

	return call(w, TA_BROKER_CMD_IDENTITY, 0x0006, p);
}

/*
 * A byte of the stored file was changed: what is left is another TA, to which neither an order nor a
 * claim that was recorded, nor a client's key means anything.
 */
static void test_a_changed_file_does_not_make_the_ta_new(void **state)
{
	struct world *w = *state;
	uint8_t claim[6 + TZ_WRAPPED_BYTES] = { 5, 'a', 'd', 'm', 'i', 'n' };
	uint8_t public[TZ_PUBLIC_BYTES];
	TEE_Param p[TEE_NUM_PARAMS] = { { .memref = { claim, sizeof(claim) } } };
	size_t len = seal(&w->alice, "tz/c", text, LEN);
	struct tz_client mallory, dave;
	uint32_t done = 0;

	agreed_client(w, &dave, "dave", w->admin.identity);
	make_orders(w);
	assert_int_equal(tz_wrap(&w->admin, w->admin.identity, claim + 6, NULL), 0);
	world_close(w);
	shim_storage_result = TEE_ERROR_CORRUPT_OBJECT;
	assert_int_equal(world_open(w), TEE_ERROR_CORRUPT_OBJECT);
	shim_storage_result = 0;
	assert_int_equal(world_open(w), TEE_SUCCESS);
	assert_int_equal(call(w, TA_BROKER_CMD_CLAIM, 0x0005, p), TEE_ERROR_MAC_INVALID);
	assert_int_equal(identity_of(w, public), TEE_SUCCESS);
	assert_memory_not_equal(public, w->admin.identity, TZ_PUBLIC_BYTES);
	assert_int_equal(order(w, 0), TEE_ERROR_ITEM_NOT_FOUND);
	/* Root claims it, with the old administrator's id, and enrols dave by the public half. */
	new_client(w, &mallory, "admin");
	memcpy(mallory.identity, public, sizeof(public));
	assert_int_equal(tz_wrap(&mallory, public, claim + 6, NULL), 0);
	assert_int_equal(call(w, TA_BROKER_CMD_CLAIM, 0x0005, p), TEE_SUCCESS);
	assert_int_equal(order(w, 0), TEE_ERROR_MAC_INVALID);
	w->admin = mallory;
	assert_int_equal(call_order(w, TZ_AGREE, &dave, "w tz/#\n"), TEE_SUCCESS);
	assert_int_equal(call_forward(w, "tz/c", "dave", len, 0, &done), TEE_ERROR_ITEM_NOT_FOUND);
	len = seal(&dave, "tz/c", text, LEN);
	assert_int_equal(call_forward(w, "tz/c", "dave", len, 0, &done), TEE_ERROR_MAC_INVALID);
}

/* The administrator takes the key of before to the new TA: its old orders are for the old one. */
static void test_an_order_is_for_one_ta(void **state)
{
	struct world *w = *state;
	uint8_t claim[6 + TZ_WRAPPED_BYTES] = { 5, 'a', 'd', 'm', 'i', 'n' }, old[700];
	TEE_Param p[TEE_NUM_PARAMS] = { { .memref = { claim, sizeof(claim) } } };
	size_t n = make_order(w, TZ_AGREE, &w->bob, "r tz/#\n", old);

	world_close(w);
	shim_storage_clear();
	assert_int_equal(world_open(w), TEE_SUCCESS);
	assert_int_equal(identity_of(w, w->admin.identity), TEE_SUCCESS);
	assert_int_equal(tz_wrap(&w->admin, w->admin.identity, claim + 6, NULL), 0);
	assert_int_equal(call(w, TA_BROKER_CMD_CLAIM, 0x0005, p), TEE_SUCCESS);
	assert_int_equal(give(w, old, n), TEE_ERROR_MAC_INVALID);
	assert_int_equal(call_order(w, TZ_ENROL, &w->bob, "r tz/#\n"), TEE_SUCCESS);
}

/* While a broker runs: nobody gets a copy any more, and the instance isn't claimed anew. */
static void test_a_file_that_changes_under_the_instance_ends_its_service(void **state)
{
	struct world *w = *state;
	uint8_t other[1 + 6 + TZ_WRAPPED_BYTES] = "\6mallor", public[TZ_PUBLIC_BYTES];
	TEE_Param p[TEE_NUM_PARAMS] = { { .memref = { other, sizeof(other) } } };
	size_t len = seal(&w->alice, "tz/c", text, LEN);
	uint32_t done = 0;

	assert_int_equal(call_forward(w, "tz/c", "bob", len, FRESH, &done), TEE_SUCCESS);
	shim_storage_result = TEE_ERROR_CORRUPT_OBJECT;
	assert_int_equal(call_order(w, TZ_REVOKE, &w->bob, NULL), TEE_ERROR_CORRUPT_OBJECT);
	shim_storage_result = 0;
	fails(w, "tz/c", "bob", len, TEE_ERROR_CORRUPT_OBJECT);
	assert_int_not_equal(call(w, TA_BROKER_CMD_CLAIM, 0x0005, p), TEE_SUCCESS);
	assert_int_equal(identity_of(w, public), TEE_ERROR_CORRUPT_OBJECT);
	assert_int_equal(call_order(w, TZ_REVOKE, &w->bob, NULL), TEE_ERROR_CORRUPT_OBJECT);
}

static void test_a_key_wrapped_for_another_client_is_refused(void **state)
{
	struct world *w = *state;
	uint8_t plain[300] = "E\3dan", sealed[500];
	struct tz_client dave;

	new_client(w, &dave, "dave");
	assert_int_equal(tz_wrap(&dave, w->admin.identity, plain + 5, NULL), 0);
	assert_int_equal(tz_seal_order(&w->admin, plain, 5 + TZ_WRAPPED_BYTES, sealed, NULL), 0);
	assert_int_equal(give(w, sealed, 5 + TZ_WRAPPED_BYTES + TZ_OVERHEAD(5)),
			 TEE_ERROR_MAC_INVALID);
}

/* Whoever enrols gets the public half alone; its rules hold, and it may be revoked. */
static void test_a_key_that_is_agreed_on(void **state)
{
	struct world *w = *state;
	struct tz_client dave, file;
	char path[sizeof(dave.path) + 5];
	uint32_t done = 0;
	size_t len = 0;

	agreed_client(w, &dave, "dave", w->admin.identity);
	snprintf(path, sizeof(path), "%s.pub", dave.path);
	assert_int_equal(tz_client_load(&file, path, NULL), -EINVAL);
	assert_int_equal(tz_client_load_public(&file, path, NULL), 0);
	assert_memory_equal(file.key, (uint8_t[TZ_KEY_BYTES]){ 0 }, TZ_KEY_BYTES);
	assert_int_equal(call_order(w, TZ_AGREE, &file, "r tz/c\nw tz/d\n"), TEE_SUCCESS);
	len = seal(&w->alice, "tz/c", text, LEN);
	call_forward(w, "tz/c", "dave,bob", len, FRESH, &done);
	assert_true(gets(&dave, "tz/c", len, 0));
	len = seal(&dave, "tz/d", text, LEN);
	assert_int_equal(call_forward(w, "tz/d", "bob,dave", len, FRESH, &done), TEE_SUCCESS);
	assert_int_equal(done, 1);
	assert_true(gets(&w->bob, "tz/d", len, 0));
	/* Enrolled again with the same key: what it said isn't taken again. */
	assert_int_equal(call_order(w, TZ_AGREE, &file, "w tz/d\n"), TEE_SUCCESS);
	assert_int_equal(call_forward(w, "tz/d", "bob", len, FRESH, &done),
			 TEE_ERROR_ACCESS_CONFLICT);
	assert_int_equal(call_order(w, TZ_REVOKE, &dave, NULL), TEE_SUCCESS);
	len = seal(&dave, "tz/d", text, LEN);
	assert_int_equal(call_forward(w, "tz/d", "bob", len, FRESH, &done),
			 TEE_ERROR_ITEM_NOT_FOUND);
}

/* With another id, another public half or another TA the key is another. */
static void test_both_ends_agree_on_the_same_only(void **state)
{
	struct world *w = *state;
	struct tz_client dave, other;
	uint8_t identity[TZ_PUBLIC_BYTES];
	uint32_t done = 0;
	size_t len = 0;

	agreed_client(w, &dave, "dave", w->admin.identity);
	for (int i = 0; i < 3; i++) {
		other = dave;
		strcpy(other.id, i ? "dave" : "eve");
		other.public[3] ^= i == 1;
		assert_int_equal(call_order(w, TZ_AGREE, &other, "r tz/#\nw tz/#\n"), TEE_SUCCESS);
		len = seal(&other, "tz/d", text, LEN);
		assert_int_equal(call_forward(w, "tz/d", "bob", len, FRESH, &done),
				 i == 2 ? TEE_SUCCESS : TEE_ERROR_MAC_INVALID);
		len = seal(&w->alice, "tz/c", text, LEN);
		call_forward(w, "tz/c", other.id, len, FRESH, &done);
		assert_int_equal(gets(&other, "tz/c", len, 0), i == 2);
	}
	memcpy(identity, w->admin.identity, sizeof(identity));
	identity[5] ^= 1;
	agreed_client(w, &dave, "dave", identity);
	assert_int_equal(call_order(w, TZ_AGREE, &dave, "w tz/#\n"), TEE_SUCCESS);
	len = seal(&dave, "tz/d", text, LEN);
	assert_int_equal(call_forward(w, "tz/d", "bob", len, FRESH, &done), TEE_ERROR_MAC_INVALID);
}

/* Wycheproof's points with which X25519 gives 0: no order takes one, and no client. */
static void test_points_of_small_order(void **state)
{
	static const char *const points[] = {
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
		"5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	};
	struct world *w = *state;
	struct tz_client dave = { .id = "dave" }, refused;
	uint8_t plain[300] = "E\4dave", sealed[500];
	char path[128];

	snprintf(path, sizeof(path), "%s/dave", w->folder);
	for (size_t i = 0; i < 14; i++) {
		char digits[2 * TZ_PUBLIC_BYTES + 1];
		unsigned int byte = 0;

		for (int n = 0; n < 32; n++) {
			assert_int_equal(sscanf(points[i / 2] + 2 * n, "%2x", &byte), 1);
			dave.public[n] = (uint8_t)byte;
		}
		dave.public[31] |= i % 2 ? 0x80 : 0;
		assert_int_equal(call_order(w, TZ_AGREE, &dave, "r #\n"), TEE_ERROR_BAD_FORMAT);
		memcpy(plain + 6, dave.public, TZ_PUBLIC_BYTES);
		tz_seal_order(&w->admin, plain, 6 + TZ_WRAPPED_BYTES, sealed, NULL);
		assert_int_equal(give(w, sealed, 6 + TZ_WRAPPED_BYTES + TZ_OVERHEAD(5)),
				 TEE_ERROR_BAD_FORMAT);
		hex(dave.public, TZ_PUBLIC_BYTES, digits);
		assert_int_equal(tz_client_make(&refused, "dave", path, digits, NULL), -EINVAL);
		assert_int_equal(access(path, F_OK), -1);
	}
	/* A neighbour of one of them is as good as any other. */
	dave.public[0] ^= 4;
	assert_int_equal(call_order(w, TZ_AGREE, &dave, "r #\n"), TEE_SUCCESS);
}

/* RFC 5869, test case 3: no salt, no info; the first 32 of its 42 bytes. */
static void test_hkdf(void **state)
{
	static const uint8_t expected[] = {
		0x8d, 0xa4, 0xe7, 0x75, 0xa5, 0x63, 0xc1, 0x8f, 0x71, 0x5f, 0x80,
		0x2a, 0x06, 0x3c, 0x5a, 0x31, 0xb8, 0xa1, 0x1f, 0x5c, 0x5e, 0xe1,
		0x87, 0x9e, 0xc3, 0x45, 0x4e, 0x5f, 0x3c, 0x73, 0x8d, 0x2d,
	};
	uint8_t secret[22], info[1], key[32];

	(void)state;
	memset(secret, 0x0b, sizeof(secret));
	assert_int_equal(hkdf(secret, sizeof(secret), info, 0, key), TEE_SUCCESS);
	assert_memory_equal(key, expected, sizeof(key));
}

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, TZ_NONCE_BYTES);
}

/* Over messages, receivers and restarts; and never one of a client's. */
static void test_no_nonce_comes_twice(void **state)
{
	enum { COUNT = 3000 };
	struct world *w = *state;
	static uint8_t nonces[COUNT][TZ_NONCE_BYTES];
	size_t n = 0;

	while (n < COUNT) {
		size_t len = seal(&w->alice, "tz/c", text, LEN);
		uint32_t done = 0;

		assert_false(message[TZ_NONCE] & 0x80);
		call_forward(w, "tz/c", "bob,carol,bob", len, FRESH, &done);
		assert_int_equal(done, 7);
		for (int i = 0; i < 3; i++)
			memcpy(nonces[n++], output + i * ((len + 15) / 16 * 16) + TZ_NONCE,
			       TZ_NONCE_BYTES);
		assert_true(nonces[n - 1][0] & 0x80);
		if (n % 999 == 0)
			world_restart(w);
	}
	qsort(nonces, COUNT, TZ_NONCE_BYTES, by_bytes);
	for (n = 1; n < COUNT; n++)
		assert_memory_not_equal(nonces[n - 1], nonces[n], TZ_NONCE_BYTES);
}

static void test_more_clients_than_keys_are_kept(void **state)
{
	enum { COUNT = 150 };
	struct world *w = *state;
	static struct tz_client many[COUNT];
	struct tz_statistics before, after;
	uint32_t done = 0;
	char id[32];

	for (int i = 0; i < COUNT; i++) {
		snprintf(id, sizeof(id), "client%d", i);
		new_client(w, &many[i], id);
		assert_int_equal(call_order(w, TZ_ENROL, &many[i], "r tz/#\n"), TEE_SUCCESS);
	}
	before = statistics(w);
	for (int i = 0; i < COUNT; i++) {
		size_t len = seal(&w->alice, "tz/c", text, LEN);

		call_forward(w, "tz/c", many[i].id, len, FRESH, &done);
		assert_true(gets(&many[i], "tz/c", len, 0));
	}
	after = statistics(w);
	assert_in_range(after.keys_evicted - before.keys_evicted, 80, 151);
	/* Alice's was used each time, and stayed. */
	assert_in_range(after.keys_cached - before.keys_cached, 140, 215);
}

static void test_no_secret_is_left_in_memory(void **state)
{
	struct world *w = *state;
	struct tz_client dave;
	const uint8_t *secrets[] = { text, w->bob.key, dave.key };
	uint32_t done = 0;

	agreed_client(w, &dave, "dave", w->admin.identity);
	for (int i = 0; i < 3; i++) {
		size_t len = seal(&w->alice, "tz/c", text, LEN);

		shim_secret = secrets[i];
		shim_secret_len = 16;
		assert_int_equal(call_order(w, TZ_AGREE, &dave, "r tz/#\n"), TEE_SUCCESS);
		call_forward(w, "tz/c", "bob,carol,dave", len, FRESH, &done);
		assert_int_equal(done, 7);
		assert_int_equal(call_order(w, TZ_ENROL, &w->bob, "r tz/#\n"), TEE_SUCCESS);
		world_restart(w);
		shim_secret_len = 0;
	}
}

static void test_storage_that_fails_changes_nothing(void **state)
{
	struct world *w = *state;
	size_t len = seal(&w->alice, "tz/c", text, LEN);
	uint32_t done = 0;

	shim_storage_result = TEE_ERROR_STORAGE_NO_SPACE;
	assert_int_equal(call_order(w, TZ_REVOKE, &w->bob, NULL), TEE_ERROR_STORAGE_NO_SPACE);
	shim_storage_result = 0;
	assert_int_equal(call_forward(w, "tz/c", "bob", len, FRESH, &done), TEE_SUCCESS);
	assert_true(gets(&w->bob, "tz/c", len, 0));
}

static void test_sizes(void **state)
{
	static const size_t sizes[] = { 0,    1,    15,   16,   17,   63,    64,
					2047, 2048, 2049, 4096, 5000, 65535, 65536 };
	struct world *w = *state;
	uint8_t *plain = malloc(TZ_TEXT_MAX), *back = malloc(TZ_MESSAGE_MAX);
	char topic[TZ_TOPIC_MAX + 2];
	struct tz_opened opened;
	uint32_t done = 0;
	size_t len = 0;

	for (size_t i = 0; i < TZ_TEXT_MAX; i++)
		plain[i] = (uint8_t)(i * 7 + (i >> 9));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		len = seal(&w->alice, "tz/c", plain, sizes[i]);
		assert_int_equal(call_forward(w, "tz/c", "bob,carol", len, FRESH, &done),
				 TEE_SUCCESS);
		assert_int_equal(done, 3);
		assert_int_equal(tz_open(&w->carol, "tz/c", output + (len + 15) / 16 * 16, len,
					 back, &opened, NULL),
				 0);
		assert_int_equal(opened.len, sizes[i]);
		assert_memory_equal(back, plain, sizes[i]);
		assert_false(opened.repeated);
	}
	assert_int_equal(tz_open(&w->carol, "tz/c", output + (len + 15) / 16 * 16, len, back,
				 &opened, NULL),
			 0);
	assert_true(opened.repeated);
	assert_int_equal(call_forward(w, "tz/c", "bob", TZ_MESSAGE_MAX + 1, 0, &done),
			 TEE_ERROR_BAD_FORMAT);
	/* 32 copies don't fit. */
	for (size_t i = 0; i < 32; i++)
		memcpy(topic + 4 * i, "bob,", 5);
	assert_int_equal(call_forward(w, "tz/c", topic, len, 0, &done), TEE_ERROR_SHORT_BUFFER);
	memset(topic, 'x', sizeof(topic));
	topic[TZ_TOPIC_MAX + 1] = 0;
	assert_int_equal(call_forward(w, topic, "bob", len, 0, &done), TEE_ERROR_BAD_PARAMETERS);
	assert_int_equal(call_forward(w, "", "bob", len, 0, &done), TEE_ERROR_BAD_PARAMETERS);
	free(plain);
	free(back);
}

static bool allowed(const char *filter, const char *topic)
{
	struct record client = { 0 };
	const struct text name = { (const uint8_t *)topic, strlen(topic) };

	client.rules_len =
		(uint8_t)snprintf(client.rules, sizeof(client.rules), "w no\nr %s\n", filter);
	assert_true(policy_is_valid(client.rules, client.rules_len));
	assert_false(policy_allows(&client, 'w', &name));
	return policy_allows(&client, 'r', &name);
}

static void test_filters(void **state)
{
	static const char *const yes[][2] = {
		{ "a", "a" },           { "a/b", "a/b" },   { "#", "a/b" },     { "a/#", "a" },
		{ "a/#", "a/b/c" },     { "+", "a" },       { "+/b", "a/b" },   { "a/+", "a/" },
		{ "a/+/c", "a/b/c" },   { "+/+", "/a" },    { "a/+/#", "a/b" }, { "/+", "/a" },
		{ "$SYS/#", "$SYS/x" }, { "a//b", "a//b" },
	};
	static const char *const no[][2] = {
		{ "a", "b" },       { "a", "ab" },     { "ab", "a" },       { "a/b", "a" },
		{ "a", "a/b" },     { "+", "a/b" },    { "a/+", "a" },      { "a/#", "ab" },
		{ "a/+", "a/b/c" }, { "#", "$SYS" },   { "+/x", "$SYS/x" }, { "a/+/#", "a" },
		{ "a/b/#", "a" },   { "a//b", "a/b" },
	};
	static const char *const wrong[] = { "r a",    "r \n",   "a\n",   "r a#\n", "r #/a\n",
					     "r a+\n", "r +a\n", "q a\n", "r a\n\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		assert_true(allowed(yes[i][0], yes[i][1]));
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_false(allowed(no[i][0], no[i][1]));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(policy_is_valid(wrong[i], strlen(wrong[i])));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_reader_gets_a_copy_of_its_own),
		TEST(test_rules_decide_who_reads_and_who_publishes),
		TEST(test_a_changed_message_gives_nothing),
		TEST(test_a_message_for_another_topic_shows_nothing_without_a_tag),
		TEST(test_no_kind_of_failure_leaves_bytes_behind),
		TEST(test_a_message_comes_once),
		TEST(test_who_is_revoked_gets_nothing_more),
		TEST(test_only_the_administrator_orders),
		TEST(test_an_order_comes_once_and_in_its_sequence),
		TEST(test_an_order_that_storage_refuses_is_not_half_obeyed),
		TEST(test_an_order_is_for_one_ta),
		TEST(test_a_changed_file_does_not_make_the_ta_new),
		TEST(test_a_file_that_changes_under_the_instance_ends_its_service),
		TEST(test_a_key_wrapped_for_another_client_is_refused),
		TEST(test_a_key_that_is_agreed_on),
		TEST(test_both_ends_agree_on_the_same_only),
		TEST(test_points_of_small_order),
		cmocka_unit_test(test_hkdf),
		TEST(test_no_nonce_comes_twice),
		TEST(test_more_clients_than_keys_are_kept),
		TEST(test_no_secret_is_left_in_memory),
		TEST(test_storage_that_fails_changes_nothing),
		TEST(test_sizes),
		cmocka_unit_test(test_filters),
	};

	return cmocka_run_group_tests_name("broker TA", tests, NULL, NULL) != 0;
}
