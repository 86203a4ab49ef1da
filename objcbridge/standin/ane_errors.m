// _ANEErrors: texts of the generation up to 26.
#import "core.h"
#import "errors.h"
#import "replay.h"

static NSString *const generic = @"com.apple.appleneuralengine";

NSString *const method_evaluate = @"processRequest:model:qos:qIndex:modelStringID:options:returnValue:error:";
NSString *const method_load = @"createProgramInstanceForModel:…memoryPoolID:…optOutOfModelMemoryUnwiring:error:";
NSString *const method_map = @"mapIOSurfacesWithModel:request:cacheInference:error:";
NSString *const method_cached = @"compileAsNeededAndLoadCachedModel:...";

// By code. "…" marks text that Apple omits and that is omitted here.
static NSString *const texts[] = {
    [1] = @"requires restricted access connection and (com.apple.aned.private.allow) entitlement",
    [2] = @"Realtime priority requires restricted access connection and (…) entitlement",
    [3] = @"timed out",
    [4] = @"Program creation failure",
    [5] = @"Program Inference overflow",
    [6] = @"Program load failure",
    [7] = @"Missing code signing identity",
    [8] = @"Program Inference error",
    [9] = @"file access failure",
    [10] = @"invalid model",
    [11] = @"invalid model key",
    [12] = @"system model purge not allowed",
    [13] = @"Program IOSurfaces map failure",
    [14] = @"Program IOSurfaces unmap failure",
    [15] = @"Program chaining prepare error",
    [16] = @"file not found",
    [17] = @"model identifier not found",
    [18] = @"base model identifier not found for new instance",
    [19] = @"model cacheURLIdentifier for new instance should be nil",
    [20] = @"invalid model instance",
    [21] = @"Program load new instance failure",
    [22] = @"Host too old, ANE hardware not available",
    [23] = @"Program Inference error",
    [24] = @"Data not found error",
    [25] = @"Not supported",
    [26] = @"Bad argument error",
    [27] = @"Virtualization data error",
    [28] = @"Virtualization kernel call failed with error",
    [29] = @"Virtualization unknown host-side error",
};

enum { TEXTS = sizeof texts / sizeof texts[0] };

NSString *error_text(NSInteger code) {
    NSString *own = code > 0 && code < TEXTS ? texts[code] : nil;
    return replay_string(@"texts", [NSString stringWithFormat:@"%ld", (long)code], own);
}

// A code's second text is in a dump under the code with ".1".
static NSString *second_text(NSInteger code, NSString *own) {
    return replay_string(@"texts", [NSString stringWithFormat:@"%ld.1", (long)code], own);
}

NSError *error_nested(NSString *domain, NSInteger code, NSString *description, NSDictionary *more, NSError *cause) {
    NSMutableDictionary *info = [NSMutableDictionary dictionary];
    if (description) [info setObject:description forKey:NSLocalizedDescriptionKey];
    if (cause) [info setObject:cause forKey:NSUnderlyingErrorKey];
    [info addEntriesFromDictionary:more];
    return [NSError errorWithDomain:domain code:code userInfo:info];
}

NSError *core_domain_error(NSString *domain, NSInteger code, NSString *description) {
    return error_nested(domain, code, description, nil, nil);
}

NSError *core_error(NSInteger code, NSString *method, NSString *text) {
    return core_domain_error(generic, code, [NSString stringWithFormat:@"%@: %@", method, text]);
}

NSError *error_plain(NSInteger code, NSString *method) { return core_error(code, method, error_text(code)); }

NSError *error_status(NSInteger code, NSString *method, int64_t status) {
    return core_error(code, method,
                      [NSString stringWithFormat:@"%@ (0x%llX)", error_text(code), (unsigned long long)status]);
}

NSString *error_text_of(NSInteger code, NSString *stage, int64_t status, BOOL has_status) {
    static const struct {
        NSString *stage, *const *method;
    } methods[] = {{@"load", &method_load}, {@"evaluate", &method_evaluate}, {@"map", &method_map}};
    NSString *text = has_status ? error_27_text(code, status) : nil;
    if (!text && error_text(code))
        text = has_status ? [NSString stringWithFormat:@"%@ (0x%llX)", error_text(code), (unsigned long long)status]
                          : error_text(code);
    for (size_t i = 0; text && i < sizeof methods / sizeof methods[0]; i++)
        if ([methods[i].stage isEqual:stage]) return [NSString stringWithFormat:@"%@: %@", *methods[i].method, text];
    return text;
}

@interface StandinErrors : StandinObject
@end

// An error that needs only the method's name.
#define PLAIN(selector, code)                   \
    +(NSError *)selector : (NSString *)method { \
        return error_plain(code, method);       \
    }
// An error with the driver's code in its text.
#define DRIVER(selector, number)                                           \
    +(NSError *)selector : (NSString *)method code : (int64_t)status {     \
        return error_status(number, method, status);                       \
    }

@implementation StandinErrors

+ (NSError *)createErrorWithCode:(int64_t)code description:(NSString *)description {
    return core_domain_error(generic, (NSInteger)code, description);
}

PLAIN(entitlementErrorForMethod, 1)
PLAIN(priorityErrorForMethod, 2)
PLAIN(timeoutErrorForMethod, 3)
PLAIN(programCreationErrorForMethod, 4)
PLAIN(programInferenceOverflowErrorForMethod, 5)
PLAIN(programLoadErrorForMethod, 6)
DRIVER(programLoadErrorForMethod, 6)
PLAIN(missingCodeSigningErrorForMethod, 7)
PLAIN(programInferenceOtherErrorForMethod, 8)
PLAIN(fileAccessErrorForMethod, 9)
PLAIN(invalidModelErrorForMethod, 10)
PLAIN(invalidModelKeyErrorForMethod, 11)
PLAIN(systemModelPurgeNotAllowedForMethod, 12)
DRIVER(programIOSurfacesMapErrorForMethod, 13)
DRIVER(programIOSurfacesUnmapErrorForMethod, 14)
PLAIN(programChainingPrepareErrorForMethod, 15)
PLAIN(fileNotFoundErrorForMethod, 16)
PLAIN(modelIdentifierNotFoundForMethod, 17)
PLAIN(baseModelIdentifierNotFoundForNewInstanceMethod, 18)
PLAIN(modelNewInstanceCacheIdentifierNotNilMethod, 19)
PLAIN(invalidModelInstanceErrorForMethod, 20)
PLAIN(programLoadNewInstanceErrorForMethod, 21)
DRIVER(programLoadNewInstanceErrorForMethod, 21)
PLAIN(hostTooOld, 22)
PLAIN(programInferenceProgramNotFoundForMethod, 23)
PLAIN(dataNotFoundForMethod, 24)
PLAIN(notSupportedErrorForMethod, 25)
PLAIN(badArgumentForMethod, 26)
PLAIN(virtualizationDataError, 27)
PLAIN(virtualizationHostError, 29)

+ (NSError *)guestToHostInterfaceTooOld:(NSString *)method {
    return core_error(22, method, second_text(22, @"Guest-to-Host interface too old, feature not supported"));
}

+ (NSError *)virtualizationKernelError:(NSString *)method kernelErrorCode:(int)code {
    return core_error(28, method, [NSString stringWithFormat:@"%@ 0x%x", error_text(28), code]);
}

+ (NSError *)virtualizationHostError:(NSString *)method error:(id)cause {
    return core_error(29, method,
                      [NSString stringWithFormat:@"%@=%@", second_text(29, @"Virtualization host-side error"), cause]);
}

@end
