#import "internal.h"
#include <stdlib.h>

// One side of a request: its symbols in rising index, and what the caller binds.
struct side {
    const char *word;
    const aneb_symbol *symbols;
    int32_t count;
    const aneb_binding *bindings;
    int32_t given;
};

static int32_t known(struct side s, int32_t index, aneb_error *e) {
    int32_t found = 0, uses = 0;
    for (int32_t i = 0; i < s.count; i++) found += s.symbols[i].index == index;
    for (int32_t i = 0; i < s.given; i++) uses += s.bindings[i].index == index;
    if (found == 0) return aneb_refuse(e, ANEB_REQUEST, ANEB_INDEX, "the procedure has no %s with index %d", s.word, index);
    if (uses > 1) return aneb_refuse(e, ANEB_REQUEST, ANEB_INDEX, "%s %d is bound %d times", s.word, index, uses);
    return ANEB_OK;
}

static int32_t fits(const char *word, const aneb_symbol *symbol, const aneb_surface *surface, aneb_error *e) {
    int64_t need = symbol->batches * symbol->batch_stride; // checked against overflow when it was read
    if ((uint64_t)need <= surface->size) return ANEB_OK;
    return aneb_refuse(e, ANEB_REQUEST, ANEB_SHORT, "%s %s needs %lld bytes, its surface has %zu; rows are padded to %lld bytes",
                       word, symbol->name, (long long)need, surface->size, (long long)symbol->row_stride);
}

// Fills the arrays in rising index and keeps the surfaces.
static int32_t tie(aneb_request *r, struct side s, NSMutableArray *objects, NSMutableArray *indices, aneb_error *e) {
    for (int32_t i = 0; i < s.given; i++) {
        if (s.bindings[i].surface == NULL)
            return aneb_refuse(e, ANEB_REQUEST, ANEB_ARGUMENT, "%s %d has no surface", s.word, s.bindings[i].index);
        int32_t kind = known(s, s.bindings[i].index, e);
        if (kind != ANEB_OK) return kind;
    }
    for (int32_t i = 0; i < s.count; i++) {
        aneb_surface *surface = NULL;
        for (int32_t k = 0; k < s.given && surface == NULL; k++)
            if (s.bindings[k].index == s.symbols[i].index) surface = s.bindings[k].surface;
        if (surface == NULL)
            return aneb_refuse(e, ANEB_REQUEST, ANEB_INDEX, "%s %s (index %d) is not bound", s.word, s.symbols[i].name,
                               s.symbols[i].index);
        int32_t kind = fits(s.word, &s.symbols[i], surface, e);
        if (kind != ANEB_OK) return kind;
        [objects addObject:surface->object];
        [indices addObject:[NSNumber numberWithInt:s.symbols[i].index]];
        atomic_fetch_add(&surface->refs, 1);
        r->surfaces[r->surface_count++] = surface;
    }
    return ANEB_OK;
}

static int32_t make(aneb_request *r, struct side in, struct side out, int32_t procedure, aneb_error *e) {
    NSMutableArray *inputs = [NSMutableArray array], *input_indices = [NSMutableArray array];
    NSMutableArray *outputs = [NSMutableArray array], *output_indices = [NSMutableArray array];
    int32_t kind = tie(r, in, inputs, input_indices, e);
    if (kind == ANEB_OK) kind = tie(r, out, outputs, output_indices, e);
    if (kind != ANEB_OK) return kind;
    // The request keeps the arrays without copying them, so it gets ones that stay.
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

// With p's mutex held.
static int32_t read_and_make(aneb_program *p, aneb_request *r, int32_t procedure, struct side in, struct side out,
                             aneb_error *e) {
    if (atomic_load(&p->gate) == ANEB_UNLOADED)
        return aneb_refuse(e, ANEB_REQUEST, ANEB_STATE, "the program is not loaded; its symbols are known once it is");
    struct aneb_symbols read = {0};
    struct aneb_symbols *symbols = &read;
    int32_t kind = aneb_guard(e, ANEB_REQUEST, ^int32_t {
        int32_t result = aneb_symbols_read(p, NULL, procedure, ANEB_REQUEST, symbols, e);
        if (result != ANEB_OK) return result;
        struct side inputs = in, outputs = out;
        inputs.symbols = symbols->items;
        inputs.count = symbols->inputs;
        outputs.symbols = symbols->items + symbols->inputs;
        outputs.count = symbols->count - symbols->inputs;
        return make(r, inputs, outputs, procedure, e);
    });
    free(read.items);
    return kind;
}

int32_t aneb_request_create(aneb_program *p, int32_t procedure, const aneb_binding *in, int32_t in_count,
                            const aneb_binding *out, int32_t out_count, aneb_request **made, aneb_error *error) {
    if (p == NULL) return aneb_null(error, ANEB_REQUEST);
    if (made != NULL) *made = NULL;
    // The framework's own limits, see -[_ANERequest validate].
    if (in == NULL || out == NULL || made == NULL || in_count < 1 || in_count > 255 || out_count < 1 || out_count > 255)
        return aneb_refuse(error, ANEB_REQUEST, ANEB_ARGUMENT,
                           "aneb_request_create: NULL, or %d inputs and %d outputs; 1 to 255 of each are possible", in_count,
                           out_count);
    aneb_request *r = calloc(1, sizeof *r);
    if (r != NULL) r->surfaces = calloc((size_t)in_count + (size_t)out_count, sizeof *r->surfaces);
    if (r == NULL || r->surfaces == NULL) {
        free(r);
        return aneb_refuse(error, ANEB_REQUEST, ANEB_ARGUMENT, "no memory for a request");
    }
    r->owner = p->owner;
    r->text_hash = p->text_hash;
    atomic_init(&r->refs, 1);
    atomic_init(&r->busy, false);
    struct side inputs = {.word = "input", .bindings = in, .given = in_count};
    struct side outputs = {.word = "output", .bindings = out, .given = out_count};
    pthread_mutex_lock(&p->mutex);
    int32_t kind = read_and_make(p, r, procedure, inputs, outputs, error);
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

void aneb_request_end(aneb_request *r) {
    aneb *a = r->owner;
    discard(r);
    atomic_fetch_sub(&aneb_process.requests, 1);
    atomic_fetch_sub(&a->alive, 1);
}

void aneb_request_release(aneb_request *r) {
    if (r != NULL && atomic_fetch_sub(&r->refs, 1) == 1) aneb_request_end(r);
}
