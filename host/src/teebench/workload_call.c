/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call/NAME/tee/none|BYTES call=DESCRIPTION: any command of any Trusted Application, with the
 * parameters and the expected result of the description (call.h). NAME and BYTES are for reports.
 *
 * The return code of every call is checked. The other results are compared before anything is
 * recorded, and after every sample.
 */
#include <stdlib.h>

#include "call.h"
#include "json.h"
#include "known_answer.h"

enum { SEATS_MAX = 64, OTHER = 0xa5 };

/*
 * A session with a TA, shared by the TA's cases; one with set-up commands has a session of its own.
 */
struct seat {
	TEEC_UUID uuid;
	struct tee_session *tee;
	unsigned users;
	bool shared, dead;
};

static struct seat seats[SEATS_MAX];

struct call_case {
	struct call call;
	char name[48]; /* "TA UUID", for messages */
	struct pool *pool;
	struct seat *seat;
};

static struct call_step *timed(struct call_case *s)
{
	return &s->call.steps[s->call.n_steps - 1];
}

static bool has_steps(const struct call *call, unsigned when)
{
	for (unsigned i = 0; i < call->n_steps; i++)
		if (call->steps[i].when == when)
			return true;
	return false;
}

static int call_case_parse(struct bench_case *c, struct error *err)
{
	struct call call;
	int ret;

	if (!c->own)
		return case_wrong(err,
				  "what to call isn't said: call=UUID;run:COMMAND:0x00000000;...\n"
				  "`teemark plan show FILE` writes it from a bench.toml");
	ret = call_parse(&call, c->own, err);
	/* A sample has one call if other commands must precede each call. */
	if (!ret && has_steps(&call, CALL_BEFORE))
		c->loops_max = 1;
	for (unsigned i = 0; !ret && i < CALL_PARAMS; i++) {
		const struct call_param *p = &call.steps[call.n_steps - 1].params[i];

		if (p->type == CALL_MEMORY && p->in && p->out)
			c->loops_max = 1;
	}
	call_free(&call);
	return ret;
}

/* Sets s->seat to a shared session with the TA, or to a new one. */

static int sit(struct call_case *s, struct error *err)
{
	bool shared = !has_steps(&s->call, CALL_SETUP);
	struct seat *seat = NULL;
	int ret;

	for (size_t i = 0; i < SEATS_MAX; i++) {
		struct seat *other = &seats[i];

		if (!other->users) {
			seat = seat ? seat : other;
		} else if (shared && other->shared &&
			   !memcmp(&other->uuid, &s->call.uuid, sizeof(other->uuid))) {
			seat = other;
			break;
		}
	}
	if (!seat)
		return error_set(err, -ENOMEM, "more than %d sessions", SEATS_MAX);
	if (!seat->users) {
		memset(seat, 0, sizeof(*seat));
		ret = tee_session_open(&seat->tee, &s->call.uuid, s->name, err);
		if (ret)
			return ret;
		seat->uuid = s->call.uuid;
		seat->shared = shared;
	}
	seat->users++;
	s->seat = seat;
	return 0;
}

/* Opens the session anew if a call, maybe another case's, has killed the TA. */
static int revive(struct call_case *s, struct error *err)
{
	int ret;

	if (!s->seat->dead)
		return 0;
	ret = tee_session_again(s->seat->tee, &s->call.uuid, s->name, err);
	s->seat->dead = ret != 0;
	return ret;
}

/* Writes `size` bytes to `data`, as the description says. */

static void fill(const struct call_bytes *bytes, uint8_t *data, size_t size)
{
	if (bytes->kind == CALL_MESSAGE)
		pool_message(data, size);
	else if (bytes->kind == CALL_FILL)
		memset(data, bytes->fill, size);
	else
		vector_bytes(data, size, bytes->hex);
}

static int room_for(size_t size, uint8_t **room, struct error *err)
{
	*room = malloc(size ? size : 1);
	return *room ? 0 : error_set(err, -ENOMEM, "no memory for %zu bytes", size);
}

