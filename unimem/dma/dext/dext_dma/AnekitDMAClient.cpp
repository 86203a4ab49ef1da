// One connection of a client. By Prepare it sends an address and a length of its task, those of a locked IOSurface, and
// the reply has the addresses that the device has for them. By Allocate the extension allocates, and the client maps.
// Nothing asks for physically contiguous pages, because kIOMemoryPhysicallyContiguous is for the kernel alone; whether
// the device has one segment for the buffer is what the second experiment shows.

#include <os/log.h>
#include <string.h>

#include <DriverKit/IOBufferMemoryDescriptor.h>
#include <DriverKit/IODMACommand.h>
#include <DriverKit/IOLib.h>
#include <DriverKit/IOMemoryDescriptor.h>
#include <DriverKit/IOUserClient.h>
#include <DriverKit/OSData.h>

#include "AnekitDMAClient.h"
#include "AnekitDMADriver.h"

#include "../commands.h"
#include "../protocol.h"

struct AnekitDMAClient_IVars {
	AnekitDMADriver * driver; // owned
	IOLock * lock;
	AnekitCommands commands;
};

static kern_return_t
Version(OSObject * target, void * reference, IOUserClientMethodArguments * arguments)
{
	arguments->scalarOutput[0] = ANEKIT_DMA_VERSION;
	return kIOReturnSuccess;
}

static kern_return_t
Prepare(OSObject * target, void * reference, IOUserClientMethodArguments * arguments)
{
	return ((AnekitDMAClient *)target)->Prepare(arguments);
}

static kern_return_t
Allocate(OSObject * target, void * reference, IOUserClientMethodArguments * arguments)
{
	return ((AnekitDMAClient *)target)->Allocate(arguments);
}

static kern_return_t
Complete(OSObject * target, void * reference, IOUserClientMethodArguments * arguments)
{
	return ((AnekitDMAClient *)target)->Complete(arguments);
}

static const IOUserClientMethodDispatch methods[kAnekitDMASelectors] = {
	[kAnekitDMAVersion] = {
		.function = &Version,
		.checkCompletionExists = false,
		.checkScalarInputCount = 0,
		.checkStructureInputSize = 0,
		.checkScalarOutputCount = 1,
		.checkStructureOutputSize = 0,
	},
	[kAnekitDMAPrepare] = {
		.function = &Prepare,
		.checkCompletionExists = false,
		.checkScalarInputCount = 0,
		.checkStructureInputSize = sizeof(AnekitDMARequest),
		.checkScalarOutputCount = 0,
		.checkStructureOutputSize = sizeof(AnekitDMAReply),
	},
	[kAnekitDMAComplete] = {
		.function = &Complete,
		.checkCompletionExists = false,
		.checkScalarInputCount = 1,
		.checkStructureInputSize = 0,
		.checkScalarOutputCount = 0,
		.checkStructureOutputSize = 0,
	},
	[kAnekitDMAAllocate] = {
		.function = &Allocate,
		.checkCompletionExists = false,
		.checkScalarInputCount = 1,
		.checkStructureInputSize = 0,
		.checkScalarOutputCount = 0,
		.checkStructureOutputSize = sizeof(AnekitDMAReply),
	},
};

bool
AnekitDMAClient::init()
{
	if (!super::init()) {
		return false;
	}
	ivars = IONewZero(AnekitDMAClient_IVars, 1);
	if (ivars == nullptr) {
		return false;
	}
	ivars->lock = IOLockAlloc();
	return ivars->lock != nullptr;
}

void
AnekitDMAClient::free()
{
	if (ivars != nullptr) {
		AnekitCompleteAll(&ivars->commands);
		if (ivars->lock != nullptr) {
			IOLockFree(ivars->lock);
		}
		OSSafeReleaseNULL(ivars->driver);
	}
	IOSafeDeleteNULL(ivars, AnekitDMAClient_IVars, 1);
	super::free();
}

kern_return_t
IMPL(AnekitDMAClient, Start)
{
	kern_return_t ret = Start(provider, SUPERDISPATCH);
	if (ret != kIOReturnSuccess) {
		return ret;
	}
	ivars->driver = OSDynamicCast(AnekitDMADriver, provider);
	if (ivars->driver == nullptr) {
		return kIOReturnBadArgument;
	}
	ivars->driver->retain();
	return kIOReturnSuccess;
}

// The system calls Stop also for a client whose process has crashed.
kern_return_t
IMPL(AnekitDMAClient, Stop)
{
	IOLockLock(ivars->lock);
	AnekitCompleteAll(&ivars->commands);
	IOLockUnlock(ivars->lock);
	return Stop(provider, SUPERDISPATCH);
}

