// A library that exchanges tensors with package dlpack. The structures are written down here a second
// time, so that both sides are checked against each other.
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { uint32_t major, minor; } DLPackVersion;
typedef struct { int32_t device_type, device_id; } DLDevice;
typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;
typedef struct {
	void *data;
	DLDevice device;
	int32_t ndim;
	DLDataType dtype;
	int64_t *shape, *strides;
	uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
	DLTensor dl_tensor;
	void *manager_ctx;
	void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;
typedef struct DLManagedTensorVersioned {
	DLPackVersion version;
	void *manager_ctx;
	void (*deleter)(struct DLManagedTensorVersioned *self);
	uint64_t flags;
	DLTensor dl_tensor;
} DLManagedTensorVersioned;

// offsets writes sizes and offsets of the structures and returns their number.
int32_t offsets(uint64_t *out)
{
	int n = 0;
	out[n++] = sizeof(DLManagedTensorVersioned);
	out[n++] = offsetof(DLManagedTensorVersioned, manager_ctx);
	out[n++] = offsetof(DLManagedTensorVersioned, deleter);
	out[n++] = offsetof(DLManagedTensorVersioned, flags);
	out[n++] = offsetof(DLManagedTensorVersioned, dl_tensor);
	out[n++] = sizeof(DLManagedTensor);
	out[n++] = offsetof(DLManagedTensor, manager_ctx);
	out[n++] = offsetof(DLManagedTensor, deleter);
	out[n++] = sizeof(DLTensor);
	out[n++] = offsetof(DLTensor, device);
	out[n++] = offsetof(DLTensor, ndim);
	out[n++] = offsetof(DLTensor, dtype);
	out[n++] = offsetof(DLTensor, shape);
	out[n++] = offsetof(DLTensor, strides);
	out[n++] = offsetof(DLTensor, byte_offset);
	return n;
}

// at returns the element with number i in row-major order.
static char *at(const DLTensor *t, int64_t i)
{
	int64_t place = 0, dense = 1;
	for (int axis = t->ndim - 1; axis >= 0; axis--) {
		int64_t index = i % t->shape[axis];
		i /= t->shape[axis];
		place += index * (t->strides ? t->strides[axis] : dense);
		dense *= t->shape[axis];
	}
	return (char *)t->data + t->byte_offset + place * (t->dtype.bits / 8);
}

static int64_t elements(const DLTensor *t)
{
	int64_t n = 1;
	for (int axis = 0; axis < t->ndim; axis++)
		n *= t->shape[axis];
	return n;
}

// checksum adds (i+1) times the bits of each element, so that order counts.
static uint64_t checksum(const DLTensor *t)
{
	uint64_t sum = 0;
	for (int64_t i = 0; i < elements(t); i++) {
		uint32_t bits = 0;
		memcpy(&bits, at(t, i), t->dtype.bits / 8);
		sum += (uint64_t)(i + 1) * bits;
	}
	return sum;
}

// sum consumes a tensor: it returns its checksum and calls the deleter.
uint64_t sum(DLManagedTensorVersioned *m)
{
	uint64_t s = checksum(&m->dl_tensor);
	m->deleter(m);
	return s;
}

uint64_t sum_legacy(DLManagedTensor *m)
{
	uint64_t s = checksum(&m->dl_tensor);
	m->deleter(m);
	return s;
}

// count writes first, first+1 ... as 16-bit patterns, unless the tensor is read-only, and deletes it.
int32_t count(DLManagedTensorVersioned *m, uint16_t first)
{
	int32_t written = 0;
	if (!(m->flags & 1) && m->dl_tensor.dtype.bits == 16)
		for (; written < elements(&m->dl_tensor); written++, first++)
			memcpy(at(&m->dl_tensor, written), &first, 2);
	m->deleter(m);
	return written;
}

static void *end(void *m)
{
	((DLManagedTensorVersioned *)m)->deleter(m);
	return NULL;
}

// delete_on_thread calls the deleter on a thread that the other side has never seen.
int32_t delete_on_thread(DLManagedTensorVersioned *m)
{
	pthread_t t;
	if (pthread_create(&t, NULL, end, m))
		return -1;
	return pthread_join(t, NULL);
}

// What the producer has handed out, and what came back.
static int64_t deleted;
static int32_t wrong;

// held is a tensor with its memory and the arrays that it points to.
typedef struct {
	union {
		DLManagedTensorVersioned versioned;
		DLManagedTensor legacy;
	} m; // first, so that the tensor's address is that of the whole
	int64_t shape[8], strides[8];
	char *memory;
	size_t size;
} held;

static void drop(held *h)
{
	memset(h->memory, 0xee, h->size);
	free(h->memory);
	memset(h, 0xee, sizeof *h);
	free(h);
	__atomic_add_fetch(&deleted, 1, __ATOMIC_SEQ_CST);
}

static void drop_versioned(DLManagedTensorVersioned *self)
{
	if (self->manager_ctx != self)
		wrong++;
	drop((held *)self);
}

static void drop_legacy(DLManagedTensor *self)
{
	if (self->manager_ctx != self)
		wrong++;
	drop((held *)self);
}

int64_t deletions(void) { return __atomic_load_n(&deleted, __ATOMIC_SEQ_CST); }

int32_t wrong_contexts(void) { return wrong; }

static held *make(DLTensor *t, held *h, DLDataType type, int32_t ndim, const int64_t *shape, const int64_t *strides,
		  uint64_t offset)
{
	int64_t last = 0, dense = 1;
	for (int axis = ndim - 1; axis >= 0; axis--) {
		h->shape[axis] = shape[axis];
		h->strides[axis] = strides ? strides[axis] : dense;
		last += (shape[axis] - 1) * h->strides[axis];
		dense *= shape[axis];
	}
	h->size = offset + (size_t)(last + 1) * (type.bits / 8);
	if (posix_memalign((void **)&h->memory, 64, h->size))
		abort();
	memset(h->memory, 0x77, h->size);
	t->data = h->memory;
	t->device.device_type = 1;
	t->ndim = ndim;
	t->dtype = type;
	t->shape = h->shape;
	t->strides = strides ? h->strides : NULL;
	t->byte_offset = offset;
	for (int64_t i = 0; i < elements(t); i++) {
		uint64_t bits = (uint64_t)(0x3c00 + i); // little-endian
		memcpy(at(t, i), &bits, type.bits / 8);
	}
	return h;
}

// produce makes a tensor with element i of the bits 0x3c00+i.
DLManagedTensorVersioned *produce(uint8_t code, uint8_t bits, int32_t ndim, const int64_t *shape, const int64_t *strides,
				  uint64_t offset, uint64_t flags)
{
	held *h = calloc(1, sizeof *h);
	DLManagedTensorVersioned *m = &h->m.versioned;
	make(&m->dl_tensor, h, (DLDataType){code, bits, 1}, ndim, shape, strides, offset);
	m->version = (DLPackVersion){1, 1};
	m->manager_ctx = m;
	m->deleter = drop_versioned;
	m->flags = flags;
	return m;
}

DLManagedTensor *produce_legacy(uint8_t code, uint8_t bits, int32_t ndim, const int64_t *shape, const int64_t *strides,
				uint64_t offset)
{
	held *h = calloc(1, sizeof *h);
	DLManagedTensor *m = &h->m.legacy;
	make(&m->dl_tensor, h, (DLDataType){code, bits, 1}, ndim, shape, strides, offset);
	m->manager_ctx = m;
	m->deleter = drop_legacy;
	return m;
}

// nothing is the bare foreign call.
void nothing(void *p) { (void)p; }

// call_back is the bare foreign call that calls back.
void call_back(void *p, uint64_t (*f)(void *)) { f(p); }

// end_now calls the deleter and does nothing else.
void end_now(DLManagedTensorVersioned *m) { m->deleter(m); }
