// Every method that the bridge calls, with every fault that it supports: the bridge must return the
// error of bridge.h in its stage and leak nothing, and the next life must work.
#include "gate.h"

// The expected outcome of a life. For a fault: its kind in stage; ANEB_OK if the bridge has another way.
struct expected {
    const char *selector;
    int32_t stage;
    int32_t none; // mask of faults without effect here
    const char *also; // a second method with the same fault; NULL for none
};

enum { NIL = 1 << STANDIN_NIL, NO_ = 1 << STANDIN_NO, RAISES = 1 << STANDIN_EXCEPTION };

static const struct expected table[] = {
    {"modelWithMILText:weights:optionsPlist:", ANEB_CREATE, 0, NULL},
    {"inMemoryModelWithDescriptor:", ANEB_CREATE, 0, NULL},
    {"hexStringIdentifier", ANEB_CREATE, 0, NULL},
    {"localModelPath", ANEB_CREATE, 0, NULL},
    {"compiledModelExists", ANEB_COMPILE, NO_, NULL},
    {"compileWithQoS:options:error:", ANEB_COMPILE, 0, NULL},
    {"loadWithQoS:options:error:", ANEB_LOAD, 0, NULL},
    {"modelAttributes", ANEB_DESCRIBE, 0, "_ANEModel modelAttributes"},
    {"_ANEModel modelAttributes", ANEB_DESCRIBE, NIL | RAISES, NULL}, // the in-memory model answers
    {"model", ANEB_DESCRIBE, NIL | RAISES, NULL},
    {"programHandle", ANEB_DESCRIBE, 0, NULL},
    {"intermediateBufferHandle", ANEB_DESCRIBE, 0, NULL},
    {"queueDepth", ANEB_DESCRIBE, 0, NULL},
    {"state", ANEB_DESCRIBE, 0, NULL},
    {"perfStatsMask", ANEB_DESCRIBE, 0, NULL},
    {"requestWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:perfStats:procedureIndex:", ANEB_REQUEST, 0, NULL},
    {"evaluateWithQoS:options:request:error:", ANEB_EVALUATE, 0, NULL},
    {"validate", ANEB_EVALUATE, 0, NULL},
    {"unloadWithQoS:error:", ANEB_UNLOAD, 0, NULL},
    {"purgeCompiledModel", ANEB_PURGE, 0, NULL},
    {"objectWithIOSurface:", ANEB_SURFACE, 0, NULL},
    {"hasANE", ANEB_DEVICE, NO_, NULL},
    {"isVirtualMachine", ANEB_DEVICE, NO_, NULL},
    {"isInternalBuild", ANEB_DEVICE, NO_, NULL},
    {"numANEs", ANEB_DEVICE, 0, NULL},
    {"numANECores", ANEB_DEVICE, 0, NULL},
    {"aneBoardType", ANEB_DEVICE, 0, NULL},
    {"aneArchitectureType", ANEB_DEVICE, NIL, NULL},
    {"aneSubType", ANEB_DEVICE, NIL, NULL},
    {"aneSubTypeVariant", ANEB_DEVICE, NIL, NULL},
    {"productName", ANEB_DEVICE, NIL, NULL},
    {"buildVersion", ANEB_DEVICE, NIL, NULL},
};

static int32_t kind_of(int32_t fault) {
    switch (fault) {
    case STANDIN_EXCEPTION: return ANEB_EXCEPTION;
    case STANDIN_NIL: return ANEB_NIL;
    case STANDIN_NO: return ANEB_NO;
    case STANDIN_NO_ERROR: return ANEB_NSERROR;
    case STANDIN_YES_ERROR: return ANEB_CONTRADICTION;
    default: return ANEB_OK;
    }
}

// Runs from open to purge until a call fails, and then releases everything.
static int32_t life(const char *text, aneb_error *e) {
    struct gate g = {0};
    struct job j = {0};
    aneb_device d;
    char attributes[TEXT];
    aneb_program_facts facts;
    size_t length = 0;
    int32_t kind = gate_open(&g, e);
    if (kind == ANEB_OK) kind = aneb_device_info(g.a, &d, e);
    if (kind == ANEB_OK) kind = job_begin(&g, &j, text, e);
    if (kind == ANEB_OK) kind = aneb_program_attributes(j.p, attributes, sizeof attributes, &length, e);
    if (kind == ANEB_OK) kind = aneb_program_inspect(j.p, &facts, e);
    if (kind == ANEB_OK) kind = aneb_evaluate(j.p, j.r, QOS, e);
    if (kind == ANEB_OK) kind = aneb_program_purge(j.p, e);
    if (kind == ANEB_OK) kind = aneb_program_unload(j.p, QOS, e);
    job_end(&j);
    if (gate_close(&g, NULL) != ANEB_OK) abort();
    return kind;
}

