// A bridge without a framework, for tests of the Go side. The arguments select its behaviour: the QoS of
// a run, the framework's path, a program's text. It ends the process if a handle is used after its
// release, released twice or during a call, or if a text changed while it was borrowed.
#include "bridge.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef FAKE_VERSION
#define FAKE_VERSION ANEB_VERSION
#endif

enum { ALIVE = 0x600d, GONE = 0xdead };
struct head {
    int magic, users;
    int64_t *count;
    aneb *owner;
};
struct aneb { struct head head; int64_t alive; int missing, many; };
struct aneb_surface { struct head head; int locked; };
struct aneb_program {
    struct head head;
    const unsigned char *text;
    size_t size, weight_size;
    const unsigned char *weight;
    unsigned sum;
    int loaded, many;
};
struct aneb_request { struct head head; };

static aneb_usage usage;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int64_t hanging, releases;

static void die(const char *why) {
    fprintf(stderr, "fakebridge: %s\n", why);
    abort();
}

static void *make(size_t size, int64_t *count, aneb *owner) {
    struct head *h = calloc(1, size);
    h->magic = ALIVE;
    h->count = count;
    h->owner = owner;
    pthread_mutex_lock(&mutex);
    ++*count;
    if (owner != NULL) owner->alive++;
    pthread_mutex_unlock(&mutex);
    return h;
}

// Released handles stay allocated, so that later uses are detected.
static void take(void *handle, int users) {
    struct head *h = handle;
    pthread_mutex_lock(&mutex);
    if (h->magic != ALIVE) die("a handle was used after its release");
    h->users += users;
    pthread_mutex_unlock(&mutex);
}

static void end(void *handle) {
    struct head *h = handle;
    pthread_mutex_lock(&mutex);
    if (h->magic != ALIVE) die("a handle was released twice");
    if (h->users != 0) die("a handle was released during a call");
    h->magic = GONE;
    --*h->count;
    if (h->owner != NULL) h->owner->alive--;
    pthread_mutex_unlock(&mutex);
}

static int32_t fail(aneb_error *e, int32_t kind, int32_t stage, int64_t code, const char *message) {
    if (e == NULL) return kind;
    memset(e, 0, sizeof *e);
    e->kind = kind;
    e->stage = stage;
    e->code = code;
    snprintf(e->message, sizeof e->message, "%s", message);
    return kind;
}

void fake_nothing(void) {}
uint32_t aneb_version(void) { return FAKE_VERSION; }

int32_t aneb_open(const aneb_config *config, aneb **out, aneb_error *error) {
    if (strcmp(config->framework, "none") == 0)
        return fail(error, ANEB_MISSING, ANEB_OPEN, 0, "no framework\nat none");
    static int64_t frameworks;
    aneb *a = make(sizeof *a, &frameworks, NULL);
    a->missing = strcmp(config->framework, "missing") == 0;
    a->many = config->iokit != NULL && strcmp(config->iokit, "many") == 0;
    usage.program_limit = config->program_limit ? config->program_limit : 100;
    *out = a;
    return ANEB_OK;
}

int32_t aneb_close(aneb *a, aneb_error *error) {
    take(a, 0);
    pthread_mutex_lock(&mutex);
    const int64_t alive = a->alive;
    pthread_mutex_unlock(&mutex);
    if (alive > 0)
        return fail(error, ANEB_REFUSED, ANEB_CLOSE, ANEB_STATE, "something is alive");
    end(a);
    return ANEB_OK;
}

int32_t aneb_self_check(aneb *a, aneb_check *rows, int32_t capacity, int32_t *count, aneb_error *error) {
    take(a, 0);
    *count = a->many ? 100 : 2;
    for (int32_t i = 0; i < *count && i < capacity; i++)
        rows[i] = (aneb_check){"_ANEModel", i == 0 ? "first" : "other", "B@:I", i == 0 ? "B@:I" : NULL, "compile", i == 0, 1,
                               i > 0 && a->missing ? ANEB_NO_SELECTOR : ANEB_FOUND};
    return a->missing ? fail(error, ANEB_MISSING, ANEB_CHECK, 0, "1 method is missing") : ANEB_OK;
}

int32_t aneb_folders_now(aneb *a, aneb_folders *out, aneb_error *error) {
    (void)error;
    take(a, 0);
    *out = (aneb_folders){1, 1, "/p/", "/u/"};
    return ANEB_OK;
}

int32_t aneb_device_info(aneb *a, aneb_device *out, aneb_error *error) {
    take(a, 0);
    if (a->missing) return fail(error, ANEB_MISSING, ANEB_DEVICE, 0, "1 method is missing");
    *out = (aneb_device){.has_ane = 1, .virtual_machine = 0, .internal_build = -1, .engines = 2, .cores = 16, .board = 1LL << 40,
                         .architecture = "h13g", .subtype = "h13", .variant = "g", .product = "macOS", .build = "25E246"};
    return ANEB_OK;
}

