// SPDX-License-Identifier: BSD-2-Clause
/* Checks the digests of the lists of the command line (-c), one list after the other. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "list.h"
#include "stop.h"

/* A list that is read. */
struct list {
	const char *name; /* for messages */
	FILE *in;
	int read_error; /* an errno */
	struct list_format format;
	uint64_t number; /* of the line */
	uint64_t proper;
	uint64_t improper;
	uint64_t unreadable;
	uint64_t mismatched;
	uint64_t matched;
	char line[LIST_LINE_MAX + 1];
};

/* A proper line says this; it is message.own. */
struct expected {
	uint8_t digest[ALG_DIGEST_MAX_BYTES];
	char name[];
};

struct check {
	struct command command;
	struct list list;
	uint64_t lacking; /* algorithms that the backend lacks: said already */
};

/* Returns 0 or -errno. */
static int open_list(struct list *list, const struct options *opt, const char *name)
{
	memset(list, 0, sizeof(*list));
	list->format.untagged = opt->alg;
	list->format.only = opt->alg_given ? opt->alg : NULL;
	list->in = strcmp(name, "-") ? fopen(name, "re") : stdin;
	list->name = list->in == stdin ? "standard input" : name;
	return list->in ? 0 : -errno;
}

static void close_list(struct list *list)
{
	if (list->in != stdin)
		fclose(list->in);
}

enum line { LINE_PROPER, LINE_IMPROPER, LINE_NONE };

/* Reads the next line that isn't empty or a remark. */
static enum line next_line(struct list *list, struct list_entry *entry)
{
	enum list_read read;
	size_t len;

	do {
		errno = 0;
		read = list_read(list->in, list->line, &len);
		list->number++;
	} while (read == LIST_LINE && (!len || list->line[0] == '#'));
	if (read == LIST_END && ferror(list->in))
		list->read_error = errno ? errno : EIO;
	if (read == LIST_END)
		return LINE_NONE;
	/* A list from standard input can't be hashed while it is read. */
	return read == LIST_LINE && list_parse(&list->format, list->line, len, entry) &&
			       !(list->in == stdin && !strcmp(entry->name, "-")) ?
		       LINE_PROPER :
		       LINE_IMPROPER;
}

/* Counts an improper line. Without --algorithm a line may name any. */
static void note_improper(const struct options *opt, struct list *list)
{
	list->improper++;
	if (opt->warn)
		complain_name(list->name, "%" PRIu64 ": improperly formatted %s%schecksum line",
			      list->number, opt->alg_given ? opt->alg->tag : "",
			      opt->alg_given ? " " : "");
}

static int next_entry(void *ctx, struct message *m)
{
	struct check *check = ctx;
	struct list *list = &check->list;
	struct list_entry entry;
	struct expected *expected;
	enum line line;

	while ((line = next_line(list, &entry)) == LINE_IMPROPER)
		note_improper(check->command.opt, list);
	if (stop_asked())
		return -EINTR;
	if (line == LINE_NONE)
		return 0;
	expected = malloc(sizeof(*expected) + strlen(entry.name) + 1);
	if (!expected) {
		complain("out of memory");
		return -ENOMEM;
	}
	memcpy(expected->digest, entry.digest, sizeof(entry.digest));
	strcpy(expected->name, entry.name);
	m->name = expected->name;
	m->alg = entry.alg;
	m->own = expected;
	list->proper++;
	return 1;
}

static int judge(struct check *check, const struct message *m)
{
	struct command *command = &check->command;
	const struct options *opt = command->opt;
	const struct expected *expected = m->own;
	struct list *list = &check->list;
	uint64_t bit = UINT64_C(1) << (m->alg - algorithms) % 64;
	const char *verdict = "OK";

	if (m->ret == -EINTR)
		return m->ret;
	if (m->stats.missing && opt->ignore_missing)
		return 0;
	if (m->ret) {
		list->unreadable++;
		verdict = "FAILED open or read";
		/* The backend's lack is said once, not for each file. */
		if (!m->err.skip || !(check->lacking & bit))
			command_complain(command, m);
		if (m->err.skip)
			check->lacking |= bit;
	} else if (memcmp(m->digest, expected->digest, m->alg->out_bytes)) {
		list->mismatched++;
		verdict = "FAILED";
	} else {
		list->matched++;
	}
	report_file(command->report, m, verdict);
	if (opt->status || (opt->quiet && !strcmp(verdict, "OK")))
		return 0;
	return command_line(command, m, verdict);
}

static int done(void *ctx, struct message *m)
{
	int ret = judge(ctx, m);

	free(m->own);
	return ret;
}

/* Says what a list as a whole came to. Returns false if it failed. */
static bool summarize(const struct options *opt, const struct list *list)
{
	const struct {
		uint64_t count;
		const char *one, *many;
	} rows[] = {
		{ list->improper, "line is improperly formatted",
		  "lines are improperly formatted" },
		{ list->unreadable, "listed file could not be read",
		  "listed files could not be read" },
		{ list->mismatched, "computed checksum did NOT match",
		  "computed checksums did NOT match" },
	};

	if (list->read_error) {
		complain_name(list->name, "read error: %s", strerror(list->read_error));
		return false;
	}
	if (!list->proper) {
		complain_name(list->name, "no properly formatted checksum lines found");
		return false;
	}
	for (size_t i = 0; !opt->status && i < 3; i++)
		if (rows[i].count)
			complain("WARNING: %" PRIu64 " %s", rows[i].count,
				 rows[i].count == 1 ? rows[i].one : rows[i].many);
	if (!opt->status && opt->ignore_missing && !list->matched)
		complain_name(list->name, "no file was verified");
	return list->matched && !list->mismatched && !list->unreadable &&
	       !(opt->strict && list->improper);
}

/* Checks a list; returns 0, or -errno that ends all. */
static int check_list(struct check *check, const char *name)
{
	const struct work work = { next_entry, done, check };
	struct command *command = &check->command;
	struct list *list = &check->list;
	int ret = open_list(list, command->opt, name);

	if (ret) {
		complain_name(name, "%s", strerror(-ret));
		command->failed = true;
		return 0;
	}
	ret = command_work(command, &work);
	close_list(list);
	if (!ret && !summarize(command->opt, list))
		command->failed = true;
	return ret;
}

/* Returns true if the list comes from a pipe, or a line of it names one. */
static bool list_has_pipes(struct list *list, const struct options *opt, const char *name)
{
	struct list_entry entry;
	bool found = false;
	enum line line;

	if (source_is_shared(name))
		return true;
	if (open_list(list, opt, name))
		return false;
	while (!found && (line = next_line(list, &entry)) != LINE_NONE)
		found = line == LINE_PROPER && source_is_shared(entry.name);
	close_list(list);
	return found;
}

enum status command_check(const struct options *opt)
{
	struct check *check = calloc(1, sizeof(*check));
	size_t jobs = opt->run.jobs;
	enum status status;
	int ret;

	if (!check) {
		complain("out of memory");
		return STATUS_FAILED;
	}
	for (size_t i = 0; i < opt->names_count && jobs > 1; i++)
		if (list_has_pipes(&check->list, opt, opt->names[i]))
			jobs = 1;
	ret = command_begin(&check->command, opt, jobs);
	for (size_t i = 0; i < opt->names_count && !ret; i++)
		ret = check_list(check, opt->names[i]);
	status = command_end(&check->command, ret);
	free(check);
	return status;
}
