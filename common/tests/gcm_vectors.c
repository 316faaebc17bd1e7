/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AES-256-GCM of common/src on this CPU (or under qemu-user): the published
 * vectors that stdin holds, then both classes against each other at every
 * length that a loop could treat apart, in pieces and in place.
 *
 *   gcm_vectors [ce] <ciphers.txt     ce: fail if there is no gcm_ce
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/gcm.h>

#define MAX_LEN 700

static void die(const char *what)
{
	fprintf(stderr, "gcm: %s\n", what);
	exit(1);
}

static size_t unhex(const char *text, uint8_t *out)
{
	size_t n = 0;
	unsigned int byte;

	for (; sscanf(text, "%2x", &byte) == 1; text += 2)
		out[n++] = (uint8_t)byte;
	return n;
}

struct sealed {
	uint8_t text[MAX_LEN], tag[GCM_TAG_BYTES];
};

/* piece: a multiple of 16, or 0 for all at once. */
static void seal(const struct gcm_class *class, bool encrypt, const uint8_t *key,
		 const uint8_t *nonce, const uint8_t *aad, size_t aad_len, const uint8_t *in,
		 size_t len, size_t piece, struct sealed *out)
{
	struct gcm_key expanded;
	struct gcm_message m;

	class->set_key(&expanded, key);
	gcm_begin(&m, nonce);
	class->authenticate(&m, &expanded, aad, aad_len);
	memcpy(out->text, in, len);
	for (size_t at = 0; at < len;) {
		size_t n = piece && piece < len - at ? piece : len - at;

		class->crypt(&m, &expanded, encrypt, out->text + at, out->text + at, n);
		at += n;
	}
	class->tag(&m, &expanded, out->tag);
}

static void check(const struct gcm_class *class, const uint8_t *key, const uint8_t *nonce,
		  const uint8_t *aad, size_t aad_len, const uint8_t *plain, size_t len,
		  const uint8_t *cipher, const uint8_t *tag)
{
	for (size_t piece = 0; piece <= 96; piece += 16) {
		struct sealed out;

		seal(class, true, key, nonce, aad, aad_len, plain, len, piece, &out);
		if (memcmp(out.text, cipher, len) || memcmp(out.tag, tag, 16))
			die("sealed differently");
		seal(class, false, key, nonce, aad, aad_len, cipher, len, piece, &out);
		if (memcmp(out.text, plain, len) || memcmp(out.tag, tag, 16))
			die("opened differently");
	}
}

int main(int argc, char **argv)
{
	const struct gcm_class *classes[] = { &gcm_ct, gcm_ce };
	static char line[8192], f[7][4096];
	unsigned int vectors = 0, lengths = 0;

	if (argc > 1 && !strcmp(argv[1], "ce") && !gcm_ce)
		die("no gcm_ce here");
	while (fgets(line, sizeof(line), stdin)) {
		uint8_t key[64], nonce[64], aad[256], plain[MAX_LEN], cipher[MAX_LEN], tag[32];

		if (sscanf(line, "%4095s %4095s %4095s %4095s %4095s %4095s %4095s", f[0], f[1],
			   f[2], f[3], f[4], f[5], f[6]) != 7 ||
		    strcmp(f[0], "aes-256-gcm"))
			continue;
		unhex(f[1], key);
		unhex(f[2], nonce);
		unhex(f[5], cipher);
		unhex(f[6], tag);
		for (int c = 0; c < 2 && classes[c]; c++)
			check(classes[c], key, nonce, aad, unhex(f[3], aad), plain,
			      unhex(f[4], plain), cipher, tag);
		vectors++;
	}
	if (vectors < 4)
		die("fewer than four vectors of aes-256-gcm on stdin");
	for (size_t len = 0; gcm_ce && len < 300; len++) {
		uint8_t bytes[32 + 12 + 512];
		struct sealed c;

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)(i * 151 + len * 7 + (i >> 3));
		seal(&gcm_ct, true, bytes, bytes + 32, bytes + 44, len % 60, bytes + 60, len, 0,
		     &c);
		check(gcm_ce, bytes, bytes + 32, bytes + 44, len % 60, bytes + 60, len, c.text,
		      c.tag);
		lengths++;
	}
	printf("gcm: %u vectors by %d classes, %u lengths against each other\n", vectors,
	       gcm_ce ? 2 : 1, lengths);
	return 0;
}
