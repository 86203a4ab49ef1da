#import "internal.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int32_t begin(aneb_error *e, int32_t stage, int32_t kind, int64_t code) {
    memset(e, 0, sizeof *e);
    e->kind = kind;
    e->stage = stage;
    e->code = code;
    return kind;
}

int32_t aneb_fail(aneb_error *e, int32_t stage, int32_t kind, int64_t code, const char *format, ...) {
    if (e == NULL) return kind;
    begin(e, stage, kind, code);
    char text[2 * sizeof e->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    aneb_text_copy(e->message, sizeof e->message, text, strlen(text));
    return kind;
}

// Parses one 32-bit hexadecimal number after label.
static bool number(const char *text, const char *label, uint32_t *out) {
    const char *at = strstr(text, label);
    if (at == NULL) return false;
    const char *digits = at + strlen(label);
    char *end = NULL;
    unsigned long long value = strtoull(digits, &end, 16);
    if (end == digits || value > UINT32_MAX || strchr("+- ", *digits) != NULL) return false;
    *out = (uint32_t)value;
    return true;
}

// Up to macOS 26 the framework writes "... status=0x%x : statusType=0x%x" into the text of code 8
// and "... failure (0x%X)" into the texts of loading and mapping; from 27 on it writes
// "underlying=0x%lX" into all.
static void find_status(aneb_error *e, id description) {
    char *text = aneb_text_new(description);
    if (text == NULL) return;
    uint32_t status = 0, type = 0;
    bool found = number(text, "status=0x", &status);
    number(text, "statusType=0x", &type);
    if (!found) found = number(text, "underlying=0x", &status) || number(text, "failure (0x", &status);
    if (found) {
        e->has_status = 1;
        e->status = status;
        e->status_type = type;
    }
    free(text);
}

// Returns the value at key of an error's userInfo, or nil if it does not have the class.
static id info(NSError *error, NSString *key, Class class) {
    id all = [error userInfo];
    id found = [all isKindOfClass:[NSDictionary class]] ? [all objectForKey:key] : nil;
    return [found isKindOfClass:class] ? found : nil;
}

static void flatten(char *text) {
    for (; *text != 0; text++)
        if (strchr("\t\r\n", *text) != NULL) *text = ' ';
}

enum { max_causes = 4, levels = 16, outer = 200 };

// Writes one line of causes. An error with a cause of its own is cut to a few words.
static size_t cause(char *out, size_t capacity, NSError *error, bool innermost) {
    char domain[64], message[1024];
    aneb_text_from(domain, sizeof domain, [error domain]);
    aneb_text_from(message, innermost ? sizeof message : outer, [error localizedDescription]);
    flatten(domain);
    flatten(message);
    int n = snprintf(out, capacity, "%s\t%lld\t%s\n", domain, (long long)[error code], message);
    if (n > 0 && (size_t)n < capacity) return (size_t)n;
    out[0] = 0;
    return 0;
}

// Lists the causes: the first three and the innermost, which has the most detail. An error may be
// its own cause, so their number is limited.
static void find_causes(aneb_error *e, NSError *error) {
    NSError *below[levels];
    int count = 0;
    while (count < levels && (error = info(error, NSUnderlyingErrorKey, [NSError class])) != nil) below[count++] = error;
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        if (i >= max_causes - 1 && i < count - 1) continue;
        used += cause(e->causes + used, sizeof e->causes - used, below[i], i == count - 1);
    }
}

// macOS 27 puts the driver's numbers into userInfo.
static void find_numbers(aneb_error *e, NSError *error) {
    NSNumber *status = info(error, @"_ANEErrorUnderlyingStatus", [NSNumber class]);
    NSNumber *stage = info(error, @"_ANEErrorLoadStage", [NSNumber class]);
    if (status != nil && [status longLongValue] >= 0 && [status longLongValue] <= UINT32_MAX) {
        e->has_status = 1;
        e->status = (uint32_t)[status longLongValue];
    }
    if (stage != nil && [stage longLongValue] > 0 && [stage longLongValue] <= INT32_MAX) e->load_stage = [stage intValue];
}

static int32_t from_error(aneb_error *e, int32_t stage, int32_t kind, NSError *error) {
    if (e == NULL) return kind;
    begin(e, stage, kind, [error code]);
    aneb_text_from(e->domain, sizeof e->domain, [error domain]);
    NSString *text = [error localizedDescription];
    find_status(e, text);
    find_numbers(e, error);
    find_causes(e, error);
    aneb_text_from(e->message, sizeof e->message, text);
    return kind;
}

int32_t aneb_judge(aneb_error *e, int32_t stage, BOOL ok, NSError *error, const char *method, const char *cause) {
    if (ok && error == nil) return ANEB_OK;
    if (error != nil) return from_error(e, stage, ok ? ANEB_CONTRADICTION : ANEB_NSERROR, error);
    return aneb_fail(e, stage, ANEB_NO, 0, "%s returned NO without an NSError; usually %s", method, cause);
}

static void describe(aneb_error *e, id thrown) {
    if ([thrown isKindOfClass:[NSException class]]) {
        aneb_text_from(e->exception, sizeof e->exception, [(NSException *)thrown name]);
        NSString *reason = [(NSException *)thrown reason];
        find_status(e, reason);
        aneb_text_from(e->message, sizeof e->message, reason);
    } else {
        aneb_text_from(e->exception, sizeof e->exception, NSStringFromClass([thrown class]));
        aneb_text_from(e->message, sizeof e->message, [thrown description]);
    }
}

// The thrown object may raise again while its text is read.
static int32_t caught(aneb_error *e, int32_t stage, id thrown) {
    if (e == NULL) return ANEB_EXCEPTION;
    begin(e, stage, ANEB_EXCEPTION, 0);
    @try {
        describe(e, thrown);
    } @catch (id again) {
        (void)again;
    }
    if (e->message[0] == 0) strcpy(e->message, "an exception without a reason");
    return ANEB_EXCEPTION;
}

int32_t aneb_guard(aneb_error *e, int32_t stage, int32_t (^body)(void)) {
    int32_t kind;
    @autoreleasepool {
        @try {
            kind = body();
        } @catch (id thrown) {
            kind = caught(e, stage, thrown);
        }
#ifdef __APPLE__ // clang cannot compile a second handler for the runtime used elsewhere
        @catch (...) {
            kind = aneb_fail(e, stage, ANEB_EXCEPTION, 0, "an exception that is no Objective-C object");
        }
#endif
    }
    return kind;
}
