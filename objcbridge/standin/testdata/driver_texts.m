// The texts of errors, the queues of QoS, and the effect of a replayed property list on both.
#include "driver_ane.h"

static NSDictionary *none(void) { return [NSDictionary dictionary]; }

@protocol Errors
+ (NSError *)timeoutErrorForMethod:(NSString *)method;
+ (NSError *)programLoadErrorForMethod:(NSString *)method code:(int64_t)status;
+ (NSError *)programIOSurfacesMapErrorForMethod:(NSString *)method code:(int64_t)status;
+ (NSError *)programInferenceProgramNotFoundForMethod:(NSString *)method;
+ (NSError *)invalidModelErrorForMethod:(NSString *)method;
+ (NSError *)fileNotFoundErrorForMethod:(NSString *)method;
+ (NSError *)guestToHostInterfaceTooOld:(NSString *)method;
+ (NSError *)virtualizationKernelError:(NSString *)method kernelErrorCode:(int)code;
@end

@protocol QoS
+ (int)programPriorityForQoS:(uint32_t)qos;
+ (uint32_t)qosForProgramPriority:(int)priority;
+ (uint64_t)queueIndexForQoS:(uint32_t)qos;
@end

static Class<Errors> errors(void) { return (Class<Errors>)NSClassFromString(@"_ANEErrors"); }
static Class<QoS> mapper(void) { return (Class<QoS>)NSClassFromString(@"_ANEQoSMapper"); }

static int is(NSError *error, NSInteger code, NSString *text) {
    if ([error code] == code && [[error localizedDescription] isEqualToString:text]) return 1;
    printf("  %ld %s\n", (long)[error code], [[error localizedDescription] UTF8String]);
    return 0;
}

static void words(void) {
    CHECK("start", start("26", NULL, NULL) == 0);
    CHECK("timeout", is([errors() timeoutErrorForMethod:@"m"], 3, @"m: timed out"));
    CHECK("load with a code", is([errors() programLoadErrorForMethod:@"m" code:0x50004], 6, @"m: Program load failure (0x50004)"));
    CHECK("map", is([errors() programIOSurfacesMapErrorForMethod:@"m" code:0x1d], 13, @"m: Program IOSurfaces map failure (0x1D)"));
    CHECK("program not found", is([errors() programInferenceProgramNotFoundForMethod:@"m"], 23, @"m: Program Inference error"));
    CHECK("invalid model", is([errors() invalidModelErrorForMethod:@"m"], 10, @"m: invalid model"));
    CHECK("file not found", is([errors() fileNotFoundErrorForMethod:@"m"], 16, @"m: file not found"));
    CHECK("guest", is([errors() guestToHostInterfaceTooOld:@"m"], 22, @"m: Guest-to-Host interface too old, feature not supported"));
    CHECK("kernel", is([errors() virtualizationKernelError:@"m" kernelErrorCode:0x10], 28,
                       @"m: Virtualization kernel call failed with error 0x10"));
}

static void queues(void) {
    CHECK("start", start("26", NULL, NULL) == 0);
    static const int rows[][2] = {{0, 2}, {33, 3}, {25, 4}, {21, 5}, {17, 5}, {9, 6}, {40, 5}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[40];
        snprintf(name, sizeof name, "QoS %d has queue and priority %d", rows[i][0], rows[i][1]);
        CHECK(name, [mapper() queueIndexForQoS:(uint32_t)rows[i][0]] == (uint64_t)rows[i][1] &&
                        [mapper() programPriorityForQoS:(uint32_t)rows[i][0]] == rows[i][1]);
    }
    static const uint32_t back[] = {33, 33, 33, 33, 25, 21, 9, 21};
    for (int i = 0; i < 8; i++) CHECK("the QoS of a priority", [mapper() qosForProgramPriority:i] == back[i]);
}

static NSError *fail_with(uint32_t status) {
    id<Model> m = loaded_model("two");
    IOSurfaceRef s = surface_of(BYTES);
    NSError *error = nil;
    served.status = status;
    BOOL ok = [m evaluateWithQoS:21 options:none() request:request_of(s, s) error:&error];
    served.status = 0;
    CFRelease(s);
    CHECK("the run fails", !ok);
    [m unloadWithQoS:21 error:NULL];
    return error;
}

#define SELECTOR @"processRequest:model:qos:qIndex:modelStringID:options:returnValue:error:: "
#define FAILED SELECTOR @"ANEProgramProcessRequestDirect() Failed with status="

static void statuses_26(void) {
    CHECK("start", start("26", NULL, NULL) == 0);
    CHECK("0x1d", is(fail_with(0x1d), 8, FAILED @"0x1d : statusType=0x9: Program Inference error"));
    CHECK("0x12", is(fail_with(0x12), 8, FAILED @"0x12 : statusType=0x9: Program Inference error"));
    CHECK("0xe", is(fail_with(0xe), 23, FAILED @"0xe : statusType=0x9: Program not found: Program Inference error"));
    CHECK("0xf", is(fail_with(0xf), 3, FAILED @"0xf : statusType=0x9: Program Inference timeout: timed out"));
    CHECK("nothing of 27", ![[fail_with(0x1d) userInfo] objectForKey:@"_ANEErrorUnderlyingStatus"]);
}

