#import "internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// modelAttributes as JSON. Package internal/attributes checks the content. The objects of
// the framework may have any class, contain themselves, or be very large, so depth, number
// of values and length are limited.

enum { deepest = 64, most_values = 1 << 20, longest = 16 << 20 };

struct writer {
    char *text;
    size_t size, room;
    int depth, values;
    const char *fault; // the first fault; NULL for none
    char key[128];     // the innermost key at the fault
};

static void fault(struct writer *w, const char *why) {
    if (w->fault == NULL) w->fault = why;
}

static void put(struct writer *w, const char *bytes, size_t size) {
    if (w->fault != NULL) return;
    if (w->size + size > longest) return fault(w, "is longer than 16 MiB");
    if (w->size + size > w->room) {
        size_t room = 2 * (w->size + size) + 4096;
        char *grown = realloc(w->text, room);
        if (grown == NULL) return fault(w, "does not fit into memory");
        w->text = grown;
        w->room = room;
    }
    memcpy(w->text + w->size, bytes, size);
    w->size += size;
}

static void put_text(struct writer *w, const char *text) { put(w, text, strlen(text)); }

static void put_string(struct writer *w, NSString *string) {
    NSData *data = [string dataUsingEncoding:NSUTF8StringEncoding allowLossyConversion:NO];
    if (data == nil) return fault(w, "has a string that is no Unicode text");
    const unsigned char *bytes = [data bytes];
    size_t size = [data length];
    put_text(w, "\"");
    for (size_t i = 0; i < size; i++) {
        char escaped[8];
        if (bytes[i] == '"' || bytes[i] == '\\') {
            escaped[0] = '\\';
            escaped[1] = (char)bytes[i];
            put(w, escaped, 2);
        } else if (bytes[i] < 0x20) {
            snprintf(escaped, sizeof escaped, "\\u%04x", bytes[i]);
            put(w, escaped, 6);
        } else {
            put(w, (const char *)&bytes[i], 1);
        }
    }
    put_text(w, "\"");
}

static void put_number(struct writer *w, NSNumber *number) {
    char text[40];
    if (number == [NSNumber numberWithBool:YES] || number == [NSNumber numberWithBool:NO])
        return put_text(w, [number boolValue] ? "true" : "false");
    switch ([number objCType][0]) {
    case 'f':
    case 'd':
        if (!([number doubleValue] - [number doubleValue] == 0)) return fault(w, "has a number that is not finite");
        snprintf(text, sizeof text, "%.17g", [number doubleValue]);
        break;
    case 'Q':
    case 'L':
        snprintf(text, sizeof text, "%llu", [number unsignedLongLongValue]);
        break;
    default:
        snprintf(text, sizeof text, "%lld", [number longLongValue]);
    }
    put_text(w, text);
}

static void put_value(struct writer *w, id value);

static void put_array(struct writer *w, NSArray *array) {
    put_text(w, "[");
    for (NSUInteger i = 0; i < [array count] && w->fault == NULL; i++) {
        if (i > 0) put_text(w, ",");
        put_value(w, [array objectAtIndex:i]);
    }
    put_text(w, "]");
}

static void put_dictionary(struct writer *w, NSDictionary *dictionary) {
    NSMutableArray *keys = [NSMutableArray array];
    for (id key in dictionary) {
        if (![key isKindOfClass:[NSString class]]) return fault(w, "has a key that is no string");
        [keys addObject:key];
    }
    [keys sortUsingSelector:@selector(compare:)];
    put_text(w, "{");
    for (NSUInteger i = 0; i < [keys count] && w->fault == NULL; i++) {
        if (i > 0) put_text(w, ",");
        put_string(w, [keys objectAtIndex:i]);
        put_text(w, ":");
        put_value(w, [dictionary objectForKey:[keys objectAtIndex:i]]);
        if (w->fault != NULL && w->key[0] == 0) aneb_text_from(w->key, sizeof w->key, [keys objectAtIndex:i]);
    }
    put_text(w, "}");
}

