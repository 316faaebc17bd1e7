/* SPDX-License-Identifier: BSD-2-Clause */
/* Asymmetric keys by libcrypto, for backend_openssl.c: as backend.h says. */
#pragma once

#include "backend.h"

/* A session of `openssl` begins with this, all zeros but in a session for keys. */
struct openssl_asym {
	struct evp_pkey_ctx_st *maker; /* of keys */
	struct evp_pkey_st *key, *peer;
	struct evp_pkey_ctx_st *ctx; /* the key's */
	struct evp_md_ctx_st *md_ctx;
};

/* Returns -ENOENT and a skip if libcrypto is older than 3.0. */
int openssl_asym_open(struct openssl_asym *asym, struct error *err);
/* Accepts one that couldn't be opened. */
void openssl_asym_close(struct openssl_asym *asym);
int openssl_asym_step(struct session *session, struct asym_job *job, enum asym_step step,
		      struct error *err);
int openssl_asym_generate(struct session *session, const struct asym_job *job, struct error *err);
int openssl_asym_public_key(struct session *session, const struct asym_job *job, uint8_t *out,
			    struct error *err);