static void statuses_27(void) {
    CHECK("start", start("27", NULL, NULL) == 0);
    NSError *error = fail_with(0x1d);
    CHECK("0x1d", is(error, 42, SELECTOR @"Inference failed — IOSurface smaller than the model expects (re-check "
                                         @"inputBufferSize/outputBufferSize from the load reply) (underlying=0x1D)"));
    CHECK("its status", [[[error userInfo] objectForKey:@"_ANEErrorUnderlyingStatus"] intValue] == 0x1d);
    CHECK("0x15", is(fail_with(0x15), 47, SELECTOR @"Inference failed — request aborted (underlying=0x15)"));
    CHECK("0x12", is(fail_with(0x12), 8, FAILED @"0x12 : statusType=0x9: Request cancelled"));
    CHECK("0x2", is(fail_with(0x2), 8, FAILED @"0x2 : statusType=0x9: Program Inference error"));
}

#define DICT(entries) "<dict>" entries "</dict>"
#define KEY(name) "<key>" name "</key>"
#define NUMBER(n) "<integer>" #n "</integer>"
#define TEXT(t) "<string>" t "</string>"
#define PLIST(entries) PLIST_HEAD entries "</dict></plist>"

static void replayed_wall(void) {
    CHECK("start", start_replaying("27", NULL, NULL, PLIST(KEY("limits") DICT(KEY("programs") NUMBER(2)))) == 0);
    id<Model> one = loaded_model("wall"), two = loaded_model("wall"), three = model_of("wall");
    NSError *error = nil;
    CHECK("two load", one && two);
    CHECK("the third: error 54", ![three loadWithQoS:21 options:none() error:&error] && [error code] == 54 &&
                                     [[error localizedDescription] hasSuffix:@"no ANE resources (transient; retry) "
                                                                             @"(underlying=0x5)"] &&
                                     [[[error userInfo] objectForKey:@"_ANEErrorLoadStage"] intValue] == 4);
    [one unloadWithQoS:21 error:NULL];
    [two unloadWithQoS:21 error:NULL];
}

static void replayed(void) {
    const char *text = PLIST(
        KEY("model") DICT(KEY("state") NUMBER(7) KEY("queueDepth") NUMBER(3) KEY("programHandle") NUMBER(77))
        KEY("qos") DICT("") KEY("queueOfQoS") DICT(KEY("33") NUMBER(9) KEY("other") NUMBER(1))
        KEY("texts") DICT(KEY("10") TEXT("no model") KEY("22.1") TEXT("old guest"))
        KEY("registry") DICT(KEY("H11ANEIn") DICT(KEY("FirmwareLoaded") TEXT("Yes")
                                                  KEY("DeviceProperties") DICT(KEY("ANEDevicePropertyANEVersion") NUMBER(192))))
        KEY("errors") "<array>"
            DICT(KEY("stage") TEXT("evaluate") KEY("refusals") NUMBER(2) KEY("code") NUMBER(8) KEY("text") TEXT("later")
                 KEY("underlying") "<array>" DICT(KEY("domain") TEXT("d") KEY("code") NUMBER(5) KEY("text") TEXT("why")) "</array>")
            DICT(KEY("stage") TEXT("map") KEY("code") NUMBER(13) KEY("status") NUMBER(18))
            DICT(KEY("stage") TEXT("unload") KEY("domain") TEXT("own") KEY("code") NUMBER(-1))
        "</array>");
    CHECK("start", start_replaying("26", NULL, NULL, text) == 0);
    id<Model> m = loaded_model("replayed");
    CHECK("getters", [m state] == 7 && [m queueDepth] == 3 && [m programHandle] == 77);
    CHECK("queues", [mapper() queueIndexForQoS:33] == 9 && [mapper() queueIndexForQoS:21] == 1);
    CHECK("texts", is([errors() invalidModelErrorForMethod:@"m"], 10, @"m: no model") &&
                       is([errors() guestToHostInterfaceTooOld:@"m"], 22, @"m: old guest"));
    IOSurfaceRef s = surface_of(BYTES);
    for (int i = 0; i < 3; i++) {
        @autoreleasepool {
            NSError *error = nil;
            BOOL ok = [m evaluateWithQoS:21 options:none() request:request_of(s, s) error:&error];
            NSError *cause = [[error userInfo] objectForKey:NSUnderlyingErrorKey];
            CHECK("two runs fail, later ones work",
                  i < 2 ? !ok && is(error, 8, @"later") && is(cause, 5, @"why") && [[cause domain] isEqualToString:@"d"] : ok);
        }
    }
    @autoreleasepool {
        NSError *error = nil;
        CHECK("a row without text has the framework's", ![m mapIOSurfacesWithRequest:request_of(s, s) cacheInference:NO error:&error] &&
                  is(error, 13, @"mapIOSurfacesWithModel:request:cacheInference:error:: Program IOSurfaces map failure (0x12)"));
    }
    CFRelease(s);
    NSString *path = [m localModelPath];
    NSError *error = nil;
    CHECK("unload fails, and removes the directory", ![m unloadWithQoS:21 error:&error] && [[error domain] isEqualToString:@"own"] &&
                                                          [error code] == -1 && !exists(path));
}

