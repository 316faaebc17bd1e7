/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `afalg`: the kernel's crypto over a raw AF_ALG socket (Linux,
 * Documentation/crypto/userspace-if.rst). No libkcapi, so no netlink socket
 * is needed, and bind()'s own errors can be told apart.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_alg.h>

#include "afalg.h"
#include "backend.h"

#ifndef AF_ALG
#define AF_ALG 38
#endif

static int afalg_socket(struct error *err)
{
	int fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		return fd;
	switch (errno) {
	case EAFNOSUPPORT:
		error_skip(err, -EAFNOSUPPORT, "no-afalg",
			   "the kernel has no AF_ALG sockets: %s",
			   strerror(EAFNOSUPPORT));
		error_hint(err, "modprobe af_alg algif_hash, or build the "
				"kernel with CONFIG_CRYPTO_USER_API_HASH");
		return -EAFNOSUPPORT;
	case EPERM:
	case EACCES:
		error_skip(err, -EPERM, "no-afalg",
			   "AF_ALG sockets are forbidden here: %s",
			   strerror(EPERM));
		error_hint(err, "a seccomp filter or security module denies "
				"them (containers and systemd's "
				"RestrictAddressFamilies do)");
		return -EPERM;
	default:
		return error_set(err, -errno,
				 "cannot make an AF_ALG socket: "
				 "%s",
				 strerror(errno));
	}
}

static int bind_failed(int code, const char *type, const char *name,
		       struct error *err)
{
	switch (code) {
	case ENOENT:
		error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
			   "the kernel offers no %s \"%s\" over AF_ALG: %s",
			   type, name, strerror(code));
		error_hint(err,
			   "the algorithm's module or algif_%s is not "
			   "loaded or not built, or the kernel restricts "
			   "AF_ALG (sysctl crypto.af_alg_restrict)",
			   type);
		return -EOPNOTSUPP;
	case EACCES:
	case EPERM:
		error_skip(err, -EPERM, "no-afalg",
			   "binding AF_ALG to \"%s\" is forbidden: %s", name,
			   strerror(code));
		error_hint(err, "a security module or "
				"crypto.af_alg_restrict denies it");
		return -EPERM;
	case EBUSY:
		error_set(err, -EBUSY,
			  "the AF_ALG socket for \"%s\" is in "
			  "use: %s",
			  name, strerror(code));
		return -EBUSY;
	case EINVAL:
		error_set(err, -EINVAL,
			  "the kernel rejects the AF_ALG address "
			  "%s \"%s\": %s",
			  type, name, strerror(code));
		return -EINVAL;
	default:
		return error_set(err, -code,
				 "cannot bind an AF_ALG socket to "
				 "%s \"%s\": %s",
				 type, name, strerror(code));
	}
}

int afalg_bind(const char *type, const char *name, struct error *err)
{
	struct sockaddr_alg sa = { .salg_family = AF_ALG };
	int fd, code;

	if (strlen(type) >= sizeof(sa.salg_type) ||
	    strlen(name) >= sizeof(sa.salg_name))
		return error_set(err, -EINVAL,
				 "\"%s\" is too long a name for "
				 "AF_ALG",
				 name);
	memcpy(sa.salg_type, type, strlen(type));
	memcpy(sa.salg_name, name, strlen(name));
	fd = afalg_socket(err);
	if (fd < 0)
		return fd;
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa))) {
		code = errno;
		close(fd);
		return bind_failed(code, type, name, err);
	}
	return fd;
}

size_t afalg_send_max(void)
{
	long page = sysconf(_SC_PAGESIZE);

	/* ALG_MAX_PAGES of the kernel; our buffers begin at a page. */
	return 16 * (page > 0 ? (size_t)page : 4096);
}

struct session {
	const struct algorithm *alg; /* of the two sockets */
	int bound;                   /* the algorithm's socket */
	int op;                      /* accept()ed from it: one operation */
	bool begun;                  /* a message is under way in op */
	bool sent;                   /* and some of it was sent */
	size_t send_max;
};

static void drop_algorithm(struct session *s)
{
	if (s->op >= 0)
		close(s->op);
	if (s->bound >= 0)
		close(s->bound);
	s->op = s->bound = -1;
	s->alg = NULL;
	s->begun = s->sent = false;
}

