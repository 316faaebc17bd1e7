// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "options.h"
#include "teehash.h"

#define JOBS_MAX    64
#define CHUNK_MIN   4096u
#define CHUNK_MAX   (256u << 20)
#define ONESHOT_MAX (1u << 30)

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
	OPT_PROGRESS,
	OPT_LIST,
	OPT_HELP,
	OPT_VERSION,
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
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "warn", no_argument, NULL, 'w' },
	{ "zero", no_argument, NULL, 'z' },
	{ NULL, 0, NULL, 0 },
};

static const char help_text[] =
	"Usage: teehash [OPTION]... [FILE]...\n"
	"Print or check message digests that a Trusted Application computes.\n"
	"\n"
	"With no FILE, or when FILE is -, read standard input.\n"
	"\n"
	"  -a, --algorithm=NAME  sha1 sha224 sha256 (default) sha384 sha512\n"
	"                        sha3-224 sha3-256 sha3-384 sha3-512\n"
	"      --backend=NAME    who computes: tee (default), ta-c, ta-ce in the TEE;\n"
	"                        c, ce, openssl, afalg in the normal world\n"
	"      --list            show the backends and what this machine lacks\n"
	"  -b, --binary          mark the names with * (the data is the same)\n"
	"  -t, --text            mark the names with a space (default)\n"
	"      --tag             BSD-style lines that name the algorithm\n"
	"  -z, --zero            end lines with NUL and escape no names\n"
	"  -j, --jobs=N          hash N files at a time, each in a session of its own;\n"
	"                        the lines stay in the order of the arguments\n"
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
	"      --report-file=FILE  write the report there\n"
	"      --progress=WHEN   auto (default: if standard error is a terminal),\n"
	"                        always or never\n"
	"      --help            show this\n"
	"      --version         show the version\n"
	"\n"
	"A list of sha256sum can be checked by teehash and the other way round.\n"
	"Exit status: 0 all well, 1 a file failed or did not match, 2 a mistake on the\n"
	"command line, 130 interrupted.\n";

struct word {
	const char *name;
	int value;
};

static const struct word modes[] = {
	{ "auto", MODE_AUTO },
	{ "stream", MODE_STREAM },
	{ "oneshot", MODE_ONESHOT },
	{ "tmpref", MODE_TMPREF },
	{ NULL, 0 },
};

static const struct word readers[] = {
	{ "auto", READER_AUTO },
	{ "thread", READER_THREAD },
	{ "inline", READER_INLINE },
	{ NULL, 0 },
};

static const struct word reports[] = {
	{ "text", REPORT_TEXT },
	{ "json", REPORT_JSON },
	{ NULL, 0 },
};

static const struct word progresses[] = {
	{ "auto", PROGRESS_AUTO },
	{ "always", PROGRESS_ALWAYS },
	{ "never", PROGRESS_NEVER },
	{ NULL, 0 },
};

int parse_size(const char *text, uint64_t *value)
{
	unsigned long long n;
	unsigned int shift = 0;
	char *end;

	/* strtoull() takes signs and white space; a size has neither. */
	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno)
		return -errno;
	switch (*end) {
	case 'G':
	case 'g':
		shift += 10;
		/* fall through */
	case 'M':
	case 'm':
		shift += 10;
		/* fall through */
	case 'K':
	case 'k':
		shift += 10;
		end++;
		if (!strcmp(end, "iB"))
			end += 2;
		break;
	default:
		break;
	}
	if (*end)
		return -EINVAL;
	if (n > (UINT64_MAX >> shift))
		return -ERANGE;
	*value = (uint64_t)n << shift;
	return 0;
}

static int try_help(void)
{
	fputs("Try 'teehash --help' for more information.\n", stderr);
	return -EINVAL;
}

static int usage(const char *message)
{
	complain("%s", message);
	return try_help();
}

static int parse_word(const struct word *words, const char *option,
		      const char *text, int *value)
{
	for (const struct word *w = words; w->name; w++) {
		if (!strcmp(w->name, text)) {
			*value = w->value;
			return 0;
		}
	}
	complain("--%s knows no '%s'; it takes:", option, text);
	for (const struct word *w = words; w->name; w++)
		fprintf(stderr, "  %s\n", w->name);
	return try_help();
}

