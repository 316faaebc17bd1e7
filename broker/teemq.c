/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * teemq manages the keys of MQTT-TZ's clients, and seals and opens single messages. Exit status: 0
 * success, 1 failure, 2 wrong command line.
 */
#include <stdlib.h>

#include "client.h"
#include "ta.h"

#define ORDER_MAX (2 + TZ_ID_MAX + TZ_WRAPPED_BYTES + TZ_RULES_MAX)

/* A command's surroundings: main() prepares them as the command's row asks, and frees them. */
struct job {
	char **argv;             /* arguments without --print; NULL-terminated */
	bool print;              /* --print was given */
	int order;               /* enum tz_order of the row */
	struct tz_client me;     /* KEY: the client in the file argv[0] */
	struct tee_session *tee; /* TEE: a session with the broker TA */
	size_t len;              /* STDIN: bytes of standard input … */
	uint8_t in[TZ_MESSAGE_MAX + 1];
	uint8_t out[TZ_MESSAGE_MAX + TZ_OVERHEAD(TZ_ID_MAX)]; /* … and room for the result */
};

enum { KEY = 1, TEE = 2, STDIN = 4 };

/* Reads all of stdin; fails if it is longer than the longest sealed message. */
static int read_all(struct job *job, struct error *err)
{
	job->len = fread(job->in, 1, sizeof(job->in), stdin);
	if (ferror(stdin) || job->len > TZ_MESSAGE_MAX)
		return error_set(err, -EMSGSIZE,
				 "can't read standard input, or it is longer than %u bytes",
				 TZ_MESSAGE_MAX);
	return 0;
}

static int write_all(const void *data, size_t len, struct error *err)
{
	if (fwrite(data, 1, len, stdout) != len || fflush(stdout))
		return error_errno(err, "can't write");
	return 0;
}

/* Calls a command of the TA with one buffer, which is completely an input or an output (`type`). */
static int call(struct job *job, uint32_t command, uint32_t type, const void *data, size_t len,
		const char *doing, struct error *err)
{
	TEEC_Operation op = { .paramTypes = type };
	int rc = 0;

	op.params[0].tmpref.buffer = (void *)data;
	op.params[0].tmpref.size = len;
	rc = tee_invoke(job->tee, command, &op, doing, err);
	if (!rc && op.params[0].tmpref.size != len)
		return error_set(err, -EPROTO, "the broker TA gave %zu bytes where %zu were due",
				 op.params[0].tmpref.size, len);
	return rc;
}

static int do_key(struct job *job, struct error *err)
{
	return tz_client_make(&job->me, job->argv[0], job->argv[1], job->argv[2], err);
}

static int do_identity(struct job *job, struct error *err)
{
	uint8_t identity[TZ_PUBLIC_BYTES] = { 0 };
	int rc = call(job, TA_BROKER_CMD_IDENTITY, TEEC_MEMREF_TEMP_OUTPUT, identity,
		      sizeof(identity), "read the enrolment key", err);

	for (size_t i = 0; !rc && i < sizeof(identity); i++)
		printf("%02x", identity[i]);
	return rc ? rc : write_all("\n", 1, err);
}

static int do_claim(struct job *job, struct error *err)
{
	uint8_t bytes[1 + TZ_ID_MAX + TZ_WRAPPED_BYTES];
	struct tz_client *admin = &job->me;
	uint8_t before[TZ_PUBLIC_BYTES];
	size_t len = strlen(admin->id);
	int rc = 0;

	memcpy(before, admin->identity, sizeof(before));
	rc = call(job, TA_BROKER_CMD_IDENTITY, TEEC_MEMREF_TEMP_OUTPUT, admin->identity,
		  TZ_PUBLIC_BYTES, "read the enrolment key", err);
	if (!rc && admin->has_identity && memcmp(before, admin->identity, sizeof(before)))
		return error_set(err, -EIO,
				 "this isn't the TA that %s claimed: its storage was lost, "
				 "changed or replaced\nnobody who was enrolled there can be trusted "
				 "here: make new keys for the administrator and for every client",
				 admin->id);
	bytes[0] = (uint8_t)len;
	memcpy(bytes + 1, admin->id, len);
	if (!rc)
		rc = tz_wrap(admin, admin->identity, bytes + 1 + len, err);
	if (rc)
		return rc;
	rc = call(job, TA_BROKER_CMD_CLAIM, TEEC_MEMREF_TEMP_INPUT, bytes,
		  1 + len + TZ_WRAPPED_BYTES, "claim the broker TA", err);
	if (rc && err->tee_result == TEEC_ERROR_ACCESS_DENIED)
		return error_set(err, rc,
				 "the broker TA has an administrator\nif it isn't you, somebody else "
				 "claimed it first: don't enrol a client there");
	if (rc)
		return rc;
	admin->has_identity = true;
	return tz_client_save(admin, err);
}

