/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both plugins do this: a message that arrives is checked, and each receiver gets a copy of its
 * own. The TA is called once a message where it can be: with the check it makes copies for those
 * who got the topic's last message. A copy that nobody takes is dropped with the next message, and
 * its receiver is no longer expected.
 *
 * One thread: mosquitto's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct tz_core;

struct tz_core_options {
	/*
	 * NULL: the TEE seals. Otherwise a folder of clients' key files, for comparison: the broker
	 * seals in its own memory.
	 */
	const char *keys;
	bool extensions; /* let the TA use the CPU's AES */
	bool expect;     /* make copies ahead */
};

struct tz_counts {
	uint64_t arrived, refused; /* messages */
	uint64_t copies, denied;   /* for receivers */
	uint64_t expected;         /* copies that were made ahead and taken */
	uint64_t calls;            /* of the TA */
};

int tz_core_open(struct tz_core **core, const struct tz_core_options *options, struct error *err);
void tz_core_close(struct tz_core *core);

/* Takes a message from its sender; returns -errno if it is to be refused. */
int tz_core_arrived(struct tz_core *core, const char *topic, const void *message, size_t len,
		    struct error *err);

/*
 * Returns the copy for that receiver, as long as the message; it stays until the next call. NULL:
 * the receiver may not have it, or it is no message.
 */
const void *tz_core_copy(struct tz_core *core, const char *topic, const char *receiver,
			 const void *message, size_t len, struct error *err);

/* Returns whether the TA sealed this payload, for a receiver. */
bool tz_core_is_copy(const void *message, size_t len);

const struct tz_counts *tz_core_counts(const struct tz_core *core);
