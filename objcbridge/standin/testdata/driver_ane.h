// Shared by the drivers of the framework: a server with two procedures, and the framework's methods.
//
// Procedure 0 of each program writes "a" (input 0) plus 1 to symbol "p" (output 0). Procedure 1 writes
// "b" (input 1) plus "c" (input 2) plus 2 to "q" (output 1). Elements are bytes. A program text that
// begins with "bad" does not compile; one that begins with "one" has only procedure 0.
#ifndef DRIVER_ANE_H
#define DRIVER_ANE_H

#import <Foundation/Foundation.h>
#import <objc/runtime.h>
#include <pthread.h>
#include <sys/stat.h>

#include "driver.h"

enum { BYTES = 256 };

typedef void (^completion)(BOOL ok, NSError *error);

@protocol Descriptor
+ (id)modelWithMILText:(id)text weights:(id)weights optionsPlist:(id)plist;
- (NSString *)hexStringIdentifier;
@end

@protocol Model
+ (id)inMemoryModelWithDescriptor:(id)descriptor;
- (BOOL)compileWithQoS:(uint32_t)qos options:(id)options error:(NSError **)error;
- (BOOL)loadWithQoS:(uint32_t)qos options:(id)options error:(NSError **)error;
- (BOOL)evaluateWithQoS:(uint32_t)qos options:(id)options request:(id)request error:(NSError **)error;
- (BOOL)unloadWithQoS:(uint32_t)qos error:(NSError **)error;
- (BOOL)mapIOSurfacesWithRequest:(id)request cacheInference:(BOOL)cache error:(NSError **)error;
- (BOOL)compiledModelExists;
- (void)purgeCompiledModel;
- (NSString *)localModelPath;
- (NSString *)hexStringIdentifier;
- (NSDictionary *)modelAttributes;
- (id)program;
- (id)model;
- (id)descriptor;
- (NSURL *)modelURL;
- (uint64_t)state;
- (uint64_t)programHandle;
- (signed char)queueDepth;
@end

@protocol Request
+ (id)requestWithInputs:(id)inputs
           inputIndices:(id)inputIndices
                outputs:(id)outputs
          outputIndices:(id)outputIndices
          weightsBuffer:(id)weights
              perfStats:(id)statistics
         procedureIndex:(id)index;
- (BOOL)validate;
- (void)setCompletionHandler:(completion)handler;
- (void)setSharedEvents:(id)events;
@end

@protocol Surface
+ (id)objectWithIOSurface:(IOSurfaceRef)surface;
+ (id)objectWithIOSurface:(IOSurfaceRef)surface startOffset:(id)offset;
@end

@protocol Events
+ (id)sharedEventsWithSignalEvents:(id)signals waitEvents:(id)waits;
@end

static struct {
    pthread_mutex_t mutex;
    uint64_t programs;
    int64_t compiled, dropped, evaluated, requests_dropped;
    uint32_t status; // result of runs if not 0
} served = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static inline void count_up(int64_t *what) { __atomic_add_fetch(what, 1, __ATOMIC_SEQ_CST); }

static int32_t serve_compile(void *context, const char *directory, uint64_t *program, char *message, size_t capacity) {
    (void)context;
    char path[4096], head[4] = "";
    snprintf(path, sizeof path, "%s/model.mil", directory);
    FILE *f = fopen(path, "r");
    if (!f) {
        snprintf(path, sizeof path, "%s/net.plist", directory);
        f = fopen(path, "r");
    }
    if (f) {
        if (!fgets(head, sizeof head, f)) head[0] = 0;
        fclose(f);
    }
    if (!f || !strcmp(head, "bad")) {
        snprintf(message, capacity, "the text is bad");
        return 1;
    }
    *program = __atomic_add_fetch(&served.programs, 1, __ATOMIC_SEQ_CST) << 1 | !strcmp(head, "one");
    count_up(&served.compiled);
    return 0;
}

#define TENSOR(name)                                                                                        \
    "<dict><key>Name</key><string>" name "</string><key>Symbol</key><string>" name "</string>"              \
    "<key>Type</key><string>Float16</string><key>Batches</key><integer>1</integer>"                         \
    "<key>BatchStride</key><integer>256</integer></dict>"
#define PLIST_HEAD                                                                                                 \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                                                                 \
    "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n" \
    "<plist version=\"1.0\"><dict>"
