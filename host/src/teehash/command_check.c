/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the digests in the lists on the command line (-c), one list after the other. */
#include <inttypes.h>
#include <stdlib.h>

#include "commands.h"
#include "list.h"
#include "stop.h"

/* A list whose files are checked. */
struct checked {
	const char *name; /* name in messages */
	struct list list;
	uint64_t proper;
	uint64_t improper;
	uint64_t unreadable;
	uint64_t mismatched;
	uint64_t matched;
};

struct check {
	struct command command;
	struct checked checked;
	uint64_t lacking; /* bit i: the backend lacks algorithm i, and that was printed */
};

/* Returns 0 or -errno. */
static int open_list(struct checked *checked, const struct options *opt, const char *name)
{
	struct list *list = &checked->list;

	memset(checked, 0, sizeof(*checked));
	list->untagged = opt->alg;
	list->only = opt->alg_given ? opt->alg : NULL;
	list->in = strcmp(name, "-") ? fopen(name, "re") : stdin;
	checked->name = list->in == stdin ? "standard input" : name;
	return list->in ? 0 : -errno;
}

static void close_list(struct list *list)
{
	if (list->in != stdin)
		fclose(list->in);
}

/* Counts an improperly formatted line, and with --warn prints a message about it. */
static void note_improper(const struct options *opt, struct checked *checked)
{
	checked->improper++;
	if (opt->warn)
		complain_name(checked->name, "%" PRIu64 ": improperly formatted %s checksum line",
			      checked->list.number, opt->alg->tag);
}

static int next_entry(void *ctx, struct message *m)
{
	struct check *check = ctx;
	struct list_entry entry;
	enum list_line line;

	while ((line = list_next(&check->checked.list, &entry)) == LIST_IMPROPER)
		note_improper(check->command.opt, &check->checked);
	if (stop_asked())
		return -EINTR;
	if (line == LIST_END)
		return 0;
	m->name = strdup(entry.name);
	if (!m->name) {
		complain("out of memory");
		return -ENOMEM;
	}
	m->alg = entry.alg;
	memcpy(m->expected, entry.digest, sizeof(m->expected));
	check->checked.proper++;
	return 1;
}

static int judge(struct check *check, const struct message *m)
{
	struct command *command = &check->command;
	const struct options *opt = command->opt;
	struct checked *checked = &check->checked;
	uint64_t bit = UINT64_C(1) << (m->alg - algorithms) % 64;
	const char *verdict = "OK";

	if (m->ret == -EINTR)
		return m->ret;
	if (m->stats.missing && opt->ignore_missing)
		return 0;
	if (m->ret) {
		checked->unreadable++;
		verdict = "FAILED open or read";
		/* That the backend lacks the algorithm is printed once, not for each file. */
		if (!m->err.skip || !(check->lacking & bit))
			command_complain(command, m);
		if (m->err.skip)
			check->lacking |= bit;
	} else if (memcmp(m->digest, m->expected, m->alg->out_bytes)) {
		checked->mismatched++;
		verdict = "FAILED";
	} else {
		checked->matched++;
	}
	report_file(command->report, m, verdict);
	if (opt->status || (opt->quiet && !strcmp(verdict, "OK")))
		return 0;
	return command_line(command, m, verdict);
}

static int done(void *ctx, struct message *m)
{
	int ret = judge(ctx, m);

	free(m->name);
	return ret;
}

/* Prints a list's totals. Returns false if the list failed. */
static bool summarize(const struct options *opt, const struct checked *checked)
{
	const struct {
		uint64_t count;
		const char *one, *many;
	} rows[] = {
		{ checked->improper, "line is improperly formatted",
		  "lines are improperly formatted" },
		{ checked->unreadable, "listed file could not be read",
		  "listed files could not be read" },
		{ checked->mismatched, "computed checksum did NOT match",
		  "computed checksums did NOT match" },
	};

	if (checked->list.read_error) {
		complain_name(checked->name, "read error: %s", strerror(checked->list.read_error));
		return false;
	}
	if (!checked->proper) {
		complain_name(checked->name, "no properly formatted checksum lines found");
		return false;
	}
	for (size_t i = 0; !opt->status && i < 3; i++)
		if (rows[i].count)
			complain("WARNING: %" PRIu64 " %s", rows[i].count,
				 rows[i].count == 1 ? rows[i].one : rows[i].many);
	if (!opt->status && opt->ignore_missing && !checked->matched)
		complain_name(checked->name, "no file was verified");
	return checked->matched && !checked->mismatched && !checked->unreadable &&
	       !(opt->strict && checked->improper);
}

/* Checks a list. Returns 0, or -errno if the whole command must end. */
static int check_list(struct check *check, const char *name)
{
	const struct work work = { next_entry, done, check };
	struct command *command = &check->command;
	struct checked *checked = &check->checked;
	int ret = open_list(checked, command->opt, name);

	if (ret) {
		complain_name(name, "%s", strerror(-ret));
		command->failed = true;
		return 0;
	}
	ret = command_work(command, &work);
	close_list(&checked->list);
	if (!ret && !summarize(command->opt, checked))
		command->failed = true;
	return ret;
}

/* Returns true if the list is read from a pipe, or names one. */
static bool list_has_pipes(struct checked *checked, const struct options *opt, const char *name)
{
	struct list_entry entry;
	bool found = false;
	enum list_line line;

	if (source_is_shared(name))
		return true;
	if (open_list(checked, opt, name))
		return false;
	while (!found && (line = list_next(&checked->list, &entry)) != LIST_END)
		found = line == LIST_PROPER && source_is_shared(entry.name);
	close_list(&checked->list);
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
		if (list_has_pipes(&check->checked, opt, opt->names[i]))
			jobs = 1;
	ret = command_begin(&check->command, opt, jobs);
	for (size_t i = 0; i < opt->names_count && !ret; i++)
		ret = check_list(check, opt->names[i]);
	status = command_end(&check->command, ret);
	free(check);
	return status;
}
