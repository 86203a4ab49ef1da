// _ANEInMemoryModelDescriptor.
#import "ane_descriptor.h"

#import "sha256.h"

@implementation StandinDescriptor

static NSString *hash_of(NSData *data) {
    struct sha256 s;
    sha256_start(&s);
    sha256_add(&s, [data bytes], [data length]);
    return sha256_finish(&s);
}

// From each inner dictionary, in the order of the sorted keys, takes the first of allValues.
static NSString *hash_of_weights(NSDictionary *weights) {
    struct sha256 s;
    sha256_start(&s);
    for (NSString *key in [[weights allKeys] sortedArrayUsingSelector:@selector(compare:)]) {
        NSData *first = [[[weights objectForKey:key] allValues] objectAtIndex:0];
        const void *bytes = [first bytes];
        sha256_add(&s, bytes, [first length]);
    }
    return sha256_finish(&s);
}

// The hashes of the files into which memory_model_save writes text and weights.
static void hash_files(StandinDescriptor *d, NSDictionary *weights) {
    NSMutableDictionary *all = [NSMutableDictionary dictionaryWithObject:d->text_hash forKey:@"net.plist"];
    for (NSString *key in [weights allKeys]) {
        NSDictionary *inner = [weights objectForKey:key];
        NSString *name = [[inner allKeys] objectAtIndex:0];
        if ([all objectForKey:name]) d->shared_name = YES;
        [all setObject:hash_of([inner objectForKey:name]) forKey:name];
    }
    d->file_hashes = [all retain];
}

static const char *unusable(NSData *text, NSDictionary *weights) {
    if (!text) return "no text";
    if (!weights) return "no weights";
    for (NSString *key in [weights allKeys])
        if ([[[weights objectForKey:key] allKeys] count] == 0) return "an empty dictionary in weights";
    return NULL;
}

static id fill(StandinDescriptor *d, NSData *text, NSDictionary *weights, NSData *plist, BOOL mil) {
    if (!d) return nil;
    const char *why = NULL;
    @try {
        why = unusable(text, weights);
        if (!why) {
            d->text_hash = [hash_of(text) retain];
            d->weights_hash = [hash_of_weights(weights) retain];
            d->plist_hash = [hash_of(plist) retain];
            if (core.profile >= PROFILE_27) hash_files(d, weights);
        }
    } @catch (id e) { // keeps the count of objects exact
        [d release];
        @throw;
    }
    if (why) {
        core_log(@"_ANEInMemoryModelDescriptor: %s", why);
        [d release];
        return nil;
    }
    d->text = [text copy];
    d->weights = [weights retain];
    d->plist = [plist copy];
    d->mil = mil;
    return d;
}

+ (id)modelWithMILText:(NSData *)t weights:(NSDictionary *)w optionsPlist:(NSData *)p {
    if (fault_enter(_cmd).kind == STANDIN_NIL) return nil;
    return [fill([self alloc], t, w, p, YES) autorelease];
}

+ (id)modelWithNetworkDescription:(NSData *)t weights:(NSDictionary *)w optionsPlist:(NSData *)p {
    return [fill([self alloc], t, w, p, NO) autorelease];
}

- (id)initWithNetworkText:(NSData *)t weights:(NSDictionary *)w optionsPlist:(NSData *)p isMILModel:(BOOL)m {
    return fill(self, t, w, p, m);
}

NSString *descriptor_identity(StandinDescriptor *d) {
    return [NSString stringWithFormat:@"%@_%@_%@", d->text_hash, d->weights_hash, d->plist_hash];
}

- (NSString *)hexStringIdentifier {
    if (fault_enter(_cmd).kind == STANDIN_NIL) return nil;
    return descriptor_identity(self);
}

- (BOOL)isEqualToInMemoryModelDescriptor:(StandinDescriptor *)other {
    core_require(other, "_ANEInMemoryModelDescriptor", "networkTextHash");
    return other && [descriptor_identity(self) isEqualToString:descriptor_identity(other)];
}

- (BOOL)isMILModel {
    return mil;
}

- (NSData *)networkText {
    return text;
}

- (NSString *)networkTextHash {
    return text_hash;
}

- (NSData *)optionsPlist {
    return plist;
}

- (NSString *)optionsPlistHash {
    return plist_hash;
}

- (NSDictionary *)perFileHashes {
    return file_hashes;
}

- (NSDictionary *)weights {
    return weights;
}

- (NSString *)weightsHash {
    return weights_hash;
}

- (void)dealloc {
    [text release];
    [plist release];
    [weights release];
    [text_hash release];
    [weights_hash release];
    [plist_hash release];
    [file_hashes release];
    [super dealloc];
}

@end
