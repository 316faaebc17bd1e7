/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tee_call.h"

static int map_plain(struct tee_memory *m, struct error *err)
{
	long page = sysconf(_SC_PAGESIZE);
	size_t unit = page > 0 ? (size_t)page : 4096;
	size_t size = m->size ? m->size : 1;
	void *memory;

	m->mapped = (size + unit - 1) / unit * unit;
	memory = mmap(NULL, m->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return error_set(err, -ENOMEM, "no memory for %zu bytes", m->size);
	m->plain = m->data = memory;
	pool_message(m->data, m->size);
	if (m->kind == MEMORY_READ_ONLY && mprotect(m->plain, m->mapped, PROT_READ))
		return error_errno(err, "mprotect");
	return 0;
}

void tee_memory_blame_size(const struct tee_memory *m, struct error *err)
{
	TEEC_SharedMemory page = { .size = 4096, .flags = TEEC_MEM_INPUT };

	if (!err || err->tee_result != TEEC_ERROR_GENERIC || err->tee_origin != TEEC_ORIGIN_API ||
	    m->size <= page.size)
		return;
	page.buffer = aligned_alloc(page.size, page.size);
	if (page.buffer && m->tee->api->register_memory(&m->tee->context, &page) == TEEC_SUCCESS) {
		m->tee->api->release_memory(&page);
		error_hint(err, "no-memory",
			   "the TEE's driver shares a page, but not as "
			   "much as this: use a smaller buffer");
	}
	free(page.buffer);
}

int tee_memory_make(struct tee_memory *m, struct error *err)
{
	bool allocated = m->kind == MEMORY_ALLOCATED;
	TEEC_Result res;
	int ret;

	if (m->kind == MEMORY_TEMPORARY && !m->size)
		return 0;
	if (!allocated) {
		ret = map_plain(m, err);
		if (ret || m->kind == MEMORY_TEMPORARY)
			return ret;
	}
	m->shm = (TEEC_SharedMemory){ .buffer = m->plain,
				      .size = m->size ? m->size : 4096,
				      .flags = (m->in ? TEEC_MEM_INPUT : 0u) |
					       (m->out ? TEEC_MEM_OUTPUT : 0u) };
	res = allocated ? m->tee->api->allocate_memory(&m->tee->context, &m->shm) :
			  m->tee->api->register_memory(&m->tee->context, &m->shm);
	if (res == TEEC_ERROR_NOT_SUPPORTED)
		return error_skip(err, -EOPNOTSUPP, "no-registering",
				  "the TEE's driver cannot register memory of a client");
	if (res != TEEC_SUCCESS) {
		ret = error_tee(err, res, TEEC_ORIGIN_API, "cannot %s %zu bytes of shared memory",
				allocated ? "allocate" : "register", m->size);
		tee_memory_blame_size(m, err);
		return ret;
	}
	m->shared = true;
	if (allocated) {
		m->data = m->shm.buffer;
		pool_message(m->data, m->size);
	}
	return 0;
}

void tee_memory_drop(struct tee_memory *m)
{
	if (m->shared)
		m->tee->api->release_memory(&m->shm);
	if (m->plain)
		munmap(m->plain, m->mapped);
	m->shared = false;
	m->plain = m->data = NULL;
}

void tee_memory_set(struct tee_memory *m, TEEC_Operation *op, unsigned i, bool in, bool out)
{
	static const uint32_t types[2][3] = {
		{ TEEC_MEMREF_TEMP_INPUT, TEEC_MEMREF_TEMP_OUTPUT, TEEC_MEMREF_TEMP_INOUT },
		{ TEEC_MEMREF_PARTIAL_INPUT, TEEC_MEMREF_PARTIAL_OUTPUT,
		  TEEC_MEMREF_PARTIAL_INOUT },
	};
	bool temporary = m->kind == MEMORY_TEMPORARY;
	uint32_t type = types[!temporary][in && out ? 2 : out];

	if (!temporary) {
		tee_set_memref(op, i, type, &m->shm, 0, m->size);
		return;
	}
	tee_set_type(op, i, type);
	op->params[i].tmpref.buffer = m->data;
	op->params[i].tmpref.size = m->size;
}
