#import "internal.h"
#include <stdlib.h>
#include <string.h>

// modelAttributes, as measured by ironmill on a loaded program: NetworkStatusList holds
// strides by name, ANEFModelDescription the names by index and each procedure's indices.

static int by_index(const void *a, const void *b) {
    int32_t x = ((const aneb_symbol *)a)->index, y = ((const aneb_symbol *)b)->index;
    return (x > y) - (x < y);
}

struct side {
    NSString *names, *indices, *layouts; // keys
    int32_t output;
};

// The entries at key of all networks, those of network own first, or nil where there are
// none. Symbols are shared by all procedures, so one that its own network does not list
// is the same in another.
static NSArray *layouts_at(NSArray *networks, NSUInteger own, NSString *key) {
    NSArray *all = aneb_value([networks objectAtIndex:own], key, [NSArray class]);
    for (NSUInteger i = 0; i < [networks count]; i++) {
        NSArray *list = i == own ? nil : aneb_value([networks objectAtIndex:i], key, [NSArray class]);
        if (list != nil) all = all == nil ? list : [all arrayByAddingObjectsFromArray:list];
    }
    return all;
}

// Appends the symbols of one side of a procedure, in rising index.
static int32_t read_side(aneb_program *p, struct side keys, NSDictionary *description, NSDictionary *procedure,
                         NSArray *layouts, int32_t stage, struct aneb_symbols *out, aneb_error *e) {
    NSArray *names = aneb_value(description, keys.names, [NSArray class]);
    NSArray *indices = aneb_value(procedure, keys.indices, [NSArray class]);
    if (names == nil) return aneb_wrong(e, stage, keys.names, "array");
    if (indices == nil || [indices count] > 255) return aneb_wrong(e, stage, keys.indices, "array of at most 255 indices");
    if (layouts == nil) return aneb_wrong(e, stage, keys.layouts, "array");
    size_t first = (size_t)out->count, count = [indices count];
    aneb_symbol *grown = realloc(out->items, (first + count + 1) * sizeof *grown);
    if (grown == NULL) return aneb_wrong(e, stage, keys.indices, "memory for the array");
    out->items = grown;
    memset(grown + first, 0, count * sizeof *grown);
    for (id number in indices) {
        aneb_symbol *symbol = &out->items[out->count];
        long long index = [number isKindOfClass:[NSNumber class]] ? [number longLongValue] : -1;
        if (index < 0 || index >= (long long)[names count]) return aneb_wrong(e, stage, keys.indices, "index of a name");
        id name = [names objectAtIndex:(NSUInteger)index];
        if (![name isKindOfClass:[NSString class]]) return aneb_wrong(e, stage, keys.names, "string");
        symbol->index = (int32_t)index;
        symbol->output = keys.output;
        symbol->name = aneb_name_keep(p, aneb_base_name(name));
        if (symbol->name == NULL) return aneb_wrong(e, stage, keys.names, "memory for the string");
        int32_t kind = aneb_layout_read(p, layouts, keys.layouts, aneb_base_name(name), symbol, stage, e);
        if (kind != ANEB_OK) return kind;
        out->count++;
    }
    qsort(out->items + first, count, sizeof *out->items, by_index);
    for (size_t i = 1; i < count; i++)
        if (out->items[first + i].index == out->items[first + i - 1].index)
            return aneb_wrong(e, stage, keys.indices, "array of different indices");
    return ANEB_OK;
}

// The number in map that function names, or number itself without a function.
static int32_t number_of(NSDictionary *map, NSString *key, const char *function, int32_t *number, int32_t stage,
                         aneb_error *e) {
    if (function == NULL) return ANEB_OK;
    if (map == nil) return aneb_wrong(e, stage, key, "dictionary");
    NSString *name = aneb_utf8_valid(function) ? [NSString stringWithUTF8String:function] : nil;
    id id_of = name == nil ? nil : [map objectForKey:name];
    if (id_of == nil) {
        char names[512];
        NSMutableArray *all = [NSMutableArray array];
        for (id key in map)
            if ([key isKindOfClass:[NSString class]]) [all addObject:key];
        NSArray *sorted = [all sortedArrayUsingSelector:@selector(compare:)];
        aneb_text_from(names, sizeof names, [sorted componentsJoinedByString:@", "]);
        return aneb_refuse(e, stage, ANEB_INDEX, "the program has no function %.200s; it has %s",
                           aneb_utf8_valid(function) ? function : "of that name", names);
    }
    if (![id_of isKindOfClass:[NSNumber class]] || [id_of longLongValue] < 0 || [id_of longLongValue] > 128)
        return aneb_wrong(e, stage, key, "number from 0 to 128"); // the largest index a request takes
    *number = [id_of intValue];
    return ANEB_OK;
}

// Position of the procedure with this id; its position is its id when it has none.
static NSUInteger position(NSArray *procedures, int32_t number) {
    for (NSUInteger i = 0; i < [procedures count]; i++) {
        NSNumber *own = aneb_value([procedures objectAtIndex:i], @"ANEFModelProcedureID", [NSNumber class]);
        if (own == nil ? i == (NSUInteger)number : [own longLongValue] == number) return i;
    }
    return NSNotFound;
}

int32_t aneb_symbols_read(aneb_program *p, const char *function, int32_t number, int32_t stage,
                          struct aneb_symbols *out, aneb_error *e) {
    id all = [p->model modelAttributes];
    NSDictionary *description = aneb_value(all, @"ANEFModelDescription", [NSDictionary class]);
    NSArray *networks = aneb_value(all, @"NetworkStatusList", [NSArray class]);
    NSArray *procedures = aneb_value(description, @"ANEFModelProcedures", [NSArray class]);
    if (all == nil) return aneb_fail(e, stage, ANEB_NIL, 0, "modelAttributes returned nil; usually the program is not loaded");
    if (description == nil) return aneb_wrong(e, stage, @"ANEFModelDescription", "dictionary");
    if (networks == nil || [networks count] == 0) return aneb_wrong(e, stage, @"NetworkStatusList", "array with an entry");
    if (procedures == nil) return aneb_wrong(e, stage, @"ANEFModelProcedures", "array");
    NSString *key = @"kANEFModelProcedureNameToIDMapKey"; // beside the procedures, or beside their description
    NSDictionary *map = aneb_value(description, key, [NSDictionary class]);
    if (map == nil) map = aneb_value(all, key, [NSDictionary class]);
    if (map == nil && [procedures count] == 1) function = NULL; // a name has nothing to choose between
    int32_t kind = number_of(map, key, function, &number, stage, e);
    if (kind != ANEB_OK) return kind;
    NSUInteger at = number < 0 ? NSNotFound : position(procedures, number);
    if (at == NSNotFound)
        return aneb_refuse(e, stage, ANEB_INDEX, "the program has no procedure %d; it has %lu", number,
                           (unsigned long)[procedures count]);
    NSDictionary *procedure = [procedures objectAtIndex:at];
    NSUInteger own = [networks count] == [procedures count] ? at : 0;
    const struct side input = {@"kANEFModelInputSymbolsArrayKey", @"ANEFModelInputSymbolIndexArray", @"LiveInputList", 0};
    const struct side output = {@"kANEFModelOutputSymbolsArrayKey", @"ANEFModelOutputSymbolIndexArray", @"LiveOutputList", 1};
    out->procedure = number;
    kind = read_side(p, input, description, procedure, layouts_at(networks, own, input.layouts), stage, out, e);
    out->inputs = out->count;
    if (kind == ANEB_OK)
        kind = read_side(p, output, description, procedure, layouts_at(networks, own, output.layouts), stage, out, e);
    return kind;
}
