/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The description of a call to a TA: as it stands, and put together from the
 * words that it is made of. What is taken has its sizes within bounds.
 */
#include <stdlib.h>
#include <string.h>

#include "call.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const words[] = {
	";",
	":",
	"setup:1:0x00000000",
	"before:2:0xffff0010",
	"run:0:0x00000000",
	"none",
	"value-in:",
	"value-out:",
	"value-inout:",
	"memory-in:",
	"memory-out:",
	"memory-inout:",
	"temporary:",
	"registered:",
	"allocated:",
	"message",
	"fill-ff",
	"hex-00",
	"any",
	"same-0",
	"same-1",
	"sha256-of-0",
	"sha3-512-of-3",
	"digest-",
	"00112233445566778899aabbccddeeff",
	"0",
	"1",
	"64",
	"67108864",
	"4294967295",
	"8aaaf200-2450-11e4-abe2-0002a5d5c51b;run:0:0x00000000;",
};
enum { WORDS = sizeof(words) / sizeof(*words) };

static void check_param(const struct call_param *p)
{
	if (p->type != CALL_MEMORY)
		return;
	if (p->memory.size > CALL_BYTES_MAX)
		abort();
	if (p->in && p->content.kind == CALL_HEX && p->content.bytes != p->memory.size)
		abort();
	if (!p->out || p->want.kind == CALL_ANY || p->want.kind == CALL_SHA256)
		return;
	if (p->want_size.any || p->want_size.value > p->memory.size || p->want.of >= CALL_PARAMS)
		abort();
}

static void check(const char *text)
{
	struct error err = { 0 };
	struct call call;
	int ret = call_parse(&call, text, &err);

	if ((ret != 0) != (err.what[0] != '\0'))
		abort();
	if (!ret) {
		if (!call.n_steps || call.n_steps > CALL_STEPS_MAX ||
		    call.steps[call.n_steps - 1].when != CALL_RUN)
			abort();
		for (unsigned i = 0; i < call.n_steps; i++)
			for (unsigned k = 0; k < CALL_PARAMS; k++)
				check_param(&call.steps[i].params[k]);
	}
	call_free(&call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char text[4096 * 64];
	size_t len = 0;

	memcpy(text, data, size);
	text[size] = '\0';
	check(text);

	strcpy(text, "8aaaf200-2450-11e4-abe2-0002a5d5c51b");
	len = strlen(text);
	for (size_t i = 0; i < size && len < sizeof(text) - 64; i++) {
		strcpy(text + len, words[data[i] % WORDS]);
		len += strlen(text + len);
	}
	check(text);
	return 0;
}
