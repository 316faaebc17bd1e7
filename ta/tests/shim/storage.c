/* SPDX-License-Identifier: BSD-2-Clause */
/* Persistent objects in memory, which is all of the REE-FS there is. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

#include "object.h"
#include <tee_api_defines_extensions.h>
#include <tee_internal_api.h>

#define FLAGS \
	(TEE_DATA_FLAG_ACCESS_READ | TEE_DATA_FLAG_ACCESS_WRITE | TEE_DATA_FLAG_ACCESS_WRITE_META)

struct shim_file {
	uint8_t id[TEE_OBJECT_ID_MAX_LEN];
	size_t id_len;
	uint8_t *data;
	size_t size;
	bool open;
	struct shim_object key; /* that is kept in it, if any */
	struct shim_file *next;
};

uint32_t shim_storage_result;

static struct shim_file *files;

void shim_storage_clear(void)
{
	while (files) {
		struct shim_file *next = files->next;

		if (files->open)
			shim_panic("a persistent object was left open");
		free(files->data);
		free(files);
		files = next;
	}
}

static struct shim_file *find(const void *id, size_t len)
{
	for (struct shim_file *file = files; file; file = file->next)
		if (file->id_len == len && !memcmp(file->id, id, len))
			return file;
	return NULL;
}

static void drop(struct shim_file *file)
{
	struct shim_file **at = &files;

	while (*at != file)
		at = &(*at)->next;
	*at = file->next;
	free(file->data);
	free(file);
}

static void resize(struct shim_file *file, size_t size)
{
	file->data = realloc(file->data, size + 1);
	if (size > file->size)
		memset(file->data + file->size, 0, size - file->size);
	file->size = size;
}

static TEE_Result open_file(struct shim_file *file, TEE_ObjectHandle *object)
{
	*object = TEE_Malloc(sizeof(**object), TEE_MALLOC_FILL_ZERO);
	if (!*object)
		return TEE_ERROR_OUT_OF_MEMORY;
	**object = file->key;
	(*object)->file = file;
	file->open = true;
	return TEE_SUCCESS;
}

static void check_id(const void *id, size_t len)
{
	if (!id || !len || len > TEE_OBJECT_ID_MAX_LEN)
		shim_panic("the name of an object");
	shim_not_shared(id, len, "the name of an object: shared memory");
	shim_meanwhile();
}

TEE_Result TEE_CreatePersistentObject(uint32_t storage, const void *id, size_t id_len,
				      uint32_t flags, TEE_ObjectHandle attributes, const void *data,
				      size_t len, TEE_ObjectHandle *object)
{
	struct shim_file *file = NULL;
	TEE_Result res = TEE_SUCCESS;

	check_id(id, id_len);
	if ((attributes && attributes->type != TEE_TYPE_X25519_KEYPAIR) || (len && !data) ||
	    (flags & ~TEE_DATA_FLAG_OVERWRITE) != FLAGS)
		shim_panic("TEE_CreatePersistentObject");
	*object = NULL;
	if (storage != TEE_STORAGE_PRIVATE_REE && storage != TEE_STORAGE_PRIVATE)
		return TEE_ERROR_ITEM_NOT_FOUND;
	if (shim_storage_result)
		return shim_storage_result;
	file = find(id, id_len);
	if (file && (file->open || !(flags & TEE_DATA_FLAG_OVERWRITE)))
		return TEE_ERROR_ACCESS_CONFLICT;
	if (!file) {
		file = calloc(1, sizeof(*file));
		memcpy(file->id, id, id_len);
		file->id_len = id_len;
		file->next = files;
		files = file;
	}
	resize(file, 0);
	resize(file, len);
	if (len)
		memcpy(file->data, data, len);
	if (attributes)
		file->key = *attributes;
	res = open_file(file, object);
	return res;
}

