/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interface of the bench TA (ta/bench), which does all that teebench measures in the TEE except
 * digests.
 *
 * The TA is multi-instance, and returns errors as ta_digest.h says; it also has the clock of
 * ta_clock.h. Objects and operations belong to their session, which releases and wipes them. No
 * command returns a private key; a shared secret is returned, for comparison. ta_work.h bounds each
 * `repeat`: TEE_ERROR_BAD_PARAMETERS if it is larger.
 */
#pragma once

#include <teemark/ta_work.h>

/* clang-format off */
#define TA_BENCH_UUID \
	{ 0x0b7c9a52, 0x31f4, 0x4e0d, \
	  { 0xa8, 0x66, 0x5d, 0x90, 0x2c, 0xe1, 0x74, 0x3b } }
/* The same TA with a single instance for all its sessions, for the workload `parallel`. */
#define TA_BENCH_SINGLE_UUID \
	{ 0x0b7c9a52, 0x31f4, 0x4e0d, \
	  { 0xa8, 0x66, 0x5d, 0x90, 0x2c, 0xe1, 0x74, 0x3c } }
/* clang-format on */

#define TA_BENCH_ABI 3

#define TA_BENCH_OBJECT_MAX (4u << 20) /* longest object in bytes */
#define TA_BENCH_ID_MAX     64u        /* longest name of an object in bytes */

/*
 * Longest ciphertext in bytes that an AEAD decrypts; longer: TEE_ERROR_BAD_PARAMETERS. The TA
 * decrypts in its own memory, and more memory would make every call slower.
 */
#ifndef TA_BENCH_AE_DECRYPT_MAX
#define TA_BENCH_AE_DECRYPT_MAX (64u << 10)
#endif

/*
 * Bytes requested from each TEE_GenerateRandom(). OP-TEE fills a buffer of 4096 bytes, shared with
 * other uses, and kills a TA that requests more than fits.
 */
#define TA_BENCH_RANDOM_CHUNK 2048u

/* value.b of CIPHER_PREPARE */
enum ta_bench_direction {
	TA_BENCH_ENCRYPT = 0,
	TA_BENCH_DECRYPT = 1,
};

/* The storages of persistent objects. */
enum ta_bench_storage {
	TA_BENCH_STORAGE_REE_FS = 0,
	TA_BENCH_STORAGE_RPMB = 1,
};

/* Loops that both worlds compile from common/src. */
enum ta_bench_kernel {
	/* kernel_memcpy() to KERNEL_COPY_BYTES of the TA's memory */
	TA_BENCH_KERNEL_MEMCPY = 0,
	TA_BENCH_KERNEL_MEMTOUCH = 1, /* kernel_memtouch() of the data */
	TA_BENCH_KERNEL_INTLOOP = 2,  /* kernel_intloop(), one step a byte */
};

/* Requests to OP-TEE that a TA can repeat. */
enum ta_bench_ask {
	TA_BENCH_ASK_LINE = 0,        /* a line of 64 bytes on its console */
	TA_BENCH_ASK_REE_TIME = 1,    /* TEE_GetREETime() */
	TA_BENCH_ASK_SYSTEM_TIME = 2, /* TEE_GetSystemTime() */
};

/* Most requests in one call: a slow console takes 5 ms a line. */
#define TA_BENCH_ASK_MAX 256u

/* The parts of a digest operation of the TEE Internal Core API. */
enum ta_bench_digest_part {
	TA_BENCH_DIGEST_ALLOCATE = 0, /* TEE_AllocateOperation and TEE_FreeOperation */
	TA_BENCH_DIGEST_RESET = 1,    /* TEE_ResetOperation */
	TA_BENCH_DIGEST_FINISH = 2,   /* TEE_DigestDoFinal of an empty message */
};

enum ta_bench_cmd {
	/* Does nothing, with any parameters, as TA_DIGEST_CMD_NOP. */
	TA_BENCH_CMD_NOP = 0,

	/* [0] value out: a = TA_BENCH_ABI, b = TA_BENCH_AE_DECRYPT_MAX */
	TA_BENCH_CMD_INFO = 1,

	/* [0] value inout: a is returned incremented by 1 (modulo 2^32) */
	TA_BENCH_CMD_INCREMENT = 2,

	/*
	 * The steps of a cipher or AEAD, each a call of its own.
	 * PREPARE  [0] value in: a = struct algorithm .id, b = direction
	 *          allocates a new operation and key object
	 * SET_KEY  [0] memref in: the key; for XTS two different keys
	 * SET_IV   [0] memref in: the IV or nonce (ECB: length 0); begins a
	 *          message
	 * UPDATE   [0] memref in, [1] memref out, [2] value in: a = repeat
	 *          the length is a multiple of the row's unit_bytes. repeat 1
	 *          continues the message; if more, each repetition begins a new
	 *          message with the last IV. For XTS one UPDATE is a whole
	 *          message, and the next message needs SET_IV.
	 *          Not for AEADs: TEE_ERROR_NOT_SUPPORTED.
	 * MESSAGE  [0] memref in: the IV, [1] memref in, [2] memref out,
	 *          [3] value in: a = repeat
	 *          a whole message, `repeat` times, after SET_KEY; drops a
	 *          message of the steps. An AEAD's ciphertext ends with the
	 *          tag; a wrong tag: TEE_ERROR_MAC_INVALID, no output.
	 */
	TA_BENCH_CMD_CIPHER_PREPARE = 10,
	TA_BENCH_CMD_CIPHER_SET_KEY = 11,
	TA_BENCH_CMD_CIPHER_SET_IV = 12,
	TA_BENCH_CMD_CIPHER_UPDATE = 13,
	TA_BENCH_CMD_CIPHER_MESSAGE = 15,

