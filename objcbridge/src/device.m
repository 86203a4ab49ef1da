#import "internal.h"
#include <string.h>

static bool found(aneb *a, int32_t row) { return a->status[row] == ANEB_FOUND; }

// Reads each value whose own row was found, even if other rows are missing: these facts
// identify an unknown framework.
static int32_t fill(aneb *a, aneb_device *out) {
    if (found(a, ANEB_ROW_HAS_ANE)) out->has_ane = [a->device hasANE] ? 1 : 0;
    if (found(a, ANEB_ROW_VIRTUAL)) out->virtual_machine = [a->device isVirtualMachine] ? 1 : 0;
    if (found(a, ANEB_ROW_INTERNAL)) out->internal_build = [a->device isInternalBuild] ? 1 : 0;
    if (found(a, ANEB_ROW_ENGINES)) out->engines = (int32_t)[a->device numANEs];
    if (found(a, ANEB_ROW_CORES)) out->cores = (int32_t)[a->device numANECores];
    if (found(a, ANEB_ROW_BOARD)) out->board = [a->device aneBoardType];
    if (found(a, ANEB_ROW_ARCHITECTURE))
        aneb_text_from(out->architecture, sizeof out->architecture, [a->device aneArchitectureType]);
    if (found(a, ANEB_ROW_SUBTYPE)) aneb_text_from(out->subtype, sizeof out->subtype, [a->device aneSubType]);
    if (found(a, ANEB_ROW_VARIANT)) aneb_text_from(out->variant, sizeof out->variant, [a->device aneSubTypeVariant]);
    if (found(a, ANEB_ROW_PRODUCT)) aneb_text_from(out->product, sizeof out->product, [a->device productName]);
    if (found(a, ANEB_ROW_BUILD)) aneb_text_from(out->build, sizeof out->build, [a->device buildVersion]);
    return ANEB_OK;
}

int32_t aneb_device_info(aneb *a, aneb_device *out, aneb_error *error) {
    if (a == NULL) return aneb_null(error, ANEB_DEVICE);
    if (out == NULL) return aneb_refuse(error, ANEB_DEVICE, ANEB_ARGUMENT, "aneb_device_info: out is NULL");
    memset(out, 0, sizeof *out);
    out->has_ane = out->virtual_machine = out->internal_build = out->engines = out->cores = -1;
    out->board = -1;
    return aneb_guard(error, ANEB_DEVICE, ^int32_t {
        return fill(a, out);
    });
}
