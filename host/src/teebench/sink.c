/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sink.h"

static const char *where(const struct sink *sink)
{
	return sink->partial ? sink->partial : "standard output";
}

static int fail(struct sink *sink, int code, const char *what, struct error *err)
{
	sink->code = -code;
	error_set(err, -code, "cannot %s %s: %s", what, where(sink), strerror(code));
	if (code == ENOSPC || code == EDQUOT)
		error_hint(err, NULL, "make room, or write elsewhere with --output");
	return -code;
}

int sink_open(struct sink *sink, const char *path, struct error *err)
{
	struct stat st;

	memset(sink, 0, sizeof(*sink));
	sink->fd = STDOUT_FILENO;
	if (path) {
		/* A device or a pipe is written to directly, without FILE.partial. */
		bool special = !stat(path, &st) && !S_ISREG(st.st_mode);

		sink->fd = -1;
		sink->path = strdup(path);
		if (!sink->path ||
		    asprintf(&sink->partial, "%s%s", path, special ? "" : ".partial") < 0) {
			sink->partial = NULL;
			return fail(sink, ENOMEM, "open", err);
		}
		sink->fd = open(sink->partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (sink->fd < 0)
			return fail(sink, errno, "create", err);
		sink->regular = !special;
	}
	if (fstat(sink->fd, &st))
		return fail(sink, errno, "write to", err);
	return 0;
}

static int write_all(struct sink *sink, const char *text, size_t len, struct error *err)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(sink->fd, text + done, len - done);
		int code = errno;

		if (n < 0 && code == EINTR)
			continue;
		if (n < 0) {
			/* An incomplete line is cut off: it could be taken for a whole one. */
			if (sink->regular && ftruncate(sink->fd, sink->good))
				code = errno;
			return fail(sink, code, "write to", err);
		}
		done += (size_t)n;
	}
	sink->good += (off_t)len;
	return 0;
}

int sink_record(struct sink *sink, struct json *record, struct error *err)
{
	int ret = 0;

	if (sink->code)
		return error_set(err, sink->code, "cannot write to %s: %s", where(sink),
				 strerror(-sink->code));
	if (record->failed || !record->text)
		return fail(sink, ENOMEM, "make a record for", err);
	/* The newline replaces the terminating NUL until the record is reset below. */
	record->text[record->len++] = '\n';
	sink->held.comma = false;
	if (sink->hold)
		json_embed(&sink->held, NULL, record);
	else
		ret = write_all(sink, record->text, record->len, err);
	if (sink->held.failed)
		ret = fail(sink, ENOMEM, "keep records for", err);
	json_reset(record);
	return ret;
}

int sink_release(struct sink *sink, struct error *err)
{
	int ret = 0;

	sink->hold = false;
	if (!sink->code && sink->held.len)
		ret = write_all(sink, sink->held.text, sink->held.len, err);
	sink->held.len = 0;
	return ret;
}

int sink_close(struct sink *sink, struct error *err)
{
	int ret = sink->code;

	if (sink->path && sink->fd >= 0) {
		if (!ret && sink->regular && fsync(sink->fd))
			ret = fail(sink, errno, "write to", err);
		if (close(sink->fd) && !ret)
			ret = fail(sink, errno, "write to", err);
		if (!ret && sink->regular && rename(sink->partial, sink->path))
			ret = fail(sink, errno, "give its name to", err);
	}
	free(sink->path);
	free(sink->partial);
	json_free(&sink->held);
	memset(sink, 0, sizeof(*sink));
	sink->fd = -1;
	return ret;
}
