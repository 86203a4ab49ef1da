// Faults: methods that are made to misbehave.
#import "core.h"

#import <objc/runtime.h>
#include <pthread.h>
#include <string.h>

#import "replay.h"

enum {
    ANY = 1 << STANDIN_EXCEPTION | 1 << STANDIN_HANG,
    OBJECT = ANY | 1 << STANDIN_NIL,
    FLAG = ANY | 1 << STANDIN_NO,
    RESULT = FLAG | 1 << STANDIN_NO_ERROR | 1 << STANDIN_YES_ERROR,
    ASYNCHRONOUS = 1 << STANDIN_LATE | 1 << STANDIN_TWICE | 1 << STANDIN_NEVER | 1 << STANDIN_ASYNC_ERROR,
    EVALUATE = RESULT | ASYNCHRONOUS | 1 << STANDIN_LOCKED,
};

static struct armed {
    const char *selector;
    unsigned kinds; // mask of the supported faults
    int32_t kind, count;
    int64_t value;
} faults[] = {
    {"modelWithMILText:weights:optionsPlist:", OBJECT, 0, 0, 0},
    {"hexStringIdentifier", OBJECT, 0, 0, 0},
    {"inMemoryModelWithDescriptor:", OBJECT, 0, 0, 0},
    {"localModelPath", OBJECT, 0, 0, 0},
    {"modelAttributes", OBJECT, 0, 0, 0},
    {"_ANEModel modelAttributes", OBJECT, 0, 0, 0}, // of the inner model
    {"model", OBJECT, 0, 0, 0},
    {"program", OBJECT, 0, 0, 0},
    {"compiledModelExists", FLAG, 0, 0, 0},
    {"compileWithQoS:options:error:", RESULT, 0, 0, 0},
    {"loadWithQoS:options:error:", RESULT, 0, 0, 0},
    {"evaluateWithQoS:options:request:error:", EVALUATE, 0, 0, 0},
    {"doEvaluateDirectWithModel:options:request:qos:error:", EVALUATE, 0, 0, 0},
    {"unloadWithQoS:error:", RESULT, 0, 0, 0},
    {"purgeCompiledModel", ANY, 0, 0, 0},
    {"programHandle", ANY, 0, 0, 0},
    {"intermediateBufferHandle", ANY, 0, 0, 0},
    {"queueDepth", ANY, 0, 0, 0},
    {"state", ANY, 0, 0, 0},
    {"perfStatsMask", ANY, 0, 0, 0},
    {"objectWithIOSurface:", OBJECT, 0, 0, 0},
    {"requestWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:perfStats:procedureIndex:", OBJECT, 0, 0, 0},
    {"setCompletionHandler:", ANY, 0, 0, 0},
    {"validate", FLAG, 0, 0, 0},
    {"mapIOSurfacesWithRequest:cacheInference:error:", RESULT, 0, 0, 0},
    {"sharedConnection", OBJECT, 0, 0, 0},
    {"hasANE", FLAG, 0, 0, 0},
    {"isVirtualMachine", FLAG, 0, 0, 0},
    {"isInternalBuild", FLAG, 0, 0, 0},
    {"aneArchitectureType", OBJECT, 0, 0, 0},
    {"aneSubType", OBJECT, 0, 0, 0},
    {"aneSubTypeVariant", OBJECT, 0, 0, 0},
    {"aneBoardType", ANY, 0, 0, 0},
    {"numANEs", ANY, 0, 0, 0},
    {"numANECores", ANY, 0, 0, 0},
    {"productName", OBJECT, 0, 0, 0},
    {"buildVersion", OBJECT, 0, 0, 0},
    {"IOServiceGetMatchingService", 1 << STANDIN_NIL, 0, 0, 0},
    {"IORegistryEntryCreateCFProperty", 1 << STANDIN_NIL, 0, 0, 0},
};

enum { FAULTS = sizeof faults / sizeof faults[0] };

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t released;
    uint64_t releases; // number of releases of hangs
    int64_t hanging;
} hangs = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

