#ifndef STANDIN_ANE_MODEL_H
#define STANDIN_ANE_MODEL_H

#import "ane_program.h"

// _ANEModel: the model inside an in-memory one.
@interface StandinModel : StandinObject {
@public
    NSURL *url;
    NSString *key;
    NSUUID *uuid;
    NSDictionary *attributes;
    StandinProgramForEvaluation *program;
    uint64_t state, string_id;
    uint32_t mask;
}
@end

enum model_state { MODEL_FRESH = 1, MODEL_COMPILED, MODEL_LOADED, MODEL_UNLOADED, MODEL_FAILED };

#pragma GCC visibility push(hidden)

StandinModel *model_at(NSURL *url); // autoreleased

#pragma GCC visibility pop

#endif
