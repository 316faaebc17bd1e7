/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file/OP/BACKEND/BYTES: a file is read and hashed (sha1, sha256), or read and
 * encrypted or decrypted into another (aes-128-cbc-enc, aes-128-cbc-dec), in
 * pieces of 1 MiB, opening and closing included. The files lie in the kernel's
 * page cache; teehash is for cold ones and for reading while hashing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "keyed_case.h"
#include "known_answer.h"
#include "listing.h"
#include "place.h"
#include "stop.h"
#include "workload.h"

enum { PIECE = 1 << 20, BYTES_MAX = 1 << 30, NAME_BYTES = 64 };

static const struct op {
	const char *name, *algorithm;
	bool cipher, decrypt;
} ops[] = {
	{ "sha1", "sha1", false, false },
	{ "sha256", "sha256", false, false },
	{ "aes-128-cbc-enc", "aes-128-cbc", true, false },
	{ "aes-128-cbc-dec", "aes-128-cbc", true, true },
};

enum { OPS = sizeof(ops) / sizeof(*ops) };

struct file {
	const struct op *op;
	const struct algorithm *alg;
	size_t bytes;
	int dir;
	char from[NAME_BYTES], to[NAME_BYTES];
	/* to hash */
	const struct backend *backend;
	struct session *session;
	const struct buffer *buffer;
	uint8_t out[ALG_DIGEST_MAX_BYTES], want[ALG_DIGEST_MAX_BYTES];
	/* to encrypt: k knows session, key and IV */
	struct keyed_case *k;
	uint8_t chain[ALG_IV_MAX_BYTES]; /* the IV of the next piece */
	char what[64];
};

static const struct op *op_by_name(const char *name)
{
	for (size_t i = 0; i < OPS; i++)
		if (!strcmp(ops[i].name, name))
			return &ops[i];
	return NULL;
}

static int file_parse(struct bench_case *c, struct pool *pool,
		      struct error *err)
{
	const struct op *op = op_by_name(c->algorithm_name);
	uint64_t bytes;
	int ret;

	if (!op)
		return error_set(err, -EINVAL,
				 "there is nothing \"%s\" to be done with a "
				 "file (sha1, sha256, aes-128-cbc-enc, "
				 "aes-128-cbc-dec)",
				 c->algorithm_name);
	ret = case_need_backend(c, err);
	if (!ret)
		ret = case_number(c->parameters, "the number of bytes",
				  BYTES_MAX, &bytes, err);
	if (ret)
		return ret;
	c->algorithm = algorithm_by_name(op->algorithm);
	c->bytes = (int64_t)bytes;
	if (!op->cipher)
		return pool_share_reserve(pool, &c->backend->summary, PIECE,
					  err);
	if (!bytes || bytes % c->algorithm->block_bytes)
		return error_set(err, -EINVAL,
				 "a file for %s has a multiple of %u bytes",
				 c->algorithm->title,
				 c->algorithm->block_bytes);
	return keyed_case_reserve(pool, c->backend_name, PIECE, err);
}

static int failed(struct error *err, const struct file *f, const char *what)
{
	int code = -errno;

	return error_set(err, code, "cannot %s a file of %zu bytes in %s: %s",
			 what, f->bytes, place_directory(), strerror(-code));
}

/* The bytes of a piece, of fewer at the end. */
static int read_piece(const struct file *f, int fd, uint8_t *data, size_t len,
		      struct error *err)
{
	while (len) {
		ssize_t n = read(fd, data, len < PIECE ? len : PIECE);

		if (n < 0)
			return failed(err, f, "read");
		if (!n)
			return error_set(err, -EIO,
					 "the file has become shorter");
		data += n;
		len -= (size_t)n;
		if (len && stop_check(err))
			return -ECANCELED;
	}
	return 0;
}

static int write_piece(const struct file *f, int fd, const uint8_t *data,
		       size_t len, struct error *err)
{
	while (len) {
		ssize_t n = write(fd, data, len < PIECE ? len : PIECE);

		if (n < 0)
			return failed(err, f, "write");
		data += n;
		len -= (size_t)n;
		if (len && stop_check(err))
			return -ECANCELED;
	}
	return 0;
}

