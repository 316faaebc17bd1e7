/* SPDX-License-Identifier: BSD-2-Clause */
#include "client.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <unistd.h>

static int random_bytes(uint8_t *out, size_t len, struct error *err)
{
	return RAND_bytes(out, (int)len) == 1 ? 0 :
						error_set(err, -EIO, "OpenSSL has no random bytes");
}

size_t tz_client_size(void)
{
	return sizeof(struct tz_client);
}

static void print_hex(FILE *file, const char *name, const uint8_t *p, size_t n)
{
	fprintf(file, "%s ", name);
	for (size_t i = 0; i < n; i++)
		fprintf(file, "%02x", p[i]);
	fputc('\n', file);
}

static bool parse_hex(const char *text, uint8_t *out, size_t n)
{
	size_t got = 0;

	return OPENSSL_hexstr2buf_ex(out, n, &got, text, '\0') == 1 && got == n;
}

/* Writes the client's file; or, unless `secret`, path.pub, which the administrator gets. */
static int save(const struct tz_client *client, bool secret, struct error *err)
{
	char path[sizeof(client->path) + 5], beside[sizeof(path) + 5];
	FILE *file = NULL;
	int fd = -1, rc = 0;

	snprintf(path, sizeof(path), "%s%s", client->path, secret ? "" : ".pub");
	snprintf(beside, sizeof(beside), "%s.new", path);
	fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, secret ? 0600 : 0644);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file) {
		rc = error_errno(err, "can't write %s", beside);
		if (fd >= 0)
			close(fd);
		return rc;
	}
	fprintf(file, "teemq 1\nid %s\n", client->id);
	if (secret) {
		print_hex(file, "key", client->key, sizeof(client->key));
		fprintf(file, "epoch %u\n", client->epoch);
	}
	if (client->is_agreed)
		print_hex(file, "public", client->public, sizeof(client->public));
	if (client->has_identity)
		print_hex(file, "identity", client->identity, sizeof(client->identity));
	if (fflush(file) || fsync(fd))
		rc = -errno;
	if (fclose(file) && !rc)
		rc = -errno;
	if (!rc && rename(beside, path))
		rc = -errno;
	if (rc) {
		unlink(beside);
		return error_set(err, rc, "can't write %s: %s", path, strerror(-rc));
	}
	return 0;
}

int tz_client_save(const struct tz_client *client, struct error *err)
{
	return save(client, true, err);
}

static int set_id(struct tz_client *client, const char *id, struct error *err)
{
	size_t len = strlen(id);

	if (!len || len > TZ_ID_MAX || strpbrk(id, " \n/+#"))
		return error_set(err, -EINVAL,
				 "'%s' is no client id: 1 to %u bytes, no space, /, + or #", id,
				 TZ_ID_MAX);
	memcpy(client->id, id, len + 1);
	return 0;
}

static int begin(struct tz_client *client, const char *path, struct error *err)
{
	memset(client, 0, sizeof(*client));
	if (strlen(path) >= sizeof(client->path))
		return error_set(err, -ENAMETOOLONG, "the path is too long");
	strcpy(client->path, path);
	return 0;
}

int tz_client_make(struct tz_client *client, const char *id, const char *path, const char *identity,
		   struct error *err)
{
	int rc = begin(client, path, err);

	if (!rc)
		rc = set_id(client, id, err);
	if (rc)
		return rc;
	if (!access(path, F_OK))
		return error_set(err, -EEXIST,
				 "%s is there already\na key that is replaced can't open what is on "
				 "its way: remove the file if you mean it",
				 path);
	if (identity && !parse_hex(identity, client->identity, sizeof(client->identity)))
		return error_set(err, -EINVAL,
				 "'%s' is no enrolment key\n`teemq identity` on the board prints it: "
				 "64 digits",
				 identity);
	client->is_agreed = client->has_identity = identity;
	rc = random_bytes(client->key, sizeof(client->key), err);
	if (!rc && identity)
		rc = tz_agree(client->key, TZ_AGREE, id, client->identity, client->public,
			      client->key, err);
	if (!rc)
		rc = save(client, true, err);
	return rc || !identity ? rc : save(client, false, err);
}