static int parse_jobs(const char *text, unsigned int *jobs)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = isdigit((unsigned char)text[0]) ? strtoul(text, &end, 10) : 0;
	if (!n || errno || *end || n > JOBS_MAX) {
		complain("--jobs takes a number from 1 to %d, not '%s'",
			 JOBS_MAX, text);
		return try_help();
	}
	*jobs = (unsigned int)n;
	return 0;
}

/* The largest unit that it is a multiple of, as parse_size() reads it. */
static void size_text(char *text, size_t room, uint64_t size)
{
	static const char *const units[] = { "", "K", "M", "G" };
	size_t unit = 0;

	while (size && size % 1024 == 0 &&
	       unit + 1 < sizeof(units) / sizeof(units[0])) {
		size /= 1024;
		unit++;
	}
	snprintf(text, room, "%" PRIu64 "%s", size, units[unit]);
}

static int parse_bounded(const char *option, const char *text, uint64_t min,
			 uint64_t max, size_t *value)
{
	char least[24];
	char most[24];
	uint64_t n;

	if (parse_size(text, &n) || n < min || n > max) {
		size_text(least, sizeof(least), min);
		size_text(most, sizeof(most), max);
		complain("--%s takes a size from %s to %s, in bytes or with K, "
			 "M or G (times 1024), not '%s'",
			 option, least, most, text);
		return try_help();
	}
	*value = (size_t)n;
	return 0;
}

static int parse_algorithm(struct options *opt, const char *text)
{
	const struct algorithm *alg = algorithm_by_name(text);

	if (!alg || alg->class != ALG_DIGEST) {
		complain("no digest algorithm is called '%s'; there are:",
			 text);
		for (size_t i = 0; i < algorithms_count; i++)
			if (algorithms[i].class == ALG_DIGEST)
				fprintf(stderr, "  %s\n", algorithms[i].name);
		return try_help();
	}
	opt->alg = alg;
	opt->alg_given = true;
	return 0;
}

static int parse_backend(struct options *opt, const char *text)
{
	opt->backend = backend_by_name(text);
	if (opt->backend && opt->backend->digest)
		return 0;
	complain("no backend is called '%s'; there are:", text);
	for (const struct backend *const *b = backends; *b; b++)
		if ((*b)->digest)
			fprintf(stderr, "  %s\n", (*b)->name);
	return try_help();
}

