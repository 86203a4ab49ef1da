// Live objects by class, as GNUstep counts them for GSDebugAllocationList: further rounds of everything
// must not increase the count of any class.
#include "gate.h"

#import <Foundation/NSDebug.h>

enum { ROUNDS = 50, CLASSES = 4096 };

static struct {
    Class class;
    int count;
} before[CLASSES];

static int known(Class c) {
    for (int i = 0; i < CLASSES && before[i].class; i++)
        if (before[i].class == c) return before[i].count;
    return 0;
}

static void remember(void) {
    Class *all = GSDebugAllocationClassList();
    for (int i = 0; all[i] && i < CLASSES; i++) {
        before[i].class = all[i];
        before[i].count = GSDebugAllocationCount(all[i]);
    }
    NSZoneFree(NSDefaultMallocZone(), all);
}

// Prints classes that grew. A leak of one object per round grows by ROUNDS.
static int grown(int allowed) {
    int classes = 0, seen = 0;
    Class *all = GSDebugAllocationClassList();
    for (int i = 0; all[i]; i++, seen++) {
        int more = GSDebugAllocationCount(all[i]) - known(all[i]);
        const char *name = class_getName(all[i]);
        if (more <= (strncmp(name, "_ANE", 4) ? allowed : 0)) continue;
        printf("  %s: %d more\n", name, more);
        classes++;
    }
    NSZoneFree(NSDefaultMallocZone(), all);
    CHECK("classes were counted", seen > 10);
    return classes;
}

static void failures(struct gate *g, struct job *j) {
    static const int32_t faults[] = {STANDIN_EXCEPTION, STANDIN_NO, STANDIN_NO_ERROR, STANDIN_YES_ERROR};
    aneb_program *p = NULL;
    aneb_error e;
    aneb_program_create(g->a, "bad", 3, NULL, 0, &p, NULL);
    aneb_program_compile(p, QOS, NULL, &e);
    aneb_program_release(p);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        standin_fault("evaluateWithQoS:options:request:error:", faults[i], 1, 8);
        if (aneb_evaluate(j->p, j->r, QOS, &e) == ANEB_OK) CHECK("failure", 0);
    }
}

static void rounds(int count) {
    for (int i = 0; i < count; i++) {
        struct gate g = {0};
        struct job j = {0};
        char text[32], registry[1024];
        size_t length;
        aneb_device d;
        gate_open(&g, NULL);
        if (job_begin(&g, &j, fresh_text(text), NULL) != ANEB_OK) CHECK("begin", 0);
        aneb_device_info(g.a, &d, NULL);
        aneb_registry(g.a, registry, sizeof registry, &length, NULL);
        if (aneb_evaluate(j.p, j.r, QOS, NULL) != ANEB_OK) CHECK("evaluate", 0);
        failures(&g, &j);
        aneb_program_purge(j.p, NULL);
        plant(&g, &j);
        job_end(&j);
        gate_close(&g, NULL);
    }
}

int main(int argc, char **argv) {
    @autoreleasepool {
        GSDebugAllocationActive(YES);
        gate_start(argc, argv);
        rounds(ROUNDS);
        remember();
        rounds(ROUNDS);
        CHECK("no class has more objects", grown(ROUNDS / 10) == 0);
    }
    return driver_failures != 0;
}