	/*
	 * MAC_SET_KEY [0] value in: a = struct algorithm .id
	 *             [1] memref in: the key; TEE_ERROR_NOT_SUPPORTED if this
	 *             TEE requires a longer key
	 * MAC         [0] memref in: the message, [1] memref out: the MAC,
	 *             [2] value in: a = repeat
	 */
	TA_BENCH_CMD_MAC_SET_KEY = 20,
	TA_BENCH_CMD_MAC = 21,

	/*
	 * Persistent objects of this TA. A session has at most one object open, which
	 * no other session can open meanwhile (TEE_ERROR_ACCESS_CONFLICT). The results
	 * are the TEE's; TEE_ERROR_ITEM_NOT_FOUND also if the storage doesn't exist.
	 * CREATE   [0] memref in: name, [1] memref in: first data,
	 *          [2] value in: a = enum ta_bench_storage; leaves it open
	 * OPEN     [0] memref in: name, [1] value in: a = storage
	 *          [2] value out: a = size of the object's data
	 * READ     [0] memref out: data, [1] value in: a = offset;
	 *          the memref's size is set to the bytes read
	 * WRITE    [0] memref in: data, [1] value in: a = offset
	 * RENAME   [0] memref in: new name
	 * TRUNCATE [0] value in: a = new size
	 * DELETE   closes and deletes the open object
	 * CLOSE    closes the open object
	 * FETCH    [0] memref in: name, [1] memref out: data,
	 *          [2] value in: a = storage; OPEN, READ from 0 and CLOSE
	 */
	TA_BENCH_CMD_STORAGE_CREATE = 30,
	TA_BENCH_CMD_STORAGE_OPEN = 31,
	TA_BENCH_CMD_STORAGE_READ = 32,
	TA_BENCH_CMD_STORAGE_WRITE = 33,
	TA_BENCH_CMD_STORAGE_RENAME = 34,
	TA_BENCH_CMD_STORAGE_TRUNCATE = 35,
	TA_BENCH_CMD_STORAGE_DELETE = 36,
	TA_BENCH_CMD_STORAGE_CLOSE = 37,
	TA_BENCH_CMD_STORAGE_FETCH = 38,

	/* [0] memref out: filled by TEE_GenerateRandom, [1] value in: a = repeat */
	TA_BENCH_CMD_RANDOM = 40,

	/*
	 * [0] value in: a = enum ta_bench_kernel, b = repeat
	 * [1] memref in: the data (INTLOOP only uses their length)
	 * [2] value out: a, b = the kernel's 64-bit result, low and high half
	 */
	TA_BENCH_CMD_KERNEL = 50,

	/*
	 * [0] value in: a = enum ta_bench_ask, b = requests, ≤ TA_BENCH_ASK_MAX
	 * [1] value out: a = requests; b = the last time read, ms modulo 2^32
	 */
	TA_BENCH_CMD_ASK = 60,

	/*
	 * Does one part of a digest `repeat` times. The operation that the last
	 * repetition leaves then computes the digest of the empty message.
	 * [0] value in: a = struct algorithm .id, b = enum ta_bench_digest_part
	 * [1] value in: a = repeat
	 * [2] memref out: the digest
	 */
	TA_BENCH_CMD_DIGEST_PART = 70,

	/*
	 * An asymmetric algorithm of asym.h. Each step is a call of its own without
	 * repetitions, because a signature takes seconds on some boards.
	 * SAYS     [0] value in: a = struct asym_algorithm .id
	 *          [1] value out: a = 1 if TEE_IsAlgorithmSupported() says so,
	 *          else 0; this answer may be wrong
	 * ALLOCATE [0] value in: a = .id, b = enum asym_use
	 *          allocates a new key object and operation
	 * IMPORT   [0] memref in: the public part of the key and, if the use needs
	 *          the private key, the private part; for RSA with or without the
	 *          CRT's numbers: asym_private_bytes()
	 * GENERATE makes a new key pair, for uses that need the private key
	 * PUBLIC   [0] memref out: the public part of the key pair
	 * PREPARE  gives the key to the operation
	 * OPERATE  [0] memref in, [1] memref out: a digest or message and its
	 *          signature; the other side's public part and the shared
	 *          secret; a plaintext and its ciphertext, or the reverse
	 * VERIFY   [0] memref in: a digest or message, [1] memref in: its
	 *          signature; TEE_ERROR_SIGNATURE_INVALID if it is wrong
	 * The TEE may kill the TA for an input that it doesn't support: a public key
	 * that is no point of the curve, or an algorithm implemented only in part.
	 */
	TA_BENCH_CMD_ASYM_SAYS = 80,
	TA_BENCH_CMD_ASYM_ALLOCATE = 81,
	TA_BENCH_CMD_ASYM_IMPORT = 82,
	TA_BENCH_CMD_ASYM_GENERATE = 83,
	TA_BENCH_CMD_ASYM_PUBLIC = 84,
	TA_BENCH_CMD_ASYM_PREPARE = 85,
	TA_BENCH_CMD_ASYM_OPERATE = 86,
	TA_BENCH_CMD_ASYM_VERIFY = 87,
};
