// The broker's work for an in-memory model: compile, load, unload.
#import "ane_memory_model.h"

#import "errors.h"
#import "replay.h"

extern NSString *const kANEFModelTypeKey, *const kANEFModelMIL, *const kANEFModelANECIR,
    *const kANEFKeepModelMemoryWiredKey;

NSDictionary *memory_model_options(StandinInMemoryModel *m, NSDictionary *options, BOOL cached) {
    NSMutableDictionary *merged = [[options mutableCopy] autorelease];
    [merged setObject:m->mil ? kANEFModelMIL : kANEFModelANECIR forKey:kANEFModelTypeKey];
    [merged setObject:m->identity forKey:@"kANEFInMemoryModelIdentifierKey"];
    [merged setObject:[NSNumber numberWithBool:cached] forKey:@"kANEFInMemoryModelIsCachedKey"];
    if (m->options_file) [merged setObject:m->options_file forKey:@"kANEFCompilerOptionsFilenameKey"];
    return merged;
}

// Without options the model type is missing, and Core ML's translator finds no network of its kind.
static BOOL espresso(StandinInMemoryModel *m, NSString *method, NSError **error) {
    core_log(@"standin: %@: options are nil", method);
    NSString *network = [memory_model_path(m) stringByAppendingPathComponent:@"model.espresso.net"];
    NSString *text = [@"_ANEEspressoIRTranslator : error Cannot load network " stringByAppendingString:network];
    return core_fail(error, core_domain_error(@"com.apple.appleneuralengine.espresso", 1, text));
}

static BOOL directory_exists(NSURL *url) {
    BOOL directory = NO;
    return url && [memory_model_files() fileExistsAtPath:[url path] isDirectory:&directory] && directory;
}

// Stores a new object in a retained variable.
static void keep(id *variable, id value) {
    id old = *variable;
    *variable = [value retain];
    [old release];
}

// Each compile and each load makes a new inner model.
static StandinModel *renew_model(StandinInMemoryModel *m, NSURL *url) {
    keep(&m->model, model_at(url));
    return m->model;
}

// The cause of most refusals does not have the compiler's result; 1 represents it here.
static NSError *compiler_error(enum compile_result result, NSString *directory) {
    NSString *domain = @"com.apple.appleneuralengine.compiler";
    NSString *reason = result == COMPILE_INVALID ? @"InvalidMILProgram" : @"";
    NSString *text = [NSString stringWithFormat:@"ANECCompile(%@) FAILED: err=(%@)", directory, reason];
    NSError *cause = error_nested(domain, result == COMPILE_REFUSED_22 ? 22 : 1, text, nil, nil);
    return error_nested(domain, 1, @"_ANECompiler : ANECCompile() FAILED", nil, cause);
}

static BOOL compile_directory(StandinInMemoryModel *m, NSError **error) {
    NSError *refused = memory_model_verify(m);
    if (refused) return core_fail(error, refused);
    StandinCompiled *made = nil;
    enum compile_result result = programs_compile([m->url path], &made);
    if (result == COMPILE_LEAKED || result == COMPILE_DIED) return NO;
    if (result != COMPILE_DONE) return core_fail(error, compiler_error(result, [m->url path]));
    keep(&m->compiled, made);
    programs_cache(m->identity, made);
    return YES;
}

// What a compile leaves in the caller's autorelease pool.
@interface StandinRemains : NSObject {
@public
    StandinInMemoryModel *of;
}
@end

@implementation StandinRemains
- (void)dealloc {
    programs_drained(&of->remains);
    [of release];
    [super dealloc];
}
@end

static void leave(StandinInMemoryModel *m) {
    StandinRemains *remains = [[[StandinRemains alloc] init] autorelease];
    remains->of = [m retain];
    programs_remain(&m->remains);
}

// The framework reports to the broker that nothing is cached, whatever the cache has; the broker checks
// itself.
BOOL memory_model_compile(StandinInMemoryModel *m, NSDictionary *options, NSString *method, NSError **error) {
    NSDictionary *merged = memory_model_options(m, options, NO);
    if (!m->url && !memory_model_save(m)) return NO;
    StandinModel *inner = renew_model(m, m->url);
    if (!directory_exists(m->url)) return core_fail(error, error_plain(9, method));
    NSError *replayed = replay_error(@"compile");
    if (replayed) return core_fail(error, replayed);
    if (!merged) return espresso(m, method, error);
    StandinCompiled *cached = programs_cached(m->identity);
    if (cached)
        keep(&m->compiled, cached);
    else if (!compile_directory(m, error))
        return NO;
    inner->state = MODEL_COMPILED;
    leave(m);
    return YES;
}

// The compiled program: the cache's, or else that of the directory while it exists.
static StandinCompiled *find_compiled(StandinInMemoryModel *m, NSError **error) {
    StandinCompiled *cached = programs_cached(m->identity);
    if (cached) return cached;
    if (m->compiled && directory_exists(m->url)) return m->compiled;
    core_fail(error, error_plain(16, method_cached));
    return nil;
}

static NSError *wall_error(void) {
    NSError *error = replay_error(@"wall");
    if (!error) error = error_27_load(method_load);
    return error ? error : error_status(6, method_load, 0x50004);
}

// Properties of a loaded model, unless a dump has others.
static void show(StandinInMemoryModel *m) {
    m->handle = program_shown_handle(m->program);
    m->intermediate = m->program->intermediate;
    m->depth = m->program->depth;
    m->state = (uint64_t)replay_number(@"model", @"state", STATE_LOADED);
    m->mask = (uint32_t)replay_number(@"model", @"perfStatsMask", m->mask);
    m->mil = replay_flag(@"model", @"isMILModel", m->mil);
}

BOOL memory_model_load(StandinInMemoryModel *m, NSDictionary *options, NSString *method, NSError **error) {
    BOOL is_cached = programs_cached(m->identity) != nil;
    NSDictionary *merged = memory_model_options(m, options, is_cached);
    StandinModel *inner = renew_model(m, is_cached ? [NSURL fileURLWithPath:memory_model_path(m)] : m->url);
    if (!merged) return espresso(m, method, error);
    NSError *replayed = replay_error(@"load");
    if (replayed) return core_fail(error, replayed);
    StandinCompiled *found = find_compiled(m, error);
    if (!found) return NO;
    StandinLoad *load = [[[StandinLoad alloc] initWithCompiled:found] autorelease];
    if (!load) return core_fail(error, error_plain(6, method_load));
    uint64_t handle = programs_load(load);
    if (!handle) return core_fail(error, wall_error());
    id wired = [options objectForKey:kANEFKeepModelMemoryWiredKey];
    if (wired) programs_note_residency([wired boolValue]);
    keep(&m->compiled, found);
    keep(&m->program, program_with_handle(handle));
    keep(&m->attributes, load->attributes);
    show(m);
    keep(&inner->program, m->program);
    keep(&inner->attributes, m->attributes);
    inner->state = MODEL_LOADED;
    return YES;
}

// Keeps program and state. Removes the directory whatever the broker returns.
BOOL memory_model_unload(StandinInMemoryModel *m, NSString *method, NSError **error) {
    NSError *failure = m->program ? replay_error(@"unload") : nil;
    BOOL done = m->program && !failure && programs_unload(m->program->handle, &m->remains);
    if (done)
        m->model->state = MODEL_UNLOADED;
    else if (m->program)
        core_fail(error, failure ? failure : error_plain(23, [method stringByAppendingString:@": Program not found"]));
    [memory_model_files() removeItemAtPath:memory_model_path(m) error:NULL];
    return done;
}
