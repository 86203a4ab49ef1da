// The four functions of IOKit that read DeviceProperties of service H11ANEIn.
#import "register.h"

#include <string.h>

#import "device.h"

typedef uint32_t io_object_t, io_service_t, io_registry_entry_t, mach_port_t, IOOptionBits;

NSMutableDictionary *IOServiceMatching(const char *name);
io_service_t IOServiceGetMatchingService(mach_port_t port, NSDictionary *matching);
CFTypeRef IORegistryEntryCreateCFProperty(io_registry_entry_t entry, NSString *key, CFAllocatorRef allocator,
                                          IOOptionBits options);
kern_return_t IOObjectRelease(io_object_t object);

static const io_object_t service = 0x11a7e; // any number but 0
static NSString *const class_key = @"IOProviderClass";
static int64_t services; // not released

int64_t registry_instances(const char *name) { return strcmp(name, "io_object_t") ? 0 : counter_now(&services); }

// The caller owns the result.
NSMutableDictionary *IOServiceMatching(const char *name) {
    if (!name) return nil;
    @autoreleasepool {
        NSString *text = [NSString stringWithUTF8String:name];
        return text ? [[NSMutableDictionary alloc] initWithObjectsAndKeys:text, class_key, nil] : nil;
    }
}

// Consumes a reference to matching. The caller releases the result.
io_service_t IOServiceGetMatchingService(mach_port_t port, NSDictionary *matching) {
    (void)port;
    @autoreleasepool {
        BOOL found = [[matching objectForKey:class_key] isEqual:@"H11ANEIn"];
        [matching release];
        if (fault_enter(sel_registerName("IOServiceGetMatchingService")).kind == STANDIN_NIL) return 0;
        if (found) counter_add(&services, 1);
        return found ? service : 0;
    }
}

static NSDictionary *properties(void) {
    return [[NSDictionary alloc]
        initWithObjectsAndKeys:[NSNumber numberWithInt:DEVICE_CORES], @"ANEDevicePropertyNumANECores",
                               [NSNumber numberWithInt:DEVICE_ENGINES], @"ANEDevicePropertyNumANEs",
                               [NSNumber numberWithInt:DEVICE_VERSION], @"ANEDevicePropertyANEVersion",
                               [NSNumber numberWithInt:0], @"ANEDevicePropertyANEMinorVersion",
                               [NSNumber numberWithInt:DEVICE_BOARD], @"ANEDevicePropertyANEHWBoardType",
                               [NSNumber numberWithInt:0], @"ANEDevicePropertyANEHWBoardSubType",
                               [NSNumber numberWithInt:0], @"ANEDevicePropertyCPUSubType",
                               @DEVICE_SUBTYPE DEVICE_VARIANT, @"ANEDevicePropertyTypeANEArchitectureTypeStr",
                               [NSNumber numberWithBool:NO], @"ANEDevicePropertyIsInternalBuild", nil];
}

// The caller owns the result.
CFTypeRef IORegistryEntryCreateCFProperty(io_registry_entry_t entry, NSString *key, CFAllocatorRef allocator,
                                          IOOptionBits options) {
    (void)options;
    if (allocator) core_die("IORegistryEntryCreateCFProperty: no such allocator; NULL is the default one");
    if (entry != service || counter_now(&services) <= 0) return NULL;
    @autoreleasepool {
        if (fault_enter(sel_registerName("IORegistryEntryCreateCFProperty")).kind == STANDIN_NIL) return NULL;
        return [key isEqualToString:@"DeviceProperties"] ? properties() : nil;
    }
}

kern_return_t IOObjectRelease(io_object_t object) {
    if (object != service || counter_now(&services) <= 0) return (int32_t)0xe00002c2; // kIOReturnBadArgument
    counter_add(&services, -1);
    return 0;
}
