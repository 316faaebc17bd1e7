/* SPDX-License-Identifier: BSD-2-Clause */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "command_line.h"
#include "cpu.h"
#include "machine.h"
#include "memory.h"
#include "pkcs11.h"
#include "records.h"
#include "stop.h"

static const char usage_text[] =
	"Usage: teebench [OPTION]... [KEY]...\n"
	"       teebench --list | --machine\n"
	"       teebench --open-tas UUID...\n"
	"       teebench --memory [KEY]... | --fit [UUID]...\n"
	"       teebench --stretch --loops N KEY\n"
	"Measure what calls, crypto, storage and random numbers cost, in the TEE and\n"
	"beside it; write one JSON object a line. Cases come from the command line,\n"
	"from --cases FILE, or else from standard input, one a line:\n"
	"\n"
	"  KEY [samples=N] [min_us=N] [repeat=N,N,...] [loops=N]    # comment\n"
	"\n"
	"where KEY is workload/algorithm/backend/parameters, for example\n"
	"oneshot/sha256/tee/4096 or invoke/none/tee/none. The backend afalg:DRIVER is\n"
	"one driver of the kernel by its name in /proc/crypto, afalg:* each that there\n"
	"is for the algorithm. A case of workload call says in call=TEXT which command of\n"
	"which TA it is (docs/own-ta.md).\n"
	"\n"
	"  -c, --cases FILE       read cases from FILE (-: standard input)\n"
	"  -o, --output FILE      write to FILE; it is FILE.partial until it is whole\n"
	"                         (-: standard output)\n"
	"      --samples N        samples of each case and repeat (30)\n"
	"      --min-us N         shortest sample in microseconds (100); never less\n"
	"                         than 1000 times the clock's resolution\n"
	"      --repeat N,N,...   operations inside one call (1)\n"
	"      --loops N          calls in a sample; 0: found out (0)\n"
	"      --seed N           of the random order of samples (1)\n"
	"      --settle SECONDS   wait before the first call (0)\n"
	"      --align-tick MS    begin each sample just after a multiple of MS\n"
	"      --quiet-until-end  write nothing while measuring\n"
	"      --pkcs11-module FILE  for workload pkcs11, instead of OP-TEE's libckteec\n"
	"      --pkcs11-keep      leave its token and keypair-token's last pair for others\n"
	"      --no-ta-counter    don't have TAs count their own time, where a TA that is\n"
	"                         sacrificed shows that they may\n"
	"      --no-evidence      don't find out who does the work in the kernel or\n"
	"                         OpenSSL: interrupts and CPU time are not watched, and\n"
	"                         nothing is repeated with CPU instructions masked\n"
	"      --trace-events     after the samples, trace some calls more of each case in\n"
	"                         the TEE by the kernel's tracepoints (for root): when each\n"
	"                         went into the secure world, came back, and why\n"
	"      --allow-rpmb       use an RPMB partition, which can program its key, once\n"
	"                         and for good; without it those cases are skipped\n"
	"      --check            look for mistakes in the cases, and run none\n"
	"  -l, --list             the workloads, and which backends this machine lacks\n"
	"  -m, --machine          the facts of this machine, as JSON\n"
	"      --open-tas         as --fit with one session, which shows whether a TA can be\n"
	"                         opened; exit status 1 if one can't\n"
	"      --memory           call each case once or twice, and say as JSON what it takes\n"
	"                         of the TEE's memory\n"
	"      --fit              open sessions with the TA of each UUID until the TEE refuses,\n"
	"                         512 at most, and say as JSON what they take; without a\n"
	"                         UUID, how much of its memory the TEE uses now\n"
	"      --stretch          five times the nanoseconds of --loops calls of each case,\n"
	"                         and no records; for processes of teebench's own\n"
	"  -h, --help             this text\n"
	"  -V, --version          the version\n"
	"\n"
	"Environment: TEEMARK_DIR is the folder for files that are stored and read (the\n"
	"current one); TEEMARK_TEE_TIMEOUT the seconds that a TEE may take to load a TA\n"
	"(30, and 5 without tee-supplicant).\n"
	"\n"
	"Exit status: 0 all cases measured or skipped with a reason, 1 a case failed\n"
	"or the output could not be written, 2 wrong usage; 130 after Ctrl-C, 143\n"
	"after SIGTERM, 129 after SIGHUP (the run ends marked incomplete, after the\n"
	"call under way; a second signal ends it at once, and there is no end).\n";

enum { EXIT_FAIL = 1, EXIT_USAGE = 2 };

enum { SESSIONS_MOST = 512 }; /* most sessions that --fit opens with a TA */

struct arguments {
	struct bench_settings settings;
	const char *cases_path, *output;
	bool list, machine, allow_rpmb, check, open_tas, keep_token, memory, fit, stretch;
};

