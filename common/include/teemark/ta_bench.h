/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contract of the bench TA (ta/bench): everything that teebench measures
 * in the TEE besides digests: calls, ciphers step by step, MACs, persistent
 * objects, random numbers, and the same code as in the normal world.
 *
 * Multi-instance as the digest TA, with the same rules for errors
 * (ta_digest.h). An object or operation belongs to its session and is
 * released and wiped when the session ends. A private key goes in and never
 * comes out: no command returns one. (A shared secret does, to be compared.) Commands with a `repeat` are bounded by
 * ta_work.h: TEE_ERROR_BAD_PARAMETERS above.
 *
 * Besides the commands below it has the clock of ta_clock.h.
 */
#ifndef TEEMARK_TA_BENCH_H
#define TEEMARK_TA_BENCH_H

#include <teemark/ta_work.h>

/* clang-format off */
#define TA_BENCH_UUID \
	{ 0x0b7c9a52, 0x31f4, 0x4e0d, \
	  { 0xa8, 0x66, 0x5d, 0x90, 0x2c, 0xe1, 0x74, 0x3b } }
/* clang-format on */
#define TA_BENCH_UUID_TEXT "0b7c9a52-31f4-4e0d-a866-5d902ce1743b"

#define TA_BENCH_ABI 3

#define TA_BENCH_OBJECT_MAX (4u << 20) /* bytes of a stored object */
#define TA_BENCH_ID_MAX     64u        /* bytes of an object's name */

/*
 * The longest ciphertext that an AEAD decrypts. It is decrypted in memory of
 * the TA, and the plaintext leaves it when the tag was found right; every byte
 * more of such memory would make every call dearer. Longer:
 * TEE_ERROR_BAD_PARAMETERS. Encrypting has no such limit.
 */
#define TA_BENCH_AE_DECRYPT_MAX (64u << 10)

/*
 * TEE_GenerateRandom() is asked for so many bytes at a time: OP-TEE makes them
 * in a buffer of 4096 bytes that other things live in too, and ends a TA that
 * asks for more.
 */
#define TA_BENCH_RANDOM_CHUNK 2048u

/* value.b of CIPHER_PREPARE */
enum ta_bench_direction {
	TA_BENCH_ENCRYPT = 0,
	TA_BENCH_DECRYPT = 1,
};

/* Where persistent objects live. */
enum ta_bench_storage {
	TA_BENCH_STORAGE_REE_FS = 0,
	TA_BENCH_STORAGE_RPMB = 1,
};

/* Code that both worlds compile from common/src. */
enum ta_bench_kernel {
	/* kernel_memcpy() to KERNEL_COPY_BYTES of the TA's memory */
	TA_BENCH_KERNEL_MEMCPY = 0,
	TA_BENCH_KERNEL_MEMTOUCH = 1, /* kernel_memtouch() */
	TA_BENCH_KERNEL_INTLOOP = 2,  /* kernel_intloop(), a step a byte */
	/* portable SHA-256; the digest's first 8 bytes as little-endian */
	TA_BENCH_KERNEL_SHA256 = 3,
};

/* A TA asks OP-TEE for these. */
enum ta_bench_ask {
	TA_BENCH_ASK_LINE = 0,        /* a line of 64 bytes on its console */
	TA_BENCH_ASK_REE_TIME = 1,    /* TEE_GetREETime() */
	TA_BENCH_ASK_SYSTEM_TIME = 2, /* TEE_GetSystemTime() */
};

/* Times in a call: a slow console takes 5 ms a line. */
#define TA_BENCH_ASK_MAX 256u

/* Parts of a digest of the TEE Internal Core API. */
enum ta_bench_digest_part {
	TA_BENCH_DIGEST_ALLOCATE = 0, /* TEE_AllocateOperation, and freeing */
	TA_BENCH_DIGEST_RESET = 1,    /* TEE_ResetOperation */
	TA_BENCH_DIGEST_FINISH = 2,   /* TEE_DigestDoFinal of no bytes */
};

enum ta_bench_cmd {
	/* Any parameters, nothing is touched: TA_DIGEST_CMD_NOP. */
	TA_BENCH_CMD_NOP = 0,

	/* [0] value out: a = TA_BENCH_ABI, b = TA_BENCH_AE_DECRYPT_MAX */
	TA_BENCH_CMD_INFO = 1,

	/* [0] value inout: a comes back larger by 1 (modulo 2^32) */
	TA_BENCH_CMD_INCREMENT = 2,

