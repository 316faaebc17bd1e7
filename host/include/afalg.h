/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Raw AF_ALG sockets (Linux, Documentation/crypto/userspace-if.rst), with
 * errors told apart. No libkcapi, so no netlink socket is needed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "error.h"

struct afalg {
	int bound;         /* to an algorithm */
	int op;            /* accept()ed from it: one operation; -1: none */
	size_t piece;      /* bytes that one send() may carry */
	const char *title; /* of the algorithm, for messages */
};

/* Returns 0 if there can be such sockets; err->skip is "no-afalg" otherwise. */
int afalg_probe(struct error *err);

/*
 * Binds a socket to an algorithm; the type is "hash", "skcipher", "aead" or "rng". Returns -errno
 * with the reason; err->skip is "no-afalg" or "unsupported-algorithm".
 */
int afalg_bind(struct afalg *s, const char *type, const char *name, const char *title,
	       struct error *err);
/* Sets a key; there is no operation then. */
int afalg_set_key(struct afalg *s, const void *key, size_t len, struct error *err);
/* A new operation; one that is under way is dropped with its socket. */
int afalg_accept(struct afalg *s, struct error *err);
/* Closes the socket; accepts a zeroed one, and one that couldn't be bound. */
void afalg_close(struct afalg *s);

/* Sends all of it, in pieces; more: the message goes on after it. */
int afalg_send(const struct afalg *s, const uint8_t *data, size_t len, bool more,
	       struct error *err);
/* Receives all of len bytes. -EBADMSG: a tag is wrong. */
int afalg_receive(const struct afalg *s, uint8_t *data, size_t len, struct error *err);
/* The error of a send() that took `sent` of len bytes (-1: see errno). */
int afalg_not_taken(const struct afalg *s, ssize_t sent, size_t len, struct error *err);
