/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients of `make soak`, which runs them on the board while it kills their broker.
 *
 *   tz_soak FOLDER MESSAGES RUN READERS PERSISTENT
 *
 * Three publishers (pub0 to pub2, whose number is their QoS) send on 18 topics. Each reader may
 * read one topic and comes and goes; three of them subscribe to one more, which they may not read,
 * and so does a stranger without a key. They reconnect by themselves when the broker is gone.
 *
 * The program ends with an error when a copy comes to who may not read it, can't be opened by its
 * reader, opens with another reader's key, or holds what was not sent; when a message comes twice
 * and tz_open() doesn't say so; when it comes twice at all with QoS 0, with which pub0 publishes some
 * payloads again, or with QoS 2, while no connection broke; and when one with QoS 1 or 2 is lost
 * although none broke. After a kill QoS 0 may come twice: the TA may have lost what it had seen.
 *
 * After a kill libmosquitto takes the new broker's message for one of the old broker's with the same
 * number, of which it kept an unfinished handshake, and hands out that one: a second time, or so late
 * that tz_open() takes it for repeated. A broker that keeps its sessions (PERSISTENT) may hand out
 * again what its file still held; what is under way when a run ends may come in the next. Those are
 * counted. Counts are printed after each tenth of the messages, and at the end.
 *
 * One thread serves all connections by poll().
 */
#include <err.h>
#include <mosquitto.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

#define TOPICS      18u
#define PUBLISHERS  3u
#define SNEAKS      3u
#define READERS_MAX 200u
#define BEHIND      60u /* messages that a reader who is there may be behind its topic */
#define AWAY        20u /* messages of its topic that a reader misses at most while it is away */
#define BYTES_MAX   20000u
#define BURST       8 /* messages that are sent at once, at most */

struct payload {
	uint32_t run, topic, number, size;
};

static struct person {
	struct mosquitto *mosq;
	struct tz_client client;
	char id[16];
	bool publishes, stranger;
	bool wanted; /* it is to be connected */
	bool up;     /* it is */
	bool ready;  /* and subscribed */
	unsigned int topic, qos;
	uint32_t seen;  /* messages of its topic up to the last one that came */
	uint32_t count; /* of this run's that came */
	uint32_t until; /* it is away until its topic has so many messages */
	uint8_t *came;  /* by number */
} people[PUBLISHERS + READERS_MAX + 1];

static unsigned int persons, readers;
static uint32_t run, sent_on[TOPICS], messages;
static bool persistent, over;
static const char *folder;
static uint64_t last_came;
static struct {
	unsigned long sent, opened, replayed, again[3], late, old, tried, lost, broken, left;
} n;

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static const char *name_of(unsigned int topic)
{
	static char name[32];

	snprintf(name, sizeof(name), "tz/soak/%u", topic);
	return name;
}

/* Each byte of a message follows from its number and place. */
static void fill(uint8_t *plain, const struct payload *p)
{
	memcpy(plain, p, sizeof(*p));
	for (uint32_t i = sizeof(*p); i < p->size; i++)
		plain[i] = (uint8_t)(p->number * 31 + p->topic * 7 + i);
}

static void on_subscribe(struct mosquitto *mosq, void *user, int mid, int count, const int *granted)
{
	(void)mosq, (void)mid, (void)count, (void)granted;
	((struct person *)user)->ready = true;
}

static void on_connect(struct mosquitto *mosq, void *user, int rc, int flags)
{
	struct person *me = user;
	char *topics[] = { NULL, NULL };
	unsigned int count = 1;

	if (rc)
		errx(1, "the broker refuses %s", me->id);
	me->up = true;
	if (me->publishes) {
		me->ready = true;
		return;
	}
	if (!(flags & 1) || !me->qos) /* the broker kept nothing for it */
		me->seen = sent_on[me->topic];
	topics[0] = strdup(me->stranger ? "+/soak/0" : name_of(me->topic));
	if (!me->stranger && (unsigned int)(me - people) - PUBLISHERS < SNEAKS)
		topics[count++] = strdup(name_of((me->topic + 1) % TOPICS));
	mosquitto_subscribe_multiple(mosq, NULL, (int)count, topics, 2, 0, NULL);
	free(topics[0]);
	free(topics[1]);
}

