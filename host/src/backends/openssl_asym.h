/* SPDX-License-Identifier: BSD-2-Clause */
/* Asymmetric keys by libcrypto, for backend_openssl.c; the functions are those of backend.h. */
#pragma once

#include "backend.h"

/* First member of a session of `openssl`; zeros unless the session is for asymmetric keys. */
struct openssl_asym {
	struct evp_pkey_ctx_st *maker; /* context that makes keys */
	struct evp_pkey_st *key, *peer;
	struct evp_pkey_ctx_st *ctx; /* context of the key */
	struct evp_md_ctx_st *md_ctx;
};

/* Returns 0, or -ENOENT with err->skip if libcrypto is older than 3.0. */
int openssl_asym_open(struct openssl_asym *asym, struct error *err);
/* Also accepts a struct whose opening failed. */
void openssl_asym_close(struct openssl_asym *asym);
int openssl_asym_step(struct session *session, struct asym_job *job, enum asym_step step,
		      struct error *err);
int openssl_asym_generate(struct session *session, const struct asym_job *job, struct error *err);
int openssl_asym_public_key(struct session *session, const struct asym_job *job, uint8_t *out,
			    struct error *err);