int32_t aneb_registry(aneb *a, char *text, size_t capacity, size_t *length, aneb_error *error) {
    take(a, 0);
    if (a->missing) return fail(error, ANEB_MISSING, ANEB_DEVICE, 0, "1 method is missing");
    static const char line[] = "H11ANEIn\tANEDevicePropertyNumANECores\t16\n";
    const size_t lines = a->many ? 10 : 1;
    *length = lines * (sizeof line - 1);
    for (size_t i = 0; i < *length && i + 1 < capacity; i++) {
        text[i] = line[i % (sizeof line - 1)];
        text[i + 1] = 0;
    }
    return ANEB_OK;
}

int32_t aneb_surface_wrap(aneb *a, void *iosurface, size_t offset, aneb_surface **out, aneb_error *error) {
    take(a, 0);
    if (iosurface == NULL) return fail(error, ANEB_NIL, ANEB_SURFACE, 0, "no surface");
    if (offset != 0) return fail(error, ANEB_REFUSED, ANEB_SURFACE, ANEB_OFFSET, "not at byte 0");
    *out = make(sizeof **out, &usage.surfaces, a);
    (*out)->locked = 1;
    return ANEB_OK;
}

int32_t aneb_surface_unlock(aneb_surface *s, aneb_error *error) {
    take(s, 0);
    if (!s->locked) return fail(error, ANEB_REFUSED, ANEB_SURFACE, ANEB_STATE, "not locked");
    s->locked = 0;
    return ANEB_OK;
}

int32_t aneb_surface_lock(aneb_surface *s, aneb_error *error) {
    take(s, 0);
    if (s->locked) return fail(error, ANEB_REFUSED, ANEB_SURFACE, ANEB_STATE, "locked");
    s->locked = 1;
    return ANEB_OK;
}

void aneb_surface_release(aneb_surface *s) { end(s); }

static unsigned sum_of(const aneb_program *p) {
    unsigned sum = 0;
    for (size_t i = 0; i < p->size; i++) sum = sum * 31 + p->text[i];
    for (size_t i = 0; i < p->weight_size; i++) sum = sum * 31 + p->weight[i];
    return sum;
}

int32_t aneb_program_create(aneb *a, const void *text, size_t size, const aneb_weight *weights, int32_t count,
                            aneb_program **out, aneb_error *error) {
    take(a, 0);
    if (text == NULL || size == 0) return fail(error, ANEB_REFUSED, ANEB_CREATE, ANEB_ARGUMENT, "empty text");
    for (int32_t i = 0; i < count; i++)
        if (strncmp(weights[i].path, "@model_path/", 12) != 0)
            return fail(error, ANEB_REFUSED, ANEB_CREATE, ANEB_ARGUMENT, weights[i].path);
    aneb_program *p = make(sizeof *p, &usage.programs, a);
    p->text = text;
    p->size = size;
    p->many = size == 4 && memcmp(text, "many", 4) == 0;
    if (count > 0) {
        p->weight = weights[count - 1].data;
        p->weight_size = weights[count - 1].size;
    }
    p->sum = sum_of(p);
    *out = p;
    return ANEB_OK;
}

int32_t aneb_program_compile(aneb_program *p, uint32_t qos, int32_t *cached, aneb_error *error) {
    take(p, 0);
    if (qos == 1) {
        fail(error, ANEB_NSERROR, ANEB_COMPILE, 1, "_ANECompiler : ANECCompile() FAILED");
        strcpy(error->domain, "com.apple.appleneuralengine.compiler");
        return ANEB_NSERROR;
    }
    *cached = qos == 9;
    usage.compiles += !*cached;
    return ANEB_OK;
}

int32_t aneb_program_load(aneb_program *p, uint32_t qos, aneb_error *error) {
    take(p, 0);
    if (qos == 0) return fail(error, ANEB_NO, ANEB_LOAD, 0, "");
    p->loaded = 1;
    return ANEB_OK;
}

int32_t aneb_program_unload(aneb_program *p, uint32_t qos, aneb_error *error) {
    (void)qos;
    take(p, 0);
    if (!p->loaded) return fail(error, ANEB_REFUSED, ANEB_UNLOAD, ANEB_STATE, "not loaded");
    p->loaded = 0;
    return ANEB_OK;
}

int32_t aneb_program_reside(aneb_program *p, int32_t residency, aneb_error *error) {
    (void)error;
    take(p, 0);
    if (residency < 0) die("a negative residency");
    return ANEB_OK;
}

void aneb_program_patience(aneb_program *p, int64_t milliseconds) {
    take(p, 0);
    if (milliseconds < 0) die("a negative patience");
}

int32_t aneb_program_purge(aneb_program *p, aneb_error *error) {
    take(p, 0);
    return p->loaded ? fail(error, ANEB_EXCEPTION, ANEB_PURGE, 0, "loaded") : ANEB_OK;
}