static void on_disconnect(struct mosquitto *mosq, void *user, int rc)
{
	struct person *me = user;

	(void)mosq;
	me->up = me->ready = false;
	n.broken += rc != 0;
}

static void on_message(struct mosquitto *mosq, void *user, const struct mosquitto_message *m)
{
	static uint8_t plain[BYTES_MAX + 1], expected[BYTES_MAX + 1], again[BYTES_MAX + 1];
	struct person *me = user, *other = NULL;
	size_t len = (size_t)m->payloadlen;
	struct tz_opened opened, as_other;
	struct error error = { 0 };
	struct payload p;
	bool again_here = false;

	(void)mosq;
	if (me->stranger || strcmp(m->topic, name_of(me->topic)))
		errx(1, "%s, who may not read %s, got a message there", me->id, m->topic);
	if (len > BYTES_MAX ||
	    tz_open(&me->client, m->topic, m->payload, len, plain, &opened, &error))
		errx(1, "%s can't open its copy: %s", me->id, error.what);
	memcpy(&p, plain, sizeof(p));
	if (opened.len < sizeof(p) || p.size != opened.len || p.topic != me->topic)
		errx(1, "%s opened what nobody sent", me->id);
	fill(expected, &p);
	if (memcmp(plain, expected, p.size) ||
	    atoi(opened.sender + 3) != (int)(p.topic % PUBLISHERS))
		errx(1, "%s opened what %s didn't send", me->id, opened.sender);
	if (!(rand() % 16)) {
		other = &people[PUBLISHERS + (unsigned int)rand() % readers];
		n.tried += other != me;
		if (other != me &&
		    !tz_open(&other->client, m->topic, m->payload, len, again, &as_other, &error))
			errx(1, "%s opens a copy of %s", other->id, me->id);
	}
	last_came = now_ms();
	n.opened++;
	if (p.run != run) {
		if (!persistent && p.run + 1 < run)
			errx(1, "%s got a message of run %u in run %u", me->id, p.run, run);
		n.old++;
		return;
	}
	if (p.number >= messages || p.number >= sent_on[me->topic])
		errx(1, "%s opened a message before it was sent", me->id);
	again_here = me->came[p.number];
	if (again_here && !opened.repeated)
		errx(1, "%s got message %u of %s twice, and tz_open doesn't say so", me->id,
		     p.number, m->topic);
	if (again_here && me->qos != 1 && !n.broken)
		errx(1, "%s got a message of QoS %u twice", me->id, me->qos);
	if (!again_here && opened.repeated && !n.broken)
		errx(1, "%s got message %u of %s once, and tz_open says twice", me->id, p.number,
		     m->topic);
	n.again[me->qos] += again_here;
	n.late += !again_here && opened.repeated;
	me->count += !me->came[p.number];
	me->came[p.number] = 1;
	if (p.number + 1 > me->seen)
		me->seen = p.number + 1;
}

static void come(struct person *me)
{
	me->wanted = true;
	if (!me->mosq) {
		/* A session that stays: what is sent while it is away waits for it. */
		me->mosq = mosquitto_new(me->id, me->publishes || me->stranger, me);
		mosquitto_connect_with_flags_callback_set(me->mosq, on_connect);
		mosquitto_disconnect_callback_set(me->mosq, on_disconnect);
		mosquitto_subscribe_callback_set(me->mosq, on_subscribe);
		mosquitto_message_callback_set(me->mosq, on_message);
		mosquitto_connect(me->mosq, "127.0.0.1", 1883, 3600);
	} else {
		mosquitto_reconnect(me->mosq);
	}
}