static int load(struct tz_client *client, const char *path, bool secret, struct error *err)
{
	char line[512], name[32], value[300];
	unsigned int found = 0;
	FILE *file = NULL;
	int rc = begin(client, path, err);

	if (rc)
		return rc;
	file = fopen(path, "re");
	if (!file)
		return error_errno(err, "can't read %s", path);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%31s %299s", name, value) != 2)
			continue;
		if (!strcmp(name, "teemq"))
			found |= strcmp(value, "1") ? 0 : 1;
		else if (!strcmp(name, "id"))
			found |= set_id(client, value, NULL) ? 0 : 2;
		else if (!strcmp(name, "key"))
			found |= parse_hex(value, client->key, TZ_KEY_BYTES) ? 4 : 0;
		else if (!strcmp(name, "epoch"))
			client->epoch = (uint32_t)strtoul(value, NULL, 10);
		else if (!strcmp(name, "identity"))
			client->has_identity = parse_hex(value, client->identity, TZ_PUBLIC_BYTES);
		else if (!strcmp(name, "public"))
			client->is_agreed = parse_hex(value, client->public, TZ_PUBLIC_BYTES);
	}
	fclose(file);
	OPENSSL_cleanse(line, sizeof(line));
	OPENSSL_cleanse(value, sizeof(value));
	if (found == 7 || (!secret && found == 3 && client->is_agreed))
		return 0;
	return error_set(err, -EINVAL,
			 "%s is no file of a client's key\n`teemq key ID FILE` makes one", path);
}

int tz_client_load(struct tz_client *client, const char *path, struct error *err)
{
	return load(client, path, true, err);
}

int tz_client_load_public(struct tz_client *client, const char *path, struct error *err)
{
	return load(client, path, false, err);
}

void tz_client_wipe(struct tz_client *client)
{
	OPENSSL_cleanse(client, sizeof(*client));
}

/* Encrypts or decrypts; the tag is behind the ciphertext. False: a wrong tag, or no memory. */
static bool gcm(bool encrypt, const uint8_t *key, const uint8_t *nonce, const void *authenticated,
		size_t authenticated_len, const uint8_t *in, size_t len, uint8_t *out)
{
	uint8_t *tag = encrypt ? out + len : (uint8_t *)in + len;
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	uint8_t rest[16];
	int n = 0;
	bool ok = ctx &&
		  EVP_CipherInit_ex(ctx, EVP_aes_256_gcm(), NULL, key, nonce, encrypt) == 1 &&
		  EVP_CipherUpdate(ctx, NULL, &n, authenticated, (int)authenticated_len) == 1 &&
		  (!len || EVP_CipherUpdate(ctx, out, &n, in, (int)len) == 1) &&
		  (encrypt ||
		   EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, TZ_TAG_BYTES, tag) == 1) &&
		  EVP_CipherFinal_ex(ctx, rest, &n) == 1 &&
		  (!encrypt ||
		   EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, TZ_TAG_BYTES, tag) == 1);

	EVP_CIPHER_CTX_free(ctx);
	return ok;
}

/*
 * Seals or opens a message whose head is complete. `receiver` is the id that it is for, in an order
 * the TA's enrolment key, otherwise empty.
 */
static bool gcm_message(bool encrypt, const uint8_t *key, const uint8_t *head, const char *topic,
			const void *receiver, size_t receiver_len, const uint8_t *in, size_t len,
			uint8_t *out)
{
	uint8_t all[TZ_AUTHENTICATED_MAX];
	size_t n = 0;

	if (strlen(topic) > TZ_TOPIC_MAX)
		return false;
	n = tz_authenticated(all, head, topic, strlen(topic), receiver, receiver_len);
	return gcm(encrypt, key, head + TZ_NONCE, all, n, in, len, out);
}

/* Takes a counter and a salt that this key never used before, not even before a crash. */
static int next_counter(struct tz_client *client, struct error *err)
{
	int rc = 0;

	if (client->counter && client->counter != UINT32_MAX) {
		client->counter++;
		return 0;
	}
	if (client->epoch == UINT32_MAX)
		return error_set(err, -EOVERFLOW, "%s has had all of its epochs: enrol it anew",
				 client->id);
	rc = random_bytes(client->salt, sizeof(client->salt), err);
	if (rc)
		return rc;
	client->salt[0] &= 0x7f;
	client->epoch++;
	client->counter = 1;
	return tz_client_save(client, err);
}

