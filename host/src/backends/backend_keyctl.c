/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The backend `keyctl` uses the kernel's asymmetric ciphers (`akcipher`, `sig`) by keyctl(2), Linux
 * 4.20 or later (Documentation/security/keys/core.rst). Keys are in the process's keyring. A
 * private key is passed as PKCS #8 (RFC 5208), a public key in an X.509 certificate (RFC 5280)
 * whose signature is not checked. The kernel sets up its cipher anew in each operation.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/keyctl.h>

#include "backend.h"

/* AlgorithmIdentifiers in DER (RFC 8017, RFC 5480); SIGNER is RSA with SHA-256. */
#define RSA    "\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00"
#define SIGNER "\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b\x05\x00"
#define EC     "\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06"
/* A certificate's part before the key: serial number 1, subject "y", issuer "x", of 1970. */
#define NAME        "\x30\x0c\x31\x0a\x30\x08\x06\x03\x55\x04\x03\x0c\x01"
#define DATE        "\x17\015700101000000Z"
#define CERTIFICATE "\x02\x01\x01" SIGNER NAME "x\x30\x1e" DATE DATE NAME "y"
/* The part of a certificate behind its key: a signature of one byte. */
#define SIGNED SIGNER "\x03\x02\x00\x00"

static const struct kind {
	const char *name;               /* name of the curve or of RSA's padding */
	const char *identifier, *words; /* AlgorithmIdentifier; keyctl()'s info string */
} kinds[] = {
	{ "pkcs1", RSA, "enc=pkcs1 hash=sha256" },
	{ "P-256", "\x30\x13" EC "\x08\x2a\x86\x48\xce\x3d\x03\x01\x07", "enc=x962 hash=sha256" },
	{ "P-384", "\x30\x10" EC "\x05\x2b\x81\x04\x00\x22", "enc=x962 hash=sha384" },
	{ "P-521", "\x30\x10" EC "\x05\x2b\x81\x04\x00\x23", "enc=x962 hash=sha512" },
	{ 0 },
};

struct session {
	long key; /* serial number in the keyring */
	const struct kind *kind;
	uint8_t room[4096], *at; /* DER data, written backwards: from `at` to the end */
};

static void close_session(struct session *s)
{
	syscall(SYS_keyctl, KEYCTL_UNLINK, s->key, KEY_SPEC_PROCESS_KEYRING);
}

/* Prepends bytes to the DER data. */
static void put(struct session *s, const void *bytes, size_t len)
{
	s->at -= len;
	memcpy(s->at, bytes, len);
}

/* Prepends tag and length to the bytes from s->at to `end`, as a DER value (ITU-T X.690). */
static void wrap(struct session *s, uint8_t tag, const uint8_t *end)
{
	size_t len = (size_t)(end - s->at);
	uint8_t head[] = { (uint8_t)(len >> 8), (uint8_t)len };
	size_t bytes = len > 255 ? 2 : 1;

	put(s, head + 2 - bytes, bytes);
	if (len > 127)
		put(s, bytes == 2 ? "\x82" : "\x81", 1);
	put(s, &tag, 1);
}

/* Prepends a SEQUENCE of INTEGERs; `sizes` are in bytes, `number` is the end of the last. */
static void put_numbers(struct session *s, const uint8_t *number, const size_t *sizes, size_t count)
{
	const uint8_t *all = s->at;

	while (count--) {
		const uint8_t *end = s->at;

		put(s, number -= sizes[count], sizes[count]);
		put(s, "", 1); /* a zero byte, so that the number isn't negative */
		while (end - s->at > 1 && !s->at[0] && s->at[1] < 0x80)
			s->at++;
		wrap(s, 0x02, end);
	}
	wrap(s, 0x30, all);
}

static void write_key(struct session *s, const struct asym_job *job)
{
	bool private = asym_is_private(job->use), ec = job->alg->kind == ASYM_EC;
	size_t n = job->alg->value_bytes, half = n / 2;
	/* The fields of RFC 8017's RSAPrivateKey; the version is 0. */
	const size_t sizes[] = { 0, n, ASYM_EXPONENT_BYTES, n, half, half, half, half, half };
	const uint8_t *key = asym_key_in(job) + job->key_len, *end;

	s->at = s->room + sizeof(s->room);
	if (!private)
		put(s, SIGNED, sizeof(SIGNED) - 1);
	end = s->at;
	if (ec)
		put(s, key - 2 * n, 2 * n);
	else
		put_numbers(s, key, private ? sizes : sizes + 1, private ? 9 : 2);
	/* Before a public key: no unused bits; for EC, an uncompressed point (SEC 1, 2.3.3). */
	put(s, "\0\4", private ? 0 : ec ? 2 : 1);
	wrap(s, private ? 0x04 : 0x03, end);
	put(s, s->kind->identifier, 2u + (uint8_t)s->kind->identifier[1]);
	if (!private)
		wrap(s, 0x30, end);
	put(s, private ? "\x02\x01\x00" : CERTIFICATE, private ? 3 : sizeof(CERTIFICATE) - 1);
	wrap(s, 0x30, end);
	if (!private)
		wrap(s, 0x30, s->room + sizeof(s->room));
}

