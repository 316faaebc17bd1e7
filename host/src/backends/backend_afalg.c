/* SPDX-License-Identifier: BSD-2-Clause */
/* The backend `afalg` computes with the kernel's crypto API, over AF_ALG sockets. */
#include <stdlib.h>
#include <sys/random.h>

#include <linux/if_alg.h>

#include "afalg.h"
#include "backend.h"
#include "kernel_crypto.h"

enum {
	/*
	 * Longest message in bytes of XTS and AEADs, which must go in one request. A request can be
	 * at least this long with the default socket buffers (208 KiB).
	 */
	REQUEST_MAX = 128 << 10,
	RANDOM_MAX = 128, /* most random bytes that one read() gives */
};

struct session {
	struct afalg socket;
	const struct algorithm *alg; /* algorithm that the socket is bound to; NULL: none */
	bool sent;                   /* part of a message has been sent */
	const char *driver;          /* driver to bind to; NULL: the kernel chooses */
};

static void drop_algorithm(struct session *s)
{
	afalg_close(&s->socket);
	s->alg = NULL;
	s->sent = false;
}

/* Finds the kernel's type and name for an algorithm; NULL stands for random bytes. */
static int kernel_names(const struct algorithm *alg, const char **type, const char **name,
			struct error *err)
{
	static const char *const types[] = {
		[ALG_DIGEST] = "hash",
		[ALG_MAC] = "hash",
		[ALG_CIPHER] = "skcipher",
		[ALG_AEAD] = "aead",
	};

	*type = alg ? types[alg->class] : "rng";
	*name = alg ? alg->kernel : "stdrng";
	if (*name)
		return 0;
	return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
			  "no kernel name is known for %s", alg->title);
}

static int no_such_driver(const char *driver, const char *name, struct error *err)
{
	return error_skip(err, -EOPNOTSUPP, "no-driver",
			  "the kernel has no driver \"%s\" of %s\ngrep -A1 '^name.*%s' /proc/crypto "
			  "shows those there are; its module may not be loaded",
			  driver, name, name);
}

static int driver_of(const struct algorithm *alg, const char *driver, struct kernel_driver *found,
		     struct error *err)
{
	const struct kernel_driver *one;
	struct kernel_drivers all;
	const char *type, *name;
	int ret = kernel_names(alg, &type, &name, err);

	if (ret)
		return ret;
	if (!driver)
		return kernel_driver_bound(type, name, found, err);
	ret = kernel_drivers_read(&all, err);
	if (ret)
		return ret;
	one = kernel_driver_find(&all, name, driver);
	if (one)
		*found = *one;
	else
		ret = no_such_driver(driver, name, err);
	kernel_drivers_free(&all);
	return ret;
}

static int drivers_of(const struct algorithm *alg, struct kernel_drivers *found, struct error *err)
{
	const char *type, *name;
	int ret = kernel_names(alg, &type, &name, err);

	*found = (struct kernel_drivers){ 0 };
	return ret ? ret : kernel_drivers_of(type, name, found, err);
}

/*
 * Binds the socket to an algorithm (NULL: random bytes), or to s->driver. A driver of that name may
 * compute another algorithm, so the kernel's list of drivers is checked.
 */
static int bind_algorithm(struct session *s, const struct algorithm *alg, struct error *err)
{
	const char *type, *name, *title = alg ? alg->title : "stdrng";
	struct kernel_driver found;
	struct error why = { 0 };
	int ret = kernel_names(alg, &type, &name, err);

	drop_algorithm(s);
	if (ret)
		return ret;
	ret = afalg_bind(&s->socket, type, s->driver ? s->driver : name, title, &why);
	if (!ret && s->driver)
		ret = driver_of(alg, s->driver, &found, &why);
	else if (ret && s->driver && why.skip && !strcmp(why.skip, "unsupported-algorithm"))
		ret = no_such_driver(s->driver, name, &why);
	if (ret) {
		afalg_close(&s->socket);
		if (err)
			*err = why;
	}
	s->alg = ret ? NULL : alg;
	return ret;
}

/* Gets a socket for alg without a message under way: rebinds or reopens it if needed. */
static int use_digest(struct session *s, const struct algorithm *alg, struct error *err)
{
	int ret = 0;

	if (s->alg == alg && !s->sent)
		return 0;
	if (s->alg != alg)
		ret = bind_algorithm(s, alg, err);
	if (!ret) /* also replaces the operation of an abandoned message */
		ret = afalg_accept(&s->socket, err);
	if (ret)
		drop_algorithm(s);
	s->sent = false;
	return ret;
}

