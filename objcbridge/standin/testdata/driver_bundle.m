// What framework 382.11 of macOS 27 compiles: a directory in its place, with the files that the descriptor hashed,
// without symbolic links, and with one name for each weight. Each profile runs in a child.
#include "driver_ane.h"

@protocol Verifies
- (NSDictionary *)perFileHashes;
- (void)setPerFileHashes:(NSDictionary *)hashes;
- (void)setModelURL:(NSURL *)url;
@end

@protocol HashEncoding
+ (BOOL)verifyBundleAtPath:(NSString *)path expectedHashes:(NSDictionary *)hashes error:(NSError **)error;
+ (NSString *)hexStringForFileAtPath:(NSString *)path;
@end

@protocol CloneHelper
+ (BOOL)bundleContainsSymlinkAtPath:(NSString *)path;
@end

static NSString *profile;

static BOOL is_27(void) { return [profile hasPrefix:@"27"]; }

static NSDictionary *none(void) { return [NSDictionary dictionary]; }

static NSDictionary *inner(NSString *name, const char *data) {
    return [NSDictionary dictionaryWithObject:data_of(data) forKey:name];
}

static id<Model> weighted(const char *text, NSDictionary *weights) {
    return [models() inMemoryModelWithDescriptor:[descriptors() modelWithMILText:data_of(text) weights:weights
                                                                    optionsPlist:nil]];
}

static BOOL compiles(id<Model> m, NSError **error) { return [m compileWithQoS:21 options:none() error:error]; }

static void forget(id<Model> m) {
    [m purgeCompiledModel];
    [[NSFileManager defaultManager] removeItemAtPath:[m localModelPath] error:NULL];
}

// Requires a compile to work, or to end with code 10.
static void outcome(const char *what, id<Model> m, BOOL works) {
    NSError *error = nil;
    BOOL ok = compiles(m, &error);
    CHECK(what, works ? ok && !error
                      : !ok && [error code] == 10 && [[error domain] isEqualToString:@"com.apple.appleneuralengine"] &&
                            [[error localizedDescription] isEqualToString:@"verifyBundleAtPath: invalid model"]);
    forget(m);
}

static void weights(void) {
    NSDictionary *one = [NSDictionary dictionaryWithObject:inner(@"data", "w") forKey:@"@model_path/weights/w.bin"];
    outcome("one file called data compiles", weighted("one file", one), YES);
    NSDictionary *same = [NSDictionary dictionaryWithObjectsAndKeys:inner(@"data", "v"), @"v", inner(@"data", "w"), @"w", nil];
    outcome("two files called data: not on 27", weighted("same name", same), !is_27());
    NSDictionary *other = [NSDictionary dictionaryWithObjectsAndKeys:inner(@"a", "v"), @"v", inner(@"b", "w"), @"w", nil];
    outcome("two files of different names: by profile", weighted("different names", other),
            ![profile isEqualToString:@"27"]);
}

static void places(void) {
    id<Model> m = model_of("in its place");
    NSString *below = [[m localModelPath] stringByAppendingPathComponent:[m hexStringIdentifier]];
    [[NSFileManager defaultManager] createDirectoryAtPath:below withIntermediateDirectories:YES attributes:nil error:NULL];
    [data_of("text") writeToFile:[below stringByAppendingPathComponent:@"model.mil"] atomically:NO];
    [data_of("in its place") writeToFile:[below stringByAppendingPathComponent:@"net.plist"] atomically:NO];
    [(id<Verifies>)m setModelURL:[NSURL fileURLWithPath:below]];
    outcome("a directory of the caller's choice: not on 27", m, !is_27());

    char before[4096];
    standin_temp_dir(before, sizeof before);
    standin_set_temp_dir("/usr");
    outcome("another folder than the user's: not on 27", model_of("in another place"), !is_27());
    standin_set_temp_dir(before);
    outcome("the user's folder", model_of("in the user's place"), YES);
}

static void links(void) {
    id<Model> m = model_of("with a link");
    NSString *path = [m localModelPath];
    [[NSFileManager defaultManager] createDirectoryAtPath:path withIntermediateDirectories:YES attributes:nil error:NULL];
    CHECK("a link can be made", symlink("/etc/hostname", [[path stringByAppendingPathComponent:@"l"] fileSystemRepresentation]) == 0);
    if (is_27())
        CHECK("the link is found", [(Class<CloneHelper>)NSClassFromString(@"_ANECloneHelper") bundleContainsSymlinkAtPath:path]);
    outcome("a symbolic link among the files: not on 27", m, !is_27());
}

static void hashes(void) {
    Class<HashEncoding> verifier = (Class<HashEncoding>)NSClassFromString(@"_ANEHashEncoding");
    CHECK("_ANEHashEncoding is new on 27", (verifier != Nil) == is_27());
    if (!is_27()) return;
    NSDictionary *w = [NSDictionary dictionaryWithObject:inner(@"data", "abc") forKey:@"w"];
    id<Model> m = weighted("with hashes", w);
    NSString *abc = @"BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD";
    NSDictionary *known = [(id<Verifies>)m perFileHashes];
    CHECK("a hash for each file", [known count] == 2 && [[known objectForKey:@"data"] isEqualToString:abc] &&
                                      [known objectForKey:@"net.plist"]);
    NSError *error = nil;
    CHECK("it compiles", compiles(m, &error));
    NSString *path = [m localModelPath];
    NSString *file = [path stringByAppendingPathComponent:@"data"];
    CHECK("the file's hash", [[verifier hexStringForFileAtPath:file] isEqualToString:abc]);
    CHECK("the directory is as hashed", [verifier verifyBundleAtPath:path expectedHashes:known error:&error]);
    [data_of("abd") writeToFile:file atomically:NO];
    CHECK("a changed file is not", ![verifier verifyBundleAtPath:path expectedHashes:known error:&error] && [error code] == 10);
    [[NSFileManager defaultManager] removeItemAtPath:file error:NULL];
    CHECK("nor a missing one", ![verifier verifyBundleAtPath:path expectedHashes:known error:NULL]);
    forget(m);
    CHECK("nor a missing directory", ![verifier verifyBundleAtPath:path expectedHashes:none() error:NULL]);

    m = weighted("with other hashes", w);
    [(id<Verifies>)m setPerFileHashes:[NSDictionary dictionaryWithObject:abc forKey:@"net.plist"]];
    outcome("a text that is not as hashed", m, NO);
}

static void one_profile(void) {
    CHECK("start", start([profile UTF8String], NULL, NULL) == 0);
    @autoreleasepool {
        weights();
        places();
        links();
        hashes();
    }
    check_end();
}

int main(void) {
    @autoreleasepool {
        for (NSString *name in [NSArray arrayWithObjects:@"26", @"27", @"27-names", nil]) {
            profile = name;
            char text[4096];
            printf("  profile %s\n", [name UTF8String]);
            CHECK("a profile", in_child(one_profile, text, sizeof text) == 0);
        }
    }
    return driver_failures != 0;
}