	/*
	 * The steps of a cipher, each a call of its own. Ciphers, AEADs.
	 * PREPARE  [0] value in: a = struct algorithm .id, b = direction
	 *          allocates the operation and the key object; drops those
	 *          that were there
	 * SET_KEY  [0] memref in: the key, as long as the row says; the two
	 *          of XTS differ
	 * SET_IV   [0] memref in: the IV or nonce, as long as the row says
	 *          (ECB: length 0); begins a message
	 * UPDATE   [0] memref in, [1] memref out, [2] value in: a = repeat
	 *          a multiple of the row's unit_bytes. repeat 1 goes on with
	 *          the message; for repeat > 1 each of them begins one with
	 *          the last IV set, and the output is the last one's.
	 *          XTS: one UPDATE is one message, the next wants SET_IV.
	 *          Not for AEADs: TEE_ERROR_NOT_SUPPORTED.
	 * MESSAGE  [0] memref in: the IV, [1] memref in, [2] memref out,
	 *          [3] value in: a = repeat
	 *          whole messages, `repeat` times the same: after SET_KEY, no
	 *          other step needed. AEADs append the tag to what they
	 *          encrypt, and want it appended to what they decrypt:
	 *          TEE_ERROR_MAC_INVALID and no output when it is wrong. The
	 *          steps' own message is dropped.
	 */
	TA_BENCH_CMD_CIPHER_PREPARE = 10,
	TA_BENCH_CMD_CIPHER_SET_KEY = 11,
	TA_BENCH_CMD_CIPHER_SET_IV = 12,
	TA_BENCH_CMD_CIPHER_UPDATE = 13,
	TA_BENCH_CMD_CIPHER_MESSAGE = 15,

	/*
	 * MAC_SET_KEY [0] value in: a = struct algorithm .id
	 *             [1] memref in: the key, ALG_KEY_MAX_BYTES at most; too
	 *             short for this TEE: TEE_ERROR_NOT_SUPPORTED
	 * MAC         [0] memref in: the message, [1] memref out: the MAC,
	 *             [2] value in: a = repeat
	 */
	TA_BENCH_CMD_MAC_SET_KEY = 20,
	TA_BENCH_CMD_MAC = 21,

	/*
	 * Persistent objects of this TA, which other sessions find under the
	 * same names. One is open at a time in a session, and to no other
	 * session (TEE_ERROR_ACCESS_CONFLICT). What the TEE says is returned:
	 * TEE_ERROR_ITEM_NOT_FOUND also where there is no such storage.
	 * CREATE   [0] memref in: name, [1] memref in: first data,
	 *          [2] value in: a = enum ta_bench_storage; leaves it open,
	 *          replaces one of that name
	 * OPEN     [0] memref in: name, [1] value in: a = storage
	 *          [2] value out: a = size of its data
	 * READ     [0] memref out: data, [1] value in: a = offset;
	 *          the memref's size comes back as the bytes read
	 * WRITE    [0] memref in: data, [1] value in: a = offset
	 * RENAME   [0] memref in: new name
	 * TRUNCATE [0] value in: a = new size
	 * DELETE   closes and deletes the open object
	 * CLOSE    closes it
	 * FETCH    [0] memref in: name, [1] memref out: data,
	 *          [2] value in: a = storage; opens it, reads from the
	 *          beginning and closes it, and one that was open before too;
	 *          the memref's size comes back as the bytes read
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
	 * [1] memref in: the data (INTLOOP uses its length alone)
	 * [2] value out: a, b = the kernel's 64-bit result, low and high
	 */
	TA_BENCH_CMD_KERNEL = 50,

	/*
	 * [0] value in: a = enum ta_bench_ask, b = how often, at most
	 * TA_BENCH_ASK_MAX
	 * [1] value out: a = how often it was done; b = the last time that was
	 *     told, in ms modulo 2^32, or 0 for lines
	 */
	TA_BENCH_CMD_ASK = 60,

	/*
	 * One part of a digest, `repeat` times; then the digest of the empty
	 * message by the operation that the last of them left.
	 * [0] value in: a = struct algorithm .id, b = enum ta_bench_digest_part
	 * [1] value in: a = repeat
	 * [2] memref out: the digest
	 */
	TA_BENCH_CMD_DIGEST_PART = 70,

	/*
	 * An asymmetric algorithm of asym.h, each step a call of its own. A
	 * call does one operation and repeats nothing: one signature takes
	 * seconds on some boards, generating an RSA key minutes.
	 * SAYS     [0] value in: a = struct asym_algorithm .id
	 *          [1] value out: a = 1 if TEE_IsAlgorithmSupported() says
	 *          so, else 0. What it says and what works may differ.
	 * ALLOCATE [0] value in: a = .id, b = enum asym_use
	 *          allocates the key object and the operation; drops those
	 *          that were there
	 * IMPORT   [0] memref in: the public part of the key and, for uses of
	 *          the private key, the private part, with or without what the
	 *          CRT needs: asym_private_bytes()
	 * GENERATE makes a new key pair, for uses of the private key
	 * PUBLIC   [0] memref out: the public part of such a key pair
	 * PREPARE  gives the key to the operation
	 * OPERATE  [0] memref in, [1] memref out: a digest or message and its
	 *          signature; the public part of another's key and the shared
	 *          secret; a plaintext and its ciphertext, or the reverse
	 * VERIFY   [0] memref in: a digest or message, [1] memref in: its
	 *          signature; TEE_ERROR_SIGNATURE_INVALID
	 * A TEE may end the TA for what it doesn't like: another's key that is
	 * no point of the curve, or an algorithm that it has only in part.
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

#endif