static void leave(struct person *me)
{
	me->wanted = false;
	mosquitto_disconnect(me->mosq);
	n.left++;
}

/* Serves all connections once, and connects anew who lost theirs, but not more often than that. */
static void serve(void)
{
	static struct pollfd fds[PUBLISHERS + READERS_MAX + 1];
	static uint64_t tried, kept;
	uint64_t now = now_ms();
	bool again = now > tried + 200, keep = now > kept + 5000;

	for (unsigned int i = 0; i < persons; i++) {
		struct person *me = &people[i];
		int fd = mosquitto_socket(me->mosq);

		if (fd < 0 && me->wanted && again) {
			mosquitto_reconnect(me->mosq);
			fd = mosquitto_socket(me->mosq);
			tried = now;
		}
		if (fd >= 0 && keep)
			mosquitto_loop_misc(me->mosq);
		fds[i] = (struct pollfd){ mosquitto_socket(me->mosq), POLLIN, 0 };
		if (mosquitto_want_write(me->mosq))
			fds[i].events |= POLLOUT;
	}
	kept = keep ? now : kept;
	poll(fds, persons, 20);
	for (unsigned int i = 0; i < persons; i++) {
		if (fds[i].revents & POLLOUT)
			mosquitto_loop_write(people[i].mosq, 1);
		if (fds[i].revents & ~POLLOUT)
			mosquitto_loop_read(people[i].mosq, 1);
	}
}

/* Whether a reader who is there is far behind its topic. It may have lost the rest for good, so this
 * holds for as long as copies come at all. */
static bool congested(void)
{
	if (now_ms() > last_came + 500)
		return false;
	for (unsigned int i = PUBLISHERS; i < PUBLISHERS + readers; i++)
		if (people[i].ready && sent_on[people[i].topic] > people[i].seen + BEHIND)
			return true;
	return false;
}

static void send_one(void)
{
	static uint8_t kept[BYTES_MAX + TZ_OVERHEAD(TZ_ID_MAX)];
	static unsigned int kept_on, kept_len;
	static const uint32_t sizes[] = { 64, 64, 64,  64,  64,   64,   16,
					  16, 16, 300, 300, 1000, 1000, 5000 };
	static uint8_t plain[BYTES_MAX], sealed[BYTES_MAX + TZ_OVERHEAD(TZ_ID_MAX)];
	struct payload p = { .run = run, .topic = (unsigned int)rand() % TOPICS };
	struct person *pub = &people[p.topic % PUBLISHERS];
	struct error error = { 0 };
	size_t len = 0;

	if (!pub->ready)
		return;
	p.number = sent_on[p.topic]++;
	p.size = rand() % 200 ? sizes[(unsigned int)rand() % (sizeof(sizes) / sizeof(sizes[0]))] :
				BYTES_MAX - 100;
	fill(plain, &p);
	if (tz_seal(&pub->client, name_of(p.topic), plain, p.size, sealed, &error))
		errx(1, "%s", error.what);
	n.sent++;
	len = p.size + TZ_OVERHEAD(strlen(pub->id));
	mosquitto_publish(pub->mosq, NULL, name_of(p.topic), (int)len, sealed, (int)pub->qos,
			  false);
	if (pub->qos)
		return;
	if (kept_len && !(rand() % 16)) {
		n.replayed++;
		mosquitto_publish(pub->mosq, NULL, name_of(kept_on), (int)kept_len, kept, 0, false);
	}
	if (!(rand() % 16)) {
		memcpy(kept, sealed, len);
		kept_on = p.topic;
		kept_len = (unsigned int)len;
	}
}

/* Some readers go, and those who were away for long enough come back. */
static void change(void)
{
	for (unsigned int i = PUBLISHERS; i < PUBLISHERS + readers; i++) {
		struct person *me = &people[i];

		if (me->ready && !(rand() % 400)) {
			me->until = sent_on[me->topic] + (uint32_t)rand() % AWAY;
			leave(me);
		} else if (!me->wanted && sent_on[me->topic] >= me->until) {
			come(me);
		}
	}
}