enum kind {
	FLAG,
	NO_FLAG,
	HELP,
	VERSION,
	TEXT = OPTION_WITH_ARGUMENT,
	NUMBER, /* up to .max, stored times .scale */
	CASE_OPTION,
	MODULE,
};

#define ARGUMENT(member) offsetof(struct arguments, member)
#define SETTING(member)  offsetof(struct arguments, settings.member)

static const struct option_row rows[] = {
	{ "cases", TEXT, .letter = 'c', .at = ARGUMENT(cases_path) },
	{ "output", TEXT, .letter = 'o', .at = ARGUMENT(output) },
	{ .name = "samples", .kind = CASE_OPTION }, /* also an option of case lines */
	{ .name = "min-us", .kind = CASE_OPTION },
	{ .name = "repeat", .kind = CASE_OPTION },
	{ .name = "loops", .kind = CASE_OPTION },
	{ "seed", NUMBER, .at = SETTING(seed), .max = UINT64_MAX, .scale = 1 },
	{ "settle", NUMBER, .at = SETTING(settle_ns), .max = 86400, .scale = 1000000000 },
	{ "align-tick", NUMBER, .at = SETTING(align_ns), .max = 10000, .scale = 1000000 },
	{ "quiet-until-end", FLAG, .at = SETTING(quiet_until_end) },
	{ .name = "pkcs11-module", .kind = MODULE },
	{ "pkcs11-keep", FLAG, .at = ARGUMENT(keep_token) },
	{ "no-ta-counter", NO_FLAG, .at = SETTING(ta_counter) },
	{ "no-evidence", NO_FLAG, .at = SETTING(evidence) },
	{ "trace-events", FLAG, .at = SETTING(trace_events) },
	{ "allow-rpmb", FLAG, .at = ARGUMENT(allow_rpmb) },
	{ "check", FLAG, .at = ARGUMENT(check) },
	{ "open-tas", FLAG, .at = ARGUMENT(open_tas) },
	{ "memory", FLAG, .at = ARGUMENT(memory) },
	{ "fit", FLAG, .at = ARGUMENT(fit) },
	{ "stretch", FLAG, .at = ARGUMENT(stretch) },
	{ "list", FLAG, .letter = 'l', .at = ARGUMENT(list) },
	{ "machine", FLAG, .letter = 'm', .at = ARGUMENT(machine) },
	{ "help", HELP, .letter = 'h' },
	{ "version", VERSION, .letter = 'V' },
};

static void catch_signals(void)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, 0 };

	stop_on_signals(ending, stop_or_die);
	/* If a pipe's reader has gone away, write() fails; SIGPIPE would end the program. */
	signal(SIGPIPE, SIG_IGN);
}

static int complain(const struct error *err, int status)
{
	error_print(stderr, "teebench", err);
	if (status == EXIT_USAGE)
		fprintf(stderr, "Try 'teebench --help'.\n");
	return status;
}

static int set_number(const struct option_row *row, const char *text, uint64_t *number,
		      struct error *err)
{
	char what[32];
	int ret;

	snprintf(what, sizeof(what), "--%s", row->name);
	ret = case_number(text, what, row->max, number, err);
	*number *= row->scale;
	return ret;
}

static int take(const struct option_row *row, const char *text, struct arguments *a,
		struct error *err)
{
	void *at = (char *)a + row->at;

	switch ((enum kind)row->kind) {
	case TEXT:
		*(const char **)at = text;
		break;
	case FLAG:
	case NO_FLAG:
		*(bool *)at = row->kind == FLAG;
		break;
	case NUMBER:
		return set_number(row, text, at, err);
	case CASE_OPTION:
		return parse_option(strcmp(row->name, "min-us") ? row->name : "min_us", text,
				    &a->settings.defaults, err);
	case MODULE:
		pkcs11_module(text);
		break;
	case HELP:
		fputs(usage_text, stdout);
		break;
	case VERSION:
		printf("teebench %s\n", TEEMARK_VERSION);
		break;
	}
	return 0;
}

/* Parses the options into *a. Returns -1 to go on, otherwise the status to exit with. */
static int parse_arguments(int argc, char **argv, struct arguments *a)
{
	const struct option_row *row;
	struct error err = { 0 };
	const char *text;
	bool wrong = false;

	while ((row = option_next(rows, sizeof(rows) / sizeof(*rows), argc, argv, &text, &wrong))) {
		if (take(row, text, a, &err))
			return complain(&err, EXIT_USAGE);
		if (row->kind == HELP || row->kind == VERSION)
			return 0;
	}
	if (wrong) {
		fprintf(stderr, "Try 'teebench --help'.\n");
		return EXIT_USAGE;
	}
	if (a->output && !strcmp(a->output, "-"))
		a->output = NULL;
	return -1;
}