void aneb_program_release(aneb_program *p) {
    if (sum_of(p) != p->sum) die("a borrowed text changed before its program was released");
    end(p);
}

int32_t aneb_program_inspect(aneb_program *p, aneb_program_facts *out, aneb_error *error) {
    (void)error;
    take(p, 0);
    *out = (aneb_program_facts){"A_B_C", "dir/A_B_C", 7, 0, 3, p->loaded, 127, 5, {0}};
    if (p->many) {
        fail(&out->recovered, ANEB_NSERROR, ANEB_LOAD, 53, "refused");
        strcpy(out->recovered.causes, "domain\t-7\tthe first\ncut off");
        out->recovered.load_stage = 4;
    }
    return ANEB_OK;
}

int32_t aneb_program_attributes(aneb_program *p, char *text, size_t capacity, size_t *length, aneb_error *error) {
    take(p, 0);
    if (!p->loaded) return fail(error, ANEB_REFUSED, ANEB_DESCRIBE, ANEB_STATE, "not loaded");
    *length = p->many ? 100 << 10 : 2;
    for (size_t i = 0; i < *length && i < capacity; i++) text[i] = i == 0 ? '{' : i + 1 == *length ? '}' : ' ';
    return ANEB_OK;
}

int32_t aneb_request_create(aneb_program *p, int32_t procedure, const aneb_binding *in, int32_t in_count,
                            const aneb_binding *out, int32_t out_count, aneb_request **made, aneb_error *error) {
    take(p, 0);
    if (in_count < 1 || out_count < 1 || procedure > 1)
        return fail(error, ANEB_REFUSED, ANEB_REQUEST, ANEB_INDEX, "nothing bound");
    for (int32_t i = 0; i < in_count; i++) {
        take(in[i].surface, 0);
        if (in[i].bytes > 1 << 20) return fail(error, ANEB_REFUSED, ANEB_REQUEST, ANEB_SHORT, "short");
    }
    for (int32_t i = 0; i < out_count; i++) take(out[i].surface, 0);
    *made = make(sizeof **made, &usage.requests, p->head.owner);
    return ANEB_OK;
}

void aneb_request_release(aneb_request *r) { end(r); }

// The QoS of a run selects its behaviour.
enum { BAD_STATUS = 1, NO_ERROR = 2, RAISE = 3, YES_ERROR = 4, LACKING = 5, TOO_SHORT = 6, HANG = 7, RELEASE = 8, NO_RECORD = 9, LONG = 10 };
static int32_t answer(uint32_t qos, aneb_error *e) {
    switch (qos) {
    case BAD_STATUS:
    case YES_ERROR:
        fail(e, qos == BAD_STATUS ? ANEB_NSERROR : ANEB_CONTRADICTION, ANEB_EVALUATE, 8,
             "ANEProgramProcessRequestDirect() Failed with status=0x1d : statusType=0x9");
        strcpy(e->domain, "com.apple.appleneuralengine");
        e->has_status = 1;
        e->status = 0x1d;
        e->status_type = 9;
        return e->kind;
    case NO_ERROR:
        return fail(e, ANEB_NO, ANEB_EVALUATE, 0, "");
    case RAISE:
        fail(e, ANEB_EXCEPTION, ANEB_EVALUATE, 0, "unrecognized selector");
        strcpy(e->exception, "NSInvalidArgumentException");
        return e->kind;
    case LACKING:
        return fail(e, ANEB_MISSING, ANEB_EVALUATE, 0, "no such selector");
    case TOO_SHORT:
        return fail(e, ANEB_REFUSED, ANEB_EVALUATE, ANEB_SHORT, "input x has 64 bytes, needs 512");
    case NO_RECORD:
        return ANEB_NO;
    case LONG:
        fail(e, ANEB_NO, ANEB_EVALUATE, 0, "");
        memset(e->message, 'x', sizeof e->message);
        e->message[sizeof e->message - 1] = (char)0xc3;
        return e->kind;
    default:
        return ANEB_OK;
    }
}

int32_t aneb_evaluate(aneb_program *p, aneb_request *r, uint32_t qos, aneb_error *error) {
    take(p, 1);
    take(r, 1);
    pthread_mutex_lock(&mutex);
    if (qos == HANG) {
        const int64_t before = releases;
        hanging++;
        pthread_cond_broadcast(&changed);
        while (releases == before) pthread_cond_wait(&changed, &mutex);
        hanging--;
    } else if (qos == RELEASE) {
        while (hanging == 0) pthread_cond_wait(&changed, &mutex);
        releases++;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&mutex);
    const int32_t kind = answer(qos, error);
    take(p, -1);
    take(r, -1);
    return kind;
}

void aneb_usage_now(aneb_usage *out) {
    pthread_mutex_lock(&mutex);
    *out = usage;
    pthread_mutex_unlock(&mutex);
}
