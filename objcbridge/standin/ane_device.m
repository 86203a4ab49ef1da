// _ANEDeviceInfo: reports a stand-in, with names that no Apple chip has, unless a dump is replayed.
#import "core.h"

#import "device.h"
#import "replay.h"

@interface StandinDeviceInfo : StandinObject
@end

// A getter with its faults: returns other if the fault requires it.
#define GETTER(type, selector, value, other)                  \
    +(type)selector {                                         \
        struct fault f = fault_enter(_cmd);                   \
        return f.kind == STANDIN_NIL || f.kind == STANDIN_NO ? other : value; \
    }

@implementation StandinDeviceInfo

// The same for values that a dump may have, under the selector.
#define FLAG(selector, own) GETTER(BOOL, selector, replay_flag(@"device", @ #selector, own), NO)
#define STRING(selector, own) GETTER(NSString *, selector, replay_string(@"device", @ #selector, own), nil)
#define NUMBER(type, selector, own) GETTER(type, selector, (type)replay_number(@"device", @ #selector, own), 0)

// A virtual machine has no engine, whether the profile or a dump says that it is one.
static BOOL is_virtual(void) { return replay_flag(@"device", @"isVirtualMachine", core.virtual_machine != 0); }

FLAG(hasANE, !is_virtual())
FLAG(isVirtualMachine, is_virtual())
FLAG(isInternalBuild, NO)
FLAG(isExcessivePowerDrainWhenIdle, NO)
FLAG(precompiledModelChecksDisabled, NO)
STRING(aneArchitectureType, @DEVICE_SUBTYPE DEVICE_VARIANT)
STRING(aneSubType, @DEVICE_SUBTYPE)
STRING(aneSubTypeVariant, @DEVICE_VARIANT)
STRING(aneSubTypeProductVariant, @"")
NUMBER(int64_t, aneBoardType, DEVICE_BOARD)
NUMBER(uint32_t, numANEs, is_virtual() ? 0 : DEVICE_ENGINES)
NUMBER(uint32_t, numANECores, is_virtual() ? 0 : DEVICE_CORES)
STRING(productName, @"anekit stand-in")
STRING(buildVersion, ([NSString stringWithFormat:@"standin-%s", core.profile_name]))
STRING(bootArgs, @"")

+ (BOOL)isBoolBootArgSetTrue:(NSString *)name {
    (void)[name length];
    return NO;
}

+ (BOOL)isBootArgPresent:(NSString *)name {
    (void)[name length];
    return NO;
}

@end
