/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file/OP/BACKEND/BYTES: a file is read and hashed (sha1, sha256), or read and encrypted or
 * decrypted into another (aes-128-cbc-enc, aes-128-cbc-dec), in pieces of 1 MiB; opening and
 * closing are timed, too. The files are in the kernel's page cache. teehash measures cold files,
 * and reading while hashing.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "message_case.h"
#include "place.h"
#include "stop.h"

enum { PIECE = 1 << 20, NAME_BYTES = 64 };

/* Names of the operations; a cipher's name ends in its direction. */
static const char *const names[] = {
	"sha1", "sha256", "aes-128-cbc-enc", "aes-128-cbc-dec", NULL,
};

struct file_case {
	struct message_case m;
	size_t bytes;
	int dir; /* descriptor of the files' folder, if `open` */
	bool open;
	char from[NAME_BYTES], to[NAME_BYTES];
	uint8_t *want; /* bytes that must be written, or were hashed */
};

static enum workplace_use workplace_of(const struct bench_case *c)
{
	return c->algorithm->class == ALG_DIGEST ? WORKPLACE_PIECES : WORKPLACE_KEYED;
}

static int file_parse(struct bench_case *c, struct error *err)
{
	const char *name = c->algorithm_name;

	c->algorithm = algorithm_by_name(name[0] == 'a' ? "aes-128-cbc" : name);
	if (workplace_of(c) == WORKPLACE_KEYED &&
	    (c->bytes <= 0 || c->bytes % c->algorithm->unit_bytes))
		return case_wrong(err, "a file has a multiple of %u bytes",
				  c->algorithm->unit_bytes);
	return message_case_reserve(c, workplace_of(c), PIECE, err);
}

/* Reads a piece of `len` bytes at offset `at`; -EIO if the file ends before. */
static int read_piece(int fd, uint8_t *data, size_t len, size_t at, struct error *err)
{
	ssize_t n = place_read(fd, data, len, (off_t)at, err);

	if (n >= 0 && (size_t)n < len)
		return error_set(err, -EIO, "the file has become shorter");
	return n < 0 ? (int)n : 0;
}

static int open_from(const struct file_case *f, const char *name, struct error *err)
{
	int fd = openat(f->dir, name, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? place_failed(err, "open") : fd;
}

static int open_to(const struct file_case *f, const char *name, struct error *err)
{
	int fd = openat(f->dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd < 0 ? place_failed(err, "create") : fd;
}

static int make_file(const struct file_case *f, const char *name, struct error *err)
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

/* Reads a file, which must have f->bytes bytes, into memory that the caller frees. */
static int read_file(const struct file_case *f, const char *name, uint8_t **data, struct error *err)
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

/* Opens the folder of the files, and sets their names, which no other process uses. */
static int open_files(struct file_case *f, const struct bench_case *c, struct error *err)
{
	f->bytes = (size_t)c->bytes;
	snprintf(f->from, sizeof(f->from), "teemark-%s-%s-%zu-%d", c->algorithm_name,
		 c->backend_name, f->bytes, (int)getpid());
	snprintf(f->to, sizeof(f->to), "%.56s.out", f->from);
	f->dir = place_open(err);
	f->open = f->dir >= 0;
	return f->open ? 0 : f->dir;
}

static void remove_files(const struct file_case *f)
{
	if (!f->open)
		return;
	unlinkat(f->dir, f->from, 0);
	unlinkat(f->dir, f->to, 0);
	close(f->dir);
}

static int hash_pieces(struct file_case *f, const struct workplace *workplace, int from,
		       struct error *err)
{
	const struct backend *b = workplace->backend;
	size_t at = 0, n = 0;
	int ret = b->digest_init(workplace->session, f->m.job.alg, err);

	for (; !ret && at < f->bytes; at += n) {
		ret = stop_check(err);
		if (ret)
			return ret;
		n = f->bytes - at < PIECE ? f->bytes - at : PIECE;
		ret = read_piece(from, workplace->in.data, n, at, err);
		if (!ret)
			ret = b->digest_update(workplace->session, &workplace->in, 0, n, err);
	}
	return ret ? ret :
		     b->digest_final(workplace->session, &workplace->in, 0, 0, f->m.digest, err);
}

/*
 * Encrypts or decrypts a file in pieces. CBC's chain continues from piece to piece: the next IV is
 * the last block of ciphertext. The workplace must be set up for the job.
 */
static int crypt_pieces(const struct file_case *f, const struct workplace *workplace,
			const struct keyed_job *job, int from, int to, struct error *err)
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
			ret = workplace->backend->message(workplace->session, &piece, 1, err);
		if (!ret)
			ret = place_write(to, job->out->data, piece.len, (off_t)at, err);
		memcpy(chain, ciphertext->data + piece.len - job->alg->iv_bytes,
		       job->alg->iv_bytes);
	}
	return ret;
}

