/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stores file and file-fsync: plain files in the folder TEEMARK_DIR, or else in the current one.
 * With fsync a change is on the disk before the operation ends, as in the TEE's storage.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "place.h"
#include "storage.h"

enum { PATH_BYTES = 64 };

/* Writes to `path` and returns the name of file i, with `renamed` its name after renaming. */
static const char *path_of(const struct object *o, uint32_t i, bool renamed, char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s-%u%s", o->name, i, renamed ? "-renamed" : "");
	return path;
}

/* Ends a change of a file or folder: the store file-fsync writes the change to the disk. */
static int sync_it(const struct object *o, int fd, struct error *err)
{
	return o->store == &storage_file_fsync && fsync(fd) ? place_failed(err, "sync") : 0;
}

/* Creates file i with the object's data, and closes the file unless keep_open is set. */
static int create_file(struct object *o, uint32_t i, bool keep_open, struct error *err)
{
	char path[PATH_BYTES];
	int fd = openat(o->files.dir, path_of(o, i, false, path),
			O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
	int ret;

	if (fd < 0)
		return place_failed(err, "create");
	ret = place_write(fd, o->data, o->bytes, 0, err);
	if (!ret)
		ret = sync_it(o, fd, err);
	if (keep_open)
		o->files.fds[i] = fd;
	else if (close(fd) && !ret)
		ret = place_failed(err, "close");
	return ret ? ret : sync_it(o, o->files.dir, err);
}

static int create(struct bench_case *c, uint32_t i, struct error *err)
{
	struct object *o = c->state;

	return create_file(o, i, o->op != STORAGE_DELETE, err);
}

static int shut(struct bench_case *c, struct error *err)
{
	struct object *o = c->state;

	for (size_t i = 0; i < OBJECTS_MAX; i++) {
		if (o->files.fds[i] >= 0)
			close(o->files.fds[i]);
		o->files.fds[i] = -1;
	}
	return 0;
}

static int forget(struct bench_case *c, uint32_t i, struct error *err)
{
	const struct object *o = c->state;
	char path[PATH_BYTES];

	unlinkat(o->files.dir, path_of(o, i, false, path), 0);
	unlinkat(o->files.dir, path_of(o, i, true, path), 0);
	return 0;
}

/* Reads the whole file to ->back, and sets *len to its size unless `len` is NULL. */
static int fetch(const struct object *o, const char *path, size_t *len, struct error *err)
{
	int fd = openat(o->files.dir, path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t n;
	int ret;

	if (fd < 0)
		return place_failed(err, "open");
	n = place_read(fd, o->back, o->bytes, 0, err);
	ret = n < 0 ? (int)n : 0;
	if (!ret && len && fstat(fd, &st))
		ret = place_failed(err, "stat");
	if (close(fd) && !ret)
		ret = place_failed(err, "close");
	if (!ret && len)
		*len = (size_t)st.st_size;
	return ret;
}

static int read_back(struct bench_case *c, uint32_t i, size_t *len, struct error *err)
{
	const struct object *o = c->state;
	char path[PATH_BYTES];

	return fetch(o, path_of(o, i, o->files.renamed, path), len, err);
}

static int once(struct bench_case *c, uint32_t i, struct error *err)
{
	struct object *o = c->state;
	char path[PATH_BYTES], to[PATH_BYTES];
	int dir = o->files.dir;
	ssize_t n;

	switch (o->op) {
	case STORAGE_CREATE:
		return create_file(o, i, false, err);
	case STORAGE_OPEN:
		o->files.fds[i] = openat(dir, path_of(o, 0, false, path), O_RDWR | O_CLOEXEC);
		return o->files.fds[i] < 0 ? place_failed(err, "open") : 0;
	case STORAGE_READ:
		n = place_read(o->files.fds[0], o->back, o->bytes, 0, err);
		return n < 0 ? (int)n : 0;
	case STORAGE_WRITE:
		if (place_write(o->files.fds[0], o->data, o->bytes, 0, err))
			return err->code;
		return sync_it(o, o->files.fds[0], err);
	case STORAGE_RENAME:
		if (renameat(dir, path_of(o, 0, o->files.renamed, path), dir,
			     path_of(o, 0, !o->files.renamed, to)))
			return place_failed(err, "rename");
		o->files.renamed = !o->files.renamed;
		return sync_it(o, dir, err);
	case STORAGE_TRUNCATE:
		if (ftruncate(o->files.fds[i], (off_t)(o->bytes / 2)))
			return place_failed(err, "truncate");
		return sync_it(o, o->files.fds[i], err);
	case STORAGE_DELETE:
		if (unlinkat(dir, path_of(o, i, false, path), 0))
			return place_failed(err, "delete");
		return sync_it(o, dir, err);
	case STORAGE_OPEN_READ_CLOSE:
	case STORAGE_OPS:
		break;
	}
	return fetch(o, path_of(o, 0, false, path), NULL, err);
}

static void file_close(struct bench_case *c)
{
	const struct object *o = c->state;

	shut(c, NULL);
	if (o->files.dir >= 0)
		close(o->files.dir);
}

static int file_open(struct bench_case *c, struct error *err)
{
	struct object *o = c->state;

	memset(o->files.fds, -1, sizeof(o->files.fds));
	o->files.dir = place_open(err);
	if (o->files.dir < 0)
		return o->files.dir;
	for (uint32_t i = 0; i < OBJECTS_MAX; i++)
		forget(c, i, err);
	o->made = 1;
	return create_file(o, 0, true, err);
}

#define FILES                                                                          \
	.made_max = OBJECTS_MAX, .open = file_open, .close = file_close, .once = once, \
	.create = create, .forget = forget, .shut = shut, .read_back = read_back

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
