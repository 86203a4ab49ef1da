// _ANEStrings: the constants for the in-memory path, and the exported option keys.
#import "core.h"

@interface StandinStrings : StandinObject
@end

#define STRING(selector, text)  \
    +(NSString *)selector {     \
        return @text;           \
    }

@implementation StandinStrings

STRING(errorDomainGeneric, "com.apple.appleneuralengine")
STRING(errorDomainCompiler, "com.apple.appleneuralengine.compiler")
STRING(errorDomainEspresso, "com.apple.appleneuralengine.espresso")
STRING(errorDomainVirtIO, "com.apple.applevirtioneuralengine")
STRING(machServiceName, "com.apple.appleneuralengine")
STRING(machServiceNamePrivate, "com.apple.appleneuralengine.private")
STRING(userMachServiceName, "com.apple.aneuserd")
STRING(restrictedAccessEntitlement, "com.apple.aned.private.allow")
STRING(mutableWeightsMappingAccessEntitlement, "com.apple.private.ane.mappingMutableWeightsBuffer.allow")
STRING(defaultMILFileName, "model.mil")
STRING(defaultANECIRFileName, "net.plist")
STRING(defaultCompilerOptionsFilename, "compiler_options.plist")
STRING(inMemoryModelCacheName, "InMemoryModelCache")
STRING(modelAssetsCacheName, "ModelAssetsCache")
STRING(modelBinaryName, "model.hwx")
STRING(hwxExtension, "hwx")

@end

NSString *const kANEFModelTypeKey = @"kANEFModelType";
NSString *const kANEFPerformanceStatsMaskKey = @"kANEFPerformanceStatsMask";
NSString *const kANEFNetPlistFilenameKey = @"kANEFNetPlistFilenameKey";
NSString *const kANEFKeepModelMemoryWiredKey = @"kANEFKeepModelMemoryWired";
NSString *const kANEFModelMIL = @"kANEFModelMIL";
NSString *const kANEFModelANECIR = @"kANEFModelANECIR";
NSString *const kANEFModelCoreML = @"kANEFModelCoreML";
