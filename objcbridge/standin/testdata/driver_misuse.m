// Apple's results of wrong or unusual calls.
#include "driver_ane.h"

static NSDictionary *none(void) { return [NSDictionary dictionary]; }

static void descriptor_manners(void) {
    NSDictionary *number = [NSDictionary dictionaryWithObject:[NSDictionary dictionaryWithObject:index_of(0) forKey:@"offset"]
                                                       forKey:@"k"];
    NSDictionary *empty = [NSDictionary dictionaryWithObject:none() forKey:@"k"];
    CHECK("text that is a string raises",
          unrecognized(RAISED([descriptors() modelWithMILText:@"program" weights:none() optionsPlist:nil])));
    CHECK("weights that are no data raise",
          unrecognized(RAISED([descriptors() modelWithMILText:data_of("p") weights:number optionsPlist:nil])));
    CHECK("weights that are no dictionary raise",
          unrecognized(RAISED([descriptors() modelWithMILText:data_of("p") weights:@"w" optionsPlist:nil])));
    CHECK("no text: nil", ![descriptors() modelWithMILText:nil weights:none() optionsPlist:nil]);
    CHECK("no weights: nil", ![descriptors() modelWithMILText:data_of("p") weights:nil optionsPlist:nil]);
    CHECK("an empty inner dictionary: nil", ![descriptors() modelWithMILText:data_of("p") weights:empty optionsPlist:nil]);
    id d = [descriptors() modelWithMILText:data_of("abc") weights:none() optionsPlist:nil];
    NSString *empty_hash = @"E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855";
    NSString *abc = @"BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD";
    CHECK("identity is three SHA-256",
          [[d hexStringIdentifier] isEqualToString:[NSString stringWithFormat:@"%@_%@_%@", abc, empty_hash, empty_hash]]);
}

static void model_manners(void) {
    Class m = NSClassFromString(@"_ANEInMemoryModel");
    CHECK("+new: nil", [m new] == nil);
    CHECK("-init: nil", [[m alloc] init] == nil);
    CHECK("no descriptor: nil", [models() inMemoryModelWithDescriptor:nil] == nil);
    CHECK("a wrong descriptor raises", unrecognized(RAISED([models() inMemoryModelWithDescriptor:@"d"])));
}

static void compile_manners(void) {
    NSError *error = nil;
    id<Model> m = model_of("bad program");
    CHECK("a rejection by the compiler", ![m compileWithQoS:21 options:none() error:&error]);
    CHECK("the error's domain, code and text", [[error domain] isEqualToString:@"com.apple.appleneuralengine.compiler"] &&
                                           [error code] == 1 &&
                                           [[error localizedDescription] isEqualToString:@"_ANECompiler : ANECCompile() FAILED"]);
    NSError *cause = [[error userInfo] objectForKey:NSUnderlyingErrorKey];
    NSString *text = [NSString stringWithFormat:@"ANECCompile(%@) FAILED: err=(InvalidMILProgram)", [m localModelPath]];
    CHECK("its cause", [[cause domain] isEqualToString:[error domain]] && [[cause localizedDescription] isEqualToString:text]);
    CHECK("files stay after a failed compile", exists([m localModelPath]));
    CHECK("a failed compile needs no error", ![m compileWithQoS:21 options:none() error:NULL]);
    error = nil;
    CHECK("load of what is not compiled: error 16", ![m loadWithQoS:21 options:none() error:&error] && [error code] == 16);
    [[NSFileManager defaultManager] removeItemAtPath:[m localModelPath] error:NULL];
    error = nil;
    m = model_of("never saved");
    CHECK("load of what has no files: error 16", ![m loadWithQoS:21 options:none() error:&error] && [error code] == 16);
    error = nil;
    CHECK("nil options: Core ML's error", ![m compileWithQoS:21 options:nil error:&error] &&
                                              [[error domain] hasSuffix:@".espresso"] &&
                                              [[error localizedDescription] hasSuffix:@"/model.espresso.net"] &&
                                              [[error localizedDescription] rangeOfString:@"Cannot load network /"].length);
    [[NSFileManager defaultManager] removeItemAtPath:[m localModelPath] error:NULL];
    CHECK("options that are no dictionary raise", RAISED([model_of("o") compileWithQoS:21 options:@"o" error:NULL]) != nil);
}

