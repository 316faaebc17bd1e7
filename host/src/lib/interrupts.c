/* SPDX-License-Identifier: BSD-2-Clause */
/* The format: Linux, kernel/irq/proc.c; a column for each CPU. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interrupts.h"

static struct interrupt_line *add(struct interrupts *all)
{
	size_t room = all->room ? all->room * 2 : 64;

	if (all->count == all->room) {
		void *list = realloc(all->list, room * sizeof(*all->list));

		if (!list)
			return NULL;
		all->list = list;
		all->room = room;
	}
	all->list[all->count] = (struct interrupt_line){ 0 };
	return &all->list[all->count++];
}

/* Returns the line's end or the text's. */
static const char *end_of(const char *line)
{
	return line + strcspn(line, "\n");
}

static size_t cpus_of(const char *header)
{
	const char *end = end_of(header);
	size_t n = 0;

	for (const char *at = header; (at = strstr(at, "CPU")) && at < end; at += 3)
		n++;
	return n;
}

static const char *skip_blank(const char *at)
{
	return at + strspn(at, " \t");
}

static void parse_line(const char *at, size_t cpus, struct interrupt_line *line)
{
	const char *end = end_of(at);
	size_t len, n = 0, room = sizeof(line->name) - 1;

	at = skip_blank(at);
	len = strcspn(at, ":\n");
	snprintf(line->line, sizeof(line->line), "%.*s", (int)len, at);
	at += len + (at[len] == ':');
	/* Some lines have one count for the machine. */
	for (size_t i = 0; i < cpus; i++) {
		char *after;

		at = skip_blank(at);
		if (at >= end || !isdigit((unsigned char)*at))
			break;
		line->count += strtoull(at, &after, 10);
		at = after;
	}
	/* Blanks that only align go. */
	for (at = skip_blank(at); at < end && n < room; at++) {
		if (*at != ' ' && *at != '\t')
			line->name[n++] = *at;
		else if (skip_blank(at) < end && n + 1 < room && line->name[n - 1] != ' ')
			line->name[n++] = ' ';
	}
}

int interrupts_parse(const char *text, struct interrupts *now, struct error *err)
{
	size_t cpus = cpus_of(text);

	*now = (struct interrupts){ 0 };
	for (text = end_of(text); *text; text = end_of(text)) {
		struct interrupt_line *line;

		text++;
		if (!memchr(text, ':', (size_t)(end_of(text) - text)))
			continue;
		line = add(now);
		if (!line) {
			interrupts_free(now);
			return error_memory(err);
		}
		parse_line(text, cpus, line);
	}
	return 0;
}

int interrupts_read(struct interrupts *now, struct error *err)
{
	FILE *file = fopen("/proc/interrupts", "re");
	size_t room = 0;
	char *text = NULL;
	int ret;

	*now = (struct interrupts){ 0 };
	/* There is no NUL in it: this is all of the file. */
	if (file && getdelim(&text, &room, '\0', file) >= 0)
		ret = interrupts_parse(text, now, err);
	else
		ret = error_errno(err, "cannot read /proc/interrupts");
	free(text);
	if (file)
		fclose(file);
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
