// Stand-ins of the classes of DriverKit that the extensions of unimem/dma/dext use, with the published names,
// arguments and codes. The class headers that iig would make come from iig.go.

#ifndef FAKE_DRIVERKIT_H
#define FAKE_DRIVERKIT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int32_t kern_return_t;

enum : int32_t {
	kIOReturnSuccess = 0,
	kIOReturnError = (int32_t)0xe00002bc,
	kIOReturnNoMemory = (int32_t)0xe00002bd,
	kIOReturnNoResources = (int32_t)0xe00002be,
	kIOReturnNotPermitted = (int32_t)0xe00002e2,
	kIOReturnBadArgument = (int32_t)0xe00002c2,
	kIOReturnUnsupported = (int32_t)0xe00002c7,
	kIOReturnVMError = (int32_t)0xe00002c8,
	kIOReturnNotAligned = (int32_t)0xe00002d0,
	kIOReturnBusy = (int32_t)0xe00002d5,
	kIOReturnNotReady = (int32_t)0xe00002d8,
	kIOReturnNoSpace = (int32_t)0xe00002db,
	kIOReturnOverrun = (int32_t)0xe00002e8,
	kIOReturnNotFound = (int32_t)0xe00002f0,
};

#define LOCALONLY
#define SUPERDISPATCH ((OSDispatchMethod)1)
#define IMPL(cls, name) cls::name##_Impl(cls##_##name##_Args)
#define OSDynamicCast(T, object) ((T *)((object) != nullptr && (object)->isA(#T) ? (object) : nullptr))
#define OSSafeReleaseNULL(object) do { if ((object) != nullptr) { (object)->release(); (object) = nullptr; } } while (0)

// Memory of the extension, counted. fake_calloc fails when a test says so.
void * fake_calloc(size_t size);
void fake_free(void * p);
#define IONewZero(T, n) ((T *)fake_calloc(sizeof(T) * (n)))
#define IODelete(p, T, n) fake_free(p)
#define IOSafeDeleteNULL(p, T, n) do { fake_free(p); (p) = nullptr; } while (0)

struct IOLock;
IOLock * IOLockAlloc();
void IOLockFree(IOLock *);
void IOLockLock(IOLock *);
void IOLockUnlock(IOLock *);

#define CLOCK_UPTIME_RAW 8
uint64_t clock_gettime_nsec_np(int clock);

#define OS_LOG_DEFAULT nullptr
__attribute__((format(printf, 2, 3))) void os_log(void *, const char * format, ...);

typedef const void * OSDispatchMethod;

class OSObject
{
public:
	static void * operator new(size_t size) { return fake_calloc(size); }
	static void operator delete(void * p) { fake_free(p); }
	virtual ~OSObject() {}
	virtual bool isA(const char * name) const { return !strcmp(name, "OSObject"); }
	virtual const char * className() const { return "OSObject"; }
	virtual bool init() { references = 1; return true; }
	virtual void free();
	void retain();
	void release();

private:
	int references;
};

