// Each generation has its methods with their encodings; classes and methods can be missing or changed;
// the device and the registry report a stand-in. A process starts the framework once, so each case runs
// in a child.
#include <ctype.h>

#include "driver_ane.h"

static const char *const names[] = {"15", "16.5", "17", "26", "27"};
static int profile; // index into names

// Encoding without offsets, with Apple's B for BOOL.
static void plain(const char *types, char *out, size_t size) {
    size_t n = 0;
    for (; types && *types && n + 1 < size; types++)
        if (!isdigit((unsigned char)*types)) out[n++] = *types == 'C' ? 'B' : *types;
    out[n] = 0;
}

static const struct {
    const char *class_name, *selector, *types; // as in Apple's framework
    int class_method, first, last;             // profiles, by index
} expected[] = {
    {"_ANEInMemoryModelDescriptor", "modelWithMILText:weights:optionsPlist:", "@@:@@@", 1, 0, 4},
    {"_ANEInMemoryModelDescriptor", "hexStringIdentifier", "@@:", 0, 0, 4},
    {"_ANEInMemoryModelDescriptor", "initWithNetworkText:weights:optionsPlist:isMILModel:", "@@:@@@B", 0, 0, 4},
    {"_ANEInMemoryModel", "inMemoryModelWithDescriptor:", "@@:@", 1, 0, 4},
    {"_ANEInMemoryModel", "initWithDesctiptor:", "@@:@", 0, 0, 4},
    {"_ANEInMemoryModel", "compileWithQoS:options:error:", "B@:I@^@", 0, 0, 4},
    {"_ANEInMemoryModel", "loadWithQoS:options:error:", "B@:I@^@", 0, 0, 4},
    {"_ANEInMemoryModel", "evaluateWithQoS:options:request:error:", "B@:I@@^@", 0, 0, 4},
    {"_ANEInMemoryModel", "unloadWithQoS:error:", "B@:I^@", 0, 0, 4},
    {"_ANEInMemoryModel", "compiledModelExists", "B@:", 0, 0, 4},
    {"_ANEInMemoryModel", "purgeCompiledModel", "v@:", 0, 0, 4},
    {"_ANEInMemoryModel", "queueDepth", "c@:", 0, 0, 4},
    {"_ANEInMemoryModel", "programHandle", "Q@:", 0, 0, 4},
    {"_ANEInMemoryModel", "state", "Q@:", 0, 0, 4},
    {"_ANEInMemoryModel", "perfStatsMask", "I@:", 0, 0, 4},
    {"_ANEInMemoryModel", "modelAttributes", "@@:", 0, 0, 4},
    {"_ANEInMemoryModel", "isMILModel", "B@:", 0, 1, 4},
    {"_ANEInMemoryModel", "modelURL", "@@:", 0, 1, 4},
    {"_ANEInMemoryModel", "intermediateBufferHandle", "Q@:", 0, 1, 4},
    {"_ANEInMemoryModel", "mapIOSurfacesWithRequest:cacheInference:error:", "B@:@B^@", 0, 1, 4},
    {"_ANEInMemoryModel", "unmapIOSurfacesWithRequest:", "v@:@", 0, 1, 4},
    {"_ANEInMemoryModel", "model", "@@:", 0, 2, 4},
    {"_ANEInMemoryModel", "setQueueDepth:", "v@:c", 0, 2, 4},
    {"_ANERequest", "requestWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:perfStats:procedureIndex:",
     "@@:@@@@@@@", 1, 0, 4},
    {"_ANERequest",
     "requestWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:perfStats:procedureIndex:sharedEvents:",
     "@@:@@@@@@@@", 1, 2, 4},
    {"_ANERequest", "initWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:perfStats:procedureIndex:",
     "@@:@@@@@@@", 0, 0, 1},
    {"_ANERequest", "setCompletionHandler:", "v@:@?", 0, 0, 4},
    {"_ANERequest", "completionHandler", "@?@:", 0, 0, 4},
    {"_ANERequest", "validate", "B@:", 0, 0, 4},
    {"_ANERequest", "setSharedEvents:", "v@:@", 0, 2, 4},
    {"_ANERequest", "transactionHandle", "@@:", 0, 2, 4},
    {"_ANERequest", "ioSurfacesCount", "Q@:", 0, 3, 4},
    {"_ANEIOSurfaceObject", "objectWithIOSurface:", "@@:^{__IOSurface=}", 1, 0, 4},
    {"_ANEIOSurfaceObject", "ioSurface", "^{__IOSurface=}@:", 0, 0, 4},
    {"_ANEIOSurfaceObject", "initWithIOSurface:", "@@:^{__IOSurface=}", 0, 0, 0},
    {"_ANEIOSurfaceObject", "initWithIOSurface:startOffset:shouldRetain:", "@@:^{__IOSurface=}@B", 0, 1, 4},
    {"_ANEIOSurfaceObject", "objectWithIOSurface:startOffset:", "@@:^{__IOSurface=}@", 1, 1, 4},
    {"_ANEIOSurfaceObject", "objectWithIOSurfaceNoRetain:startOffset:", "@@:^{__IOSurface=}@", 1, 1, 3},
    {"_ANEIOSurfaceObject", "createIOSurfaceWithWidth:pixel_size:height:", "^{__IOSurface=}@:iii", 1, 0, 4},
    {"_ANEClient", "sharedConnection", "@@:", 1, 0, 4},
    {"_ANEClient", "initWithRestrictedAccessAllowed:", "@@:B", 0, 0, 4},
    {"_ANEClient", "doEvaluateDirectWithModel:options:request:qos:error:", "B@:@@@I^@", 0, 0, 4},
    {"_ANEModel", "numInputs", "Q@:", 0, 4, 4},
    {"_ANEModel", "numOutputs", "Q@:", 0, 4, 4},
    {"_ANEModel", "inputSymbolIndicesForProcedureIndex:", "@@:I", 0, 0, 4},
    {"_ANEDeviceInfo", "hasANE", "B@:", 1, 0, 4},
    {"_ANEDeviceInfo", "aneBoardType", "q@:", 1, 0, 4},
    {"_ANEDeviceInfo", "numANECores", "I@:", 1, 0, 4},
    {"_ANEDeviceInfo", "isBoolBootArgSetTrue:", "B@:@", 1, 0, 4},
    {"_ANEQoSMapper", "programPriorityForQoS:", "i@:I", 1, 0, 4},
    {"_ANEQoSMapper", "qosForProgramPriority:", "I@:i", 1, 1, 4},
    {"_ANEQoSMapper", "queueIndexForQoS:", "Q@:I", 1, 0, 4},
    {"_ANEErrors", "createErrorWithCode:description:", "@@:q@", 1, 0, 4},
    {"_ANEErrors", "programLoadErrorForMethod:code:", "@@:@q", 1, 0, 4},
    {"_ANEPerformanceStatsIOSurface", "objectWithIOSurface:statType:", "@@:@q", 1, 0, 4},
    {"_ANEProgramForEvaluation", "processRequest:model:qos:qIndex:modelStringID:options:returnValue:error:",
     "B@:@@IQQ@^I^@", 0, 0, 4},
    {"_ANESharedEvents", "sharedEventsWithSignalEvents:waitEvents:", "@@:@@", 1, 2, 4},
};