static int digest(struct session *s, const struct algorithm *alg, const struct buffer *in,
		  size_t len, uint8_t *out, uint32_t repeat, struct error *err)
{
	int ret = use_digest(s, alg, err);

	if (ret)
		return ret;
	s->sent = true; /* until the digest has been read */
	for (uint32_t i = 0; !ret && i < repeat; i++) {
		ret = afalg_send(&s->socket, in->data, len, false, err);
		if (!ret)
			ret = afalg_receive(&s->socket, out, alg->out_bytes, err);
	}
	s->sent = ret != 0;
	return ret;
}

static int digest_update(struct session *s, const struct buffer *in, size_t offset, size_t len,
			 struct error *err)
{
	if (!len)
		return 0;
	s->sent = true;
	return afalg_send(&s->socket, in->data + offset, len, true, err);
}

static int digest_final(struct session *s, const struct buffer *in, size_t offset, size_t len,
			uint8_t *out, struct error *err)
{
	int ret;

	s->sent = true;
	ret = afalg_send(&s->socket, in->data + offset, len, false, err);
	if (!ret)
		ret = afalg_receive(&s->socket, out, s->alg->out_bytes, err);
	s->sent = ret != 0;
	return ret;
}

static int set_key(struct session *s, const struct keyed_job *job, struct error *err)
{
	int ret = afalg_set_key(&s->socket, job->key, job->alg->key_bytes, err);

	if (!ret && job->alg->class == ALG_AEAD &&
	    setsockopt(s->socket.bound, SOL_ALG, ALG_SET_AEAD_AUTHSIZE, NULL, job->alg->out_bytes))
		ret = error_errno(err, "the kernel does not take the tag's length of %s",
				  job->alg->title);
	return ret ? ret : afalg_accept(&s->socket, err);
}

static int set_up(struct session *s, const struct keyed_job *job, struct error *err)
{
	int ret = bind_algorithm(s, job->alg, err);

	return ret ? ret : set_key(s, job, err);
}

/* Adds a control message: `number`, then len further bytes. */
static struct cmsghdr *add_control(struct msghdr *msg, struct cmsghdr *last, int type,
				   uint32_t number, const void *more, size_t len)
{
	struct cmsghdr *c;

	msg->msg_controllen += CMSG_SPACE(sizeof(number) + len);
	c = last ? CMSG_NXTHDR(msg, last) : CMSG_FIRSTHDR(msg);
	c->cmsg_level = SOL_ALG;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(sizeof(number) + len);
	memcpy(CMSG_DATA(c), &number, sizeof(number));
	if (len)
		memcpy(CMSG_DATA(c) + sizeof(number), more, len);
	return c;
}

/* Sends the first piece of a cipher's message, with direction, IV and AEAD parameters. */
static int send_first(struct session *s, const struct keyed_job *job, size_t len, bool more,
		      struct error *err)
{
	const struct algorithm *alg = job->alg;
	struct iovec iov = { .iov_base = job->in->data, .iov_len = len };
	union {
		struct cmsghdr align;
		uint8_t room[CMSG_SPACE(4) * 2 +
			     CMSG_SPACE(sizeof(struct af_alg_iv) + ALG_IV_MAX_BYTES)];
	} control = { .room = { 0 } };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control };
	struct cmsghdr *c;
	ssize_t sent;

	c = add_control(&msg, NULL, ALG_SET_OP, job->decrypt ? ALG_OP_DECRYPT : ALG_OP_ENCRYPT,
			NULL, 0);
	if (alg->iv_bytes)
		c = add_control(&msg, c, ALG_SET_IV, alg->iv_bytes, job->iv, alg->iv_bytes);
	if (alg->class == ALG_AEAD)
		add_control(&msg, c, ALG_SET_AEAD_ASSOCLEN, 0, NULL, 0);
	do
		sent = sendmsg(s->socket.op, &msg, more ? MSG_MORE : 0);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)len ? 0 : afalg_not_taken(&s->socket, sent, len, err);
}

