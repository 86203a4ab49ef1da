// _ANEErrors: the framework's NSErrors.
#import "core.h"

static NSString *const generic = @"com.apple.appleneuralengine";

NSError *core_domain_error(NSString *domain, NSInteger code, NSString *description) {
    return [NSError errorWithDomain:domain
                               code:code
                           userInfo:[NSDictionary dictionaryWithObject:description forKey:NSLocalizedDescriptionKey]];
}

NSError *core_error(NSInteger code, NSString *method, NSString *text) {
    return core_domain_error(generic, code, [NSString stringWithFormat:@"%@: %@", method, text]);
}

@interface StandinErrors : StandinObject
@end

// An error that takes only the method's name.
#define PLAIN(selector, code, text)              \
    +(NSError *)selector : (NSString *)method {  \
        return core_error(code, method, @text);  \
    }
// One with the driver's code in its text.
#define DRIVER(selector, number, text)                                                                     \
    +(NSError *)selector : (NSString *)method code : (int64_t)status {                                     \
        return core_error(number, method, [NSString stringWithFormat:@text " (0x%llx)", (long long)status]); \
    }

@implementation StandinErrors

+ (NSError *)createErrorWithCode:(int64_t)code description:(NSString *)description {
    return core_domain_error(generic, (NSInteger)code, description);
}

PLAIN(entitlementErrorForMethod, 1, "Entitlement or restricted access needed")
PLAIN(priorityErrorForMethod, 2, "Real-time priority refused")
PLAIN(timeoutErrorForMethod, 3, "Timed out")
PLAIN(programCreationErrorForMethod, 4, "Program creation failure")
PLAIN(programInferenceOverflowErrorForMethod, 5, "Program Inference overflow")
PLAIN(programLoadErrorForMethod, 6, "Program load failure")
DRIVER(programLoadErrorForMethod, 6, "Program load failure")
PLAIN(missingCodeSigningErrorForMethod, 7, "Missing code signing identity")
PLAIN(programInferenceOtherErrorForMethod, 8, "Program Inference error")
PLAIN(fileAccessErrorForMethod, 9, "File access failure")
PLAIN(invalidModelErrorForMethod, 10, "Invalid model")
PLAIN(invalidModelKeyErrorForMethod, 11, "Invalid model key")
PLAIN(systemModelPurgeNotAllowedForMethod, 12, "System model purge not allowed")
DRIVER(programIOSurfacesMapErrorForMethod, 13, "Program IOSurfaces map failure")
DRIVER(programIOSurfacesUnmapErrorForMethod, 14, "Program IOSurfaces unmap failure")
PLAIN(programChainingPrepareErrorForMethod, 15, "Program chaining prepare failure")
PLAIN(fileNotFoundErrorForMethod, 16, "File not found")
PLAIN(modelIdentifierNotFoundForMethod, 17, "Model identifier not found")
PLAIN(baseModelIdentifierNotFoundForNewInstanceMethod, 18, "Base model not found")
PLAIN(modelNewInstanceCacheIdentifierNotNilMethod, 19, "cacheURLIdentifier must be nil")
PLAIN(invalidModelInstanceErrorForMethod, 20, "Invalid model instance")
PLAIN(programLoadNewInstanceErrorForMethod, 21, "New instance load failure")
DRIVER(programLoadNewInstanceErrorForMethod, 21, "New instance load failure")
PLAIN(hostTooOld, 22, "Host too old")
PLAIN(guestToHostInterfaceTooOld, 22, "Guest to host interface too old")
PLAIN(programInferenceProgramNotFoundForMethod, 23, "Program not found")
PLAIN(dataNotFoundForMethod, 24, "No data")
PLAIN(notSupportedErrorForMethod, 25, "Not supported")
PLAIN(badArgumentForMethod, 26, "Bad argument")
PLAIN(virtualizationDataError, 27, "Virtualization data error")
PLAIN(virtualizationHostError, 29, "Virtualization host error")

@end
