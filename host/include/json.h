/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON writer: builds one value in memory, which is valid UTF-8 whatever the input.
 *
 * A NULL key writes a value without a key (in an array, or the outermost value). Bytes that are not
 * UTF-8 become U+FFFD; NaN and infinity, which JSON lacks, become null. If memory runs out, .failed
 * is set.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
	char *text; /* NUL-terminated */
	size_t len, cap;
	bool comma; /* the next value needs a comma before it */
	bool failed;
};

/* Frees the text. Accepts a zeroed struct json, which is an empty writer. */
void json_free(struct json *j);
void json_reset(struct json *j);

void json_object(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *key);
void json_array_end(struct json *j);

/* Writes the value built by another writer. */
void json_embed(struct json *j, const char *key, const struct json *value);
void json_string(struct json *j, const char *key, const char *value);
void json_bytes(struct json *j, const char *key, const void *value,
		size_t len); /* as json_string(), but with a length: NULs are kept */
void json_i64(struct json *j, const char *key, int64_t value);
/* Writes the value, or null if it is negative (not known). */
void json_i64_or_null(struct json *j, const char *key, int64_t value);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_double(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
/* Writes the string, or null if it is "" or NULL. */
void json_string_or_null(struct json *j, const char *key, const char *value);

/*
 * Returns the length in bytes of the well-formed UTF-8 character that the len bytes at `text` begin
 * with; 0 if there is none.
 */
size_t utf8_length(const void *text, size_t len);
