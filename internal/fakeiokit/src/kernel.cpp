// The kernel and IOKit.framework, as far as the Go client of unimem/dma uses them: it runs the extensions of
// unimem/dma/dext in this process. Functions called fake_* are for tests.

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

#include "DriverKit/driverkit.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

static const uint64_t page = 16384;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

// What tests set and read, under the lock.
static struct {
	uint64_t longest, space; // of a segment, of all addresses; 0 for no limit
	char failing[64];        // a call, and after how many calls of it
	int after;
	int32_t code;
	char stalled[64];
	int waiting; // calls that wait for fake_resume
	int64_t memory, prepared, ports, dictionaries, mappings;
} state;

// Reports whether the call of that name fails now, and waits while it is stalled.
static int32_t
step(const char * call)
{
	pthread_mutex_lock(&lock);
	int32_t code = 0;
	if (!strcmp(state.failing, call) && state.after-- == 0) {
		state.failing[0] = 0;
		code = state.code;
	}
	while (!strcmp(state.stalled, call)) {
		state.waiting++;
		pthread_cond_broadcast(&changed);
		pthread_cond_wait(&changed, &lock);
		state.waiting--;
	}
	pthread_mutex_unlock(&lock);
	return code;
}

// Memory and objects.

void *
fake_calloc(size_t size)
{
	if (step("calloc")) {
		return nullptr;
	}
	__atomic_fetch_add(&state.memory, 1, __ATOMIC_SEQ_CST);
	return calloc(1, size);
}

void
fake_free(void * p)
{
	if (p != nullptr) {
		__atomic_fetch_sub(&state.memory, 1, __ATOMIC_SEQ_CST);
		free(p);
	}
}

void OSObject::free() { delete this; }
void OSObject::retain() { __atomic_fetch_add(&references, 1, __ATOMIC_SEQ_CST); }

void
OSObject::release()
{
	int left = __atomic_sub_fetch(&references, 1, __ATOMIC_SEQ_CST);
	if (left < 0) {
		fprintf(stderr, "%s is released too often\n", className());
		abort();
	}
	if (left == 0) {
		free();
	}
}

OSData *
OSData::withBytes(const void * bytes, size_t length)
{
	if (step("OSData::withBytes")) {
		return nullptr;
	}
	OSData * d = new OSData();
	d->init();
	d->bytes = fake_calloc(length);
	memcpy(d->bytes, bytes, length);
	d->length = length;
	return d;
}

void
OSData::free()
{
	fake_free(bytes);
	super::free();
}

struct IOLock { pthread_mutex_t mutex; };

IOLock *
IOLockAlloc()
{
	IOLock * l = (IOLock *)fake_calloc(sizeof(IOLock));
	if (l != nullptr) {
		pthread_mutex_init(&l->mutex, nullptr);
	}
	return l;
}

void IOLockFree(IOLock * l) { fake_free(l); }
void IOLockLock(IOLock * l) { pthread_mutex_lock(&l->mutex); }
void IOLockUnlock(IOLock * l) { pthread_mutex_unlock(&l->mutex); }

