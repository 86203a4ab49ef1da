// Every fault on every selector that supports it. The next call must work.
#include "driver_ane.h"

static const int result_kinds[] = {STANDIN_EXCEPTION, STANDIN_NO, STANDIN_NO_ERROR, STANDIN_YES_ERROR, STANDIN_HANG};

static id<Model> subject;
static id<Request> runnable;
static NSDictionary *none;

// The outcome of a call: its BOOL or object, its error and whether it raised.
struct outcome {
    BOOL ok;
    NSInteger code; // 0 without an error
    BOOL raised;
};

typedef BOOL (*call)(NSError **error);

static BOOL call_compile(NSError **error) { return [subject compileWithQoS:21 options:none error:error]; }
static BOOL call_load(NSError **error) { return [subject loadWithQoS:21 options:none error:error]; }
static BOOL call_evaluate(NSError **error) { return [subject evaluateWithQoS:21 options:none request:runnable error:error]; }
static BOOL call_unload(NSError **error) { return [subject unloadWithQoS:21 error:error]; }
static BOOL call_exists(NSError **error) { return (void)error, [subject compiledModelExists]; }
static BOOL call_purge(NSError **error) { return (void)error, [subject purgeCompiledModel], YES; }
static BOOL call_hex(NSError **error) { return (void)error, [subject hexStringIdentifier] != nil; }
static BOOL call_path(NSError **error) { return (void)error, [subject localModelPath] != nil; }
static BOOL call_attributes(NSError **error) { return (void)error, [subject modelAttributes] != nil; }
static BOOL call_inner_attributes(NSError **error) { return (void)error, [[subject model] modelAttributes] != nil; }
static BOOL call_inner(NSError **error) { return (void)error, [subject model] != nil; }
static BOOL call_program(NSError **error) { return (void)error, [subject program] != nil; }
static BOOL call_validate(NSError **error) { return (void)error, [runnable validate]; }
static BOOL call_descriptor(NSError **error) {
    return (void)error, [descriptors() modelWithMILText:data_of("d") weights:none optionsPlist:nil] != nil;
}
static BOOL call_model(NSError **error) {
    id d = [descriptors() modelWithMILText:data_of("d") weights:none optionsPlist:nil];
    return (void)error, [models() inMemoryModelWithDescriptor:d] != nil;
}
static BOOL call_surface(NSError **error) {
    IOSurfaceRef s = surface_of(64);
    @try {
        return (void)error, wrap(s) != nil;
    } @finally {
        CFRelease(s);
    }
}
static BOOL call_request(NSError **error) {
    return (void)error, [requests() requestWithInputs:nil inputIndices:nil outputs:nil outputIndices:nil weightsBuffer:nil
                                            perfStats:nil procedureIndex:nil] != nil;
}
@protocol Device
+ (BOOL)hasANE;
+ (NSString *)aneArchitectureType;
+ (uint32_t)numANECores;
+ (NSString *)productName;
+ (NSString *)buildVersion;
@end
static Class<Device> device(void) { return (Class<Device>)NSClassFromString(@"_ANEDeviceInfo"); }
static BOOL call_has(NSError **error) { return (void)error, [device() hasANE]; }
static BOOL call_architecture(NSError **error) { return (void)error, [device() aneArchitectureType] != nil; }
static BOOL call_cores(NSError **error) { return (void)error, [device() numANECores] > 0; }

static struct outcome try_call(call c) {
    struct outcome o = {NO, 0, NO};
    NSError *error = nil;
    @try {
        o.ok = c(&error);
    } @catch (NSException *e) {
        o.raised = [[e name] isEqualToString:NSInternalInconsistencyException];
    }
    o.code = [error code];
    return o;
}

static void *hang(void *c) {
    GSRegisterCurrentThread();
    BOOL ok;
    @autoreleasepool {
        ok = try_call((call)c).ok;
    }
    GSUnregisterCurrentThread();
    return ok ? c : NULL;
}

// Runs the call on a thread until it hangs, and then releases it.
static BOOL hangs_and_works(call c) {
    pthread_t thread;
    void *worked = NULL;
    pthread_create(&thread, NULL, hang, (void *)c);
    standin_counts counts = {.hanging = 0};
    for (int i = 0; i < 5000 && counts.hanging == 0; i++) {
        usleep(1000);
        standin_count(&counts);
    }
    BOOL hung = counts.hanging == 1;
    standin_release_hangs();
    pthread_join(thread, &worked);
    standin_count(&counts);
    return hung && worked && counts.hanging == 0;
}

static BOOL as_expected(const char *selector, int kind, call c) {
    if (standin_fault(selector, kind, 1, 42)) return NO;
    if (kind == STANDIN_HANG) return hangs_and_works(c);
    struct outcome o = try_call(c);
    switch (kind) {
    case STANDIN_EXCEPTION:
        return o.raised;
    case STANDIN_NIL:
    case STANDIN_NO:
        return !o.ok && !o.code && !o.raised;
    case STANDIN_NO_ERROR:
        return !o.ok && o.code == 42;
    case STANDIN_YES_ERROR:
        return o.ok && o.code == 42;
    }
    return NO;
}

