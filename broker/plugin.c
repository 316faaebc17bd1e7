/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plugin for mosquitto 2.1.
 *
 * ACL_CHECK for writing has the TA check each message, also a client's will, which MESSAGE_IN isn't
 * called for. MESSAGE_IN has it check what a bridge brings, which ACL_CHECK isn't called for. ACL_CHECK
 * for reading denies receivers who may not read, and MESSAGE_OUT replaces the message by the copy.
 * MESSAGE_OUT must not deny a message: with QoS 1 and 2 it would stay in the client's window of
 * unacknowledged messages for ever. So a receiver without a copy gets the publisher's sealed message,
 * which only the TA can open. Such receivers are the broker's own bridge, for which ACL_CHECK isn't
 * called, and a client revoked in between.
 *
 * Two things that MQTT lets anybody do are refused, since they need no key: a shared subscription,
 * which takes a part of other readers' messages, and an empty message, which would delete what is
 * retained.
 *
 * Options in mosquitto.conf, each as plugin_opt_NAME VALUE:
 *   prefix      topics with this prefix are MQTT-TZ's (tz/)
 *   others      allow or defer: the answer for all other topics (allow)
 *   extensions  lets the TA use the CPU's AES (true)
 *   expect      lets the TA make the expected copies in one call (true)
 *   keys        a folder of key files: works without a TEE, for comparison
 */
#include <mosquitto.h>
#include <stdlib.h>

#include "core.h"

struct plugin {
	mosquitto_plugin_id_t *id;
	struct tz_core *core;
	char *prefix; /* prefix of MQTT-TZ's topics */
	int others;   /* answer for all other topics */
	char *keys;
};

static bool is_ours(const struct plugin *plugin, const char *topic)
{
	return !strncmp(topic, plugin->prefix, strlen(plugin->prefix));
}

/* Logs an event only the 1st, 2nd, 4th, 8th … time, because any client can cause it. */
static void complain(uint64_t times, const char *what, struct mosquitto *client, const char *topic,
		     const struct error *err)
{
	if (times & (times - 1))
		return;
	mosquitto_log_printf(MOSQ_LOG_WARNING, "mqtt-tz: %s %s on %s: %s", what,
			     mosquitto_client_id(client), topic,
			     err->code ? err->what : "not enrolled, or no rule for it");
}

/*
 * Returns true if the filter is that of a shared subscription, `$share/GROUP/FILTER`, to some topic
 * of MQTT-TZ's. FILTER and the prefix are compared level by level as far as both go.
 */
static bool shares(const struct plugin *plugin, const char *filter)
{
	const char *prefix = plugin->prefix;

	if (strncmp(filter, "$share/", 7))
		return false;
	filter += 7 + strcspn(filter + 7, "/");
	for (filter += *filter == '/'; *prefix && *filter != '#'; filter++, prefix++) {
		if (*filter == '+') {
			filter++;
			prefix += strcspn(prefix, "/");
		}
		if (*prefix && *filter != *prefix)
			return false;
		if (!*prefix || !*filter)
			break;
	}
	return true;
}

/* Returns mosquitto's status code for a message that a client sent, or its will. */
static int arrived(struct plugin *plugin, struct mosquitto *client, const char *topic,
		   const void *payload, size_t len)
{
	struct error err = { 0 };

	if (!tz_core_arrived(plugin->core, topic, payload, len, &err))
		return MOSQ_ERR_SUCCESS;
	complain(tz_core_counts(plugin->core)->refused, "refused a message from", client, topic,
		 &err);
	return MOSQ_ERR_ACL_DENIED;
}

/* Returns the receiver's copy; NULL, after logging the reason, if there is none. */
static const void *copy_for(struct plugin *plugin, struct mosquitto *client, const char *topic,
			    const void *payload, size_t len)
{
	struct error err = { 0 };
	const void *copy =
		tz_core_copy(plugin->core, topic, mosquitto_client_id(client), payload, len, &err);

	if (!copy)
		complain(tz_core_counts(plugin->core)->denied, "no copy for", client, topic, &err);
	return copy;
}

static int on_acl(int event, void *data, void *user)
{
	struct mosquitto_evt_acl_check *e = data;
	struct plugin *plugin = user;

	if (e->access == MOSQ_ACL_SUBSCRIBE && shares(plugin, e->topic))
		return MOSQ_ERR_ACL_DENIED;
	if (!is_ours(plugin, e->topic))
		return plugin->others;
	if (e->access == MOSQ_ACL_READ) /* MESSAGE_OUT sends the copy */
		return copy_for(plugin, e->client, e->topic, e->payload, e->payloadlen) ?
			       MOSQ_ERR_SUCCESS :
			       MOSQ_ERR_ACL_DENIED;
	/*
	 * mosquitto also asks about messages that it took before: retained ones, for their source,
	 * and those of a client that connects anew and isn't among the clients yet.
	 */
	if (e->access != MOSQ_ACL_WRITE ||
	    mosquitto_client(mosquitto_client_id(e->client)) != e->client)
		return MOSQ_ERR_SUCCESS;
	return arrived(plugin, e->client, e->topic, e->payload, e->payloadlen);
}

