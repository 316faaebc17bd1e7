/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a message costs a broker that is running: its CPU time, and the time
 * from the publisher to each subscriber, who are threads of this process.
 *
 *   tz_bench PID SUBSCRIBERS MESSAGES BYTES QOS [KEY-FOLDER TOPIC]
 *
 * With a folder: payloads are sealed by `pub` there, and each subscriber sub1,
 * sub2, … opens what it gets; a copy that it can't open is an error. Prints a
 * line `cpu_ns MESSAGES…`, one value a message, then `latency_ns …`, one a copy.
 * Three messages warm up; `first_ns` is the CPU time of the first of them.
 */
#include <err.h>
#include <errno.h>
#include <mosquitto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

#define WARM_UP 3

static atomic_uint got, ready;
static uint64_t sent_at;
static size_t bytes;
static unsigned int subscribers;
static const char *topic = "plain/bench";
static uint64_t *latency; /* one a copy of the message at hand */

struct subscriber {
	struct mosquitto *mosq;
	struct tz_client client;
	bool opens;
	int qos;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* CPU time of a process that is waiting, as its scheduler counts it. */
static uint64_t cpu_of(const char *pid)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%s/schedstat", pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%llu", &ns) != 1)
		errx(1, "can't read %s", path);
	fclose(file);
	return ns;
}

static void on_subscribe(struct mosquitto *mosq, void *user, int mid, int n,
			 const int *granted)
{
	(void)mosq;
	(void)user;
	(void)mid;
	(void)n;
	(void)granted;
	atomic_fetch_add(&ready, 1);
}

static void on_connect(struct mosquitto *mosq, void *user, int rc)
{
	const struct subscriber *s = user;

	if (rc)
		errx(1, "the broker refuses a connection");
	mosquitto_subscribe(mosq, NULL, topic, s->qos);
}

static void on_message(struct mosquitto *mosq, void *user,
		       const struct mosquitto_message *message)
{
	uint64_t took = now() - sent_at;
	struct subscriber *s = user;
	struct tz_opened opened;
	uint8_t *plain = malloc((size_t)message->payloadlen + 1);
	struct error error = { 0 };

	(void)mosq;
	if (s->opens &&
	    (tz_open(&s->client, topic, message->payload,
		     (size_t)message->payloadlen, plain, &opened, &error) ||
	     opened.len != bytes))
		errx(1, "%s", error.what);
	if (s->opens && opened.repeated)
		errx(1, "%s got a message twice", s->client.id);
	free(plain);
	if (atomic_load(&got) == subscribers)
		errx(1, "more copies came than there are subscribers");
	latency[atomic_load(&got)] = took;
	atomic_fetch_add(&got, 1);
}

static struct mosquitto *connect_as(const char *id, struct subscriber *s)
{
	struct mosquitto *mosq = mosquitto_new(id, true, s);

	if (s) {
		mosquitto_connect_callback_set(mosq, on_connect);
		mosquitto_subscribe_callback_set(mosq, on_subscribe);
		mosquitto_message_callback_set(mosq, on_message);
	}
	if (mosquitto_connect(mosq, "127.0.0.1", 1883, 600) ||
	    mosquitto_loop_start(mosq))
		errx(1, "no broker on 127.0.0.1:1883");
	return mosq;
}

static void wait_for(atomic_uint *count, unsigned int value)
{
	for (int i = 0; atomic_load(count) < value; i++) {
		if (i == 20000)
			errx(1, "only %u of %u came", atomic_load(count),
			     value);
		usleep(1000);
	}
}

int main(int argc, char **argv)
{
	unsigned int messages = 0;
	struct subscriber *all = NULL;
	struct tz_client publisher = { 0 };
	struct mosquitto *pub = NULL;
	uint64_t *cpu = NULL, *latencies = NULL, first = 0;
	uint8_t *plain = NULL, *sealed = NULL;
	struct error error = { 0 };
	size_t len = 0, kept = 0;

	if (argc != 6 && argc != 8)
		errx(2, "see the top of tz_bench.c");
	subscribers = (unsigned int)atoi(argv[2]);
	messages = (unsigned int)atoi(argv[3]) + WARM_UP;
	bytes = (size_t)atol(argv[4]);
	if (argc == 8)
		topic = argv[7];
	mosquitto_lib_init();
	all = calloc(subscribers, sizeof(*all));
	latency = calloc(subscribers, sizeof(*latency));
	latencies = calloc((size_t)subscribers * messages, sizeof(*latencies));
	cpu = calloc(messages, sizeof(*cpu));
	plain = calloc(1, bytes + 1);
	sealed = malloc(bytes + TZ_OVERHEAD(TZ_ID_MAX));
	for (unsigned int i = 0; i < subscribers; i++) {
		char id[16], path[300];

		snprintf(id, sizeof(id), "sub%u", i + 1);
		all[i].qos = atoi(argv[5]);
		all[i].opens = argc == 8;
		if (argc == 8) {
			snprintf(path, sizeof(path), "%s/%s", argv[6], id);
			if (tz_client_load(&all[i].client, path, &error))
				errx(1, "%s", error.what);
		}
		all[i].mosq = connect_as(id, &all[i]);
	}
	if (argc == 8) {
		char path[300];

		snprintf(path, sizeof(path), "%s/pub", argv[6]);
		if (tz_client_load(&publisher, path, &error))
			errx(1, "%s", error.what);
	}
	pub = connect_as("pub", NULL);
	wait_for(&ready, subscribers);
	for (unsigned int m = 0; m < messages; m++) {
		const void *payload = plain;
		uint64_t before = 0;

		len = bytes;
		if (argc == 8) {
			if (tz_seal(&publisher, topic, plain, bytes, sealed,
				    &error))
				errx(1, "%s", error.what);
			payload = sealed;
			len += TZ_OVERHEAD(strlen(publisher.id));
		}
		usleep(20000); /* the broker waits again */
		before = cpu_of(argv[1]);
		atomic_store(&got, 0);
		sent_at = now();
		if (mosquitto_publish(pub, NULL, topic, (int)len, payload,
				      atoi(argv[5]), false))
			errx(1, "can't publish");
		wait_for(&got, subscribers);
		usleep(20000);
		if (m == 0)
			first = cpu_of(argv[1]) - before;
		if (m < WARM_UP)
			continue;
		cpu[m - WARM_UP] = cpu_of(argv[1]) - before;
		memcpy(latencies + kept, latency, subscribers * sizeof(*cpu));
		kept += subscribers;
	}
	printf("first_ns %llu\ncpu_ns", (unsigned long long)first);
	for (unsigned int m = 0; m < messages - WARM_UP; m++)
		printf(" %llu", (unsigned long long)cpu[m]);
	printf("\nlatency_ns");
	for (size_t i = 0; i < kept; i++)
		printf(" %llu", (unsigned long long)latencies[i]);
	puts("");
	return 0;
}