// Attributes with any content load, and runs fail or work.
static const char *const odd[] = {
    PLIST(""),
    PLIST(KEY("NetworkStatusList") TEXT("x") KEY("ANEFModelDescription") "<array/>"),
    PLIST(KEY("NetworkStatusList") "<array><true/>" DICT(KEY("LiveInputList") DICT("") KEY("LiveOutputList") "<array><integer>1</integer></array>") "</array>"),
    PLIST(KEY("NetworkStatusList") "<array>" DICT(KEY("LiveInputList") "<array>" DICT(KEY("Batches") TEXT("9") KEY("BatchStride") NUMBER(-5)) "</array>") "</array>"),
    PLIST(KEY("NetworkStatusList") "<array>" DICT(KEY("LiveInputList") "<array>" DICT(KEY("Batches") NUMBER(9223372036854775807) KEY("BatchStride") NUMBER(3)) "</array>") "</array>"),
    PLIST(KEY("ANEFModelDescription") DICT(KEY("ANEFModelProcedures") "<array><integer>1</integer>" DICT(KEY("ANEFModelInputSymbolIndexArray") "<array><integer>-1</integer>" TEXT("x") "</array>") "</array>"
        KEY("kANEFModelInputSymbolsArrayKey") "<array><integer>3</integer></array>" KEY("kANEFModelOutputSymbolsArrayKey") NUMBER(4))),
};
static size_t next_odd;

static size_t odd_attributes(void *context, uint64_t program, char *plist, size_t capacity) {
    (void)context, (void)program;
    size_t size = strlen(odd[next_odd]);
    memcpy(plist, odd[next_odd], size < capacity ? size : capacity);
    return size;
}

@protocol Inner
- (uint64_t)numInputs;
- (id)procedureInfoForProcedureIndex:(uint32_t)index;
- (id)inputSymbolIndicesForProcedureIndex:(uint32_t)index;
@end

static void odd_ones(void) {
    standin_config c = {.profile = "27", .server = {NULL, serve_compile, odd_attributes, serve_evaluate, serve_drop_request, serve_drop_program}};
    CHECK("start", standin_start(&c) == 0);
    IOSurfaceRef s = surface_of(BYTES);
    for (next_odd = 0; next_odd < sizeof odd / sizeof odd[0]; next_odd++) {
        @autoreleasepool {
            id<Model> m = loaded_model("odd");
            id<Inner> inner = [m model];
            for (uint32_t i = 0; i < 3; i++) {
                [inner numInputs];
                [inner procedureInfoForProcedureIndex:i];
                [inner inputSymbolIndicesForProcedureIndex:i];
                [m evaluateWithQoS:21 options:none() request:request_at(wrap(s), i, wrap(s), i) error:NULL];
            }
            CHECK("odd attributes load and unload", [m unloadWithQoS:21 error:NULL]);
        }
    }
    CFRelease(s);
    check_end();
}

static void no_list(void) {
    CHECK("no property list", start_replaying("26", NULL, NULL, "<plist><dict>") == 3);
    CHECK("another type", start_replaying("26", NULL, NULL, "<plist version=\"1.0\"><array/></plist>") == 3);
    CHECK("tables of other types", start_replaying("26", NULL, NULL, PLIST(KEY("model") TEXT("x") KEY("errors") NUMBER(1)
          KEY("qos") "<true/>" KEY("registry") "<array/>")) == 0);
    CHECK("tables of other types are ignored",
              [loaded_model("lists") unloadWithQoS:21 error:NULL] && [mapper() queueIndexForQoS:33] == 3);
}

static void run(void (*body)(void), const char *what) {
    static char text[65536];
    fflush(stdout);
    int status = in_child(body, text, sizeof text);
    if (status) printf("  %s\n", text);
    CHECK(what, status == 0);
}

int main(void) {
    @autoreleasepool {
        run(words, "words");
        run(queues, "queues");
        run(statuses_26, "statuses up to 26");
        run(statuses_27, "statuses of 27");
        run(replayed_wall, "a replayed wall");
        run(replayed, "replayed tables");
        run(no_list, "no list");
        run(odd_ones, "odd attributes");
    }
    return driver_failures != 0;
}