static int do_submit(struct job *job, struct error *err)
{
	int rc = call(job, TA_BROKER_CMD_ORDER, TEEC_MEMREF_TEMP_INPUT, job->in, job->len,
		      "obey an order", err);

	if (rc && err->tee_result == TZ_RESULT_REPLAYED)
		error_hint(err, NULL, "the order, or a later one, came before");
	if (rc && err->tee_result == TZ_RESULT_FORGED)
		error_hint(err, NULL, "it isn't from this TA's administrator, or was changed");
	if (rc && err->tee_result == TEEC_ERROR_ITEM_NOT_FOUND)
		error_hint(err, NULL,
			   "`teemq list` shows whom this TA knows: if its storage was lost, "
			   "nobody, and all begin anew with new keys");
	return rc;
}

/* Appends the rules "r:FILTER" and "w:FILTER" as lines. */
static int put_rules(char **rules, uint8_t *out, size_t *len, struct error *err)
{
	size_t begin = *len;

	for (; *rules; rules++) {
		size_t n = strlen(*rules);

		if ((**rules != 'r' && **rules != 'w') || n < 3 || (*rules)[1] != ':')
			return error_set(err, -EINVAL,
					 "'%s' is no rule: r:FILTER may read, w:FILTER may publish",
					 *rules);
		if (*len + n + 1 - begin > TZ_RULES_MAX)
			return error_set(err, -E2BIG, "a client's rules have at most %u bytes",
					 TZ_RULES_MAX);
		memcpy(out + *len, *rules, n);
		out[*len + 1] = ' ';
		out[*len + n] = '\n';
		*len += n + 1;
	}
	return 0;
}

/* Appends the client's public half, or its key wrapped for the administrator's TA. */
static int put_key(const struct tz_client *admin, const struct tz_client *client, uint8_t *out,
		   size_t *len, struct error *err)
{
	if (!client->is_agreed) {
		*len += TZ_WRAPPED_BYTES;
		return tz_wrap(client, admin->identity, out, err);
	}
	if (memcmp(client->identity, admin->identity, TZ_PUBLIC_BYTES))
		return error_set(err, -EINVAL, "%s agreed on its key with another TA than %s's",
				 client->id, admin->id);
	memcpy(out, client->public, TZ_PUBLIC_BYTES);
	*len += TZ_PUBLIC_BYTES;
	return 0;
}

/*
 * Sends an order to the TA, or with --print writes it to stdout. The argument is the client's id;
 * for TZ_ENROL, its key file, whose key goes with the order.
 */
static int do_order(struct job *job, struct error *err)
{
	uint8_t plain[ORDER_MAX] = { (uint8_t)job->order };
	const char *id = job->argv[1];
	struct tz_client client = { 0 };
	size_t len = 0;
	int rc = 0;

	if (!job->me.has_identity)
		return error_set(err, -EINVAL,
				 "%s never claimed a TA\n`teemq claim %s` on the board does",
				 job->argv[0], job->argv[0]);
	if (job->order == TZ_ENROL) {
		rc = tz_client_load_public(&client, id, err);
		id = client.id;
		if (client.is_agreed)
			plain[0] = TZ_AGREE;
	}
	if (!rc && strlen(id) > TZ_ID_MAX)
		rc = error_set(err, -EINVAL, "'%s' is no client id", id);
	if (rc)
		return rc;
	plain[1] = (uint8_t)strlen(id);
	memcpy(plain + 2, id, strlen(id));
	len = 2 + strlen(id);
	if (job->order == TZ_ENROL)
		rc = put_key(&job->me, &client, plain + len, &len, err);
	tz_client_wipe(&client);
	if (!rc)
		rc = put_rules(job->argv + 2, plain, &len, err);
	if (!rc)
		rc = tz_seal_order(&job->me, plain, len, job->in, err);
	job->len = len + TZ_OVERHEAD(strlen(job->me.id));
	if (rc)
		return rc;
	return job->print ? write_all(job->in, job->len, err) : do_submit(job, err);
}

static int do_list(struct job *job, struct error *err)
{
	char bytes[2 + TZ_ID_MAX + TZ_RULES_MAX + 1];
	TEEC_Operation op = {
		.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_INOUT, TEEC_MEMREF_TEMP_OUTPUT, TEEC_NONE,
					       TEEC_NONE),
	};

	for (;;) {
		int rc = 0, n = 0;

		op.params[1].tmpref.buffer = bytes;
		op.params[1].tmpref.size = sizeof(bytes) - 1;
		rc = tee_invoke(job->tee, TA_BROKER_CMD_LIST, &op, "list the clients", err);
		if (rc && err->tee_result == TEEC_ERROR_ITEM_NOT_FOUND)
			return 0;
		if (rc)
			return rc;
		bytes[op.params[1].tmpref.size] = 0;
		n = bytes[0];
		printf("%.*s%s", n, bytes + 1, bytes[1 + n] ? " administrator" : "");
		for (char *rule = strtok(bytes + 2 + n, "\n"); rule; rule = strtok(NULL, "\n"))
			printf(" %c:%s", rule[0], rule + 2);
		puts("");
	}
}