/* On stdout, at once: errno is that of the write. */
static int show(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static int show(const char *fmt, ...)
{
	va_list args;
	int ret;

	va_start(args, fmt);
	ret = vprintf(fmt, args);
	va_end(args);
	if (ret >= 0 && !fflush(stdout))
		return OPTIONS_DONE;
	complain("write error: %s", strerror(errno));
	return -EIO;
}

static int list_backends(void)
{
	int ret = OPTIONS_DONE;
	struct error err;

	for (const struct backend *const *b = backends; *b && ret > 0; b++) {
		memset(&err, 0, sizeof(err));
		if (!(*b)->digest)
			continue;
		if ((*b)->probe(&err))
			ret = show("%-8s not here: %s\n", (*b)->name, err.what);
		else
			ret = show("%-8s %s\n", (*b)->name, (*b)->summary);
	}
	return ret;
}

struct given {
	bool text;
	bool binary;
};

/* Combinations that sha256sum refuses too. */
static int check_combinations(const struct options *opt,
			      const struct given *given)
{
	if (opt->tag && given->text)
		return usage("--tag does not support --text mode");
	if (opt->check && opt->zero)
		return usage("the --zero option is not supported when "
			     "verifying checksums");
	if (opt->check && opt->tag)
		return usage("the --tag option is meaningless when verifying "
			     "checksums");
	if (opt->check && (given->text || given->binary))
		return usage("the --binary and --text options are "
			     "meaningless when verifying checksums");
	if (!opt->check) {
		const char *name = opt->ignore_missing ? "ignore-missing" :
				   opt->status         ? "status" :
				   opt->warn           ? "warn" :
				   opt->quiet          ? "quiet" :
				   opt->strict         ? "strict" :
							 NULL;

		if (name) {
			complain("the --%s option is meaningful only when "
				 "verifying checksums",
				 name);
			return try_help();
		}
	}
	if (opt->report_file && opt->report == REPORT_NONE)
		return usage("--report-file is meaningful only with --report");
	return 0;
}

static int parse_one(struct options *opt, struct given *given, int c)
{
	int value = 0;
	int ret = 0;

	switch (c) {
	case 'a':
		return parse_algorithm(opt, optarg);
	case 'b':
		opt->binary = true;
		given->binary = true;
		given->text = false;
		return 0;
	case 'c':
		opt->check = true;
		return 0;
	case 'j':
		return parse_jobs(optarg, &opt->jobs);
	case 't':
		opt->binary = false;
		given->text = true;
		given->binary = false;
		return 0;
	case 'w':
		opt->status = false;
		opt->warn = true;
		opt->quiet = false;
		return 0;
	case 'z':
		opt->zero = true;
		return 0;
	case OPT_TAG:
		opt->tag = true;
		opt->binary = true;
		given->text = false;
		return 0;
	case OPT_IGNORE_MISSING:
		opt->ignore_missing = true;
		return 0;
	case OPT_QUIET:
		opt->status = false;
		opt->warn = false;
		opt->quiet = true;
		return 0;
	case OPT_STATUS:
		opt->status = true;
		opt->warn = false;
		opt->quiet = false;
		return 0;
	case OPT_STRICT:
		opt->strict = true;
		return 0;
	case OPT_BACKEND:
		return parse_backend(opt, optarg);
	case OPT_CHUNK:
		return parse_bounded("chunk", optarg, CHUNK_MIN, CHUNK_MAX,
				     &opt->chunk);
	case OPT_ONESHOT_LIMIT:
		return parse_bounded("oneshot-limit", optarg, 0, ONESHOT_MAX,
				     &opt->oneshot_limit);
	case OPT_MODE:
		ret = parse_word(modes, "mode", optarg, &value);
		opt->mode = (enum hash_mode)value;
		return ret;
	case OPT_READER:
		ret = parse_word(readers, "reader", optarg, &value);
		opt->reader = (enum reader_kind)value;
		return ret;
	case OPT_COLD:
		opt->cold = true;
		return 0;
	case OPT_REPORT:
		value = REPORT_TEXT;
		if (optarg)
			ret = parse_word(reports, "report", optarg, &value);
		opt->report = (enum report_kind)value;
		return ret;
	case OPT_REPORT_FILE:
		opt->report_file = optarg;
		return 0;
	case OPT_PROGRESS:
		ret = parse_word(progresses, "progress", optarg, &value);
		opt->progress = (enum progress_kind)value;
		return ret;
	case OPT_LIST:
		return list_backends();
	case OPT_HELP:
		return show("%s", help_text);
	case OPT_VERSION:
		return show("teehash (teemark) " TEEMARK_VERSION "\n");
	default:
		return try_help();
	}
}

int options_parse(struct options *opt, int argc, char **argv)
{
	static char dash[] = "-";
	static char *only_stdin[] = { dash, NULL };
	struct given given = { 0 };
	int ret;
	int c;

	*opt = (struct options){
		.backend = backend_by_name("tee"),
		.alg = algorithm_by_name("sha256"),
		.jobs = 1,
		.oneshot_limit = ENGINE_ONESHOT_LIMIT,
	};
	while ((c = getopt_long(argc, argv, "a:bcj:twz", long_options, NULL)) !=
	       -1) {
		ret = parse_one(opt, &given, c);
		if (ret)
			return ret;
	}
	opt->names = optind < argc ? argv + optind : only_stdin;
	opt->names_count = optind < argc ? (size_t)(argc - optind) : 1;
	return check_combinations(opt, &given);
}
