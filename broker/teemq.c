/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * teemq: keys of MQTT-TZ's clients, and messages by hand. Exit status: 0 fine,
 * 1 a failure, 2 a mistake on the command line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "ta.h"

#define ORDER_MAX (2 + TZ_ID_MAX + TZ_WRAPPED_BYTES + TZ_RULES_MAX)

/* Reads stdin to its end; at most a message with all that it has besides. */
static int read_all(uint8_t **data, size_t *len, struct error *err)
{
	*data = malloc(TZ_MESSAGE_MAX + 1);
	if (!*data)
		return error_set(err, -ENOMEM, "out of memory");
	*len = fread(*data, 1, TZ_MESSAGE_MAX + 1, stdin);
	if (ferror(stdin) || *len > TZ_MESSAGE_MAX) {
		free(*data);
		*data = NULL;
		return error_set(err, -EMSGSIZE,
				 "can't read standard input, or it is longer "
				 "than %u bytes",
				 TZ_MESSAGE_MAX);
	}
	return 0;
}

static int write_all(const void *data, size_t len, struct error *err)
{
	if (fwrite(data, 1, len, stdout) != len || fflush(stdout))
		return error_set(err, -errno, "can't write: %s",
				 strerror(errno));
	return 0;
}

/* -- keys ----------------------------------------------------------------- */

static int do_key(char **argv, struct error *err)
{
	struct tz_client client;
	int rc = tz_client_make(&client, argv[0], argv[1], err);

	tz_client_wipe(&client);
	return rc;
}

static int do_identity(char **argv, struct error *err)
{
	struct tee_session *tee = NULL;
	uint8_t point[TZ_POINT_BYTES];
	int rc = tz_ta_open(&tee, false, err);

	(void)argv;
	if (rc)
		return rc;
	rc = tz_ta_get(tee, TA_BROKER_CMD_IDENTITY, point, sizeof(point),
		       "read the enrolment key", err);
	tee_session_close(tee);
	for (size_t i = 0; !rc && i < sizeof(point); i++)
		printf("%02x", point[i]);
	puts("");
	return rc;
}

static int do_claim(char **argv, struct error *err)
{
	uint8_t bytes[1 + TZ_ID_MAX + TZ_WRAPPED_BYTES];
	struct tee_session *tee = NULL;
	struct tz_client admin;
	size_t len = 0;
	int rc = tz_client_load(&admin, argv[0], err);

	if (!rc)
		rc = tz_ta_open(&tee, false, err);
	if (rc)
		return rc;
	rc = tz_ta_get(tee, TA_BROKER_CMD_IDENTITY, admin.identity,
		       TZ_POINT_BYTES, "read the enrolment key", err);
	if (rc)
		goto out;
	len = strlen(admin.id);
	bytes[0] = (uint8_t)len;
	memcpy(bytes + 1, admin.id, len);
	rc = tz_wrap(&admin, admin.identity, bytes + 1 + len, err);
	if (rc)
		goto out;
	rc = tz_ta_put(tee, TA_BROKER_CMD_CLAIM, bytes,
		       1 + len + TZ_WRAPPED_BYTES, "claim the broker TA", err);
	if (rc && err->tee_result == TEEC_ERROR_ACCESS_DENIED) {
		error_set(err, rc, "the broker TA has an administrator");
		error_hint(err, "if it isn't you, somebody else claimed it "
				"first: don't enrol a client there");
	}
	admin.has_identity = !rc;
	if (!rc)
		rc = tz_client_save(&admin, err);
out:
	tee_session_close(tee);
	tz_client_wipe(&admin);
	return rc;
}

static int submit(const uint8_t *order, size_t len, struct error *err)
{
	struct tee_session *tee = NULL;
	int rc = tz_ta_open(&tee, false, err);

	if (rc)
		return rc;
	rc = tz_ta_put(tee, TA_BROKER_CMD_ORDER, order, len, "obey an order",
		       err);
	if (rc && err->tee_result == TZ_RESULT_REPLAYED)
		error_hint(err, "the order, or a later one, came before");
	if (rc && err->tee_result == TZ_RESULT_FORGED)
		error_hint(err, "it isn't from this TA's administrator, or "
				"was changed");
	tee_session_close(tee);
	return rc;
}

/* Adds the rules "r:FILTER" and "w:FILTER" as lines. */
static int put_rules(char **rules, uint8_t *out, size_t *len, struct error *err)
{
	size_t begin = *len;

	for (; *rules; rules++) {
		size_t n = strlen(*rules);

		if ((**rules != 'r' && **rules != 'w') || n < 3 ||
		    (*rules)[1] != ':')
			return error_set(err, -EINVAL,
					 "'%s' is no rule: r:FILTER may read, "
					 "w:FILTER may publish",
					 *rules);
		if (*len + n + 1 - begin > TZ_RULES_MAX)
			return error_set(err, -E2BIG,
					 "a client's rules have at most %u "
					 "bytes",
					 TZ_RULES_MAX);
		memcpy(out + *len, *rules, n);
		out[*len + 1] = ' ';
		out[*len + n] = '\n';
		*len += n + 1;
	}
	return 0;
}

