/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages a second through several sessions of the broker TA, each in a thread of its own, as a
 * pool in the plugin would have them.
 *
 *   tz_pool FOLDER SESSIONS MESSAGES tee|normal
 *
 * FOLDER has the key files pub0, pub1, … (senders) and sub0, sub1, … (receivers), a pair a session.
 * A session takes MESSAGES of 64 bytes, sealed before the clock starts, and makes a copy of each; the
 * last copy is opened. `normal`: in this program's memory, where nothing but the CPUs is shared.
 * Prints the messages a second of all sessions together.
 */
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client.h"
#include "core.h"

#define BYTES 64u

static pthread_barrier_t barrier;
static unsigned int messages;

struct lane {
	pthread_t thread;
	struct tz_core *core;
	struct tz_client reader;
	char topic[32], receiver[32];
	uint8_t *sealed; /* all messages */
	size_t len;      /* of each */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void begin(struct lane *lane, unsigned int number, const char *folder, bool tee)
{
	const struct tz_core_options options = { tee ? NULL : folder, true, true };
	static const uint8_t plain[BYTES];
	struct tz_client writer;
	struct error error = { 0 };
	char path[300];

	snprintf(lane->topic, sizeof(lane->topic), "tz/pool/%u", number);
	snprintf(lane->receiver, sizeof(lane->receiver), "sub%u", number);
	snprintf(path, sizeof(path), "%s/sub%u", folder, number);
	if (tz_core_open(&lane->core, &options, &error) ||
	    tz_client_load(&lane->reader, path, &error))
		errx(1, "%s", error.what);
	snprintf(path, sizeof(path), "%s/pub%u", folder, number);
	if (tz_client_load(&writer, path, &error))
		errx(1, "%s", error.what);
	lane->len = BYTES + TZ_OVERHEAD(strlen(writer.id));
	lane->sealed = malloc(messages * lane->len);
	for (size_t m = 0; m < messages; m++)
		if (tz_seal(&writer, lane->topic, plain, BYTES, lane->sealed + m * lane->len,
			    &error))
			errx(1, "%s", error.what);
}

static void *run(void *of)
{
	struct lane *lane = of;
	struct tz_opened opened;
	struct error error = { 0 };
	const void *copy = NULL;
	uint8_t plain[512];

	pthread_barrier_wait(&barrier);
	for (size_t m = 0; m < messages; m++) {
		const uint8_t *sealed = lane->sealed + m * lane->len;

		if (tz_core_arrived(lane->core, lane->topic, sealed, lane->len, &error))
			errx(1, "%s", error.what);
		copy = tz_core_copy(lane->core, lane->topic, lane->receiver, sealed, lane->len,
				    &error);
		if (!copy)
			errx(1, "no copy for %s", lane->receiver);
	}
	pthread_barrier_wait(&barrier);
	if (tz_open(&lane->reader, lane->topic, copy, lane->len, plain, &opened, &error))
		errx(1, "%s", error.what);
	return NULL;
}

int main(int argc, char **argv)
{
	struct lane *lanes = NULL;
	unsigned int sessions = 0;
	double took = 0;

	if (argc != 5)
		errx(2, "see the top of tz_pool.c");
	sessions = (unsigned int)atoi(argv[2]);
	messages = (unsigned int)atoi(argv[3]);
	lanes = calloc(sessions, sizeof(*lanes));
	pthread_barrier_init(&barrier, NULL, sessions + 1);
	for (unsigned int i = 0; i < sessions; i++) {
		begin(&lanes[i], i, argv[1], !strcmp(argv[4], "tee"));
		if (pthread_create(&lanes[i].thread, NULL, run, &lanes[i]))
			errx(1, "can't start a thread");
	}
	pthread_barrier_wait(&barrier);
	took = now();
	pthread_barrier_wait(&barrier);
	took = now() - took;
	for (unsigned int i = 0; i < sessions; i++) {
		pthread_join(lanes[i].thread, NULL);
		tz_core_close(lanes[i].core);
	}
	printf("%.0f\n", sessions * messages / took);
	return 0;
}
