// The client sends an address and a length of its task, those of a locked IOSurface; the reply has the addresses that
// the device has for them.

#include <os/log.h>
#include <string.h>

#include <DriverKit/IODMACommand.h>
#include <DriverKit/IOLib.h>
#include <DriverKit/IOMemoryDescriptor.h>
#include <DriverKit/IOUserClient.h>
#include <DriverKit/OSData.h>

#include "AnekitMemoryClient.h"
#include "AnekitMemoryDriver.h"

#include "../commands.h"
#include "../protocol.h"

struct AnekitMemoryClient_IVars {
	AnekitMemoryDriver * driver; // owned
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
	return ((AnekitMemoryClient *)target)->Prepare(arguments);
}

static kern_return_t
Complete(OSObject * target, void * reference, IOUserClientMethodArguments * arguments)
{
	return ((AnekitMemoryClient *)target)->Complete(arguments);
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
	[kAnekitDMAAllocate] = {},
};

bool
AnekitMemoryClient::init()
{
	if (!super::init()) {
		return false;
	}
	ivars = IONewZero(AnekitMemoryClient_IVars, 1);
	if (ivars == nullptr) {
		return false;
	}
	ivars->lock = IOLockAlloc();
	return ivars->lock != nullptr;
}

void
AnekitMemoryClient::free()
{
	if (ivars != nullptr) {
		AnekitCompleteAll(&ivars->commands);
		if (ivars->lock != nullptr) {
			IOLockFree(ivars->lock);
		}
		OSSafeReleaseNULL(ivars->driver);
	}
	IOSafeDeleteNULL(ivars, AnekitMemoryClient_IVars, 1);
	super::free();
}

kern_return_t
IMPL(AnekitMemoryClient, Start)
{
	kern_return_t ret = Start(provider, SUPERDISPATCH);
	if (ret != kIOReturnSuccess) {
		return ret;
	}
	ivars->driver = OSDynamicCast(AnekitMemoryDriver, provider);
	if (ivars->driver == nullptr) {
		return kIOReturnBadArgument;
	}
	ivars->driver->retain();
	return kIOReturnSuccess;
}

// The system calls Stop also for a client whose process has crashed.
kern_return_t
IMPL(AnekitMemoryClient, Stop)
{
	IOLockLock(ivars->lock);
	AnekitCompleteAll(&ivars->commands);
	IOLockUnlock(ivars->lock);
	return Stop(provider, SUPERDISPATCH);
}

kern_return_t
AnekitMemoryClient::ExternalMethod(uint64_t selector, IOUserClientMethodArguments * arguments,
    const IOUserClientMethodDispatch * dispatch, OSObject * target, void * reference)
{
	if (selector >= kAnekitDMASelectors || methods[selector].function == nullptr) {
		return kIOReturnUnsupported;
	}
	return super::ExternalMethod(selector, arguments, &methods[selector], this, nullptr);
}

kern_return_t
AnekitMemoryClient::Prepare(IOUserClientMethodArguments * arguments)
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
AnekitMemoryClient::Complete(IOUserClientMethodArguments * arguments)
{
	IOLockLock(ivars->lock);
	kern_return_t ret = AnekitComplete(&ivars->commands, arguments->scalarInput[0]);
	IOLockUnlock(ivars->lock);
	return ret;
}
