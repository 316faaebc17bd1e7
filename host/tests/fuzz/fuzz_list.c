/* SPDX-License-Identifier: BSD-2-Clause */
/* A list of digests, as somebody sent it with the files: teehash --check. */
#include <stdlib.h>
#include <string.h>

#include "list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct list list;
	struct list_entry entry = { 0 };
	enum list_line line;

	if (size < 2)
		return 0;
	memset(&list, 0, sizeof(list));
	list.untagged = &algorithms[data[0] % algorithms_count];
	if (list.untagged->class != ALG_DIGEST)
		list.untagged = algorithm_by_name("sha256");
	if (data[0] & 0x80)
		list.only = list.untagged;
	list.in = fmemopen((void *)(data + 1), size - 1, "r");
	if (!list.in)
		return 0;
	for (; (line = list_next(&list, &entry)) != LIST_END; entry = (struct list_entry){ 0 }) {
		const char *end = list.line + list.len;

		if (list.len > LIST_LINE_MAX || strlen(list.line) > list.len)
			abort();
		if (line != LIST_PROPER)
			continue;
		if (!entry.alg || entry.alg->class != ALG_DIGEST ||
		    (list.only && entry.alg != list.only))
			abort();
		/* In the line, and no longer than it. */
		if (entry.name < list.line || entry.name > end || strlen(entry.name) > list.len)
			abort();
	}
	fclose(list.in);
	return 0;
}
