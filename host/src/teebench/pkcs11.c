/* SPDX-License-Identifier: BSD-2-Clause */
#include "pkcs11.h"
#include "clock.h"
#include "shared_library.h"

enum { SLOTS_MAX = 64, LABEL_BYTES = 32 };

/* The layout of CK_TOKEN_INFO. */
struct token_info {
	char label[LABEL_BYTES], maker[32], model[16], serial[16];
	ck flags, numbers[10];
	uint8_t versions[4];
	char time[16];
};

static const char our_label[LABEL_BYTES + 1] = "teemark                         ";
/* The token's PINs. They need not be secret: its keys are published, or thrown away. */
static const char so_pin[] = "teemark-so", user_pin[] = "teemark-user";

struct pkcs11 p11;
struct pkcs11_begun pkcs11_begun;
bool pkcs11_kept;

#define SYMBOL(member, name, parameters) { "C_" #name, &p11.member, false },
static const struct symbol symbols[] = {
	PKCS11_FUNCTIONS(SYMBOL){ 0 },
};

static const char *names[] = { "libckteec.so.0", "libckteec.so", NULL };
static struct shared_library module = {
	.title = "the PKCS #11 module",
	.skip = "no-pkcs11",
	.hint = "install OP-TEE's libckteec (package libckteec0t64), or name another module with "
		"--pkcs11-module",
	.names = names,
	.symbols = symbols,
};

const char *const pkcs11_file = module.file;

static struct {
	unsigned users;
	ck slot, session;
} token;

void pkcs11_module(const char *file)
{
	names[0] = file;
	names[1] = NULL;
}

int pkcs11_failed(struct error *err, const char *what, ck result)
{
	return error_set(err, -EIO, "the PKCS #11 module fails to %s: CKR 0x%lx", what, result);
}

/*
 * Sets token.slot to the slot of teemark's token (*ours: true), or else of an uninitialised token.
 * Returns -ENODEV if there is neither.
 */
static int find_slot(bool *ours, struct error *err)
{
	ck list[SLOTS_MAX], count = SLOTS_MAX;
	ck res = p11.slots(1, list, &count);
	bool found = false;

	if (res)
		return pkcs11_failed(err, "list its tokens", res);
	*ours = false;
	for (ck i = 0; i < count && !*ours; i++) {
		struct token_info info = { 0 };

		if (p11.token_info(list[i], &info))
			continue;
		*ours = info.flags & CKF_TOKEN_INITIALIZED &&
			!memcmp(info.label, our_label, LABEL_BYTES);
		if (*ours || (!found && !(info.flags & CKF_TOKEN_INITIALIZED))) {
			token.slot = list[i];
			found = true;
		}
	}
	if (found)
		return 0;
	return error_skip(err, -ENODEV, "no-token",
			  "each of the module's %lu tokens is initialised, and none is called teemark\n"
			  "tokens of others are left alone: free one, or name another module with "
			  "--pkcs11-module",
			  count);
}

/* Initialises the token, which empties it and sets its SO PIN and label. No session may be open. */
static ck clear_token(void)
{
	return p11.init_token(token.slot, so_pin, strlen(so_pin), our_label);
}

static ck set_user_pin(void)
{
	ck session, res = pkcs11_another(&session);

	if (!res)
		res = p11.login(session, CKU_SO, so_pin, strlen(so_pin));
	if (!res)
		res = p11.init_pin(session, user_pin, strlen(user_pin));
	if (!res)
		res = p11.logout(session);
	p11.close_all(token.slot);
	return res;
}

ck pkcs11_another(ck *session)
{
	return p11.open(token.slot, CKF_SERIAL_SESSION | CKF_RW_SESSION, NULL, NULL, session);
}

static int make_token(struct error *err)
{
	uint64_t begin = clock_now_ns();
	bool ours = false;
	ck res = p11.initialize(NULL);
	int ret;

	pkcs11_begun.initialize_ns = clock_now_ns() - begin;
	if (res)
		return pkcs11_failed(err, "begin", res);
	ret = find_slot(&ours, err);
	if (ret)
		goto out;
	res = clear_token();
	if (!res)
		res = set_user_pin();
	if (!res)
		res = pkcs11_another(&token.session);
	begin = clock_now_ns();
	if (!res)
		res = p11.login(token.session, CKU_USER, user_pin, strlen(user_pin));
	pkcs11_begun.login_ns = clock_now_ns() - begin;
	if (res)
		ret = pkcs11_failed(err, "make a token called teemark", res);
out:
	if (ret)
		p11.finalize(NULL);
	return ret;
}

int pkcs11_probe(struct error *err)
{
	return shared_library_load(&module, err);
}

int pkcs11_open(ck *session, struct error *err)
{
	int ret = shared_library_load(&module, err);
	ck res;

	if (!ret && !token.users)
		ret = make_token(err);
	if (ret)
		return ret;
	token.users++;
	res = pkcs11_another(session);
	if (!res)
		return 0;
	pkcs11_close();
	return pkcs11_failed(err, "open a session", res);
}

void pkcs11_close(void)
{
	if (!token.users || --token.users)
		return;
	p11.close_all(token.slot);
	if (!pkcs11_kept)
		clear_token();
	p11.finalize(NULL);
}
