/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Persistent objects. The TEE answers what it is asked with an error where
 * the specification lets it, and panics otherwise; so what a client may get
 * wrong is found out before.
 *
 * Data go to the TEE from shared memory and back without a copy: it encrypts
 * what it writes and decrypts what it read in memory of its own, and nothing
 * is decided by them.
 */
#include <tee_api_defines_extensions.h>

#include "session.h"

#define ACCESS_ALL                                                \
	(TEE_DATA_FLAG_ACCESS_READ | TEE_DATA_FLAG_ACCESS_WRITE | \
	 TEE_DATA_FLAG_ACCESS_WRITE_META)

/* A name in memory of the TA: the TEE takes no other. */
struct name {
	uint8_t bytes[TA_BENCH_ID_MAX];
	size_t len;
};

_Static_assert(TA_BENCH_ID_MAX <= TEE_OBJECT_ID_MAX_LEN, "names too long");

static TEE_Result get_name(struct name *name, const TEE_Param *param)
{
	struct input in = { 0 };
	TEE_Result res = get_input(&in, param);

	if (res != TEE_SUCCESS)
		return res;
	if (!in.len || in.len > sizeof(name->bytes))
		return TEE_ERROR_BAD_PARAMETERS;
	TEE_MemMove(name->bytes, in.data, in.len);
	name->len = in.len;
	return TEE_SUCCESS;
}

static TEE_Result get_storage(uint32_t *id, uint32_t storage)
{
	switch (storage) {
	case TA_BENCH_STORAGE_REE_FS:
		*id = TEE_STORAGE_PRIVATE_REE;
		return TEE_SUCCESS;
	case TA_BENCH_STORAGE_RPMB:
		*id = TEE_STORAGE_PRIVATE_RPMB;
		return TEE_SUCCESS;
	default:
		return TEE_ERROR_NOT_SUPPORTED;
	}
}

/* [offset, offset + len) within the largest object */
static bool range_ok(uint32_t offset, size_t len)
{
	return offset <= TA_BENCH_OBJECT_MAX &&
	       len <= TA_BENCH_OBJECT_MAX - offset;
}

/* The TEE closes an object that it finds corrupt. */
static TEE_Result result_of(struct session *session, TEE_Result res)
{
	if (res == TEE_ERROR_CORRUPT_OBJECT)
		session->object = TEE_HANDLE_NULL;
	return res;
}

void object_close(struct session *session)
{
	TEE_CloseObject(session->object);
	session->object = TEE_HANDLE_NULL;
}

TEE_Result storage_create(struct session *session, TEE_Param *params)
{
	struct name name = { 0 };
	struct input in = { 0 };
	uint32_t storage = 0;
	TEE_Result res = get_name(&name, &params[0]);

	if (res == TEE_SUCCESS)
		res = get_input(&in, &params[1]);
	if (res == TEE_SUCCESS && in.len > TA_BENCH_OBJECT_MAX)
		res = TEE_ERROR_BAD_PARAMETERS;
	if (res == TEE_SUCCESS)
		res = get_storage(&storage, params[2].value.a);
	if (res != TEE_SUCCESS)
		return res;

	object_close(session);
	return TEE_CreatePersistentObject(storage, name.bytes, name.len,
					  ACCESS_ALL | TEE_DATA_FLAG_OVERWRITE,
					  TEE_HANDLE_NULL, in.data, in.len,
					  &session->object);
}

/* The object of that name, instead of the one that was open. */
static TEE_Result open_named(struct session *session, const TEE_Param *param,
			     uint32_t in)
{
	struct name name = { 0 };
	uint32_t storage = 0;
	TEE_Result res = get_name(&name, param);

	if (res == TEE_SUCCESS)
		res = get_storage(&storage, in);
	if (res != TEE_SUCCESS)
		return res;

	object_close(session);
	return TEE_OpenPersistentObject(storage, name.bytes, name.len,
					ACCESS_ALL, &session->object);
}