/* An order of the administrator in that file, to the TA or (print) to stdout. */
static int give(char letter, char *admin_file, const char *id,
		const char *key_file, char **rules, bool print,
		struct error *err)
{
	uint8_t plain[ORDER_MAX] = { (uint8_t)letter };
	uint8_t order[ORDER_MAX + TZ_OVERHEAD(TZ_ID_MAX)];
	struct tz_client admin, client = { 0 };
	size_t len = 2;
	int rc = tz_client_load(&admin, admin_file, err);

	if (!rc && key_file) {
		rc = tz_client_load(&client, key_file, err);
		id = client.id;
	}
	if (rc)
		goto out;
	if (strlen(id) > TZ_ID_MAX) {
		rc = error_set(err, -EINVAL, "'%s' is no client id", id);
		goto out;
	}
	plain[1] = (uint8_t)strlen(id);
	memcpy(plain + 2, id, plain[1]);
	len += plain[1];
	if (key_file && !admin.has_identity) {
		rc = error_set(err, -EINVAL, "%s never claimed a TA",
			       admin_file);
		error_hint(err, "`teemq claim %s` on the board does",
			   admin_file);
	} else if (key_file) {
		rc = tz_wrap(&client, admin.identity, plain + len, err);
		len += TZ_WRAPPED_BYTES;
	}
	if (!rc)
		rc = put_rules(rules, plain, &len, err);
	if (!rc)
		rc = tz_seal_order(&admin, plain, len, order, err);
	len += TZ_OVERHEAD(strlen(admin.id));
	if (!rc)
		rc = print ? write_all(order, len, err) :
			     submit(order, len, err);
out:
	tz_client_wipe(&admin);
	tz_client_wipe(&client);
	return rc;
}

static bool take_print(char ***argv)
{
	if (!**argv || strcmp(**argv, "--print"))
		return false;
	++*argv;
	return true;
}

static int do_enrol(char **argv, struct error *err)
{
	bool print = take_print(&argv);

	return give(TZ_ENROL, argv[0], NULL, argv[1], argv + 2, print, err);
}

static int do_policy(char **argv, struct error *err)
{
	bool print = take_print(&argv);

	return give(TZ_POLICY, argv[0], argv[1], NULL, argv + 2, print, err);
}

static int do_revoke(char **argv, struct error *err)
{
	char *none[] = { NULL };
	bool print = take_print(&argv);

	return give(TZ_REVOKE, argv[0], argv[1], NULL, none, print, err);
}

static int do_submit(char **argv, struct error *err)
{
	uint8_t *data = NULL;
	size_t len = 0;
	int rc = read_all(&data, &len, err);

	(void)argv;
	if (!rc)
		rc = submit(data, len, err);
	free(data);
	return rc;
}

/* -- what the TA says ----------------------------------------------------- */

static int do_list(char **argv, struct error *err)
{
	struct tee_session *tee = NULL;
	uint32_t row = 0;
	int rc = tz_ta_open(&tee, false, err);

	(void)argv;
	while (!rc) {
		uint8_t bytes[2 + TZ_ID_MAX + TZ_RULES_MAX + 1];
		size_t len = sizeof(bytes) - 1, n = 0;

		rc = tz_ta_list(tee, &row, bytes, &len, err);
		if (rc)
			break;
		bytes[len] = 0;
		n = bytes[0];
		printf("%.*s%s", (int)n, bytes + 1,
		       bytes[1 + n] ? " administrator" : "");
		for (char *rule = strtok((char *)bytes + 2 + n, "\n"); rule;
		     rule = strtok(NULL, "\n"))
			printf(" %c:%s", rule[0], rule + 2);
		puts("");
	}
	tee_session_close(tee);
	return rc == -ENOENT ? 0 : rc;
}

