// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outfile.h"
#include "stop.h"

/* The partial file that is there now, for a signal handler. */
static char *volatile abandoned;

static bool is_standard(const struct stat *st, int *fd)
{
	struct stat own;

	for (*fd = STDOUT_FILENO; *fd <= STDERR_FILENO; (*fd)++)
		if (!fstat(*fd, &own) && own.st_dev == st->st_dev &&
		    own.st_ino == st->st_ino &&
		    (fcntl(*fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
			return true;
	return false;
}

/* The owner and the mode of what was there, else as the umask says. */
static void take_over(int fd, const struct stat *before)
{
	mode_t mask;

	if (!before) {
		mask = umask(0);
		umask(mask);
		fchmod(fd, 0666 & ~mask);
		return;
	}
	/* Who may not give it away keeps it. */
	if (fchown(fd, before->st_uid, before->st_gid))
		errno = 0;
	fchmod(fd, before->st_mode & 07777);
}

/* "FOLDER/teehash-XXXXXX.partial" */
static int open_partial(struct outfile *file, const struct stat *before)
{
	static const char pattern[] = "teehash-XXXXXX.partial";
	const char *slash = strrchr(file->target, '/');
	int folder = slash ? (int)(slash - file->target) + 1 : 0;

	if (asprintf(&file->partial, "%.*s%s", folder, file->target, pattern) <
	    0) {
		file->partial = NULL;
		return -ENOMEM;
	}
	file->fd = mkostemps(file->partial, (int)strlen(".partial"), O_CLOEXEC);
	if (file->fd < 0)
		return -errno;
	abandoned = file->partial;
	take_over(file->fd, before);
	return 0;
}

static void forget_names(struct outfile *file)
{
	abandoned = NULL;
	free(file->partial);
	free(file->target);
	file->partial = NULL;
	file->target = NULL;
}

static int open_beside(struct outfile *file, const char *name,
		       const struct stat *before)
{
	int ret;

	/* Not a link is replaced but what it leads to. */
	file->target = before ? realpath(name, NULL) : strdup(name);
	if (!file->target)
		return -errno;
	if (before && access(file->target, W_OK))
		ret = -errno;
	else
		ret = open_partial(file, before);
	if (ret)
		forget_names(file);
	return ret;
}

static bool is_link(const char *name)
{
	struct stat st;

	return !lstat(name, &st) && S_ISLNK(st.st_mode);
}

int outfile_use(struct outfile *file, int fd)
{
	*file = (struct outfile){ .fd = fcntl(fd, F_DUPFD_CLOEXEC, 3) };
	return file->fd < 0 ? -errno : 0;
}

int outfile_open(struct outfile *file, const char *name)
{
	size_t len = strlen(name);
	struct stat st;
	bool there = !stat(name, &st);
	int fd;

	*file = (struct outfile){ .fd = -1 };
	if (there && is_standard(&st, &fd))
		return outfile_use(file, fd);
	/* A link that leads nowhere makes its file when it is opened. */
	if (there ? S_ISREG(st.st_mode) :
		    len && name[len - 1] != '/' && !is_link(name))
		return open_beside(file, name, there ? &st : NULL);
	file->fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return file->fd < 0 ? -errno : 0;
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n >= 0) {
			text += n;
			len -= (size_t)n;
		} else if (errno != EINTR || stop_asked()) {
			return -errno;
		}
	}
	return 0;
}

int outfile_write(struct outfile *file, const char *text, size_t len)
{
	int ret = write_all(file->fd, text, len);

	if (close(file->fd) && !ret)
		ret = -errno;
	if (!ret && file->partial && rename(file->partial, file->target))
		ret = -errno;
	if (ret && file->partial)
		unlink(file->partial);
	forget_names(file);
	return ret;
}

void outfile_drop(struct outfile *file)
{
	close(file->fd);
	if (file->partial)
		unlink(file->partial);
	forget_names(file);
}

void outfile_abandon(void)
{
	if (abandoned)
		unlink(abandoned);
}
