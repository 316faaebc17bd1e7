/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A PKCS #11 module, and a token of teemark's in it. The few prototypes are declared here (OASIS
 * PKCS #11 2.40, its base specification and mechanisms), so that no header is needed to build.
 *
 * The token is found by its label. If there is none, an uninitialised token is initialised for it;
 * tokens of others are never touched. The token's PINs are constants and protect nothing, since its
 * objects are made and destroyed here.
 */
#pragma once

#include "error.h"

typedef unsigned long ck;

struct ck_attribute {
	ck type;
	void *value;
	ck len;
};
struct ck_mechanism {
	ck type;
	void *parameter;
	ck len;
};

enum {
	CKU_SO = 0,
	CKU_USER = 1,
	CKF_RW_SESSION = 2,
	CKF_SERIAL_SESSION = 4,
	CKF_TOKEN_INITIALIZED = 0x400,
	CKA_CLASS = 0,
	CKA_TOKEN = 1,
	CKA_PRIVATE = 2,
	CKA_VALUE = 0x11,
	CKA_KEY_TYPE = 0x100,
	CKA_ENCRYPT = 0x104,
	CKA_SIGN = 0x108,
	CKA_VERIFY = 0x10a,
	CKA_EC_PARAMS = 0x180,
	CKA_EC_POINT = 0x181,
	CKO_SECRET_KEY = 4,
	CKK_GENERIC_SECRET = 0x10,
	CKK_AES = 0x1f,
	CKM_SHA256 = 0x250,
	CKM_SHA256_HMAC = 0x251,
	CKM_EC_KEY_PAIR_GEN = 0x1040,
	CKM_ECDSA = 0x1041,
	CKM_AES_CBC = 0x1082,
	CKR_DEVICE_MEMORY = 0x31,
	CKR_SIGNATURE_INVALID = 0xc0,
};

/* clang-format off */
/* Each function: member of struct pkcs11, name in the module without C_, parameters. */
#define PKCS11_FUNCTIONS(F) \
	F(initialize, Initialize, (void *args)) \
	F(finalize, Finalize, (void *reserved)) \
	F(slots, GetSlotList, (unsigned char present, ck *list, ck *count)) \
	F(token_info, GetTokenInfo, (ck slot, void *info)) \
	F(init_token, InitToken, (ck slot, const char *pin, ck len, const char *label)) \
	F(init_pin, InitPIN, (ck session, const char *pin, ck len)) \
	F(open, OpenSession, (ck slot, ck flags, void *app, void *notify, ck *session)) \
	F(close, CloseSession, (ck session)) \
	F(close_all, CloseAllSessions, (ck slot)) \
	F(session_info, GetSessionInfo, (ck session, void *info)) \
	F(login, Login, (ck session, ck user, const char *pin, ck len)) \
	F(logout, Logout, (ck session)) \
	F(create, CreateObject, (ck session, struct ck_attribute *list, ck count, ck *object)) \
	F(destroy, DestroyObject, (ck session, ck object)) \
	F(get, GetAttributeValue, (ck session, ck object, struct ck_attribute *list, ck count)) \
	F(find_init, FindObjectsInit, (ck session, struct ck_attribute *list, ck count)) \
	F(find, FindObjects, (ck session, ck *list, ck room, ck *count)) \
	F(find_final, FindObjectsFinal, (ck session)) \
	F(encrypt_init, EncryptInit, (ck session, struct ck_mechanism *how, ck key)) \
	F(encrypt, Encrypt, (ck session, const void *in, ck len, void *out, ck *out_len)) \
	F(digest_init, DigestInit, (ck session, struct ck_mechanism *how)) \
	F(digest, Digest, (ck session, const void *in, ck len, void *out, ck *out_len)) \
	F(sign_init, SignInit, (ck session, struct ck_mechanism *how, ck key)) \
	F(sign, Sign, (ck session, const void *in, ck len, void *out, ck *out_len)) \
	F(verify_init, VerifyInit, (ck session, struct ck_mechanism *how, ck key)) \
	F(verify, Verify, (ck session, const void *in, ck len, const void *signature, \
	  ck signature_len)) \
	F(generate_pair, GenerateKeyPair, (ck session, struct ck_mechanism *how, \
	  struct ck_attribute *public, ck public_count, struct ck_attribute *private, \
	  ck private_count, ck *public_key, ck *private_key)) \
	F(random, GenerateRandom, (ck session, void *out, ck len))
/* clang-format on */

#define PKCS11_MEMBER(member, name, parameters) ck(*member) parameters;
struct pkcs11 {
	PKCS11_FUNCTIONS(PKCS11_MEMBER)
};
extern struct pkcs11 p11;

/* Sets the file of a module to load instead of libckteec, before the first pkcs11_open(). */
void pkcs11_module(const char *file);
/* The module's file; empty before it is loaded. */
extern const char *const pkcs11_file;
/* true: the token and its last key pair are kept for other programs (--pkcs11-keep). */
extern bool pkcs11_kept;
/* Loads the module, and does nothing else. Returns 0; err->skip is "no-pkcs11" if there is none. */
int pkcs11_probe(struct error *err);
/*
 * Opens a read-write session with teemark's token, whose user is logged in. An operation begun in
 * one session disturbs no other session. err->skip is pkcs11_probe()'s, or "no-token".
 */
int pkcs11_open(ck *session, struct error *err);
/* Opens another session with pkcs11_open()'s token; returns the module's code, 0 for success. */
ck pkcs11_another(ck *session);
/*
 * The times of C_Initialize and C_Login in the first pkcs11_open(). No case can repeat these calls,
 * since initialising anew or logging out destroys the objects of all other cases.
 */
struct pkcs11_begun {
	uint64_t initialize_ns, login_ns;
};
extern struct pkcs11_begun pkcs11_begun;
/* Ends a use by pkcs11_open(). The last call empties the token, unless pkcs11_kept is set. */
void pkcs11_close(void);
/* Returns -EIO, with the message "the PKCS #11 module fails to WHAT: CKR 0x…". */
int pkcs11_failed(struct error *err, const char *what, ck result);

/*
 * Time and number of the module's calls into libteec: to invoke commands, and to share memory. This
 * program exports functions with libteec's names, to which the loader binds the module.
 */
struct pkcs11_layers {
	uint64_t invoke_ns, memory_ns;
	unsigned invokes, allocations;
};
extern struct pkcs11_layers pkcs11_layers;