static int on_in(int event, void *data, void *user)
{
	struct mosquitto_evt_message *e = data;
	struct plugin *plugin = user;

	return !is_ours(plugin, e->topic) || tz_core_has_arrived(plugin->core, e->topic, e->payload,
								 e->payloadlen) ?
		       MOSQ_ERR_SUCCESS :
		       arrived(plugin, e->client, e->topic, e->payload, e->payloadlen);
}

static int on_out(int event, void *data, void *user)
{
	struct mosquitto_evt_message *e = data;
	const void *copy = NULL;
	void *payload = NULL;

	if (!is_ours(user, e->topic))
		return MOSQ_ERR_SUCCESS;
	copy = copy_for(user, e->client, e->topic, e->payload, e->payloadlen);
	payload = copy ? mosquitto_malloc(e->payloadlen) : NULL;
	if (payload)
		e->payload = memcpy(payload, copy, e->payloadlen);
	return MOSQ_ERR_SUCCESS;
}

static int report(int event, void *data, void *user)
{
	const struct plugin *plugin = user;
	const struct tz_counts *n = tz_core_counts(plugin->core);

	mosquitto_log_printf(MOSQ_LOG_NOTICE,
			     "mqtt-tz: %llu arrived, %llu refused, %llu copies (%llu "
			     "expected), %llu denied, %llu calls",
			     (unsigned long long)n->arrived, (unsigned long long)n->refused,
			     (unsigned long long)n->copies, (unsigned long long)n->expected,
			     (unsigned long long)n->denied, (unsigned long long)n->calls);
	return MOSQ_ERR_SUCCESS;
}

static const struct event {
	int event;
	MOSQ_FUNC_generic_callback run;
} events[] = {
	{ MOSQ_EVT_RELOAD, report },
	{ MOSQ_EVT_ACL_CHECK, on_acl },
	{ MOSQ_EVT_MESSAGE_IN, on_in },
	{ MOSQ_EVT_MESSAGE_OUT, on_out },
};
#define EVENTS (sizeof(events) / sizeof(events[0]))

int mosquitto_plugin_version(int count, const int *versions)
{
	for (int i = 0; i < count; i++)
		if (versions[i] == 5)
			return 5;
	return -1;
}

int mosquitto_plugin_init(mosquitto_plugin_id_t *id, void **user, struct mosquitto_opt *opts,
			  int count)
{
	struct plugin *plugin = calloc(1, sizeof(*plugin));
	struct tz_core_options options = { .extensions = true, .expect = true };
	const char *prefix = "tz/";
	struct error err = { 0 };
	int rc = MOSQ_ERR_SUCCESS;

	if (!plugin)
		return MOSQ_ERR_NOMEM;
	plugin->id = id;
	for (int i = 0; i < count; i++) {
		const char *name = opts[i].key, *value = opts[i].value;

		if (!strcmp(name, "prefix"))
			prefix = value;
		else if (!strcmp(name, "others"))
			plugin->others = strcmp(value, "defer") ? MOSQ_ERR_SUCCESS :
								  MOSQ_ERR_PLUGIN_DEFER;
		else if (!strcmp(name, "extensions"))
			options.extensions = !strcmp(value, "true");
		else if (!strcmp(name, "expect"))
			options.expect = !strcmp(value, "true");
		else if (!strcmp(name, "keys"))
			options.keys = plugin->keys = strdup(value);
		else
			mosquitto_log_printf(MOSQ_LOG_WARNING, "mqtt-tz: no option is called %s",
					     name);
	}
	plugin->prefix = strdup(prefix); /* mosquitto frees its own strings */
	if (tz_core_open(&plugin->core, &options, &err)) {
		mosquitto_log_printf(MOSQ_LOG_ERR, "mqtt-tz: %s%s%s", err.what,
				     *err.hint ? "; " : "", err.hint);
		return MOSQ_ERR_UNKNOWN;
	}
	for (size_t i = 0; i < EVENTS && !rc; i++)
		rc = mosquitto_callback_register(id, events[i].event, events[i].run, NULL, plugin);
	*user = plugin;
	return rc;
}

int mosquitto_plugin_cleanup(void *user, struct mosquitto_opt *opts, int count)
{
	struct plugin *plugin = user;

	if (!plugin)
		return MOSQ_ERR_SUCCESS;
	report(0, NULL, plugin);
	for (size_t i = 0; i < EVENTS; i++)
		mosquitto_callback_unregister(plugin->id, events[i].event, events[i].run, NULL);
	tz_core_close(plugin->core);
	free(plugin->prefix);
	free(plugin->keys);
	free(plugin);
	return MOSQ_ERR_SUCCESS;
}
