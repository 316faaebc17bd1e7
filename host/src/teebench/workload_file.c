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

#include "digest_case.h"
#include "keyed_case.h"
#include "known_answer.h"
#include "place.h"
#include "stop.h"

enum { PIECE = 1 << 20, NAME_BYTES = 64 };

/* The word after the last hyphen is the direction of what has one. */
static const char *const names[] = {
	"sha1", "sha256", "aes-128-cbc-enc", "aes-128-cbc-dec", NULL,
};

static const struct algorithm *algorithm_of(const char *name)
{
	return algorithm_by_name(name[0] == 'a' ? "aes-128-cbc" : name);
}

/* The files of a case. */
struct files {
	size_t bytes;
	int dir; /* that they lie in, once it is open */
	bool open;
	char from[NAME_BYTES], to[NAME_BYTES];
};

struct hashing {
	struct digest_case d;
	struct files files;
};

struct crypting {
	struct keyed_case k;
	struct files files;
	uint8_t *want; /* what is to be written */
};

static const struct workload crypt_workload;

static int file_parse(struct bench_case *c, struct error *err)
{
	c->algorithm = algorithm_of(names[c->name]);
	if (c->algorithm->class == ALG_DIGEST)
		return pool_reserve(c->pool, c->backend, DESK_PIECES, PIECE, err);
	c->workload = &crypt_workload;
	if (c->bytes <= 0 || c->bytes % c->algorithm->unit_bytes)
		return case_wrong(err, "a file has a multiple of %u bytes",
				  c->algorithm->unit_bytes);
	return keyed_case_reserve(c, PIECE, err);
}

/* Reads the bytes of a piece. */
static int read_piece(int fd, uint8_t *data, size_t len, size_t at, struct error *err)
{
	ssize_t n = place_read(fd, data, len, (off_t)at, err);

	if (n >= 0 && (size_t)n < len)
		return error_set(err, -EIO, "the file has become shorter");
	return n < 0 ? (int)n : 0;
}

