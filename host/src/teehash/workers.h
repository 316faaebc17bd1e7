/* SPDX-License-Identifier: BSD-2-Clause */
/* What jobs.c and workers.c have of each other. */
#ifndef TEEHASH_WORKERS_H
#define TEEHASH_WORKERS_H

#include "jobs.h"

void job_free_name(struct job *job);
/* Fills in the job's result. */
void job_hash(struct engine *engine, struct job *job);
/* Adds what a session did to the sums of all. */
void jobs_add_engine(struct jobs_stats *stats, const struct engine_stats *e);
/* jobs_run() with more than one worker. */
int jobs_run_parallel(const struct jobs *jobs, struct jobs_stats *stats,
		      struct error *err);

#endif