/* Sockets for alg with no message under way: those at hand, or new ones. */
static int use_algorithm(struct session *s, const struct algorithm *alg,
			 struct error *err)
{
	if (s->alg == alg && !s->sent) {
		s->begun = false;
		return 0;
	}
	if (s->alg != alg) {
		int fd = -1;

		drop_algorithm(s);
		if (alg->class != ALG_DIGEST || !alg->kernel)
			return error_skip(err, -EOPNOTSUPP,
					  "unsupported-algorithm",
					  "no kernel name is known for %s",
					  alg->title);
		fd = afalg_bind("hash", alg->kernel, err);
		if (fd < 0)
			return fd;
		s->bound = fd;
	} else {
		close(s->op); /* a message was abandoned: a new operation */
	}
	s->begun = s->sent = false;
	s->op = accept4(s->bound, NULL, NULL, SOCK_CLOEXEC);
	if (s->op < 0) {
		int code = errno;

		drop_algorithm(s);
		return error_set(err, -code,
				 "cannot begin an AF_ALG "
				 "operation: %s",
				 strerror(code));
	}
	s->alg = alg;
	return 0;
}

/* Sends all of it; more: the message goes on after it. */
static int send_all(struct session *s, const uint8_t *data, size_t len,
		    bool more, struct error *err)
{
	do {
		size_t n = len < s->send_max ? len : s->send_max;
		int flags = more || n < len ? MSG_MORE : 0;
		ssize_t sent = send(s->op, data, n, flags);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return error_set(err, -errno,
					 "the kernel does not "
					 "take data for %s: %s",
					 s->alg->title, strerror(errno));
		/* A part of the last piece would have ended the message. */
		if ((size_t)sent != n && !(flags & MSG_MORE))
			return error_set(err, -EIO,
					 "the kernel took %zd of "
					 "the last %zu bytes for %s",
					 sent, n, s->alg->title);
		data += sent;
		len -= (size_t)sent;
	} while (len);
	return 0;
}

static int receive(struct session *s, uint8_t *out, struct error *err)
{
	ssize_t got;

	do
		got = read(s->op, out, s->alg->out_bytes);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return error_set(err, -errno,
				 "the kernel returns no %s "
				 "digest: %s",
				 s->alg->title, strerror(errno));
	if (got != s->alg->out_bytes)
		return error_set(err, -EIO,
				 "the kernel returned %zd bytes of "
				 "a %s digest of %u",
				 got, s->alg->title, s->alg->out_bytes);
	return 0;
}

static int afalg_probe(struct error *err)
{
	int fd = afalg_socket(err);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int afalg_open(struct session **session, struct error *err)
{
	struct session *s;
	int ret = afalg_probe(err);

	*session = NULL;
	if (ret)
		return ret;
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->bound = s->op = -1;
	s->send_max = afalg_send_max();
	*session = s;
	return 0;
}

static void afalg_close(struct session *s)
{
	if (!s)
		return;
	drop_algorithm(s);
	free(s);
}

static int afalg_supports(struct session *s, const struct algorithm *alg,
			  struct error *err)
{
	return use_algorithm(s, alg, err);
}

static int afalg_digest(struct session *s, const struct algorithm *alg,
			const struct buffer *in, size_t offset, size_t len,
			uint8_t *out, uint32_t repeat, struct error *err)
{
	int ret = use_algorithm(s, alg, err);

	for (uint32_t i = 0; !ret && i < repeat; i++) {
		s->sent = true; /* until the digest was fetched */
		ret = send_all(s, in->data + offset, len, false, err);
		if (!ret)
			ret = receive(s, out, err);
		s->sent = ret != 0;
	}
	return ret;
}

static int afalg_digest_init(struct session *s, const struct algorithm *alg,
			     struct error *err)
{
	int ret = use_algorithm(s, alg, err);

	s->begun = !ret;
	return ret;
}

static int afalg_digest_update(struct session *s, const struct buffer *in,
			       size_t offset, size_t len, struct error *err)
{
	if (!s->begun)
		return error_set(err, -EPROTO, "no message was begun");
	if (!len)
		return 0;
	s->sent = true;
	return send_all(s, in->data + offset, len, true, err);
}

static int afalg_digest_final(struct session *s, const struct buffer *in,
			      size_t offset, size_t len, uint8_t *out,
			      struct error *err)
{
	int ret;

	if (!s->begun)
		return error_set(err, -EPROTO, "no message was begun");
	s->begun = false;
	s->sent = true;
	ret = send_all(s, in && len ? in->data + offset : (uint8_t *)"",
		       in ? len : 0, false, err);
	if (!ret)
		ret = receive(s, out, err);
	s->sent = ret != 0;
	return ret;
}

extern const struct backend backend_afalg;

const struct backend backend_afalg = {
	.name = "afalg",
	.summary = "the kernel's crypto, over an AF_ALG socket",
	.probe = afalg_probe,
	.open = afalg_open,
	.close = afalg_close,
	.supports = afalg_supports,
	.buffer_alloc = buffer_alloc_plain,
	.buffer_free = buffer_free_plain,
	.digest = afalg_digest,
	.digest_init = afalg_digest_init,
	.digest_update = afalg_digest_update,
	.digest_final = afalg_digest_final,
};
