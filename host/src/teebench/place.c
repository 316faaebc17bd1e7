/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "place.h"
#include "stop.h"

enum { PIECE = 4 << 20 }; /* bytes transferred between two checks for a signal */

static const char *place_directory(void)
{
	const char *dir = getenv("TEEMARK_DIR");

	return dir && *dir ? dir : ".";
}

int place_open(struct error *err)
{
	const char *folder = place_directory();
	int dir = access(folder, W_OK | X_OK) ? -1 :
						open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dir >= 0 ? dir :
			  error_skip(err, -errno, "no-directory",
				     "cannot write to folder %s: %s\nname another: "
				     "TEEMARK_DIR=/some/folder",
				     folder, strerror(errno));
}

int place_failed(struct error *err, const char *what)
{
	return error_errno(err, "cannot %s a file in %s", what, place_directory());
}

/*
 * Reads or writes `len` bytes in pieces. Returns the number of bytes: `len`, or fewer at a file's
 * end.
 */
static ssize_t transfer(int fd, uint8_t *data, size_t len, off_t at, bool writes, struct error *err)
{
	size_t done = 0;

	while (done < len) {
		size_t want = len - done < PIECE ? len - done : PIECE;
		ssize_t n = writes ? pwrite(fd, data + done, want, at + (off_t)done) :
				     pread(fd, data + done, want, at + (off_t)done);

		if (n < 0 && errno != EINTR)
			return place_failed(err, writes ? "write" : "read");
		if (!n && !writes)
			break;
		done += n > 0 ? (size_t)n : 0;
		if (done < len && stop_check(err))
			return -ECANCELED;
	}
	return (ssize_t)done;
}

ssize_t place_read(int fd, uint8_t *data, size_t len, off_t at, struct error *err)
{
	return transfer(fd, data, len, at, false, err);
}

int place_write(int fd, const uint8_t *data, size_t len, off_t at, struct error *err)
{
	ssize_t n = transfer(fd, (uint8_t *)data, len, at, true, err);

	return n < 0 ? (int)n : 0;
}
