#include <os/log.h>

#include <DriverKit/IOLib.h>
#include <DriverKit/IOUserClient.h>

#include "AnekitContiguousDriver.h"

struct AnekitContiguousDriver_IVars {
	IOService * device; // owned
};

bool
AnekitContiguousDriver::init()
{
	if (!super::init()) {
		return false;
	}
	ivars = IONewZero(AnekitContiguousDriver_IVars, 1);
	return ivars != nullptr;
}

void
AnekitContiguousDriver::free()
{
	if (ivars != nullptr) {
		OSSafeReleaseNULL(ivars->device);
	}
	IOSafeDeleteNULL(ivars, AnekitContiguousDriver_IVars, 1);
	super::free();
}

kern_return_t
IMPL(AnekitContiguousDriver, Start)
{
	kern_return_t ret = Start(provider, SUPERDISPATCH);
	if (ret != kIOReturnSuccess) {
		return ret;
	}
	provider->retain();
	ivars->device = provider;
	ret = RegisterService();
	os_log(OS_LOG_DEFAULT, "AnekitContiguousDriver: registered: 0x%08x", ret);
	return ret;
}

kern_return_t
IMPL(AnekitContiguousDriver, Stop)
{
	return Stop(provider, SUPERDISPATCH);
}

kern_return_t
IMPL(AnekitContiguousDriver, NewUserClient)
{
	IOService * made = nullptr;
	kern_return_t ret = Create(this, "UserClientProperties", &made);
	if (ret != kIOReturnSuccess) {
		return ret;
	}
	*userClient = OSDynamicCast(IOUserClient, made);
	if (*userClient == nullptr) {
		made->release();
		return kIOReturnError;
	}
	return kIOReturnSuccess;
}

IOService *
AnekitContiguousDriver::Device()
{
	return ivars->device;
}
