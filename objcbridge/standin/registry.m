// The four functions of IOKit that read properties of services H11ANEIn and H1xANELoadBalancer.
#import "register.h"

#include <string.h>

#import "device.h"
#import "replay.h"
#import "typed.h"

typedef uint32_t io_object_t, io_service_t, io_registry_entry_t, mach_port_t, IOOptionBits;

NSMutableDictionary *IOServiceMatching(const char *name);
io_service_t IOServiceGetMatchingService(mach_port_t port, NSDictionary *matching);
CFTypeRef IORegistryEntryCreateCFProperty(io_registry_entry_t entry, NSString *key, CFAllocatorRef allocator,
                                          IOOptionBits options);
kern_return_t IOObjectRelease(io_object_t object);

static NSString *const class_key = @"IOProviderClass";
static NSString *const names[] = {@"H11ANEIn", @"H1xANELoadBalancer"}; // the engine; the load balancer of engines
enum { SERVICES = sizeof names / sizeof names[0] };
static const io_object_t first = 0x11a7e; // number of the first service; any number but 0
static int64_t services; // number of services not released

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
        io_object_t found = 0;
        for (io_object_t i = 0; i < SERVICES; i++)
            if ([[matching objectForKey:class_key] isEqual:names[i]]) found = first + i;
        [matching release];
        if (fault_enter(sel_registerName("IOServiceGetMatchingService")).kind == STANDIN_NIL) return 0;
        if (core.virtual_machine) found = 0;
        if (found) counter_add(&services, 1);
        return found;
    }
}

static int is_service(io_object_t object) {
    return object >= first && object < first + SERVICES && counter_now(&services) > 0;
}

// The load balancer has the number of engines, the engine its own properties.
static NSDictionary *own_properties(io_object_t service) {
    if (service != first)
        return [NSDictionary dictionaryWithObject:[NSNumber numberWithInt:DEVICE_ENGINES] forKey:@"ANEDevicePropertyNumANEs"];
    return [NSDictionary
        dictionaryWithObjectsAndKeys:[NSNumber numberWithInt:DEVICE_CORES], @"ANEDevicePropertyNumANECores",
                                     [NSNumber numberWithInt:DEVICE_VERSION], @"ANEDevicePropertyANEVersion",
                                     [NSNumber numberWithInt:0], @"ANEDevicePropertyANEMinorVersion",
                                     [NSNumber numberWithInt:DEVICE_BOARD], @"ANEDevicePropertyANEHWBoardType",
                                     [NSNumber numberWithInt:0], @"ANEDevicePropertyANEHWBoardSubType",
                                     [NSNumber numberWithInt:0], @"ANEDevicePropertyANECPUSubType",
                                     @DEVICE_SUBTYPE DEVICE_VARIANT, @"ANEDevicePropertyTypeANEArchitectureTypeStr",
                                     [NSNumber numberWithBool:NO], @"ANEDevicePropertyIsInternalBuild", nil];
}

// A property of a service: DeviceProperties are the stand-in's with those of a dump; others are only
// from the dump.
static id property(io_object_t service, NSString *key) {
    NSDictionary *replayed = replay_value(@"registry", names[service - first], [NSDictionary class]);
    if (![key isEqualToString:@"DeviceProperties"]) return at(NSObject, replayed, key);
    NSMutableDictionary *all = [NSMutableDictionary dictionaryWithDictionary:own_properties(service)];
    NSDictionary *dumped = at(NSDictionary, replayed, key);
    if (dumped) [all addEntriesFromDictionary:dumped];
    return all;
}

// The caller owns the result.
CFTypeRef IORegistryEntryCreateCFProperty(io_registry_entry_t entry, NSString *key, CFAllocatorRef allocator,
                                          IOOptionBits options) {
    (void)options;
    if (allocator) core_die("IORegistryEntryCreateCFProperty: no such allocator; NULL is the default one");
    if (!is_service(entry)) return NULL;
    @autoreleasepool {
        if (fault_enter(sel_registerName("IORegistryEntryCreateCFProperty")).kind == STANDIN_NIL) return NULL;
        return [property(entry, key) retain];
    }
}

kern_return_t IOObjectRelease(io_object_t object) {
    if (!is_service(object)) return (int32_t)0xe00002c2; // kIOReturnBadArgument
    counter_add(&services, -1);
    return 0;
}