static bool in_one_request(const struct algorithm *alg)
{
	return alg->class == ALG_AEAD || !strcmp(alg->kernel, "xts(aes)");
}

static int cipher(struct session *s, const struct keyed_job *job, struct error *err)
{
	const uint8_t *in = job->in->data;
	uint8_t *out = job->out->data;
	size_t piece = in_one_request(job->alg) ? job->len : s->socket.piece;
	int ret = 0;

	if (job->alg->class == ALG_AEAD) {
		ret = send_first(s, job, job->len, false, err);
		return ret ? ret : afalg_receive(&s->socket, out, keyed_result_len(job), err);
	}
	for (size_t at = 0, n; !ret && at < job->len; at += n) {
		bool more;

		n = job->len - at < piece ? job->len - at : piece;
		more = at + n < job->len;
		ret = at ? afalg_send(&s->socket, in + at, n, more, err) :
			   send_first(s, job, n, more, err);
		if (!ret)
			ret = afalg_receive(&s->socket, out + at, n, err);
	}
	return ret;
}

static int mac(struct session *s, const struct keyed_job *job, struct error *err)
{
	int ret = afalg_send(&s->socket, job->in->data, job->len, false, err);

	return ret ? ret : afalg_receive(&s->socket, job->out->data, job->alg->out_bytes, err);
}

static int message(struct session *s, const struct keyed_job *job, uint32_t repeat,
		   struct error *err)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < repeat; i++)
		ret = job->alg->class == ALG_MAC ? mac(s, job, err) : cipher(s, job, err);
	/* Drops the data left in the operation, so that none gets into the next message. */
	if (ret)
		afalg_accept(&s->socket, NULL);
	return ret;
}

static size_t len_max(const struct session *s, const struct keyed_job *job)
{
	return in_one_request(job->alg) ? REQUEST_MAX : SIZE_MAX;
}

static int step(struct session *s, const struct keyed_job *job, enum keyed_step which,
		struct error *err)
{
	if (which == KEYED_PREPARE)
		return bind_algorithm(s, job->alg, err);
	return which == KEYED_SET_KEY ? set_key(s, job, err) : cipher(s, job, err);
}

static int start_random(struct session *s, struct error *err)
{
	uint8_t seed[48]; /* the longest seed that a DRBG takes */
	int ret = bind_algorithm(s, NULL, err);

	if (!ret && getrandom(seed, sizeof(seed), 0) != sizeof(seed))
		ret = error_errno(err, "getrandom");
	if (!ret)
		ret = afalg_set_key(&s->socket, seed, sizeof(seed), err);
	return ret ? ret : afalg_accept(&s->socket, err);
}

static int open_session(struct session *s, const struct backend *self, enum backend_use use,
			struct error *err)
{
	if (self->driver && !strcmp(self->driver, DRIVER_ANY))
		return error_skip(err, -ENOENT, "no-driver",
				  "the kernel lists no driver of it in "
				  "/proc/crypto that AF_ALG can bind to");
	s->driver = self->driver;
	return use == USE_RANDOM ? start_random(s, err) : 0;
}

static int draw(struct session *s, const struct buffer *out, size_t len, uint32_t repeat,
		struct error *err)
{
	int ret = 0;

	for (uint32_t i = 0; i < repeat; i++)
		for (size_t at = 0, n; !ret && at < len; at += n) {
			n = len - at < RANDOM_MAX ? len - at : RANDOM_MAX;
			ret = afalg_receive(&s->socket, out->data + at, n, err);
		}
	return ret;
}

const struct backend backend_afalg = {
	.name = "afalg",
	.title = "kernel (AF_ALG)",
	.summary = "the kernel's crypto, over an AF_ALG socket",
	.may_offload = true,
	.driver_of = driver_of,
	.drivers_of = drivers_of,
	.probe = afalg_probe,
	.uses = 1u << USE_DIGESTS | 1u << USE_KEYS | 1u << USE_RANDOM,
	.session_bytes = sizeof(struct session),
	.open = open_session,
	.close = drop_algorithm,
	.digest = digest,
	.digest_init = use_digest,
	.digest_update = digest_update,
	.digest_final = digest_final,
	.set_up = set_up,
	.message = message,
	.len_max = len_max,
	.step = step,
	.no_step[KEYED_SET_IV] = "AF_ALG takes the IV with the first data: there is no such call",
	.random = draw,
};
