// Memory must stay flat over many evaluations, exceptions and program lives: flat PLANT ROUNDS.
// A leak grows in every part, so the least growth of several parts distinguishes it from a cache that
// fills. Run it with GLIBC_TUNABLES=glibc.malloc.tcache_count=0: otherwise glibc counts the threads'
// caches as used.
#include "gate.h"

#include <malloc.h>

static struct gate g;
static struct job j;

static void evaluate(void) {
    if (aneb_evaluate(j.p, j.r, QOS, NULL) != ANEB_OK) CHECK("evaluate", 0);
}

static void exception(void) {
    aneb_error e;
    if (aneb_evaluate(j.p, j.r, QOS, &e) != ANEB_EXCEPTION) CHECK("exception", 0);
}

static void program(void) {
    struct job own = {0};
    char text[32];
    if (job_begin(&g, &own, fresh_text(text), NULL) != ANEB_OK || aneb_evaluate(own.p, own.r, QOS, NULL) != ANEB_OK)
        CHECK("program", 0);
    aneb_program_purge(own.p, NULL);
    job_end(&own);
}

static int64_t in_use(void) {
    struct mallinfo2 all = mallinfo2();
    return (int64_t)(all.uordblks + all.hblkhd);
}

static void flat(const char *what, void (*one)(void), int rounds) {
    enum { stretches = 5 };
    int64_t least = INT64_MAX;
    for (int s = 0; s < stretches; s++) {
        int64_t before = in_use();
        for (int i = 0; i < rounds / stretches; i++) {
            one();
            plant(&g, &j);
        }
        int64_t growth = in_use() - before;
        if (growth < least) least = growth;
    }
    printf("  %d rounds of %s: least growth of %d stretches %lld bytes\n", rounds, what, stretches, (long long)least);
    CHECK(what, least < 8 * rounds / stretches); // an allocation takes at least 32 bytes of the heap
}

int main(int argc, char **argv) {
    gate_start(argc, argv);
    int rounds = argc > 2 ? atoi(argv[2]) : 100000;
    char text[32];
    CHECK("open", gate_open(&g, NULL) == ANEB_OK && job_begin(&g, &j, fresh_text(text), NULL) == ANEB_OK);
    CHECK("memory can be counted", in_use() > 0); // not under AddressSanitizer and valgrind
    flat("evaluations are flat", evaluate, rounds);
    standin_fault("evaluateWithQoS:options:request:error:", STANDIN_EXCEPTION, -1, 0);
    flat("exceptions are flat", exception, rounds);
    standin_clear_faults();
    flat("program lives are flat", program, rounds / 20);
    job_end_planted(&j);
    gate_end(&g);
    return driver_failures != 0;
}
