/* SPDX-License-Identifier: BSD-2-Clause */
#include "../broker/broker.h"

#include "broker_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim.h"

uint8_t message[TZ_MESSAGE_MAX + 64], output[ROOM];

static void must(TEE_Result res, const char *what)
{
	if (res)
		shim_panic(what);
}

/* OP-TEE throws an instance's memory away with it. */
static void destroy(void)
{
	TA_DestroyEntryPoint();
	memset(&broker, 0, sizeof(broker));
}

TEE_Result world_open(struct world *world)
{
	TEE_Param none[TEE_NUM_PARAMS] = { 0 };
	TEE_Result res = TEE_SUCCESS;

	must(TA_CreateEntryPoint(), "create");
	res = TA_OpenSessionEntryPoint(0, none, &world->session);
	if (res)
		destroy();
	return res;
}

TEE_Result call(struct world *world, uint32_t cmd, uint32_t types, TEE_Param params[TEE_NUM_PARAMS])
{
	return TA_InvokeCommandEntryPoint(world->session, cmd, types, params);
}

void new_client(struct world *world, struct tz_client *client, const char *id)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", world->folder, id);
	unlink(path);
	must(tz_client_make(client, id, path, NULL, NULL) != 0, "make a client");
}

static void claim(struct world *world)
{
	uint8_t bytes[1 + TZ_ID_MAX + TZ_WRAPPED_BYTES] = { 5, 'a', 'd', 'm', 'i', 'n' };
	TEE_Param p[TEE_NUM_PARAMS] = { { .memref = { world->admin.identity, TZ_PUBLIC_BYTES } } };

	must(call(world, TA_BROKER_CMD_IDENTITY, 0x0006, p), "identity");
	must(tz_wrap(&world->admin, world->admin.identity, bytes + 6, NULL) != 0, "wrap");
	p[0].memref.buffer = bytes;
	p[0].memref.size = 6 + TZ_WRAPPED_BYTES;
	must(call(world, TA_BROKER_CMD_CLAIM, 0x0005, p), "claim");
}

void world_make(struct world *world)
{
	memset(world, 0, sizeof(*world));
	strcpy(world->folder, "/tmp/teemark-broker-XXXXXX");
	if (!mkdtemp(world->folder))
		abort();
	must(world_open(world), "open");
	new_client(world, &world->admin, "admin");
	new_client(world, &world->alice, "alice");
	new_client(world, &world->bob, "bob");
	new_client(world, &world->carol, "carol");
	claim(world);
	must(call_order(world, TZ_ENROL, &world->alice, "w tz/#\n"), "alice");
	must(call_order(world, TZ_ENROL, &world->bob, "r tz/#\n"), "bob");
	must(call_order(world, TZ_ENROL, &world->carol, "r tz/c\n"), "carol");
}

void world_close(struct world *world)
{
	TA_CloseSessionEntryPoint(world->session);
	destroy();
}

void world_restart(struct world *world)
{
	world_close(world);
	must(world_open(world), "open");
}

void world_end(struct world *world)
{
	char line[128];

	world_close(world);
	shim_storage_clear();
	snprintf(line, sizeof(line), "rm -r %s", world->folder);
	must(system(line) != 0, "rm");
}

size_t make_order(struct world *world, char letter, const struct tz_client *client,
		  const char *rules, uint8_t *out)
{
	uint8_t plain[512] = { (uint8_t)letter, (uint8_t)strlen(client->id) };
	size_t len = 2 + strlen(client->id);

	memcpy(plain + 2, client->id, len - 2);
	if (letter == TZ_AGREE) {
		memcpy(plain + len, client->public, TZ_PUBLIC_BYTES);
		len += TZ_PUBLIC_BYTES;
	} else if (letter == TZ_ENROL) {
		must(tz_wrap(client, world->admin.identity, plain + len, NULL) != 0, "wrap");
		len += TZ_WRAPPED_BYTES;
	}
	if (rules) {
		memcpy(plain + len, rules, strlen(rules));
		len += strlen(rules);
	}
	must(tz_seal_order(&world->admin, plain, len, out, NULL) != 0, "seal");
	return len + TZ_OVERHEAD(strlen(world->admin.id));
}

TEE_Result give(struct world *world, const uint8_t *sealed, size_t len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { { .memref = { (void *)sealed, len } } };

	return call(world, TA_BROKER_CMD_ORDER, 0x0005, p);
}

TEE_Result call_order(struct world *world, char letter, const struct tz_client *client,
		      const char *rules)
{
	uint8_t sealed[700];

	return give(world, sealed, make_order(world, letter, client, rules, sealed));
}

size_t seal(struct tz_client *client, const char *topic, const void *text, size_t len)
{
	must(tz_seal(client, topic, text, len, message, NULL) != 0, "seal");
	return len + TZ_OVERHEAD(strlen(client->id));
}

TEE_Result call_forward(struct world *world, const char *topic, const char *receivers, size_t len,
			uint32_t flags, uint32_t *done)
{
	static uint8_t names[4096];
	uint8_t *at = names + 2 + strlen(topic);
	TEE_Param p[TEE_NUM_PARAMS] = {
		{ .memref = { message, len } },
		{ .memref = { names, 0 } },
		{ .memref = { output, sizeof(output) } },
		{ .value = { flags, 0 } },
	};
	TEE_Result res = TEE_SUCCESS;

	names[0] = (uint8_t)(strlen(topic) >> 8);
	names[1] = (uint8_t)strlen(topic);
	memcpy(names + 2, topic, strlen(topic));
	while (*receivers) {
		size_t n = strcspn(receivers, ",");

		*at++ = (uint8_t)n;
		memcpy(at, receivers, n);
		at += n;
		receivers += n + (receivers[n] == ',');
	}
	p[1].memref.size = (size_t)(at - names);
	res = call(world, TA_BROKER_CMD_FORWARD, 0x3655, p);
	if (done)
		*done = p[3].value.a;
	return res;
}

struct tz_statistics statistics(struct world *world)
{
	struct tz_statistics all;
	TEE_Param p[TEE_NUM_PARAMS] = { { .memref = { &all, sizeof(all) } } };

	must(call(world, TA_BROKER_CMD_STATISTICS, 0x0006, p), "statistics");
	return all;
}
