/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>

#include "command_line.h"
#include "options.h"

const char options_help[] =
	"Usage: teehash [OPTION]... [FILE]...\n"
	"Print or check message digests that a Trusted Application computes.\n"
	"\n"
	"With no FILE, or when FILE is -, read standard input.\n"
	"\n"
	"  -a, --algorithm=NAME  which digest, default sha256\n"
	"      --backend=NAME    who computes, default tee: the TEE's own library\n"
	"      --list            show the backends and what this machine lacks\n"
	"  -b, --binary          mark the names with * (the data is the same)\n"
	"  -t, --text            mark the names with a space (default)\n"
	"      --tag             BSD-style lines that name the algorithm\n"
	"  -z, --zero            end lines with NUL and escape no names\n"
	"  -j, --jobs=N          hash N files at a time, each in a session of its own;\n"
	"                        the lines stay in the order of the arguments. Where a\n"
	"                        pipe is among the files, one at a time\n"
	"\n"
	"  -c, --check           read digests from the FILEs and check them. Lines of\n"
	"                        --tag name their algorithm; with --algorithm all others\n"
	"                        are improper\n"
	"These are meaningful with --check only:\n"
	"      --ignore-missing  don't fail or report for missing files\n"
	"      --quiet           don't print OK\n"
	"      --status          don't print anything, the exit status tells\n"
	"      --strict          fail on improperly formatted lines\n"
	"  -w, --warn            warn about improperly formatted lines\n"
	"\n"
	"How the data reaches the TEE (sizes in bytes, or with K, M, G):\n"
	"      --chunk=SIZE      size of a call when streaming; default 1M with two\n"
	"                        buffers and a reader thread, 2M with one without\n"
	"      --oneshot-limit=SIZE  messages up to this go in one call, default 4M\n"
	"      --mode=MODE       auto (default), stream or oneshot\n"
	"      --reader=KIND     thread: read while the TEE hashes; inline: between\n"
	"                        calls; auto (default): thread if a CPU is spare\n"
	"      --cold            drop each file's pages from the page cache first\n"
	"\n"
	"      --report[=FORMAT] tell where the time went: text (default; on standard\n"
	"                        error), or json (on standard output, instead of the\n"
	"                        digest lines, which are in it)\n"
	"      --help            show this\n"
	"  -V, --version         show the version\n"
	"\n"
	"A list of sha256sum can be checked by teehash and the other way round.\n"
	"Exit status: 0 all well, 1 a file failed or did not match, 2 a mistake on the\n"
	"command line. Ctrl-C ends a shell's loop, too.\n";

enum kind {
	COMMAND,                     /* sets opt->command to .min */
	FLAG,                        /* sets a bool; with `check` it is allowed with --check only */
	MARK,                        /* --binary, --text or --tag: sets opt->mark */
	VERBOSITY,                   /* --quiet, --status or --warn: the last one counts */
	WORD = OPTION_WITH_ARGUMENT, /* one of several words, stored as an int */
	SIZE,                        /* stores a size_t in .min … .max */
	NUMBER,
	ALGORITHM,
	BACKEND,
};

#define AT(field) offsetof(struct options, field)

static const struct option_row rows[] = {
	{ "algorithm", ALGORITHM, .letter = 'a', .at = AT(alg) },
	{ "backend", BACKEND, .at = AT(run.session.backend) },
	{ "binary", MARK, .letter = 'b', .min = MARK_BINARY },
	{ "check", COMMAND, .letter = 'c', .min = COMMAND_CHECK },
	{ "chunk", SIZE, .at = AT(run.session.chunk), .min = SESSION_CHUNK_MIN,
	  .max = SESSION_CHUNK_MAX },
	{ "cold", FLAG, .at = AT(run.stream.cold) },
	{ "help", COMMAND, .min = COMMAND_HELP },
	{ "ignore-missing", FLAG, .at = AT(ignore_missing), .check = true },
	{ "jobs", NUMBER, .letter = 'j', .at = AT(run.jobs), .min = 1, .max = RUN_JOBS_MAX },
	{ "list", COMMAND, .min = COMMAND_LIST },
	{ "mode", WORD, .at = AT(run.stream.mode), .words = hash_modes },
	{ "oneshot-limit", SIZE, .at = AT(run.stream.oneshot_limit), .max = ONESHOT_LIMIT_MAX },
	{ "quiet", VERBOSITY, .at = AT(quiet), .check = true },
	{ "reader", WORD, .at = AT(run.reader), .words = reader_kinds },
	{ "report", WORD, .at = AT(report), .words = report_kinds, .optional = true },
	{ "status", VERBOSITY, .at = AT(status), .check = true },
	{ "strict", FLAG, .at = AT(strict), .check = true },
	{ "tag", MARK, .min = MARK_TAG },
	{ "text", MARK, .letter = 't', .min = MARK_TEXT },
	{ "version", COMMAND, .letter = 'V', .min = COMMAND_VERSION },
	{ "warn", VERBOSITY, .letter = 'w', .at = AT(warn), .check = true },
	{ "zero", FLAG, .letter = 'z', .at = AT(style.zero) },
};

static const char units[] = "KMG";