static int hash(struct file *f, int from, struct error *err)
{
	const struct backend *b = f->backend;
	size_t at = 0, n = 0;
	int ret = b->digest_init(f->session, f->alg, err);

	for (; !ret && at < f->bytes; at += n) {
		ret = stop_check(err);
		if (ret)
			return ret;
		n = f->bytes - at < PIECE ? f->bytes - at : PIECE;
		ret = read_piece(f, from, f->buffer->data, n, err);
		if (!ret)
			ret = b->digest_update(f->session, f->buffer, 0, n,
					       err);
	}
	return ret ? ret : b->digest_final(f->session, NULL, 0, 0, f->out, err);
}

/*
 * CBC's own chain goes on from piece to piece: the next IV is the last block
 * of ciphertext. `share` has the key; job its direction.
 */
static int crypt_pieces(struct file *f, const struct keyed_share *share,
			const struct keyed_job *job, int from, int to,
			struct error *err)
{
	struct keyed_job piece = *job;
	struct keyed *k = share->k;
	int ret = 0;

	memcpy(f->chain, job->iv, sizeof(f->chain));
	piece.iv = f->chain;
	for (size_t at = 0; !ret && at < f->bytes; at += piece.len) {
		const uint8_t *ciphertext = job->decrypt ? k->in : k->out;

		ret = stop_check(err);
		if (ret)
			return ret;
		piece.len = f->bytes - at < PIECE ? f->bytes - at : PIECE;
		ret = read_piece(f, from, k->in, piece.len, err);
		if (!ret)
			ret = share->backend->message(k, &piece, 1, err);
		if (!ret)
			ret = write_piece(f, to, k->out, piece.len, err);
		memcpy(f->chain, ciphertext + piece.len - job->alg->iv_bytes,
		       job->alg->iv_bytes);
	}
	return ret;
}

static int open_from(const struct file *f, const char *name, struct error *err)
{
	int fd = openat(f->dir, name, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? failed(err, f, "open") : fd;
}

static int open_to(const struct file *f, const char *name, struct error *err)
{
	int fd = openat(f->dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			0600);

	return fd < 0 ? failed(err, f, "create") : fd;
}

static int crypt_files(struct file *f, const struct keyed_share *share,
		       const struct keyed_job *job, const char *from_name,
		       const char *to_name, struct error *err)
{
	int from = open_from(f, from_name, err);
	int to, ret;

	if (from < 0)
		return from;
	to = open_to(f, to_name, err);
	ret = to < 0 ? to : crypt_pieces(f, share, job, from, to, err);
	if (to >= 0 && close(to) && !ret)
		ret = failed(err, f, "close");
	close(from);
	return ret;
}

static int make_file(const struct file *f, const char *name, struct error *err)
{
	uint8_t *message = malloc(f->bytes ? f->bytes : 1);
	int fd, ret;

	if (!message)
		return error_set(err, -ENOMEM, "out of memory");
	pool_message(message, f->bytes);
	fd = open_to(f, name, err);
	ret = fd < 0 ? fd : write_piece(f, fd, message, f->bytes, err);
	if (fd >= 0 && close(fd) && !ret)
		ret = failed(err, f, "close");
	free(message);
	return ret;
}

/* What is to be decrypted was encrypted by the same backend; verify() has
 * another look at it. */
static int make_ciphertext(struct file *f, struct error *err)
{
	struct keyed_job job = f->k->job;
	struct keyed_share *share = f->k->share;
	int ret = make_file(f, f->to, err);

	job.decrypt = false;
	keyed_case_disown(f->k);
	if (!ret)
		ret = share->backend->set_up(share->k, &job, err);
	return ret ? ret : crypt_files(f, share, &job, f->to, f->from, err);
}

/*
 * A backend's session with a buffer for pieces, which cases share: the TEE's
 * memory for buffers is small.
 */
struct desk {
	const struct backend *backend;
	struct session *session;
	struct buffer buffer;
};

static void close_desk(void *value)
{
	struct desk *desk = value;

	if (desk->session) {
		desk->backend->buffer_free(desk->session, &desk->buffer);
		desk->backend->close(desk->session);
	}
	free(desk);
}

/* kind: the address of a backend's .summary, which nobody else uses so */
static int open_desk(const void *kind, size_t size, void **value,
		     struct error *err)
{
	struct desk *desk = calloc(1, sizeof(*desk));
	int ret;

	(void)size;
	*value = NULL;
	if (!desk)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; backends[i]; i++)
		if (kind == &backends[i]->summary)
			desk->backend = backends[i];
	ret = desk->backend->probe(err);
	if (!ret)
		ret = desk->backend->open(&desk->session, err);
	if (ret) {
		free(desk);
		return ret;
	}
	ret = desk->backend->buffer_alloc(desk->session, PIECE, &desk->buffer,
					  err);
	if (ret) {
		desk->backend->close(desk->session);
		free(desk);
		return ret;
	}
	*value = desk;
	return 0;
}