static int do_statistics(struct job *job, struct error *err)
{
	/* These are in the order of the members of struct tz_statistics. */
	static const char *const lines[] = {
		"messages opened",
		"copies sealed",
		"dropped: no message",
		"dropped: unknown sender",
		"dropped: forged",
		"dropped: replayed",
		"dropped: no rule to publish",
		"receivers refused",
		"keys cached",
		"keys loaded",
		"keys evicted",
		"table writes",
	};
	uint64_t counts[sizeof(lines) / sizeof(lines[0])] = { 0 };
	int rc = call(job, TA_BROKER_CMD_STATISTICS, TEEC_MEMREF_TEMP_OUTPUT, counts,
		      sizeof(counts), "read the statistics", err);

	_Static_assert(sizeof(counts) == sizeof(struct tz_statistics), "a line for each counter");
	for (size_t i = 0; !rc && i < sizeof(lines) / sizeof(lines[0]); i++)
		printf("%-28s %llu\n", lines[i], (unsigned long long)counts[i]);
	return rc;
}

static int do_seal(struct job *job, struct error *err)
{
	int rc = tz_seal(&job->me, job->argv[1], job->in, job->len, job->out, err);

	return rc ? rc : write_all(job->out, job->len + TZ_OVERHEAD(strlen(job->me.id)), err);
}

static int do_open(struct job *job, struct error *err)
{
	struct tz_opened opened;
	int rc = tz_open(&job->me, job->argv[1], job->in, job->len, job->out, &opened, err);

	return rc ? rc : write_all(job->out, opened.len, err);
}

static const struct command {
	const char *name;
	int least, most; /* number of arguments, without --print */
	int needs;
	int order; /* 0, or an order that --print can print */
	int (*run)(struct job *job, struct error *err);
	const char *usage, *help;
} commands[] = {
	{ "identity", 0, 0, TEE, 0, do_identity, "", "print the TA's enrolment key" },
	{ "key", 2, 3, 0, 0, do_key, "ID FILE [IDENTITY]",
	  "make a client's key; with the TA's enrolment key agree on it, and write FILE.pub" },
	{ "claim", 1, 1, KEY | TEE, 0, do_claim, "ADMIN-FILE",
	  "become the administrator of this board's TA, once" },
	{ "enrol", 2, 64, KEY | TEE, TZ_ENROL, do_order, "[--print] ADMIN-FILE FILE [RULE]…",
	  "make a client known, by its key's FILE or FILE.pub; a rule is r:FILTER or w:FILTER" },
	{ "policy", 2, 64, KEY | TEE, TZ_POLICY, do_order, "[--print] ADMIN-FILE ID [RULE]…",
	  "give a client other rules" },
	{ "revoke", 2, 2, KEY | TEE, TZ_REVOKE, do_order, "[--print] ADMIN-FILE ID",
	  "forget a client, from the next message on" },
	{ "submit", 0, 0, TEE | STDIN, 0, do_submit, "",
	  "pass an order of --print from standard input to the TA" },
	{ "list", 0, 0, TEE, 0, do_list, "", "list the clients and their rules" },
	{ "statistics", 0, 0, TEE, 0, do_statistics, "",
	  "print what the TA opened, sealed and dropped" },
	{ "seal", 2, 2, KEY | STDIN, 0, do_seal, "KEY-FILE TOPIC",
	  "seal standard input for the broker" },
	{ "open", 2, 2, KEY | STDIN, 0, do_open, "KEY-FILE TOPIC",
	  "open a message of the broker's from standard input" },
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *to)
{
	fprintf(to, "Usage: teemq COMMAND …\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(to, "  %s %s\n      %s\n", commands[i].name, commands[i].usage,
			commands[i].help);
}

static int run(const struct command *command, struct job *job, struct error *err)
{
	int rc = 0;

	job->order = command->order;
	if (command->needs & KEY)
		rc = tz_client_load(&job->me, job->argv[0], err);
	if (!rc && command->needs & STDIN)
		rc = read_all(job, err);
	if (!rc && command->needs & TEE && !job->print)
		rc = tz_ta_open(&job->tee, false, err);
	if (!rc)
		rc = command->run(job, err);
	if (job->tee)
		tee_session_close(job->tee);
	tz_client_wipe(&job->me);
	return rc;
}

int main(int argc, char **argv)
{
	const struct command *command = NULL;
	static struct job job;
	struct error err = { 0 };
	int args = argc - 2;

	job.argv = argv + 2;
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		usage(stdout);
		return 0;
	}
	for (size_t i = 0; argc > 1 && i < COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			command = &commands[i];
	if (command && command->order && args > 0 && !strcmp(argv[2], "--print")) {
		job.print = true;
		job.argv++;
		args--;
	}
	if (!command || args < command->least || args > command->most) {
		if (!command && argc > 1)
			fprintf(stderr, "teemq: there is no command %s\n", argv[1]);
		if (command)
			fprintf(stderr, "Usage: teemq %s %s\n", command->name, command->usage);
		else
			usage(stderr);
		return 2;
	}
	if (!run(command, &job, &err))
		return 0;
	error_print(stderr, "teemq", &err);
	return err.code == -EINVAL || err.code == -E2BIG ? 2 : 1;
}
