// _ANEInMemoryModel: its methods.
#import "ane_memory_model.h"

#import "ane_client.h"
#import "errors.h"

// A getter's value, with its faults.
#define OBJECT_GETTER(type, selector, value)                       \
    -(type)selector {                                              \
        if (fault_enter(_cmd).kind == STANDIN_NIL) return nil;     \
        return value;                                              \
    }
#define GETTER(type, selector, value) \
    -(type)selector {                 \
        (void)fault_enter(_cmd);      \
        return value;                 \
    }
#define OBJECT_SETTER(selector, type, variable) \
    -(void)selector : (type)value {             \
        id old = variable;                      \
        variable = [value retain];              \
        [old release];                          \
    }
#define SETTER(selector, type, variable) \
    -(void)selector : (type)value {      \
        variable = value;                \
    }

@implementation StandinInMemoryModel

static id fill(StandinInMemoryModel *m, StandinDescriptor *d) {
    static uint64_t strings;
    if (!m) return nil;
    if (!d) {
        [m release];
        return nil;
    }
    m->descriptor = [d retain];
    m->identity = [descriptor_identity(d) retain];
    m->file_hashes = [d->file_hashes retain];
    m->weight_files = [d->weights count];
    m->shared_name = d->shared_name;
    m->options_file = d->plist ? @"compiler_options.plist" : nil;
    m->mil = d->mil;
    m->string_id = counter_add(&strings, 1);
    m->attributes = [[NSDictionary alloc] init]; // empty before load
    return m;
}

+ (id)inMemoryModelWithDescriptor:(id)d {
    if (fault_enter(_cmd).kind == STANDIN_NIL) return nil;
    core_require(d, "_ANEInMemoryModelDescriptor", "hexStringIdentifier");
    return [fill([self alloc], d) autorelease];
}

- (id)initWithDesctiptor:(id)d {
    core_require(d, "_ANEInMemoryModelDescriptor", "hexStringIdentifier");
    return fill(self, d);
}

+ (id)new {
    return nil;
}

- (id)init {
    [self release];
    return nil;
}

- (BOOL)compileWithQoS:(uint32_t)qos options:(NSDictionary *)options error:(NSError **)error {
    (void)qos;
    struct fault f = fault_enter(_cmd);
    if (fault_refuses(f, _cmd, error)) return NO;
    if (core.virtual_machine) { // nothing was seen to compile in one; which error it gives is not known
        if (error) *error = error_plain(29, NSStringFromSelector(_cmd));
        return NO;
    }
    return fault_leave(f, _cmd, memory_model_compile(self, options, NSStringFromSelector(_cmd), error), error);
}

- (BOOL)loadWithQoS:(uint32_t)qos options:(NSDictionary *)options error:(NSError **)error {
    (void)qos;
    struct fault f = fault_enter(_cmd);
    if (fault_refuses(f, _cmd, error)) return NO;
    return fault_leave(f, _cmd, memory_model_load(self, options, NSStringFromSelector(_cmd), error), error);
}

- (BOOL)evaluateWithQoS:(uint32_t)qos options:(NSDictionary *)options request:(id)request error:(NSError **)error {
    (void)qos, (void)options;
    struct fault f = fault_enter(_cmd);
    if (fault_refuses(f, _cmd, error)) return NO;
    return fault_leave(f, _cmd, program_evaluate(program, request, f, error), error);
}

- (BOOL)unloadWithQoS:(uint32_t)qos error:(NSError **)error {
    (void)qos;
    struct fault f = fault_enter(_cmd);
    if (fault_refuses(f, _cmd, error)) return NO;
    return fault_leave(f, _cmd, memory_model_unload(self, NSStringFromSelector(_cmd), error), error);
}

- (void)purgeCompiledModel {
    (void)fault_enter(_cmd);
    programs_purge(identity);
}

- (BOOL)compiledModelExists {
    if (fault_enter(_cmd).kind == STANDIN_NO) return NO;
    return programs_cached(identity) != nil;
}

- (NSURL *)saveModelFiles {
    return memory_model_save(self);
}

- (NSDictionary *)compilerOptionsWithOptions:(NSDictionary *)options isCompiledModelCached:(BOOL)cached {
    return memory_model_options(self, options, cached);
}

- (BOOL)mapIOSurfacesWithRequest:(id)request cacheInference:(BOOL)cache error:(NSError **)error {
    (void)cache;
    struct fault f = fault_enter(_cmd);
    if (fault_refuses(f, _cmd, error)) return NO;
    return fault_leave(f, _cmd, client_refuse_map(request, error), error);
}

- (void)unmapIOSurfacesWithRequest:(id)request {
    core_require(request, "_ANERequest", "inputArray");
}

// Some builds of 27 raise here, as in the dump m4max-27-attributes-cache-stats, and others answer.
- (NSDictionary *)modelAttributes {
    if (fault_enter(_cmd).kind == STANDIN_NIL) return nil;
    if (core.profile >= PROFILE_27) [self doesNotRecognizeSelector:sel_registerName("externConstants")];
    return attributes;
}

OBJECT_GETTER(NSString *, hexStringIdentifier, identity)
OBJECT_GETTER(NSString *, localModelPath, memory_model_path(self))
OBJECT_GETTER(id, program, program)
OBJECT_GETTER(id, model, model)
OBJECT_GETTER(id, descriptor, descriptor)
OBJECT_GETTER(NSURL *, modelURL, url)
OBJECT_GETTER(NSDictionary *, perFileHashes, file_hashes)
OBJECT_GETTER(NSString *, compilerOptionsFileName, options_file)
OBJECT_GETTER(id, sharedConnection, client_shared())
GETTER(uint64_t, programHandle, handle)
GETTER(uint64_t, intermediateBufferHandle, intermediate)
GETTER(uint64_t, state, state)
GETTER(uint64_t, string_id, string_id)
GETTER(uint32_t, perfStatsMask, mask)
GETTER(signed char, queueDepth, depth)
GETTER(BOOL, isMILModel, mil)

OBJECT_SETTER(setDescriptor, id, descriptor)
OBJECT_SETTER(setModel, id, model)
OBJECT_SETTER(setModelAttributes, NSDictionary *, attributes)
OBJECT_SETTER(setModelURL, NSURL *, url)
OBJECT_SETTER(setPerFileHashes, NSDictionary *, file_hashes)
OBJECT_SETTER(setProgram, id, program)
OBJECT_SETTER(setCompilerOptionsFileName, NSString *, options_file)
SETTER(setProgramHandle, uint64_t, handle)
SETTER(setIntermediateBufferHandle, uint64_t, intermediate)
SETTER(setState, uint64_t, state)
SETTER(setPerfStatsMask, uint32_t, mask)
SETTER(setQueueDepth, signed char, depth)

// Neither unloads nor removes files.
- (void)dealloc {
    [descriptor release];
    [identity release];
    [options_file release];
    [url release];
    [model release];
    [program release];
    [compiled release];
    [attributes release];
    [file_hashes release];
    [super dealloc];
}

@end
