/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures the cost of a message in a running broker: CPU time, and the latency from the publisher
 * to each subscriber. One thread serves all subscribers by epoll: libmosquitto's own loop waits
 * with pselect(), which is limited to descriptors below 1,024, and a client needs three.
 *
 *   tz_bench PID SUBSCRIBERS MESSAGES BYTES QOS RATE [KEY-FOLDER TOPIC]
 *
 * With KEY-FOLDER, its client `pub` seals the payloads, and each subscriber sub1, sub2, … opens its
 * copies; a copy that can't be opened is an error. RATE is in messages a second; 0: each message
 * waits until the one before has arrived.
 *
 * The program prints CPU times in ns, one value a message: `cpu_ns` of the broker, `publisher_ns`
 * and `subscribers_ns` (sealing and opening included), and `message_ns`, their sum. `latency_ns`
 * has one value a copy. Three messages warm up; `first_ns` is the broker's time for the first of
 * these. With a RATE, latency counts from when a message was due, and CPU times are zeros.
 */
#include <err.h>
#include <mosquitto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "client.h"
#include "clock.h"
#include "marker.h"

#define WARM_UP 3

static atomic_uint got, ready;
static atomic_size_t sent;
static uint64_t *sent_at; /* for each message */
static size_t bytes;
static unsigned int subscribers, due;
static int qos, subscribers_epoll;
static const char *topic = "plain/bench", *folder;
static uint64_t *latency;

/* The programs whose CPU time of a message is reported. */
enum { BROKER, PUBLISHER, SUBSCRIBERS, ALL, PROGRAMS };
static uint64_t *costs[PROGRAMS]; /* CPU time in ns, for each message */
static clockid_t subscribers_clock;

struct person {
	struct mosquitto *mosq;
	struct tz_client client;
	size_t number, came; /* number of the subscriber; messages received */
};

/* Returns the CPU time in ns of a process that is now waiting, by its scheduler statistics. */
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

static void on_subscribe(struct mosquitto *mosq, void *user, int mid, int n, const int *granted)
{
	atomic_fetch_add(&ready, 1);
}

static void on_connect(struct mosquitto *mosq, void *user, int rc)
{
	if (rc)
		errx(1, "the broker refuses a connection");
	mosquitto_subscribe(mosq, NULL, topic, qos);
}

static void on_message(struct mosquitto *mosq, void *user, const struct mosquitto_message *message)
{
	struct person *person = user;
	uint64_t took = clock_now_ns() - sent_at[person->came];
	size_t len = (size_t)message->payloadlen;
	uint8_t *plain = malloc(len + 1);
	struct tz_opened opened;
	struct error error = { 0 };

	if (folder) {
		if (tz_open(&person->client, topic, message->payload, len, plain, &opened,
			    &error) ||
		    opened.len != bytes)
			errx(1, "%s", error.what);
		if (opened.repeated)
			errx(1, "%s got a message twice", person->client.id);
	}
	free(plain);
	if (person->came == atomic_load(&sent))
		errx(1, "more copies came than were sent");
	latency[person->came++ * subscribers + person->number] = took;
	atomic_fetch_add(&got, 1);
}

/* The thread that serves all subscribers. */
static void *serve(void *unused)
{
	struct epoll_event event;

	while (epoll_wait(subscribers_epoll, &event, 1, -1) >= 0) {
		if (mosquitto_loop_read(event.data.ptr, 1))
			errx(1, "the broker closed a connection");
		if (mosquitto_want_write(event.data.ptr))
			mosquitto_loop_write(event.data.ptr, 1);
	}
	return unused;
}

static void come(struct person *person, const char *id, bool subscribes)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct error error = { 0 };
	char path[300];
	int rc = 0;

	snprintf(path, sizeof(path), "%s/%s", folder ? folder : "", id);
	if (folder && tz_client_load(&person->client, path, &error))
		errx(1, "%s", error.what);
	event.data.ptr = person->mosq = mosquitto_new(id, true, person);
	rc = mosquitto_connect(person->mosq, "127.0.0.1", 1883, 3600);
	if (!rc && subscribes) {
		mosquitto_connect_callback_set(person->mosq, on_connect);
		mosquitto_subscribe_callback_set(person->mosq, on_subscribe);
		mosquitto_message_callback_set(person->mosq, on_message);
		rc = epoll_ctl(subscribers_epoll, EPOLL_CTL_ADD, mosquitto_socket(person->mosq),
			       &event);
	} else if (!rc) {
		rc = mosquitto_loop_start(person->mosq);
	}
	if (rc)
		errx(1, "no broker on 127.0.0.1:1883");
}

static void wait_for(atomic_uint *count, const char *what)
{
	for (int i = 0; atomic_load(count) < due; i++) {
		if (i == 200000)
			errx(1, "only %u of %u %s came", atomic_load(count), due, what);
		usleep(1000);
	}
}