/* Hashes a file, or encrypts or decrypts it into another. */
static int take_file(struct file_case *f, const struct workplace *workplace,
		     const struct keyed_job *job, const char *from_name, const char *to_name,
		     struct error *err)
{
	int from = open_from(f, from_name, err);
	int to, ret;

	if (from < 0)
		return from;
	if (job->alg->class == ALG_DIGEST) {
		ret = hash_pieces(f, workplace, from, err);
	} else {
		to = open_to(f, to_name, err);
		ret = to < 0 ? to : crypt_pieces(f, workplace, job, from, to, err);
		if (to >= 0 && close(to) && !ret)
			ret = place_failed(err, "close");
	}
	close(from);
	return ret;
}

/* Encrypts a file by another backend or, if there is none, by the case's own. */
static int seal(struct bench_case *c, const char *from, const char *to, struct error *err)
{
	struct file_case *f = c->state;
	struct keyed_job job = f->m.job;
	struct workplace *workplace;
	int ret;

	job.decrypt = false;
	c->workplace->owner = NULL;
	ret = message_case_referee(c, &job, &workplace, err);
	return ret ? ret : take_file(f, workplace, &job, from, to, err);
}

static int file_prepare(struct bench_case *c, struct error *err)
{
	bool decrypt = !strcmp(c->algorithm_name, "aes-128-cbc-dec");
	struct file_case *f = c->state;
	int ret = open_files(f, c, err);

	if (!ret)
		ret = message_case_open(c, workplace_of(c), decrypt,
					f->bytes < PIECE ? f->bytes : PIECE, err);
	c->want_bytes = 0; /* the written file is compared, not the last piece */
	if (!ret)
		ret = make_file(f, decrypt ? f->to : f->from, err);
	return ret || !decrypt ? ret : seal(c, f->to, f->from, err);
}

/* Sets the key anew, since other cases may have used the workplace. */
static int file_ready(struct bench_case *c, struct error *err)
{
	const struct file_case *f = c->state;

	if (workplace_of(c) != WORKPLACE_KEYED)
		return 0;
	c->workplace->owner = NULL;
	return c->backend->set_up(c->workplace->session, &f->m.job, err);
}

static int file_once(struct bench_case *c, struct error *err)
{
	struct file_case *f = c->state;

	return take_file(f, c->workplace, &f->m.job, f->from, f->to, err);
}

/* Compares the written file with the expected bytes, and deletes it. */
static int file_check(struct bench_case *c, struct error *err)
{
	struct file_case *f = c->state;
	uint8_t *got;
	int ret;

	if (workplace_of(c) != WORKPLACE_KEYED)
		return 0;
	ret = read_file(f, f->to, &got, err);
	if (!ret)
		ret = case_compare(c->key, got, f->want, f->bytes, err);
	free(got);
	unlinkat(f->dir, f->to, 0);
	return ret;
}

/* Checks the result: the file's digest, the decrypted message, or another backend's ciphertext. */
static int file_verify(struct bench_case *c, struct error *err)
{
	struct file_case *f = c->state;
	char sealed[NAME_BYTES + 8];
	int ret = 0;

	if (workplace_of(c) != WORKPLACE_KEYED) {
		ret = read_file(f, f->from, &f->want, err);
		if (!ret)
			ret = message_case_verify_data(c, f->want, err);
		free(f->want); /* the digest is kept; the bytes would stay until all cases end */
		f->want = NULL;
		return ret;
	}
	if (f->m.job.decrypt) {
		f->want = malloc(f->bytes);
		if (!f->want)
			return error_memory(err);
		pool_message(f->want, f->bytes);
	} else {
		snprintf(sealed, sizeof(sealed), "%s.sealed", f->from);
		ret = seal(c, f->from, sealed, err);
		if (!ret)
			ret = read_file(f, sealed, &f->want, err);
		unlinkat(f->dir, sealed, 0);
	}
	return ret ? ret : file_check(c, err);
}

static void file_teardown(struct bench_case *c)
{
	struct file_case *f = c->state;

	remove_files(f);
	free(f->want);
	message_case_teardown(c);
}

const struct workload workload_file = {
	.name = "file",
	.summary = "a file hashed, or encrypted or decrypted into another",
	.parameters = "BYTES",
	.names = names,
	.most = 1 << 30,
	.parse = file_parse,
	.prepare = file_prepare,
	.ready = file_ready,
	.once = file_once,
	.verify = file_verify,
	.check = file_check,
	.state_size = sizeof(struct file_case),
	.ta_clock = true,
	.refereed = true,
	.teardown = file_teardown,
};