kern_return_t
AnekitDMAClient::ExternalMethod(uint64_t selector, IOUserClientMethodArguments * arguments,
    const IOUserClientMethodDispatch * dispatch, OSObject * target, void * reference)
{
	if (selector >= kAnekitDMASelectors) {
		return kIOReturnUnsupported;
	}
	return super::ExternalMethod(selector, arguments, &methods[selector], this, nullptr);
}

kern_return_t
AnekitDMAClient::Prepare(IOUserClientMethodArguments * arguments)
{
	if (arguments->structureInput == nullptr || arguments->structureInput->getLength() != sizeof(AnekitDMARequest)) {
		return kIOReturnBadArgument;
	}
	AnekitDMARequest request;
	memcpy(&request, arguments->structureInput->getBytesNoCopy(), sizeof(request));
	const uint64_t rest = ANEKIT_DMA_PAGE - 1;
	if (request.reserved != 0 || request.direction < kAnekitDMAIn || request.direction > kAnekitDMAInOut) {
		return kIOReturnBadArgument;
	}
	if (request.length == 0 || request.address + request.length < request.address) {
		return kIOReturnBadArgument;
	}
	if ((request.address & rest) != 0 || (request.length & rest) != 0) {
		return kIOReturnNotAligned;
	}

	IOAddressSegment ranges[ANEKIT_DMA_MAX_SEGMENTS] = {};
	ranges[0].address = request.address;
	ranges[0].length = request.length;
	IOMemoryDescriptor * memory = nullptr;
	kern_return_t ret = CreateMemoryDescriptorFromClient(request.direction, 1, ranges, &memory);
	if (ret != kIOReturnSuccess) {
		return ret;
	}
	if (memory == nullptr) {
		return kIOReturnNoMemory;
	}
	AnekitDMAReply reply = {};
	IOLockLock(ivars->lock);
	ret = AnekitPrepare(&ivars->commands, ivars->driver->Device(), memory, request.length, &reply);
	IOLockUnlock(ivars->lock);
	memory->release(); // the command has its own reference
	if (ret != kIOReturnSuccess) {
		return ret;
	}
	arguments->structureOutput = OSData::withBytes(&reply, sizeof(reply));
	if (arguments->structureOutput == nullptr) {
		IOLockLock(ivars->lock);
		AnekitComplete(&ivars->commands, reply.command);
		IOLockUnlock(ivars->lock);
		return kIOReturnNoMemory;
	}
	return kIOReturnSuccess;
}

kern_return_t
AnekitDMAClient::Allocate(IOUserClientMethodArguments * arguments)
{
	uint64_t length = arguments->scalarInput[0];
	if (length == 0 || (length & (ANEKIT_DMA_PAGE - 1)) != 0) {
		return kIOReturnNotAligned;
	}
	IOBufferMemoryDescriptor * memory = nullptr;
	kern_return_t ret = IOBufferMemoryDescriptor::Create(kIOMemoryDirectionInOut, length, ANEKIT_DMA_PAGE, &memory);
	if (ret != kIOReturnSuccess) {
		return ret;
	}
	ret = memory->SetLength(length);
	AnekitDMAReply reply = {};
	if (ret == kIOReturnSuccess) {
		IOLockLock(ivars->lock);
		ret = AnekitPrepare(&ivars->commands, ivars->driver->Device(), memory, length, &reply);
		IOLockUnlock(ivars->lock);
	}
	memory->release(); // the command has its own reference
	if (ret != kIOReturnSuccess) {
		return ret;
	}
	if (reply.covered == length) {
		arguments->structureOutput = OSData::withBytes(&reply, sizeof(reply));
	} else {
		ret = kIOReturnOverrun; // more segments than a reply has: ask for less
	}
	if (arguments->structureOutput == nullptr) {
		IOLockLock(ivars->lock);
		AnekitComplete(&ivars->commands, reply.command);
		IOLockUnlock(ivars->lock);
		return ret == kIOReturnSuccess ? kIOReturnNoMemory : ret;
	}
	return kIOReturnSuccess;
}

// IOConnectMapMemory64 calls it; type is the command of a reply.
kern_return_t
IMPL(AnekitDMAClient, CopyClientMemoryForType)
{
	IOLockLock(ivars->lock);
	IOMemoryDescriptor * found = AnekitMemory(&ivars->commands, type);
	if (found != nullptr) {
		found->retain();
	}
	IOLockUnlock(ivars->lock);
	if (found == nullptr) {
		return kIOReturnNotFound;
	}
	*options = 0;
	*memory = found;
	return kIOReturnSuccess;
}

kern_return_t
AnekitDMAClient::Complete(IOUserClientMethodArguments * arguments)
{
	IOLockLock(ivars->lock);
	kern_return_t ret = AnekitComplete(&ivars->commands, arguments->scalarInput[0]);
	IOLockUnlock(ivars->lock);
	return ret;
}
