/* SPDX-License-Identifier: BSD-2-Clause */
/* Asymmetric keys in the bench TA, for backend_ta.c: as backend.h says. */
#pragma once

#include "backend.h"
#include "tee_client.h"

/* A session of `tee` begins with this. */
struct ta_session {
	struct tee_session *tee;
};

int asym_ta_step(struct session *s, struct asym_job *job, enum asym_step step, struct error *err);
int asym_ta_generate(struct session *s, const struct asym_job *job, struct error *err);
int asym_ta_public_key(struct session *s, const struct asym_job *job, uint8_t *out,
		       struct error *err);
int asym_ta_says(struct session *s, const struct asym_algorithm *alg, bool *says,
		 struct error *err);
int asym_ta_again(struct session *s, struct error *err);
