/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON writer: one value in memory, valid UTF-8 whatever it is given.
 *
 * A key of NULL writes the value without one (in an array, or the outermost).
 * Bytes that are not UTF-8 become U+FFFD; a number that JSON has not (NaN,
 * infinity) becomes null. Memory that runs out is remembered in .failed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
	char *text; /* NUL-terminated */
	size_t len, cap;
	bool comma; /* the next value needs one before it */
	bool failed;
};

/* Frees the text. A zeroed struct json is an empty writer, which this accepts, too. */
void json_free(struct json *j);
void json_reset(struct json *j);

void json_object(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *key);
void json_array_end(struct json *j);

/* Writes the value that another writer holds. */
void json_embed(struct json *j, const char *key, const struct json *value);
void json_string(struct json *j, const char *key, const char *value);
void json_bytes(struct json *j, const char *key, const void *value,
		size_t len); /* as json_string(), NULs included */
void json_i64(struct json *j, const char *key, int64_t value);
/* Writes null for a negative number, which isn't known. */
void json_i64_or_null(struct json *j, const char *key, int64_t value);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_double(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
/* Writes null for "" and NULL. */
void json_string_or_null(struct json *j, const char *key, const char *value);
