/* SPDX-License-Identifier: BSD-2-Clause */
/* Source of the format: Linux, kernel/irq/proc.c; one column a CPU. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interrupts.h"

static struct interrupt_line *add(struct interrupts *all)
{
	void *list = realloc(all->list, (all->count + 1) * sizeof(*all->list));

	if (!list)
		return NULL;
	all->list = list;
	all->list[all->count] = (struct interrupt_line){ 0 };
	return &all->list[all->count++];
}

/* Parses a line, and cuts it into words: its name, its counts, its description. */
static void parse_line(char *text, size_t cpus, struct interrupt_line *line)
{
	static const char blank[] = " \t\n";
	char *save, *word;

	text += strspn(text, blank);
	snprintf(line->line, sizeof(line->line), "%.*s", (int)strcspn(text, ":"), text);
	word = strtok_r(strchr(text, ':') + 1, blank, &save);
	/* Some lines have one count for all CPUs. */
	for (; word && cpus && isdigit((unsigned char)*word); cpus--) {
		line->count += strtoull(word, NULL, 10);
		word = strtok_r(NULL, blank, &save);
	}
	/* Joins the description's words by single spaces. */
	for (; word; word = strtok_r(NULL, blank, &save)) {
		size_t len = strlen(line->name);

		snprintf(line->name + len, sizeof(line->name) - len, "%s%s", len ? " " : "", word);
	}
}

int interrupts_read(struct interrupts *now, struct error *err)
{
	FILE *in = fopen("/proc/interrupts", "re");
	size_t cpus = 0, room = 0;
	char *text = NULL;
	int ret = 0;

	*now = (struct interrupts){ 0 };
	if (!in)
		return error_errno(err, "cannot read /proc/interrupts");
	if (getline(&text, &room, in) >= 0)
		for (const char *at = text; (at = strstr(at, "CPU")); at++)
			cpus++;
	while (!ret && getline(&text, &room, in) >= 0) {
		struct interrupt_line *line = strchr(text, ':') ? add(now) : NULL;

		if (line)
			parse_line(text, cpus, line);
		else if (strchr(text, ':'))
			ret = error_memory(err);
	}
	if (!ret && ferror(in))
		ret = error_errno(err, "cannot read /proc/interrupts");
	if (ret)
		interrupts_free(now);
	free(text);
	fclose(in);
	return ret;
}

void interrupts_free(struct interrupts *now)
{
	free(now->list);
	*now = (struct interrupts){ 0 };
}

uint64_t interrupts_count(const struct interrupts *all, const char *line)
{
	for (size_t i = 0; i < all->count; i++)
		if (!strcmp(all->list[i].line, line))
			return all->list[i].count;
	return 0;
}

uint64_t interrupts_since(const struct interrupts *before, const struct interrupt_line *now)
{
	uint64_t count = interrupts_count(before, now->line);

	return now->count > count ? now->count - count : 0;
}
