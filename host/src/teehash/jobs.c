// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "teehash.h"
#include "workers.h"

void job_free_name(struct job *job)
{
	if (job->name_owned)
		free(job->name);
	job->name = NULL;
	job->name_owned = false;
}

void job_hash(struct engine *engine, struct job *job)
{
	memset(&job->err, 0, sizeof(job->err));
	job->ret = engine_hash(engine, job->name, job->alg, job->digest,
			       &job->stats, &job->err);
}

void jobs_add_engine(struct jobs_stats *stats, const struct engine_stats *e)
{
	struct engine_stats *sum = &stats->engine;

	if (!sum->sessions) {
		sum->chunk = e->chunk;
		sum->slots = e->slots;
		/* The first ever in this process: what is apart. */
		sum->context_ns = e->context_ns;
		sum->session_ns = e->session_ns;
		sum->first_call_ns = e->first_call_ns;
	}
	sum->open_ns += e->open_ns;
	sum->buffer_ns += e->buffer_ns;
	sum->buffer_bytes += e->buffer_bytes;
	sum->sessions += e->sessions;
	sum->inside_ns += e->inside_ns;
	sum->uncounted += e->uncounted;
	stats->reader_runq_ns += e->reader_runq_ns;
}

static void progress_add_and_draw(void *progress, uint64_t bytes)
{
	progress_add(progress, bytes);
	progress_draw(progress);
}

/* One worker: the calling thread itself. */
static int run_alone(const struct jobs *jobs, struct jobs_stats *stats,
		     struct error *err)
{
	struct engine_config config = jobs->config;
	struct engine *engine = NULL;
	struct job *job = calloc(1, sizeof(*job));
	uint64_t begin = stats->begin_ns;
	uint64_t turn = begin;
	int ret = -ENOMEM;

	if (!job) {
		error_set(err, ret, "out of memory");
		return ret;
	}
	config.progress = jobs->progress->on ? progress_add_and_draw : NULL;
	config.progress_ctx = jobs->progress;
	stats->workers = 1;
	for (;;) {
		memset(job, 0, sizeof(*job));
		ret = jobs->next(jobs->ctx, job);
		if (ret <= 0)
			break;
		stats->idle_ns += clock_now_ns() - turn;
		ret = 0;
		if (!job->note && !engine)
			ret = engine_open(&engine, &config, err);
		if (!ret && !job->note)
			job_hash(engine, job);
		if (!ret && job->ret == -EINTR)
			ret = -EINTR;
		turn = clock_now_ns();
		if (!ret)
			ret = jobs->done(jobs->ctx, job);
		job_free_name(job);
		if (!ret && interrupted())
			ret = -EINTR;
		if (ret < 0)
			break;
	}
	stats->idle_ns += clock_now_ns() - turn;
	free(job);
	stats->end_ns = clock_now_ns();
	stats->work_ns = stats->end_ns - begin;
	if (engine) {
		engine_settle(engine);
		jobs_add_engine(stats, engine_stats(engine));
		if (!ret && jobs->after)
			jobs->after(jobs->ctx, engine);
		begin = clock_now_ns();
		engine_close(engine);
		stats->close_ns = clock_now_ns() - begin;
	}
	return ret;
}

int jobs_run(const struct jobs *jobs, struct jobs_stats *stats,
	     struct error *err)
{
	memset(stats, 0, sizeof(*stats));
	stats->begin_ns = clock_now_ns();
	return jobs->workers > 1 ? jobs_run_parallel(jobs, stats, err) :
				   run_alone(jobs, stats, err);
}
