/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Vectors: NIST SP 800-38A, F.1, F.2 and F.5 (ECB, CBC, CTR); NIST CAVP,
 * XTSGenAES128 and XTSGenAES256, and IEEE 1619 (XTS); NIST CAVP,
 * gcmEncryptExtIV128, and D. McGrew and J. Viega, GCM (GCM); RFC 2202 and RFC
 * 4231 (HMAC; their keys filled up with zeros, which HMAC does anyway).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "known_cipher.h"

enum { VECTOR_MAX = 96 }; /* bytes of a message or result */

/* In hexadecimal; a tag follows what it authenticates. */
static const struct vector {
	const char *algorithm, *key, *iv, *message, *result;
} vectors[] = {
	/* clang-format off */
	{ "aes-128-ecb",
	  "2b7e151628aed2a6abf7158809cf4f3c",
	  "",
	  "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
	  "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
	  "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf"
	  "43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4" },
	{ "aes-192-ecb",
	  "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
	  "",
	  "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
	  "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
	  "bd334f1d6e45f25ff712a214571fa5cc974104846d0ad3ad7734ecb3ecee4eef"
	  "ef7afd2270e2e60adce0ba2face6444e9a4b41ba738d6c72fb16691603c18e0e" },
	{ "aes-256-ecb",
	  "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
	  "",
	  "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
	  "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
	  "f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870"
	  "b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7" },
	{ "aes-128-cbc",
	  "2b7e151628aed2a6abf7158809cf4f3c",
	  "000102030405060708090a0b0c0d0e0f",
	  "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
	  "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
	  "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
	  "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7" },
	{ "aes-192-cbc",
	  "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
	  "000102030405060708090a0b0c0d0e0f",
	  "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
	  "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
	  "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"
	  "571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd" },
	{ "aes-256-cbc",
	  "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
	  "000102030405060708090a0b0c0d0e0f",
	  "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
	  "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
	  "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
	  "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b" },
	{ "aes-128-ctr",
	  "2b7e151628aed2a6abf7158809cf4f3c",
	  "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
	  "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
	  "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
	  "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
	  "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee" },
	{ "aes-192-ctr",
	  "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
	  "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
	  "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
	  "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
	  "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94"
	  "1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050" },
	{ "aes-256-ctr",
	  "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
	  "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
	  "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
	  "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
	  "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
	  "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6" },
	{ "aes-128-xts",
	  "a1b90cba3f06ac353b2c343876081762090923026e91771815f29dab01932f2f",
	  "4faef7117cda59c66e4b92013e768ad5",
	  "ebabce95b14d3c8d6fb350390790311c",
	  "778ae8b43cb98d5a825081d5be471c63" },
	{ "aes-256-xts",
	  "1ea661c58d943a0e4801e42f4b0947149e7f9f8e3e68d0c7505210bd311a0e7c"
	  "d6e13ffdf2418d8d1911c004cda58da3d619b7e2b9141e58318eea392cf41b08",
	  "adf8d92627464ad2f0428e84a9f87564",
	  "2eedea52cd8215e1acc647e810bbc3642e87287f8d2e57e36c0a24fbc12a202e",
	  "cbaad0e2f6cea3f50b37f934d46a9b130b9d54f07e34f36af793e86f73c6d7db" },
	{ "aes-128-xts",
	  "1111111111111111111111111111111122222222222222222222222222222222",
	  "33333333330000000000000000000000",
	  "4444444444444444444444444444444444444444444444444444444444444444",
	  "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0" },
	{ "aes-128-gcm",
	  "7fddb57453c241d03efbed3ac44e371c",
	  "ee283a3fc75575e33efd4887",
	  "d5de42b461646c255c87bd2962d3b9a2",
	  "2ccda4a5415cb91e135c2a0f78c9b2fdb36d1df9b9d5e596f83e8b7f52971cb3" },
	{ "aes-128-gcm",
	  "00000000000000000000000000000000",
	  "000000000000000000000000",
	  "00000000000000000000000000000000",
	  "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf" },
	{ "aes-192-gcm",
	  "000000000000000000000000000000000000000000000000",
	  "000000000000000000000000",
	  "00000000000000000000000000000000",
	  "98e7247c07f0fe411c267e4384b0f6002ff58d80033927ab8ef4d4587514f0fb" },
	{ "aes-192-gcm",
	  "feffe9928665731c6d6a8f9467308308feffe9928665731c",
	  "cafebabefacedbaddecaf888",
	  "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
	  "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255",
	  "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c"
	  "7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710acade256"
	  "9924a7c8587336bfb118024db8674a14" },
	{ "aes-256-gcm",
	  "0000000000000000000000000000000000000000000000000000000000000000",
	  "000000000000000000000000",
	  "00000000000000000000000000000000",
	  "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919" },
	{ "aes-256-gcm",
	  "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
	  "cafebabefacedbaddecaf888",
	  "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
	  "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255",
	  "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
	  "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad"
	  "b094dac5d93471bdec1a502270e3cc6c" },
	{ "hmac-sha1",
	  "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b",
	  "",
	  "4869205468657265",
	  "b617318655057264e28bc0b6fb378c8ef146be00" },
	{ "hmac-sha1",
	  "4a65666500000000000000000000000000000000",
	  "",
	  "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
	  "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79" },
	{ "hmac-sha224",
	  "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0000000000000000",
	  "",
	  "4869205468657265",
	  "896fb1128abbdf196832107cd49df33f47b4b1169912ba4f53684b22" },
	{ "hmac-sha224",
	  "4a656665000000000000000000000000000000000000000000000000",
	  "",
	  "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
	  "a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44" },
	{ "hmac-sha256",
	  "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b000000000000000000000000",
	  "",
	  "4869205468657265",
	  "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7" },
	{ "hmac-sha256",
	  "4a65666500000000000000000000000000000000000000000000000000000000",
	  "",
	  "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
	  "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
	{ "hmac-sha384",
	  "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b000000000000000000000000"
	  "00000000000000000000000000000000",
	  "",
	  "4869205468657265",
	  "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59c"
	  "faea9ea9076ede7f4af152e8b2fa9cb6" },
	{ "hmac-sha384",
	  "4a65666500000000000000000000000000000000000000000000000000000000"
	  "00000000000000000000000000000000",
	  "",
	  "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
	  "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e"
	  "8e2240ca5e69e2c78b3239ecfab21649" },
	{ "hmac-sha512",
	  "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b000000000000000000000000"
	  "0000000000000000000000000000000000000000000000000000000000000000",
	  "",
	  "4869205468657265",
	  "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
	  "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854" },
	{ "hmac-sha512",
	  "4a65666500000000000000000000000000000000000000000000000000000000"
	  "0000000000000000000000000000000000000000000000000000000000000000",
	  "",
	  "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
	  "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
	  "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737" },
	/* clang-format on */
};

static size_t from_hex(uint8_t *data, size_t room, const char *hex)
{
	size_t len = strlen(hex) / 2;

	for (size_t i = 0; i < len && i < room; i++) {
		char digits[3] = { hex[2 * i], hex[2 * i + 1], '\0' };

		data[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return len;
}

static int compute(const struct keyed_backend *backend, struct keyed *k,
		   const struct keyed_job *job, const uint8_t *in,
		   struct error *err)
{
	int ret = backend->set_up(k, job, err);

	if (ret)
		return ret;
	memcpy(k->in, in, job->len);
	memset(k->out, 0xa5, VECTOR_MAX);
	return backend->message(k, job, 1, err);
}

static int wrong(const struct keyed_backend *backend,
		 const struct algorithm *alg, const char *what,
		 struct error *err)
{
	error_set(err, -EBADMSG, "backend %s %s with %s", backend->name, what,
		  alg->title);
	error_hint(err, "the timing of a wrong result means nothing; the "
			"backend or its installation is broken");
	return -EBADMSG;
}

/* No bit of the message or of its tag may be changed unseen. */
static int tampered(const struct keyed_backend *backend, struct keyed *k,
		    const struct keyed_job *job, const uint8_t *message,
		    struct error *err)
{
	const size_t places[] = { 0, job->len - 1 - job->alg->out_bytes,
				  job->len - job->alg->out_bytes,
				  job->len - 1 };
	uint8_t altered[VECTOR_MAX];

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct error refused = { 0 };
		int ret;

		memcpy(altered, message, job->len);
		altered[places[i]] ^= 1;
		ret = compute(backend, k, job, altered, &refused);
		if (!ret)
			return wrong(backend, job->alg,
				     "takes an altered message for whole", err);
		if (ret != -EBADMSG) {
			*err = refused;
			return ret;
		}
	}
	return 0;
}

static int check_vector(const struct keyed_backend *backend, struct keyed *k,
			const struct algorithm *alg, bool decrypt,
			const struct vector *v, struct error *err)
{
	uint8_t key[ALG_KEY_MAX_BYTES], iv[ALG_IV_MAX_BYTES];
	uint8_t message[VECTOR_MAX], result[VECTOR_MAX];
	struct keyed_job job = {
		.alg = alg,
		.decrypt = decrypt,
		.key = key,
		.iv = iv,
	};
	size_t len = from_hex(message, sizeof(message), v->message);
	size_t result_len = from_hex(result, sizeof(result), v->result);
	int ret;

	from_hex(key, sizeof(key), v->key);
	from_hex(iv, sizeof(iv), v->iv);
	job.len = decrypt ? result_len : len;
	ret = compute(backend, k, &job, decrypt ? result : message, err);
	if (ret)
		return ret;
	if (decrypt ? memcmp(k->out, message, len) :
		      memcmp(k->out, result, result_len))
		return wrong(backend, alg,
			     decrypt ? "decrypts a published message wrongly" :
				       "computes a wrong result of a published "
				       "message",
			     err);
	return alg->class == ALG_AEAD && decrypt ?
		       tampered(backend, k, &job, result, err) :
		       0;
}

int known_cipher_check(const struct keyed_backend *backend, struct keyed *k,
		       const struct algorithm *alg, bool decrypt,
		       struct error *err)
{
	bool found = false;
	int ret = 0;

	if (k->size < VECTOR_MAX)
		return error_set(err, -EINVAL,
				 "too small a buffer for known answers");
	for (size_t i = 0; !ret && i < sizeof(vectors) / sizeof(*vectors);
	     i++) {
		if (strcmp(vectors[i].algorithm, alg->name))
			continue;
		found = true;
		ret = check_vector(backend, k, alg, decrypt, &vectors[i], err);
	}
	if (!ret && !found)
		return error_set(err, -ENOENT,
				 "no published vector of %s is known",
				 alg->title);
	return ret;
}
