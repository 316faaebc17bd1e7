/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A failure is one value, passed up to the caller that prints it.
 *
 * Functions of host/ return 0 or -errno and, if they take a struct error, write the sentence into
 * it. A TEE result is kept together with its return origin, and is translated in one place
 * (error.c).
 *
 * Whoever includes this has the five standard headers below, and need not name them again.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct error {
	int code;            /* -errno */
	uint32_t tee_result; /* TEEC_Result, 0 when not from the TEE */
	uint32_t tee_origin; /* TEEC_ORIGIN_*, 0 when not from the TEE */
	/*
	 * A machine word ("no-tee", "no-afalg", …) if this machine cannot do what was asked, which
	 * is a reason to skip. NULL: a real failure.
	 */
	const char *skip;
	char what[224]; /* what failed and why, one line */
	char hint[224]; /* what to do about it, may be empty */
};

/*
 * Each function returns err->code (-errno), so that a caller can return it at once. err may be
 * NULL. In fmt a hint may follow the sentence, after a newline.
 *
 * error_skip() is for what this machine cannot do; `word` is a literal. error_errno() takes the
 * code from errno, and appends errno's text to the sentence.
 */
#define error_set(err, code, ...) error_skip(err, code, NULL, __VA_ARGS__)
int error_skip(struct error *err, int code, const char *word, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
#define error_memory(err) error_set(err, -ENOMEM, "out of memory")
#define error_errno(err, fmt, ...) \
	error_set(err, -errno, fmt ": %s", ##__VA_ARGS__, strerror(errno))
/*
 * Appends the TEE result's name, number and origin to the sentence, and adds a general hint;
 * error_hint() can replace the hint by a better one.
 */
int error_tee(struct error *err, uint32_t result, uint32_t origin, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/*
 * error_hint() and error_skip_word() complete an error that was already made, by a hint or by the
 * word that makes it a reason to skip, or by both (`word` NULL: it stays). err may be NULL.
 */
void error_hint(struct error *err, const char *word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void error_skip_word(struct error *err, const char *word);

/* Prints "PROGRAM: what" and, if there is a hint, "PROGRAM: hint: …" on a second line. */
void error_print(FILE *stream, const char *program, const struct error *err);

/* Returns true if the TEE or its shared memory was exhausted. err may be NULL. */
bool error_tee_memory(const struct error *err);

/* Returns the result's name, such as "TEE_ERROR_OUT_OF_MEMORY"; NULL if it has none. */
const char *tee_result_name(uint32_t result);
/* Returns the origin's name: "TEE", "trusted application", "client API", "communication". */
const char *tee_origin_name(uint32_t origin);