static int seal(struct tz_client *client, enum tz_direction direction, const char *topic,
		const void *plain, size_t len, uint8_t *out, struct error *err)
{
	size_t id_len = strlen(client->id), head_len = TZ_FIXED + id_len;
	int rc = 0;

	if (len > TZ_TEXT_MAX || strlen(topic) > TZ_TOPIC_MAX)
		return error_set(err, -EMSGSIZE, "a message has at most %u bytes, a topic %u",
				 TZ_TEXT_MAX, TZ_TOPIC_MAX);
	rc = next_counter(client, err);
	if (rc)
		return rc;
	out[0] = 'T';
	out[1] = 'Z';
	out[2] = TZ_VERSION;
	out[3] = (uint8_t)direction;
	tz_put32(out + TZ_EPOCH, client->epoch);
	tz_put32(out + TZ_COUNTER, client->counter);
	memcpy(out + TZ_NONCE, client->salt, sizeof(client->salt));
	tz_put32(out + TZ_NONCE + sizeof(client->salt), client->counter);
	out[TZ_FIXED - 1] = (uint8_t)id_len;
	memcpy(out + TZ_FIXED, client->id, id_len);
	if (!gcm_message(true, client->key, out, topic, client->identity,
			 direction == TZ_ORDER ? TZ_PUBLIC_BYTES : 0, plain, len, out + head_len))
		return error_set(err, -EIO, "OpenSSL could not encrypt");
	return 0;
}

int tz_seal(struct tz_client *client, const char *topic, const void *plain, size_t len,
	    uint8_t *out, struct error *err)
{
	return seal(client, TZ_TO_BROKER, topic, plain, len, out, err);
}

int tz_seal_order(struct tz_client *admin, const void *plain, size_t len, uint8_t *out,
		  struct error *err)
{
	return seal(admin, TZ_ORDER, "", plain, len, out, err);
}

/* Returns true if this message has been seen before; otherwise remembers it. */
static bool seen(struct tz_client *client, const char *sender, const struct tz_last *now)
{
	struct tz_seen *s = NULL;

	for (int i = 0; i < TZ_SENDERS && !s; i++)
		if (!strcmp(client->seen[i].sender, sender))
			s = &client->seen[i];
	if (!s) {
		s = &client->seen[client->next_seen++ % TZ_SENDERS];
		memset(s, 0, sizeof(*s));
		strcpy(s->sender, sender);
	}
	if (tz_came_before(&s->last, s->window, now))
		return true;
	tz_remember(&s->last, &s->window, now);
	return false;
}

int tz_open(struct tz_client *client, const char *topic, const uint8_t *message, size_t len,
	    uint8_t *out, struct tz_opened *opened, struct error *err)
{
	size_t head_len = tz_head_len(message, len, TZ_FROM_BROKER);

	if (!head_len)
		return error_set(err, -EBADMSG,
				 "%zu bytes that are no message from the broker's TA", len);
	opened->len = len - head_len - TZ_TAG_BYTES;
	memcpy(opened->sender, message + TZ_FIXED, head_len - TZ_FIXED);
	opened->sender[head_len - TZ_FIXED] = 0;
	if (!gcm_message(false, client->key, message, topic, client->id, strlen(client->id),
			 message + head_len, opened->len, out)) {
		OPENSSL_cleanse(out, opened->len);
		return error_set(err, -EBADMSG,
				 "%s can't open a message on %s: sealed for "
				 "another client or topic, or changed",
				 client->id, topic);
	}
	opened->repeated = seen(client, opened->sender,
				&(struct tz_last){ tz_get32(message + TZ_EPOCH),
						   tz_get32(message + TZ_COUNTER) });
	return 0;
}

int tz_reencrypt(struct tz_client *sender, struct tz_client *receiver, const char *topic,
		 const uint8_t *message, size_t len, uint8_t *plain, uint8_t *out,
		 struct error *err)
{
	size_t head_len = tz_head_len(message, len, TZ_TO_BROKER);
	size_t n = len - head_len - TZ_TAG_BYTES;

