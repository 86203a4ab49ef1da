// Invalid objects of a framework: attributes that contain themselves, have other classes or contain text
// that is not Unicode, and errors that are their own cause. The bridge must encode what it can, reject
// the rest, and never crash.
#include "gate.h"

#import <objc/runtime.h>

static id attributes; // result of modelAttributes

static id answer_attributes(id self, SEL method) {
    (void)self, (void)method;
    return attributes;
}

static NSError *refusal; // error of loading

static BOOL answer_load(id self, SEL method, unsigned int qos, NSDictionary *options, NSError **error) {
    (void)self, (void)method, (void)qos, (void)options;
    if (error) *error = refusal;
    return NO;
}

static char text[1 << 20];

static int32_t read_attributes(struct job *j, aneb_error *e) {
    size_t length = 0;
    memset(text, 0, sizeof text);
    return aneb_program_attributes(j->p, text, sizeof text - 1, &length, e);
}

static int refused(struct job *j, id lie, const char *words) {
    aneb_error e = {0};
    attributes = lie;
    int32_t kind = read_attributes(j, &e);
    int ok = (kind == ANEB_MISSING || kind == ANEB_NIL) && strstr(e.message, words) != NULL;
    if (!ok) printf("  kind %d: %s\n", kind, e.message);
    return ok;
}

static int written(struct job *j, id value, const char *json) {
    aneb_error e = {0};
    attributes = [NSDictionary dictionaryWithObject:value forKey:@"k"];
    int32_t kind = read_attributes(j, &e);
    int ok = kind == ANEB_OK && !strncmp(text, "{\"k\":", 5) && !strncmp(text + 5, json, strlen(json)) &&
             !strcmp(text + 5 + strlen(json), "}");
    if (!ok) printf("  kind %d: %s %s\n", kind, e.message, text);
    return ok;
}

static void values(struct job *j) {
    CHECK("a string", written(j, @"a \"b\" \\ c", "\"a \\\"b\\\" \\\\ c\""));
    CHECK("controls", written(j, @"\t\n\x01", "\"\\u0009\\u000a\\u0001\""));
    CHECK("text beyond ASCII", written(j, [NSString stringWithUTF8String:"größe ☃ 😀"], "\"größe ☃ 😀\""));
    CHECK("yes", written(j, [NSNumber numberWithBool:YES], "true"));
    CHECK("no", written(j, [NSNumber numberWithBool:NO], "false"));
    CHECK("a number", written(j, [NSNumber numberWithInt:-3], "-3"));
    CHECK("zero", written(j, [NSNumber numberWithInt:0], "0"));
    CHECK("a large number", written(j, [NSNumber numberWithLongLong:INT64_MIN], "-9223372036854775808"));
    CHECK("a larger number", written(j, [NSNumber numberWithUnsignedLongLong:UINT64_MAX], "18446744073709551615"));
    CHECK("a fraction", written(j, [NSNumber numberWithDouble:0.5], "0.5"));
    CHECK("empty ones", written(j, [NSArray arrayWithObjects:[NSArray array], [NSDictionary dictionary], nil], "[[],{}]"));
    CHECK("data", written(j, [NSData data], "{\"$class\":\"NSDataStatic\"}") || strstr(text, "$class") != NULL);
    CHECK("null", written(j, [NSNull null], "{\"$class\":\"NSNull\"}"));
}

// A string with half a character, a surrogate without its pair.
@interface Half : NSString
@end
@implementation Half
- (NSUInteger)length {
    return 3;
}
- (unichar)characterAtIndex:(NSUInteger)index {
    return index == 1 ? 0xD800 : 'a';
}
@end

// One runtime raises, another returns no data.
static int half_refused(struct job *j) {
    aneb_error e = {0};
    attributes = [NSDictionary dictionaryWithObject:[[[Half alloc] init] autorelease] forKey:@"half"];
    int32_t kind = read_attributes(j, &e);
    return (kind == ANEB_MISSING && strstr(e.message, "no Unicode")) || kind == ANEB_EXCEPTION;
}