static void file_manners(void) {
    NSError *error = nil;
    NSDictionary *inner = [NSDictionary dictionaryWithObject:data_of("w") forKey:@"weights/weight.bin"];
    id d = [descriptors() modelWithMILText:data_of("p") weights:[NSDictionary dictionaryWithObject:inner forKey:@"k"]
                              optionsPlist:nil];
    id<Model> m = [models() inMemoryModelWithDescriptor:d];
    NSString *path = [m localModelPath];
    CHECK("no folders are made: NO without error", ![m compileWithQoS:21 options:none() error:&error] && !error);
    CHECK("descriptor stays", [m descriptor] && ![m modelURL]);
    [[NSFileManager defaultManager] createDirectoryAtPath:[path stringByAppendingPathComponent:@"weights"]
                              withIntermediateDirectories:YES
                                               attributes:nil
                                                    error:NULL];
    [data_of("bad") writeToFile:[path stringByAppendingPathComponent:@"model.mil"] atomically:NO];
    CHECK("model.mil precedes net.plist", ![m compileWithQoS:21 options:none() error:&error] && error);
    [[NSFileManager defaultManager] removeItemAtPath:path error:NULL];
}

static void evaluate_status(id<Model> m, id<Request> r, const char *what, NSInteger code, NSString *tail) {
    NSError *error = nil;
    BOOL ok = [m evaluateWithQoS:21 options:none() request:r error:&error];
    NSString *text = [error localizedDescription];
    CHECK(what, !ok && [error code] == code && (!tail || [text hasSuffix:tail]));
}

static void refused(id<Model> m, id<Request> r, const char *what) {
    NSError *error = nil;
    CHECK(what, ![m evaluateWithQoS:21 options:none() request:r error:&error] && !error);
}

static BOOL raises(id<Model> m, id r) {
    return unrecognized(RAISED([m evaluateWithQoS:21 options:nil request:r error:NULL]));
}

static id<Request> request_with(NSArray *in, NSArray *ini, NSArray *out, NSArray *outi, id stats, id procedure) {
    return [requests() requestWithInputs:in inputIndices:ini outputs:out outputIndices:outi weightsBuffer:nil
                               perfStats:stats procedureIndex:procedure];
}

static void evaluate_manners(void) {
    id<Model> m = loaded_model("evaluate");
    NSError *error = nil;
    id<Model> zero_qos = model_of("one at QoS 0");
    CHECK("QoS 0 compiles and loads", [zero_qos compileWithQoS:0 options:none() error:&error] &&
                                          [zero_qos loadWithQoS:0 options:none() error:&error] && !error);
    IOSurfaceRef in = surface_of(16384), out = surface_of(16384), tiny = surface_of(BYTES - 1);
    memset(bytes_of(out), 9, BYTES);
    @autoreleasepool {
        id a = wrap(in), p = wrap(out);
        NSArray *one = [NSArray arrayWithObject:a], *zero = [NSArray arrayWithObject:index_of(0)];
        NSString *bad = @": ANEProgramProcessRequestDirect() Failed with status=0x2 : statusType=0x9: Program Inference error";
        NSString *small = @": ANEProgramProcessRequestDirect() Failed with status=0x1d : statusType=0x9: Program Inference error";
        evaluate_status(m, request_at(a, 1, p, 0), "wrong input index: 0x2", 8, bad);
        evaluate_status(m, request_at(a, 0, p, 1), "wrong output index: 0x2", 8, bad);
        evaluate_status(m, request_with(one, zero, one, zero, nil, index_of(2)), "unknown procedure: 0x2", 8, bad);
        evaluate_status(m, request_at(wrap(tiny), 0, p, 0), "short input: 0x1d", 8, small);
        evaluate_status(m, request_at(a, 0, wrap(tiny), 0), "short output: 0x1d", 8, small);
        CHECK("a failed run leaves the output", bytes_of(out)[0] == 9);
        for (unsigned i = 0; i < 16; i++)
            if (![zero_qos evaluateWithQoS:0 options:none() request:request_with(one, zero, [NSArray arrayWithObject:p], zero, nil,
                                                                               index_of(i)) error:&error])
                CHECK("a program of one procedure takes the indices 0 to 15", NO);
        CHECK("the indices 0 to 15 run it", bytes_of(out)[0] == 1 && [zero_qos unloadWithQoS:0 error:&error]);
        memset(bytes_of(out), 9, BYTES);
        refused(m, nil, "no request");
        refused(m, request_with([NSArray array], [NSArray array], one, zero, nil, nil), "no inputs");
        refused(m, request_with(one, [NSArray array], one, zero, nil, nil), "too few indices");
        refused(m, request_at(a, 255, p, 0), "index 255");
        refused(m, request_with(one, zero, one, zero, nil, index_of(129)), "procedure 129");
        NSMutableArray *many = [NSMutableArray array], *indices = [NSMutableArray array];
        for (unsigned i = 0; i < 256; i++) {
            [many addObject:a];
            [indices addObject:index_of(i % 255)];
        }
        refused(m, request_with(many, indices, one, zero, nil, nil), "256 inputs");
        CHECK("a wrong request raises", raises(m, @"r"));
        CHECK("a wrong surface raises", raises(m, request_at(@"s", 0, p, 0)));
        CHECK("a wrong index raises", raises(m, request_with(one, one, one, zero, nil, nil)));
        CHECK("statistics that are no array raise", raises(m, request_with(one, zero, one, zero, a, nil)));
        error = nil;
        CHECK("mapping: error 13",
              ![m mapIOSurfacesWithRequest:request_of(in, out) cacheInference:NO error:&error] && [error code] == 13 &&
                  [[error localizedDescription] isEqualToString:@"mapIOSurfacesWithModel:request:cacheInference:error:: "
                                                                @"Program IOSurfaces map failure (0x12)"]);
    }
    @autoreleasepool {
        error = nil;
        IOSurfaceRef c = surface_of(BYTES);
        bytes_of(in)[0] = 10;
        bytes_of(c)[0] = 20;
        id b = wrap(in), two = [NSArray arrayWithObjects:wrap(c), b, nil];
        NSArray *indices = [NSArray arrayWithObjects:index_of(2), index_of(1), nil];
        id<Request> r = request_with(two, indices, [NSArray arrayWithObject:wrap(out)],
                                     [NSArray arrayWithObject:index_of(1)], nil, index_of(1));
        CHECK("procedure 1 with its own indices, in any order",
              [m evaluateWithQoS:21 options:none() request:r error:&error] && bytes_of(out)[0] == 32);
        CFRelease(c);
        id offset = [surfaces() objectWithIOSurface:in startOffset:index_of(128)];
        bytes_of(in)[128] = 77;
        r = request_at(offset, 0, wrap(out), 0);
        CHECK("a start offset is ignored",
              [m evaluateWithQoS:21 options:none() request:r error:&error] && bytes_of(out)[0] == 11);
        CHECK("no surface: nil", [surfaces() objectWithIOSurface:NULL] == nil);
    }
    CFRelease(in);
    CFRelease(out);
    CFRelease(tiny);
    CHECK("unload", [m unloadWithQoS:21 error:&error]);
}

