/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `afalg` for ciphers, AEADs and HMACs: the kernel's crypto over a raw AF_ALG
 * socket (Linux, Documentation/crypto/userspace-if.rst).
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_alg.h>

#include "afalg.h"
#include "keyed.h"

#ifndef SOL_ALG
#define SOL_ALG 279
#endif

/*
 * What one request holds at least with the default socket buffers (208 KiB);
 * a message of XTS or of an AEAD has to be one request.
 */
enum { REQUEST_MAX = 128 << 10 };

struct afalg {
	struct keyed head;
	const struct algorithm *alg; /* of the sockets; NULL: none */
	int bound;                   /* the algorithm's socket */
	int op;                      /* accept()ed from it: one operation */
	size_t piece; /* bytes of one send() of a message in pieces */
};

static void drop(struct afalg *s)
{
	if (s->op >= 0)
		close(s->op);
	if (s->bound >= 0)
		close(s->bound);
	s->op = s->bound = -1;
	s->alg = NULL;
}

static void afalg_close(struct keyed *k)
{
	struct afalg *s = (struct afalg *)k;

	if (!s)
		return;
	drop(s);
	keyed_memory_free(k);
	free(s);
}

static int afalg_open(struct keyed **k, size_t size, struct error *err)
{
	struct afalg *s;
	int fd = afalg_bind("hash", "sha1", err);
	int ret;

	*k = NULL;
	if (fd >= 0)
		close(fd);
	else if (!err || !err->skip ||
		 strcmp(err->skip, "unsupported-algorithm"))
		return fd;
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->bound = s->op = -1;
	s->piece = afalg_send_max();
	ret = keyed_memory(&s->head, size, err);
	if (ret)
		afalg_close(&s->head);
	else
		*k = &s->head;
	return ret;
}

static int prepare(struct afalg *s, const struct keyed_job *job,
		   struct error *err)
{
	const char *type;
	int fd;

	switch ((enum alg_class)job->alg->class) {
	case ALG_MAC:
		type = "hash";
		break;
	case ALG_CIPHER:
		type = "skcipher";
		break;
	case ALG_AEAD:
		type = "aead";
		break;
	case ALG_DIGEST:
	default:
		return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
				  "%s has no key", job->alg->title);
	}
	drop(s);
	fd = afalg_bind(type, job->alg->kernel, err);
	if (fd < 0)
		return fd;
	s->bound = fd;
	s->alg = job->alg;
	return 0;
}

/* A new operation; one that is under way is dropped with its socket. */
static int accept_operation(struct afalg *s, struct error *err)
{
	if (s->op >= 0)
		close(s->op);
	s->op = accept4(s->bound, NULL, NULL, SOCK_CLOEXEC);
	if (s->op < 0)
		return error_set(err, -errno,
				 "cannot begin an AF_ALG operation: %s",
				 strerror(errno));
	return 0;
}

static int set_key(struct afalg *s, const struct keyed_job *job,
		   struct error *err)
{
	/* The kernel takes no key while there is an operation. */
	if (s->op >= 0)
		close(s->op);
	s->op = -1;
	if (setsockopt(s->bound, SOL_ALG, ALG_SET_KEY, job->key,
		       job->alg->key_bytes)) {
		if (errno == EINVAL)
			return error_skip(err, -EOPNOTSUPP,
					  "unsupported-algorithm",
					  "the kernel takes no key of %u bytes "
					  "for \"%s\"",
					  job->alg->key_bytes,
					  job->alg->kernel);
		return error_set(err, -errno,
				 "the kernel does not take the key of %s: %s",
				 job->alg->title, strerror(errno));
	}
	if (job->alg->class == ALG_AEAD &&
	    setsockopt(s->bound, SOL_ALG, ALG_SET_AEAD_AUTHSIZE, NULL,
		       job->alg->out_bytes))
		return error_set(err, -errno,
				 "the kernel does not take the tag's length of "
				 "%s: %s",
				 job->alg->title, strerror(errno));
	return accept_operation(s, err);
}

static int afalg_set_up(struct keyed *k, const struct keyed_job *job,
			struct error *err)
{
	struct afalg *s = (struct afalg *)k;
	int ret = prepare(s, job, err);

	return ret ? ret : set_key(s, job, err);
}

static int not_taken(struct afalg *s, ssize_t sent, size_t len,
		     struct error *err)
{
	if (sent < 0)
		return error_set(err, -errno,
				 "the kernel does not take data for %s: %s",
				 s->alg->title, strerror(errno));
	return error_set(err, -EIO, "the kernel took %zd of %zu bytes for %s",
			 sent, len, s->alg->title);
}

