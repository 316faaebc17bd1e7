/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * These backends give random bytes and nothing else: `getrandom` and `urandom` ask the kernel's
 * generator, `hwrng` a hardware source behind /dev/hwrng.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <unistd.h>

#include "backend.h"
#include "clock.h"

#define FIRST_MS 5000 /* ms to wait for 16 bytes; a slower source counts as absent */

enum { GETRANDOM, URANDOM, HWRNG };

struct session {
	int fd; /* -1: the source needs none */
	const char *path;
};

static void close_source(struct session *s)
{
	if (s->fd >= 0)
		close(s->fd);
}

/* Waits for the first 16 bytes. Returns 0 or an errno. */
static int hear(int fd)
{
	uint64_t end = clock_now_ns() + (uint64_t)FIRST_MS * 1000000u;
	uint8_t first[16];
	size_t got = 0;

	while (got < sizeof(first)) {
		ssize_t n = read(fd, first + got, sizeof(first) - got);

		if (n > 0)
			got += (size_t)n;
		else if (n < 0 && errno != EAGAIN && errno != EINTR)
			return errno;
		else if (clock_now_ns() >= end)
			return ETIMEDOUT;
		else
			poll(NULL, 0, 10);
	}
	return 0;
}

/* Returns 0, or an error with err->skip if /dev/hwrng exists but gives no bytes. */
static int check_hwrng(int fd, struct error *err)
{
	int code = hear(fd);

	if (!code && fcntl(fd, F_SETFL, 0)) /* from here on, reads block */
		code = errno;
	if (!code)
		return 0;
	return error_skip(err, -ENODEV, "no-device", "/dev/hwrng gives nothing: %s",
			  code == ETIMEDOUT ? "16 bytes do not come in 5 s" : strerror(code));
}

static int open_source(struct session *s, const struct backend *self, enum backend_use use,
		       struct error *err)
{
	static const char *const paths[] = {
		[GETRANDOM] = "getrandom()",
		[URANDOM] = "/dev/urandom",
		[HWRNG] = "/dev/hwrng",
	};
	const char *path = paths[self->code];
	uint8_t byte;

	*s = (struct session){ -1, path };
	if (self->code == GETRANDOM)
		return getrandom(&byte, 1, GRND_NONBLOCK) == 1 ?
			       0 :
			       error_skip(err, -errno, "no-getrandom", "%s gives nothing: %s", path,
					  strerror(errno));
	s->fd = open(path, O_RDONLY | O_CLOEXEC | (self->code == HWRNG ? O_NONBLOCK : 0));
	if (s->fd < 0)
		return error_skip(err, -errno, "no-device", "cannot open %s: %s\n%s", path,
				  strerror(errno),
				  self->code != HWRNG ? "" :
				  errno == EACCES     ? "only root may read it" :
							"the board has no hardware source that this "
							"kernel knows (CONFIG_HW_RANDOM)");
	return self->code == HWRNG ? check_hwrng(s->fd, err) : 0;
}

static int draw(struct session *s, const struct buffer *out, size_t len, uint32_t repeat,
		struct error *err)
{
	for (uint32_t i = 0; i < repeat; i++)
		for (size_t at = 0; at < len;) {
			uint8_t *to = out->data + at;
			ssize_t n = s->fd < 0 ? getrandom(to, len - at, 0) :
						read(s->fd, to, len - at);

			/* also for EINTR: a signal ends the run */
			if (n < 0)
				return error_errno(err, "cannot read %s", s->path);
			if (!n)
				return error_set(err, -EIO, "%s has come to its end", s->path);
			at += (size_t)n;
		}
	return 0;
}

#define RANDOM_BACKEND(NAME, SOURCE, TITLE, SUMMARY)     \
	const struct backend backend_##NAME = {          \
		.name = #NAME,                           \
		.title = TITLE,                          \
		.summary = SUMMARY,                      \
		.uses = 1u << USE_RANDOM,                \
		.code = SOURCE,                          \
		.session_bytes = sizeof(struct session), \
		.open = open_source,                     \
		.close = close_source,                   \
		.random = draw,                          \
	}

RANDOM_BACKEND(getrandom, GETRANDOM, "getrandom()", "the kernel's random bytes, by a system call");
RANDOM_BACKEND(urandom, URANDOM, "/dev/urandom", "the kernel's random bytes, from a device");
RANDOM_BACKEND(hwrng, HWRNG, "/dev/hwrng", "random bytes of the hardware");