TEE_Result TEE_OpenPersistentObject(uint32_t storage, const void *id, size_t id_len, uint32_t flags,
				    TEE_ObjectHandle *object)
{
	struct shim_file *file = NULL;

	check_id(id, id_len);
	if (flags != FLAGS)
		shim_panic("TEE_OpenPersistentObject");
	*object = NULL;
	if (storage != TEE_STORAGE_PRIVATE_REE && storage != TEE_STORAGE_PRIVATE)
		return TEE_ERROR_ITEM_NOT_FOUND;
	file = find(id, id_len);
	/* A corrupt object is gone, as in OP-TEE. */
	if (file && shim_storage_result == TEE_ERROR_CORRUPT_OBJECT)
		drop(file);
	if (shim_storage_result)
		return shim_storage_result;
	if (!file)
		return TEE_ERROR_ITEM_NOT_FOUND;
	if (file->open)
		return TEE_ERROR_ACCESS_CONFLICT;
	return open_file(file, object);
}

static struct shim_file *file_of(TEE_ObjectHandle object)
{
	if (!object || !object->file || !object->file->open)
		shim_panic("no open persistent object");
	return object->file;
}

/* A corrupt object is closed and gone, as in OP-TEE. */
static TEE_Result broken(TEE_ObjectHandle object)
{
	TEE_Result res = shim_storage_result;

	file_of(object);
	if (res == TEE_ERROR_CORRUPT_OBJECT) {
		drop(object->file);
		TEE_Free(object);
	}
	return res;
}

TEE_Result TEE_GetObjectInfo1(TEE_ObjectHandle object, TEE_ObjectInfo *info)
{
	info->dataSize = file_of(object)->size;
	info->dataPosition = object->position;
	return TEE_SUCCESS;
}

TEE_Result TEE_SeekObjectData(TEE_ObjectHandle object, intmax_t offset, TEE_Whence whence)
{
	file_of(object);
	if (whence != TEE_DATA_SEEK_SET || offset < 0)
		shim_panic("TEE_SeekObjectData");
	object->position = offset;
	return TEE_SUCCESS;
}

TEE_Result TEE_ReadObjectData(TEE_ObjectHandle object, void *buffer, size_t size, size_t *count)
{
	struct shim_file *file = file_of(object);

	if (size && !buffer)
		shim_panic("TEE_ReadObjectData");
	*count = 0;
	if (broken(object))
		return shim_storage_result;
	if (object->position >= file->size)
		return TEE_SUCCESS;
	*count = file->size - object->position;
	if (*count > size)
		*count = size;
	memcpy(buffer, file->data + object->position, *count);
	object->position += *count;
	return TEE_SUCCESS;
}

TEE_Result TEE_WriteObjectData(TEE_ObjectHandle object, const void *buffer, size_t size)
{
	struct shim_file *file = file_of(object);

	if (size && !buffer)
		shim_panic("TEE_WriteObjectData");
	if (broken(object))
		return shim_storage_result;
	if (object->position + size > file->size)
		resize(file, object->position + size);
	if (size)
		memcpy(file->data + object->position, buffer, size);
	object->position += size;
	return TEE_SUCCESS;
}

TEE_Result TEE_TruncateObjectData(TEE_ObjectHandle object, size_t size)
{
	struct shim_file *file = file_of(object);

	if (broken(object))
		return shim_storage_result;
	resize(file, size);
	return TEE_SUCCESS;
}

TEE_Result TEE_RenamePersistentObject(TEE_ObjectHandle object, const void *id, size_t id_len)
{
	struct shim_file *file = file_of(object);

	check_id(id, id_len);
	if (broken(object))
		return shim_storage_result;
	if (find(id, id_len))
		return TEE_ERROR_ACCESS_CONFLICT;
	memcpy(file->id, id, id_len);
	file->id_len = id_len;
	return TEE_SUCCESS;
}

TEE_Result TEE_CloseAndDeletePersistentObject1(TEE_ObjectHandle object)
{
	drop(file_of(object));
	TEE_Free(object);
	return TEE_SUCCESS;
}

void TEE_CloseObject(TEE_ObjectHandle object)
{
	if (!object)
		return;
	file_of(object)->open = false;
	TEE_Free(object);
}
