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

// What the server's compile returns, and COMPILE_LEAKED.
enum compile_result {
    COMPILE_DONE = STANDIN_COMPILED,
    COMPILE_INVALID = STANDIN_INVALID,
    COMPILE_LIMIT = STANDIN_LIMIT,
    COMPILE_REFUSED_22 = STANDIN_REFUSED_22,
    COMPILE_DIED = STANDIN_DIED,
    COMPILE_LEAKED,
};
// *program is autoreleased. COMPILE_LEAKED without a call of the server if the objects of 119 compiles remain.
enum compile_result programs_compile(NSString *directory, StandinCompiled **program);

// A model counts the compiles whose objects remain in the caller's autorelease pool. Without a pool they remain until
// the process ends, and the model's programs keep their slots after unload [dump m5max-27.0.1-reclaim].
void programs_remain(int *remains);
void programs_drained(int *remains); // gives back the slots that unloaded programs kept

StandinCompiled *programs_cached(NSString *identity); // autoreleased, or nil
void programs_cache(NSString *identity, StandinCompiled *program);
void programs_purge(NSString *identity);

void programs_set_wall(int64_t programs); // slots of the machine; 0 means 126
uint64_t programs_load(StandinLoad *load);   // the handle, or 0 if all slots are taken
StandinLoad *programs_loaded(uint64_t handle); // autoreleased, or nil
BOOL programs_unload(uint64_t handle, const int *remains); // NO if it was not loaded

// ---- slots.m ----

int slots_open(const char *path); // the pool that the machine's processes share; NULL: of this process. 0 or 1
int slots_take(int64_t slot);     // 0 if another process has it
void slots_give(int64_t slot);

void programs_note_residency(BOOL wired); // a load had the option

void programs_count(standin_counts *out);
void programs_add_evaluation(void);

#pragma GCC visibility pop

#endif
