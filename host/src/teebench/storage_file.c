/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file, file-fsync: plain files, in the folder TEEMARK_DIR or else the current
 * one; with fsync what changes is on the disk before the operation ends, as
 * the TEE's storage has it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "place.h"
#include "storage.h"

/* Files that are made beforehand for as many calls. */
enum { FILES_MAX = 64, PATH_BYTES = 64 };

struct files {
	struct storage_job job;
	bool sync;
	int dir;
	int fds[FILES_MAX]; /* -1: not open */
	uint8_t *data, *back;
	bool renamed;
	uint32_t made;  /* files that there are */
	uint32_t loops; /* of the last run */
};

/* Of file i; or of the only one, under its other name. */
static const char *path_of(const struct files *f, uint32_t i, bool renamed,
			   char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s-%u%s", f->job.name, i,
		 renamed ? "-renamed" : "");
	return path;
}

static int failed(struct error *err, const struct files *f, const char *what)
{
	int code = -errno;

	return error_set(err, code, "cannot %s a file of %zu bytes in %s: %s",
			 what, f->job.bytes, place_directory(),
			 strerror(-code));
}

static int write_all(const struct files *f, int fd, struct error *err)
{
	for (size_t at = 0; at < f->job.bytes;) {
		ssize_t n =
			pwrite(fd, f->data + at, f->job.bytes - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return failed(err, f, "write");
		at += (size_t)n;
	}
	return 0;
}

static int read_all(struct files *f, int fd, struct error *err)
{
	for (size_t at = 0; at < f->job.bytes;) {
		ssize_t n =
			pread(fd, f->back + at, f->job.bytes - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return failed(err, f, "read");
		if (!n)
			break;
		at += (size_t)n;
	}
	return 0;
}

static int create(struct files *f, uint32_t i, bool keep_open,
		  struct error *err)
{
	char path[PATH_BYTES];
	int fd = openat(f->dir, path_of(f, i, false, path),
			O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
	int ret;

	if (fd < 0)
		return failed(err, f, "create");
	ret = write_all(f, fd, err);
	if (!ret && f->sync && fsync(fd))
		ret = failed(err, f, "sync");
	if (keep_open)
		f->fds[i] = fd;
	else if (close(fd) && !ret)
		ret = failed(err, f, "close");
	if (!ret && f->sync && fsync(f->dir))
		ret = failed(err, f, "sync the folder of");
	return ret;
}

static void close_all(struct files *f)
{
	for (size_t i = 0; i < FILES_MAX; i++) {
		if (f->fds[i] >= 0)
			close(f->fds[i]);
		f->fds[i] = -1;
	}
}

static void remove_all(struct files *f)
{
	char path[PATH_BYTES];

	for (uint32_t i = 0; i < f->made; i++)
		unlinkat(f->dir, path_of(f, i, false, path), 0);
	unlinkat(f->dir, path_of(f, 0, true, path), 0);
	f->made = 0;
}

/* As many files as there will be calls; open ones, or closed. */
static int make(struct files *f, uint32_t count, bool open, struct error *err)
{
	int ret = 0;

	close_all(f);
	for (uint32_t i = 0; !ret && i < count; i++) {
		if (f->made <= i)
			f->made = i + 1;
		ret = create(f, i, open, err);
	}
	return ret;
}

static int file_ready(void *state, uint32_t loops, struct error *err)
{
	struct files *f = state;

	f->loops = loops;
	switch (f->job.op) {
	case STORAGE_CREATE:
		remove_all(f);
		f->made = loops;
		return 0;
	case STORAGE_OPEN:
		close_all(f);
		return 0;
	case STORAGE_WRITE:
		/* Others than before, so that not writing is seen. */
		for (size_t i = 0; i < f->job.bytes; i++)
			f->data[i] ^= 0xff;
		return 0;
	case STORAGE_TRUNCATE:
		return make(f, loops, true, err);
	case STORAGE_DELETE:
		return make(f, loops, false, err);
	case STORAGE_READ:
	case STORAGE_RENAME:
	case STORAGE_OPEN_READ_CLOSE:
	case STORAGE_OPS:
		break;
	}
	return 0;
}

static int fetch(struct files *f, struct error *err)
{
	char path[PATH_BYTES];
	int fd = openat(f->dir, path_of(f, 0, false, path),
			O_RDONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return failed(err, f, "open");
	ret = read_all(f, fd, err);
	if (close(fd) && !ret)
		ret = failed(err, f, "close");
	return ret;
}

static int run_once(struct files *f, uint32_t i, struct error *err)
{
	char path[PATH_BYTES], to[PATH_BYTES];

	switch (f->job.op) {
	case STORAGE_CREATE:
		return create(f, i, false, err);
	case STORAGE_OPEN:
		f->fds[i] = openat(f->dir, path_of(f, 0, false, path),
				   O_RDWR | O_CLOEXEC);
		return f->fds[i] < 0 ? failed(err, f, "open") : 0;
	case STORAGE_READ:
		return read_all(f, f->fds[0], err);
	case STORAGE_WRITE:
		if (write_all(f, f->fds[0], err))
			return err->code;
		return f->sync && fsync(f->fds[0]) ? failed(err, f, "sync") : 0;
	case STORAGE_RENAME:
		if (renameat(f->dir, path_of(f, 0, f->renamed, path), f->dir,
			     path_of(f, 0, !f->renamed, to)))
			return failed(err, f, "rename");
		f->renamed = !f->renamed;
		return f->sync && fsync(f->dir) ?
			       failed(err, f, "sync the folder of") :
			       0;
	case STORAGE_TRUNCATE:
		if (ftruncate(f->fds[i], (off_t)(f->job.bytes / 2)))
			return failed(err, f, "truncate");
		return f->sync && fsync(f->fds[i]) ? failed(err, f, "sync") : 0;
	case STORAGE_DELETE:
		if (unlinkat(f->dir, path_of(f, i, false, path), 0))
			return failed(err, f, "delete");
		return f->sync && fsync(f->dir) ?
			       failed(err, f, "sync the folder of") :
			       0;
	case STORAGE_OPEN_READ_CLOSE:
		return fetch(f, err);
	case STORAGE_OPS:
		break;
	}
	return error_set(err, -EINVAL, "no such operation");
}

static int file_run(void *state, uint32_t loops, uint32_t repeat,
		    struct error *err)
{
	int ret = 0;

	(void)repeat;
	for (uint32_t i = 0; !ret && i < loops; i++)
		ret = run_once(state, i, err);
	return ret;
}

/* The file of that name holds the first len of our bytes, and no more. */
static int holds(struct files *f, uint32_t i, size_t len, struct error *err)
{
	char path[PATH_BYTES];
	struct stat st;
	int fd = openat(f->dir, path_of(f, i, f->renamed, path),
			O_RDONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return failed(err, f, "open");
	memset(f->back, 0, f->job.bytes);
	ret = read_all(f, fd, err);
	if (!ret && fstat(fd, &st))
		ret = failed(err, f, "stat");
	if (!ret && (size_t)st.st_size != len)
		ret = storage_wrong(err, &f->job, "its size is another");
	if (!ret && memcmp(f->back, f->data, len))
		ret = storage_wrong(err, &f->job,
				    "it does not hold what was stored");
	close(fd);
	return ret;
}

static int file_check(void *state, struct error *err)
{
	struct files *f = state;
	size_t len = f->job.op == STORAGE_TRUNCATE ? f->job.bytes / 2 :
						     f->job.bytes;
	bool many = f->job.op == STORAGE_CREATE ||
		    f->job.op == STORAGE_TRUNCATE;
	char path[PATH_BYTES];
	int ret = 0;

	if (f->job.op == STORAGE_READ || f->job.op == STORAGE_OPEN_READ_CLOSE) {
		if (memcmp(f->back, f->data, len))
			ret = storage_wrong(err, &f->job,
					    "other bytes than were stored");
		memset(f->back, 0, len);
		return ret;
	}
	if (f->job.op == STORAGE_DELETE) {
		for (uint32_t i = 0; i < f->loops; i++)
			if (!faccessat(f->dir, path_of(f, i, false, path), F_OK,
				       0))
				return storage_wrong(err, &f->job,
						     "it is still there");
		return 0;
	}
	for (uint32_t i = 0; !ret && i < (many ? f->loops : 1); i++)
		ret = holds(f, i, len, err);
	return ret;
}

static void file_teardown(void *state)
{
	struct files *f = state;

	close_all(f);
	if (f->dir >= 0) {
		remove_all(f);
		close(f->dir);
	}
	free(f->data);
	free(f->back);
}

static int file_probe(struct pool *pool, struct error *err)
{
	(void)pool;
	return place_probe(err);
}

static int file_prepare(struct bench_case *c, struct pool *pool,
			struct error *err)
{
	struct files *f = c->state;
	int ret;

	(void)pool;
	f->dir = -1;
	for (size_t i = 0; i < FILES_MAX; i++)
		f->fds[i] = -1;
	ret = place_probe(err);
	if (ret)
		return ret;
	storage_job_of(c, &f->job);
	f->sync = !strcmp(c->backend_name, "file-fsync");
	f->data = malloc(f->job.bytes);
	f->back = calloc(1, f->job.bytes);
	if (!f->data || !f->back)
		return error_set(err, -ENOMEM, "out of memory");
	f->dir = open(place_directory(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->dir < 0)
		return error_set(err, -errno, "cannot open folder %s: %s",
				 place_directory(), strerror(errno));
	pool_message(f->data, f->job.bytes);
	f->made = FILES_MAX; /* a run that was killed may have left some */
	remove_all(f);
	return make(f, 1, true, err);
}

static void file_facts(const void *state, struct json *json)
{
	place_put(((const struct files *)state)->dir, json);
}

static const struct workload file_workload = {
	.name = "storage",
	.state_size = sizeof(struct files),
	.prepare = file_prepare,
	.ready = file_ready,
	.run = file_run,
	.verify = file_check,
	.check = file_check,
	.facts = file_facts,
	.teardown = file_teardown,
};

extern const struct store storage_file, storage_file_fsync;

const struct store storage_file = {
	.name = "file",
	.title = "plain file",
	.made_max = FILES_MAX,
	.probe = file_probe,
	.workload = &file_workload,
};

const struct store storage_file_fsync = {
	.name = "file-fsync",
	.title = "plain file, written through",
	.made_max = FILES_MAX,
	.probe = file_probe,
	.workload = &file_workload,
};
