/* SPDX-License-Identifier: BSD-2-Clause */
#include "core.h"

#include <stdlib.h>

#include "client.h"
#include "ta.h"

#define OUT_BYTES (1u << 20)
#define TOPICS    256u /* number of topics whose receivers are remembered */

/* A topic, and the receivers who took its last message. */
struct topic {
	char name[TZ_TOPIC_MAX + 1];
	unsigned int count;
	char receivers[TZ_RECEIVERS_MAX][TZ_ID_MAX + 1];
};

struct copy {
	char receiver[TZ_ID_MAX + 1];
	size_t at;  /* offset in the output buffer */
	bool made;  /* false: the receiver isn't allowed to read it */
	bool taken; /* the broker asked for it */
};

struct tz_core {
	struct tz_core_options options;
	struct tz_counts counts;
	struct tee_session *tee;
	TEEC_SharedMemory *in, *names, *out;
	/* The current message, which `in` holds, and its copies. */
	size_t len, used; /* message bytes, 0: none; output bytes used */
	bool accepted;    /* it has just arrived */
	char topic[TZ_TOPIC_MAX + 1];
	unsigned int count;
	struct copy copies[TZ_RECEIVERS_MAX];
	struct topic topics[TOPICS];
	/* The clients whose key files were read; used only without a TEE. */
	struct known {
		struct known *next;
		struct tz_client client;
	} * known;
	uint8_t plain[TZ_MESSAGE_MAX], sealed[TZ_MESSAGE_MAX];
	char sealed_for[TZ_ID_MAX + 1];
	uint8_t sealed_head[TZ_FIXED];
};

static void close_tee(struct tz_core *core)
{
	tee_shm_free(core->tee, core->in);
	tee_shm_free(core->tee, core->names);
	tee_shm_free(core->tee, core->out);
	tee_session_close(core->tee);
	core->tee = NULL;
	core->in = core->names = core->out = NULL;
	core->len = core->count = 0;
}

static int open_tee(struct tz_core *core, struct error *err)
{
	int rc = tz_ta_open(&core->tee, core->options.extensions, err);

	if (!rc)
		rc = tee_shm_alloc(core->tee, TZ_MESSAGE_MAX, TEEC_MEM_INPUT, &core->in, err);
	if (!rc)
		rc = tee_shm_alloc(core->tee, 4096, TEEC_MEM_INPUT, &core->names, err);
	if (!rc)
		rc = tee_shm_alloc(core->tee, OUT_BYTES, TEEC_MEM_OUTPUT, &core->out, err);
	if (rc && core->tee)
		close_tee(core);
	return rc;
}

static size_t step_of(size_t len)
{
	return (len + 15) / 16 * 16;
}

/* Writes the topic and the receivers from index `first` on. Returns the bytes written. */
static size_t put_names(struct tz_core *core, unsigned int first)
{
	uint8_t *p = core->names->buffer;
	size_t n = strlen(core->topic);

	*p++ = (uint8_t)(n >> 8);
	*p++ = (uint8_t)n;
	memcpy(p, core->topic, n);
	p += n;
	for (unsigned int i = first; i < core->count; i++) {
		n = strlen(core->copies[i].receiver);
		*p++ = (uint8_t)n;
		memcpy(p, core->copies[i].receiver, n);
		p += n;
	}
	return (size_t)(p - (uint8_t *)core->names->buffer);
}

