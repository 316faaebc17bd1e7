// SPDX-License-Identifier: BSD-2-Clause
/* -c: the digests of the lists of the command line. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "list.h"
#include "output.h"
#include "source.h"
#include "teehash.h"

#define NOTE_END UINT64_MAX /* after the last line of a list */

/* One list, from its first line read to its last result printed. */
struct list {
	struct list *older;
	const char *name; /* for messages */
	bool is_stdin;
	int open_error; /* -errno */
	int read_error;
	FILE *in;
	struct list_format format;
	uint64_t number; /* of the line */
	uint64_t proper;
	uint64_t improper;
	uint64_t unreadable;
	uint64_t mismatched;
	uint64_t matched;
};

struct check {
	struct command *command;
	size_t next;       /* place in the names */
	struct list *list; /* that is read now; those before it */
	bool reading;
	char line[LIST_LINE_MAX + 1];
};

static int begin_list(struct check *check)
{
	const struct options *opt = check->command->opt;
	struct list *list = calloc(1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	list->older = check->list;
	check->list = list;
	check->reading = true;
	list->name = opt->names[check->next++];
	list->format.untagged = opt->alg;
	list->format.only = opt->alg_given ? opt->alg : NULL;
	list->is_stdin = !strcmp(list->name, "-");
	if (list->is_stdin) {
		list->name = "standard input";
		list->in = stdin;
		return 0;
	}
	list->in = fopen(list->name, "re");
	if (!list->in)
		list->open_error = -errno;
	return 0;
}

static int end_list(struct check *check, struct job *job)
{
	struct list *list = check->list;

	if (list->in && ferror(list->in))
		list->read_error = errno ? -errno : -EIO;
	if (list->in && !list->is_stdin)
		fclose(list->in);
	list->in = NULL;
	check->reading = false;
	job->owner = list;
	job->note = NOTE_END;
	return 1;
}

static bool parse(struct check *check, size_t len, struct job *job)
{
	struct list *list = check->list;
	struct list_entry entry;

	if (!len || !list_parse(&list->format, check->line, &entry))
		return false;
	/* The list itself can't be hashed while it is read. */
	if (list->is_stdin && !strcmp(entry.name, "-"))
		return false;
	job->name = strdup(entry.name);
	if (!job->name)
		return false;
	job->name_owned = true;
	job->alg = entry.alg;
	memcpy(job->expected, entry.digest, sizeof(job->expected));
	return true;
}

static int next_entry(void *ctx, struct job *job)
{
	struct check *check = ctx;
	struct list *list;
	enum list_read read;
	size_t len;

	if (!check->reading) {
		if (check->next == check->command->opt->names_count)
			return 0;
		if (begin_list(check))
			return -ENOMEM;
	}
	list = check->list;
	for (;;) {
		errno = 0;
		read = list->in ? list_read(list->in, check->line, &len) :
				  LIST_END;
		if (interrupted())
			return -EINTR;
		if (read == LIST_END)
			return end_list(check, job);
		list->number++;
		if (read == LIST_LINE && (!len || check->line[0] == '#'))
			continue;
		job->owner = list;
		if (read == LIST_LINE && parse(check, len, job)) {
			list->proper++;
			return 1;
		}
		list->improper++;
		if (check->command->opt->warn) {
			job->note = list->number;
			return 1;
		}
	}
}

static void warn_count(uint64_t count, const char *one, const char *many)
{
	if (count)
		complain("WARNING: %" PRIu64 " %s", count,
			 count == 1 ? one : many);
}

/* What is to be said of a list as a whole. False: it failed. */
static bool summarize(const struct options *opt, const struct list *list)
{
	if (list->open_error || list->read_error) {
		int code = list->open_error ? list->open_error :
					      list->read_error;

		complain_name(list->name, "%s%s",
			      list->open_error ? "" : "read error: ",
			      strerror(-code));
		return false;
	}
	if (!list->proper) {
		complain_name(list->name,
			      "no properly formatted checksum lines found");
		return false;
	}
	if (!opt->status) {
		warn_count(list->improper, "line is improperly formatted",
			   "lines are improperly formatted");
		warn_count(list->unreadable, "listed file could not be read",
			   "listed files could not be read");
		warn_count(list->mismatched, "computed checksum did NOT match",
			   "computed checksums did NOT match");
		if (opt->ignore_missing && !list->matched)
			complain_name(list->name, "no file was verified");
	}
	return list->matched && !list->mismatched && !list->unreadable &&
	       !(opt->strict && list->improper);
}

static void note_done(struct command *command, const struct job *job)
{
	const struct list *list = job->owner;
	/* Else a line may name any algorithm. */
	bool only = command->opt->alg_given;

	progress_hide();
	if (job->note != NOTE_END)
		complain_name(list->name,
			      "%" PRIu64 ": improperly formatted %s%schecksum "
			      "line",
			      job->note, only ? command->opt->alg->tag : "",
			      only ? " " : "");
	else if (!summarize(command->opt, list))
		command->failed = true;
}

static int print_verdict(struct command *command, const struct job *job,
			 const char *verdict, bool quiet)
{
	report_job(command->report, job, verdict);
	if (quiet || command->opt->status ||
	    report_takes_stdout(command->report))
		return 0;
	progress_hide();
	result_print(stdout, job->name, verdict);
	return command_stdout();
}

static int job_done(void *ctx, struct job *job)
{
	struct check *check = ctx;
	struct command *command = check->command;
	const struct options *opt = command->opt;
	struct list *list = job->owner;

	if (job->note) {
		note_done(command, job);
		return 0;
	}
	if (job->stats.missing && opt->ignore_missing)
		return 0;
	if (job->ret) {
		list->unreadable++;
		command_complain(command, job);
		return print_verdict(command, job, "FAILED open or read",
				     false);
	}
	if (memcmp(job->digest, job->expected, job->alg->out_bytes)) {
		list->mismatched++;
		return print_verdict(command, job, "FAILED", false);
	}
	list->matched++;
	return print_verdict(command, job, "OK", opt->quiet);
}

static void after(void *ctx, struct engine *engine)
{
	struct check *check = ctx;

	report_after(check->command->report, engine);
}

/* May a line of a list name what lists are read from, or it itself? */
static bool lists_are_common(const struct options *opt)
{
	struct common_source source;

	for (size_t i = 0; i < opt->names_count; i++) {
		source_find_common(opt->names[i], &source);
		if (source.is)
			return true;
	}
	return false;
}

int command_check(struct command *command)
{
	const struct options *opt = command->opt;
	struct check *check = calloc(1, sizeof(*check));
	struct jobs jobs = {
		.next = next_entry,
		.done = job_done,
		.after = command->report ? after : NULL,
		.ctx = check,
	};
	int status;

	if (!check) {
		complain("out of memory");
		return STATUS_FAILED;
	}
	check->command = command;
	jobs.next_reads = lists_are_common(opt);
	progress_begin(&command->progress,
		       opt->progress == PROGRESS_ALWAYS ||
			       (opt->progress == PROGRESS_AUTO &&
				isatty(STDERR_FILENO)),
		       0);
	status = command_run(command, &jobs, opt->jobs);
	while (check->list) {
		struct list *list = check->list;

		check->list = list->older;
		if (list->in && !list->is_stdin)
			fclose(list->in);
		free(list);
	}
	free(check);
	return status;
}
