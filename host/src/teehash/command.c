/* SPDX-License-Identifier: BSD-2-Clause */
#include "commands.h"
#include "stop.h"

/* Prints the error that ends the work, unless a signal ends it. Returns the error's code. */
static int explain(const struct error *err)
{
	if (err->code != -EINTR && !stop_by_signal())
		complain_error(NULL, err);
	return err->code;
}

int command_begin(struct command *command, const struct options *opt, size_t jobs)
{
	struct run_settings settings = opt->run;
	struct error err = { 0 };

	memset(command, 0, sizeof(*command));
	command->opt = opt;
	if (report_begin(&command->report, opt->report, &settings, &err))
		return explain(&err);
	if (settings.jobs > jobs)
		settings.jobs = jobs;
	run_begin(&command->run, &settings);
	return 0;
}

int command_work(struct command *command, const struct work *work)
{
	struct error err = { 0 };
	int ret = run_work(&command->run, work, &err);

	/* next() and done() have already printed their own errors. */
	return err.code ? explain(&err) : ret;
}

enum status command_end(struct command *command, int ret)
{
	struct run *run = &command->run;
	struct hash_session *session = run_complete(run);
	struct report *report = command->report;
	struct error err = { 0 };

	if (ret != -EINTR && run->opened && run->opened < run->settings.jobs) {
		complain("only %u of %zu sessions could be opened", run->opened,
			 run->settings.jobs);
		complain_error(NULL, &run->shortage);
	}
	if (report && !ret)
		report_measure(report, run, session);
	run_end(run);
	if (report && ret && !stop_by_signal())
		complain("no report is written: the work came to no end");
	else if (report && !ret && report_write(report, &err))
		ret = explain(&err);
	report_free(report);
	if (ret && stop_by_signal())
		return STATUS_STOPPED;
	return ret || command->failed ? STATUS_FAILED : STATUS_OK;
}

void command_complain(struct command *command, const struct message *m)
{
	command->failed = true;
	complain_error(m->err.skip ? NULL : m->name, &m->err);
}

int command_line(const struct command *command, const struct message *m, const char *verdict)
{
	const struct options *opt = command->opt;
	int ret;

	if (opt->report == REPORT_JSON)
		return 0;
	ret = verdict ? result_print(stdout, m->name, verdict) :
			line_print(stdout, &opt->style, m->name, m->alg, m->digest);
	/* If a signal interrupted a write, the write hasn't failed. */
	if (ret && stop_by_signal())
		return -EINTR;
	if (ret)
		complain("write error: %s", strerror(-ret));
	return ret;
}

struct hash {
	struct command command;
	size_t next; /* index of the next name */
};

static int next_name(void *ctx, struct message *m)
{
	struct hash *hash = ctx;
	const struct options *opt = hash->command.opt;

	if (hash->next == opt->names_count)
		return 0;
	m->name = opt->names[hash->next++];
	m->alg = opt->alg;
	return 1;
}

static int done(void *ctx, struct message *m)
{
	struct command *command = &((struct hash *)ctx)->command;

	if (m->ret == -EINTR)
		return m->ret;
	report_file(command->report, m, NULL);
	if (!m->ret)
		return command_line(command, m, NULL);
	command_complain(command, m);
	/* The error holds for every file (the machine lacks something), so it ends the command. */
	return m->err.skip ? m->ret : 0;
}

enum status command_hash(const struct options *opt)
{
	struct hash hash = { .next = 0 };
	const struct work work = { next_name, done, &hash };
	size_t jobs = opt->names_count;
	int ret;

	for (size_t i = 0; i < opt->names_count; i++)
		if (source_is_shared(opt->names[i]))
			jobs = 1;
	ret = command_begin(&hash.command, opt, jobs);
	if (!ret)
		ret = command_work(&hash.command, &work);
	return command_end(&hash.command, ret);
}