static int open_from(const struct files *f, const char *name, struct error *err)
{
	int fd = openat(f->dir, name, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? place_failed(err, "open") : fd;
}

static int open_to(const struct files *f, const char *name, struct error *err)
{
	int fd = openat(f->dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd < 0 ? place_failed(err, "create") : fd;
}

static int make_file(const struct files *f, const char *name, struct error *err)
{
	uint8_t *message = malloc(f->bytes ? f->bytes : 1);
	int fd, ret;

	if (!message)
		return error_memory(err);
	pool_message(message, f->bytes);
	fd = open_to(f, name, err);
	ret = fd < 0 ? fd : place_write(fd, message, f->bytes, 0, err);
	if (fd >= 0 && close(fd) && !ret)
		ret = place_failed(err, "close");
	free(message);
	return ret;
}

/* Reads all bytes of a file, no more and no fewer; the caller frees them. */
static int read_file(const struct files *f, const char *name, uint8_t **data, struct error *err)
{
	int fd = open_from(f, name, err);
	int ret = fd < 0 ? fd : 0;

	*data = malloc(f->bytes + 1);
	if (!*data)
		ret = error_memory(err);
	if (!ret)
		ret = read_piece(fd, *data, f->bytes, 0, err);
	if (!ret && place_read(fd, *data + f->bytes, 1, (off_t)f->bytes, err))
		ret = error_set(err, -EBADMSG, "the file is too long");
	if (fd >= 0)
		close(fd);
	return ret;
}

/* Opens the folder of the files, and gives them names, which no other process has. */
static int open_files(struct files *f, const struct bench_case *c, struct error *err)
{
	f->bytes = (size_t)c->bytes;
	snprintf(f->from, sizeof(f->from), "teemark-%s-%s-%zu-%d", c->algorithm_name,
		 c->backend_name, f->bytes, (int)getpid());
	snprintf(f->to, sizeof(f->to), "%.56s.out", f->from);
	f->dir = place_open(err);
	f->open = f->dir >= 0;
	return f->open ? 0 : f->dir;
}

static void remove_files(const struct files *f)
{
	if (!f->open)
		return;
	unlinkat(f->dir, f->from, 0);
	unlinkat(f->dir, f->to, 0);
	close(f->dir);
}

static int hash_prepare(struct bench_case *c, struct error *err)
{
	struct hashing *h = c->state;
	int ret = open_files(&h->files, c, err);

	if (!ret)
		ret = digest_case_open(c, DESK_PIECES, PIECE, err);
	return ret ? ret : make_file(&h->files, h->files.from, err);
}

static int hash(struct hashing *h, int from, struct error *err)
{
	const struct bench_case *c = h->d.c;
	const struct backend *b = c->backend;
	struct session *session = c->desk->session;
	size_t at = 0, n = 0, bytes = h->files.bytes;
	int ret = b->digest_init(session, c->algorithm, err);

	for (; !ret && at < bytes; at += n) {
		ret = stop_check(err);
		if (ret)
			return ret;
		n = bytes - at < PIECE ? bytes - at : PIECE;
		ret = read_piece(from, c->desk->in.data, n, at, err);
		if (!ret)
			ret = b->digest_update(session, &c->desk->in, 0, n, err);
	}
	return ret ? ret : b->digest_final(session, &c->desk->in, 0, 0, h->d.out, err);
}

static int hash_once(void *state, uint32_t i, struct error *err)
{
	struct hashing *h = state;
	int from = open_from(&h->files, h->files.from, err);
	int ret = from < 0 ? from : hash(h, from, err);

	(void)i;
	if (from >= 0)
		close(from);
	return ret;
}

static int hash_verify(void *state, struct error *err)
{
	struct hashing *h = state;
	uint8_t *data;
	int ret = read_file(&h->files, h->files.from, &data, err);

	if (!ret)
		ret = digest_case_verify_data(&h->d, data, err);
	free(data);
	return ret;
}

static void hash_teardown(void *state)
{
	remove_files(&((struct hashing *)state)->files);
}

static int hash_probe(struct bench_case *c, struct error *err)
{
	int ret = place_probe(err);

	return ret ? ret : digest_case_open(c, DESK_PIECES, PIECE, err);
}

const struct workload workload_file = {
	.name = "file",
	.summary = "a file hashed, or encrypted or decrypted into another",
	.parameters = "BYTES",
	.names = names,
	.what = "an operation on a file",
	.most = 1 << 30,
	.parse = file_parse,
	.prepare = hash_prepare,
	.probe = hash_probe,
	.once = hash_once,
	.state_size = sizeof(struct hashing),
	.verify = hash_verify,
	.check = digest_case_check,
	.ta_clock = true,
	.refereed = true,
	.teardown = hash_teardown,
};

/* The rest does the same for a cipher, once its case is parsed. */

/*
 * CBC's own chain goes on from piece to piece: the next IV is the last block
 * of ciphertext. The desk is set up for the job.
 */
static int crypt_pieces(const struct files *f, struct desk *desk, const struct keyed_job *job,
			int from, int to, struct error *err)
{
	struct keyed_job piece = *job;
	uint8_t chain[ALG_IV_MAX_BYTES];
	int ret = 0;

	memcpy(chain, job->iv, sizeof(chain));
	piece.iv = chain;
	for (size_t at = 0; !ret && at < f->bytes; at += piece.len) {
		const struct buffer *ciphertext = job->decrypt ? job->in : job->out;

		ret = stop_check(err);
		if (ret)
			return ret;
		piece.len = f->bytes - at < PIECE ? f->bytes - at : PIECE;
		ret = read_piece(from, job->in->data, piece.len, at, err);
		if (!ret)
			ret = desk->backend->message(desk->session, &piece, 1, err);
		if (!ret)
			ret = place_write(to, job->out->data, piece.len, (off_t)at, err);
		memcpy(chain, ciphertext->data + piece.len - job->alg->iv_bytes,
		       job->alg->iv_bytes);
	}
	return ret;
}

static int crypt_files(const struct files *f, struct desk *desk, const struct keyed_job *job,
		       const char *from_name, const char *to_name, struct error *err)
{
	int from = open_from(f, from_name, err);
	int to, ret;

	if (from < 0)
		return from;
	to = open_to(f, to_name, err);
	ret = to < 0 ? to : crypt_pieces(f, desk, job, from, to, err);
	if (to >= 0 && close(to) && !ret)
		ret = place_failed(err, "close");
	close(from);
	return ret;
}

/* Messages of others were in the desk's buffers since. */
static int crypt_ready(void *state, uint32_t loops, struct error *err)
{
	struct crypting *c = state;

	(void)loops;
	c->k.c->desk->owner = NULL;
	return c->k.c->backend->set_up(c->k.c->desk->session, &c->k.job, err);
}

/* Encrypts a file by another backend, or by this one if there is no other. */
static int seal(struct crypting *c, const char *from, const char *to, struct error *err)
{
	struct keyed_job job = c->k.job;
	struct desk *desk;
	int ret;

	job.decrypt = false;
	c->k.c->desk->owner = NULL;
	ret = keyed_case_referee(&c->k, &job, &desk, err);
	return ret ? ret : crypt_files(&c->files, desk, &job, from, to, err);
}

static int crypt_prepare(struct bench_case *c, struct error *err)
{
	bool decrypt = !strcmp(c->algorithm_name, "aes-128-cbc-dec");
	struct crypting *state = c->state;
	struct files *f = &state->files;
	int ret = open_files(f, c, err);

	if (!ret)
		ret = keyed_case_open(c, decrypt, c->bytes < PIECE ? (size_t)c->bytes : PIECE, err);
	if (!ret)
		ret = make_file(f, decrypt ? f->to : f->from, err);
	return ret || !decrypt ? ret : seal(state, f->to, f->from, err);
}

static int crypt_probe(struct bench_case *c, struct error *err)
{
	int ret = place_probe(err);

	return ret ? ret : keyed_case_open(c, false, PIECE, err);
}

static int crypt_once(void *state, uint32_t i, struct error *err)
{
	struct crypting *c = state;

	(void)i;
	return crypt_files(&c->files, c->k.c->desk, &c->k.job, c->files.from, c->files.to, err);
}

static int crypt_check(void *state, struct error *err)
{
	struct crypting *c = state;
	uint8_t *got;
	int ret = read_file(&c->files, c->files.to, &got, err);

	if (!ret && memcmp(got, c->want, c->files.bytes))
		ret = known_answer_wrong(err,
					 "%s of a file by backend %s gives "
					 "other bytes than it should",
					 c->k.job.alg->title, c->k.c->backend->name);
	free(got);
	unlinkat(c->files.dir, c->files.to, 0);
	return ret;
}

/* Finds what must come of the file: the message, or what another backend encrypts it to. */
static int crypt_verify(void *state, struct error *err)
{
	struct crypting *c = state;
	struct files *f = &c->files;
	char sealed[NAME_BYTES + 8];
	int ret = 0;

	if (c->k.job.decrypt) {
		c->want = malloc(f->bytes);
		if (!c->want)
			return error_memory(err);
		pool_message(c->want, f->bytes);
	} else {
		snprintf(sealed, sizeof(sealed), "%s.sealed", f->from);
		ret = seal(c, f->from, sealed, err);
		if (!ret)
			ret = read_file(f, sealed, &c->want, err);
		unlinkat(f->dir, sealed, 0);
	}
	return ret ? ret : crypt_check(c, err);
}

static void crypt_teardown(void *state)
{
	struct crypting *c = state;

	remove_files(&c->files);
	free(c->want);
	keyed_case_teardown(c);
}

static const struct workload crypt_workload = {
	.name = "file",
	.state_size = sizeof(struct crypting),
	.prepare = crypt_prepare,
	.probe = crypt_probe,
	.ready = crypt_ready,
	.once = crypt_once,
	.verify = crypt_verify,
	.check = crypt_check,
	.ta_clock = true,
	.refereed = true,
	.teardown = crypt_teardown,
};