/* The first piece of a cipher's message, with all that goes with it. */
static int send_first(struct afalg *s, const struct keyed_job *job,
		      const uint8_t *data, size_t len, bool more,
		      struct error *err)
{
	struct iovec iov = { .iov_base = (void *)data, .iov_len = len };
	union {
		struct cmsghdr align;
		uint8_t room[CMSG_SPACE(4) * 2 +
			     CMSG_SPACE(sizeof(struct af_alg_iv) +
					ALG_IV_MAX_BYTES)];
	} control;
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control };
	uint32_t op = job->decrypt ? ALG_OP_DECRYPT : ALG_OP_ENCRYPT;
	uint32_t none = 0;
	size_t used = CMSG_SPACE(4);
	struct cmsghdr *c;
	ssize_t sent;

	memset(&control, 0, sizeof(control));
	if (job->alg->iv_bytes)
		used += CMSG_SPACE(sizeof(struct af_alg_iv) +
				   job->alg->iv_bytes);
	if (job->alg->class == ALG_AEAD)
		used += CMSG_SPACE(4);
	msg.msg_controllen = used;

	c = CMSG_FIRSTHDR(&msg);
	c->cmsg_level = SOL_ALG;
	c->cmsg_type = ALG_SET_OP;
	c->cmsg_len = CMSG_LEN(4);
	memcpy(CMSG_DATA(c), &op, 4);
	if (job->alg->iv_bytes) {
		uint32_t iv_len = job->alg->iv_bytes;

		c = CMSG_NXTHDR(&msg, c);
		c->cmsg_level = SOL_ALG;
		c->cmsg_type = ALG_SET_IV;
		c->cmsg_len = CMSG_LEN(sizeof(struct af_alg_iv) + iv_len);
		memcpy(CMSG_DATA(c), &iv_len, 4);
		memcpy(CMSG_DATA(c) + 4, job->iv, iv_len);
	}
	if (job->alg->class == ALG_AEAD) {
		c = CMSG_NXTHDR(&msg, c);
		c->cmsg_level = SOL_ALG;
		c->cmsg_type = ALG_SET_AEAD_ASSOCLEN;
		c->cmsg_len = CMSG_LEN(4);
		memcpy(CMSG_DATA(c), &none, 4);
	}
	do
		sent = sendmsg(s->op, &msg, more ? MSG_MORE : 0);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)len ? 0 : not_taken(s, sent, len, err);
}

static int send_more(struct afalg *s, const uint8_t *data, size_t len,
		     bool more, struct error *err)
{
	ssize_t sent;

	do
		sent = send(s->op, data, len, more ? MSG_MORE : 0);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)len ? 0 : not_taken(s, sent, len, err);
}

static int receive(struct afalg *s, uint8_t *data, size_t len,
		   struct error *err)
{
	do {
		ssize_t got = read(s->op, data, len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EBADMSG)
			return error_set(err, -EBADMSG,
					 "the tag of %s is wrong",
					 s->alg->title);
		if (got < 0)
			return error_set(err, -errno,
					 "the kernel returns no result of %s: "
					 "%s",
					 s->alg->title, strerror(errno));
		if (!got && len)
			return error_set(err, -EIO,
					 "the kernel's result of %s lacks %zu "
					 "bytes",
					 s->alg->title, len);
		data += got;
		len -= (size_t)got;
	} while (len);
	return 0;
}

static bool in_one_request(const struct algorithm *alg)
{
	return alg->class == ALG_AEAD || !strcmp(alg->kernel, "xts(aes)");
}

static int cipher(struct afalg *s, const struct keyed_job *job,
		  struct error *err)
{
	size_t piece = in_one_request(job->alg) ? job->len : s->piece;
	int ret = 0;

	if (job->alg->class == ALG_AEAD) {
		ret = send_first(s, job, s->head.in, job->len, false, err);
		return ret ? ret :
			     receive(s, s->head.out, keyed_result_len(job),
				     err);
	}
	for (size_t at = 0, n; !ret && at < job->len; at += n) {
		bool more;

		n = job->len - at < piece ? job->len - at : piece;
		more = at + n < job->len;
		ret = at ? send_more(s, s->head.in + at, n, more, err) :
			   send_first(s, job, s->head.in, n, more, err);
		if (!ret)
			ret = receive(s, s->head.out + at, n, err);
	}
	return ret;
}

static int mac(struct afalg *s, const struct keyed_job *job, struct error *err)
{
	size_t at = 0, n;
	int ret;

	do {
		n = job->len - at < s->piece ? job->len - at : s->piece;
		ret = send_more(s, s->head.in + at, n, at + n < job->len, err);
		at += n;
	} while (!ret && at < job->len);
	return ret ? ret : receive(s, s->head.out, keyed_result_len(job), err);
}

static int afalg_message(struct keyed *k, const struct keyed_job *job,
			 uint32_t repeat, struct error *err)
{
	struct afalg *s = (struct afalg *)k;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < repeat; i++)
		ret = job->alg->class == ALG_MAC ? mac(s, job, err) :
						   cipher(s, job, err);
	/* What is left in the operation must not get into the next message. */
	if (ret)
		accept_operation(s, NULL);
	return ret;
}

static size_t afalg_len_max(const struct keyed *k, const struct keyed_job *job)
{
	(void)k;
	return in_one_request(job->alg) ? REQUEST_MAX : SIZE_MAX;
}

/* IV and direction go with the data. */
static int no_step(enum keyed_step step, struct error *err)
{
	return step != KEYED_SET_IV ?
		       0 :
		       error_skip(err, -EOPNOTSUPP, "no-step",
				  "AF_ALG takes the IV with the first data: "
				  "there is no such call");
}

static int afalg_arrange(struct keyed *k, const struct keyed_job *job,
			 enum keyed_step step, struct error *err)
{
	(void)k;
	(void)job;
	return no_step(step, err);
}

static int afalg_step(struct keyed *k, const struct keyed_job *job,
		      enum keyed_step step, struct error *err)
{
	struct afalg *s = (struct afalg *)k;

	switch (step) {
	case KEYED_PREPARE:
		return prepare(s, job, err);
	case KEYED_SET_KEY:
		return set_key(s, job, err);
	case KEYED_CIPHER_BUFFER:
		return cipher(s, job, err);
	case KEYED_SET_IV:
		break;
	}
	return no_step(step, err);
}

extern const struct keyed_backend keyed_afalg;

const struct keyed_backend keyed_afalg = {
	.name = "afalg",
	.open = afalg_open,
	.close = afalg_close,
	.set_up = afalg_set_up,
	.message = afalg_message,
	.len_max = afalg_len_max,
	.arrange = afalg_arrange,
	.step = afalg_step,
};