/* Calls the TA, which checks the message and makes the copies from index `first` on. */
static int call(struct tz_core *core, bool fresh, unsigned int first, struct error *err)
{
	size_t step = step_of(core->len), bytes = step * (core->count - first);
	TEEC_Operation op = { 0 };
	struct error mine = { 0 };
	int rc = 0;

	tee_set_memref(&op, 0, TEEC_MEMREF_PARTIAL_INPUT, core->in, 0, core->len);
	tee_set_memref(&op, 1, TEEC_MEMREF_PARTIAL_INPUT, core->names, 0, put_names(core, first));
	tee_set_memref(&op, 2, TEEC_MEMREF_PARTIAL_OUTPUT, core->out, bytes ? core->used : 0,
		       bytes ? bytes : 16);
	tee_set_type(&op, 3, TEEC_VALUE_INOUT);
	op.params[3].value.a = fresh ? TZ_FRESH : 0;
	core->counts.calls++;
	rc = tee_invoke(core->tee, TA_BROKER_CMD_FORWARD, &op, "pass on a message", &mine);
	for (unsigned int i = first; i < core->count; i++) {
		core->copies[i].at = core->used + step * (i - first);
		core->copies[i].made = !rc && op.params[3].value.a >> (i - first) & 1;
		core->copies[i].taken = false;
	}
	core->used += bytes;
	if (rc && mine.tee_result == TEEC_ERROR_TARGET_DEAD)
		close_tee(core); /* the next message opens a new session */
	if (rc && err)
		*err = mine;
	return rc;
}

static struct tz_client *client(struct tz_core *core, const char *id, size_t n)
{
	struct known *known = core->known;
	char path[4200];

	while (known && (strlen(known->client.id) != n || memcmp(known->client.id, id, n)))
		known = known->next;
	if (known)
		return &known->client;
	if (memchr(id, '/', n) || n > TZ_ID_MAX)
		return NULL;
	snprintf(path, sizeof(path), "%s/%.*s", core->options.keys, (int)n, id);
	known = malloc(sizeof(*known));
	if (!known || tz_client_load(&known->client, path, NULL)) {
		free(known);
		return NULL;
	}
	known->next = core->known;
	core->known = known;
	return &known->client;
}

static const void *normal_copy(struct tz_core *core, const char *topic, const char *receiver,
			       const uint8_t *message, size_t len, struct error *err)
{
	struct tz_client *from = NULL, *to = NULL;

	if (!tz_head_len(message, len, TZ_TO_BROKER))
		return NULL;
	if (!memcmp(core->sealed_head, message, TZ_FIXED) && !strcmp(core->sealed_for, receiver))
		return core->sealed;
	from = client(core, (const char *)message + TZ_FIXED, message[TZ_FIXED - 1]);
	if (from)
		to = client(core, receiver, strlen(receiver));
	if (!to || tz_reencrypt(from, to, topic, message, len, core->plain, core->sealed, err))
		return NULL;
	memcpy(core->sealed_head, message, TZ_FIXED);
	strcpy(core->sealed_for, receiver);
	return core->sealed;
}

int tz_core_open(struct tz_core **out, const struct tz_core_options *options, struct error *err)
{
	struct tz_core *core = calloc(1, sizeof(*core));
	int rc = 0;

	*out = NULL;
	if (!core)
		return error_memory(err);
	core->options = *options;
	if (!options->keys)
		rc = open_tee(core, err);
	if (rc)
		tz_core_close(core);
	else
		*out = core;
	return rc;
}

void tz_core_close(struct tz_core *core)
{
	if (!core)
		return;
	if (core->tee)
		close_tee(core);
	for (struct known *next; core->known; core->known = next) {
		next = core->known->next;
		free(core->known);
	}
	free(core);
}

static struct topic *place_of(struct tz_core *core, const char *topic)
{
	uint32_t hash = 2166136261u;

