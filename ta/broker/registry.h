/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clients as they are stored: one object with the table, then a record for
 * each row. A write of OP-TEE's is done or not done, also when the power
 * fails, and each change ends with one write of the table: before it, the
 * change didn't happen.
 */
#ifndef REGISTRY_H
#define REGISTRY_H

#include "broker.h"

/* Reads the table, if anybody claimed this TA. */
TEE_Result registry_open(struct broker *broker);
void registry_close(struct broker *broker);

/* Stores the table, if something came since. */
TEE_Result registry_save(struct broker *broker);

/* The row of a client; TZ_CLIENTS_MAX: none. `from`: where to begin. */
uint32_t registry_find(const struct broker *broker, uint32_t tag,
		       uint32_t from);
uint32_t registry_tag(const struct text *id);

TEE_Result registry_read(struct broker *broker, uint32_t row,
			 struct record *record);

/*
 * Puts a client into a free row and frees its old one (TZ_CLIENTS_MAX: it had
 * none), in one step. *row: where it is now. keep_seen: what was seen of the
 * client stays known, as its key is the same.
 */
TEE_Result registry_put(struct broker *broker, const struct record *record,
			uint32_t old, bool keep_seen, uint32_t *row);
TEE_Result registry_drop(struct broker *broker, uint32_t row);

#endif
