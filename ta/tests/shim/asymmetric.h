/* SPDX-License-Identifier: BSD-2-Clause */
/* Asymmetric objects and operations, for operations.c. */
#pragma once

#include "object.h"
#include <tee_internal_api.h>
#include <teemark/asym.h>

struct shim_asym; /* an operation's */

/* The row of a type of object, or of an algorithm and size; NULL: none. */
const struct asym_algorithm *shim_asym_of_type(uint32_t type, uint32_t bits);
const struct asym_algorithm *shim_asym_of(uint32_t tee, uint32_t mode, uint32_t bits);
/* Is that any algorithm of asym.h? */
bool shim_asym_known(uint32_t tee);

struct shim_asym *shim_asym_new(const struct asym_algorithm *alg, uint32_t mode);
void shim_asym_free(struct shim_asym *asym);
void shim_asym_set_key(struct shim_asym *asym, const struct shim_object *key);
TEE_Result shim_asym_populate(struct shim_object *object, const TEE_Attribute *attributes,
			      uint32_t count);

/* agreement.c */
void shim_agreement_pair(uint8_t parts[64]);