uint64_t
clock_gettime_nsec_np(int clock)
{
	struct timespec now;
	if (clock != CLOCK_UPTIME_RAW) {
		abort();
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void
os_log(void *, const char * format, ...)
{
}

// Memory for devices.

kern_return_t
IOBufferMemoryDescriptor::Create(uint64_t options, uint64_t capacity, uint64_t alignment,
    IOBufferMemoryDescriptor ** memory)
{
	if (int32_t code = step("IOBufferMemoryDescriptor::Create")) {
		return code;
	}
	void * p = mmap(nullptr, capacity + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		return kIOReturnNoMemory;
	}
	IOBufferMemoryDescriptor * d = new IOBufferMemoryDescriptor();
	d->init();
	uint64_t start = (uint64_t)p, aligned = (start + alignment - 1) & ~(alignment - 1);
	if (aligned > start) {
		munmap(p, aligned - start);
	}
	munmap((void *)(aligned + capacity), start + alignment - aligned);
	d->address = aligned;
	d->capacity = capacity;
	d->direction = options;
	*memory = d;
	return kIOReturnSuccess;
}

kern_return_t
IOBufferMemoryDescriptor::SetLength(uint64_t n)
{
	if (n > capacity) {
		return kIOReturnBadArgument;
	}
	length = n;
	return kIOReturnSuccess;
}

void
IOBufferMemoryDescriptor::free()
{
	munmap((void *)address, capacity);
	super::free();
}

kern_return_t
IOUserClient::CreateMemoryDescriptorFromClient(uint64_t options, uint32_t segmentsCount,
    const IOAddressSegment segments[32], IOMemoryDescriptor ** memory)
{
	if (int32_t code = step("CreateMemoryDescriptorFromClient")) {
		return code;
	}
	if (segmentsCount != 1) {
		return kIOReturnUnsupported; // of this stand-in
	}
	IOMemoryDescriptor * d = new IOMemoryDescriptor();
	d->init();
	d->address = segments[0].address;
	d->length = segments[0].length;
	d->direction = options;
	*memory = d;
	return kIOReturnSuccess;
}

// The addresses of the one device: a list of runs, sorted by address, with a page between neighbors, so that no two
// join.
struct run {
	uint64_t at, length, memory; // device address, bytes, address in this process
	IODMACommand * owner;
	run * next;
};
static run * runs;
static uint64_t taken; // bytes of all runs
static pthread_mutex_t addresses = PTHREAD_MUTEX_INITIALIZER; // guards both

static const uint64_t first = 0x100000000;

// Takes addresses for a run, the lowest free ones.
static void
take(IODMACommand * owner, uint64_t memory, uint64_t length)
{
	uint64_t at = first;
	run ** place = &runs;
	for (; *place != nullptr && (*place)->at < at + length + page; place = &(*place)->next) {
		at = (*place)->at + (*place)->length + page;
	}
	run * r = (run *)calloc(1, sizeof(run));
	*r = {at, length, memory, owner, *place};
	*place = r;
	taken += length;
}

static void
give(IODMACommand * owner)
{
	for (run ** place = &runs; *place != nullptr;) {
		run * r = *place;
		if (r->owner == owner) {
			*place = r->next;
			taken -= r->length;
			free(r);
		} else {
			place = &r->next;
		}
	}
}

kern_return_t
IODMACommand::Create(IOService * device, uint64_t options, const IODMACommandSpecification * specification,
    IODMACommand ** command)
{
	if (int32_t code = step("IODMACommand::Create")) {
		return code;
	}
	if (device == nullptr || options != 0 || specification->maxAddressBits == 0 || specification->maxAddressBits > 64) {
		return kIOReturnBadArgument;
	}
	IODMACommand * d = new IODMACommand();
	d->init();
	*command = d;
	return kIOReturnSuccess;
}

// As in xnu: the whole length is prepared, and the array gets as many segments as it holds.
kern_return_t
IODMACommand::PrepareForDMA(uint64_t options, IOMemoryDescriptor * m, uint64_t offset, uint64_t length,
    uint64_t * flags, uint32_t * segmentsCount, IOAddressSegment segments[32])
{
	if (int32_t code = step("PrepareForDMA")) {
		return code;
	}
	if (options != 0 || m == nullptr || length == 0 || offset + length > m->length || *segmentsCount > 32) {
		return kIOReturnBadArgument;
	}
	if (memory != nullptr) {
		return kIOReturnBusy;
	}
	if (msync((void *)((m->address + offset) & ~4095ull), length, MS_ASYNC) != 0) {
		return kIOReturnVMError; // no memory there
	}
	pthread_mutex_lock(&lock);
	uint64_t longest = state.longest ? state.longest : length, space = state.space;
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&addresses);
	if (space != 0 && taken + length > space) {
		pthread_mutex_unlock(&addresses);
		return kIOReturnNoSpace;
	}
	uint32_t n = 0;
	for (uint64_t at = 0; at < length; at += longest) {
		uint64_t part = length - at < longest ? length - at : longest;
		take(this, m->address + offset + at, part);
	}
	for (run * r = runs; r != nullptr; r = r->next) {
		if (r->owner == this) {
			// The runs of one command are sorted by address, which need not be the order of the bytes.
			uint32_t place = (uint32_t)((r->memory - m->address - offset) / longest);
			if (place < *segmentsCount) {
				segments[place] = {r->at, r->length};
				n++;
			}
		}
	}
	pthread_mutex_unlock(&addresses);
	*segmentsCount = n;
	*flags = m->direction;
	m->retain();
	memory = m;
	__atomic_fetch_add(&state.prepared, 1, __ATOMIC_SEQ_CST);
	return kIOReturnSuccess;
}

kern_return_t
IODMACommand::CompleteDMA(uint64_t options)
{
	if (int32_t code = step("CompleteDMA")) {
		return code;
	}
	if (memory == nullptr) {
		return kIOReturnNotReady;
	}
	pthread_mutex_lock(&addresses);
	give(this);
	pthread_mutex_unlock(&addresses);
	OSSafeReleaseNULL(memory);
	__atomic_fetch_sub(&state.prepared, 1, __ATOMIC_SEQ_CST);
	return kIOReturnSuccess;
}

void
IODMACommand::free()
{
	if (memory != nullptr) {
		fprintf(stderr, "an IODMACommand is freed while it is prepared\n");
		abort();
	}
	super::free();
}

// Services and connections.

kern_return_t
IOService::Create(IOService * provider, const char * key, IOService ** result)
{
	if (int32_t code = step("IOService::Create")) {
		return code;
	}
	const char * cls = fake_property(provider->className(), key);
	IOService * made = cls != nullptr ? (IOService *)fake_make(cls) : nullptr;
	if (made == nullptr) {
		return kIOReturnNotFound;
	}
	if (!made->init()) {
		made->release();
		return kIOReturnNoMemory;
	}
	kern_return_t ret = made->Start(provider);
	if (ret != kIOReturnSuccess) {
		made->release();
		return ret;
	}
	*result = made;
	return kIOReturnSuccess;
}

// The kernel compares what a client sends with the dispatch before it calls the function.
kern_return_t
IOUserClient::ExternalMethod(uint64_t selector, IOUserClientMethodArguments * a,
    const IOUserClientMethodDispatch * d, OSObject * target, void * reference)
{
	if (d == nullptr || d->function == nullptr) {
		return kIOReturnUnsupported;
	}
	size_t input = a->structureInput != nullptr ? a->structureInput->getLength() : 0;
	if (a->scalarInputCount != d->checkScalarInputCount || a->scalarOutputCount != d->checkScalarOutputCount ||
	    input != d->checkStructureInputSize || a->structureOutputMaximumSize != d->checkStructureOutputSize) {
		return kIOReturnBadArgument;
	}
	return d->function(target, reference, a);
}

static const uint32_t task = 0x203;
EXPORT uint32_t mach_task_self_;
uint32_t mach_task_self_ = task;

// The ports: a service or a connection each.
static const int most = 64;
static struct {
	IOService * service;
	IOService * provider; // of a connection
} ports[most];

static uint32_t
port(IOService * service, IOService * provider)
{
	pthread_mutex_lock(&lock);
	uint32_t name = 0;
	for (int i = 1; i < most && name == 0; i++) {
		if (ports[i].service == nullptr) {
			ports[i] = {service, provider};
			state.ports++;
			name = (uint32_t)i << 8 | 3;
		}
	}
	pthread_mutex_unlock(&lock);
	return name;
}

static int
index(uint32_t name)
{
	int i = (int)(name >> 8);
	return (name & 0xff) == 3 && i < most && ports[i].service != nullptr ? i : 0;
}

EXPORT char *
IOServiceNameMatching(const char * name)
{
	if (step("IOServiceNameMatching")) {
		return nullptr;
	}
	__atomic_fetch_add(&state.dictionaries, 1, __ATOMIC_SEQ_CST);
	return strdup(name);
}

// Consumes a reference of the dictionary.
EXPORT uint32_t
IOServiceGetMatchingService(uint32_t mainPort, char * matching)
{
	IOService * made = nullptr;
	if (step("IOServiceGetMatchingService") == 0 && mainPort == 0 && fake_property(matching, "UserClientProperties")) {
		made = (IOService *)fake_make(matching);
	}
	free(matching);
	__atomic_fetch_sub(&state.dictionaries, 1, __ATOMIC_SEQ_CST);
	if (made == nullptr) {
		return 0;
	}
	IOService * resources = new IOService(); // IOUserResources
	resources->init();
	made->init();
	made->Start(resources);
	resources->release(); // the driver has its own reference
	return port(made, nullptr);
}

EXPORT int32_t
IOObjectRelease(uint32_t name)
{
	int i = index(name);
	if (i == 0) {
		return 15; // KERN_INVALID_NAME
	}
	IOService * service = ports[i].service;
	pthread_mutex_lock(&lock);
	ports[i] = {};
	state.ports--;
	pthread_mutex_unlock(&lock);
	service->release();
	return 0;
}

EXPORT int32_t
IOServiceOpen(uint32_t service, uint32_t owner, uint32_t type, uint32_t * connect)
{
	if (int32_t code = step("IOServiceOpen")) {
		return code;
	}
	int i = index(service);
	if (i == 0 || owner != task) {
		return kIOReturnBadArgument;
	}
	IOService * driver = ports[i].service;
	IOUserClient * client = nullptr;
	kern_return_t ret = driver->NewUserClient(type, &client);
	if (ret != kIOReturnSuccess) {
		return ret;
	}
	driver->retain();
	*connect = port(client, driver);
	return kIOReturnSuccess;
}

EXPORT int32_t
IOServiceClose(uint32_t connect)
{
	int32_t code = step("IOServiceClose");
	int i = index(connect);
	if (i == 0) {
		return 15; // KERN_INVALID_NAME
	}
	IOService * client = ports[i].service;
	IOService * driver = ports[i].provider;
	client->Stop(driver);
	pthread_mutex_lock(&lock);
	ports[i] = {};
	state.ports--;
	pthread_mutex_unlock(&lock);
	client->release();
	driver->release();
	return code;
}

EXPORT int32_t
IOConnectCallMethod(uint32_t connect, uint32_t selector, const uint64_t * input, uint32_t inputCount,
    const void * inputStruct, size_t inputStructSize, uint64_t * output, uint32_t * outputCount, void * outputStruct,
    size_t * outputStructSize)
{
	if (int32_t code = step("IOConnectCallMethod")) {
		return code;
	}
	int i = index(connect);
	if (i == 0) {
		return 0x10000003; // MACH_SEND_INVALID_DEST
	}
	IOUserClientMethodArguments a = {};
	uint64_t scalars[16] = {};
	if (outputCount && *outputCount > 16) {
		return kIOReturnBadArgument;
	}
	a.selector = selector;
	a.scalarInput = input;
	a.scalarInputCount = inputCount;
	a.structureInput = inputStructSize ? OSData::withBytes(inputStruct, inputStructSize) : nullptr;
	a.scalarOutput = scalars;
	a.scalarOutputCount = outputCount ? *outputCount : 0;
	a.structureOutputMaximumSize = outputStructSize ? *outputStructSize : 0;
	kern_return_t ret = ((IOUserClient *)ports[i].service)->ExternalMethod(selector, &a, nullptr, nullptr, nullptr);
	if (ret == kIOReturnSuccess) {
		if (outputCount) {
			memcpy(output, scalars, *outputCount * sizeof(uint64_t));
		}
		if (outputStructSize) {
			size_t n = a.structureOutput ? a.structureOutput->getLength() : 0;
			*outputStructSize = n < *outputStructSize ? n : *outputStructSize;
			if (n) {
				memcpy(outputStruct, a.structureOutput->getBytesNoCopy(), *outputStructSize);
			}
		}
	}
	OSSafeReleaseNULL(a.structureInput);
	OSSafeReleaseNULL(a.structureOutput);
	return ret;
}

EXPORT int32_t
IOConnectMapMemory64(uint32_t connect, uint32_t type, uint32_t into, uint64_t * address, uint64_t * size,
    uint32_t options)
{
	if (int32_t code = step("IOConnectMapMemory64")) {
		return code;
	}
	int i = index(connect);
	if (i == 0 || into != task) {
		return kIOReturnBadArgument;
	}
	uint64_t flags = 0;
	IOMemoryDescriptor * memory = nullptr;
	kern_return_t ret = ((IOUserClient *)ports[i].service)->CopyClientMemoryForType(type, &flags, &memory);
	if (ret == kIOReturnSuccess) {
		*address = memory->address;
		*size = memory->length;
		memory->release(); // the command keeps it; a Mac's mapping would keep it too
		__atomic_fetch_add(&state.mappings, 1, __ATOMIC_SEQ_CST);
	}
	return ret;
}

EXPORT int32_t
IOConnectUnmapMemory64(uint32_t connect, uint32_t type, uint32_t from, uint64_t address)
{
	int32_t code = step("IOConnectUnmapMemory64");
	__atomic_fetch_sub(&state.mappings, 1, __ATOMIC_SEQ_CST);
	return code;
}

// For tests.

EXPORT void
fake_limits(uint64_t longest, uint64_t space)
{
	pthread_mutex_lock(&lock);
	state.longest = longest;
	state.space = space;
	pthread_mutex_unlock(&lock);
}

// The nth call of that name from now on, counted from 0, fails with the code; one such wish at a time.
EXPORT void
fake_fail(const char * call, int32_t nth, int32_t code)
{
	pthread_mutex_lock(&lock);
	snprintf(state.failing, sizeof(state.failing), "%s", call);
	state.after = nth;
	state.code = code;
	pthread_mutex_unlock(&lock);
}

// Calls of that name wait until fake_resume.
EXPORT void
fake_stall(const char * call)
{
	pthread_mutex_lock(&lock);
	snprintf(state.stalled, sizeof(state.stalled), "%s", call);
	pthread_mutex_unlock(&lock);
}

EXPORT int32_t
fake_waiting(void)
{
	pthread_mutex_lock(&lock);
	int n = state.waiting;
	pthread_mutex_unlock(&lock);
	return n;
}

EXPORT void
fake_resume(void)
{
	pthread_mutex_lock(&lock);
	state.stalled[0] = 0;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

// What lives: 0 memory and objects, 1 prepared commands, 2 ports, 3 dictionaries, 4 mappings.
EXPORT int64_t
fake_live(int32_t what)
{
	int64_t * counts[] = {&state.memory, &state.prepared, &state.ports, &state.dictionaries, &state.mappings};
	return __atomic_load_n(counts[what], __ATOMIC_SEQ_CST);
}

// The device writes a byte. Returns 0 at an address that is not mapped.
EXPORT int32_t
fake_write(uint64_t at, uint8_t value)
{
	pthread_mutex_lock(&addresses);
	int32_t found = 0;
	for (run * r = runs; r != nullptr; r = r->next) {
		if (at >= r->at && at < r->at + r->length) {
			*(uint8_t *)(r->memory + (at - r->at)) = value;
			found = 1;
		}
	}
	pthread_mutex_unlock(&addresses);
	return found;
}
