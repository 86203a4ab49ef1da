// What the broker does with an in-memory model: compile, load, unload.
#import "ane_memory_model.h"

extern NSString *const kANEFModelTypeKey, *const kANEFModelMIL, *const kANEFModelANECIR;

NSDictionary *memory_model_options(StandinInMemoryModel *m, NSDictionary *options, BOOL cached) {
    NSMutableDictionary *merged = [[options mutableCopy] autorelease];
    [merged setObject:m->mil ? kANEFModelMIL : kANEFModelANECIR forKey:kANEFModelTypeKey];
    [merged setObject:m->identity forKey:@"kANEFInMemoryModelIdentifierKey"];
    [merged setObject:[NSNumber numberWithBool:cached] forKey:@"kANEFInMemoryModelIsCachedKey"];
    if (m->options_file) [merged setObject:m->options_file forKey:@"kANEFCompilerOptionsFilenameKey"];
    return merged;
}

// Without options the model type is lost, and Core ML's translator finds no network of its kind.
static BOOL espresso(NSString *method, NSError **error) {
    core_log(@"standin: %@: options are nil", method);
    return core_fail(error, core_domain_error(@"com.apple.appleneuralengine.espresso", 1,
                                              @"_ANEEspressoIRTranslator : error Cannot load network"));
}

static BOOL directory_exists(NSURL *url) {
    BOOL directory = NO;
    return url && [[NSFileManager defaultManager] fileExistsAtPath:[url path] isDirectory:&directory] && directory;
}

// Puts a new object in a retained variable.
static void keep(id *variable, id value) {
    id old = *variable;
    *variable = [value retain];
    [old release];
}

static StandinModel *inner_model(StandinInMemoryModel *m) {
    if (!m->model) m->model = [model_at(m->url) retain];
    return m->model;
}

static BOOL compile_directory(StandinInMemoryModel *m, NSError **error) {
    StandinCompiled *made = nil;
    switch (programs_compile([m->url path], &made)) {
    case COMPILE_BEYOND_BUDGET:
        return NO;
    case COMPILE_FAILED:
        return core_fail(error, core_domain_error(@"com.apple.appleneuralengine.compiler", 1,
                                                  @"_ANECompiler : ANECCompile() FAILED"));
    case COMPILE_DONE:
        break;
    }
    keep(&m->compiled, made);
    programs_cache(m->identity, made);
    return YES;
}

BOOL memory_model_compile(StandinInMemoryModel *m, NSDictionary *options, NSString *method, NSError **error) {
    StandinCompiled *cached = programs_cached(m->identity);
    NSDictionary *merged = memory_model_options(m, options, cached != nil);
    if (!m->url && !memory_model_save(m)) return NO;
    if (!directory_exists(m->url)) return core_fail(error, core_error(9, method, @"File access failure"));
    if (!merged) return espresso(method, error);
    if (cached)
        keep(&m->compiled, cached);
    else if (!compile_directory(m, error))
        return NO;
    inner_model(m)->state = MODEL_COMPILED;
    return YES;
}

// The compiled program: the cache's, or else that of the directory while it stands.
static StandinCompiled *find_compiled(StandinInMemoryModel *m, NSString *method, NSError **error) {
    StandinCompiled *cached = programs_cached(m->identity);
    if (cached) return cached;
    if (!directory_exists(m->url)) {
        core_fail(error, core_error(9, method, @"File access failure"));
        return nil;
    }
    if (!m->compiled) core_fail(error, core_error(4, method, @"Program creation failure"));
    return m->compiled;
}

BOOL memory_model_load(StandinInMemoryModel *m, uint32_t qos, NSDictionary *options, NSString *method,
                       NSError **error) {
    NSDictionary *merged = memory_model_options(m, options, programs_cached(m->identity) != nil);
    if (qos == 0) return core_fail(error, core_error(1, method, @"Entitlement or restricted access needed"));
    if (!merged) return espresso(method, error);
    StandinCompiled *found = find_compiled(m, method, error);
    if (!found) return NO;
    StandinLoad *load = [[[StandinLoad alloc] initWithCompiled:found] autorelease];
    uint64_t handle = load ? programs_load(load) : 0;
    if (!handle) return core_fail(error, core_error(6, method, @"Program load failure (0x5)"));
    keep(&m->compiled, found);
    keep(&m->program, program_with_handle(handle));
    keep(&m->attributes, load->attributes);
    m->handle = handle;
    m->intermediate = m->program->intermediate;
    m->depth = m->program->depth;
    m->state = STATE_LOADED;
    StandinModel *inner = inner_model(m);
    keep(&inner->program, m->program);
    keep(&inner->attributes, m->attributes);
    inner->state = MODEL_LOADED;
    return YES;
}

// Leaves program and state as they are.
BOOL memory_model_unload(StandinInMemoryModel *m, NSString *method, NSError **error) {
    if (!m->program) return NO;
    if (!programs_unload(m->handle)) return core_fail(error, core_error(23, method, @"Program not found"));
    m->model->state = MODEL_UNLOADED;
    [[NSFileManager defaultManager] removeItemAtPath:memory_model_path(m) error:NULL];
    return YES;
}
