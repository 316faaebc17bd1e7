/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plugin's core: it checks each arriving message, and makes a separate copy for
 * each receiver. If possible, the TA is called once a message: together with the check it makes
 * copies for those who took the topic's last message. A copy that nobody takes is dropped when the
 * next message arrives, and its receiver is no longer expected.
 *
 * Only one thread, mosquitto's, may call this.
 */
#pragma once

#include "error.h"

struct tz_core;

struct tz_core_options {
	/*
	 * NULL: the TA seals. Otherwise a folder of clients' key files: the broker seals in its own
	 * memory, for comparison.
	 */
	const char *keys;
	bool extensions; /* lets the TA use the CPU's AES instructions */
	bool expect;     /* lets the TA make copies before they are asked for */
};

struct tz_counts {
	uint64_t arrived, refused; /* messages that arrived, messages refused */
	uint64_t copies, denied;   /* copies given to receivers, and copies denied */
	uint64_t expected;         /* taken copies that the TA made before they were asked for */
	uint64_t calls;            /* calls of the TA */
};

int tz_core_open(struct tz_core **core, const struct tz_core_options *options, struct error *err);
void tz_core_close(struct tz_core *core);

/*
 * Accepts a message from its sender, once. Returns 0, or -errno if the broker must refuse the message:
 * it is empty, malformed, forged or repeated.
 */
int tz_core_arrived(struct tz_core *core, const char *topic, const void *message, size_t len,
		    struct error *err);

/*
 * Returns the receiver's copy of the message, of len bytes; it is valid until the next call. NULL:
 * the receiver isn't allowed to read the message, or the message is malformed.
 */
const void *tz_core_copy(struct tz_core *core, const char *topic, const char *receiver,
			 const void *message, size_t len, struct error *err);

/* Returns true, once, if this is the message that tz_core_arrived() has just accepted. */
bool tz_core_has_arrived(struct tz_core *core, const char *topic, const void *message, size_t len);

const struct tz_counts *tz_core_counts(const struct tz_core *core);
