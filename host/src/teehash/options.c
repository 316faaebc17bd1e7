// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

enum {
	OPT_TAG = 256,
	OPT_IGNORE_MISSING,
	OPT_QUIET,
	OPT_STATUS,
	OPT_STRICT,
	OPT_BACKEND,
	OPT_CHUNK,
	OPT_ONESHOT_LIMIT,
	OPT_MODE,
	OPT_READER,
	OPT_COLD,
	OPT_REPORT,
	OPT_REPORT_FILE,
	OPT_TIMELINE,
	OPT_PROGRESS,
	OPT_LIST,
	OPT_HELP,
};

static const struct option long_options[] = {
	{ "algorithm", required_argument, NULL, 'a' },
	{ "backend", required_argument, NULL, OPT_BACKEND },
	{ "binary", no_argument, NULL, 'b' },
	{ "check", no_argument, NULL, 'c' },
	{ "chunk", required_argument, NULL, OPT_CHUNK },
	{ "cold", no_argument, NULL, OPT_COLD },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "ignore-missing", no_argument, NULL, OPT_IGNORE_MISSING },
	{ "jobs", required_argument, NULL, 'j' },
	{ "list", no_argument, NULL, OPT_LIST },
	{ "mode", required_argument, NULL, OPT_MODE },
	{ "oneshot-limit", required_argument, NULL, OPT_ONESHOT_LIMIT },
	{ "progress", required_argument, NULL, OPT_PROGRESS },
	{ "quiet", no_argument, NULL, OPT_QUIET },
	{ "reader", required_argument, NULL, OPT_READER },
	{ "report", optional_argument, NULL, OPT_REPORT },
	{ "report-file", required_argument, NULL, OPT_REPORT_FILE },
	{ "status", no_argument, NULL, OPT_STATUS },
	{ "strict", no_argument, NULL, OPT_STRICT },
	{ "tag", no_argument, NULL, OPT_TAG },
	{ "text", no_argument, NULL, 't' },
	{ "timeline", no_argument, NULL, OPT_TIMELINE },
	{ "version", no_argument, NULL, 'V' },
	{ "warn", no_argument, NULL, 'w' },
	{ "zero", no_argument, NULL, 'z' },
	{ NULL, 0, NULL, 0 },
};

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
	"      --mode=MODE       auto (default), stream, oneshot, or tmpref: plain\n"
	"                        memory as temporary reference, read-hash-read-hash\n"
	"                        at 1M, for comparison\n"
	"      --reader=KIND     thread: read while the TEE hashes; inline: between\n"
	"                        calls; auto (default): thread if a CPU is spare\n"
	"      --cold            drop each file's pages from the page cache first\n"
	"\n"
	"      --report[=FORMAT] tell where the time went: text (default; on standard\n"
	"                        error), or json (on standard output, instead of the\n"
	"                        digest lines, which are in it)\n"
	"      --timeline        with --report=json and one file: when its threads had a\n"
	"                        CPU, step by step; then asks the TEE's own clocks\n"
	"      --report-file=FILE  write the report there, whole and when all is done\n"
	"      --progress=WHEN   auto (default: if standard error is a terminal),\n"
	"                        always or never\n"
	"      --help            show this\n"
	"  -V, --version         show the version\n"
	"\n"
	"A list of sha256sum can be checked by teehash and the other way round.\n"
	"Exit status: 0 all well, 1 a file failed or did not match, 2 a mistake on the\n"
	"command line. Ctrl-C ends a shell's loop, too.\n";

static const char units[] = "KMG";

/* "4096", "64K", "1M", "2GiB" (powers of 1024): 0 or -EINVAL. */
static int parse_size(const char *text, uint64_t *value)
{
	unsigned int shift = 0;
	const char *unit;
	uint64_t n;
	char *end;

	/* strtoull() takes signs and white space; a size has neither. */
	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, 10);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (unsigned int)(unit - units + 1);
		end++;
		if (!strcmp(end, "iB"))
			end += 2;
	}
	if (errno || *end || n > UINT64_MAX >> shift)
		return -EINVAL;
	*value = n << shift;
	return 0;
}

/* A list of names at the end of a sentence. */
static void add_name(struct error *err, const char *name)
{
	size_t len = strlen(err->what);

	snprintf(err->what + len, sizeof(err->what) - len, " %s", name);
}

