#include <os/log.h>

#include <DriverKit/IOLib.h>
#include <DriverKit/IOUserClient.h>

#include "AnekitMemoryDriver.h"

struct AnekitMemoryDriver_IVars {
	IOService * device; // owned
};

bool
AnekitMemoryDriver::init()
{
	if (!super::init()) {
		return false;
	}
	ivars = IONewZero(AnekitMemoryDriver_IVars, 1);
	return ivars != nullptr;
}

void
AnekitMemoryDriver::free()
{
	if (ivars != nullptr) {
		OSSafeReleaseNULL(ivars->device);
	}
	IOSafeDeleteNULL(ivars, AnekitMemoryDriver_IVars, 1);
	super::free();
}

kern_return_t
IMPL(AnekitMemoryDriver, Start)
{
	kern_return_t ret = Start(provider, SUPERDISPATCH);
	if (ret != kIOReturnSuccess) {
		return ret;
	}
	provider->retain();
	ivars->device = provider;
	ret = RegisterService();
	os_log(OS_LOG_DEFAULT, "AnekitMemoryDriver: registered: 0x%08x", ret);
	return ret;
}

kern_return_t
IMPL(AnekitMemoryDriver, Stop)
{
	return Stop(provider, SUPERDISPATCH);
}

kern_return_t
IMPL(AnekitMemoryDriver, NewUserClient)
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
AnekitMemoryDriver::Device()
{
	return ivars->device;
}
