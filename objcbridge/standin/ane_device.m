// _ANEDeviceInfo: says of itself that it is a stand-in, with names that no Apple chip has.
#import "core.h"

#import "device.h"

@interface StandinDeviceInfo : StandinObject
@end

// A getter with its faults: answers other if the fault says so.
#define GETTER(type, selector, value, other)                  \
    +(type)selector {                                         \
        struct fault f = fault_enter(_cmd);                   \
        return f.kind == STANDIN_NIL || f.kind == STANDIN_NO ? other : value; \
    }

@implementation StandinDeviceInfo

GETTER(BOOL, hasANE, YES, NO)
GETTER(BOOL, isVirtualMachine, NO, NO)
GETTER(BOOL, isInternalBuild, NO, NO)
GETTER(BOOL, isExcessivePowerDrainWhenIdle, NO, NO)
GETTER(BOOL, precompiledModelChecksDisabled, NO, NO)
GETTER(NSString *, aneArchitectureType, @DEVICE_SUBTYPE DEVICE_VARIANT, nil)
GETTER(NSString *, aneSubType, @DEVICE_SUBTYPE, nil)
GETTER(NSString *, aneSubTypeVariant, @DEVICE_VARIANT, nil)
GETTER(NSString *, aneSubTypeProductVariant, @"", nil)
GETTER(int64_t, aneBoardType, DEVICE_BOARD, 0)
GETTER(uint32_t, numANEs, DEVICE_ENGINES, 0)
GETTER(uint32_t, numANECores, DEVICE_CORES, 0)
GETTER(NSString *, productName, @"anekit stand-in", nil)
GETTER(NSString *, buildVersion, ([NSString stringWithFormat:@"standin-%s", core.profile_name]), nil)
GETTER(NSString *, bootArgs, @"", nil)

+ (BOOL)isBoolBootArgSetTrue:(NSString *)name {
    (void)[name length];
    return NO;
}

+ (BOOL)isBootArgPresent:(NSString *)name {
    (void)[name length];
    return NO;
}

@end