#define PROCEDURE_0                                                                    \
    "<dict><key>ANEFModelProcedureID</key><integer>0</integer>"                        \
    "<key>ANEFModelInputSymbolIndexArray</key><array><integer>0</integer></array>"     \
    "<key>ANEFModelOutputSymbolIndexArray</key><array><integer>0</integer></array></dict>"
#define NETWORK_0                                              \
    "<dict><key>LiveInputList</key><array>" TENSOR("a") "</array>" \
    "<key>LiveOutputList</key><array>" TENSOR("p@output") "</array></dict>"

static size_t serve_attributes(void *context, uint64_t program, char *plist, size_t capacity) {
    (void)context;
    static const char two[] =
        PLIST_HEAD "<key>ANEFModelDescription</key><dict>"
        "<key>kANEFModelInputSymbolsArrayKey</key><array><string>a</string><string>b</string><string>c</string></array>"
        "<key>kANEFModelOutputSymbolsArrayKey</key><array><string>p@output</string><string>q@output</string></array>"
        "<key>ANEFModelProcedures</key><array>" PROCEDURE_0
        "<dict><key>ANEFModelProcedureID</key><integer>1</integer>"
        "<key>ANEFModelInputSymbolIndexArray</key><array><integer>1</integer><integer>2</integer></array>"
        "<key>ANEFModelOutputSymbolIndexArray</key><array><integer>1</integer></array></dict>"
        "</array></dict><key>NetworkStatusList</key><array>" NETWORK_0
        "<dict><key>LiveInputList</key><array>" TENSOR("b") TENSOR("c") "</array>"
        "<key>LiveOutputList</key><array>" TENSOR("q@output") "</array></dict>"
        "</array></dict></plist>\n";
    static const char one[] =
        PLIST_HEAD "<key>ANEFModelDescription</key><dict>"
        "<key>kANEFModelInputSymbolsArrayKey</key><array><string>a</string></array>"
        "<key>kANEFModelOutputSymbolsArrayKey</key><array><string>p@output</string></array>"
        "<key>ANEFModelProcedures</key><array>" PROCEDURE_0 "</array></dict>"
        "<key>NetworkStatusList</key><array>" NETWORK_0 "</array></dict></plist>\n";
    const char *text = program & 1 ? one : two;
    size_t size = strlen(text);
    memcpy(plist, text, size < capacity ? size : capacity);
    return size;
}

static uint32_t serve_evaluate(void *context, uint64_t program, uint32_t procedure, uint64_t request,
                               const uint32_t *inputs, int32_t input_count, const uint32_t *outputs,
                               int32_t output_count) {
    (void)context, (void)program, (void)request, (void)output_count;
    if (served.status) return served.status;
    IOSurfaceRef out = IOSurfaceLookup(outputs[0]);
    if (!out) return 0x12;
    uint8_t sum[BYTES];
    memset(sum, (int)procedure + 1, sizeof sum);
    for (int32_t i = 0; i < input_count; i++) {
        IOSurfaceRef in = IOSurfaceLookup(inputs[i]);
        const uint8_t *from = IOSurfaceGetBaseAddress(in);
        for (int j = 0; j < BYTES; j++) sum[j] = (uint8_t)(sum[j] + from[j]);
        CFRelease(in);
    }
    memcpy(IOSurfaceGetBaseAddress(out), sum, sizeof sum);
    CFRelease(out);
    count_up(&served.evaluated);
    return 0;
}

static void serve_drop_request(void *context, uint64_t request) {
    (void)context, (void)request;
    count_up(&served.requests_dropped);
}

static void serve_drop_program(void *context, uint64_t program) {
    (void)context, (void)program;
    count_up(&served.dropped);
}

static inline int32_t start_replaying(const char *profile, const char *const *missing, const char *const *changed,
                                      const char *replay) {
    standin_config c = {.profile = profile,
                        .missing = missing,
                        .changed = changed,
                        .replay = replay,
                        .server = {NULL, serve_compile, serve_attributes, serve_evaluate, serve_drop_request,
                                   serve_drop_program}};
    return standin_start(&c);
}

static inline int32_t start(const char *profile, const char *const *missing, const char *const *changed) {
    return start_replaying(profile, missing, changed, NULL);
}