static void *life_of(void *result) {
    *(int32_t *)result = life("hangs", NULL);
    return NULL;
}

static int64_t hanging(void) {
    standin_counts c;
    standin_count(&c);
    return c.hanging;
}

// The method does not return until it is released.
static int32_t hang(void) {
    int32_t kind = -1;
    pthread_t thread;
    pthread_create(&thread, NULL, life_of, &kind);
    int hung = SETTLED(hanging() == 1);
    standin_release_hangs();
    pthread_join(thread, NULL);
    return hung ? kind : -1;
}

// A failed load is retried once, so it must fail twice.
static int32_t times(struct expected row, int32_t fault) {
    return row.stage == ANEB_LOAD && (fault == STANDIN_NO || fault == STANDIN_NO_ERROR) ? 2 : 1;
}

// Reports whether the fault has the expected outcome.
static int gives(struct expected row, int32_t fault) {
    aneb_error e = {0};
    char text[32];
    if (standin_fault(row.selector, fault, times(row, fault), 7)) return -1;
    if (row.also && standin_fault(row.also, fault, times(row, fault), 7)) return -1;
    int32_t kind = fault == STANDIN_HANG ? hang() : life(fresh_text(text), &e);
    standin_clear_faults();
    standin_purge_all();
    int32_t want = row.none >> fault & 1 ? ANEB_OK : kind_of(fault);
    int ok = kind == want && (want == ANEB_OK || (e.kind == want && e.stage == row.stage));
    if (want == ANEB_EXCEPTION) ok = ok && !strcmp(e.exception, "NSInternalInconsistencyException");
    if (want == ANEB_NSERROR || want == ANEB_CONTRADICTION) ok = ok && e.code == 7;
    if (!ok) printf("  kind %d, stage %d, code %lld: %s\n", kind, e.stage, (long long)e.code, e.message);
    int left = !SETTLED(framework_holds() == 0) || bridge_holds() != 0;
    if (left) printf("  left: %lld, %lld\n", (long long)framework_holds(), (long long)bridge_holds());
    return ok && !left;
}

static void faults(struct expected row) {
    int tried = 0;
    for (int32_t fault = STANDIN_EXCEPTION; fault <= STANDIN_HANG; fault++) {
        char what[160];
        int ok = gives(row, fault);
        snprintf(what, sizeof what, "%s, fault %d", row.selector, fault);
        if (ok >= 0) CHECK(what, ok);
        tried += ok >= 0;
    }
    char text[32];
    CHECK("it supports faults, and works afterwards", tried > 0 && life(fresh_text(text), NULL) == ANEB_OK);
    standin_purge_all();
}

// Checks that every row of the self-check is in the table.
static void complete(aneb *a) {
    aneb_check rows[64];
    int32_t count = 0;
    aneb_self_check(a, rows, 64, &count, NULL);
    CHECK("rows", count > 0 && count <= 64);
    for (int32_t i = 0; i < count && i < 64; i++) {
        int listed = 0;
        for (size_t k = 0; k < sizeof table / sizeof *table; k++) listed |= !strcmp(table[k].selector, rows[i].selector);
        CHECK(rows[i].selector, listed);
    }
}

// IOKit's two functions that may find nothing.
static void registry(aneb *a) {
    static const struct { const char *function; int32_t kind; } kinds[] = {
        {"IOServiceGetMatchingService", ANEB_MISSING}, {"IORegistryEntryCreateCFProperty", ANEB_NIL}};
    aneb_error e;
    char text[1024];
    size_t length;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        standin_fault(kinds[i].function, STANDIN_NIL, 1, 0);
        CHECK(kinds[i].function, aneb_registry(a, text, sizeof text, &length, &e) == kinds[i].kind && e.stage == ANEB_DEVICE);
        CHECK("the registry after the fault",
              aneb_registry(a, text, sizeof text, &length, &e) == ANEB_OK && length > 0);
    }
}

// The rows of the self-check and the registry; then everything is released.
static void others(void) {
    struct gate g = {0};
    struct job j = {0};
    char text[32];
    CHECK("open", gate_open(&g, NULL) == ANEB_OK && job_begin(&g, &j, fresh_text(text), NULL) == ANEB_OK);
    complete(g.a);
    registry(g.a);
    plant(&g, &j);
    job_end_planted(&j);
    gate_end(&g);
}

int main(int argc, char **argv) {
    gate_start(argc, argv);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) faults(table[i]);
    others();
    return driver_failures != 0;
}