static int do_statistics(char **argv, struct error *err)
{
	static const char *const reasons[TZ_DROP_REASONS] = {
		[TZ_DROP_FORMAT] = "no message",
		[TZ_DROP_UNKNOWN] = "unknown sender",
		[TZ_DROP_FORGED] = "forged",
		[TZ_DROP_REPLAYED] = "replayed",
		[TZ_DROP_POLICY] = "no rule to publish",
	};
	struct tz_statistics all;
	struct tee_session *tee = NULL;
	int rc = tz_ta_open(&tee, false, err);

	(void)argv;
	if (!rc)
		rc = tz_ta_get(tee, TA_BROKER_CMD_STATISTICS, &all, sizeof(all),
			       "read the statistics", err);
	tee_session_close(tee);
	if (rc)
		return rc;
#define LINE(name, n) printf("%-20s %llu\n", name, (unsigned long long)(n))
	LINE("messages opened", all.messages);
	LINE("copies sealed", all.copies);
	for (int i = 0; i < TZ_DROP_REASONS; i++)
		printf("dropped: %-19s %llu\n", reasons[i],
		       (unsigned long long)all.dropped[i]);
	LINE("receivers refused", all.refused);
	LINE("keys cached", all.keys_cached);
	LINE("keys loaded", all.keys_loaded);
	LINE("keys evicted", all.keys_evicted);
	LINE("table writes", all.table_writes);
	return 0;
}

/* -- messages ------------------------------------------------------------- */

static int do_seal(char **argv, struct error *err)
{
	struct tz_client client;
	uint8_t *plain = NULL, *out = NULL;
	size_t len = 0;
	int rc = tz_client_load(&client, argv[0], err);

	if (!rc)
		rc = read_all(&plain, &len, err);
	out = rc ? NULL : malloc(len + TZ_OVERHEAD(TZ_ID_MAX));
	if (!rc && !out)
		rc = error_set(err, -ENOMEM, "out of memory");
	if (!rc)
		rc = tz_seal(&client, argv[1], plain, len, out, err);
	if (!rc)
		rc = write_all(out, len + TZ_OVERHEAD(strlen(client.id)), err);
	free(plain);
	free(out);
	tz_client_wipe(&client);
	return rc;
}

static int do_open(char **argv, struct error *err)
{
	struct tz_client client;
	struct tz_opened opened;
	uint8_t *message = NULL, *out = NULL;
	size_t len = 0;
	int rc = tz_client_load(&client, argv[0], err);

	if (!rc)
		rc = read_all(&message, &len, err);
	out = rc ? NULL : malloc(len + 1);
	if (!rc && !out)
		rc = error_set(err, -ENOMEM, "out of memory");
	if (!rc)
		rc = tz_open(&client, argv[1], message, len, out, &opened, err);
	if (!rc)
		rc = write_all(out, opened.len, err);
	free(message);
	free(out);
	tz_client_wipe(&client);
	return rc;
}

static const struct command {
	const char *name;
	int least, most; /* arguments, without --print */
	int (*run)(char **argv, struct error *err);
	const char *usage, *help;
} commands[] = {
	{ "key", 2, 2, do_key, "ID FILE", "make a client's key" },
	{ "identity", 0, 0, do_identity, "", "print the TA's enrolment key" },
	{ "claim", 1, 1, do_claim, "ADMIN-FILE",
	  "become the administrator of this board's TA, once" },
	{ "enrol", 2, 64, do_enrol, "[--print] ADMIN-FILE KEY-FILE [RULE]…",
	  "make a client known; a rule is r:FILTER or w:FILTER" },
	{ "policy", 2, 64, do_policy, "[--print] ADMIN-FILE ID [RULE]…",
	  "give a client other rules" },
	{ "revoke", 2, 2, do_revoke, "[--print] ADMIN-FILE ID",
	  "forget a client, from the next message on" },
	{ "submit", 0, 0, do_submit, "",
	  "pass an order of --print from standard input to the TA" },
	{ "list", 0, 0, do_list, "", "list the clients and their rules" },
	{ "statistics", 0, 0, do_statistics, "",
	  "print what the TA opened, sealed and dropped" },
	{ "seal", 2, 2, do_seal, "KEY-FILE TOPIC",
	  "seal standard input for the broker" },
	{ "open", 2, 2, do_open, "KEY-FILE TOPIC",
	  "open a message of the broker's from standard input" },
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *to)
{
	fprintf(to, "Usage: teemq COMMAND …\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(to, "  %s %s\n      %s\n", commands[i].name,
			commands[i].usage, commands[i].help);
}

int main(int argc, char **argv)
{
	const struct command *command = NULL;
	struct error err = { 0 };
	int args = argc - 2;

	if (argc > 1 &&
	    (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		usage(stdout);
		return 0;
	}
	for (size_t i = 0; argc > 1 && i < COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			command = &commands[i];
	if (args > 0 && !strcmp(argv[2], "--print"))
		args--;
	if (!command || args < command->least || args > command->most) {
		if (command)
			fprintf(stderr, "Usage: teemq %s %s\n", command->name,
				command->usage);
		else
			usage(stderr);
		return 2;
	}
	if (!command->run(argv + 2, &err))
		return 0;
	error_print(stderr, "teemq", &err);
	return err.code == -EINVAL || err.code == -E2BIG ? 2 : 1;
}
