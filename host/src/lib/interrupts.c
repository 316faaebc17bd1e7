/* SPDX-License-Identifier: BSD-2-Clause */
/* The format: Linux, kernel/irq/proc.c; a column for each CPU. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interrupts.h"

static struct interrupt_line *add(struct interrupts *all)
{
	if (all->count == all->room) {
		size_t room = all->room ? all->room * 2 : 64;
		struct interrupt_line *list =
			realloc(all->list, room * sizeof(*list));

		if (!list)
			return NULL;
		all->list = list;
		all->room = room;
	}
	memset(&all->list[all->count], 0, sizeof(*all->list));
	return &all->list[all->count++];
}

/* The line's end or the text's. */
static const char *end_of(const char *line)
{
	return line + strcspn(line, "\n");
}

static size_t cpus_of(const char *header)
{
	const char *end = end_of(header);
	size_t n = 0;

	for (const char *at = header; (at = strstr(at, "CPU")) && at < end;
	     at += 3)
		n++;
	return n;
}

static const char *skip_blank(const char *at)
{
	return at + strspn(at, " \t");
}

static void parse_line(const char *text, size_t cpus,
		       struct interrupt_line *line)
{
	const char *end = end_of(text), *at = skip_blank(text);
	size_t len = strcspn(at, ":\n"), room = sizeof(line->name) - 1;
	bool blank = false;
	size_t n = 0;

	snprintf(line->line, sizeof(line->line), "%.*s",
		 len < 15 ? (int)len : 15, at);
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
		if (*at == ' ' || *at == '\t') {
			blank = true;
			continue;
		}
		if (blank && n + 1 < room)
			line->name[n++] = ' ';
		blank = false;
		line->name[n++] = *at;
	}
}

int interrupts_parse(const char *text, struct interrupts *now,
		     struct error *err)
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
			return error_set(err, -ENOMEM, "out of memory");
		}
		parse_line(text, cpus, line);
	}
	return 0;
}

int interrupts_read(struct interrupts *now, struct error *err)
{
	enum { MOST = 1 << 20 };
	int fd = open("/proc/interrupts", O_RDONLY | O_CLOEXEC), ret;
	size_t len = 0;
	ssize_t n = 0;
	char *text;

	*now = (struct interrupts){ 0 };
	if (fd < 0)
		return error_set(err, -errno,
				 "cannot read /proc/interrupts: %s",
				 strerror(errno));
	text = malloc(MOST + 1);
	while (text && len < MOST &&
	       (n = read(fd, text + len, MOST - len)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		len += (size_t)n;
	}
	if (!text)
		ret = error_set(err, -ENOMEM, "out of memory");
	else if (n < 0)
		ret = error_set(err, -errno, "cannot read /proc/interrupts: %s",
				strerror(errno));
	else {
		text[len] = '\0';
		ret = interrupts_parse(text, now, err);
	}
	free(text);
	close(fd);
	return ret;
}

void interrupts_free(struct interrupts *now)
{
	free(now->list);
	*now = (struct interrupts){ 0 };
}

uint64_t interrupts_since(const struct interrupts *before,
			  const struct interrupt_line *now)
{
	for (size_t i = 0; i < before->count; i++)
		if (!strcmp(before->list[i].line, now->line))
			return now->count > before->list[i].count ?
				       now->count - before->list[i].count :
				       0;
	return now->count; /* the line is new */
}
