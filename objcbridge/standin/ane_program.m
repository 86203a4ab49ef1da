// _ANEProgramForEvaluation.
#import "ane_program.h"

#import "replay.h"

@implementation StandinProgramForEvaluation

static id fill(StandinProgramForEvaluation *p, uint64_t handle, uint64_t intermediate, signed char depth) {
    if (!p) return nil;
    p->handle = handle;
    p->intermediate = intermediate;
    p->depth = depth;
    return p;
}

StandinProgramForEvaluation *program_with_handle(uint64_t handle) {
    id program = core_alloc("_ANEProgramForEvaluation", [StandinProgramForEvaluation class]);
    return [fill(program, handle, (uint64_t)replay_number(@"model", @"intermediateBufferHandle", 0),
                 (signed char)replay_number(@"model", @"queueDepth", QUEUE_DEPTH)) autorelease];
}

uint64_t program_shown_handle(StandinProgramForEvaluation *program) {
    NSNumber *replayed = replay_value(@"model", @"programHandle", [NSNumber class]);
    return replayed ? [replayed unsignedLongLongValue] : program->handle;
}

+ (id)programWithHandle:(uint64_t)h intermediateBufferHandle:(uint64_t)i queueDepth:(signed char)d {
    return [fill([self alloc], h, i, d) autorelease];
}

// Up to 26 the completion of shared events calls a missing handler.
static void refuse_events_without_handler(StandinRequest *r) {
    if (!r->events || r->handler) return;
    if (core.profile < PROFILE_27) core_die("shared events without a completion handler: Apple's framework crashes");
    core_log(@"capturedCompletionHandler is NULL");
}

static BOOL run_now(StandinLoad *load, StandinRequest *r, struct fault fault, NSError **error) {
    struct bound b;
    request_bind(r, &b);
    counter_set(&r->served, 1);
    NSError *failure = driver_try(load, &b, fault);
    return failure ? core_fail(error, failure) : YES;
}

BOOL program_evaluate(StandinProgramForEvaluation *program, id request, struct fault fault, NSError **error) {
    if (!program) return NO;
    core_require(request, "_ANERequest", "validate");
    StandinRequest *r = request;
    StandinLoad *load = programs_loaded(program->handle);
    if (!r || fault_enter(@selector(validate)).kind == STANDIN_NO || !request_valid(r, load)) return NO;
    if (!load) return core_fail(error, driver_unloaded());
    refuse_events_without_handler(r);
    if (r->handler || r->events) return asynchronous_submit(program, r, fault);
    return run_now(load, r, fault, error);
}

- (BOOL)processRequest:(id)request
                 model:(id)model
                   qos:(uint32_t)qos
                qIndex:(uint64_t)queue
         modelStringID:(uint64_t)string
               options:(NSDictionary *)options
           returnValue:(uint32_t *)status
                 error:(NSError **)error {
    (void)qos, (void)queue, (void)string, (void)options;
    core_require(model, "_ANEModel", "programHandle");
    NSError *failure = nil;
    BOOL ok = program_evaluate(self, request, (struct fault){0, 0}, &failure);
    if (failure) core_fail(error, failure);
    if (status) *status = ok ? 0 : 1;
    return ok;
}

- (uint64_t)programHandle {
    return program_shown_handle(self);
}

- (uint64_t)intermediateBufferHandle {
    return intermediate;
}

- (signed char)queueDepth {
    return depth;
}

- (int64_t)currentAsyncRequestsInFlight {
    return counter_now(&in_flight);
}

@end
