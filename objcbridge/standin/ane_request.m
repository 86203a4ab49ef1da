// _ANERequest: factories and properties.
#import "ane_request.h"

#include <Block.h>

@implementation StandinRequest

static id fill(StandinRequest *r, NSArray *in, NSArray *ini, NSArray *out, NSArray *outi, id weights, id stats,
               id index, id events, id transaction) {
    static uint64_t numbers;
    if (!r) return nil;
    r->inputs = [in retain];
    r->input_indices = [ini retain];
    r->outputs = [out retain];
    r->output_indices = [outi retain];
    r->weights = [weights retain];
    r->statistics = [stats retain];
    r->index = [index retain];
    r->events = [events retain];
    r->transaction = [transaction retain];
    r->number = counter_add(&numbers, 1);
    return r;
}

+ (id)requestWithInputs:(NSArray *)in
           inputIndices:(NSArray *)ini
                outputs:(NSArray *)out
          outputIndices:(NSArray *)outi
         procedureIndex:(NSNumber *)i {
    return [fill([self alloc], in, ini, out, outi, nil, nil, i, nil, nil) autorelease];
}

+ (id)requestWithInputs:(NSArray *)in
           inputIndices:(NSArray *)ini
                outputs:(NSArray *)out
          outputIndices:(NSArray *)outi
              perfStats:(NSArray *)p
         procedureIndex:(NSNumber *)i {
    return [fill([self alloc], in, ini, out, outi, nil, p, i, nil, nil) autorelease];
}

+ (id)requestWithInputs:(NSArray *)in
           inputIndices:(NSArray *)ini
                outputs:(NSArray *)out
          outputIndices:(NSArray *)outi
          weightsBuffer:(id)w
         procedureIndex:(NSNumber *)i {
    return [fill([self alloc], in, ini, out, outi, w, nil, i, nil, nil) autorelease];
}

+ (id)requestWithInputs:(NSArray *)in
           inputIndices:(NSArray *)ini
                outputs:(NSArray *)out
          outputIndices:(NSArray *)outi
          weightsBuffer:(id)w
              perfStats:(NSArray *)p
         procedureIndex:(NSNumber *)i {
    if (fault_enter(_cmd).kind == STANDIN_NIL) return nil;
    return [fill([self alloc], in, ini, out, outi, w, p, i, nil, nil) autorelease];
}

+ (id)requestWithInputs:(NSArray *)in
           inputIndices:(NSArray *)ini
                outputs:(NSArray *)out
          outputIndices:(NSArray *)outi
          weightsBuffer:(id)w
              perfStats:(NSArray *)p
         procedureIndex:(NSNumber *)i
           sharedEvents:(id)e {
    return [fill([self alloc], in, ini, out, outi, w, p, i, e, nil) autorelease];
}

+ (id)requestWithInputs:(NSArray *)in
           inputIndices:(NSArray *)ini
                outputs:(NSArray *)out
          outputIndices:(NSArray *)outi
          weightsBuffer:(id)w
              perfStats:(NSArray *)p
         procedureIndex:(NSNumber *)i
           sharedEvents:(id)e
      transactionHandle:(NSNumber *)t {
    return [fill([self alloc], in, ini, out, outi, w, p, i, e, t) autorelease];
}

- (id)initWithInputs:(NSArray *)in
        inputIndices:(NSArray *)ini
             outputs:(NSArray *)out
       outputIndices:(NSArray *)outi
       weightsBuffer:(id)w
           perfStats:(NSArray *)p
      procedureIndex:(NSNumber *)i {
    return fill(self, in, ini, out, outi, w, p, i, nil, nil);
}

- (id)initWithInputs:(NSArray *)in
        inputIndices:(NSArray *)ini
             outputs:(NSArray *)out
       outputIndices:(NSArray *)outi
       weightsBuffer:(id)w
           perfStats:(NSArray *)p
      procedureIndex:(NSNumber *)i
        sharedEvents:(id)e
   transactionHandle:(NSNumber *)t {
    return fill(self, in, ini, out, outi, w, p, i, e, t);
}

// Replaces a retained variable.
static void put(id *variable, id value) {
    id old = *variable;
    *variable = [value retain];
    [old release];
}

- (NSArray *)inputArray {
    return inputs;
}

- (NSArray *)inputIndexArray {
    return input_indices;
}

- (NSArray *)outputArray {
    return outputs;
}

- (NSArray *)outputIndexArray {
    return output_indices;
}

- (id)weightsBuffer {
    return weights;
}

- (NSArray *)perfStatsArray {
    return statistics;
}

- (NSNumber *)procedureIndex {
    return index;
}

- (uint64_t)ioSurfacesCount {
    return [inputs count] + [outputs count] + (weights != nil);
}

- (id)perfStats {
    return counters;
}

- (void)setPerfStats:(id)value {
    put(&counters, value);
}

- (id)sharedEvents {
    return events;
}

- (void)setSharedEvents:(id)value {
    put(&events, value);
}

- (NSNumber *)transactionHandle {
    return transaction;
}

- (void)setTransactionHandle:(NSNumber *)value {
    put(&transaction, value);
}

- (completion)completionHandler {
    return handler;
}

- (void)setCompletionHandler:(completion)block {
    (void)fault_enter(_cmd);
    completion old = handler;
    handler = block ? Block_copy(block) : NULL;
    if (old) Block_release(old);
}

- (BOOL)validate {
    if (fault_enter(_cmd).kind == STANDIN_NO) return NO;
    return request_valid(self, nil);
}

- (void)dealloc {
    if (counter_now(&in_flight)) core_die("a request was freed while it was in flight");
    if (counter_now(&served) && core.server.drop_request) core.server.drop_request(core.server.context, number);
    [inputs release];
    [input_indices release];
    [outputs release];
    [output_indices release];
    [weights release];
    [statistics release];
    [index release];
    [events release];
    [transaction release];
    [counters release];
    if (handler) Block_release(handler);
    [super dealloc];
}

@end
