/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Raw AF_ALG sockets (Linux, Documentation/crypto/userspace-if.rst). libkcapi isn't used, because
 * it needs a netlink socket.
 */
#pragma once

#include <sys/socket.h>

#include "error.h"

struct afalg {
	int bound;         /* socket that is bound to an algorithm */
	int op;            /* accept()ed socket of one operation; -1: none */
	size_t piece;      /* bytes that one send() may carry */
	const char *title; /* title of the algorithm, for messages */
};

/* Returns 0 if AF_ALG sockets can be made here; otherwise err->skip is "no-afalg". */
int afalg_probe(struct error *err);

/*
 * Binds a socket to an algorithm; the type is "hash", "skcipher", "aead" or "rng". Returns -errno
 * with the reason; err->skip is "no-afalg" or "unsupported-algorithm".
 */
int afalg_bind(struct afalg *s, const char *type, const char *name, const char *title,
	       struct error *err);
/* Sets a key, and ends the operation that was under way, if any. */
int afalg_set_key(struct afalg *s, const void *key, size_t len, struct error *err);
/* Begins a new operation; drops the one that was under way. */
int afalg_accept(struct afalg *s, struct error *err);
/* Closes the socket; accepts a zeroed struct, and one whose binding failed. */
void afalg_close(struct afalg *s);

/* Sends all len bytes, in pieces of s->piece; `more`: further calls continue the message. */
int afalg_send(const struct afalg *s, const uint8_t *data, size_t len, bool more,
	       struct error *err);
/* Receives exactly len bytes; returns -EBADMSG if the message's tag is wrong. */
int afalg_receive(const struct afalg *s, uint8_t *data, size_t len, struct error *err);
/* Returns the error of a send() that took only `sent` of len bytes (-1: errno has the reason). */
int afalg_not_taken(const struct afalg *s, ssize_t sent, size_t len, struct error *err);
