// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outfile.h"

#define PATIENCE_MS 100 /* for who reads at the other end of a pipe */

/* What a signal handler must know; there is one file at most. */
static struct {
	volatile sig_atomic_t open;
	volatile sig_atomic_t whole; /* no piece is under way */
	volatile sig_atomic_t over;
	struct outfile *file;
	int fd;
	size_t len;
	char ending[512];
} state;

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

/* The stream of fd, which is closed if there is none. */
static int open_stream(struct outfile *file, int fd)
{
	int code;

	if (fd < 0)
		return -errno;
	file->out = fdopen(fd, "w");
	if (file->out)
		return 0;
	code = -errno;
	close(fd);
	return code;
}

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
	int ret;
	int fd;

	if (asprintf(&file->partial, "%.*s%s", folder, file->target, pattern) <
	    0) {
		file->partial = NULL;
		return -ENOMEM;
	}
	fd = mkostemps(file->partial, (int)strlen(".partial"), O_CLOEXEC);
	if (fd < 0)
		return -errno;
	take_over(fd, before);
	ret = open_stream(file, fd);
	if (ret)
		unlink(file->partial);
	return ret;
}

static void forget_names(struct outfile *file)
{
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

int outfile_open(struct outfile *file, const char *name)
{
	size_t len = strlen(name);
	struct stat st;
	bool there = !stat(name, &st);
	bool beside;
	int ret;
	int fd;

	*file = (struct outfile){ .owned = true };
	/* A link that leads nowhere makes its file when it is opened. */
	beside = there ? S_ISREG(st.st_mode) :
			 len && name[len - 1] != '/' && !is_link(name);
	if (there && is_standard(&st, &fd))
		ret = open_stream(file, fcntl(fd, F_DUPFD_CLOEXEC, 3));
	else if (beside)
		ret = open_beside(file, name, there ? &st : NULL);
	else
		ret = open_stream(file,
				  open(name,
				       O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
				       0666));
	if (!ret)
		outfile_use(file, file->out, true);
	return ret;
}

void outfile_use(struct outfile *file, FILE *out, bool owned)
{
	file->out = out;
	file->owned = owned;
	state.file = file;
	state.fd = fileno(out);
	state.whole = 0;
	state.open = 1;
}

void outfile_piece(struct outfile *file)
{
	flockfile(file->out);
	state.whole = 0;
}

int outfile_settle(struct outfile *file, const char *ending)
{
	int ret = fflush(file->out) ? -errno : 0;

	state.len = strlen(ending);
	if (state.len > sizeof(state.ending))
		state.len = sizeof(state.ending);
	memcpy(state.ending, ending, state.len);
	state.whole = !ret && !ferror(file->out);
	funlockfile(file->out);
	return ret;
}

int outfile_close(struct outfile *file, bool keep)
{
	int ret = 0;

	if (!file->out)
		return 0;
	state.whole = 0;
	if (file->owned ? fclose(file->out) : fflush(file->out))
		ret = -errno;
	file->out = NULL;
	if (file->partial && keep && !ret &&
	    rename(file->partial, file->target))
		ret = -errno;
	if (file->partial && (!keep || ret))
		unlink(file->partial);
	state.open = 0;
	forget_names(file);
	return ret;
}

void outfile_lock(void)
{
	if (state.open && state.file->out)
		flockfile(state.file->out);
}

static bool write_ending(void)
{
	struct pollfd room = { .fd = state.fd, .events = POLLOUT };

	/* Nobody may take it: that must not keep the program from leaving. */
	return state.whole && poll(&room, 1, PATIENCE_MS) == 1 &&
	       write(state.fd, state.ending, state.len) == (ssize_t)state.len;
}

void outfile_abandon(void)
{
	const struct outfile *file = state.file;

	if (!state.open || state.over)
		return;
	state.over = 1;
	if (write_ending()) {
		if (file->partial)
			rename(file->partial, file->target);
	} else if (file->partial) {
		unlink(file->partial);
	}
}