	if (!head_len)
		return error_set(err, -EBADMSG, "no message");
	if (!gcm_message(false, sender->key, message, topic, NULL, 0, message + head_len, n, plain))
		return error_set(err, -EBADMSG, "forged");
	if (!receiver->counter && random_bytes(receiver->salt, sizeof(receiver->salt), err))
		return -EIO;
	receiver->salt[0] |= 0x80;
	memcpy(out, message, head_len);
	out[3] = TZ_FROM_BROKER;
	memcpy(out + TZ_NONCE, receiver->salt, sizeof(receiver->salt));
	tz_put32(out + TZ_NONCE + sizeof(receiver->salt), ++receiver->counter);
	if (!gcm_message(true, receiver->key, out, topic, receiver->id, strlen(receiver->id), plain,
			 n, out + head_len))
		return error_set(err, -EIO, "OpenSSL could not encrypt");
	return 0;
}

int tz_agree(const uint8_t secret[TZ_KEY_BYTES], enum tz_order order, const char *id,
	     const uint8_t identity[TZ_PUBLIC_BYTES], uint8_t public[TZ_PUBLIC_BYTES],
	     uint8_t key[TZ_KEY_BYTES], struct error *err)
{
	EVP_PKEY *ours = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, secret, TZ_KEY_BYTES);
	EVP_PKEY *ta =
		EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, identity, TZ_PUBLIC_BYTES);
	EVP_PKEY_CTX *x25519 = ours ? EVP_PKEY_CTX_new(ours, NULL) : NULL;
	EVP_PKEY_CTX *hkdf = EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, NULL);
	uint8_t shared[32], info[TZ_INFO_MAX];
	size_t len = TZ_PUBLIC_BYTES;
	/* X25519 fails if the shared secret is 0. */
	bool ok = strlen(id) <= TZ_ID_MAX && x25519 && ta && hkdf &&
		  EVP_PKEY_get_raw_public_key(ours, public, &len) == 1 &&
		  EVP_PKEY_derive_init(x25519) == 1 && EVP_PKEY_derive_set_peer(x25519, ta) == 1 &&
		  EVP_PKEY_derive(x25519, shared, &len) == 1 && EVP_PKEY_derive_init(hkdf) == 1 &&
		  EVP_PKEY_CTX_set_hkdf_md(hkdf, EVP_sha256()) == 1 &&
		  EVP_PKEY_CTX_set1_hkdf_key(hkdf, shared, sizeof(shared)) == 1 &&
		  EVP_PKEY_CTX_add1_hkdf_info(hkdf, info,
					      (int)tz_info(info, order, public, identity, id,
							   strlen(id))) == 1 &&
		  EVP_PKEY_derive(hkdf, key, &len) == 1;

	OPENSSL_cleanse(shared, sizeof(shared));
	EVP_PKEY_CTX_free(hkdf);
	EVP_PKEY_CTX_free(x25519);
	EVP_PKEY_free(ta);
	EVP_PKEY_free(ours);
	return ok ? 0 : error_set(err, -EINVAL, "nothing can be agreed with this enrolment key");
}

int tz_wrap(const struct tz_client *client, const uint8_t identity[TZ_PUBLIC_BYTES],
	    uint8_t wrapped[TZ_WRAPPED_BYTES], struct error *err)
{
	static const uint8_t no_nonce[TZ_NONCE_BYTES];
	uint8_t wrapping[TZ_KEY_BYTES];
	int rc = random_bytes(wrapping, sizeof(wrapping), err);

	if (!rc)
		rc = tz_agree(wrapping, TZ_ENROL, client->id, identity, wrapped, wrapping, err);
	if (!rc && !gcm(true, wrapping, no_nonce, client->id, strlen(client->id), client->key,
			TZ_KEY_BYTES, wrapped + TZ_PUBLIC_BYTES))
		rc = error_set(err, -EIO, "OpenSSL could not encrypt");
	OPENSSL_cleanse(wrapping, sizeof(wrapping));
	return rc;
}
