/* SPDX-License-Identifier: BSD-2-Clause */
/* Both plugins share this: options, the log, beginning and end. */
#ifndef TZ_PLUGIN_H
#define TZ_PLUGIN_H

#include <mosquitto.h>
#if LIBMOSQUITTO_MAJOR == 2 && LIBMOSQUITTO_MINOR == 0
#include <mosquitto_broker.h>
#include <mosquitto_plugin.h>
#endif
#include <stdbool.h>

#include "core.h"

struct plugin {
	mosquitto_plugin_id_t *id;
	struct tz_core *core;
	const char *prefix; /* of the topics that are MQTT-TZ's */
	int others;         /* what is answered about all other topics */
	char *keys;
};

struct event {
	int event;
	MOSQ_FUNC_generic_callback run;
};

/* Each plugin's own; ends with event 0. The callbacks get the struct plugin. */
extern const struct event plugin_events[];

bool plugin_is_ours(const struct plugin *plugin, const char *topic);

/* mosquitto's answer about a message that a client sent. */
int plugin_arrived(struct plugin *plugin, struct mosquitto *client,
		   const char *topic, const void *payload, size_t len);

/* The copy for a client; NULL, and why in the log. */
const void *plugin_copy(struct plugin *plugin, struct mosquitto *client,
			const char *topic, const void *payload, size_t len);

#endif
