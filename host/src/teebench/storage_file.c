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
	struct object o;
	int dir;
	int fds[FILES_MAX]; /* -1: not open */
	bool renamed;
	uint32_t made; /* files that there are */
};

/* Returns the path of file i; or of the only one, under its other name. */
static const char *path_of(const struct files *f, uint32_t i, bool renamed, char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s-%u%s", f->o.name, i, renamed ? "-renamed" : "");
	return path;
}

/* Ends an operation whose change is to be on the disk. */
static int sync_it(const struct files *f, int fd, struct error *err)
{
	return f->o.store == &storage_file_fsync && fsync(fd) ? place_failed(err, "sync") : 0;
}

static int create(struct files *f, uint32_t i, bool keep_open, struct error *err)
{
	char path[PATH_BYTES];
	int fd = openat(f->dir, path_of(f, i, false, path), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC,
			0600);
	int ret;

	if (fd < 0)
		return place_failed(err, "create");
	ret = place_write(fd, f->o.data, f->o.bytes, 0, err);
	if (!ret)
		ret = sync_it(f, fd, err);
	if (keep_open)
		f->fds[i] = fd;
	else if (close(fd) && !ret)
		ret = place_failed(err, "close");
	return ret ? ret : sync_it(f, f->dir, err);
}

static int shut(struct object *o, struct error *err)
{
	struct files *f = (struct files *)o;

	(void)err;
	for (size_t i = 0; i < FILES_MAX; i++) {
		if (f->fds[i] >= 0)
			close(f->fds[i]);
		f->fds[i] = -1;
	}
	return 0;
}

static int forget(struct object *o, struct error *err)
{
	struct files *f = (struct files *)o;
	char path[PATH_BYTES];

	(void)err;
	for (uint32_t i = 0; i < f->made; i++)
		unlinkat(f->dir, path_of(f, i, false, path), 0);
	unlinkat(f->dir, path_of(f, 0, true, path), 0);
	f->made = o->loops;
	return 0;
}

static int make(struct object *o, uint32_t count, struct error *err)
{
	struct files *f = (struct files *)o;
	int ret = shut(o, err);

	for (uint32_t i = 0; !ret && i < count; i++) {
		if (f->made <= i)
			f->made = i + 1;
		ret = create(f, i, o->op != STORAGE_DELETE, err);
	}
	return ret;
}

/* Reads the whole file of that name, to ->back. */
static int fetch(struct files *f, const char *path, size_t *len, struct error *err)
{
	int fd = openat(f->dir, path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t n;
	int ret;

	if (fd < 0)
		return place_failed(err, "open");
	n = place_read(fd, f->o.back, f->o.bytes, 0, err);
	ret = n < 0 ? (int)n : 0;
	if (!ret && len && fstat(fd, &st))
		ret = place_failed(err, "stat");
	if (close(fd) && !ret)
		ret = place_failed(err, "close");
	if (!ret && len)
		*len = (size_t)st.st_size;
	return ret;
}

static int read_back(struct object *o, uint32_t i, size_t *len, struct error *err)
{
	struct files *f = (struct files *)o;
	char path[PATH_BYTES];

	return fetch(f, path_of(f, i, f->renamed, path), len, err);
}

static int is_there(struct object *o, uint32_t i, struct error *err)
{
	struct files *f = (struct files *)o;
	char path[PATH_BYTES];

	(void)err;
	return faccessat(f->dir, path_of(f, i, false, path), F_OK, 0) ? -errno : 0;
}

static int once(void *state, uint32_t i, struct error *err)
{
	struct files *f = state;
	char path[PATH_BYTES], to[PATH_BYTES];
	ssize_t n;

	switch (f->o.op) {
	case STORAGE_CREATE:
		return create(f, i, false, err);
	case STORAGE_OPEN:
		f->fds[i] = openat(f->dir, path_of(f, 0, false, path), O_RDWR | O_CLOEXEC);
		return f->fds[i] < 0 ? place_failed(err, "open") : 0;
	case STORAGE_READ:
		n = place_read(f->fds[0], f->o.back, f->o.bytes, 0, err);
		return n < 0 ? (int)n : 0;
	case STORAGE_WRITE:
		if (place_write(f->fds[0], f->o.data, f->o.bytes, 0, err))
			return err->code;
		return sync_it(f, f->fds[0], err);
	case STORAGE_RENAME:
		if (renameat(f->dir, path_of(f, 0, f->renamed, path), f->dir,
			     path_of(f, 0, !f->renamed, to)))
			return place_failed(err, "rename");
		f->renamed = !f->renamed;
		return sync_it(f, f->dir, err);
	case STORAGE_TRUNCATE:
		if (ftruncate(f->fds[i], (off_t)(f->o.bytes / 2)))
			return place_failed(err, "truncate");
		return sync_it(f, f->fds[i], err);
	case STORAGE_DELETE:
		if (unlinkat(f->dir, path_of(f, i, false, path), 0))
			return place_failed(err, "delete");
		return sync_it(f, f->dir, err);
	case STORAGE_OPEN_READ_CLOSE:
	case STORAGE_OPS:
		break;
	}
	return fetch(f, path_of(f, 0, false, path), NULL, err);
}

static void file_teardown(void *state)
{
	struct files *f = state;

	if (f->o.c) {
		shut(&f->o, NULL);
		forget(&f->o, NULL);
		close(f->dir);
	}
	storage_end(&f->o);
}

static int file_probe(struct bench_case *c, struct error *err)
{
	(void)c;
	return place_probe(err);
}

static int file_prepare(struct bench_case *c, struct error *err)
{
	struct files *f = c->state;
	int ret;

	memset(f->fds, -1, sizeof(f->fds));
	f->dir = place_open(err);
	if (f->dir < 0)
		return f->dir;
	ret = storage_begin(c, err);
	if (ret)
		return ret;
	f->made = FILES_MAX; /* a run that was killed may have left some */
	forget(&f->o, err);
	f->made = 1;
	return create(f, 0, true, err);
}

static const struct workload file_workload = {
	.state_size = sizeof(struct files),
	.prepare = file_prepare,
	.probe = file_probe,
	.ready = storage_ready,
	.once = once,
	.verify = storage_check,
	.check = storage_check,
	.teardown = file_teardown,
};

#define FILES                                                                              \
	.made_max = FILES_MAX, .workload = &file_workload, .forget = forget, .make = make, \
	.shut = shut, .read_back = read_back, .is_there = is_there

const struct store storage_file = {
	.name = "file",
	.title = "plain file",
	FILES,
};

const struct store storage_file_fsync = {
	.name = "file-fsync",
	.title = "plain file, written through",
	FILES,
};
