// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
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

static void print_bytes(double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t i = 0;

	while (bytes >= 1024 && i + 1 < sizeof(units) / sizeof(*units)) {
		bytes /= 1024;
		i++;
	}
	fprintf(stderr, "%.*f %s", i ? 1 : 0, bytes, units[i]);
}

static void print_seconds(double seconds)
{
	uint64_t s = (uint64_t)(seconds + 0.5);

	if (s >= 3600)
		fprintf(stderr, "%" PRIu64 ":%02d:%02d", s / 3600,
			(int)(s / 60 % 60), (int)(s % 60));
	else
		fprintf(stderr, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

static void print_bar(const struct progress *p, double share)
{
	int columns = p->width - TEXT_COLUMNS;
	int full;

	if (columns > BAR_MAX)
		columns = BAR_MAX;
	fprintf(stderr, "%3d%% ", (int)(share * 100));
	if (columns < 5)
		return;
	full = (int)(share * columns);
	putc('[', stderr);
	for (int i = 0; i < columns; i++)
		putc(i < full ? '=' : i == full ? '>' : ' ', stderr);
	fputs("] ", stderr);
}

void progress_draw(struct progress *progress)
{
	uint64_t now;
	double seconds;
	double done;
	double rate;

	if (!progress->on)
		return;
	now = clock_now_ns();
	if (now - progress->begin_ns < APPEAR_NS ||
	    now - progress->drawn_ns < REDRAW_NS)
		return;
	progress->drawn_ns = now;
	progress->shown = true;
	seconds = (double)(now - progress->begin_ns) / 1e9;
	done = (double)atomic_load_explicit(&progress->done,
					    memory_order_relaxed);
	rate = done / seconds;
	fputs("\r\033[K", stderr);
	if (progress->total && done <= (double)progress->total) {
		double total = (double)progress->total;

		print_bar(progress, done / total);
		print_bytes(done);
		fputs(" of ", stderr);
		print_bytes(total);
		fputs(", ", stderr);
		print_bytes(rate);
		fputs("/s", stderr);
		if (rate > 0) {
			fputs(", ", stderr);
			print_seconds((total - done) / rate);
			fputs(" left", stderr);
		}
	} else {
		print_bytes(done);
		fputs(", ", stderr);
		print_bytes(rate);
		fputs("/s, ", stderr);
		print_seconds(seconds);
	}
	fflush(stderr);
}

void progress_hide(struct progress *progress)
{
	if (!progress->shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	progress->shown = false;
}

void progress_end(struct progress *progress)
{
	progress_hide(progress);
	progress->on = false;
}