// Tests each kind, each followed by a call that works. again restores the state for calling c.
static void all(const char *selector, const int *kinds, int count, call c, call again) {
    for (int i = 0; i < count; i++) {
        @autoreleasepool {
            char name[160];
            snprintf(name, sizeof name, "%s: fault %d", selector, kinds[i]);
            CHECK(name, as_expected(selector, kinds[i], c));
            if (again && (kinds[i] == STANDIN_YES_ERROR || kinds[i] == STANDIN_HANG)) again(NULL);
            struct outcome o = try_call(c);
            snprintf(name, sizeof name, "%s: works after fault %d", selector, kinds[i]);
            CHECK(name, o.ok && !o.code && !o.raised);
            if (again) again(NULL);
        }
    }
}

static void results(const char *selector, call c, call again) {
    all(selector, result_kinds, (int)(sizeof result_kinds / sizeof result_kinds[0]), c, again);
}

static void objects(const char *selector, call c) {
    static const int kinds[] = {STANDIN_EXCEPTION, STANDIN_NIL, STANDIN_HANG};
    all(selector, kinds, 3, c, NULL);
}

static void flags(const char *selector, call c) {
    static const int kinds[] = {STANDIN_EXCEPTION, STANDIN_NO, STANDIN_HANG};
    all(selector, kinds, 3, c, NULL);
}

static void rules(void) {
    CHECK("an unknown selector supports no fault", standin_fault("fly", STANDIN_EXCEPTION, 1, 0) == 1);
    CHECK("a NULL selector supports no fault", standin_fault(NULL, STANDIN_EXCEPTION, 1, 0) == 1);
    CHECK("compile does not return nil", standin_fault("compileWithQoS:options:error:", STANDIN_NIL, 1, 0) == 1);
    CHECK("load is not asynchronous", standin_fault("loadWithQoS:options:error:", STANDIN_LATE, 1, 0) == 1);
    CHECK("there is no kind 99", standin_fault("hasANE", 99, 1, 0) == 1);
    standin_fault("hasANE", STANDIN_NO, -1, 0);
    CHECK("until lifted", !call_has(NULL) && !call_has(NULL) && !call_has(NULL));
    standin_fault("hasANE", STANDIN_NO, 0, 0);
    CHECK("lifted", call_has(NULL));
    standin_fault("hasANE", STANDIN_NO, 2, 0);
    CHECK("twice", !call_has(NULL) && !call_has(NULL) && call_has(NULL));
    standin_fault("hasANE", STANDIN_NO, -1, 0);
    standin_clear_faults();
    CHECK("cleared", call_has(NULL));
}

static void locked(IOSurfaceRef in, IOSurfaceRef out) {
    standin_fault("evaluateWithQoS:options:request:error:", STANDIN_LOCKED, -1, 0);
    memset(bytes_of(out), 9, BYTES);
    IOSurfaceLock(out, 0, NULL);
    CHECK("locked surfaces are ignored", call_evaluate(NULL) && bytes_of(out)[0] == 9);
    IOSurfaceUnlock(out, 0, NULL);
    CHECK("unlocked ones are not", call_evaluate(NULL) && bytes_of(out)[0] == bytes_of(in)[0] + 1);
    standin_clear_faults();
}

int main(void) {
    @autoreleasepool {
        CHECK("start", start("26", NULL, NULL) == 0);
        none = [NSDictionary dictionary];
        subject = model_of("faults");
        IOSurfaceRef in = surface_of(16384), out = surface_of(16384);
        runnable = request_of(in, out);
        rules();
        results("compileWithQoS:options:error:", call_compile, NULL);
        results("loadWithQoS:options:error:", call_load, call_unload);
        call_compile(NULL); // the files are removed, the cache has the program
        CHECK("load", call_load(NULL));
        results("evaluateWithQoS:options:request:error:", call_evaluate, NULL);
        locked(in, out);
        results("unloadWithQoS:error:", call_unload, call_load);
        CHECK("unload", call_unload(NULL));
        objects("program", call_program);
        objects("modelAttributes", call_attributes);
        objects("_ANEModel modelAttributes", call_inner_attributes);
        objects("model", call_inner);
        objects("hexStringIdentifier", call_hex);
        objects("localModelPath", call_path);
        objects("modelWithMILText:weights:optionsPlist:", call_descriptor);
        objects("inMemoryModelWithDescriptor:", call_model);
        objects("objectWithIOSurface:", call_surface);
        objects("requestWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:perfStats:procedureIndex:", call_request);
        objects("aneArchitectureType", call_architecture);
        flags("hasANE", call_has);
        flags("compiledModelExists", call_exists);
        flags("validate", call_validate);
        static const int any[] = {STANDIN_EXCEPTION, STANDIN_HANG};
        all("numANECores", any, 2, call_cores, NULL);
        all("purgeCompiledModel", any, 2, call_purge, NULL);
        CFRelease(in);
        CFRelease(out);
    }
    check_end();
    return driver_failures != 0;
}