#define FAKE_CLASS(cls, parent) \
	typedef parent super; \
	bool isA(const char * name) const override { return !strcmp(name, #cls) || super::isA(name); } \
	const char * className() const override { return #cls; }

class OSData: public OSObject
{
public:
	FAKE_CLASS(OSData, OSObject)
	static OSData * withBytes(const void * bytes, size_t length);
	const void * getBytesNoCopy() const { return bytes; }
	size_t getLength() const { return length; }
	void free() override;

private:
	void * bytes;
	size_t length;
};

struct IOAddressSegment {
	uint64_t address;
	uint64_t length;
};

enum : uint64_t {
	kIOMemoryDirectionIn = 1,
	kIOMemoryDirectionOut = 2,
	kIOMemoryDirectionInOut = 3,
	kIODMACommandCreateNoOptions = 0,
	kIODMACommandSpecificationNoOptions = 0,
	kIODMACommandPrepareForDMANoOptions = 0,
	kIODMACommandCompleteDMANoOptions = 0,
};

class IOMemoryDescriptor: public OSObject
{
public:
	FAKE_CLASS(IOMemoryDescriptor, OSObject)
	uint64_t address, length, direction;
};

class IOBufferMemoryDescriptor: public IOMemoryDescriptor
{
public:
	FAKE_CLASS(IOBufferMemoryDescriptor, IOMemoryDescriptor)
	static kern_return_t Create(uint64_t options, uint64_t capacity, uint64_t alignment,
	    IOBufferMemoryDescriptor ** memory);
	kern_return_t SetLength(uint64_t length);
	void free() override;

private:
	uint64_t capacity;
};

class IOService;

struct IODMACommandSpecification {
	uint64_t options;
	uint64_t maxAddressBits;
	uint64_t _resv[16];
};

class IODMACommand: public OSObject
{
public:
	FAKE_CLASS(IODMACommand, OSObject)
	static kern_return_t Create(IOService * device, uint64_t options, const IODMACommandSpecification * specification,
	    IODMACommand ** command);
	kern_return_t PrepareForDMA(uint64_t options, IOMemoryDescriptor * memory, uint64_t offset, uint64_t length,
	    uint64_t * flags, uint32_t * segmentsCount, IOAddressSegment segments[32]);
	kern_return_t CompleteDMA(uint64_t options);
	void free() override;

private:
	IOMemoryDescriptor * memory; // NULL unless prepared
};

class IOUserClient;

class IOService: public OSObject
{
public:
	FAKE_CLASS(IOService, OSObject)
	virtual kern_return_t Start(IOService * provider, OSDispatchMethod = nullptr) { return kIOReturnSuccess; }
	virtual kern_return_t Stop(IOService * provider, OSDispatchMethod = nullptr) { return kIOReturnSuccess; }
	virtual kern_return_t NewUserClient(uint32_t type, IOUserClient ** client, OSDispatchMethod = nullptr)
	{ return kIOReturnUnsupported; }
	kern_return_t RegisterService() { return kIOReturnSuccess; }
	// Makes the class that the property list of the provider names under key, and starts it.
	kern_return_t Create(IOService * provider, const char * key, IOService ** result);
};

class OSAction;

struct IOUserClientMethodArguments {
	uint64_t version;
	uint64_t selector;
	OSAction * completion;
	const uint64_t * scalarInput;
	uint32_t scalarInputCount;
	OSData * structureInput;
	IOMemoryDescriptor * structureInputDescriptor;
	uint64_t * scalarOutput;
	uint32_t scalarOutputCount;
	OSData * structureOutput;
	IOMemoryDescriptor * structureOutputDescriptor;
	uint64_t structureOutputMaximumSize;
};

typedef kern_return_t (*IOUserClientMethodFunction)(OSObject * target, void * reference,
    IOUserClientMethodArguments * arguments);

struct IOUserClientMethodDispatch {
	IOUserClientMethodFunction function;
	uint32_t checkCompletionExists;
	uint32_t checkScalarInputCount;
	uint32_t checkStructureInputSize;
	uint32_t checkScalarOutputCount;
	uint32_t checkStructureOutputSize;
};

class IOUserClient: public IOService
{
public:
	FAKE_CLASS(IOUserClient, IOService)
	virtual kern_return_t ExternalMethod(uint64_t selector, IOUserClientMethodArguments * arguments,
	    const IOUserClientMethodDispatch * dispatch, OSObject * target, void * reference);
	virtual kern_return_t CopyClientMemoryForType(uint64_t type, uint64_t * options, IOMemoryDescriptor ** memory,
	    OSDispatchMethod = nullptr)
	{ return kIOReturnUnsupported; }
	kern_return_t CreateMemoryDescriptorFromClient(uint64_t options, uint32_t segmentsCount,
	    const IOAddressSegment segments[32], IOMemoryDescriptor ** memory);
};

// Made from the .iig files and the property lists: a new object of a class, and the class that a property list
// names. Both return NULL for an unknown name.
OSObject * fake_make(const char * cls);
const char * fake_property(const char * cls, const char * key);

#endif
