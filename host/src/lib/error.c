/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sources of the TEE results: GlobalPlatform TEE Client API 1.0 table 4-2, TEE Internal Core API
 * 1.3 table 3-1. Origins: TEE Client API 1.0 table 4-3.
 */
#include <stdarg.h>

#include "error.h"

struct tee_result {
	uint32_t result;
	const char *name;
	int code;
	const char *hint;
};

static const struct tee_result tee_results[] = {
	{ 0x00000000, "TEE_SUCCESS", 0, NULL },
	{ 0xF0100001, "TEE_ERROR_CORRUPT_OBJECT", -EBADMSG,
	  "the object in secure storage is damaged; delete it" },
	{ 0xF0100002, "TEE_ERROR_CORRUPT_OBJECT_2", -EBADMSG,
	  "the object in secure storage is damaged; delete it" },
	{ 0xF0100003, "TEE_ERROR_STORAGE_NOT_AVAILABLE", -ENODEV,
	  "is tee-supplicant running, and is its storage folder writable?" },
	{ 0xF0100004, "TEE_ERROR_STORAGE_NOT_AVAILABLE_2", -ENODEV,
	  "is tee-supplicant running, and is its storage folder writable?" },
	{ 0xF0100005, "TEE_ERROR_UNSUPPORTED_VERSION", -EOPNOTSUPP, NULL },
	{ 0xF0100006, "TEE_ERROR_CIPHERTEXT_INVALID", -EBADMSG, NULL },
	{ 0xFFFF0000, "TEE_ERROR_GENERIC", -EIO, "the secure console of the board may say more" },
	{ 0xFFFF0001, "TEE_ERROR_ACCESS_DENIED", -EACCES, NULL },
	{ 0xFFFF0002, "TEE_ERROR_CANCEL", -ECANCELED, NULL },
	{ 0xFFFF0003, "TEE_ERROR_ACCESS_CONFLICT", -EBUSY, NULL },
	{ 0xFFFF0004, "TEE_ERROR_EXCESS_DATA", -E2BIG, NULL },
	{ 0xFFFF0005, "TEE_ERROR_BAD_FORMAT", -EINVAL, NULL },
	{ 0xFFFF0006, "TEE_ERROR_BAD_PARAMETERS", -EINVAL,
	  "the program and the TA may be of different versions: install both from one build" },
	{ 0xFFFF0007, "TEE_ERROR_BAD_STATE", -EPROTO, NULL },
	{ 0xFFFF0008, "TEE_ERROR_ITEM_NOT_FOUND", -ENOENT, NULL },
	{ 0xFFFF0009, "TEE_ERROR_NOT_IMPLEMENTED", -EOPNOTSUPP, NULL },
	{ 0xFFFF000A, "TEE_ERROR_NOT_SUPPORTED", -EOPNOTSUPP, NULL },
	{ 0xFFFF000B, "TEE_ERROR_NO_DATA", -ENODATA, NULL },
	{ 0xFFFF000C, "TEE_ERROR_OUT_OF_MEMORY", -ENOMEM,
	  "the secure world's memory is small: use fewer sessions at once or a smaller buffer" },
	{ 0xFFFF000D, "TEE_ERROR_BUSY", -EBUSY,
	  "another client holds the TEE or the TA; try again" },
	{ 0xFFFF000E, "TEE_ERROR_COMMUNICATION", -ECOMM, "is tee-supplicant running?" },
	{ 0xFFFF000F, "TEE_ERROR_SECURITY", -EKEYREJECTED,
	  "the TA must be signed with the key that this board's OP-TEE was built with" },
	{ 0xFFFF0010, "TEE_ERROR_SHORT_BUFFER", -ENOBUFS, NULL },
	{ 0xFFFF0011, "TEE_ERROR_EXTERNAL_CANCEL", -ECANCELED, NULL },
	{ 0xFFFF300F, "TEE_ERROR_OVERFLOW", -EOVERFLOW, NULL },
	{ 0xFFFF3024, "TEE_ERROR_TARGET_DEAD", -EHOSTDOWN,
	  "the TA panicked or was killed: the secure console of the board says why" },
	{ 0xFFFF3041, "TEE_ERROR_STORAGE_NO_SPACE", -ENOSPC, NULL },
	{ 0xFFFF3071, "TEE_ERROR_MAC_INVALID", -EBADMSG, NULL },
	{ 0xFFFF3072, "TEE_ERROR_SIGNATURE_INVALID", -EBADMSG, NULL },
	{ 0xFFFF5000, "TEE_ERROR_TIME_NOT_SET", -ENODATA, NULL },
	{ 0xFFFF5001, "TEE_ERROR_TIME_NEEDS_RESET", -ENODATA, NULL },
};