static int copy_of(const struct call_bytes *bytes, size_t size, uint8_t **copy, struct error *err)
{
	int ret = room_for(size, copy, err);

	if (!ret)
		fill(bytes, *copy, size);
	return ret;
}

/* Makes p->after, the bytes that parameter i of a step must hold after the call. */
static int make_wanted(struct call_case *s, struct call_step *step, unsigned i, struct error *err)
{
	struct call_param *p = &step->params[i];
	const struct call_bytes *want = &p->want;
	const struct call_param *of = &step->params[want->of];
	int ret;

	if (want->kind == CALL_ANY || want->kind == CALL_SHA256)
		return 0;
	p->after_bytes = p->want_size.value;
	if (want->kind != CALL_DIGEST)
		return copy_of(want, p->after_bytes, &p->after, err);
	ret = room_for(p->after_bytes, &p->after, err);
	return ret ? ret :
		     known_answer_digest(s->pool, NULL, want->algorithm, of->before,
					 of->memory.size, p->after, NULL, err);
}

static int make_memory(struct call_case *s, struct call_step *step, unsigned i, struct error *err)
{
	struct call_param *p = &step->params[i];
	struct tee_memory *m = &p->memory;
	int ret;

	m->tee = s->seat->tee;
	ret = tee_memory_make(m, err);
	if (!ret && p->in)
		ret = copy_of(&p->content, m->size, &p->before, err);
	if (ret)
		return ret;
	if (p->before && m->data)
		memcpy(m->data, p->before, m->size);
	tee_memory_set(m, &step->op, i, p->in, p->out);
	return 0;
}

static int make_step(struct call_case *s, struct call_step *step, struct error *err)
{
	static const uint32_t types[] = { TEEC_VALUE_INPUT, TEEC_VALUE_OUTPUT, TEEC_VALUE_INOUT };
	int ret = 0;

	for (unsigned i = 0; !ret && i < CALL_PARAMS; i++) {
		const struct call_param *p = &step->params[i];

		if (p->type == CALL_MEMORY)
			ret = make_memory(s, step, i, err);
		if (p->type != CALL_VALUE)
			continue;
		tee_set_type(&step->op, i, types[p->in && p->out ? 2 : p->out]);
		step->op.params[i].value.a = p->a;
		step->op.params[i].value.b = p->b;
	}
	for (unsigned i = 0; !ret && i < CALL_PARAMS; i++)
		if (step->params[i].type == CALL_MEMORY)
			ret = make_wanted(s, step, i, err);
	return ret;
}

/* Resets memory before a call: its input, or bytes that differ from the expected output. */
static void refresh(struct call_step *step)
{
	for (unsigned i = 0; i < CALL_PARAMS; i++) {
		struct call_param *p = &step->params[i];
		uint8_t *data = p->memory.data;

		if (p->type != CALL_MEMORY || !p->out || !data)
			continue;
		if (p->in) {
			memcpy(data, p->before, p->memory.size);
			continue;
		}
		memset(data, OTHER, p->memory.size);
		for (size_t k = 0; p->after && k < p->after_bytes; k++)
			data[k] = (uint8_t)~p->after[k];
	}
}

/* Returns an error that says how the result of a call differs from the expected one. */

static int refused(struct call_case *s, const struct call_step *step, TEEC_Result res,
		   uint32_t origin, struct error *err)
{
	const char *expected = tee_result_name(step->result);
	int ret;

	if (res == TEEC_ERROR_TARGET_DEAD)
		s->seat->dead = true;
	if (res == TEEC_SUCCESS)
		return error_set(err, -EBADMSG,
				 "%s succeeded, where the result %s (0x%08x) is expected",
				 step->name, expected ? expected : "without a name", step->result);
	if (step->result != TEEC_SUCCESS)
		ret = error_tee(err, res, origin,
				"%s doesn't return %s (0x%08x) from the trusted application",
				step->name, expected ? expected : "a result", step->result);
	else
		ret = error_tee(err, res, origin, "%s failed", step->name);
	if (res == TEEC_ERROR_BAD_PARAMETERS && step->result != res)
		error_hint(err, NULL,
			   "the TA takes other types or values of parameters than it is "
			   "given, or has no such command");
	if (res == TEEC_ERROR_NOT_SUPPORTED && step->result != res)
		error_hint(err, NULL, "does the TA have a command of this number?");
	return ret;
}

