/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions with the broker TA, and its commands as calls. */
#ifndef TZ_TA_H
#define TZ_TA_H

#include <stddef.h>
#include <stdint.h>

#include <teemark/ta_broker.h>

#include "tee_client.h"

/* Results of the TA that libteec's header has no name for. */
#define TZ_RESULT_REPLAYED 0xffff0003u /* TEE_ERROR_ACCESS_CONFLICT */
#define TZ_RESULT_FORGED   0xffff3071u /* TEE_ERROR_MAC_INVALID */

/* extensions: use the CPU's AES and PMULL if it has them. */
int tz_ta_open(struct tee_session **tee, bool extensions, struct error *err);

/* A command with one buffer of ours that goes in or comes out. */
int tz_ta_put(struct tee_session *tee, uint32_t command, const void *data,
	      size_t len, const char *doing, struct error *err);
int tz_ta_get(struct tee_session *tee, uint32_t command, void *data, size_t len,
	      const char *doing, struct error *err);

/* One client: at row *row, which becomes the next. -ENOENT: no more. */
int tz_ta_list(struct tee_session *tee, uint32_t *row, uint8_t *out,
	       size_t *len, struct error *err);

#endif
