/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of the TEE Client API (GlobalPlatform, TEE Client API Specification 1.0) that the
 * programs use. libteec is opened at run time, so these declarations stand in for its header.
 *
 * The field names are the specification's. Implementation-defined members are at least as large as
 * in OP-TEE's libteec.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TEEC_NONE                  0x0u
#define TEEC_VALUE_INPUT           0x1u
#define TEEC_VALUE_OUTPUT          0x2u
#define TEEC_VALUE_INOUT           0x3u
#define TEEC_MEMREF_TEMP_INPUT     0x5u
#define TEEC_MEMREF_TEMP_OUTPUT    0x6u
#define TEEC_MEMREF_TEMP_INOUT     0x7u
#define TEEC_MEMREF_WHOLE          0xCu
#define TEEC_MEMREF_PARTIAL_INPUT  0xDu
#define TEEC_MEMREF_PARTIAL_OUTPUT 0xEu
#define TEEC_MEMREF_PARTIAL_INOUT  0xFu

#define TEEC_PARAM_TYPES(p0, p1, p2, p3) ((p0) | (p1) << 4 | (p2) << 8 | (p3) << 12)
#define TEEC_PARAM_TYPE_GET(types, i)    ((types) >> (i)*4 & 0xFu)

#define TEEC_MEM_INPUT    0x1u
#define TEEC_MEM_OUTPUT   0x2u
#define TEEC_LOGIN_PUBLIC 0x0u

#define TEEC_ORIGIN_API         1u
#define TEEC_ORIGIN_COMMS       2u
#define TEEC_ORIGIN_TEE         3u
#define TEEC_ORIGIN_TRUSTED_APP 4u

#define TEEC_SUCCESS              0x00000000u
#define TEEC_ERROR_GENERIC        0xFFFF0000u
#define TEEC_ERROR_ACCESS_DENIED  0xFFFF0001u
#define TEEC_ERROR_BAD_PARAMETERS 0xFFFF0006u
#define TEEC_ERROR_BAD_STATE      0xFFFF0007u
#define TEEC_ERROR_ITEM_NOT_FOUND 0xFFFF0008u
#define TEEC_ERROR_NOT_SUPPORTED  0xFFFF000Au
#define TEEC_ERROR_OUT_OF_MEMORY  0xFFFF000Cu
#define TEEC_ERROR_BUSY           0xFFFF000Du
#define TEEC_ERROR_COMMUNICATION  0xFFFF000Eu
#define TEEC_ERROR_SECURITY       0xFFFF000Fu
#define TEEC_ERROR_SHORT_BUFFER   0xFFFF0010u
#define TEEC_ERROR_TARGET_DEAD    0xFFFF3024u

typedef uint32_t TEEC_Result;

typedef struct {
	void *implementation[32];
} TEEC_Context;

typedef struct {
	void *implementation[32];
} TEEC_Session;

typedef struct {
	uint32_t timeLow;
	uint16_t timeMid;
	uint16_t timeHiAndVersion;
	uint8_t clockSeqAndNode[8];
} TEEC_UUID;

typedef struct {
	void *buffer;
	size_t size;
	uint32_t flags; /* TEEC_MEM_* */
	void *implementation[32];
} TEEC_SharedMemory;

typedef struct {
	void *buffer;
	size_t size;
} TEEC_TempMemoryReference;

typedef struct {
	TEEC_SharedMemory *parent;
	size_t size;
	size_t offset;
} TEEC_RegisteredMemoryReference;

typedef struct {
	uint32_t a;
	uint32_t b;
} TEEC_Value;

typedef union {
	TEEC_TempMemoryReference tmpref;
	TEEC_RegisteredMemoryReference memref;
	TEEC_Value value;
} TEEC_Parameter;

/* Made for every call, so it is no larger than in OP-TEE's libteec. */
typedef struct {
	uint32_t started;
	uint32_t paramTypes;
	TEEC_Parameter params[4];
	void *implementation;
} TEEC_Operation;