static inline Class<Descriptor> descriptors(void) {
    return (Class<Descriptor>)NSClassFromString(@"_ANEInMemoryModelDescriptor");
}
static inline Class<Model> models(void) { return (Class<Model>)NSClassFromString(@"_ANEInMemoryModel"); }
static inline Class<Request> requests(void) { return (Class<Request>)NSClassFromString(@"_ANERequest"); }
static inline Class<Surface> surfaces(void) { return (Class<Surface>)NSClassFromString(@"_ANEIOSurfaceObject"); }

static inline NSData *data_of(const char *text) { return [NSData dataWithBytes:text length:strlen(text)]; }
static inline NSNumber *index_of(unsigned i) { return [NSNumber numberWithUnsignedInt:i]; }

// Returns a model of this text without weights; autoreleased.
static inline id<Model> model_of(const char *text) {
    id d = [descriptors() modelWithMILText:data_of(text) weights:[NSDictionary dictionary] optionsPlist:nil];
    return [models() inMemoryModelWithDescriptor:d];
}

// Returns a compiled and loaded model, or nil.
static inline id<Model> loaded_model(const char *text) {
    id<Model> m = model_of(text);
    NSError *error = nil;
    if (![m compileWithQoS:21 options:[NSDictionary dictionary] error:&error]) return nil;
    return [m loadWithQoS:21 options:[NSDictionary dictionary] error:&error] ? m : nil;
}

static inline id wrap(IOSurfaceRef s) { return [surfaces() objectWithIOSurface:s]; }

// Returns a request of procedure 0; autoreleased.
static inline id<Request> request_at(id in, unsigned in_index, id out, unsigned out_index) {
    return [requests() requestWithInputs:[NSArray arrayWithObject:in]
                            inputIndices:[NSArray arrayWithObject:index_of(in_index)]
                                 outputs:[NSArray arrayWithObject:out]
                           outputIndices:[NSArray arrayWithObject:index_of(out_index)]
                           weightsBuffer:nil
                               perfStats:nil
                          procedureIndex:nil];
}

static inline id<Request> request_of(IOSurfaceRef in, IOSurfaceRef out) {
    return request_at(wrap(in), 0, wrap(out), 0);
}

static inline uint8_t *bytes_of(IOSurfaceRef s) { return IOSurfaceGetBaseAddress(s); }

static inline int exists(NSString *path) {
    struct stat st;
    return stat([path fileSystemRepresentation], &st) == 0;
}

// The name of the exception that the statements raise, or nil. The exception is autoreleased.
#define RAISED(statements)                     \
    ({                                         \
        NSException *caught = nil;             \
        @try {                                 \
            statements;                        \
        } @catch (NSException * e) {           \
            caught = e;                        \
        }                                      \
        caught;                                \
    })

// The exception that GNUstep raises for an unknown message; the reason has several wordings.
static inline int unrecognized(NSException *e) {
    return [[e name] isEqualToString:NSInvalidArgumentException];
}

// Checks that nothing of the framework is alive. A thread that evaluated drains its pool after it has answered, so
// the last owner of a program may let go of it a little later.
static inline void check_end(void) {
    standin_purge_all();
    for (int i = 0; i < 20000 && __atomic_load_n(&served.dropped, __ATOMIC_SEQ_CST) !=
                                     __atomic_load_n(&served.compiled, __ATOMIC_SEQ_CST); i++)
        usleep(1000);
    standin_counts c;
    standin_count(&c);
    standin_surface_stats s;
    standin_surface_count(&s);
    static const char *const names[] = {"_ANEInMemoryModelDescriptor", "_ANEInMemoryModel",        "_ANERequest",
                                        "_ANEIOSurfaceObject",         "_ANEClient",               "_ANEModel",
                                        "_ANEProgramForEvaluation",    "_ANEPerformanceStatsIOSurface",
                                        "_ANESharedEvents",            "io_object_t"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (standin_instances(names[i])) printf("  %s: %lld alive\n", names[i], (long long)standin_instances(names[i]));
    CHECK("no objects are left", c.instances == 0);
    CHECK("no program is loaded, cached or in flight", c.loaded == 0 && c.cached == 0 && c.slots == 0 && c.lost == 0);
    CHECK("all programs of the server were dropped", served.compiled == served.dropped);
    CHECK("no surface is left", s.objects == 0 && s.locks == 0);
}

#endif
