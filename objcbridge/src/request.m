#import "internal.h"
#include <stdlib.h>

enum { most_procedures = 128, most_symbols = 254 }; // the framework's own limits, see -[_ANERequest validate]

// One side of a request.
struct side {
    const char *word;
    const aneb_binding *bindings;
    int32_t given;
};

static int32_t fits(struct side s, const aneb_binding *b, aneb_error *e) {
    if (b->surface == NULL) return aneb_refuse(e, ANEB_REQUEST, ANEB_ARGUMENT, "%s %d has no surface", s.word, b->index);
    if (b->index < 0 || b->index > most_symbols)
        return aneb_refuse(e, ANEB_REQUEST, ANEB_INDEX, "no %s has index %d", s.word, b->index);
    int32_t uses = 0;
    for (int32_t i = 0; i < s.given; i++) uses += s.bindings[i].index == b->index;
    if (uses > 1) return aneb_refuse(e, ANEB_REQUEST, ANEB_INDEX, "%s %d is bound %d times", s.word, b->index, uses);
    if (b->bytes <= 0)
        return aneb_refuse(e, ANEB_REQUEST, ANEB_ARGUMENT, "%s %d: the number of bytes it needs is missing",
                           s.word, b->index);
    if ((uint64_t)b->bytes > b->surface->size)
        return aneb_refuse(e, ANEB_REQUEST, ANEB_SHORT, "%s %d needs %lld bytes, its surface has %zu; rows are padded to 64 bytes",
                           s.word, b->index, (long long)b->bytes, b->surface->size);
    return ANEB_OK;
}

// Fills the arrays in ascending order of indices and retains the surfaces.
static int32_t bind_side(aneb_request *r, struct side s, NSMutableArray *objects, NSMutableArray *indices,
                         aneb_error *e) {
    for (int32_t i = 0; i < s.given; i++) {
        int32_t kind = fits(s, &s.bindings[i], e);
        if (kind != ANEB_OK) return kind;
    }
    for (int32_t index = 0; index <= most_symbols; index++) {
        for (int32_t i = 0; i < s.given; i++) {
            if (s.bindings[i].index != index) continue;
            aneb_surface *surface = s.bindings[i].surface;
            [objects addObject:surface->object];
            [indices addObject:[NSNumber numberWithInt:index]];
            atomic_fetch_add(&surface->refs, 1);
            r->surfaces[r->surface_count++] = surface;
        }
    }
    return ANEB_OK;
}

static int32_t make(aneb_request *r, struct side in, struct side out, int32_t procedure, aneb_error *e) {
    NSMutableArray *inputs = [NSMutableArray array], *input_indices = [NSMutableArray array];
    NSMutableArray *outputs = [NSMutableArray array], *output_indices = [NSMutableArray array];
    int32_t kind = bind_side(r, in, inputs, input_indices, e);
    if (kind == ANEB_OK) kind = bind_side(r, out, outputs, output_indices, e);
    if (kind != ANEB_OK) return kind;
    // The framework keeps the arrays without copying them, so they must be
    // immutable.
    r->object = [[r->owner->request requestWithInputs:[NSArray arrayWithArray:inputs]
                                         inputIndices:[NSArray arrayWithArray:input_indices]
                                              outputs:[NSArray arrayWithArray:outputs]
                                        outputIndices:[NSArray arrayWithArray:output_indices]
                                        weightsBuffer:nil
                                            perfStats:nil
                                       procedureIndex:[NSNumber numberWithInt:procedure]] retain];
    if (r->object == nil)
        return aneb_fail(e, ANEB_REQUEST, ANEB_NIL, 0,
                         "requestWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:perfStats:procedureIndex: returned nil");
    return ANEB_OK;
}

static void discard(aneb_request *r) {
    aneb_guard(NULL, ANEB_REQUEST, ^int32_t {
        [r->object release];
        return ANEB_OK;
    });
    for (int32_t i = 0; i < r->surface_count; i++) aneb_surface_drop(r->surfaces[i]);
    free(r->surfaces);
    free(r);
}

// Call with p's mutex held.
static int32_t make_loaded(aneb_program *p, aneb_request *r, int32_t procedure, struct side in, struct side out, aneb_error *e) {
    if (atomic_load(&p->gate) == ANEB_UNLOADED)
        return aneb_refuse(e, ANEB_REQUEST, ANEB_STATE, "the program is not loaded; load it to get its symbols");
    return aneb_guard(e, ANEB_REQUEST, ^int32_t {
        return make(r, in, out, procedure, e);
    });
}

int32_t aneb_request_create(aneb_program *p, int32_t procedure, const aneb_binding *in, int32_t in_count,
                            const aneb_binding *out, int32_t out_count, aneb_request **made, aneb_error *error) {
    if (p == NULL) return aneb_null(error, ANEB_REQUEST);
    if (made != NULL) *made = NULL;
    if (in == NULL || out == NULL || made == NULL || in_count < 1 || in_count > 255 || out_count < 1 || out_count > 255)
        return aneb_refuse(error, ANEB_REQUEST, ANEB_ARGUMENT,
                           "aneb_request_create: NULL, or %d inputs and %d outputs; 1 to 255 of each are possible", in_count,
                           out_count);
    if (procedure < 0 || procedure > most_procedures)
        return aneb_refuse(error, ANEB_REQUEST, ANEB_INDEX, "no procedure has number %d", procedure);
    aneb_request *r = calloc(1, sizeof *r);
    if (r != NULL) r->surfaces = calloc((size_t)in_count + (size_t)out_count, sizeof *r->surfaces);
    if (r == NULL || r->surfaces == NULL) {
        free(r);
        return aneb_refuse(error, ANEB_REQUEST, ANEB_ARGUMENT, "no memory for a request");
    }
    r->owner = p->owner;
    r->text_hash = p->text_hash;
    atomic_init(&r->busy, false);
    struct side inputs = {.word = "input", .bindings = in, .given = in_count};
    struct side outputs = {.word = "output", .bindings = out, .given = out_count};
    pthread_mutex_lock(&p->mutex);
    int32_t kind = make_loaded(p, r, procedure, inputs, outputs, error);
    pthread_mutex_unlock(&p->mutex);
    if (kind != ANEB_OK) {
        discard(r);
        return kind;
    }
    atomic_fetch_add(&r->owner->alive, 1);
    atomic_fetch_add(&aneb_process.requests, 1);
    *made = r;
    return ANEB_OK;
}

void aneb_request_release(aneb_request *r) {
    if (r == NULL) return;
    aneb *a = r->owner;
    discard(r);
    atomic_fetch_sub(&aneb_process.requests, 1);
    atomic_fetch_sub(&a->alive, 1);
}
