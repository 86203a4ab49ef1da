#ifndef STANDIN_ANE_PROGRAM_H
#define STANDIN_ANE_PROGRAM_H

#import "ane_request.h"

// _ANEProgramForEvaluation: refers to a loaded program without keeping it loaded.
@interface StandinProgramForEvaluation : StandinObject {
@public
    uint64_t handle, intermediate;
    signed char depth;
    int64_t in_flight; // guarded by the mutex of asynchronous.m
}
@end

#pragma GCC visibility push(hidden)

StandinProgramForEvaluation *program_with_handle(uint64_t handle); // autoreleased
// The handle that getters return; a replayed dump may set it.
uint64_t program_shown_handle(StandinProgramForEvaluation *program);
// Evaluates synchronously, or asynchronously if the request has a handler or events. program may be nil:
// NO.
BOOL program_evaluate(StandinProgramForEvaluation *program, id request, struct fault fault, NSError **error);

// The driver: returns 0 or its status.
uint32_t driver_run(StandinLoad *load, const struct bound *b, struct fault fault);
// Runs and returns the error, or nil if the run succeeded. load is nil for an unloaded program.
// Autoreleased.
NSError *driver_try(StandinLoad *load, const struct bound *b, struct fault fault);
NSError *driver_error(uint32_t status); // autoreleased
NSError *driver_unloaded(void);         // error of an unloaded program; autoreleased

// Queues a run; NO if no slot became free. asynchronous.m
BOOL asynchronous_submit(StandinProgramForEvaluation *program, StandinRequest *request, struct fault fault);
void asynchronous_count(standin_counts *out);

#pragma GCC visibility pop

#endif
