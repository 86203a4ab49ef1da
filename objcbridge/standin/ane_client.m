// _ANEClient: the part for in-memory models. Methods for models on disk (compileModel:, loadModel:) are
// missing.
#import "ane_client.h"

#include <pthread.h>

#import "ane_model.h"
#import "errors.h"
#import "replay.h"

@interface StandinClient : StandinObject {
    BOOL restricted;
}
@end

static id shared;

// Does not use +alloc, so that the object, which is never freed, is not counted.
static void make_shared(void) {
    Class c = core_class("_ANEClient");
    shared = NSAllocateObject(c ? c : [StandinClient class], 0, NULL);
}

id client_shared(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_shared);
    return shared;
}

// Like an M3 for in-memory models. Macs with other chips and releases map some requests, or return 0x1D.
BOOL client_refuse_map(id request, NSError **error) {
    core_require(request, "_ANERequest", "inputArray");
    NSError *replayed = replay_error(@"map");
    return core_fail(error, replayed ? replayed : error_status(13, method_map, 0x12));
}

@implementation StandinClient

+ (id)sharedConnection {
    if (fault_enter(_cmd).kind == STANDIN_NIL) return nil;
    return client_shared();
}

- (id)initWithRestrictedAccessAllowed:(BOOL)allowed {
    restricted = allowed;
    return self;
}

- (BOOL)allowRestrictedAccess {
    return restricted;
}

- (BOOL)isVirtualClient {
    return NO;
}

// These three are for processes with an entitlement.
- (BOOL)echo:(id)what {
    (void)what;
    return NO;
}

- (BOOL)beginRealTimeTask {
    return NO;
}

- (BOOL)endRealTimeTask {
    return NO;
}

- (BOOL)compiledModelExistsMatchingHash:(NSString *)identity {
    return [identity length] > 0 && programs_cached(identity) != nil;
}

- (void)purgeCompiledModelMatchingHash:(NSString *)identity {
    if ([identity length] > 0) programs_purge(identity);
}

static BOOL evaluate(StandinModel *model, id request, SEL method, NSError **error) {
    struct fault f = fault_enter(method);
    if (fault_refuses(f, method, error)) return NO;
    core_require(model, "_ANEModel", "program");
    return fault_leave(f, method, model && program_evaluate(model->program, request, f, error), error);
}

- (BOOL)evaluateWithModel:(id)model
                  options:(NSDictionary *)options
                  request:(id)request
                      qos:(uint32_t)qos
                    error:(NSError **)error {
    (void)options, (void)qos;
    return evaluate(model, request, _cmd, error);
}

- (BOOL)doEvaluateDirectWithModel:(id)model
                          options:(NSDictionary *)options
                          request:(id)request
                              qos:(uint32_t)qos
                            error:(NSError **)error {
    (void)options, (void)qos;
    return evaluate(model, request, _cmd, error);
}

- (BOOL)mapIOSurfacesWithModel:(id)model request:(id)request cacheInference:(BOOL)cache error:(NSError **)error {
    (void)cache;
    core_require(model, "_ANEModel", "mapper");
    return client_refuse_map(request, error);
}

// Prepares nothing. It fails only if a dump says so.
- (BOOL)prepareChainingWithModel:(id)model
                         options:(NSDictionary *)options
                     chainingReq:(id)request
                             qos:(uint32_t)qos
                           error:(NSError **)error {
    (void)options, (void)request, (void)qos;
    core_require(model, "_ANEModel", "program");
    NSError *replayed = replay_error(@"chaining");
    return replayed ? core_fail(error, replayed) : YES;
}

- (void)unmapIOSurfacesWithModel:(id)model request:(id)request {
    core_require(model, "_ANEModel", "mapper");
    core_require(request, "_ANERequest", "inputArray");
}

@end
