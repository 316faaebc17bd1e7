/* SPDX-License-Identifier: BSD-2-Clause */
/* The handlers, by the file that has them. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "broker.h"

TEE_Result forward(struct session *session, TEE_Param *params);

TEE_Result identity(struct session *session, TEE_Param *params);
TEE_Result claim(struct session *session, TEE_Param *params);
TEE_Result order(struct session *session, TEE_Param *params);
TEE_Result list(struct session *session, TEE_Param *params);

#endif