	for (const char *p = topic; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 16777619u;
	return &core->topics[hash % TOPICS];
}

/* Remembers who took the current message, as the expected receivers of the topic's next message. */
static void remember(struct tz_core *core)
{
	struct topic *topic = place_of(core, core->topic);

	if (!core->len || !core->options.expect)
		return;
	strcpy(topic->name, core->topic);
	topic->count = 0;
	for (unsigned int i = 0; i < core->count; i++)
		if (core->copies[i].taken)
			strcpy(topic->receivers[topic->count++], core->copies[i].receiver);
}

static void expect(struct tz_core *core)
{
	const struct topic *topic = place_of(core, core->topic);

	if (strcmp(topic->name, core->topic))
		return;
	for (unsigned int i = 0; i < topic->count; i++) {
		if ((core->count + 1) * step_of(core->len) > OUT_BYTES)
			return;
		strcpy(core->copies[core->count++].receiver, topic->receivers[i]);
	}
}

/* Makes this message the current one, in place of the one before. */
static int take(struct tz_core *core, const char *topic, const void *message, size_t len,
		struct error *err)
{
	if (!len || len > TZ_MESSAGE_MAX || strlen(topic) > TZ_TOPIC_MAX)
		return error_set(err, -EMSGSIZE, "a message of %zu bytes or its topic is too long",
				 len);
	if (!core->tee && open_tee(core, err))
		return err ? err->code : -EIO;
	remember(core);
	memcpy(core->in->buffer, message, len);
	strcpy(core->topic, topic);
	core->len = len;
	core->used = 0;
	core->count = 0;
	core->accepted = false;
	return 0;
}

int tz_core_arrived(struct tz_core *core, const char *topic, const void *message, size_t len,
		    struct error *err)
{
	int rc = 0;

	core->counts.arrived++;
	/* Without a TEE the message is checked when its first copy is made. */
	if (core->options.keys && tz_head_len(message, len, TZ_TO_BROKER))
		return 0;
	rc = take(core, topic, message, len, err);
	if (!rc) {
		expect(core);
		rc = call(core, true, 0, err);
	}
	core->accepted = !rc;
	if (rc)
		core->len = core->count = 0;
	core->counts.refused += rc != 0;
	return rc;
}

/*
 * Returns true if this is the current message. Head (with nonce), tag and topic identify a message.
 */
static bool is_at_hand(const struct tz_core *core, const char *topic, const uint8_t *message,
		       size_t len)
{
	const uint8_t *at_hand = core->len ? core->in->buffer : NULL;

	return len == core->len && len > TZ_FIXED + TZ_TAG_BYTES &&
	       !memcmp(at_hand, message, TZ_FIXED) &&
	       !memcmp(at_hand + len - TZ_TAG_BYTES, message + len - TZ_TAG_BYTES, TZ_TAG_BYTES) &&
	       !strcmp(core->topic, topic);
}

bool tz_core_has_arrived(struct tz_core *core, const char *topic, const void *message, size_t len)
{
	bool has = core->options.keys || (core->accepted && is_at_hand(core, topic, message, len));

	core->accepted = false;
	return has;
}

static const void *tee_copy(struct tz_core *core, const char *topic, const char *receiver,
			    const uint8_t *message, size_t len, struct error *err)
{
	struct copy *copy = NULL;

	if (strlen(receiver) > TZ_ID_MAX || !*receiver)
		return NULL;
	if (!is_at_hand(core, topic, message, len) && take(core, topic, message, len, err))
		return NULL;
	for (unsigned int i = 0; i < core->count && !copy; i++)
		if (!strcmp(core->copies[i].receiver, receiver))
			copy = &core->copies[i];
	if (copy) {
		core->counts.expected += copy->made && !copy->taken;
	} else {
		if (core->count == TZ_RECEIVERS_MAX || core->used + step_of(len) > OUT_BYTES) {
			remember(core);
			core->count = 0;
			core->used = 0;
		}
		copy = &core->copies[core->count++];
		strcpy(copy->receiver, receiver);
		if (call(core, false, core->count - 1, err))
			return NULL;
	}
	core->counts.copies += copy->made && !copy->taken;
	copy->taken = true;
	return copy->made ? (uint8_t *)core->out->buffer + copy->at : NULL;
}

const void *tz_core_copy(struct tz_core *core, const char *topic, const char *receiver,
			 const void *message, size_t len, struct error *err)
{
	const void *copy = NULL;

	if (core->options.keys)
		copy = normal_copy(core, topic, receiver, message, len, err);
	else
		copy = tee_copy(core, topic, receiver, message, len, err);
	core->counts.copies += copy && core->options.keys;
	core->counts.denied += copy == NULL;
	return copy;
}

const struct tz_counts *tz_core_counts(const struct tz_core *core)
{
	return &core->counts;
}