static void cache_manners(void) {
    NSError *error = nil;
    standin_counts before, after;
    standin_count(&before);
    id<Model> first = loaded_model("cached"), again = model_of("cached");
    CHECK("another object of the same identity is cached", [again compiledModelExists]);
    CHECK("it loads without compile or files", [again loadWithQoS:21 options:none() error:&error]);
    CHECK("a compile that hits the cache is free", [again compileWithQoS:21 options:none() error:&error]);
    standin_count(&after);
    CHECK("one compile was spent", after.compiles == before.compiles + 1 && after.loaded == before.loaded + 2);
    [first unloadWithQoS:21 error:NULL];
    CHECK("the first unload removes the shared directory", !exists([again localModelPath]));
    CHECK("unload of the other", [again unloadWithQoS:21 error:&error]);
}

// The 127th program exceeds the limit.
static void wall(void) {
    NSMutableArray *loaded = [NSMutableArray array];
    NSError *error = nil;
    @autoreleasepool {
        (void)[loaded_model("wall") unloadWithQoS:21 error:NULL];
    }
    for (int i = 0; i < 126; i++) {
        id<Model> m = model_of("wall");
        if ([m loadWithQoS:21 options:none() error:&error]) [loaded addObject:m];
    }
    CHECK("126 programs load", [loaded count] == 126);
    CHECK("one more: error 6", ![model_of("wall") loadWithQoS:21 options:none() error:&error] && [error code] == 6 &&
                                   [[error localizedDescription] hasPrefix:@"createProgramInstanceForModel:"] &&
                                   [[error localizedDescription] hasSuffix:@":: Program load failure (0x50004)"]);
    for (id<Model> m in loaded) [m unloadWithQoS:21 error:NULL];
}

int main(void) {
    @autoreleasepool {
        CHECK("start", start("26", NULL, NULL) == 0);
        descriptor_manners();
        model_manners();
        compile_manners();
        file_manners();
        @autoreleasepool {
            evaluate_manners();
            cache_manners();
        }
        wall();
    }
    check_end();
    return driver_failures != 0;
}
