// _ANEModel.
#import "ane_model.h"

#import "typed.h"

@implementation StandinModel

static id fill(StandinModel *m, NSURL *url, NSString *key) {
    static uint64_t strings;
    if (!m) return nil;
    m->url = [url retain];
    m->key = [key copy];
    m->uuid = [[NSUUID alloc] init];
    m->state = MODEL_FRESH;
    m->attributes = [[NSDictionary alloc] init]; // empty before load
    m->string_id = counter_add(&strings, 1);
    return m;
}

StandinModel *model_at(NSURL *url) {
    return [fill(core_alloc("_ANEModel", [StandinModel class]), url, @"") autorelease];
}

+ (id)modelAtURL:(NSURL *)u key:(NSString *)k {
    if (!u || [[[u path] pathComponents] containsObject:@".."]) return nil;
    return [fill([self alloc], [u standardizedURL], k) autorelease];
}

- (NSURL *)modelURL {
    return url;
}

- (NSString *)key {
    return key;
}

- (NSUUID *)UUID {
    return uuid;
}

- (NSUUID *)getUUID {
    return uuid;
}

- (NSDictionary *)modelAttributes {
    if (fault_enter_as("_ANEModel modelAttributes", _cmd).kind == STANDIN_NIL) return nil;
    return attributes;
}

- (id)program {
    return program;
}

- (uint64_t)programHandle {
    return program ? program_shown_handle(program) : 0;
}

- (uint64_t)intermediateBufferHandle {
    return program ? program->intermediate : 0;
}

- (signed char)queueDepth {
    return program ? program->depth : 0;
}

- (uint64_t)state {
    return state;
}

- (uint64_t)string_id {
    return string_id;
}

- (uint32_t)perfStatsMask {
    return mask;
}

- (void)setPerfStatsMask:(uint32_t)value {
    mask = value;
}

- (int64_t)identifierSource {
    return 1;
}

static NSArray *symbols(StandinModel *m, NSString *name) {
    return at(NSArray, at(NSDictionary, m->attributes, @"ANEFModelDescription"), name);
}

- (uint64_t)numInputs {
    return [symbols(self, @"kANEFModelInputSymbolsArrayKey") count];
}

- (uint64_t)numOutputs {
    return [symbols(self, @"kANEFModelOutputSymbolsArrayKey") count];
}

static NSDictionary *procedure(StandinModel *m, uint32_t index) {
    return as(NSDictionary, item(symbols(m, @"ANEFModelProcedures"), index));
}

static NSIndexSet *index_set(StandinModel *m, uint32_t index, NSString *name) {
    NSMutableIndexSet *set = [NSMutableIndexSet indexSet];
    for (id n in at(NSArray, procedure(m, index), name)) {
        long long i = [as(NSNumber, n) longLongValue];
        if (as(NSNumber, n) && i >= 0 && i < INT32_MAX) [set addIndex:(NSUInteger)i];
    }
    return set;
}

- (NSDictionary *)procedureInfoForProcedureIndex:(uint32_t)index {
    return procedure(self, index);
}

- (NSIndexSet *)inputSymbolIndicesForProcedureIndex:(uint32_t)index {
    return index_set(self, index, @"ANEFModelInputSymbolIndexArray");
}

- (NSIndexSet *)outputSymbolIndicesForProcedureIndex:(uint32_t)index {
    return index_set(self, index, @"ANEFModelOutputSymbolIndexArray");
}

- (void)dealloc {
    [url release];
    [key release];
    [uuid release];
    [attributes release];
    [program release];
    [super dealloc];
}

@end