static void check_row(int i) {
    Class c = (Class)objc_getClass(expected[i].class_name);
    SEL s = sel_registerName(expected[i].selector);
    Method m = expected[i].class_method ? class_getClassMethod(c, s) : class_getInstanceMethod(c, s);
    int wanted = profile >= expected[i].first && profile <= expected[i].last;
    char found[80], name[200];
    plain(m ? method_getTypeEncoding(m) : "", found, sizeof found);
    snprintf(name, sizeof name, "%s: %s %s", names[profile], expected[i].class_name, expected[i].selector);
    CHECK(name, wanted ? m && !strcmp(found, expected[i].types) : !m);
    if (wanted && m && strcmp(found, expected[i].types)) printf("  found %s\n", found);
}

// From 27 on some builds raise when the in-memory model is asked for its attributes; the model inside answers.
static void attributes(id<Model> m) {
    NSException *raised = RAISED((void)[m modelAttributes]);
    CHECK("attributes of the in-memory model: an exception from 27 on", profile < 4 ? !raised : unrecognized(raised));
    if (profile >= 2) CHECK("those of the model inside", [[[m model] modelAttributes] count] > 0);
}

static void round_trip(void) {
    id<Model> m = loaded_model("profile");
    attributes(m);
    IOSurfaceRef in = surface_of(BYTES), out = surface_of(BYTES);
    NSError *error = nil;
    CHECK("evaluate", [m evaluateWithQoS:21 options:nil request:request_of(in, out) error:&error] && bytes_of(out)[0] == 1);
    BOOL ok = [m evaluateWithQoS:21 options:nil request:request_at(wrap(in), 7, wrap(out), 0) error:&error];
    if (profile < 4)
        CHECK("an index beyond all inputs: 0x2", !ok && [error code] == 8);
    else
        CHECK("an index beyond numInputs is not valid: NO without error", !ok && !error);
    CFRelease(in);
    CFRelease(out);
    CHECK("unload", [m unloadWithQoS:21 error:NULL]);
}

// From 27 on, shared events without a handler only write a line to the log.
static void events(void) {
    id<Model> m = loaded_model("events");
    IOSurfaceRef in = surface_of(BYTES), out = surface_of(BYTES);
    standin_counts c;
    @autoreleasepool {
        id<Request> r = request_of(in, out);
        Class<Events> e = (Class<Events>)NSClassFromString(@"_ANESharedEvents");
        [r setSharedEvents:[e sharedEventsWithSignalEvents:nil waitEvents:nil]];
        CHECK("shared events without a handler: YES", [m evaluateWithQoS:21 options:nil request:r error:NULL]);
    }
    for (int i = 0; i < 5000 && standin_instances("_ANERequest") > 0; i++) usleep(1000);
    standin_count(&c);
    CHECK("they run, and nothing is left in flight", bytes_of(out)[0] == 1 && c.slots == 0);
    CFRelease(in);
    CFRelease(out);
    CHECK("unload", [m unloadWithQoS:21 error:NULL]);
}