/* Messages of QoS 1 and 2 that some reader hasn't got. */
static unsigned long lacking(void)
{
	unsigned long count = 0;

	for (unsigned int i = PUBLISHERS; i < PUBLISHERS + readers; i++)
		if (people[i].qos)
			count += sent_on[people[i].topic] - people[i].count;
	return count;
}

static bool all_ready(void)
{
	for (unsigned int i = 0; i < persons; i++)
		if (!people[i].ready)
			return false;
	return true;
}

static void say(void)
{
	n.lost = over ? lacking() : 0;
	printf("sent %lu opened %lu replayed %lu again0 %lu again1 %lu again2 %lu late %lu old %lu "
	       "tried %lu lost %lu broken %lu left %lu\n",
	       n.sent, n.opened, n.replayed, n.again[0], n.again[1], n.again[2], n.late, n.old,
	       n.tried, n.lost, n.broken, n.left);
	fflush(stdout);
}

static void person(const char *kind, unsigned int number)
{
	struct person *me = &people[persons++];
	struct error error = { 0 };
	char path[300];

	snprintf(me->id, sizeof(me->id), "%s%u", kind, number);
	me->publishes = *kind == 'p';
	me->stranger = !strcmp(kind, "stranger");
	me->topic = (number - 1) % TOPICS;
	me->qos = me->publishes ? number : me->topic % PUBLISHERS;
	me->came = calloc(messages + 1, 1);
	snprintf(path, sizeof(path), "%s/%s", folder, me->id);
	if (!me->stranger && tz_client_load(&me->client, path, &error))
		errx(1, "%s", error.what);
	come(me);
}

int main(int argc, char **argv)
{
	uint64_t begin = now_ms();

	if (argc != 6)
		errx(2, "see the top of tz_soak.c");
	folder = argv[1];
	messages = (uint32_t)atol(argv[2]);
	run = (uint32_t)atol(argv[3]);
	readers = (unsigned int)atol(argv[4]);
	persistent = atoi(argv[5]);
	srand(run);
	mosquitto_lib_init();
	for (unsigned int i = 0; i < PUBLISHERS; i++)
		person("pub", i);
	for (unsigned int i = 1; i <= readers; i++)
		person("sub", i);
	person("stranger", 1);
	while (!all_ready()) {
		serve();
		if (now_ms() > begin + 120000)
			errx(1, "not all clients could subscribe");
	}
	for (last_came = now_ms(); n.sent < messages; serve()) {
		unsigned long before = n.sent;

		for (int burst = rand() % BURST; burst >= 0 && n.sent < messages && !congested();
		     burst--)
			send_one();
		if (n.sent == before)
			continue;
		change();
		/* A burst of a short round may be more than a tenth. */
		for (before /= messages / 10; before < n.sent / (messages / 10); before++)
			say();
	}
	for (unsigned int i = PUBLISHERS; i < PUBLISHERS + readers; i++)
		if (!people[i].wanted)
			come(&people[i]);
	/* What is under way comes; after a broken connection some of it may be lost. */
	for (last_came = now_ms(); lacking() || !all_ready(); serve())
		if (now_ms() > last_came + (n.broken && all_ready() ? 3000 : 60000))
			break;
	over = true;
	say();
	if (n.lost && !n.broken)
		errx(1, "%lu copies of QoS 1 or 2 are lost, and no connection broke", n.lost);
	for (unsigned int i = PUBLISHERS; i < PUBLISHERS + readers && !n.broken; i++)
		if (!people[i].count && sent_on[people[i].topic] > 30)
			errx(1, "%s opened nothing", people[i].id);
	for (unsigned int i = 0; i < persons; i++)
		mosquitto_disconnect(people[i].mosq);
	for (unsigned int i = 0; i < 5; i++)
		serve();
	puts("done");
	return 0;
}
