#include <os/log.h>

#include <DriverKit/IOLib.h>
#include <DriverKit/IOUserClient.h>

#include "AnekitDMADriver.h"

struct AnekitDMADriver_IVars {
	IOService * device; // owned
};

bool
AnekitDMADriver::init()
{
	if (!super::init()) {
		return false;
	}
	ivars = IONewZero(AnekitDMADriver_IVars, 1);
	return ivars != nullptr;
}

void
AnekitDMADriver::free()
{
	if (ivars != nullptr) {
		OSSafeReleaseNULL(ivars->device);
	}
	IOSafeDeleteNULL(ivars, AnekitDMADriver_IVars, 1);
	super::free();
}

kern_return_t
IMPL(AnekitDMADriver, Start)
{
	kern_return_t ret = Start(provider, SUPERDISPATCH);
	if (ret != kIOReturnSuccess) {
		return ret;
	}
	provider->retain();
	ivars->device = provider;
	ret = RegisterService();
	os_log(OS_LOG_DEFAULT, "AnekitDMADriver: registered: 0x%08x", ret);
	return ret;
}

kern_return_t
IMPL(AnekitDMADriver, Stop)
{
	return Stop(provider, SUPERDISPATCH);
}

kern_return_t
IMPL(AnekitDMADriver, NewUserClient)
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
AnekitDMADriver::Device()
{
	return ivars->device;
}
