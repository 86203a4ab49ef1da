#import "internal.h"
#include <objc/runtime.h>
#include <string.h>

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wprotocol"
// Never instantiated. Adopting the protocols makes the compiler emit their method
// descriptions. Off macOS the runtime has none for a protocol without an adopter.
@interface ANEBProtocols : NSObject <ANEBDescriptor, ANEBInner, ANEBModel, ANEBRequest, ANEBSurface, ANEBDeviceInfo>
@end
@implementation ANEBProtocols
@end
#pragma clang diagnostic pop

enum { descriptor, inner, model, request, surface, device };
static const struct {
    const char *class_name, *protocol;
} classes[] = {
    [descriptor] = {"_ANEInMemoryModelDescriptor", "ANEBDescriptor"},
    [inner] = {"_ANEModel", "ANEBInner"},
    [model] = {"_ANEInMemoryModel", "ANEBModel"},
    [request] = {"_ANERequest", "ANEBRequest"},
    [surface] = {"_ANEIOSurfaceObject", "ANEBSurface"},
    [device] = {"_ANEDeviceInfo", "ANEBDeviceInfo"},
};

static const struct {
    int of;
    char kind; // '+' or '-'
    bool required;
    const char *selector, *needed_for;
} rows[ANEB_ROWS] = {
    [ANEB_ROW_DESCRIPTOR] = {descriptor, '+', true, "modelWithMILText:weights:optionsPlist:", "create"},
    [ANEB_ROW_MODEL] = {model, '+', true, "inMemoryModelWithDescriptor:", "create"},
    [ANEB_ROW_IDENTITY] = {model, '-', true, "hexStringIdentifier", "create"},
    [ANEB_ROW_PATH] = {model, '-', true, "localModelPath", "create"},
    [ANEB_ROW_EXISTS] = {model, '-', true, "compiledModelExists", "compile"},
    [ANEB_ROW_COMPILE] = {model, '-', true, "compileWithQoS:options:error:", "compile"},
    [ANEB_ROW_LOAD] = {model, '-', true, "loadWithQoS:options:error:", "load"},
    [ANEB_ROW_EVALUATE] = {model, '-', true, "evaluateWithQoS:options:request:error:", "evaluate"},
    [ANEB_ROW_UNLOAD] = {model, '-', true, "unloadWithQoS:error:", "unload"},
    [ANEB_ROW_ATTRIBUTES] = {model, '-', true, "modelAttributes", "describe"},
    [ANEB_ROW_REQUEST] = {request, '+', true,
                          "requestWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:perfStats:procedureIndex:",
                          "request"},
    [ANEB_ROW_SURFACE] = {surface, '+', true, "objectWithIOSurface:", "surface"},
    [ANEB_ROW_PURGE] = {model, '-', false, "purgeCompiledModel", "purge"},
    [ANEB_ROW_VALIDATE] = {request, '-', false, "validate", "evaluate that fails without an NSError"},
    [ANEB_ROW_HANDLE] = {model, '-', false, "programHandle", "program facts"},
    [ANEB_ROW_INTERMEDIATE] = {model, '-', false, "intermediateBufferHandle", "program facts"},
    [ANEB_ROW_STATE] = {model, '-', false, "state", "program facts"},
    [ANEB_ROW_DEPTH] = {model, '-', false, "queueDepth", "program facts"},
    [ANEB_ROW_MASK] = {model, '-', false, "perfStatsMask", "program facts"},
    [ANEB_ROW_INNER] = {model, '-', false, "model", "describe"},
    [ANEB_ROW_INNER_ATTRIBUTES] = {inner, '-', false, "modelAttributes", "describe"},
    [ANEB_ROW_HAS_ANE] = {device, '+', false, "hasANE", "device"},
    [ANEB_ROW_VIRTUAL] = {device, '+', false, "isVirtualMachine", "device"},
    [ANEB_ROW_INTERNAL] = {device, '+', false, "isInternalBuild", "device"},
    [ANEB_ROW_ENGINES] = {device, '+', false, "numANEs", "device"},
    [ANEB_ROW_CORES] = {device, '+', false, "numANECores", "device"},
    [ANEB_ROW_BOARD] = {device, '+', false, "aneBoardType", "device"},
    [ANEB_ROW_ARCHITECTURE] = {device, '+', false, "aneArchitectureType", "device"},
    [ANEB_ROW_SUBTYPE] = {device, '+', false, "aneSubType", "device"},
    [ANEB_ROW_VARIANT] = {device, '+', false, "aneSubTypeVariant", "device"},
    [ANEB_ROW_PRODUCT] = {device, '+', false, "productName", "device"},
    [ANEB_ROW_BUILD] = {device, '+', false, "buildVersion", "device"},
};

