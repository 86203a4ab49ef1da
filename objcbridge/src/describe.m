#import "internal.h"
#include <stdlib.h>
#include <string.h>

struct aneb_name {
    struct aneb_name *next;
    char *text;
};

const char *aneb_name_keep(aneb_program *p, NSString *string) {
    char *text = aneb_text_new(string);
    if (text == NULL) return NULL;
    for (struct aneb_name *n = p->names; n != NULL; n = n->next) {
        if (strcmp(n->text, text) != 0) continue;
        free(text);
        return n->text;
    }
    struct aneb_name *n = malloc(sizeof *n);
    if (n == NULL) {
        free(text);
        return NULL;
    }
    *n = (struct aneb_name){.next = p->names, .text = text};
    p->names = n;
    return text;
}

void aneb_names_free(aneb_program *p) {
    pthread_mutex_lock(&p->mutex);
    while (p->names != NULL) {
        struct aneb_name *n = p->names;
        p->names = n->next;
        free(n->text);
        free(n);
    }
    pthread_mutex_unlock(&p->mutex);
}

static int32_t describe(aneb_program *p, const char *function, struct aneb_symbols *read, aneb_error *e) {
    if (atomic_load(&p->gate) == ANEB_UNLOADED)
        return aneb_refuse(e, ANEB_DESCRIBE, ANEB_STATE, "the program is not loaded; its symbols are known once it is");
    return aneb_guard(e, ANEB_DESCRIBE, ^int32_t {
        return aneb_symbols_read(p, function, 0, ANEB_DESCRIBE, read, e);
    });
}

int32_t aneb_program_describe(aneb_program *p, const char *function, int32_t *procedure, aneb_symbol *symbols,
                              int32_t capacity, int32_t *count, aneb_error *error) {
    if (p == NULL) return aneb_null(error, ANEB_DESCRIBE);
    if (count == NULL || capacity < 0 || (symbols == NULL && capacity > 0))
        return aneb_refuse(error, ANEB_DESCRIBE, ANEB_ARGUMENT, "aneb_program_describe: NULL, or room for %d symbols", capacity);
    *count = 0;
    struct aneb_symbols read = {0};
    struct aneb_symbols *out = &read;
    pthread_mutex_lock(&p->mutex);
    int32_t kind = describe(p, function, out, error);
    pthread_mutex_unlock(&p->mutex);
    if (kind == ANEB_OK) {
        *count = read.count;
        if (procedure != NULL) *procedure = read.procedure;
        int32_t n = capacity < read.count ? capacity : read.count;
        if (n > 0) memcpy(symbols, read.items, (size_t)n * sizeof *symbols);
    }
    free(read.items);
    return kind;
}
