// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "progress.h"

#define APPEAR_NS    500000000u
#define REDRAW_NS    100000000
#define BAR_MAX      40
#define TEXT_COLUMNS 62 /* what stands beside the bar, at most */
#define TEXT_MAX     256
#define CLEAR        "\r\033[K"

const char *const progress_kinds[] = {
	[PROGRESS_AUTO] = "auto",
	[PROGRESS_ALWAYS] = "always",
	[PROGRESS_NEVER] = "never",
	NULL,
};

/* There is one stderr, so there is one bar. */
static struct {
	bool on;
	bool over;
	pthread_t thread;
	pthread_mutex_t lock; /* whoever holds it may write to stderr */
	pthread_cond_t ended;
	int width; /* columns of the terminal */
	uint64_t begin_ns;
	uint64_t total;
} bar = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Atomic uint64_t hashed;

/* The bar is on the line now. A signal handler must know. */
static atomic_bool shown;

static int terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return 80;
	return size.ws_col;
}

void progress_add(uint64_t bytes)
{
	atomic_fetch_add_explicit(&hashed, bytes, memory_order_relaxed);
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

static void print_bar(FILE *out, double share)
{
	int columns = bar.width - TEXT_COLUMNS;
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
static void print_line(FILE *out, double seconds)
{
	double done =
		(double)atomic_load_explicit(&hashed, memory_order_relaxed);
	double total = (double)bar.total;
	double rate = done / seconds;

	if (!bar.total || done > total) {
		print_bytes(out, done);
		fputs(", ", out);
		print_bytes(out, rate);
		fputs("/s, ", out);
		print_seconds(out, seconds);
		return;
	}
	print_bar(out, done / total);
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

static void draw(void)
{
	uint64_t age = clock_now_ns() - bar.begin_ns;
	char text[TEXT_MAX];
	FILE *out;

	if (age < APPEAR_NS)
		return;
	/* stderr has no buffer: the whole line in one write. */
	out = fmemopen(text, sizeof(text), "w");
	if (!out)
		return;
	fputs(CLEAR, out);
	print_line(out, (double)age / 1e9);
	fclose(out);
	atomic_store(&shown, true);
	fputs(text, stderr);
}

static void *bar_main(void *unused)
{
	struct timespec next;

	pthread_mutex_lock(&bar.lock);
	while (!bar.over) {
		clock_gettime(CLOCK_MONOTONIC, &next);
		next.tv_nsec += REDRAW_NS;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		pthread_cond_timedwait(&bar.ended, &bar.lock, &next);
		if (!bar.over)
			draw();
	}
	pthread_mutex_unlock(&bar.lock);
	return unused;
}

void progress_begin(enum progress_kind kind, uint64_t total)
{
	pthread_condattr_t attr;
	sigset_t all;
	sigset_t old;

	if (kind == PROGRESS_NEVER ||
	    (kind == PROGRESS_AUTO && !isatty(STDERR_FILENO)))
		return;
	bar.total = total;
	bar.begin_ns = clock_now_ns();
	bar.width = terminal_width();
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&bar.ended, &attr);
	pthread_condattr_destroy(&attr);
	/* Signals are for the thread that works. Without a bar it does, too. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	bar.on = !pthread_create(&bar.thread, NULL, bar_main, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void progress_hide(void)
{
	if (!bar.on)
		return;
	pthread_mutex_lock(&bar.lock);
	if (atomic_exchange(&shown, false))
		fputs(CLEAR, stderr);
}

void progress_show(void)
{
	if (bar.on)
		pthread_mutex_unlock(&bar.lock);
}

void progress_end(void)
{
	if (!bar.on)
		return;
	progress_hide();
	bar.over = true;
	pthread_cond_signal(&bar.ended);
	progress_show();
	pthread_join(bar.thread, NULL);
	pthread_cond_destroy(&bar.ended);
	bar.on = false;
}

void progress_abandon(void)
{
	struct pollfd room = { .fd = STDERR_FILENO, .events = POLLOUT };

	/* A terminal that is stopped must not keep the program. */
	if (atomic_exchange(&shown, false) && poll(&room, 1, 0) == 1 &&
	    write(STDERR_FILENO, CLEAR, strlen(CLEAR)) < 0)
		return;
}