/* The place of a word among those that an option takes, or -EINVAL. */
static int parse_word(const char *const *words, const char *option,
		      const char *text, struct error *err)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], text))
			return i;
	error_set(err, -EINVAL, "--%s knows no '%s'; it takes:", option, text);
	for (int i = 0; words[i]; i++)
		add_name(err, words[i]);
	return -EINVAL;
}

static int parse_jobs(const char *text, unsigned int *jobs, struct error *err)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = isdigit((unsigned char)text[0]) ? strtoul(text, &end, 10) : 0;
	if (!n || errno || *end || n > RUN_JOBS_MAX)
		return error_set(err, -EINVAL,
				 "--jobs takes a number from 1 to %d, not '%s'",
				 RUN_JOBS_MAX, text);
	*jobs = (unsigned int)n;
	return 0;
}

/* The largest unit that it is a multiple of, as parse_size() reads it. */
static void size_text(char *text, size_t room, uint64_t size)
{
	char unit[2] = "";

	for (size_t n = 0; size && size % 1024 == 0 && units[n]; n++) {
		size /= 1024;
		unit[0] = units[n];
	}
	snprintf(text, room, "%" PRIu64 "%s", size, unit);
}

static int parse_bounded(const char *option, const char *text, uint64_t min,
			 uint64_t max, size_t *value, struct error *err)
{
	char least[24];
	char most[24];
	uint64_t n = 0;

	if (!parse_size(text, &n) && n >= min && n <= max) {
		*value = (size_t)n;
		return 0;
	}
	size_text(least, sizeof(least), min);
	size_text(most, sizeof(most), max);
	return error_set(err, -EINVAL,
			 "--%s takes a size from %s to %s, in bytes or with K, "
			 "M or G (times 1024), not '%s'",
			 option, least, most, text);
}

static int parse_algorithm(struct options *opt, const char *text,
			   struct error *err)
{
	opt->alg = algorithm_by_name(text);
	opt->alg_given = true;
	if (opt->alg && opt->alg->class == ALG_DIGEST)
		return 0;
	error_set(err, -EINVAL,
		  "no digest algorithm is called '%s'; there are:", text);
	for (size_t i = 0; i < algorithms_count; i++)
		if (algorithms[i].class == ALG_DIGEST)
			add_name(err, algorithms[i].name);
	return -EINVAL;
}

static int parse_backend(struct options *opt, const char *text,
			 struct error *err)
{
	opt->run.session.backend = backend_by_name(text);
	if (opt->run.session.backend && opt->run.session.backend->digest)
		return 0;
	error_set(err, -EINVAL, "no backend is called '%s'; there are:", text);
	for (const struct backend *const *b = backends; *b; b++)
		if ((*b)->digest)
			add_name(err, (*b)->name);
	return -EINVAL;
}

/* Combinations that sha256sum refuses too. */
static int check_combinations(const struct options *opt, bool text, bool binary,
			      struct error *err)
{
	const char *only = opt->ignore_missing ? "ignore-missing" :
			   opt->status         ? "status" :
			   opt->warn           ? "warn" :
			   opt->quiet          ? "quiet" :
			   opt->strict         ? "strict" :
						 NULL;
	bool check = opt->command == COMMAND_CHECK;

	const struct {
		bool wrong;
		const char *why;
	} rules[] = {
		{ opt->style.tag && text,
		  "--tag does not support --text mode" },
		{ check && opt->style.zero,
		  "the --zero option is not supported when verifying "
		  "checksums" },
		{ check && opt->style.tag,
		  "the --tag option is meaningless when verifying checksums" },
		{ check && (text || binary),
		  "the --binary and --text options are meaningless when "
		  "verifying checksums" },
		{ opt->report.file && opt->report.kind == REPORT_NONE,
		  "--report-file is meaningful only with --report" },
		{ opt->report.timeline && opt->report.kind != REPORT_JSON,
		  "--timeline is meaningful only with --report=json" },
		{ opt->report.timeline && (check || opt->names_count != 1 ||
					   !strcmp(opt->names[0], "-")),
		  "--timeline is for hashing one named file: not for --check, "
		  "several files or standard input" },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].wrong)
			return error_set(err, -EINVAL, "%s", rules[i].why);
	if (!check && only)
		return error_set(err, -EINVAL,
				 "the --%s option is meaningful only when "
				 "verifying checksums",
				 only);
	return 0;
}