static void one_profile(void) {
    CHECK("start", start(names[profile], NULL, NULL) == 0);
    @autoreleasepool {
        for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) check_row((int)i);
        @autoreleasepool {
            round_trip();
        }
        if (profile == 4) events();
    }
    check_end();
}

// A class of an older or wrong framework.
static void missing_and_changed(void) {
    static const char *const missing[] = {"_ANESharedEvents", "_ANEModel", "_ANEProgramForEvaluation",
                                          "_ANEInMemoryModel purgeCompiledModel", "_ANEDeviceInfo hasANE", NULL};
    static const char *const changed[] = {"_ANEInMemoryModel queueDepth i16@0:8", NULL};
    CHECK("start", start("26", missing, changed) == 0);
    @autoreleasepool {
        Class m = NSClassFromString(@"_ANEInMemoryModel");
        CHECK("a class is missing", !NSClassFromString(@"_ANESharedEvents"));
        CHECK("a method is missing", ![m instancesRespondToSelector:@selector(purgeCompiledModel)]);
        CHECK("a class method is missing", ![NSClassFromString(@"_ANEDeviceInfo") respondsToSelector:@selector(hasANE)]);
        CHECK("others are there", [m instancesRespondToSelector:@selector(compiledModelExists)]);
        CHECK("an encoding is changed",
              !strcmp(method_getTypeEncoding(class_getInstanceMethod(m, @selector(queueDepth))), "i16@0:8"));
        profile = 3;
        round_trip();
    }
    check_end();
}

static void unknown_profile(void) {
    CHECK("an unknown profile", start("14", NULL, NULL) == 1 && start(NULL, NULL, NULL) == 1);
}

extern NSMutableDictionary *IOServiceMatching(const char *name);
extern uint32_t IOServiceGetMatchingService(uint32_t port, NSDictionary *matching);
extern CFTypeRef IORegistryEntryCreateCFProperty(uint32_t entry, NSString *key, CFAllocatorRef allocator,
                                                 uint32_t options);
extern int32_t IOObjectRelease(uint32_t object);

@protocol Device
+ (NSString *)productName;
+ (NSString *)buildVersion;
+ (NSString *)aneArchitectureType;
@end

static void registry(void) {
    CHECK("start", start("26", NULL, NULL) == 0);
    @autoreleasepool {
        CHECK("no other service", IOServiceGetMatchingService(0, IOServiceMatching("H10ANEIn")) == 0);
        uint32_t service = IOServiceGetMatchingService(0, IOServiceMatching("H11ANEIn"));
        CHECK("the service", service && standin_instances("io_object_t") == 1);
        NSDictionary *p = IORegistryEntryCreateCFProperty(service, @"DeviceProperties", NULL, 0);
        CHECK("no other property", !IORegistryEntryCreateCFProperty(service, @"Other", NULL, 0));
        Class<Device> d = (Class<Device>)NSClassFromString(@"_ANEDeviceInfo");
        CHECK("the same architecture in both", [[p objectForKey:@"ANEDevicePropertyTypeANEArchitectureTypeStr"]
                                                   isEqual:[d aneArchitectureType]]);
        CHECK("eight properties", [p count] == 8 && [p objectForKey:@"ANEDevicePropertyANECPUSubType"] &&
                                      ![p objectForKey:@"ANEDevicePropertyNumANEs"]);
        uint32_t balancer = IOServiceGetMatchingService(0, IOServiceMatching("H1xANELoadBalancer"));
        NSDictionary *engines = IORegistryEntryCreateCFProperty(balancer, @"DeviceProperties", NULL, 0);
        CHECK("the load balancer has the number of engines",
              balancer != service && [engines count] == 1 && [[engines objectForKey:@"ANEDevicePropertyNumANEs"] intValue] == 1);
        [engines release];
        CHECK("release the balancer", IOObjectRelease(balancer) == 0);
        standin_fault("IORegistryEntryCreateCFProperty", STANDIN_NIL, 1, 0);
        CHECK("no property by a fault", !IORegistryEntryCreateCFProperty(service, @"DeviceProperties", NULL, 0));
        standin_fault("IOServiceGetMatchingService", STANDIN_NIL, 1, 0);
        CHECK("no service by a fault", !IOServiceGetMatchingService(0, IOServiceMatching("H11ANEIn")));
        CHECK("a stand-in by name", [[d productName] isEqualToString:@"anekit stand-in"] &&
                                        [[d buildVersion] isEqualToString:@"standin-26"]);
        [p release];
        CHECK("release", IOObjectRelease(service) == 0 && IOObjectRelease(service) != 0);
    }
    check_end();
}

static void run(void (*body)(void), const char *what) {
    char text[4096];
    CHECK(what, in_child(body, text, sizeof text) == 0);
}

int main(void) {
    for (profile = 0; profile < 5; profile++) run(one_profile, names[profile]);
    run(missing_and_changed, "missing and changed");
    run(unknown_profile, "unknown profiles");
    run(registry, "registry");
    return driver_failures != 0;
}
