// Every function of bridge.h, with rejected calls in between, from one thread and from 64.
#include "gate.h"

static void describes(aneb *a) {
    aneb_check rows[64];
    aneb_device d;
    char text[4096];
    int32_t count = 0;
    size_t length = 0;
    CHECK("version", aneb_version() == ANEB_VERSION);
    CHECK("self-check", aneb_self_check(a, rows, 64, &count, NULL) == ANEB_OK && count > 20 && count <= 64);
    CHECK("device", aneb_device_info(a, &d, NULL) == ANEB_OK && d.has_ane == 1 && d.architecture[0]);
    CHECK("registry", aneb_registry(a, text, sizeof text, &length, NULL) == ANEB_OK && strlen(text) == length && length);
}

static void surface(struct gate *g) {
    aneb_error e;
    aneb_surface *s = NULL, *none = NULL;
    CHECK("wrap", aneb_surface_wrap(g->a, g->in, 0, &s, &e) == ANEB_OK);
    CHECK("an offset is rejected",
          aneb_surface_wrap(g->a, g->in, 64, &none, &e) == ANEB_REFUSED && e.code == ANEB_OFFSET);
    aneb_surface_release(s);
    CHECK("lock", aneb_surface_lock(g->x, &e) == ANEB_OK && standin_surface_locks(g->in) == 1);
    CHECK("close while surfaces live", aneb_close(g->a, &e) == ANEB_REFUSED && e.code == ANEB_STATE);
    CHECK("unlock", aneb_surface_unlock(g->x, &e) == ANEB_OK && standin_surface_locks(g->in) == 0);
    CHECK("unlock twice", aneb_surface_unlock(g->x, &e) == ANEB_NO);
}

static void refusals(struct gate *g, struct job *j) {
    aneb_error e;
    aneb_request *r = NULL;
    IOSurfaceRef few = surface_of(64);
    aneb_surface *small = NULL;
    aneb_surface_wrap(g->a, few, 0, &small, NULL);
    aneb_binding x = {g->x, 0, 256}, wrong = {g->y, 300, 256}, little = {small, 0, 256};
    CHECK("a short surface", aneb_request_create(j->p, 0, &x, 1, &little, 1, &r, &e) == ANEB_REFUSED && e.code == ANEB_SHORT);
    CHECK("a wrong index", aneb_request_create(j->p, 0, &x, 1, &wrong, 1, &r, &e) == ANEB_REFUSED && e.code == ANEB_INDEX);
    CHECK("a wrong procedure", aneb_request_create(j->p, 129, &x, 1, &x, 1, &r, &e) == ANEB_REFUSED && e.code == ANEB_INDEX);
    CHECK("compile twice", aneb_program_compile(j->p, QOS, NULL, &e) == ANEB_REFUSED && e.code == ANEB_STATE);
    aneb_surface_release(small);
    CFRelease(few);
    aneb_program *p = NULL;
    aneb_program_create(g->a, "bad", 3, NULL, 0, &p, NULL);
    CHECK("load before compile", aneb_program_load(p, QOS, &e) == ANEB_REFUSED && e.code == ANEB_STATE);
    CHECK("bad text", aneb_program_compile(p, QOS, NULL, &e) == ANEB_NSERROR && e.domain[0]);
    aneb_program_release(p);
}

static void lives(struct gate *g) {
    aneb_error e = {0};
    struct job j = {0};
    char text[32];
    CHECK("create, compile, load, request", job_begin(g, &j, fresh_text(text), &e) == ANEB_OK);
    char attributes[TEXT] = "";
    aneb_program_facts facts;
    size_t length = 0, again = 0;
    CHECK("attributes", aneb_program_attributes(j.p, attributes, sizeof attributes - 1, &length, &e) == ANEB_OK &&
                            length < sizeof attributes && attributes[0] == '{' && strstr(attributes, "y@output") != NULL);
    CHECK("only their length", aneb_program_attributes(j.p, NULL, 0, &again, &e) == ANEB_OK && again == length);
    CHECK("inspect", aneb_program_inspect(j.p, &facts, &e) == ANEB_OK && facts.loaded && facts.queue_depth == 127);
    bytes_of(g->in)[7] = 41;
    CHECK("evaluate", aneb_evaluate(j.p, j.r, QOS, &e) == ANEB_OK && bytes_of(g->out)[7] == 42 && bytes_of(g->out)[8] == 1);
    refusals(g, &j);
    CHECK("unload", aneb_program_unload(j.p, QOS, &e) == ANEB_OK);
    CHECK("evaluate after unload", aneb_evaluate(j.p, j.r, QOS, &e) == ANEB_REFUSED && e.code == ANEB_STATE);
    CHECK("load from the cache", aneb_program_load(j.p, QOS, &e) == ANEB_OK && aneb_evaluate(j.p, j.r, QOS, &e) == ANEB_OK);
    CHECK("purge", aneb_program_purge(j.p, &e) == ANEB_OK);
    plant(g, &j);
    job_end_planted(&j);
}

enum { THREADS = 64 };

static struct gate *shared;
static struct job common;
static _Atomic int wrong;

static void *several(void *number) {
    enum { rounds = 20 };
    struct job own = common;
    char text[32];
    snprintf(text, sizeof text, "thread %ld", (long)(intptr_t)number % 8); // eight threads per identity
    wrong += job_request(shared, &own, NULL) != ANEB_OK;
    for (int i = 0; i < rounds; i++) {
        wrong += aneb_evaluate(own.p, own.r, QOS, NULL) != ANEB_OK;
        if (i % 10) continue;
        struct job mine = {0};
        wrong += job_begin(shared, &mine, text, NULL) != ANEB_OK;
        job_end(&mine);
    }
    aneb_request_release(own.r);
    return NULL;
}

static void threads(struct gate *g) {
    pthread_t all[THREADS];
    char text[32];
    shared = g;
    CHECK("a program for all threads", job_begin(g, &common, fresh_text(text), NULL) == ANEB_OK);
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&all[i], NULL, several, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(all[i], NULL);
    CHECK("64 threads: every run", wrong == 0);
    job_end(&common);
}

int main(int argc, char **argv) {
    gate_start(argc, argv);
    struct gate g = {0};
    CHECK("open", gate_open(&g, NULL) == ANEB_OK);
    describes(g.a);
    surface(&g);
    lives(&g);
    threads(&g);
    gate_end(&g);
    return driver_failures != 0;
}
