#ifndef STANDIN_ANE_REQUEST_H
#define STANDIN_ANE_REQUEST_H

#import "core.h"

#import "programs.h"

typedef void (^completion)(BOOL ok, NSError *error);

// _ANERequest. Arrays are retained, not copied.
@interface StandinRequest : StandinObject {
@public
    NSArray *inputs, *input_indices, *outputs, *output_indices;
    id weights, statistics, index, events, transaction, counters;
    completion handler;
    uint64_t number;            // identifies the request for the server
    int32_t in_flight;  // asynchronous runs
    int32_t served;     // true if the server has used it
}
@end

// A request as C values, in ascending order of symbols.
struct binding {
    uint32_t index;
    IOSurfaceRef surface;
};

struct bound {
    uint32_t procedure;
    int32_t input_count, output_count;
    uint64_t request;
    struct binding inputs[SURFACE_LIMIT], outputs[SURFACE_LIMIT];
};

#pragma GCC visibility push(hidden)

// -validate. The limits of a program apply from 382.7.4 on; load may be nil.
BOOL request_valid(StandinRequest *r, StandinLoad *load);
void request_bind(StandinRequest *r, struct bound *b); // only for a valid request

#pragma GCC visibility pop

#endif
