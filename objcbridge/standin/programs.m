// The broker's side: compiles, cache and loaded programs.
#import "programs.h"

#include <pthread.h>

// Real machines have limits of 54 to 239 programs, depending on the chip and the programs' memory.
// Callers without autorelease pools met failures after 119 compiles.
enum { MOST_REMAINS = 119, DEFAULT_WALL = 126, MOST_LOADS = 4095 };

static struct {
    pthread_mutex_t mutex;
    NSMutableDictionary *cache; // identity to StandinCompiled
    struct {
        StandinLoad *load;
        const int *keeper; // of an unloaded program: what keeps its slot
        uint64_t generation;
    } loads[MOST_LOADS];
    int64_t compiles, remains, loaded, held, wall;
    int64_t total, procedures; // loads since the start; procedures of the loaded programs
    int64_t evaluations, wired, pageable;
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER, .wall = DEFAULT_WALL};

@implementation StandinCompiled

- (void)dealloc {
    if (core.server.drop_program) core.server.drop_program(core.server.context, number);
    [super dealloc];
}

@end

void programs_remain(int *remains) {
    pthread_mutex_lock(&state.mutex);
    state.remains++;
    ++*remains;
    pthread_mutex_unlock(&state.mutex);
}

static void give_locked(int64_t i) {
    state.loads[i].keeper = NULL;
    state.held--;
    slots_give(i);
}

void programs_drained(int *remains) {
    pthread_mutex_lock(&state.mutex);
    state.remains--;
    if (--*remains == 0)
        for (int64_t i = 0; i < MOST_LOADS && state.held > state.loaded; i++)
            if (state.loads[i].keeper == remains) give_locked(i);
    pthread_mutex_unlock(&state.mutex);
}

enum compile_result programs_compile(NSString *directory, StandinCompiled **program) {
    pthread_mutex_lock(&state.mutex);
    int allowed = state.remains < MOST_REMAINS;
    if (allowed) state.compiles++;
    pthread_mutex_unlock(&state.mutex);
    if (!allowed) return COMPILE_LEAKED;
    uint64_t number = 0;
    char message[4096] = "";
    int32_t result = STANDIN_INVALID;
    if (core.server.compile)
        result = core.server.compile(core.server.context, [directory fileSystemRepresentation], &number, message,
                                     sizeof message);
    if (result != STANDIN_COMPILED) {
        message[sizeof message - 1] = 0;
        core_log(@"standin: compiler: %s", message);
        return (enum compile_result)result;
    }
    *program = [[[StandinCompiled alloc] init] autorelease];
    (*program)->number = number;
    return COMPILE_DONE;
}

StandinCompiled *programs_cached(NSString *identity) {
    pthread_mutex_lock(&state.mutex);
    StandinCompiled *found = [[state.cache objectForKey:identity] retain];
    pthread_mutex_unlock(&state.mutex);
    return [found autorelease];
}

// Removes or sets an entry. Releases the old one outside the lock, as that calls the server.
static void replace(NSString *identity, StandinCompiled *program) {
    pthread_mutex_lock(&state.mutex);
    if (!state.cache) state.cache = [[NSMutableDictionary alloc] init];
    StandinCompiled *old = [[state.cache objectForKey:identity] retain];
    if (program)
        [state.cache setObject:program forKey:identity];
    else
        [state.cache removeObjectForKey:identity];
    pthread_mutex_unlock(&state.mutex);
    [old release];
}

void programs_cache(NSString *identity, StandinCompiled *program) { replace(identity, program); }
void programs_purge(NSString *identity) { replace(identity, nil); }

void standin_purge_all(void) {
    pthread_mutex_lock(&state.mutex);
    NSMutableDictionary *old = state.cache;
    state.cache = nil;
    pthread_mutex_unlock(&state.mutex);
    @autoreleasepool {
        [old release];
    }
}

// A handle is a slot's number plus one in the low bits, and the slot's number of uses above it.
enum { SLOT_BITS = 12, SLOT_MASK = (1 << SLOT_BITS) - 1 };

void programs_set_wall(int64_t programs) {
    pthread_mutex_lock(&state.mutex);
    state.wall = programs < 1 ? DEFAULT_WALL : programs > MOST_LOADS ? MOST_LOADS : programs;
    pthread_mutex_unlock(&state.mutex);
}

uint64_t programs_load(StandinLoad *load) {
    uint64_t handle = 0;
    pthread_mutex_lock(&state.mutex);
    for (uint64_t i = 0; i < (uint64_t)state.wall && !handle; i++) {
        if (state.loads[i].load || state.loads[i].keeper || !slots_take((int64_t)i)) continue;
        state.loads[i].load = [load retain];
        handle = ++state.loads[i].generation << SLOT_BITS | (i + 1);
        state.loaded++;
        state.held++;
        state.total++;
        state.procedures += (int64_t)load->procedure_count;
    }
    pthread_mutex_unlock(&state.mutex);
    return handle;
}

// The slot of a loaded handle, or -1.
static int slot_locked(uint64_t handle) {
    int i = (int)(handle & SLOT_MASK) - 1;
    if (i < 0 || i >= MOST_LOADS || !state.loads[i].load || state.loads[i].generation != handle >> SLOT_BITS)
        return -1;
    return i;
}

StandinLoad *programs_loaded(uint64_t handle) {
    pthread_mutex_lock(&state.mutex);
    int i = slot_locked(handle);
    StandinLoad *found = i < 0 ? nil : [state.loads[i].load retain];
    pthread_mutex_unlock(&state.mutex);
    return [found autorelease];
}

BOOL programs_unload(uint64_t handle, const int *remains) {
    pthread_mutex_lock(&state.mutex);
    int i = slot_locked(handle);
    StandinLoad *found = nil;
    if (i >= 0) {
        found = state.loads[i].load;
        state.loads[i].load = nil;
        state.loaded--;
        state.procedures -= (int64_t)found->procedure_count;
        if (*remains > 0)
            state.loads[i].keeper = remains;
        else
            give_locked(i);
    }
    pthread_mutex_unlock(&state.mutex);
    [found release];
    return i >= 0;
}

void programs_add_evaluation(void) { counter_add(&state.evaluations, 1); }

void programs_note_residency(BOOL wired) { counter_add(wired ? &state.wired : &state.pageable, 1); }

void programs_count(standin_counts *out) {
    pthread_mutex_lock(&state.mutex);
    out->compiles = state.compiles;
    out->held = state.held;
    out->cached = (int64_t)[state.cache count];
    out->loaded = state.loaded;
    out->loads = state.total;
    out->procedures = state.procedures;
    pthread_mutex_unlock(&state.mutex);
    out->wired = counter_now(&state.wired);
    out->pageable = counter_now(&state.pageable);
    out->evaluations = counter_now(&state.evaluations);
}
