/* SPDX-License-Identifier: BSD-2-Clause */
/* Expanded keys; the one that wasn't used for longest makes room. */
#ifndef CACHE_H
#define CACHE_H

#include "broker.h"

/* A new call begins: what it gets by cache_get() stays until it ends. */
void cache_begin(struct broker *broker);

/* TEE_ERROR_ITEM_NOT_FOUND: no such client. */
TEE_Result cache_get(struct session *session, const struct text *id,
		     struct cached **cached);

/* Forgets a row's key. */
void cache_drop(struct broker *broker, uint32_t row);
void cache_clear(struct broker *broker);

#endif
