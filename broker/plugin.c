/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options in mosquitto.conf, each as plugin_opt_NAME VALUE:
 *   prefix      topics that begin so are MQTT-TZ's (tz/)
 *   others      allow or defer: the answer about all other topics (allow)
 *   extensions  let the TA use the CPU's AES (true)
 *   expect      have copies made ahead, in one call (true)
 *   keys        a folder of key files: no TEE, to compare
 */
#include "plugin.h"

#include <stdlib.h>
#include <string.h>

bool plugin_is_ours(const struct plugin *plugin, const char *topic)
{
	return !strncmp(topic, plugin->prefix, strlen(plugin->prefix));
}

/* The 1st, 2nd, 4th, 8th … only: whoever sends or subscribes can cause it. */
static void complain(uint64_t times, const char *what, struct mosquitto *client,
		     const char *topic, const struct error *err)
{
	if (times & (times - 1))
		return;
	mosquitto_log_printf(MOSQ_LOG_WARNING, "mqtt-tz: %s %s on %s: %s", what,
			     mosquitto_client_id(client), topic,
			     err->code ? err->what :
					 "not enrolled, or no rule for it");
}

int plugin_arrived(struct plugin *plugin, struct mosquitto *client,
		   const char *topic, const void *payload, size_t len)
{
	struct error err = { 0 };

	/* A message of no bytes clears the retained one. */
	if (!len || !tz_core_arrived(plugin->core, topic, payload, len, &err))
		return MOSQ_ERR_SUCCESS;
	complain(tz_core_counts(plugin->core)->refused,
		 "refused a message from", client, topic, &err);
	return MOSQ_ERR_ACL_DENIED;
}

const void *plugin_copy(struct plugin *plugin, struct mosquitto *client,
			const char *topic, const void *payload, size_t len)
{
	struct error err = { 0 };
	const void *copy = tz_core_copy(plugin->core, topic,
					mosquitto_client_id(client), payload,
					len, &err);

	if (!copy)
		complain(tz_core_counts(plugin->core)->denied, "no copy for",
			 client, topic, &err);
	return copy;
}

static void report(const struct plugin *plugin)
{
	const struct tz_counts *n = tz_core_counts(plugin->core);

	mosquitto_log_printf(
		MOSQ_LOG_NOTICE,
		"mqtt-tz: %llu arrived, %llu refused, %llu copies (%llu "
		"expected), %llu denied, %llu calls",
		(unsigned long long)n->arrived, (unsigned long long)n->refused,
		(unsigned long long)n->copies, (unsigned long long)n->expected,
		(unsigned long long)n->denied, (unsigned long long)n->calls);
}

static int on_reload(int event, void *data, void *user)
{
	(void)event;
	(void)data;
	report(user);
	return MOSQ_ERR_SUCCESS;
}

int mosquitto_plugin_version(int count, const int *versions)
{
	for (int i = 0; i < count; i++)
		if (versions[i] == 5)
			return 5;
	return -1;
}

int mosquitto_plugin_init(mosquitto_plugin_id_t *id, void **user,
			  struct mosquitto_opt *opts, int count)
{
	struct plugin *plugin = calloc(1, sizeof(*plugin));
	struct tz_core_options options = { .extensions = true, .expect = true };
	struct error err = { 0 };
	int rc = MOSQ_ERR_SUCCESS;

	if (!plugin)
		return MOSQ_ERR_NOMEM;
	plugin->id = id;
	plugin->prefix = "tz/";
	for (int i = 0; i < count; i++) {
		const char *value = opts[i].value;

		if (!strcmp(opts[i].key, "prefix"))
			plugin->prefix = value;
		else if (!strcmp(opts[i].key, "others"))
			plugin->others = strcmp(value, "defer") ?
						 MOSQ_ERR_SUCCESS :
						 MOSQ_ERR_PLUGIN_DEFER;
		else if (!strcmp(opts[i].key, "extensions"))
			options.extensions = !strcmp(value, "true");
		else if (!strcmp(opts[i].key, "expect"))
			options.expect = !strcmp(value, "true");
		else if (!strcmp(opts[i].key, "keys"))
			options.keys = value;
		else
			mosquitto_log_printf(MOSQ_LOG_WARNING,
					     "mqtt-tz: no option is called %s",
					     opts[i].key);
	}
	/* mosquitto frees the values after this call. */
	plugin->prefix = strdup(plugin->prefix);
	options.keys = plugin->keys = options.keys ? strdup(options.keys) :
						     NULL;
	if (tz_core_open(&plugin->core, &options, &err)) {
		mosquitto_log_printf(MOSQ_LOG_ERR, "mqtt-tz: %s%s%s", err.what,
				     *err.hint ? "; " : "", err.hint);
		return MOSQ_ERR_UNKNOWN;
	}
	for (const struct event *e = plugin_events; e->event && !rc; e++)
		rc = mosquitto_callback_register(id, e->event, e->run, NULL,
						 plugin);
	if (!rc)
		rc = mosquitto_callback_register(id, MOSQ_EVT_RELOAD, on_reload,
						 NULL, plugin);
	*user = plugin;
	return rc;
}

int mosquitto_plugin_cleanup(void *user, struct mosquitto_opt *opts, int count)
{
	struct plugin *plugin = user;

	(void)opts;
	(void)count;
	if (!plugin)
		return MOSQ_ERR_SUCCESS;
	report(plugin);
	for (const struct event *e = plugin_events; e->event; e++)
		mosquitto_callback_unregister(plugin->id, e->event, e->run,
					      NULL);
	mosquitto_callback_unregister(plugin->id, MOSQ_EVT_RELOAD, on_reload,
				      NULL);
	tz_core_close(plugin->core);
	free((char *)plugin->prefix);
	free(plugin->keys);
	free(plugin);
	return MOSQ_ERR_SUCCESS;
}