static int prepare_hash(struct file *f, struct bench_case *c, struct pool *pool,
			struct error *err)
{
	struct desk *desk;
	void *value;
	int ret;

	if (!backend_by_name(c->backend_name))
		return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
				  "backend %s hashes nothing", c->backend_name);
	ret = pool_share(pool, &c->backend->summary, open_desk, close_desk,
			 &value, err);
	if (ret)
		return ret;
	desk = value;
	f->backend = c->backend;
	f->session = desk->session;
	f->buffer = &desk->buffer;
	ret = c->backend->supports(f->session, f->alg, err);
	return ret ? ret : make_file(f, f->from, err);
}

static int file_prepare(struct bench_case *c, struct pool *pool,
			struct error *err)
{
	struct file *f = calloc(1, sizeof(*f));
	int ret;

	if (!f)
		return error_set(err, -ENOMEM, "out of memory");
	c->state = f;
	f->op = op_by_name(c->algorithm_name);
	f->alg = c->algorithm;
	f->bytes = (size_t)c->bytes;
	snprintf(f->what, sizeof(f->what), "a file of %zu bytes by backend %s",
		 f->bytes, c->backend_name);
	snprintf(f->from, sizeof(f->from), "teemark-%s-%s-%zu", f->op->name,
		 c->backend_name, f->bytes);
	snprintf(f->to, sizeof(f->to), "%.56s.out", f->from);
	f->dir = -1;
	ret = place_probe(err);
	if (ret)
		return ret;
	f->dir = open(place_directory(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->dir < 0)
		return failed(err, f, "reach the folder of");
	if (!f->op->cipher)
		return prepare_hash(f, c, pool, err);
	ret = keyed_case_open(&f->k, pool, c->backend_name, f->alg,
			      f->op->decrypt,
			      f->bytes < PIECE ? f->bytes : PIECE, err);
	if (!ret)
		ret = f->op->decrypt ? make_ciphertext(f, err) :
				       make_file(f, f->from, err);
	return ret;
}

/* Messages of others were in the session's buffers since. */
static int file_ready(void *state, uint32_t loops, uint32_t repeat,
		      struct error *err)
{
	struct file *f = state;

	(void)loops;
	(void)repeat;
	if (!f->k)
		return 0;
	f->k->share->owner = NULL;
	return f->k->share->backend->set_up(f->k->share->k, &f->k->job, err);
}

static int file_run(void *state, uint32_t loops, uint32_t repeat,
		    struct error *err)
{
	struct file *f = state;
	int ret = 0;

	(void)repeat;
	for (uint32_t i = 0; !ret && i < loops; i++) {
		int from;

		if (f->k) {
			ret = crypt_files(f, f->k->share, &f->k->job, f->from,
					  f->to, err);
			continue;
		}
		from = open_from(f, f->from, err);
		ret = from < 0 ? from : hash(f, from, err);
		if (from >= 0)
			close(from);
	}
	return ret;
}

/* By portable C, in one piece. */
static int digest_of_file(const struct file *f, const char *name,
			  const struct algorithm *alg, uint8_t *out,
			  struct error *err)
{
	uint8_t *data = malloc(f->bytes + 1);
	int fd, ret;