TEE_Result storage_open(struct session *session, TEE_Param *params)
{
	TEE_ObjectInfo info = { 0 };
	TEE_Result res = open_named(session, &params[0], params[1].value.a);

	if (res != TEE_SUCCESS)
		return res;

	res = TEE_GetObjectInfo1(session->object, &info);
	if (res != TEE_SUCCESS)
		return result_of(session, res);
	params[2].value.a = info.dataSize;
	params[2].value.b = 0;
	return TEE_SUCCESS;
}

TEE_Result storage_read(struct session *session, TEE_Param *params)
{
	uint32_t offset = params[1].value.a;
	tee_size count = 0;
	TEE_Result res = TEE_SUCCESS;

	if (!session->object)
		return TEE_ERROR_BAD_STATE;
	if (!range_ok(offset, params[0].memref.size) ||
	    (params[0].memref.size && !params[0].memref.buffer))
		return TEE_ERROR_BAD_PARAMETERS;
	if (!params[0].memref.size)
		return TEE_SUCCESS;

	res = TEE_SeekObjectData(session->object, offset, TEE_DATA_SEEK_SET);
	if (res == TEE_SUCCESS)
		res = TEE_ReadObjectData(session->object,
					 params[0].memref.buffer,
					 params[0].memref.size, &count);
	if (res == TEE_SUCCESS)
		params[0].memref.size = count;
	return result_of(session, res);
}

TEE_Result storage_write(struct session *session, TEE_Param *params)
{
	uint32_t offset = params[1].value.a;
	struct input in = { 0 };
	TEE_Result res = TEE_SUCCESS;

	if (!session->object)
		return TEE_ERROR_BAD_STATE;
	res = get_input(&in, &params[0]);
	if (res != TEE_SUCCESS)
		return res;
	if (!range_ok(offset, in.len))
		return TEE_ERROR_BAD_PARAMETERS;
	if (!in.len)
		return TEE_SUCCESS;

	res = TEE_SeekObjectData(session->object, offset, TEE_DATA_SEEK_SET);
	if (res == TEE_SUCCESS)
		res = TEE_WriteObjectData(session->object, in.data, in.len);
	return result_of(session, res);
}

TEE_Result storage_rename(struct session *session, TEE_Param *params)
{
	struct name name = { 0 };
	TEE_Result res = TEE_SUCCESS;

	if (!session->object)
		return TEE_ERROR_BAD_STATE;
	res = get_name(&name, &params[0]);
	if (res != TEE_SUCCESS)
		return res;
	res = TEE_RenamePersistentObject(session->object, name.bytes, name.len);
	return result_of(session, res);
}

TEE_Result storage_truncate(struct session *session, TEE_Param *params)
{
	TEE_Result res = TEE_SUCCESS;

	if (!session->object)
		return TEE_ERROR_BAD_STATE;
	if (params[0].value.a > TA_BENCH_OBJECT_MAX)
		return TEE_ERROR_BAD_PARAMETERS;
	res = TEE_TruncateObjectData(session->object, params[0].value.a);
	return result_of(session, res);
}

TEE_Result storage_delete(struct session *session, TEE_Param *params)
{
	TEE_Result res = TEE_SUCCESS;

	(void)params;

	if (!session->object)
		return TEE_ERROR_BAD_STATE;
	res = TEE_CloseAndDeletePersistentObject1(session->object);
	session->object = TEE_HANDLE_NULL;
	return res;
}

TEE_Result storage_close(struct session *session, TEE_Param *params)
{
	(void)params;

	if (!session->object)
		return TEE_ERROR_BAD_STATE;
	object_close(session);
	return TEE_SUCCESS;
}

TEE_Result storage_fetch(struct session *session, TEE_Param *params)
{
	tee_size count = 0;
	TEE_Result res = TEE_SUCCESS;

	if (!range_ok(0, params[1].memref.size) || !params[1].memref.size ||
	    !params[1].memref.buffer)
		return TEE_ERROR_BAD_PARAMETERS;
	res = open_named(session, &params[0], params[2].value.a);
	if (res != TEE_SUCCESS)
		return res;

	res = TEE_ReadObjectData(session->object, params[1].memref.buffer,
				 params[1].memref.size, &count);
	if (res == TEE_SUCCESS)
		params[1].memref.size = count;
	if (res != TEE_ERROR_CORRUPT_OBJECT)
		object_close(session);
	return result_of(session, res);
}
