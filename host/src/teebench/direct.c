/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/tee.h>

#include <teemark/ta_digest.h>

#include "direct.h"
#include "tee_device.h"

enum {
	PARAMS = 4, /* the number of parameters that libteec always passes */
	TOO_MANY = PARAMS + 1,
};

struct direct {
	int fd;
	uint32_t session;
	/* Only the header is filled in: a parameter of type none is all zeros. */
	union {
		struct tee_ioctl_invoke_arg arg;
		uint8_t bytes[sizeof(struct tee_ioctl_invoke_arg) +
			      TOO_MANY * sizeof(struct tee_ioctl_param)];
	} call;
};

static int ask(int fd, unsigned long request, void *arg, size_t size)
{
	struct tee_ioctl_buf_data data = {
		.buf_ptr = (uintptr_t)arg,
		.buf_len = size,
	};

	return ioctl(fd, request, &data) ? -errno : 0;
}

/* Writes a UUID in the byte order that the TEE expects: its integers in big-endian. */
static void octets(uint8_t out[TEE_IOCTL_UUID_LEN], const TEEC_UUID *uuid)
{
	for (unsigned i = 0; i < 4; i++)
		out[i] = (uint8_t)(uuid->timeLow >> (24 - 8 * i));
	for (unsigned i = 0; i < 2; i++) {
		out[4 + i] = (uint8_t)(uuid->timeMid >> (8 - 8 * i));
		out[6 + i] = (uint8_t)(uuid->timeHiAndVersion >> (8 - 8 * i));
	}
	memcpy(out + 8, uuid->clockSeqAndNode, 8);
}

const TEEC_UUID pseudo_ta = { 0x7011a688,
			      0xddde,
			      0x4053,
			      { 0xa5, 0xa9, 0x7b, 0x3c, 0x4d, 0xdf, 0x13, 0xb8 } };

int direct_open(struct direct **direct, bool pseudo, struct error *err)
{
	static const TEEC_UUID digest_ta = TA_DIGEST_UUID;
	struct tee_ioctl_open_session_arg arg = {
		.clnt_login = TEE_IOCTL_LOGIN_PUBLIC,
	};
	struct direct *d = calloc(1, sizeof(*d));
	char device[32];
	int ret;

	*direct = NULL;
	if (!d)
		return error_memory(err);
	d->fd = tee_device_open(device, sizeof(device), err);
	if (d->fd < 0) {
		ret = d->fd;
		free(d);
		return ret;
	}
	octets(arg.uuid, pseudo ? &pseudo_ta : &digest_ta);
	ret = ask(d->fd, TEE_IOC_OPEN_SESSION, &arg, sizeof(arg));
	if (ret)
		error_set(err, ret, "cannot open a session through %s: %s", device, strerror(-ret));
	else if (arg.ret)
		ret = error_tee(err, arg.ret, arg.ret_origin, "cannot open a session through %s",
				device);
	if (ret && pseudo && arg.ret == TEEC_ERROR_ITEM_NOT_FOUND)
		error_skip_word(err, "no-pseudo-ta");
	if (ret) {
		close(d->fd);
		free(d);
		return ret;
	}
	d->session = arg.session;
	d->call.arg.func = pseudo ? PSEUDO_NO_COMMAND : TA_DIGEST_CMD_NOP;
	*direct = d;
	return 0;
}

void direct_close(struct direct *d)
{
	struct tee_ioctl_close_session_arg arg;

	if (!d)
		return;
	arg = (struct tee_ioctl_close_session_arg){ .session = d->session };
	ioctl(d->fd, TEE_IOC_CLOSE_SESSION, &arg);
	close(d->fd);
	free(d);
}

static int not_refused(struct error *err, const char *why)
{
	return error_skip(err, -EOPNOTSUPP, "not-refused",
			  "a call with %u parameters is not refused by this TEE's core: %s",
			  TOO_MANY, why);
}

/* Returns an error that says how the answer differs from the expected one. `ret` is the ioctl's. */
static int wrong(const struct tee_ioctl_invoke_arg *arg, enum direct_kind kind, int ret,
		 struct error *err)
{
	const char *doing = kind == DIRECT_PSEUDO ? "call the TEE's pseudo TA" :
						    "call the digest TA";
	bool refused = kind == DIRECT_REFUSED;

	if (refused && (ret == -EINVAL || ret == -E2BIG))
		return not_refused(err, "its driver passes no such call on");
	if (ret)
		return error_set(err, ret, "cannot %s: %s", doing, strerror(-ret));
	if (refused && arg->ret == TEEC_SUCCESS)
		return not_refused(err, "it succeeds");
	if (refused &&
	    (arg->ret == TEEC_ERROR_BAD_PARAMETERS || arg->ret == TEEC_ERROR_NOT_SUPPORTED))
		return not_refused(err, "another part of it refuses it");
	return error_tee(err, arg->ret, arg->ret_origin, "cannot %s", doing);
}

int direct_call(struct direct *d, enum direct_kind kind, uint32_t times, struct error *err)
{
	/* Each kind's number of parameters, expected result, and expected origin of the result. */
	static const struct {
		uint32_t params, result, origin;
	} kinds[] = {
		[DIRECT_EMPTY] = { PARAMS, TEEC_SUCCESS, TEEC_ORIGIN_TRUSTED_APP },
		[DIRECT_REFUSED] = { TOO_MANY, TEEC_ERROR_BAD_PARAMETERS, TEEC_ORIGIN_TEE },
		[DIRECT_PSEUDO] = { PARAMS, PSEUDO_ANSWER, TEEC_ORIGIN_TRUSTED_APP },
	};
	const struct tee_ioctl_invoke_arg *arg = &d->call.arg;
	size_t size = sizeof(d->call.arg) + kinds[kind].params * sizeof(struct tee_ioctl_param);

	d->call.arg.session = d->session;
	d->call.arg.num_params = kinds[kind].params;
	for (uint32_t i = 0; i < times; i++) {
		int ret = ask(d->fd, TEE_IOC_INVOKE, &d->call, size);

		if (ret || arg->ret != kinds[kind].result ||
		    (kind != DIRECT_EMPTY && arg->ret_origin != kinds[kind].origin))
			return wrong(arg, kind, ret, err);
	}
	return 0;
}