static void put_value(struct writer *w, id value) {
    if (++w->values > most_values) return fault(w, "has more than 1048576 values");
    if (++w->depth > deepest) return fault(w, "nests deeper than 64 levels, or holds itself");
    if ([value isKindOfClass:[NSString class]]) {
        put_string(w, value);
    } else if ([value isKindOfClass:[NSNumber class]]) {
        put_number(w, value);
    } else if ([value isKindOfClass:[NSArray class]]) {
        put_array(w, value);
    } else if ([value isKindOfClass:[NSDictionary class]]) {
        put_dictionary(w, value);
    } else { // readers ignore other classes
        put_text(w, "{\"$class\":");
        put_string(w, NSStringFromClass([value class]));
        put_text(w, "}");
    }
    w->depth--;
}

// The objects that answer modelAttributes, in the order in which the bridge asks them. Some builds of macOS 27 raise
// "-externConstants: unrecognized selector" when the in-memory model is asked; before macOS 14 it shows no model inside.
enum source { INNER, WRAPPER, SOURCES };
static const char *const names[SOURCES] = {"the inner model", "the in-memory model"};

static bool offers(aneb *a, enum source source) {
    return source == WRAPPER ||
           (a->status[ANEB_ROW_INNER] == ANEB_FOUND && a->status[ANEB_ROW_INNER_ATTRIBUTES] == ANEB_FOUND);
}

// Each source has a guard of its own, so that its exception ends neither the other's answer nor its pool.
static int32_t write_from(aneb_program *p, enum source source, struct writer *w, aneb_error *e) {
    return aneb_guard(e, ANEB_DESCRIBE, ^int32_t {
        id all = source == INNER ? [[p->model model] modelAttributes] : [p->model modelAttributes];
        if (all == nil)
            return aneb_fail(e, ANEB_DESCRIBE, ANEB_NIL, 0, "modelAttributes returned nil; usually the program is not loaded");
        if (![all isKindOfClass:[NSDictionary class]])
            return aneb_fail(e, ANEB_DESCRIBE, ANEB_MISSING, 0, "modelAttributes returned no dictionary");
        if ([all count] == 0) return aneb_fail(e, ANEB_DESCRIBE, ANEB_NIL, 0, "modelAttributes returned nothing");
        put_value(w, all);
        if (w->fault == NULL) return ANEB_OK;
        return aneb_fail(e, ANEB_DESCRIBE, ANEB_MISSING, 0, "modelAttributes %s, at key \"%s\"", w->fault, w->key);
    });
}

// If no source answers, the error is the last one's, with the messages of all.
static int32_t write_attributes(aneb_program *p, struct writer *w, aneb_error *e) {
    if (atomic_load(&p->gate) == ANEB_UNLOADED)
        return aneb_refuse(e, ANEB_DESCRIBE, ANEB_STATE, "the program is not loaded; load it to get its symbols");
    char told[2 * sizeof e->message] = "";
    size_t before = 0;
    aneb_error own = {0};
    int32_t kind = ANEB_OK;
    for (enum source source = INNER; source < SOURCES; source++) {
        if (!offers(p->owner, source)) continue;
        *w = (struct writer){.text = w->text, .room = w->room};
        kind = write_from(p, source, w, &own);
        if (kind == ANEB_OK) return ANEB_OK;
        snprintf(told + before, sizeof told - before, "%s: %.400s; ", names[source], own.message);
        before = strlen(told);
    }
    if (e == NULL) return kind;
    *e = own;
    aneb_text_copy(e->message, sizeof e->message, told, before - strlen("; "));
    return kind;
}

int32_t aneb_program_attributes(aneb_program *p, char *text, size_t capacity, size_t *length, aneb_error *error) {
    if (p == NULL) return aneb_null(error, ANEB_DESCRIBE);
    if (length == NULL || (text == NULL && capacity > 0))
        return aneb_refuse(error, ANEB_DESCRIBE, ANEB_ARGUMENT, "aneb_program_attributes: text or length is NULL");
    *length = 0;
    struct writer written = {0};
    struct writer *w = &written;
    pthread_mutex_lock(&p->mutex);
    int32_t kind = write_attributes(p, w, error);
    pthread_mutex_unlock(&p->mutex);
    if (kind == ANEB_OK) {
        *length = w->size;
        size_t n = w->size < capacity ? w->size : capacity;
        if (n > 0) memcpy(text, w->text, n);
    }
    free(w->text);
    return kind;
}
