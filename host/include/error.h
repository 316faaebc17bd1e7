/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A failure is one value, which travels up to the one that prints it.
 *
 * Functions of host/ return 0 or -errno and, where they take a
 * struct error, fill it with the sentence. A TEE result is kept with its
 * return origin, and is translated in one place (error.c).
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct error {
	int code;            /* -errno */
	uint32_t tee_result; /* TEEC_Result, 0 when not from the TEE */
	uint32_t tee_origin; /* TEEC_ORIGIN_*, 0 when not from the TEE */
	/*
	 * A machine word ("no-tee", "no-afalg", …) when this machine simply
	 * cannot do what was asked: a reason to skip. NULL: a failure.
	 */
	const char *skip;
	char what[224]; /* what failed and why, one line */
	char hint[224]; /* what to do about it, may be empty */
};

/*
 * Each returns err->code (-errno), to be returned on. err may be NULL. A hint
 * may follow the sentence in fmt, after a newline.
 *
 * error_skip() is for what this machine cannot do; word is a literal.
 * error_errno() takes the code from errno, and ends the sentence with its text.
 */
#define error_set(err, code, ...) error_skip(err, code, NULL, __VA_ARGS__)
int error_skip(struct error *err, int code, const char *word, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
#define error_memory(err) error_set(err, -ENOMEM, "out of memory")
int error_errno(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * Completes the sentence by the result's name, its number and who returned it, and adds a general
 * hint; error_hint() replaces it where more is known.
 */
int error_tee(struct error *err, uint32_t result, uint32_t origin, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Both may follow any of the functions above. err may be NULL. */
void error_hint(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void error_skip_word(struct error *err, const char *word);

/* Prints "PROGRAM: what" and, if there is a hint, "PROGRAM: hint: …" on a second line. */
void error_print(FILE *stream, const char *program, const struct error *err);

/* Returns whether the TEE, or what is shared with it, had no memory left. err may be NULL. */
bool error_tee_memory(const struct error *err);

/* Returns the result's name, such as "TEE_ERROR_OUT_OF_MEMORY"; NULL if it has none. */
const char *tee_result_name(uint32_t result);
/* Returns the origin's name: "TEE", "trusted application", "client API", "communication". */
const char *tee_origin_name(uint32_t origin);
