/* SPDX-License-Identifier: BSD-2-Clause */
#include <unistd.h>

#include <linux/if_alg.h>

#include "afalg.h"

static int afalg_socket(struct error *err)
{
	int fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		return fd;
	if (errno == EAFNOSUPPORT)
		return error_skip(err, -EAFNOSUPPORT, "no-afalg",
				  "the kernel has no AF_ALG sockets: %s\n"
				  "modprobe af_alg algif_hash, or build the "
				  "kernel with CONFIG_CRYPTO_USER_API_HASH",
				  strerror(EAFNOSUPPORT));
	if (errno == EPERM || errno == EACCES)
		return error_skip(err, -EPERM, "no-afalg",
				  "AF_ALG sockets are forbidden here: %s\n"
				  "a seccomp filter or security module denies them (containers and "
				  "systemd's RestrictAddressFamilies do)",
				  strerror(EPERM));
	return error_errno(err, "cannot make an AF_ALG socket");
}

/* Fills in the error of a failed bind(), according to errno. */
static int bind_failed(const char *type, const char *name, struct error *err)
{
	if (errno == ENOENT)
		return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
				  "the kernel offers no %s \"%s\" over AF_ALG: %s\nthe algorithm's "
				  "module or algif_%s is not loaded or not built, or the kernel "
				  "restricts AF_ALG (sysctl crypto.af_alg_restrict)",
				  type, name, strerror(ENOENT), type);
	if (errno == EACCES || errno == EPERM)
		return error_skip(err, -EPERM, "no-afalg",
				  "binding AF_ALG to \"%s\" is forbidden: %s\n"
				  "a security module or crypto.af_alg_restrict denies it",
				  name, strerror(errno));
	return error_errno(err, "cannot bind an AF_ALG socket to %s \"%s\"", type, name);
}

int afalg_probe(struct error *err)
{
	int fd = afalg_socket(err);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int afalg_bind(struct afalg *s, const char *type, const char *name, const char *title,
	       struct error *err)
{
	struct sockaddr_alg sa = { .salg_family = AF_ALG };
	long page = sysconf(_SC_PAGESIZE);
	int fd, ret;

	*s = (struct afalg){
		.bound = -1,
		.op = -1,
		/* the kernel's ALG_MAX_PAGES; our buffers are page-aligned */
		.piece = 16 * (page > 0 ? (size_t)page : 4096),
		.title = title,
	};
	if (strlen(type) >= sizeof(sa.salg_type) || strlen(name) >= sizeof(sa.salg_name))
		return error_set(err, -EINVAL, "\"%s\" is too long a name for AF_ALG", name);
	memcpy(sa.salg_type, type, strlen(type));
	memcpy(sa.salg_name, name, strlen(name));
	fd = afalg_socket(err);
	if (fd < 0)
		return fd;
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa))) {
		ret = bind_failed(type, name, err);
		close(fd);
		return ret;
	}
	s->bound = fd;
	return 0;
}

static void drop_operation(struct afalg *s)
{
	if (s->op >= 0)
		close(s->op);
	s->op = -1;
}

int afalg_set_key(struct afalg *s, const void *key, size_t len, struct error *err)
{
	/* The kernel refuses a key while an operation is open. */
	drop_operation(s);
	if (!setsockopt(s->bound, SOL_ALG, ALG_SET_KEY, key, (socklen_t)len))
		return 0;
	if (errno == EINVAL)
		return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
				  "the kernel takes no key of %zu bytes for %s", len, s->title);
	return error_errno(err, "the kernel does not take the key of %s", s->title);
}

int afalg_accept(struct afalg *s, struct error *err)
{
	drop_operation(s);
	s->op = accept4(s->bound, NULL, NULL, SOCK_CLOEXEC);
	return s->op < 0 ? error_errno(err, "cannot begin an AF_ALG operation") : 0;
}

void afalg_close(struct afalg *s)
{
	if (!s->title)
		return;
	drop_operation(s);
	if (s->bound >= 0)
		close(s->bound);
	*s = (struct afalg){ .bound = -1, .op = -1 };
}

int afalg_not_taken(const struct afalg *s, ssize_t sent, size_t len, struct error *err)
{
	if (sent < 0)
		return error_errno(err, "the kernel does not take data for %s", s->title);
	return error_set(err, -EIO, "the kernel took %zd of %zu bytes for %s", sent, len, s->title);
}

int afalg_send(const struct afalg *s, const uint8_t *data, size_t len, bool more, struct error *err)
{
	do {
		size_t n = len < s->piece ? len : s->piece;
		int flags = more || n < len ? MSG_MORE : 0;
		ssize_t sent = send(s->op, data, n, flags);

		if (sent < 0 && errno == EINTR)
			continue;
		/* If only a part of the last piece was taken, the message has already ended. */
		if (sent < 0 || ((size_t)sent != n && !flags))
			return afalg_not_taken(s, sent, n, err);
		data += sent;
		len -= (size_t)sent;
	} while (len);
	return 0;
}

int afalg_receive(const struct afalg *s, uint8_t *data, size_t len, struct error *err)
{
	do {
		ssize_t got = read(s->op, data, len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EBADMSG)
			return error_set(err, -EBADMSG, "the tag of %s is wrong", s->title);
		if (got < 0)
			return error_errno(err, "the kernel returns no result of %s", s->title);
		if (!got && len)
			return error_set(err, -EIO, "the kernel's result of %s lacks %zu bytes",
					 s->title, len);
		data += got;
		len -= (size_t)got;
	} while (len);
	return 0;
}
