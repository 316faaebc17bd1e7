/* SPDX-License-Identifier: BSD-2-Clause */
/* Asymmetric keys by libcrypto, for backend_openssl.c: as backend.h says. */
#pragma once

#include "backend.h"

struct openssl_asym;

/* A session of `openssl` begins with this. */
struct openssl_keys {
	struct openssl_asym *asym; /* NULL but in a session for keys */
};

/* Returns -ENOENT and a skip if libcrypto is older than 3.0. close() takes NULL. */
int openssl_asym_open(struct openssl_asym **asym, struct error *err);
void openssl_asym_close(struct openssl_asym *asym);
int openssl_asym_step(struct session *session, struct asym_job *job, enum asym_step step,
		      struct error *err);
int openssl_asym_generate(struct session *session, const struct asym_job *job, struct error *err);
int openssl_asym_public_key(struct session *session, const struct asym_job *job, uint8_t *out,
			    struct error *err);
