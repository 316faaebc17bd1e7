/* SPDX-License-Identifier: BSD-2-Clause */
/* Who may read or publish what: rules of MQTT's topic filters. */
#ifndef POLICY_H
#define POLICY_H

#include "broker.h"

/* Does each line hold 'r' or 'w', a space and a filter that MQTT allows? */
bool policy_is_valid(const char *rules, size_t len);

/* May the client do this ('r': read, 'w': publish) with the topic? */
bool policy_allows(const struct record *client, char what,
		   const struct text *topic);

#endif
