// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <string.h>

#include "commands.h"
#include "complain.h"
#include "stop.h"

/* Prints what ends the work, unless a signal does. Returns the error's code. */
static int explain(const struct error *err)
{
	if (err->code != -EINTR && !stop_signal())
		complain_error(NULL, err);
	return err->code;
}

int command_begin(struct command *command, const struct options *opt,
		  size_t jobs, uint64_t total)
{
	struct run_settings settings = opt->run;
	struct error err = { 0 };

	memset(command, 0, sizeof(*command));
	command->opt = opt;
	if (report_begin(&command->report, &opt->report,
			 settings.session.backend, &err))
		return explain(&err);
	settings.session.counter = report_counter(command->report);
	settings.session.timeline = report_timeline(command->report);
	settings.stream.ask_page_cache = command->report;
	if (settings.jobs > jobs)
		settings.jobs = (unsigned int)jobs;
	progress_begin(opt->progress, total);
	run_begin(&command->run, &settings);
	return 0;
}

int command_work(struct command *command, const struct work *work)
{
	struct error err = { 0 };
	int ret = run_work(&command->run, work, &err);

	/* What next() and done() return they have explained. */
	return err.code ? explain(&err) : ret;
}

static void complain_shortage(const struct run *run)
{
	if (run->opened == run->settings.jobs || !run->opened)
		return;
	complain("only %u of %u sessions could be opened", run->opened,
		 run->settings.jobs);
	complain_error(NULL, &run->shortage);
}

static int write_report(struct command *command)
{
	struct error err = { 0 };

	if (report_write(command->report, &command->run, &err))
		return explain(&err);
	return 0;
}

enum status command_end(struct command *command, int ret)
{
	struct run *run = &command->run;
	struct hash_session *session = run_settle(run);
	bool report = command->report && !ret;

	progress_end();
	if (ret != -EINTR)
		complain_shortage(run);
	if (report)
		report_measure(command->report, session, command->opt->alg);
	run_end(run);
	if (report)
		report_closed(command->report, &run->settings);
	if (report)
		ret = write_report(command);
	else if (command->report && !stop_signal())
		complain("no report is written: the work came to no end");
	report_free(command->report);
	if (ret && stop_signal())
		return STATUS_STOPPED;
	return ret || command->failed ? STATUS_FAILED : STATUS_OK;
}

void command_complain(struct command *command, const struct message *m)
{
	command->failed = true;
	complain_error(m->err.skip ? NULL : m->name, &m->err);
}

bool command_line_begin(const struct command *command)
{
	if (report_takes_stdout(command->report))
		return false;
	progress_hide();
	return true;
}

int command_line_end(int ret)
{
	progress_show();
	/* A signal in the midst of a write is no failure of it. */
	if (ret && stop_signal())
		return -EINTR;
	if (ret)
		complain("write error: %s", strerror(-ret));
	return ret;
}
