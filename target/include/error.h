/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What went wrong, in one value that travels up to the one that prints it.
 *
 * Functions of target/ return 0 or -errno and, where they take a
 * struct error, fill it with the sentence. A TEE result is kept with its
 * return origin, and is translated in one place (error.c).
 */
#ifndef ERROR_H
#define ERROR_H

#include <stdint.h>

struct error {
	int code;		/* -errno */
	uint32_t tee_result;	/* TEEC_Result, 0 when not from the TEE */
	uint32_t tee_origin;	/* TEEC_ORIGIN_*, 0 when not from the TEE */
	char what[224];		/* what failed and why, one line */
	char hint[224];		/* what to do about it, may be empty */
};

/* Each returns err->code (-errno), to be returned on. err may be NULL. */
int error_set(struct error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int error_tee(struct error *err, uint32_t result, uint32_t origin,
	      const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void error_hint(struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* "TEE_ERROR_OUT_OF_MEMORY", or NULL for a code without a name. */
const char *tee_result_name(uint32_t result);
/* "TEE", "trusted application", "client API", "communication" */
const char *tee_origin_name(uint32_t origin);

#endif