static inline int invoke(struct call_case *s, struct call_step *step, struct error *err)
{
	struct tee_session *tee = s->seat->tee;
	uint32_t origin = 0;
	TEEC_Result res;

	step->done = step->op;
	res = tee->api->invoke(&tee->session, step->command, &step->done, &origin);
	if (res == step->result && (res == TEEC_SUCCESS || origin == TEEC_ORIGIN_TRUSTED_APP))
		return 0;
	return refused(s, step, res, origin, err);
}

static int check_number(const char *name, unsigned i, const char *what,
			const struct call_number *want, uint64_t got, struct error *err)
{
	if (want->any || want->value == got)
		return 0;
	return error_set(err, -EBADMSG, "%s: %s of p%u is %llu, not %u", name, what, i,
			 (unsigned long long)got, want->value);
}

/*
 * Compares a parameter's SHA-256 with the expected one. Bytes that match are kept, and compared
 * byte for byte from then on.
 */
static int check_sha256(struct pool *pool, const char *name, unsigned i, struct call_param *p,
			size_t bytes, struct error *err)
{
	const struct algorithm *sha256 = algorithm_by_name("sha256");
	uint8_t wanted[CALL_SHA256_BYTES], got[ALG_DIGEST_MAX_BYTES];
	char text[2 * CALL_SHA256_BYTES + 1];
	int ret = known_answer_digest(pool, NULL, sha256, p->memory.data, bytes, got, NULL, err);

	if (ret)
		return ret;
	vector_bytes(wanted, sizeof(wanted), p->want.hex);
	for (size_t k = 0; k < CALL_SHA256_BYTES; k++)
		snprintf(text + 2 * k, 3, "%02x", got[k]);
	if (memcmp(wanted, got, sizeof(wanted)))
		return error_set(err, -EBADMSG,
				 "%s: the %zu bytes of p%u have the SHA-256 "
				 "%s, which isn't the expected one",
				 name, bytes, i, text);
	ret = room_for(bytes, &p->after, err);
	if (ret)
		return ret;
	memcpy(p->after, p->memory.data, bytes);
	p->after_bytes = bytes;
	return 0;
}

static int check_memory(struct call_case *s, struct call_step *step, unsigned i, struct error *err)
{
	struct call_param *p = &step->params[i];
	const char *name = step->name;
	const uint8_t *data = p->memory.data;
	size_t bytes = p->memory.kind == MEMORY_TEMPORARY ? step->done.params[i].tmpref.size :
							    step->done.params[i].memref.size;
	size_t k = 0;
	int ret = check_number(name, i, "the size", &p->want_size, bytes, err);

	if (ret || p->want.kind == CALL_ANY)
		return ret;
	if (bytes > p->memory.size)
		return error_set(err, -EBADMSG, "%s: p%u has %zu bytes, and room for %zu", name, i,
				 bytes, p->memory.size);
	if (!p->after)
		return check_sha256(s->pool, name, i, p, bytes, err);
	if (bytes != p->after_bytes)
		return error_set(err, -EBADMSG, "%s: p%u has %zu bytes, not %zu", name, i, bytes,
				 p->after_bytes);
	if (!bytes || !memcmp(data, p->after, bytes))
		return 0;
	while (data[k] == p->after[k])
		k++;
	return error_set(err, -EBADMSG, "%s: byte %zu of p%u is %02x, not %02x", name, k, i,
			 data[k], p->after[k]);
}

static int check_step(struct call_case *s, struct call_step *step, struct error *err)
{
	int ret = 0;

	for (unsigned i = 0; !ret && i < CALL_PARAMS; i++) {
		const struct call_param *p = &step->params[i];
		const TEEC_Value *v = &step->done.params[i].value;

		if (!p->out)
			continue;
		if (p->type == CALL_MEMORY) {
			ret = check_memory(s, step, i, err);
			continue;
		}
		ret = check_number(step->name, i, "value a", &p->want_a, v->a, err);
		if (!ret)
			ret = check_number(step->name, i, "value b", &p->want_b, v->b, err);
	}
	return ret;
}