/* The last of --quiet, --status and --warn counts. */
static void set_verbosity(struct options *opt, bool *which)
{
	opt->quiet = false;
	opt->status = false;
	opt->warn = false;
	*which = true;
}

int options_parse(struct options *opt, int argc, char **argv, struct error *err)
{
	static char dash[] = "-";
	static char *only_stdin[] = { dash, NULL };
	struct session_settings *session = &opt->run.session;
	struct stream_settings *stream = &opt->run.stream;
	bool binary = false;
	bool text = false;
	int ret = 0;
	int c;

	*opt = (struct options){
		.alg = algorithm_by_name("sha256"),
		.report.kind = REPORT_NONE,
		.run.jobs = 1,
		.run.session.backend = backend_by_name("tee"),
		.run.stream.oneshot_limit = ONESHOT_LIMIT,
	};
	while (ret >= 0 && (c = getopt_long(argc, argv, "a:bcj:twzV",
					    long_options, NULL)) != -1) {
		switch (c) {
		case 'a':
			ret = parse_algorithm(opt, optarg, err);
			break;
		case 'b':
			binary = true;
			text = false;
			break;
		case 'c':
			opt->command = COMMAND_CHECK;
			break;
		case 'j':
			ret = parse_jobs(optarg, &opt->run.jobs, err);
			break;
		case 't':
			text = true;
			binary = false;
			break;
		case 'w':
			set_verbosity(opt, &opt->warn);
			break;
		case 'z':
			opt->style.zero = true;
			break;
		case OPT_TAG:
			opt->style.tag = true;
			text = false;
			break;
		case OPT_IGNORE_MISSING:
			opt->ignore_missing = true;
			break;
		case OPT_QUIET:
			set_verbosity(opt, &opt->quiet);
			break;
		case OPT_STATUS:
			set_verbosity(opt, &opt->status);
			break;
		case OPT_STRICT:
			opt->strict = true;
			break;
		case OPT_BACKEND:
			ret = parse_backend(opt, optarg, err);
			break;
		case OPT_CHUNK:
			ret = parse_bounded("chunk", optarg, SESSION_CHUNK_MIN,
					    SESSION_CHUNK_MAX, &session->chunk,
					    err);
			break;
		case OPT_ONESHOT_LIMIT:
			ret = parse_bounded("oneshot-limit", optarg, 0,
					    ONESHOT_LIMIT_MAX,
					    &stream->oneshot_limit, err);
			break;
		case OPT_MODE:
			ret = parse_word(hash_modes, "mode", optarg, err);
			stream->mode = (enum hash_mode)ret;
			break;
		case OPT_READER:
			ret = parse_word(reader_kinds, "reader", optarg, err);
			opt->run.reader = (enum reader_kind)ret;
			break;
		case OPT_COLD:
			stream->cold = true;
			break;
		case OPT_REPORT:
			ret = optarg ? parse_word(report_kinds, "report",
						  optarg, err) :
				       REPORT_TEXT;
			opt->report.kind = (enum report_kind)ret;
			break;
		case OPT_TIMELINE:
			opt->report.timeline = true;
			break;
		case OPT_REPORT_FILE:
			opt->report.file = optarg;
			break;
		case OPT_PROGRESS:
			ret = parse_word(progress_kinds, "progress", optarg,
					 err);
			opt->progress = (enum progress_kind)ret;
			break;
		case OPT_LIST:
			opt->command = COMMAND_LIST;
			return 0;
		case OPT_HELP:
			opt->command = COMMAND_HELP;
			return 0;
		case 'V':
			opt->command = COMMAND_VERSION;
			return 0;
		default:
			return -EINVAL; /* getopt has said why */
		}
	}
	if (ret < 0)
		return ret;
	opt->style.binary = binary;
	session->plain = stream->mode == MODE_TMPREF;
	opt->names = optind < argc ? argv + optind : only_stdin;
	opt->names_count = optind < argc ? (size_t)(argc - optind) : 1;
	return check_combinations(opt, text, binary, err);
}