#define OUT_OF_MEMORY 0xFFFF000Cu
#define ORIGIN_API    1u
#define ORIGIN_COMMS  2u

static const struct tee_result *tee_result_find(uint32_t result)
{
	for (size_t i = 0; i < sizeof(tee_results) / sizeof(*tee_results); i++)
		if (tee_results[i].result == result)
			return &tee_results[i];
	return NULL;
}

const char *tee_result_name(uint32_t result)
{
	const struct tee_result *row = tee_result_find(result);

	return row ? row->name : NULL;
}

const char *tee_origin_name(uint32_t origin)
{
	static const char *const names[] = { "unknown origin", "client API", "communication", "TEE",
					     "trusted application" };

	return names[origin < sizeof(names) / sizeof(*names) ? origin : 0];
}

/* Copies a text as one line: control characters, such as a newline in a name, become '?'. */
static void put_line(char *line, size_t room, const char *text)
{
	snprintf(line, room, "%.*s", (int)room - 1, text);
	for (; *line; line++)
		if ((unsigned char)*line < 0x20 || *line == 0x7f)
			*line = '?';
}

/* Fills in an error and returns `code`. err and word may be NULL. */
__attribute__((format(printf, 4, 0))) static int fill(struct error *err, int code, const char *word,
						      const char *fmt, va_list ap)
{
	char text[sizeof(err->what) + sizeof(err->hint)];
	char *hint;

	if (!err)
		return code;
	*err = (struct error){ .code = code, .skip = word };
	vsnprintf(text, sizeof(text), fmt, ap);
	hint = strchr(fmt, '\n') ? strrchr(text, '\n') : NULL;
	if (hint) {
		*hint = '\0';
		put_line(err->hint, sizeof(err->hint), hint + 1);
	}
	put_line(err->what, sizeof(err->what), text);
	return code;
}

int error_skip(struct error *err, int code, const char *word, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(err, code, word, fmt, ap);
	va_end(ap);
	return code;
}

int error_tee(struct error *err, uint32_t result, uint32_t origin, const char *fmt, ...)
{
	const struct tee_result *row = tee_result_find(result);
	/* TEE_SUCCESS has code 0, but the caller reports an error. */
	int code = row && row->code ? row->code : -EIO;
	const char *hint = row ? row->hint : NULL;
	size_t len;
	va_list ap;

	va_start(ap, fmt);
	fill(err, code, NULL, fmt, ap);
	va_end(ap);
	if (!err)
		return code;
	err->tee_result = result;
	err->tee_origin = origin;
	len = strlen(err->what);
	snprintf(err->what + len, sizeof(err->what) - len, ": %s (0x%08x, from: %s)",
		 row ? row->name : "an unnamed TEE result", (unsigned)result,
		 tee_origin_name(origin));
	/* From this side of the TEE the result means that the normal world lacked memory. */
	if (result == OUT_OF_MEMORY && (origin == ORIGIN_API || origin == ORIGIN_COMMS))
		hint = "the client library or the kernel's driver had no memory to share with the "
		       "TEE: use a smaller buffer or fewer sessions at once";
	if (hint)
		put_line(err->hint, sizeof(err->hint), hint);
	return code;
}

void error_hint(struct error *err, const char *word, const char *fmt, ...)
{
	char text[sizeof(err->hint)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!err)
		return;
	put_line(err->hint, sizeof(err->hint), text);
	err->skip = word ? word : err->skip;
}

void error_skip_word(struct error *err, const char *word)
{
	if (err)
		err->skip = word;
}

void error_print(FILE *stream, const char *program, const struct error *err)
{
	fprintf(stream, "%s: %s\n", program, err->what);
	if (err->hint[0])
		fprintf(stream, "%s: hint: %s\n", program, err->hint);
}

bool error_tee_memory(const struct error *err)
{
	return err && err->tee_result == OUT_OF_MEMORY;
}