static int run_steps(struct call_case *s, unsigned when, struct error *err)
{
	int ret = 0;

	for (unsigned i = 0; !ret && i < s->call.n_steps; i++) {
		struct call_step *step = &s->call.steps[i];

		if (step->when != when)
			continue;
		refresh(step);
		ret = invoke(s, step, err);
		if (!ret)
			ret = check_step(s, step, err);
	}
	return ret;
}

/* Opens a session, makes the parameters of all steps, and runs the set-up commands. */

static int call_prepare(struct bench_case *c, struct error *err)
{
	static const char *const whens[] = { "set-up command", "command before", "command" };
	struct call_case *s = c->state;
	int ret = call_parse(&s->call, c->own, err);

	s->pool = c->pool;
	snprintf(s->name, sizeof(s->name), "TA %s", s->call.uuid_text);
	if (!ret)
		ret = sit(s, err);
	if (!ret)
		ret = revive(s, err);
	for (unsigned i = 0; !ret && i < s->call.n_steps; i++) {
		struct call_step *step = &s->call.steps[i];

		snprintf(step->name, sizeof(step->name), "%s %u", whens[step->when], step->command);
		ret = make_step(s, step, err);
	}
	return ret ? ret : run_steps(s, CALL_SETUP, err);
}

static int call_ready(struct bench_case *c, struct error *err)
{
	struct call_case *s = c->state;
	int ret = revive(s, err);

	if (!ret)
		ret = run_steps(s, CALL_BEFORE, err);
	refresh(timed(s));
	return ret;
}

static int call_once(struct bench_case *c, struct error *err)
{
	return invoke(c->state, timed(c->state), err);
}

static int call_check(struct bench_case *c, struct error *err)
{
	return check_step(c->state, timed(c->state), err);
}

/* Writes the TA, its command, and which outputs are not compared ("unchecked"). */
static void call_facts(const struct bench_case *c, struct json *json)
{
	const struct call_case *s = c->state;
	const struct call_step *is = &s->call.steps[s->call.n_steps - 1];
	char name[32];

	json_string(json, "ta", s->call.uuid_text);
	json_u64(json, "command", is->command);
	json_array(json, "unchecked");
	for (unsigned i = 0; i < CALL_PARAMS; i++) {
		const struct call_param *p = &is->params[i];
		bool memory = p->type == CALL_MEMORY;

		if (!p->out)
			continue;
		snprintf(name, sizeof(name), "p%u", i);
		if (memory ? p->want.kind == CALL_ANY : p->want_a.any && p->want_b.any)
			json_string(json, NULL, name);
		snprintf(name, sizeof(name), "p%u.%c", i, p->want_a.any ? 'a' : 'b');
		if (!memory && p->want_a.any != p->want_b.any)
			json_string(json, NULL, name);
	}
	json_array_end(json);
}

static void call_teardown(struct bench_case *c)
{
	struct call_case *s = c->state;

	for (unsigned i = 0; s->seat && i < s->call.n_steps; i++) {
		for (unsigned k = 0; k < CALL_PARAMS; k++) {
			struct call_param *p = &s->call.steps[i].params[k];

			tee_memory_drop(&p->memory);
			free(p->before);
			free(p->after);
		}
	}
	if (s->seat && !--s->seat->users)
		tee_session_close(s->seat->tee);
	call_free(&s->call);
}

const struct workload workload_call = {
	.name = "call",
	.summary = "a command of any TA, as call=… describes it",
	.parameters = "none|BYTES",
	.names = (const char *const[]){ "NAME", NULL },
	.backend = "tee",
	.most = CALL_BYTES_MAX,
	.option = "call",
	.state_size = sizeof(struct call_case),
	.parse = call_case_parse,
	.prepare = call_prepare,
	.ready = call_ready,
	.once = call_once,
	.check = call_check,
	.facts = call_facts,
	.teardown = call_teardown,
};