// Skips frame offsets to the next type character.
static const char *type(const char *at) {
    while (*at != 0 && strchr("0123456789+-", *at) != NULL) at++;
    return at;
}

static bool same(const char *a, const char *b) {
    for (a = type(a), b = type(b); *a != 0 && *a == *b; a = type(a + 1), b = type(b + 1)) continue;
    return *a == *b;
}

static void strip(char *out, size_t capacity, const char *encoding) {
    size_t n = 0;
    for (const char *at = type(encoding); *at != 0 && n + 1 < capacity; at = type(at + 1)) out[n++] = *at;
    out[n] = 0;
}

static int32_t check_row(int row, char *expected, size_t expected_size, char *found, size_t found_size) {
    bool instance = rows[row].kind == '-';
    SEL selector = sel_registerName(rows[row].selector);
    Protocol *protocol = objc_getProtocol(classes[rows[row].of].protocol);
    const char *want = NULL;
    if (protocol != nil) want = protocol_getMethodDescription(protocol, selector, YES, instance).types;
    if (want != NULL) strip(expected, expected_size, want);
    Class class = objc_getClass(classes[rows[row].of].class_name);
    if (class == Nil) return ANEB_NO_CLASS;
    Method method = instance ? class_getInstanceMethod(class, selector) : class_getClassMethod(class, selector);
    if (method == NULL) return ANEB_NO_SELECTOR;
    const char *have = method_getTypeEncoding(method);
    if (have != NULL) strip(found, found_size, have);
    // An empty expectation must not match anything.
    bool equal = want != NULL && want[0] != 0 && have != NULL && same(want, have);
    return equal ? ANEB_FOUND : ANEB_OTHER_ENCODING;
}

void aneb_check_all(aneb *a) {
    a->descriptor = (Class<ANEBDescriptor>)objc_getClass(classes[descriptor].class_name);
    a->model = (Class<ANEBModel>)objc_getClass(classes[model].class_name);
    a->request = (Class<ANEBRequest>)objc_getClass(classes[request].class_name);
    a->surface = (Class<ANEBSurface>)objc_getClass(classes[surface].class_name);
    a->device = (Class<ANEBDeviceInfo>)objc_getClass(classes[device].class_name);
    a->usable = true;
    for (int row = 0; row < ANEB_ROWS; row++) {
        a->status[row] = check_row(row, a->expected[row], sizeof a->expected[row], a->found[row], sizeof a->found[row]);
        if (rows[row].required && a->status[row] != ANEB_FOUND) a->usable = false;
    }
}

int32_t aneb_offers(aneb *a, int32_t row, int32_t stage, aneb_error *e) {
    static const char *const words[] = {
        [ANEB_FOUND] = "is there",
        [ANEB_NO_CLASS] = "is missing with its class",
        [ANEB_NO_SELECTOR] = "is missing",
        [ANEB_OTHER_ENCODING] = "has another encoding",
    };
    if (a->status[row] == ANEB_FOUND) return ANEB_OK;
    return aneb_fail(e, stage, ANEB_MISSING, 0,
                     "%c[%s %s] %s: expected %s, found %s; this version of the framework is not known", rows[row].kind,
                     classes[rows[row].of].class_name, rows[row].selector, words[a->status[row]], a->expected[row],
                     a->found[row][0] == 0 ? "nothing" : a->found[row]);
}

int32_t aneb_usable(aneb *a, int32_t stage, aneb_error *e) {
    if (a == NULL) return aneb_refuse(e, stage, ANEB_ARGUMENT, "the handle of the framework is NULL");
    if (a->usable) return ANEB_OK;
    int32_t kind = ANEB_OK;
    for (int row = 0; row < ANEB_ROWS && kind == ANEB_OK; row++)
        if (rows[row].required) kind = aneb_offers(a, row, stage, e);
    return kind;
}

int32_t aneb_self_check(aneb *a, aneb_check *out, int32_t capacity, int32_t *count, aneb_error *error) {
    if (a == NULL || count == NULL || capacity < 0 || (out == NULL && capacity > 0))
        return aneb_refuse(error, ANEB_CHECK, ANEB_ARGUMENT, "aneb_self_check: NULL, or %d rows", capacity);
    *count = ANEB_ROWS;
    for (int row = 0; row < ANEB_ROWS && row < capacity; row++)
        out[row] = (aneb_check){
            .class_name = classes[rows[row].of].class_name,
            .selector = rows[row].selector,
            .expected = a->expected[row],
            .found = a->found[row],
            .needed_for = rows[row].needed_for,
            .class_method = rows[row].kind == '+',
            .required = rows[row].required,
            .status = a->status[row],
        };
    return aneb_usable(a, ANEB_CHECK, error);
}
