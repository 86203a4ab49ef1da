// A loaded program: its attributes, and what they say of each procedure's symbols.
#import "programs.h"

#include <stdlib.h>

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
    return [plist isKindOfClass:[NSDictionary class]] ? plist : nil;
}

static NSString *bare(NSString *name) {
    return [name hasSuffix:@"@output"] ? [name substringToIndex:[name length] - [@"@output" length]] : name;
}

static int64_t number(NSDictionary *live, NSString *key) { return [[live objectForKey:key] longLongValue]; }

// Bytes that a symbol's surface has to have: Batches * BatchStride, from the live list of its procedure, or
// of another when that has it not.
static int64_t minimum_of(NSDictionary *attributes, NSString *list, NSString *name, NSUInteger procedure) {
    NSArray *networks = [attributes objectForKey:@"NetworkStatusList"];
    int64_t found = 0;
    for (NSUInteger i = 0; i < [networks count]; i++) {
        for (NSDictionary *live in [[networks objectAtIndex:i] objectForKey:list]) {
            if (![bare([live objectForKey:@"Name"]) isEqualToString:bare(name)]) continue;
            int64_t batches = number(live, @"Batches");
            if (found == 0 || i == procedure) found = (batches > 0 ? batches : 1) * number(live, @"BatchStride");
        }
    }
    return found;
}

static int by_index(const void *a, const void *b) {
    uint32_t x = ((const struct symbol *)a)->index, y = ((const struct symbol *)b)->index;
    return (x > y) - (x < y);
}

static struct symbol *read_symbols(NSDictionary *attributes, NSArray *indices, NSArray *names, NSString *list,
                                   NSUInteger procedure) {
    struct symbol *made = calloc([indices count] + 1, sizeof *made);
    for (NSUInteger i = 0; made && i < [indices count]; i++) {
        NSUInteger index = [[indices objectAtIndex:i] unsignedIntegerValue];
        made[i].index = (uint32_t)index;
        if (index < [names count])
            made[i].minimum = minimum_of(attributes, list, [names objectAtIndex:index], procedure);
    }
    if (made) qsort(made, [indices count], sizeof *made, by_index);
    return made;
}

- (BOOL)readProcedures {
    NSDictionary *description = [attributes objectForKey:@"ANEFModelDescription"];
    NSArray *inputs = [description objectForKey:@"kANEFModelInputSymbolsArrayKey"];
    NSArray *outputs = [description objectForKey:@"kANEFModelOutputSymbolsArrayKey"];
    NSArray *list = [description objectForKey:@"ANEFModelProcedures"];
    input_symbols = [inputs count];
    output_symbols = [outputs count];
    procedures = calloc([list count] + 1, sizeof *procedures);
    if (!procedures) return NO;
    procedure_count = [list count];
    for (NSUInteger i = 0; i < procedure_count; i++) {
        NSArray *in = [[list objectAtIndex:i] objectForKey:@"ANEFModelInputSymbolIndexArray"];
        NSArray *out = [[list objectAtIndex:i] objectForKey:@"ANEFModelOutputSymbolIndexArray"];
        procedures[i].inputs = read_symbols(attributes, in, inputs, @"LiveInputList", i);
        procedures[i].outputs = read_symbols(attributes, out, outputs, @"LiveOutputList", i);
        if (!procedures[i].inputs || !procedures[i].outputs) return NO;
        procedures[i].input_count = (int32_t)[in count];
        procedures[i].output_count = (int32_t)[out count];
    }
    return procedure_count > 0;
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
    for (NSUInteger i = 0; i < procedure_count; i++) {
        free(procedures[i].inputs);
        free(procedures[i].outputs);
    }
    free(procedures);
    [attributes release];
    [compiled release];
    [super dealloc];
}

@end
