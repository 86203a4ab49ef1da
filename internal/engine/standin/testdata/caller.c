// A framework without Objective-C: it keeps the arguments of standin_start and calls the server in them,
// from this thread or from new threads.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

static standin_server server;
static char config_text[256];

static void add(const char *word) {
    size_t used = strlen(config_text);
    snprintf(config_text + used, sizeof config_text - used, "%s|", word);
}

int32_t standin_start(const standin_config *config) {
    server = config->server;
    config_text[0] = 0;
    add(config->profile);
    for (const char *const *w = config->missing; *w; w++) add(*w);
    add("changed");
    for (const char *const *w = config->changed; *w; w++) add(*w);
    add(config->pool ? config->pool : "no pool");
    return 0;
}

// Sizes of the structures that the Go side mirrors.
size_t caller_size(int32_t which) {
    switch (which) {
    case 0: return sizeof(standin_config);
    case 1: return sizeof(standin_server);
    case 2: return sizeof(standin_counts);
    default: return sizeof(standin_surface_stats);
    }
}

const char *caller_config(void) { return config_text; }

int32_t caller_compile(const char *directory, uint64_t *program, char *message, size_t capacity) {
    return server.compile(server.context, directory, program, message, capacity);
}

size_t caller_attributes(uint64_t program, char *plist, size_t capacity) {
    return server.attributes(server.context, program, plist, capacity);
}

struct run {
    uint64_t program, request;
    const uint32_t *inputs, *outputs;
    int32_t input_count, output_count;
};

uint32_t caller_evaluate(const struct run *r, uint32_t procedure) {
    return server.evaluate(server.context, r->program, procedure, r->request, r->inputs, r->input_count, r->outputs,
                           r->output_count);
}

static void *work(void *argument) {
    uintptr_t statuses = 0;
    for (int i = 0; i < 200; i++) statuses |= caller_evaluate(argument, 0);
    return (void *)statuses;
}

// The statuses of evaluations on that many threads, combined.
uint32_t caller_threads(const struct run *r, int32_t count) {
    pthread_t threads[64];
    uintptr_t statuses = 0;
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)r)) abort();
    for (int i = 0; i < count; i++) {
        void *result;
        pthread_join(threads[i], &result);
        statuses |= (uintptr_t)result;
    }
    return (uint32_t)statuses;
}

void caller_drop_request(uint64_t request) { server.drop_request(server.context, request); }
void caller_drop_program(uint64_t program) { server.drop_program(server.context, program); }