static void lies(struct job *j) {
    CHECK("nil", refused(j, nil, "returned nil"));
    CHECK("nothing", refused(j, [NSDictionary dictionary], "returned nothing"));
    CHECK("an array", refused(j, [NSArray array], "no dictionary"));
    CHECK("a string", refused(j, @"attributes", "no dictionary"));
    NSMutableDictionary *loop = [NSMutableDictionary dictionary];
    id same = loop; // another name avoids a compiler warning
    [loop setObject:same forKey:@"self"];
    CHECK("a dictionary in itself", refused(j, loop, "holds itself, at key \"self\""));
    [loop removeAllObjects];
    NSMutableArray *ring = [NSMutableArray array];
    same = ring;
    [ring addObject:same];
    CHECK("an array in itself", refused(j, [NSDictionary dictionaryWithObject:ring forKey:@"ring"], "holds itself"));
    [ring removeAllObjects];
    CHECK("a key that is a number", refused(j, [NSDictionary dictionaryWithObject:@"v" forKey:[NSNumber numberWithInt:1]], "no string"));
    CHECK("half a character", half_refused(j));
    CHECK("infinity", refused(j, [NSDictionary dictionaryWithObject:[NSNumber numberWithDouble:INFINITY] forKey:@"n"], "not finite"));
    CHECK("no number", refused(j, [NSDictionary dictionaryWithObject:[NSNumber numberWithDouble:NAN] forKey:@"n"], "not finite"));
    NSMutableArray *many = [NSMutableArray array];
    for (int i = 0; i < 1 << 10; i++) [many addObject:@"x"];
    NSMutableArray *more = [NSMutableArray array];
    for (int i = 0; i < 1 << 11; i++) [more addObject:many]; // shared, so that it needs no memory here
    CHECK("two million values", refused(j, [NSDictionary dictionaryWithObject:more forKey:@"many"], "more than 1048576 values"));
    NSString *page = [@"" stringByPaddingToLength:1 << 16 withString:@"p" startingAtIndex:0];
    [more removeAllObjects];
    for (int i = 0; i < 1 << 9; i++) [more addObject:page];
    CHECK("32 MiB of text", refused(j, [NSDictionary dictionaryWithObject:more forKey:@"long"], "longer than 16 MiB"));
}

// What one of the two models lies is no end while the other answers, and nothing of the lie is left in the answer.
static void outlied(struct job *j, const char *what) {
    id const told[] = {nil, [NSDictionary dictionary], @"attributes",
                       [NSDictionary dictionaryWithObjectsAndKeys:@"v", @"a", [NSNumber numberWithDouble:NAN], @"n", nil]};
    int right = 0;
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        aneb_error e = {0};
        attributes = told[i];
        right += read_attributes(j, &e) == ANEB_OK && e.kind == ANEB_OK &&
                 !strncmp(text, "{\"ANEFModelDescription\":", 24) && strstr(text, "y@output") != NULL;
    }
    CHECK(what, right == 4);
}

// An error that is its own cause.
@interface Circular : NSError
@end
@implementation Circular
- (NSDictionary *)userInfo {
    return [NSDictionary dictionaryWithObjectsAndKeys:self, NSUnderlyingErrorKey, @"round and round", NSLocalizedDescriptionKey, nil];
}
@end

static int load_refused(struct job *j, NSDictionary *info, aneb_error *e) {
    refusal = [NSError errorWithDomain:@"d" code:6 userInfo:info];
    return aneb_program_load(j->p, QOS, e) == ANEB_NSERROR;
}

