// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clock.h"
#include "progress.h"

#define APPEAR_NS    500000000u
#define REDRAW_NS    100000000u
#define BAR_MAX      40
#define TEXT_COLUMNS 62 /* what stands beside the bar, at most */
#define TEXT_MAX     256
#define CLEAR        "\r\033[K"

/* A bar is on the line now. A signal handler must know, and stderr is one. */
static atomic_bool shown;

static int terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return 80;
	return size.ws_col;
}

void progress_begin(struct progress *progress, bool on, uint64_t total)
{
	memset(progress, 0, sizeof(*progress));
	progress->on = on;
	progress->total = total;
	progress->begin_ns = clock_now_ns();
	progress->drawn_ns = progress->begin_ns;
	if (on)
		progress->width = terminal_width();
}

void progress_add(void *progress, uint64_t bytes)
{
	struct progress *p = progress;

	atomic_fetch_add_explicit(&p->done, bytes, memory_order_relaxed);
}

static void print_bytes(FILE *out, double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t i = 0;

	while (bytes >= 1024 && i + 1 < sizeof(units) / sizeof(*units)) {
		bytes /= 1024;
		i++;
	}
	fprintf(out, "%.*f %s", i ? 1 : 0, bytes, units[i]);
}

static void print_seconds(FILE *out, double seconds)
{
	uint64_t s = (uint64_t)(seconds + 0.5);

	if (s >= 3600)
		fprintf(out, "%" PRIu64 ":%02d:%02d", s / 3600,
			(int)(s / 60 % 60), (int)(s % 60));
	else
		fprintf(out, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

static void print_bar(FILE *out, const struct progress *p, double share)
{
	int columns = p->width - TEXT_COLUMNS;
	int full;

	if (columns > BAR_MAX)
		columns = BAR_MAX;
	fprintf(out, "%3d%% ", (int)(share * 100));
	if (columns < 5)
		return;
	full = (int)(share * columns);
	putc('[', out);
	for (int i = 0; i < columns; i++)
		putc(i < full ? '=' : i == full ? '>' : ' ', out);
	fputs("] ", out);
}

/* What stands on the line. */
static void print_line(FILE *out, const struct progress *p, double seconds)
{
	double done =
		(double)atomic_load_explicit(&p->done, memory_order_relaxed);
	double total = (double)p->total;
	double rate = done / seconds;

	if (!p->total || done > total) {
		print_bytes(out, done);
		fputs(", ", out);
		print_bytes(out, rate);
		fputs("/s, ", out);
		print_seconds(out, seconds);
		return;
	}
	print_bar(out, p, done / total);
	print_bytes(out, done);
	fputs(" of ", out);
	print_bytes(out, total);
	fputs(", ", out);
	print_bytes(out, rate);
	fputs("/s", out);
	if (rate > 0) {
		fputs(", ", out);
		print_seconds(out, (total - done) / rate);
		fputs(" left", out);
	}
}

void progress_draw(struct progress *progress)
{
	char text[TEXT_MAX];
	uint64_t now;
	FILE *out;

	if (!progress->on)
		return;
	now = clock_now_ns();
	if (now - progress->begin_ns < APPEAR_NS ||
	    now - progress->drawn_ns < REDRAW_NS)
		return;
	progress->drawn_ns = now;
	/* stderr has no buffer: the whole line in one write. */
	out = fmemopen(text, sizeof(text), "w");
	if (!out)
		return;
	fputs(CLEAR, out);
	print_line(out, progress, (double)(now - progress->begin_ns) / 1e9);
	fclose(out);
	flockfile(stderr);
	atomic_store(&shown, true);
	fputs(text, stderr);
	funlockfile(stderr);
}

void progress_hide(void)
{
	flockfile(stderr);
	if (atomic_load(&shown)) {
		fputs(CLEAR, stderr);
		atomic_store(&shown, false);
	}
	funlockfile(stderr);
}

void progress_end(struct progress *progress)
{
	progress_hide();
	progress->on = false;
}

void progress_abandon(void)
{
	struct pollfd room = { .fd = STDERR_FILENO, .events = POLLOUT };

	/* A terminal that is stopped must not keep the program. */
	if (atomic_exchange(&shown, false) && poll(&room, 1, 0) == 1 &&
	    write(STDERR_FILENO, CLEAR, strlen(CLEAR)) < 0)
		return;
}
