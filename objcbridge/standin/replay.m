// Lookups in the replayed tables.
#import "replay.h"

#include <stdlib.h>
#include <string.h>

#import "core.h"
#import "errors.h"
#import "typed.h"

static NSDictionary *tables; // set once, before any class is made
static int64_t *calls;       // number of calls failed so far, for each row of "errors"
static int faults;           // number of rows with an outcome other than an NSError

int replay_start(const char *text) {
    if (!text) return 0;
    NSData *data = [NSData dataWithBytes:text length:strlen(text)];
    id list = nil;
    @try {
        list = [NSPropertyListSerialization propertyListWithData:data options:NSPropertyListImmutable format:NULL error:NULL];
    } @catch (id e) {
        core_log(@"standin: replay: %@", e);
    }
    tables = [as(NSDictionary, list) retain];
    NSUInteger rows = [at(NSArray, tables, @"errors") count];
    calls = calloc(rows + 1, sizeof *calls);
    for (id row in at(NSArray, tables, @"errors"))
        if (at(NSNumber, row, @"fault")) faults++;
    return !tables || !calls;
}

id replay_value(NSString *table, NSString *key, Class type) {
    return typed_at([tables objectForKey:table], key, type);
}

int64_t replay_number(NSString *table, NSString *key, int64_t own) {
    NSNumber *n = replay_value(table, key, [NSNumber class]);
    return n ? [n longLongValue] : own;
}

BOOL replay_flag(NSString *table, NSString *key, BOOL own) {
    NSNumber *n = replay_value(table, key, [NSNumber class]);
    return n ? [n boolValue] : own;
}

NSString *replay_string(NSString *table, NSString *key, NSString *own) {
    NSString *s = replay_value(table, key, [NSString class]);
    return s ? s : own;
}

static NSString *const generic = @"com.apple.appleneuralengine";

// The errors of a list, each the cause of the previous one; nil at its end.
static NSError *cause(NSArray *list, NSUInteger i) {
    NSDictionary *row = as(NSDictionary, item(list, i));
    if (!row) return nil;
    NSString *domain = at(NSString, row, @"domain");
    return error_nested(domain ? domain : generic, [at(NSNumber, row, @"code") integerValue], at(NSString, row, @"text"),
                        at(NSDictionary, row, @"userInfo"), cause(list, i + 1));
}

static NSError *error_of(NSDictionary *row, NSString *stage) {
    NSString *domain = at(NSString, row, @"domain"), *text = at(NSString, row, @"text");
    NSNumber *status = at(NSNumber, row, @"status");
    NSInteger code = [at(NSNumber, row, @"code") integerValue];
    if (!text && (!domain || [domain isEqual:generic])) text = error_text_of(code, stage, [status longLongValue], status != nil);
    return error_nested(domain ? domain : generic, code, text, at(NSDictionary, row, @"userInfo"),
                        cause(at(NSArray, row, @"underlying"), 0));
}

// Reports whether the row also fails this call.
static BOOL fails_call(NSDictionary *row, NSUInteger i) {
    NSNumber *refusals = at(NSNumber, row, @"refusals");
    return !refusals || counter_add(&calls[i], 1) <= [refusals longLongValue];
}

NSError *replay_error(NSString *stage) {
    NSArray *rows = at(NSArray, tables, @"errors");
    for (NSUInteger i = 0; i < [rows count]; i++) {
        NSDictionary *row = as(NSDictionary, item(rows, i));
        if (at(NSNumber, row, @"fault") || ![stage isEqual:at(NSString, row, @"stage")]) continue;
        if (fails_call(row, i)) return error_of(row, stage);
    }
    return nil;
}

// Reports whether the row is a fault of a method.
static BOOL is_about(NSDictionary *row, SEL method) {
    return at(NSNumber, row, @"fault") && [at(NSArray, row, @"selectors") containsObject:NSStringFromSelector(method)];
}

struct fault replay_fault(SEL method) {
    struct fault none = {0, 0};
    if (!faults) return none;
    NSArray *rows = at(NSArray, tables, @"errors");
    for (NSUInteger i = 0; i < [rows count]; i++) {
        NSDictionary *row = as(NSDictionary, item(rows, i));
        if (!is_about(row, method) || !fails_call(row, i)) continue;
        struct fault f = {[at(NSNumber, row, @"fault") intValue], [at(NSNumber, row, @"code") longLongValue]};
        if (f.kind != STANDIN_EXCEPTION) return f;
        NSString *name = at(NSString, row, @"exception"), *text = at(NSString, row, @"text");
        [NSException raise:name ? name : NSInternalInconsistencyException format:@"%@", text ? text : @""];
    }
    return none;
}

NSError *replay_contradiction(SEL method) {
    for (id row in faults ? at(NSArray, tables, @"errors") : nil)
        if (is_about(row, method) && [at(NSNumber, row, @"fault") intValue] == STANDIN_YES_ERROR)
            return error_of(row, at(NSString, row, @"stage"));
    return nil;
}
