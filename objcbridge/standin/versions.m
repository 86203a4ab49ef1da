// Classes and methods by generation, from selectors.json. A method that is not listed is in all of them:
// if only newer releases of a class were dumped, its absence from older ones is not known.
#import "register.h"

#include <string.h>

static const struct {
    const char *class_name, *selector; // selector NULL: the class
    enum profile first, last;
} versions[] = {
    {"_ANEInMemoryModel", "isMILModel", PROFILE_16_5, PROFILE_27},
    {"_ANEInMemoryModel", "modelURL", PROFILE_16_5, PROFILE_27},
    {"_ANEInMemoryModel", "intermediateBufferHandle", PROFILE_16_5, PROFILE_27},
    {"_ANEInMemoryModel", "compilerOptionsFileName", PROFILE_16_5, PROFILE_27},
    {"_ANEInMemoryModel", "setDescriptor:", PROFILE_16_5, PROFILE_27},
    {"_ANEInMemoryModel", "mapIOSurfacesWithRequest:cacheInference:error:", PROFILE_16_5, PROFILE_27},
    {"_ANEInMemoryModel", "unmapIOSurfacesWithRequest:", PROFILE_16_5, PROFILE_27},
    {"_ANEInMemoryModel", "model", PROFILE_17, PROFILE_27},
    {"_ANEInMemoryModel", "compilerOptionsWithOptions:isCompiledModelCached:", PROFILE_17, PROFILE_27},
    {"_ANEInMemoryModel", "setModel:", PROFILE_17, PROFILE_27},
    {"_ANEInMemoryModel", "setCompilerOptionsFileName:", PROFILE_17, PROFILE_27},
    {"_ANEInMemoryModel", "setIntermediateBufferHandle:", PROFILE_17, PROFILE_27},
    {"_ANEInMemoryModel", "setModelAttributes:", PROFILE_17, PROFILE_27},
    {"_ANEInMemoryModel", "setModelURL:", PROFILE_17, PROFILE_27},
    {"_ANEInMemoryModel", "setPerfStatsMask:", PROFILE_17, PROFILE_27},
    {"_ANEInMemoryModel", "setProgram:", PROFILE_17, PROFILE_27},
    {"_ANEInMemoryModel", "setProgramHandle:", PROFILE_17, PROFILE_27},
    {"_ANEInMemoryModel", "setQueueDepth:", PROFILE_17, PROFILE_27},
    {"_ANEInMemoryModel", "setState:", PROFILE_17, PROFILE_27},
    {"_ANEClient", "mapIOSurfacesWithModel:request:cacheInference:error:", PROFILE_16_5, PROFILE_27},
    {"_ANEClient", "unmapIOSurfacesWithModel:request:", PROFILE_16_5, PROFILE_27},
    {"_ANEClient", "prepareChainingWithModel:options:chainingReq:qos:error:", PROFILE_17, PROFILE_27},
    {"_ANEClient", "isVirtualClient", PROFILE_16_5, PROFILE_27},
    {"_ANEClient", "allowRestrictedAccess", PROFILE_17, PROFILE_27},
    {"_ANEInMemoryModel", "perFileHashes", PROFILE_27, PROFILE_27},
    {"_ANEInMemoryModel", "setPerFileHashes:", PROFILE_27, PROFILE_27},
    {"_ANEInMemoryModelDescriptor", "perFileHashes", PROFILE_27, PROFILE_27},
    {"_ANEHashEncoding", NULL, PROFILE_27, PROFILE_27},
    {"_ANECloneHelper", "bundleContainsSymlinkAtPath:", PROFILE_27, PROFILE_27},
    {"_ANEModel", "numInputs", PROFILE_27, PROFILE_27},
    {"_ANEModel", "numOutputs", PROFILE_27, PROFILE_27},
    {"_ANERequest", "initWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:perfStats:procedureIndex:",
     PROFILE_15, PROFILE_16_5},
    {"_ANERequest",
     "requestWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:perfStats:procedureIndex:sharedEvents:",
     PROFILE_17, PROFILE_27},
    {"_ANERequest",
     "requestWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:perfStats:procedureIndex:sharedEvents:"
     "transactionHandle:",
     PROFILE_17, PROFILE_27},
    {"_ANERequest",
     "initWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:perfStats:procedureIndex:sharedEvents:"
     "transactionHandle:",
     PROFILE_17, PROFILE_27},
    {"_ANERequest", "sharedEvents", PROFILE_17, PROFILE_27},
    {"_ANERequest", "setSharedEvents:", PROFILE_17, PROFILE_27},
    {"_ANERequest", "transactionHandle", PROFILE_17, PROFILE_27},
    {"_ANERequest", "setTransactionHandle:", PROFILE_17, PROFILE_27},
    {"_ANERequest", "ioSurfacesCount", PROFILE_26, PROFILE_27},
    {"_ANERequest", "setPerfStats:", PROFILE_26, PROFILE_27},
    {"_ANEIOSurfaceObject", "initWithIOSurface:", PROFILE_15, PROFILE_15},
    {"_ANEIOSurfaceObject", "initWithIOSurface:startOffset:shouldRetain:", PROFILE_16_5, PROFILE_27},
    {"_ANEIOSurfaceObject", "objectWithIOSurface:startOffset:", PROFILE_16_5, PROFILE_27},
    {"_ANEIOSurfaceObject", "objectWithIOSurfaceNoRetain:startOffset:", PROFILE_16_5, PROFILE_26},
    {"_ANEIOSurfaceObject", "startOffset", PROFILE_16_5, PROFILE_27},
    {"_ANEQoSMapper", "qosForProgramPriority:", PROFILE_16_5, PROFILE_27},
    {"_ANEErrors", "mappingMutableWeightsBufferFailed:", PROFILE_27, PROFILE_27},
    {"_ANEErrors", "programTooLargeErrorForMethod:", PROFILE_27, PROFILE_27},
    {"_ANEErrors", "unmappingMutableWeightsBufferFailed:", PROFILE_27, PROFILE_27},
    {"_ANEStrings", "mutableWeightsMappingAccessEntitlement", PROFILE_27, PROFILE_27},
    {"_ANESharedEvents", NULL, PROFILE_17, PROFILE_27},
};

int version_has(enum profile profile, const char *class_name, const char *selector) {
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        const char *s = versions[i].selector;
        if (strcmp(versions[i].class_name, class_name) || !s != !selector || (s && strcmp(s, selector))) continue;
        return profile >= versions[i].first && profile <= versions[i].last;
    }
    return 1;
}
