/* SPDX-License-Identifier: BSD-2-Clause */
/* The broker TA over the shim, and clients that seal and open by libcrypto. */
#pragma once

#include <tee_internal_api.h>
#include <teemark/ta_broker.h>

#include "../../broker/client.h"

struct world {
	void *session;
	char folder[64];
	struct tz_client admin, alice, bob, carol;
};

/* An instance, claimed, with alice (w tz/#), bob (r tz/#), carol (r tz/c). */
void world_make(struct world *world);
void world_end(struct world *world);
/* The last session ends, and with it the instance. */
void world_close(struct world *world);
/* A session of a new instance. */
TEE_Result world_open(struct world *world);
/* Both, one after the other. */
void world_restart(struct world *world);

TEE_Result call(struct world *world, uint32_t cmd, uint32_t types,
		TEE_Param params[TEE_NUM_PARAMS]);
void new_client(struct world *world, struct tz_client *client, const char *id);

/* An order of the administrator; rules may be NULL. */
size_t make_order(struct world *world, char letter, const struct tz_client *client,
		  const char *rules, uint8_t *order);
TEE_Result give(struct world *world, const uint8_t *order, size_t len);
TEE_Result call_order(struct world *world, char letter, const struct tz_client *client,
		      const char *rules);

#define ROOM (2u << 20)
extern uint8_t message[TZ_MESSAGE_MAX + 64], output[ROOM];

/* Seals text into `message`; returns its length. */
size_t seal(struct tz_client *client, const char *topic, const void *text, size_t len);

/* receivers: ids with a comma between. *done: the bits that came back. */
TEE_Result call_forward(struct world *world, const char *topic, const char *receivers, size_t len,
			uint32_t flags, uint32_t *done);

struct tz_statistics statistics(struct world *world);
