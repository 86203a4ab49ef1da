// A loaded program: its attributes, and the symbols of each procedure in them. Replayed attributes may
// have any content, so each value's type is checked.
#import "programs.h"

#include <stdlib.h>

#import "live_entries.h"
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

static int by_index(const void *a, const void *b) {
    uint32_t x = ((const struct symbol *)a)->index, y = ((const struct symbol *)b)->index;
    return (x > y) - (x < y);
}

// The attributes, parsed once for all procedures.
struct parsed {
    NSArray *networks, *procedures, *entries[LIVE_SIDES];
    NSDictionary *description, *numbers; // numbers of procedures by name
};

// The symbols of a procedure's side. They count from first if the attributes number none. Entries
// without names are in the order of the procedure's list of symbols.
static struct symbol *read_symbols(const struct parsed *all, enum live_side side, NSArray *indices, NSUInteger network,
                                   NSUInteger first, NSUInteger count) {
    NSArray *names = at(NSArray, all->description,
                        side == LIVE_INPUTS ? @"kANEFModelInputSymbolsArrayKey" : @"kANEFModelOutputSymbolsArrayKey");
    struct symbol *made = calloc(count + 1, sizeof *made);
    for (NSUInteger i = 0; made && i < count; i++) {
        made[i].index = indices ? (uint32_t)[as(NSNumber, item(indices, i)) longLongValue] : (uint32_t)(first + i);
        NSDictionary *entry = indices ? live_find(all->entries[side], network, as(NSString, item(names, made[i].index)), i)
                                      : as(NSDictionary, item(item(all->entries[side], network), i));
        made[i].minimum = live_bytes(entry);
    }
    if (made) qsort(made, count, sizeof *made, by_index);
    return made;
}

static NSString *name_of(const struct parsed *all, int64_t number) {
    for (id name in all->numbers) {
        NSNumber *n = at(NSNumber, all->numbers, name);
        if (n && [n longLongValue] == number) return as(NSString, name);
    }
    return nil;
}

- (BOOL)readProcedure:(NSUInteger)i of:(const struct parsed *)all count:(NSUInteger)count {
    NSDictionary *own = as(NSDictionary, item(all->procedures, i));
    NSArray *in = at(NSArray, own, @"ANEFModelInputSymbolIndexArray");
    NSArray *out = at(NSArray, own, @"ANEFModelOutputSymbolIndexArray");
    struct procedure *p = &procedures[i];
    NSNumber *number = at(NSNumber, own, @"ANEFModelProcedureID");
    p->number = number ? [number longLongValue] : (int64_t)i;
    NSUInteger network = live_network(all->networks, name_of(all, p->number), i, count);
    NSUInteger inputs = in ? [in count] : [(NSArray *)item(all->entries[LIVE_INPUTS], network) count];
    NSUInteger outputs = out ? [out count] : [(NSArray *)item(all->entries[LIVE_OUTPUTS], network) count];
    p->inputs = read_symbols(all, LIVE_INPUTS, in, network, input_symbols, inputs);
    p->outputs = read_symbols(all, LIVE_OUTPUTS, out, network, output_symbols, outputs);
    p->input_count = inputs > INT32_MAX ? INT32_MAX : (int32_t)inputs;
    p->output_count = outputs > INT32_MAX ? INT32_MAX : (int32_t)outputs;
    input_symbols += inputs;
    output_symbols += outputs;
    return p->inputs && p->outputs;
}

// Without a description of procedures each network is a procedure, and its entries are its symbols.
- (BOOL)readProcedures {
    NSString *const numbers = @"kANEFModelProcedureNameToIDMapKey";
    struct parsed all = {.networks = at(NSArray, attributes, @"NetworkStatusList"),
                         .description = at(NSDictionary, attributes, @"ANEFModelDescription")};
    all.procedures = at(NSArray, all.description, @"ANEFModelProcedures");
    all.numbers = at(NSDictionary, all.description, numbers);
    if (!all.numbers) all.numbers = at(NSDictionary, attributes, numbers);
    for (int side = 0; side < LIVE_SIDES; side++)
        all.entries[side] = live_entries(all.networks, (enum live_side)side, all.procedures != nil);
    NSUInteger count = all.procedures ? [all.procedures count] : [all.networks count];
    procedures = calloc(count + 1, sizeof *procedures);
    for (; procedures && procedure_count < count; procedure_count++)
        if (![self readProcedure:procedure_count of:&all count:count]) return NO;
    NSArray *in = at(NSArray, all.description, @"kANEFModelInputSymbolsArrayKey");
    NSArray *out = at(NSArray, all.description, @"kANEFModelOutputSymbolsArrayKey");
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
    for (NSUInteger i = 0; procedures && i <= procedure_count; i++) { // the last one may be partly read
        free(procedures[i].inputs);
        free(procedures[i].outputs);
    }
    free(procedures);
    [attributes release];
    [compiled release];
    [super dealloc];
}

@end
