/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mosquitto 2.0, by MOSQ_EVT_ACL_CHECK alone. Whom a message is about to go to
 * is asked for each receiver: the copy is published to that client, and the
 * message itself denied. A copy that waits for a client who is away is asked
 * about again when the client comes back, hence the direction in its head.
 */
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

static int publish_copy(struct plugin *plugin,
			const struct mosquitto_evt_acl_check *e)
{
	const void *copy = plugin_copy(plugin, e->client, e->topic, e->payload,
				       e->payloadlen);

	if (copy)
		mosquitto_broker_publish_copy(mosquitto_client_id(e->client),
					      e->topic, (int)e->payloadlen,
					      copy, e->qos, false, NULL);
	return MOSQ_ERR_ACL_DENIED;
}

static int on_acl(int event, void *data, void *user)
{
	struct mosquitto_evt_acl_check *e = data;
	struct plugin *plugin = user;
	bool copy = tz_core_is_copy(e->payload, e->payloadlen);

	(void)event;
	if (!plugin_is_ours(plugin, e->topic))
		return plugin->others;
	switch (e->access) {
	case MOSQ_ACL_WRITE:
		return copy ? MOSQ_ERR_ACL_DENIED :
			      plugin_arrived(plugin, e->client, e->topic,
					     e->payload, e->payloadlen);
	case MOSQ_ACL_READ:
		if (copy || !e->payloadlen)
			return MOSQ_ERR_SUCCESS;
		return publish_copy(plugin, e);
	default: /* subscribing: a copy is made for those who may read */
		return MOSQ_ERR_SUCCESS;
	}
}

const struct event plugin_events[] = {
	{ MOSQ_EVT_ACL_CHECK, on_acl },
	{ 0 },
};