/* Parses "4096", "64K", "1M" or "2GiB" (powers of 1024) into bytes. Returns 0 or -EINVAL. */
static int parse_size(const char *text, uint64_t *value)
{
	const char *unit;
	char *end;

	/* strtoull() accepts signs and white space, which a size must not have. */
	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &end, 10);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		end += strcmp(end + 1, "iB") ? 1 : 3;
		for (; unit >= units; unit--)
			if (__builtin_mul_overflow(*value, 1024, value))
				return -EINVAL;
	}
	return errno || *end ? -EINVAL : 0;
}

static int parse_bounded(const struct option_row *row, const char *text, size_t *value,
			 struct error *err)
{
	bool size = row->kind == SIZE;
	uint64_t n = 0;

	if (!parse_size(text, &n) && n >= row->min && n <= row->max) {
		*value = (size_t)n;
		return 0;
	}
	return error_set(err, -EINVAL, "--%s takes a %s from %zu to %zu%s, not '%s'", row->name,
			 size ? "size" : "number", (size_t)row->min, (size_t)row->max,
			 size ? ", in bytes or with K, M or G (times 1024)" : "", text);
}

static int parse_word(const struct option_row *row, const char *text, int *value, struct error *err)
{
	for (*value = 0; row->words[*value]; ++*value)
		if (!strcmp(row->words[*value], text))
			return 0;
	return error_set(err, -EINVAL, "--%s knows no '%s'", row->name, text);
}

static int parse_algorithm(struct options *opt, const char *text, struct error *err)
{
	opt->alg = algorithm_by_name(text);
	opt->alg_given = true;
	if (opt->alg && opt->alg->class == ALG_DIGEST)
		return 0;
	return error_set(err, -EINVAL, "no digest algorithm is called '%s'", text);
}

static int parse_backend(struct options *opt, const char *text, struct error *err)
{
	opt->run.session.backend = backend_by_name(text);
	if (opt->run.session.backend && opt->run.session.backend->digest)
		return 0;
	return error_set(err, -EINVAL, "no backend is called '%s'", text);
}

/* Stores an option with its value `text` (NULL: none). Returns 0, or -EINVAL with the reason. */
static int take(struct options *opt, const struct option_row *row, const char *text,
		struct error *err)
{
	void *at = (char *)opt + row->at;

	if (row->check)
		opt->check_only = row->name;
	switch ((enum kind)row->kind) {
	case COMMAND:
		opt->command = (enum command_kind)row->min;
		return 0;
	case MARK:
		opt->style.tag |= row->min == MARK_TAG;
		/* --tag overrides an earlier --text, but not an earlier --binary. */
		if (row->min != MARK_TAG || opt->mark == MARK_TEXT)
			opt->mark = (enum mark)row->min;
		return 0;
	case VERBOSITY:
		opt->quiet = opt->status = opt->warn = false;
		*(bool *)at = true;
		return 0;
	case FLAG:
		*(bool *)at = true;
		return 0;
	case WORD:
		return parse_word(row, text ? text : *row->words, at, err);
	case SIZE:
	case NUMBER:
		return parse_bounded(row, text, at, err);
	case ALGORITHM:
		return parse_algorithm(opt, text, err);
	case BACKEND:
		return parse_backend(opt, text, err);
	}
	return -EINVAL;
}

/* Refuses the same combinations of options as sha256sum. */
static int check_combinations(const struct options *opt, struct error *err)
{
	bool check = opt->command == COMMAND_CHECK;
	bool marked = opt->mark == MARK_TEXT || opt->mark == MARK_BINARY;
	const struct {
		bool wrong;
		const char *why;
	} rules[] = {
		{ opt->style.tag && opt->mark == MARK_TEXT, "--tag does not support --text mode" },
		{ check && opt->style.zero, "the --zero option is not supported when verifying "
					    "checksums" },
		{ check && opt->style.tag,
		  "the --tag option is meaningless when verifying checksums" },
		{ check && marked, "the --binary and --text options are meaningless when "
				   "verifying checksums" },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].wrong)
			return error_set(err, -EINVAL, "%s", rules[i].why);
	if (!check && opt->check_only)
		return error_set(err, -EINVAL,
				 "the --%s option is meaningful only when verifying checksums",
				 opt->check_only);
	return 0;
}

int options_parse(struct options *opt, int argc, char **argv, struct error *err)
{
	static char dash[] = "-";
	static char *only_stdin[] = { dash, NULL };
	const struct option_row *row;
	const char *text;
	bool wrong = false;

	*opt = (struct options){
		.alg = algorithm_by_name("sha256"),
		.report = REPORT_NONE,
		.run.jobs = 1,
		.run.session.backend = backend_by_name("tee"),
		.run.stream.oneshot_limit = ONESHOT_LIMIT,
	};
	while ((row = option_next(rows, sizeof(rows) / sizeof(*rows), argc, argv, &text, &wrong))) {
		if (take(opt, row, text, err))
			return -EINVAL;
		if (opt->command > COMMAND_CHECK)
			return 0;
	}
	if (wrong)
		return -EINVAL; /* the reason is printed */
	opt->style.binary = opt->mark == MARK_BINARY;
	opt->names = optind < argc ? argv + optind : only_stdin;
	opt->names_count = optind < argc ? (size_t)(argc - optind) : 1;
	return check_combinations(opt, err);
}