static void errors(struct job *j) {
    aneb_error e = {0};
    NSError *inner = [NSError errorWithDomain:@"inner\tdomain" code:-7 userInfo:[NSDictionary dictionaryWithObject:@"two\nlines" forKey:NSLocalizedDescriptionKey]];
    CHECK("an error below", load_refused(j, [NSDictionary dictionaryWithObject:inner forKey:NSUnderlyingErrorKey], &e) &&
                                !strcmp(e.causes, "inner domain\t-7\ttwo lines\n"));
    CHECK("no error below", load_refused(j, [NSDictionary dictionaryWithObject:@"text" forKey:NSUnderlyingErrorKey], &e) && !e.causes[0]);
    NSDictionary *numbers = [NSDictionary dictionaryWithObjectsAndKeys:[NSNumber numberWithInt:5], @"_ANEErrorUnderlyingStatus",
                                                                       [NSNumber numberWithInt:4], @"_ANEErrorLoadStage", nil];
    CHECK("numbers of macOS 27", load_refused(j, numbers, &e) && e.has_status && e.status == 5 && e.load_stage == 4);
    numbers = [NSDictionary dictionaryWithObjectsAndKeys:[NSNumber numberWithInt:-5], @"_ANEErrorUnderlyingStatus", @"4", @"_ANEErrorLoadStage", nil];
    CHECK("invalid numbers", load_refused(j, numbers, &e) && !e.has_status && !e.load_stage);
    CHECK("a status in the text", load_refused(j, [NSDictionary dictionaryWithObject:@"load failure (0x50004)" forKey:NSLocalizedDescriptionKey], &e) &&
                                      e.has_status && e.status == 0x50004);
    refusal = [[[Circular alloc] initWithDomain:@"loop" code:1 userInfo:nil] autorelease];
    int lines = 0;
    CHECK("an error that is its own cause",
          aneb_program_load(j->p, QOS, &e) == ANEB_NSERROR && !strncmp(e.causes, "loop\t1\t", 7));
    for (const char *at = e.causes; *at; at++) lines += *at == '\n';
    CHECK("has four lines", lines == 4);
    NSString *page = [@"" stringByPaddingToLength:1 << 12 withString:@"p" startingAtIndex:0];
    inner = [NSError errorWithDomain:page code:1 userInfo:[NSDictionary dictionaryWithObject:page forKey:NSLocalizedDescriptionKey]];
    inner = [NSError errorWithDomain:page code:1 userInfo:[NSDictionary dictionaryWithObjectsAndKeys:page, NSLocalizedDescriptionKey, inner, NSUnderlyingErrorKey, nil]];
    NSError *deep = [NSError errorWithDomain:@"deep" code:9 userInfo:[NSDictionary dictionaryWithObject:@"the reason" forKey:NSLocalizedDescriptionKey]];
    for (int i = 0; i < 8; i++)
        deep = [NSError errorWithDomain:@"d" code:i userInfo:[NSDictionary dictionaryWithObjectsAndKeys:page, NSLocalizedDescriptionKey, deep, NSUnderlyingErrorKey, nil]];
    CHECK("the innermost of nine", load_refused(j, [NSDictionary dictionaryWithObject:deep forKey:NSUnderlyingErrorKey], &e) &&
                                       strstr(e.causes, "\ndeep\t9\tthe reason\n") != NULL);
    CHECK("a status of macOS 27", load_refused(j, [NSDictionary dictionaryWithObject:@"m: ANE error (code=7, underlying=0x5)" forKey:NSLocalizedDescriptionKey], &e) &&
                                      e.has_status && e.status == 5);
    CHECK("long errors", load_refused(j, [NSDictionary dictionaryWithObject:inner forKey:NSUnderlyingErrorKey], &e) &&
                             strlen(e.causes) < sizeof e.causes && e.causes[strlen(e.causes) - 1] == '\n');
}

int main(int argc, char **argv) {
    gate_start(argc, argv);
    struct gate g = {0};
    struct job j = {0}, unloaded = {0};
    aneb_error e = {0};
    Class model = objc_getClass("_ANEInMemoryModel");
    CHECK("open", gate_open(&g, NULL) == ANEB_OK);
    CHECK("a job", job_begin(&g, &j, "program of lies", &e) == ANEB_OK);
    Method get = class_getInstanceMethod(model, @selector(modelAttributes));
    Method inner = class_getInstanceMethod(objc_getClass("_ANEModel"), @selector(modelAttributes));
    IMP before = method_setImplementation(get, (IMP)answer_attributes);
    IMP inside = method_setImplementation(inner, (IMP)answer_attributes);
    @autoreleasepool {
        values(&j);
        lies(&j);
        method_setImplementation(get, before);
        outlied(&j, "the in-memory model answers where the inner one lies");
        method_setImplementation(get, (IMP)answer_attributes);
        method_setImplementation(inner, inside);
        outlied(&j, "the inner model answers where the in-memory one lies");
    }
    attributes = nil;
    method_setImplementation(get, before);
    CHECK("valid attributes again", read_attributes(&j, &e) == ANEB_OK && strstr(text, "y@output") != NULL);
    CHECK("another job", job_begin(&g, &unloaded, "program that does not load", &e) == ANEB_OK);
    aneb_program_unload(unloaded.p, QOS, NULL);
    Method load = class_getInstanceMethod(model, @selector(loadWithQoS:options:error:));
    before = method_setImplementation(load, (IMP)answer_load);
    @autoreleasepool {
        errors(&unloaded);
    }
    method_setImplementation(load, before);
    refusal = nil;
    job_end(&unloaded);
    job_end(&j);
    gate_end(&g);
    return driver_failures != 0;
}
