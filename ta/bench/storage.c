/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Persistent objects. The TEE panics at a client's mistake unless the specification allows an
 * error; so these mistakes are checked here first.
 *
 * Data go between shared memory and the TEE without a copy: the TEE encrypts and decrypts in its
 * own memory, and no decision depends on the data.
 */
#include <tee_api_defines_extensions.h>

#include "session.h"

/* An object's name, in the TA's memory as the TEE requires, and its storage. */
struct place {
	uint8_t name[TA_BENCH_ID_MAX];
	size_t len;
	uint32_t storage;
};

_Static_assert(TA_BENCH_ID_MAX <= TEE_OBJECT_ID_MAX_LEN, "names too long");

static TEE_Result get_place(struct place *place, const TEE_Param *name, uint32_t storage)
{
	static const uint32_t storages[] = {
		[TA_BENCH_STORAGE_REE_FS] = TEE_STORAGE_PRIVATE_REE,
		[TA_BENCH_STORAGE_RPMB] = TEE_STORAGE_PRIVATE_RPMB,
	};
	const struct input in = input_of(name);

	if (!in.len || in.len > sizeof(place->name))
		return TEE_ERROR_BAD_PARAMETERS;
	if (storage > TA_BENCH_STORAGE_RPMB)
		return TEE_ERROR_NOT_SUPPORTED;
	TEE_MemMove(place->name, in.data, in.len);
	place->len = in.len;
	place->storage = storages[storage];
	return TEE_SUCCESS;
}

/* Returns true if [offset, offset + len) is within the size limit of an object. */
static bool range_ok(uint32_t offset, size_t len)
{
	return offset <= TA_BENCH_OBJECT_MAX && len <= TA_BENCH_OBJECT_MAX - offset;
}

/* Returns `res`; forgets the object if the TEE found it corrupt, as it has closed it. */
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
	const struct input in = input_of(&params[1]);
	struct place at = { 0 };
	TEE_Result res = get_place(&at, &params[0], params[2].value.a);

	if (in.len > TA_BENCH_OBJECT_MAX)
		return TEE_ERROR_BAD_PARAMETERS;
	if (res)
		return res;
	object_close(session);
	return TEE_CreatePersistentObject(at.storage, at.name, at.len,
					  ACCESS_ALL | TEE_DATA_FLAG_OVERWRITE, TEE_HANDLE_NULL,
					  in.data, in.len, &session->object);
}

/* Opens the object of that name, and closes the one that was open. */
static TEE_Result open_named(struct session *session, const TEE_Param *name, uint32_t storage)
{
	struct place at = { 0 };
	TEE_Result res = get_place(&at, name, storage);

	if (res)
		return res;
	object_close(session);
	return TEE_OpenPersistentObject(at.storage, at.name, at.len, ACCESS_ALL, &session->object);
}

TEE_Result storage_open(struct session *session, TEE_Param *params)
{
	TEE_ObjectInfo info = { 0 };
	TEE_Result res = open_named(session, &params[0], params[1].value.a);

	if (!res)
		res = result_of(session, TEE_GetObjectInfo1(session->object, &info));
	if (res)
		return res;
	params[2].value.a = info.dataSize;
	params[2].value.b = 0;
	return TEE_SUCCESS;
}

/* Reads from the object's current position into the parameter's buffer. */
static TEE_Result read(struct session *session, TEE_Param *param)
{
	tee_size count = 0;
	TEE_Result res = TEE_ReadObjectData(session->object, param->memref.buffer,
					    param->memref.size, &count);

	if (!res)
		param->memref.size = count;
	return res;
}

/* Sets the position in the open object, if there is one, for len bytes within its size limit. */
static TEE_Result seek(struct session *session, uint32_t offset, size_t len)
{
	if (!session->object)
		return TEE_ERROR_BAD_STATE;
	if (!range_ok(offset, len))
		return TEE_ERROR_BAD_PARAMETERS;
	return len ? TEE_SeekObjectData(session->object, offset, TEE_DATA_SEEK_SET) : TEE_SUCCESS;
}

TEE_Result storage_read(struct session *session, TEE_Param *params)
{
	size_t len = params[0].memref.size;
	TEE_Result res = seek(session, params[1].value.a, len);

	if (!res && len)
		res = read(session, &params[0]);
	return result_of(session, res);
}

TEE_Result storage_write(struct session *session, TEE_Param *params)
{
	const struct input in = input_of(&params[0]);
	TEE_Result res = seek(session, params[1].value.a, in.len);

	if (!res && in.len)
		res = TEE_WriteObjectData(session->object, in.data, in.len);
	return result_of(session, res);
}

TEE_Result storage_rename(struct session *session, TEE_Param *params)
{
	struct place to = { 0 };
	TEE_Result res = TEE_SUCCESS;

	if (!session->object)
		return TEE_ERROR_BAD_STATE;
	res = get_place(&to, &params[0], TA_BENCH_STORAGE_REE_FS);
	if (res)
		return res;
	res = TEE_RenamePersistentObject(session->object, to.name, to.len);
	return result_of(session, res);
}

TEE_Result storage_truncate(struct session *session, TEE_Param *params)
{
	if (!session->object)
		return TEE_ERROR_BAD_STATE;
	if (params[0].value.a > TA_BENCH_OBJECT_MAX)
		return TEE_ERROR_BAD_PARAMETERS;
	return result_of(session, TEE_TruncateObjectData(session->object, params[0].value.a));
}

TEE_Result storage_delete(struct session *session, TEE_Param *params)
{
	TEE_Result res = TEE_SUCCESS;

	if (!session->object)
		return TEE_ERROR_BAD_STATE;
	res = TEE_CloseAndDeletePersistentObject1(session->object);
	session->object = TEE_HANDLE_NULL;
	return res;
}

TEE_Result storage_close(struct session *session, TEE_Param *params)
{
	if (!session->object)
		return TEE_ERROR_BAD_STATE;
	object_close(session);
	return TEE_SUCCESS;
}

TEE_Result storage_fetch(struct session *session, TEE_Param *params)
{
	TEE_Result res = TEE_SUCCESS;

	if (!range_ok(0, params[1].memref.size) || !params[1].memref.size)
		return TEE_ERROR_BAD_PARAMETERS;
	res = open_named(session, &params[0], params[2].value.a);
	if (res)
		return res;
	res = result_of(session, read(session, &params[1]));
	object_close(session);
	return res;
}
