#ifndef STANDIN_ANE_PROGRAM_H
#define STANDIN_ANE_PROGRAM_H

#import "ane_request.h"

// _ANEProgramForEvaluation: names a loaded program, without keeping it loaded.
@interface StandinProgramForEvaluation : StandinObject {
@public
    uint64_t handle, intermediate;
    signed char depth;
    int64_t in_flight; // guarded by the mutex of asynchronous.m
}
@end

#pragma GCC visibility push(hidden)

StandinProgramForEvaluation *program_with_handle(uint64_t handle); // autoreleased
// The handle that getters tell, which a replayed dump may say.
uint64_t program_shown_handle(StandinProgramForEvaluation *program);
// Evaluates at once, or later when the request has a handler or events. program may be nil: NO.
BOOL program_evaluate(StandinProgramForEvaluation *program, id request, struct fault fault, NSError **error);

// The driver: 0, or its status.
uint32_t driver_run(StandinLoad *load, const struct bound *b, struct fault fault);
// A run and its error: nil when it succeeded. load is nil for a program that was unloaded. Autoreleased.
NSError *driver_try(StandinLoad *load, const struct bound *b, struct fault fault);
NSError *driver_error(uint32_t status); // autoreleased
NSError *driver_unloaded(void);         // of a program that was unloaded; autoreleased

// Queues a run; NO when no slot came free. asynchronous.m
BOOL asynchronous_submit(StandinProgramForEvaluation *program, StandinRequest *request, struct fault fault);
void asynchronous_count(standin_counts *out);

#pragma GCC visibility pop

#endif