/* Sends message `number`, but not before the time `at`. */
static void send_one(struct person *pub, size_t number, uint64_t at, const uint8_t *plain,
		     uint8_t *sealed)
{
	size_t len = bytes + (folder ? TZ_OVERHEAD(strlen(pub->client.id)) : 0);
	struct error error = { 0 };

	if (folder && tz_seal(&pub->client, topic, plain, bytes, sealed, &error))
		errx(1, "%s", error.what);
	for (uint64_t t = clock_now_ns(); t < at; t = clock_now_ns())
		usleep((useconds_t)((at - t) / 1000 + 1));
	sent_at[number] = at ? at : clock_now_ns();
	atomic_store(&sent, number + 1);
	if (mosquitto_publish(pub->mosq, NULL, topic, (int)len, folder ? sealed : plain, qos,
			      false))
		errx(1, "can't publish");
}

/*
 * Sends one message to all subscribers and records its costs. The publisher's CPU time is this
 * program's, minus that of the subscribers' thread and of this thread's other work.
 */
static void send_alone(struct person *pub, const char *pid, size_t number, const uint8_t *plain,
		       uint8_t *sealed)
{
	uint64_t broker = 0, program = 0, subs = 0, waiting = 0;

	usleep(20000); /* until the broker waits again */
	broker = cpu_of(pid);
	atomic_store(&got, 0);
	program = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	subs = clock_ns(subscribers_clock);
	MARKER_BEGIN();
	send_one(pub, number, 0, plain, sealed);
	waiting = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	wait_for(&got, "copies");
	MARKER_END();
	usleep(20000);
	waiting = clock_ns(CLOCK_THREAD_CPUTIME_ID) - waiting;
	costs[BROKER][number] = cpu_of(pid) - broker;
	costs[SUBSCRIBERS][number] = clock_ns(subscribers_clock) - subs;
	costs[PUBLISHER][number] =
		clock_ns(CLOCK_PROCESS_CPUTIME_ID) - program - waiting - costs[SUBSCRIBERS][number];
	for (int i = 0; i < ALL; i++)
		costs[ALL][number] += costs[i][number];
}

static void print(const char *name, const uint64_t *values, size_t count)
{
	printf("%s", name);
	for (size_t i = 0; i < count; i++)
		printf(" %llu", (unsigned long long)values[i]);
	puts("");
}

int main(int argc, char **argv)
{
	struct person *people = NULL;
	uint64_t rate = 0, begin = 0;
	uint8_t *plain = NULL, *sealed = NULL;
	size_t messages = 0, m = 0;
	pthread_t thread;

	if (argc != 7 && argc != 9)
		errx(2, "see the top of tz_bench.c");
	due = subscribers = (unsigned int)atoi(argv[2]);
	messages = (size_t)atol(argv[3]);
	bytes = (size_t)atol(argv[4]);
	qos = atoi(argv[5]);
	rate = (uint64_t)atol(argv[6]);
	if (argc == 9) {
		folder = argv[7];
		topic = argv[8];
	}
	mosquitto_lib_init();
	subscribers_epoll = epoll_create1(0);
	people = calloc(subscribers + 1, sizeof(*people));
	latency = calloc(subscribers * (messages + WARM_UP), sizeof(*latency));
	sent_at = calloc(messages + WARM_UP + 1, sizeof(*sent_at));
	for (int i = 0; i < PROGRAMS; i++)
		costs[i] = calloc(messages + WARM_UP, sizeof(*costs[i]));
	plain = calloc(1, bytes + 1);
	sealed = malloc(bytes + TZ_OVERHEAD(TZ_ID_MAX));
	come(&people[0], "pub", false);
	for (unsigned int i = 1; i <= subscribers; i++) {
		char id[16];

		snprintf(id, sizeof(id), "sub%u", i);
		people[i].number = i - 1;
		come(&people[i], id, true);
	}
	if (pthread_create(&thread, NULL, serve, NULL) ||
	    pthread_getcpuclockid(thread, &subscribers_clock))
		errx(1, "can't start a thread");
	wait_for(&ready, "subscribers");
	for (; m < WARM_UP + (rate ? 0 : messages); m++) {
		if (m == WARM_UP)
			MARKER_ARM(); /* `teemark trace` records from here on */
		send_alone(&people[0], argv[1], m, plain, sealed);
	}
	MARKER_DISARM();
	atomic_store(&got, 0);
	due = subscribers * (unsigned int)messages;
	for (begin = clock_now_ns(); rate && m < WARM_UP + messages; m++)
		send_one(&people[0], m, begin + (m - WARM_UP) * 1000000000u / rate, plain, sealed);
	if (rate)
		wait_for(&got, "copies");
	print("first_ns", costs[BROKER], 1);
	print("cpu_ns", costs[BROKER] + WARM_UP, messages);
	print("publisher_ns", costs[PUBLISHER] + WARM_UP, messages);
	print("subscribers_ns", costs[SUBSCRIBERS] + WARM_UP, messages);
	print("message_ns", costs[ALL] + WARM_UP, messages);
	print("latency_ns", latency + WARM_UP * subscribers, messages * subscribers);
	return 0;
}
