/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mosquitto 2.1: MESSAGE_IN refuses what the TA doesn't open, ACL_CHECK those
 * who may not read, and MESSAGE_OUT puts the copy in the message's place. A
 * message must not be denied at MESSAGE_OUT: with QoS 1 and 2 it would stay in
 * the client's window of messages under way, for good.
 */
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

static int on_acl(int event, void *data, void *user)
{
	struct mosquitto_evt_acl_check *e = data;
	struct plugin *plugin = user;

	(void)event;
	if (!plugin_is_ours(plugin, e->topic))
		return plugin->others;
	if (e->access != MOSQ_ACL_READ || !e->payloadlen)
		return MOSQ_ERR_SUCCESS;
	/* The copy stays for MESSAGE_OUT. */
	return plugin_copy(plugin, e->client, e->topic, e->payload,
			   e->payloadlen) ?
		       MOSQ_ERR_SUCCESS :
		       MOSQ_ERR_ACL_DENIED;
}

static int on_in(int event, void *data, void *user)
{
	struct mosquitto_evt_message *e = data;
	struct plugin *plugin = user;

	(void)event;
	if (!plugin_is_ours(plugin, e->topic))
		return MOSQ_ERR_SUCCESS;
	return plugin_arrived(plugin, e->client, e->topic, e->payload,
			      e->payloadlen);
}

static int on_out(int event, void *data, void *user)
{
	struct mosquitto_evt_message *e = data;
	struct plugin *plugin = user;
	const void *copy = NULL;
	void *payload = NULL;

	(void)event;
	if (!plugin_is_ours(plugin, e->topic) || !e->payloadlen)
		return MOSQ_ERR_SUCCESS;
	copy = plugin_copy(plugin, e->client, e->topic, e->payload,
			   e->payloadlen);
	payload = copy ? mosquitto_malloc(e->payloadlen) : NULL;
	if (!payload) /* revoked since it was queued */
		return MOSQ_ERR_ACL_DENIED;
	memcpy(payload, copy, e->payloadlen);
	e->payload = payload;
	return MOSQ_ERR_SUCCESS;
}

const struct event plugin_events[] = {
	{ MOSQ_EVT_ACL_CHECK, on_acl },
	{ MOSQ_EVT_MESSAGE_IN, on_in },
	{ MOSQ_EVT_MESSAGE_OUT, on_out },
	{ 0 },
};