static int collect_cases(const struct arguments *a, char **keys, struct cases *cases,
			 struct error *err)
{
	const struct case_options *defaults = &a->settings.defaults;
	FILE *stream = stdin;
	const char *name = "standard input";
	int ret = 0;

	for (; !ret && *keys; keys++)
		ret = cases_add_line(cases, *keys, 0, defaults, err);
	if (ret || (cases->count && !a->cases_path))
		return ret;
	if (a->cases_path && strcmp(a->cases_path, "-")) {
		name = a->cases_path;
		stream = fopen(name, "re");
		if (!stream)
			return error_errno(err, "cannot read %s", name);
	} else if (!a->cases_path && isatty(STDIN_FILENO)) {
		return error_set(err, -EINVAL,
				 "no cases are given\nteebench oneshot/sha256/c/4096, or --cases "
				 "FILE, or --list to see what there is");
	}
	ret = cases_read(cases, stream, name, defaults, err);
	if (stream != stdin)
		fclose(stream);
	if (!ret && !cases->count)
		ret = error_set(err, -EINVAL,
				"%s has no cases\none a line, for example oneshot/sha256/c/4096",
				name);
	return ret;
}

/* Parses all cases, so that a mistake in a case is found before any case is measured. */
static int check_cases(struct cases *cases, struct pool *pool, struct error *err)
{
	for (size_t i = 0; i < cases->count; i++) {
		struct bench_case *c = &cases->list[i];
		struct error why = { 0 };
		int ret = case_parse(c, pool, &why);

		if (!ret)
			continue;
		if (c->line)
			return error_set(err, ret, "%s:%u: %s: %s\n%s", cases->name, c->line,
					 c->key, why.what, why.hint);
		return error_set(err, ret, "%s: %s\n%s", c->key, why.what, why.hint);
	}
	return 0;
}

static int run(const struct arguments *a, char **keys)
{
	struct end_facts end = { 0 };
	struct cases cases = { 0 };
	struct pool pool = { .allow_rpmb = a->allow_rpmb };
	struct sink sink;
	struct error err = { 0 }, closing = { 0 };
	int status = 0;

	pkcs11_kept = a->keep_token;
	if (collect_cases(a, keys, &cases, &err) || (!a->check && cases_expand(&cases, &err)) ||
	    check_cases(&cases, &pool, &err)) {
		status = complain(&err, err.code == -ENOMEM ? EXIT_FAIL : EXIT_USAGE);
		goto out;
	}
	if (a->check)
		goto out;
	catch_signals();
	if (a->memory || a->stretch) {
		int code = a->memory ? memory_of_cases(&cases, &err) : 0;

		for (size_t i = 0; a->stretch && !code && i < cases.count; i++)
			code = masks_stretch(&cases.list[i], &pool, &err);
		if (code && !stop_asked())
			status = err.code ? complain(&err, EXIT_FAIL) : EXIT_FAIL;
		goto stopped;
	}
	if (sink_open(&sink, a->output, &err) ||
	    bench_run(&a->settings, &cases, &pool, &sink, &end, &err))
		status = complain(&err, EXIT_FAIL);
	if (sink_close(&sink, &closing) && !status)
		status = complain(&closing, EXIT_FAIL);
stopped:
	if (stop_asked() && !status)
		status = 128 + stop_reason;
	else if (end.failed)
		status = EXIT_FAIL;
out:
	pool_close(&pool);
	cases_free(&cases);
	return status;
}

static int do_what_is_asked(const struct arguments *a, char **words)
{
	struct error err = { 0 };
	int ret = 0;

	if (a->list) {
		list_print();
	} else if (a->machine) {
		ret = machine_print(&err);
	} else if (a->fit || a->open_tas) {
		catch_signals();
		ret = memory_of_sessions(words, a->fit ? SESSIONS_MOST : 1, &err);
	} else {
		return run(a, words);
	}
	if (stop_asked())
		return 128 + stop_reason;
	if (err.code)
		return complain(&err, ret == -EINVAL ? EXIT_USAGE : EXIT_FAIL);
	return ret ? EXIT_FAIL : 0;
}

int main(int argc, char **argv)
{
	struct arguments a = {
		.settings = {
			.defaults = {
				.samples = 30,
				.min_ns = 100000,
				.repeats = { 1 },
				.n_repeats = 1,
			},
			.seed = 1,
			.ta_counter = true,
			.evidence = true,
		},
	};
	struct error err = { 0 };
	int status = parse_arguments(argc, argv, &a);

	if (status < 0)
		status = do_what_is_asked(&a, argv + optind);

	/* Text is buffered by stdio; records aren't. */
	if (fflush(stdout) || ferror(stdout)) {
		error_errno(&err, "cannot write to standard output");
		return complain(&err, EXIT_FAIL);
	}
	return status;
}