static int armed; // number of armed faults, so that usual calls skip the search

int fault_is_asynchronous(int32_t kind) { return kind > 0 && kind < 31 && (ASYNCHRONOUS >> kind & 1); }

static void set_locked(struct armed *a, int32_t kind, int32_t count, int64_t value) {
    counter_add(&armed, (count != 0) - (a->count != 0));
    a->kind = kind;
    a->count = count;
    a->value = value;
}

int32_t standin_fault(const char *selector, int32_t kind, int32_t count, int64_t value) {
    int32_t result = 1;
    pthread_mutex_lock(&hangs.mutex);
    for (int i = 0; selector && i < FAULTS; i++) {
        if (strcmp(faults[i].selector, selector)) continue;
        if (kind < STANDIN_EXCEPTION || kind > STANDIN_LOCKED || count < -1 || !(faults[i].kinds >> kind & 1)) continue;
        set_locked(&faults[i], kind, count, value);
        result = 0;
    }
    pthread_mutex_unlock(&hangs.mutex);
    return result;
}

static void release_locked(int all) {
    for (int i = 0; i < FAULTS; i++)
        if (all || faults[i].kind == STANDIN_HANG) set_locked(&faults[i], 0, 0, 0);
    hangs.releases++;
    pthread_cond_broadcast(&hangs.released);
}

void standin_release_hangs(void) {
    pthread_mutex_lock(&hangs.mutex);
    release_locked(0);
    pthread_mutex_unlock(&hangs.mutex);
}

void standin_clear_faults(void) {
    pthread_mutex_lock(&hangs.mutex);
    release_locked(1);
    pthread_mutex_unlock(&hangs.mutex);
}

static void hang_locked(void) {
    uint64_t now = hangs.releases;
    hangs.hanging++;
    while (hangs.releases == now) pthread_cond_wait(&hangs.released, &hangs.mutex);
    hangs.hanging--;
}

// Uses one call of the method's fault.
static struct fault take_locked(const char *method) {
    for (int i = 0; i < FAULTS; i++) {
        struct armed *a = &faults[i];
        if (a->count == 0 || strcmp(a->selector, method)) continue;
        struct fault f = {a->kind, a->value};
        if (a->count > 0) set_locked(a, a->kind, a->count - 1, a->value);
        return f;
    }
    return (struct fault){0, 0};
}

struct fault fault_enter(SEL method) { return fault_enter_as(sel_getName(method), method); }

struct fault fault_enter_as(const char *name, SEL method) {
    if (counter_now(&armed) == 0) return replay_fault(method);
    pthread_mutex_lock(&hangs.mutex);
    struct fault f = take_locked(name);
    if (f.kind == STANDIN_HANG) hang_locked();
    pthread_mutex_unlock(&hangs.mutex);
    if (f.kind == STANDIN_EXCEPTION) [NSException raise:NSInternalInconsistencyException format:@"stand-in fault in %s", name];
    return f.kind ? f : replay_fault(method);
}

NSError *fault_error(int64_t code, SEL method) {
    return core_error((NSInteger)code, NSStringFromSelector(method), @"stand-in fault");
}

int fault_refuses(struct fault f, SEL method, NSError **error) {
    if (f.kind == STANDIN_NO_ERROR) core_fail(error, fault_error(f.value, method));
    return f.kind == STANDIN_NO || f.kind == STANDIN_NO_ERROR;
}

BOOL fault_leave(struct fault f, SEL method, BOOL done, NSError **error) {
    if (f.kind == STANDIN_YES_ERROR && done) {
        NSError *replayed = replay_contradiction(method);
        core_fail(error, replayed ? replayed : fault_error(f.value, method));
    }
    return done;
}

void fault_count(standin_counts *out) {
    pthread_mutex_lock(&hangs.mutex);
    out->hanging = hangs.hanging;
    pthread_mutex_unlock(&hangs.mutex);
}
