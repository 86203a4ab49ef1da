// From text to result and back: descriptor, model, files, compile, load, evaluate, unload, purge.
#include "driver_ane.h"

static id<Model> fresh(void) {
    id plist = data_of("<plist/>");
    id weights = [NSDictionary dictionaryWithObject:[NSDictionary dictionaryWithObject:data_of("w") forKey:@"one.bin"]
                                             forKey:@"@model_path/one.bin"];
    id d = [descriptors() modelWithMILText:data_of("program") weights:weights optionsPlist:plist];
    CHECK("identity is three hashes", [[d hexStringIdentifier] length] == 194);
    return [models() inMemoryModelWithDescriptor:d];
}

static void files(id<Model> m) {
    NSString *path = [m localModelPath];
    CHECK("path is below the temporary directory", [path hasPrefix:NSTemporaryDirectory()] &&
                                                       [[path lastPathComponent] isEqualToString:[m hexStringIdentifier]]);
    CHECK("nothing is written before compile", !exists(path));
    CHECK("fresh", [m state] == 0 && [m descriptor] && ![m modelURL] && ![m model] && ![m program]);
    CHECK("attributes are empty before load", [m modelAttributes] && [[m modelAttributes] count] == 0);
}

static void compile(id<Model> m) {
    NSError *error = nil;
    NSString *path = [m localModelPath];
    CHECK("compile", [m compileWithQoS:21 options:[NSDictionary dictionary] error:&error] && !error);
    CHECK("net.plist is written", [[NSData dataWithContentsOfFile:[path stringByAppendingPathComponent:@"net.plist"]]
                                      isEqual:data_of("program")]);
    CHECK("options are written", exists([path stringByAppendingPathComponent:@"compiler_options.plist"]));
    CHECK("weights are written", exists([path stringByAppendingPathComponent:@"one.bin"]));
    CHECK("descriptor is cleared, URL set", ![m descriptor] && [[[m modelURL] path] isEqualToString:path] && [m model]);
    CHECK("cached", [m compiledModelExists]);
    CHECK("the inner model's attributes are empty before load",
          [[m model] modelAttributes] && [[[m model] modelAttributes] count] == 0);
    id before = [[m model] retain];
    CHECK("a second compile makes another inner model",
          [m compileWithQoS:21 options:[NSDictionary dictionary] error:&error] && [m model] != before);
    [before release];
}

static void run(id<Model> m) {
    NSError *error = nil;
    IOSurfaceRef in = surface_of(16384), out = surface_of(16384);
    bytes_of(in)[7] = 41;
    @autoreleasepool {
        id<Request> r = request_of(in, out);
        CHECK("evaluate before load: NO without error",
              ![m evaluateWithQoS:21 options:[NSDictionary dictionary] request:r error:&error] && !error);
        CHECK("load", [m loadWithQoS:21 options:[NSDictionary dictionary] error:&error] && !error);
        CHECK("loaded", [m state] == 3 && [m queueDepth] == 127 && [m programHandle] && [m program]);
        CHECK("attributes", [[m modelAttributes] objectForKey:@"NetworkStatusList"] != nil);
        CHECK("evaluate", [m evaluateWithQoS:21 options:[NSDictionary dictionary] request:r error:&error] && !error);
        CHECK("result", bytes_of(out)[7] == 42 && bytes_of(out)[8] == 1);
    }
    CHECK("the request was dropped", served.requests_dropped == 1);
    CFRelease(in);
    CFRelease(out);
}

static void unload(id<Model> m) {
    NSError *error = nil;
    NSDictionary *options = [NSDictionary dictionary];
    NSString *path = [m localModelPath];
    CHECK("unload", [m unloadWithQoS:21 error:&error] && !error);
    CHECK("unload removes the directory, keeps program and state", !exists(path) && [m program] && [m state] == 3);
    [[NSFileManager defaultManager] createDirectoryAtPath:path withIntermediateDirectories:YES attributes:nil error:NULL];
    CHECK("a second unload fails, and removes the directory too",
          ![m unloadWithQoS:21 error:&error] && error && !exists(path));
    error = nil;
    IOSurfaceRef s = surface_of(BYTES);
    id<Request> r = request_of(s, s);
    CHECK("evaluate after unload", ![m evaluateWithQoS:21 options:options request:r error:&error] && [error code] == 8);
    CFRelease(s);
    error = nil;
    CHECK("load again from the cache", [m loadWithQoS:21 options:options error:&error]);
    CHECK("unload again", [m unloadWithQoS:21 error:&error]);
    [m purgeCompiledModel];
    CHECK("purged", ![m compiledModelExists]);
    CHECK("load without cache and files: error 16",
          ![m loadWithQoS:21 options:options error:&error] && [error code] == 16 &&
              [[error localizedDescription] isEqualToString:@"compileAsNeededAndLoadCachedModel:...: file not found"]);
    error = nil;
    CHECK("compile without files: error 9",
          ![m compileWithQoS:21 options:options error:&error] && [error code] == 9 &&
              [[error localizedDescription] isEqualToString:@"compileWithQoS:options:error:: file access failure"]);
}

// Released while loaded: files stay, the driver keeps the program.
static void release_loaded(void) {
    NSString *path = nil;
    @autoreleasepool {
        id<Model> m = loaded_model("kept");
        path = [[m localModelPath] retain];
    }
    standin_counts c;
    standin_count(&c);
    CHECK("dealloc neither unloads nor removes files", exists(path) && c.loaded == 1);
    [[NSFileManager defaultManager] removeItemAtPath:path error:NULL];
    [path release];
}

int main(void) {
    @autoreleasepool {
        CHECK("start", start("26", NULL, NULL) == 0);
        CHECK("start twice", start("26", NULL, NULL) == 2);
        @autoreleasepool {
            id<Model> m = fresh();
            files(m);
            compile(m);
            run(m);
            unload(m);
        }
    }
    standin_counts c;
    standin_count(&c);
    CHECK("no objects are left", c.instances == 0 && c.loaded == 0 && c.cached == 0 && c.compiles == 1);
    CHECK("the server's program was dropped", served.dropped == 1);
    @autoreleasepool {
        release_loaded();
    }
    return driver_failures != 0;
}