static int lacks(const struct asym_job *job, struct error *err)
{
	return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
			  "the kernel takes no %s key of %s%s",
			  asym_is_private(job->use) ? "private" : "public", job->alg->title,
			  job->alg->kind == ASYM_RSA ? " by this padding, or without primes" : "");
}

/* Gives the kernel the key, which replaces the key that the session gave before. */
static int import(struct session *s, const struct asym_job *job, struct error *err)
{
	const struct asym_algorithm *alg = job->alg;
	bool private = asym_is_private(job->use), rsa = alg->kind == ASYM_RSA;
	size_t least = asym_public_bytes(alg) + (private ? asym_private_bytes(alg, true) : 0);
	int code;

	s->kind = kinds;
	while (s->kind->name && strcmp(s->kind->name, rsa ? alg->padding : alg->group))
		s->kind++;
	if (!s->kind->name || !alg->digest_bytes || (private && !rsa) || job->key_len < least)
		return lacks(job, err);
	write_key(s, job);
	s->key = syscall(SYS_add_key, "asymmetric", "teemark", s->at,
			 s->room + sizeof(s->room) - s->at, KEY_SPEC_PROCESS_KEYRING);
	if (s->key > 0)
		return 0;
	if (errno == ENOPKG)
		return lacks(job, err);
	code = error_errno(err, "the kernel takes no key of %s", alg->title);
	error_hint(err, "no-keyctl",
		   "modprobe %s_key_parser, as root; else the kernel lacks "
		   "CONFIG_ASYMMETRIC_KEY_TYPE, or a container forbids keys",
		   private ? "pkcs8" : "x509");
	return code;
}

static int operate(struct session *s, struct asym_job *job, struct error *err)
{
	bool sign = job->use == ASYM_SIGN;
	struct keyctl_pkey_params params = { .key_id = (int32_t)s->key,
					     .in_len = (uint32_t)job->in_len,
					     .out_len = job->alg->out_bytes };
	uint8_t *signature = job->out->data;
	size_t n = job->alg->value_bytes;
	long ret;

	if (job->alg->kind == ASYM_EC) {
		s->at = s->room + sizeof(s->room);
		put_numbers(s, signature + 2 * n, (size_t[]){ n, n }, 2);
		params.in2_len = (uint32_t)(s->room + sizeof(s->room) - s->at);
		signature = s->at;
	}
	ret = syscall(SYS_keyctl, sign ? KEYCTL_PKEY_SIGN : KEYCTL_PKEY_VERIFY, &params,
		      s->kind->words, job->in->data, signature);
	if (sign && ret > 0)
		job->out_len = (size_t)ret;
	if (ret >= 0 && job->out_len == job->alg->out_bytes)
		return 0;
	if (ret < 0 && errno == ENOENT)
		return lacks(job, err); /* no driver for it */
	/* EINVAL: wrong padding, since Linux 6.13 */
	if (!sign && (ret >= 0 || errno == EKEYREJECTED || errno == EBADMSG || errno == EINVAL))
		return error_set(err, -EBADMSG, "the kernel refuses a signature of %s",
				 job->alg->title);
	return error_errno(err, "the kernel fails at %s", job->alg->title);
}

static int step(struct session *s, struct asym_job *job, enum asym_step which, struct error *err)
{
	if (which == ASYM_OPERATE)
		return operate(s, job, err);
	return which == ASYM_IMPORT ? import(s, job, err) : 0;
}

const struct backend backend_keyctl = {
	.name = "keyctl",
	.title = "kernel (keyctl)",
	.summary = "the kernel's RSA and ECDSA, by keyctl(2)",
	.may_offload = true,
	.uses = 1u << USE_ASYM,
	.session_bytes = sizeof(struct session),
	.close = close_session,
	.asym_step = step,
};
