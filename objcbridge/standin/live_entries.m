// Lookups in live entries.
#import "live_entries.h"

#import "typed.h"

#include <string.h>

static NSString *const lists[LIVE_SIDES][3] = {
    [LIVE_INPUTS] = {@"LiveInputList", @"LiveInputParamList", @"LiveStateList"},
    [LIVE_OUTPUTS] = {@"LiveOutputList", nil, nil},
};

static NSString *const names[] = {@"Symbol", @"Name"};

enum { LISTS = sizeof lists[0] / sizeof lists[0][0], NAMES = sizeof names / sizeof names[0] };

static NSString *name_of(NSDictionary *entry, int i) {
    NSString *name = at(NSString, entry, names[i]);
    return [name length] ? name : nil;
}

static NSString *bare(NSString *name) {
    return [name hasSuffix:@"@output"] ? [name substringToIndex:[name length] - [@"@output" length]] : name;
}

static NSInteger by_symbol(id a, id b, void *unused) {
    (void)unused;
    NSString *x = name_of(as(NSDictionary, a), 0), *y = name_of(as(NSDictionary, b), 0);
    if (!x) x = name_of(as(NSDictionary, a), 1);
    if (!y) y = name_of(as(NSDictionary, b), 1);
    return strcmp(x ? [x UTF8String] : "", y ? [y UTF8String] : "");
}

NSArray *live_entries(NSArray *networks, enum live_side side, BOOL described) {
    NSMutableArray *all = [NSMutableArray array];
    for (id network in networks) {
        NSArray *entries = at(NSArray, network, lists[side][0]);
        BOOL several = NO;
        for (int i = 1; i < LISTS && lists[side][i]; i++) {
            NSArray *more = at(NSArray, network, lists[side][i]);
            several |= [more count] > 0;
            if ([more count]) entries = entries ? [entries arrayByAddingObjectsFromArray:more] : more;
        }
        if (several && !described) entries = [entries sortedArrayUsingFunction:by_symbol context:NULL];
        [all addObject:entries ? entries : [NSArray array]];
    }
    return all;
}

NSUInteger live_network(NSArray *networks, NSString *name, NSUInteger place, NSUInteger procedures) {
    for (NSUInteger i = 0; name && i < [networks count]; i++)
        if ([name isEqual:at(NSString, [networks objectAtIndex:i], @"Name")]) return i;
    if ([networks count] == procedures) return place;
    return [networks count] == 1 ? 0 : NSNotFound;
}

static NSDictionary *named(NSArray *entries, NSString *symbol) {
    for (int i = 0; symbol && i < NAMES; i++)
        for (id entry in entries)
            if ([bare(symbol) isEqual:bare(name_of(as(NSDictionary, entry), i))]) return entry;
    return nil;
}

static BOOL nameless(NSArray *entries) {
    for (id entry in entries)
        for (int i = 0; i < NAMES; i++)
            if (name_of(as(NSDictionary, entry), i)) return NO;
    return YES;
}

NSDictionary *live_find(NSArray *entries, NSUInteger network, NSString *symbol, NSUInteger place) {
    NSArray *own = item(entries, network);
    NSDictionary *found = named(own, symbol);
    if (!found && nameless(own)) found = as(NSDictionary, item(own, place));
    for (NSUInteger i = 0; !found && i < [entries count]; i++) found = named([entries objectAtIndex:i], symbol);
    return found;
}

static int64_t element_size(NSString *type) {
    static const struct {
        NSString *suffix;
        int64_t bytes;
    } sizes[] = {{@"Bool", 1}, {@"t8", 1}, {@"t16", 2}, {@"t32", 4}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if ([type hasSuffix:sizes[i].suffix]) return sizes[i].bytes;
    return 0;
}

// As the driver counts it: Batches * BatchStride, or up to the end of the last element if that is more.
// Strides of axes of length 1 have no effect.
int64_t live_bytes(NSDictionary *entry) {
    static const struct {
        NSString *length, *stride;
    } axes[] = {{@"Batches", @"BatchStride"}, {@"Depth", @"DepthStride"}, {@"Channels", @"PlaneStride"}, {@"Height", @"RowStride"},
                {@"Width", nil}};
    int64_t element = element_size(at(NSString, entry, @"Type")), end = element, whole = 0;
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        NSNumber *count = at(NSNumber, entry, axes[i].length);
        int64_t length = count ? [count longLongValue] : 1, reach = 0;
        int64_t stride = axes[i].stride ? [at(NSNumber, entry, axes[i].stride) longLongValue] : element;
        if (i == 0 && __builtin_mul_overflow(length, stride, &whole)) return INT64_MAX;
        if (length == 1) continue;
        if (__builtin_mul_overflow(length - 1, stride, &reach) || __builtin_add_overflow(end, reach, &end))
            return INT64_MAX;
        if (i == 0 && whole < 0) return INT64_MAX;
    }
    return whole > end ? whole : end;
}
