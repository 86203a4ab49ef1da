// Programs of the server: compiled, cached by identity, loaded under a handle.
#ifndef STANDIN_PROGRAMS_H
#define STANDIN_PROGRAMS_H

#import "core.h"

#pragma GCC visibility push(hidden)

// A compiled program. The server is notified when the last owner, cache or model, releases it.
@interface StandinCompiled : NSObject {
@public
    uint64_t number;
}
@end

struct symbol {
    uint32_t index;
    int64_t minimum; // bytes
};

struct procedure {
    int64_t number; // its number in requests
    struct symbol *inputs, *outputs; // in ascending order of indices
    int32_t input_count, output_count;
};

// A loaded program.
@interface StandinLoad : NSObject {
@public
    StandinCompiled *compiled;
    NSDictionary *attributes;
    struct procedure *procedures;
    NSUInteger procedure_count, input_symbols, output_symbols;
}
// nil if the server's property list cannot be read. A list without procedures gives a load without
// procedures.
- (id)initWithCompiled:(StandinCompiled *)program;
@end

enum compile_result { COMPILE_DONE, COMPILE_FAILED, COMPILE_BEYOND_BUDGET };
// Each call that reaches the server counts against the budget. *program is autoreleased.
enum compile_result programs_compile(NSString *directory, StandinCompiled **program);
void programs_set_budget(int32_t compiles); // 0 means 119

StandinCompiled *programs_cached(NSString *identity); // autoreleased, or nil
void programs_cache(NSString *identity, StandinCompiled *program);
void programs_purge(NSString *identity);

void programs_set_wall(int64_t programs); // limit of loaded programs; 0 means 126
uint64_t programs_load(StandinLoad *load);   // the handle, or 0 beyond the limit
StandinLoad *programs_loaded(uint64_t handle); // autoreleased, or nil
BOOL programs_unload(uint64_t handle);       // NO if it was not loaded

void programs_count(standin_counts *out);
void programs_add_evaluation(void);

#pragma GCC visibility pop

#endif
