// A loaded program: its attributes, and what they say of each procedure's symbols. Attributes that are replayed may
// say anything, so nothing is taken from them without a look at its type.
#import "programs.h"

#include <stdlib.h>

#import "typed.h"

@implementation StandinLoad

// The server's property list, or nil.
static NSDictionary *read_attributes(uint64_t number) {
    if (!core.server.attributes) return nil;
    NSMutableData *text = [NSMutableData dataWithLength:4096];
    size_t size = core.server.attributes(core.server.context, number, [text mutableBytes], [text length]);
    if (size > [text length]) {
        [text setLength:size];
        if (core.server.attributes(core.server.context, number, [text mutableBytes], size) != size) return nil;
    }
    [text setLength:size];
    id plist = [NSPropertyListSerialization propertyListWithData:text options:NSPropertyListImmutable format:NULL
                                                           error:NULL];
    return as(NSDictionary, plist);
}

static NSString *bare(NSString *name) {
    return [name hasSuffix:@"@output"] ? [name substringToIndex:[name length] - [@"@output" length]] : name;
}

// Whether the live entry is that of a name.
static BOOL is_named(NSDictionary *live, NSString *name) {
    NSString *own = at(NSString, live, @"Name");
    if (!own) own = at(NSString, live, @"Symbol");
    return own && [bare(own) isEqualToString:bare(name)];
}

static BOOL is_nameless(NSDictionary *live) {
    return live && !at(NSString, live, @"Name") && !at(NSString, live, @"Symbol");
}

// Bytes of a live entry's surface: Batches * BatchStride. No surface is as long as a number that is none.
static int64_t minimum_of(NSDictionary *live) {
    NSNumber *count = at(NSNumber, live, @"Batches");
    int64_t batches = count ? [count longLongValue] : 1, bytes = 0;
    if (__builtin_mul_overflow(batches, [at(NSNumber, live, @"BatchStride") longLongValue], &bytes) || bytes < 0)
        return INT64_MAX;
    return bytes;
}

// The live entry of a symbol: that of its name in the procedure's network or another, else the one at its place
// among the procedure's where entries have no names. nil where there is none.
static NSDictionary *find(NSArray *networks, NSUInteger procedure, NSString *list, NSString *name, NSUInteger place) {
    for (NSUInteger i = 0; name && i <= [networks count]; i++) { // the procedure's own goes first
        NSUInteger network = i == 0 ? procedure : i - 1;
        for (id live in at(NSArray, item(networks, network), list))
            if (is_named(as(NSDictionary, live), name)) return live;
    }
    NSDictionary *live = as(NSDictionary, item(at(NSArray, item(networks, procedure), list), place));
    return is_nameless(live) ? live : nil;
}

static int by_index(const void *a, const void *b) {
    uint32_t x = ((const struct symbol *)a)->index, y = ((const struct symbol *)b)->index;
    return (x > y) - (x < y);
}

// indices of the symbols, which rise from first on where the attributes have none.
static struct symbol *read_symbols(NSArray *networks, NSArray *indices, NSUInteger first, NSUInteger count, NSArray *names,
                                   NSString *list, NSUInteger procedure) {
    struct symbol *made = calloc(count + 1, sizeof *made);
    for (NSUInteger i = 0; made && i < count; i++)
        made[i].index = indices ? (uint32_t)[as(NSNumber, item(indices, i)) longLongValue] : (uint32_t)(first + i);
    if (made) qsort(made, count, sizeof *made, by_index);
    for (NSUInteger i = 0; made && i < count; i++)
        made[i].minimum = minimum_of(find(networks, procedure, list, as(NSString, item(names, made[i].index)), i));
    return made;
}

- (BOOL)readProcedure:(NSUInteger)i of:(NSDictionary *)description networks:(NSArray *)networks {
    NSDictionary *own = as(NSDictionary, item(at(NSArray, description, @"ANEFModelProcedures"), i));
    NSArray *in = at(NSArray, own, @"ANEFModelInputSymbolIndexArray");
    NSArray *out = at(NSArray, own, @"ANEFModelOutputSymbolIndexArray");
    NSUInteger inputs = in ? [in count] : [at(NSArray, item(networks, i), @"LiveInputList") count];
    NSUInteger outputs = out ? [out count] : [at(NSArray, item(networks, i), @"LiveOutputList") count];
    struct procedure *p = &procedures[i];
    NSNumber *number = at(NSNumber, own, @"ANEFModelProcedureID");
    p->number = number ? [number longLongValue] : (int64_t)i;
    p->inputs = read_symbols(networks, in, input_symbols, inputs, at(NSArray, description, @"kANEFModelInputSymbolsArrayKey"),
                             @"LiveInputList", i);
    p->outputs = read_symbols(networks, out, output_symbols, outputs,
                              at(NSArray, description, @"kANEFModelOutputSymbolsArrayKey"), @"LiveOutputList", i);
    p->input_count = inputs > INT32_MAX ? INT32_MAX : (int32_t)inputs;
    p->output_count = outputs > INT32_MAX ? INT32_MAX : (int32_t)outputs;
    input_symbols += inputs;
    output_symbols += outputs;
    return p->inputs && p->outputs;
}

// Without a description of procedures each network is one, and its entries are its symbols.
- (BOOL)readProcedures {
    NSDictionary *description = at(NSDictionary, attributes, @"ANEFModelDescription");
    NSArray *networks = at(NSArray, attributes, @"NetworkStatusList");
    NSArray *list = at(NSArray, description, @"ANEFModelProcedures");
    NSUInteger count = list ? [list count] : [networks count];
    procedures = calloc(count + 1, sizeof *procedures);
    for (; procedures && procedure_count < count; procedure_count++)
        if (![self readProcedure:procedure_count of:description networks:networks]) return NO;
    NSArray *in = at(NSArray, description, @"kANEFModelInputSymbolsArrayKey");
    NSArray *out = at(NSArray, description, @"kANEFModelOutputSymbolsArrayKey");
    if (in) input_symbols = [in count];
    if (out) output_symbols = [out count];
    return procedures != NULL;
}

- (id)initWithCompiled:(StandinCompiled *)program {
    if (!(self = [super init])) return nil;
    compiled = [program retain];
    attributes = [read_attributes(program->number) retain];
    if (attributes && [self readProcedures]) return self;
    core_log(@"standin: the server's attributes cannot be read");
    [self release];
    return nil;
}

- (void)dealloc {
    for (NSUInteger i = 0; procedures && i <= procedure_count; i++) { // the last one may be half read
        free(procedures[i].inputs);
        free(procedures[i].outputs);
    }
    free(procedures);
    [attributes release];
    [compiled release];
    [super dealloc];
}

@end