	if (!data)
		return error_set(err, -ENOMEM, "out of memory");
	fd = open_from(f, name, err);
	ret = fd < 0 ? fd : read_piece(f, fd, data, f->bytes, err);
	if (!ret && read(fd, data + f->bytes, 1) != 0)
		ret = error_set(err, -EBADMSG, "%s is too long", f->what);
	if (!ret)
		ret = known_answer_by_c(alg, data, f->bytes, out, err);
	if (fd >= 0)
		close(fd);
	free(data);
	return ret;
}

static int file_check(void *state, struct error *err)
{
	const struct algorithm *sha256 = algorithm_by_name("sha256");
	struct file *f = state;
	int ret;

	if (!f->k) {
		ret = digest_differs(f->alg, f->out, f->want, f->what, err);
		/* A run that writes no digest must not pass by another. */
		memset(f->out, 0, sizeof(f->out));
		return ret;
	}
	ret = digest_of_file(f, f->to, sha256, f->out, err);
	if (!ret)
		ret = digest_differs(sha256, f->out, f->want, f->what, err);
	unlinkat(f->dir, f->to, 0);
	return ret;
}

/* Is what lies in `name` the message, once another backend decrypted it? */
static int understood(struct file *f, const char *name, struct error *err)
{
	const struct algorithm *sha256 = algorithm_by_name("sha256");
	struct keyed_job job = f->k->job;
	uint8_t got[ALG_DIGEST_MAX_BYTES], want[ALG_DIGEST_MAX_BYTES];
	uint8_t *message = malloc(f->bytes);
	struct keyed_share *other;
	char plain[NAME_BYTES + 8];
	int ret;

	if (!message)
		return error_set(err, -ENOMEM, "out of memory");
	pool_message(message, f->bytes);
	ret = known_answer_by_c(sha256, message, f->bytes, want, err);
	free(message);
	job.decrypt = true;
	other = keyed_case_other(f->k, &job);
	if (ret || !other)
		return ret;
	f->k->computed_by = other->backend->name;
	snprintf(plain, sizeof(plain), "%s.plain", f->from);
	ret = crypt_files(f, other, &job, name, plain, err);
	if (!ret)
		ret = digest_of_file(f, plain, sha256, got, err);
	if (!ret)
		ret = digest_differs(sha256, got, want,
				     "what another backend decrypted", err);
	unlinkat(f->dir, plain, 0);
	return ret;
}

static int file_verify(void *state, struct error *err)
{
	const struct algorithm *sha256 = algorithm_by_name("sha256");
	struct file *f = state;
	int ret;

	if (!f->k) {
		ret = digest_of_file(f, f->from, f->alg, f->want, err);
		return ret ? ret : file_check(f, err);
	}
	/* The ciphertext, by another; then what must come of the message. */
	ret = understood(f, f->op->decrypt ? f->from : f->to, err);
	if (ret)
		return ret;
	if (f->op->decrypt) {
		uint8_t *message = malloc(f->bytes);

		if (!message)
			return error_set(err, -ENOMEM, "out of memory");
		pool_message(message, f->bytes);
		ret = known_answer_by_c(sha256, message, f->bytes, f->want,
					err);
		free(message);
	} else {
		ret = digest_of_file(f, f->to, sha256, f->want, err);
	}
	return ret ? ret : file_check(f, err);
}

static struct tee_session *file_ta(const void *state)
{
	const struct file *f = state;

	if (f->k)
		return keyed_case_ta(f->k);
	return f->backend->tee ? f->backend->tee(f->session) : NULL;
}

static void file_facts(const void *state, struct json *json)
{
	const struct file *f = state;

	place_put(f->dir, json);
	if (f->k)
		keyed_case_facts(f->k, json);
}

static void file_teardown(void *state)
{
	struct file *f = state;

	if (!f)
		return;
	keyed_case_free(f->k);
	if (f->dir >= 0) {
		unlinkat(f->dir, f->from, 0);
		unlinkat(f->dir, f->to, 0);
		close(f->dir);
	}
	free(f);
}

static void file_list(struct listing *listing, struct pool *pool)
{
	for (size_t b = 0; backends[b]; b++) {
		struct session *session;
		struct error opening = { 0 };

		pool_session(pool, backends[b], &session, &opening);
		for (size_t i = 0; i < OPS; i++) {
			struct error why = opening;

			if (ops[i].cipher &&
			    !keyed_backend_by_name(backends[b]->name))
				continue;
			if (session && !ops[i].cipher)
				backends[b]->supports(session,
						      algorithm_by_name(
							      ops[i].algorithm),
						      &why);
			listing_add(listing, ops[i].name, backends[b]->name,
				    &why);
		}
	}
}

const struct workload workload_file = {
	.name = "file",
	.summary = "a file hashed, or encrypted or decrypted into another",
	.parameters = "BYTES",
	.parse = file_parse,
	.prepare = file_prepare,
	.ready = file_ready,
	.run = file_run,
	.verify = file_verify,
	.check = file_check,
	.ta = file_ta,
	.facts = file_facts,
	.teardown = file_teardown,
	.list = file_list,
};
