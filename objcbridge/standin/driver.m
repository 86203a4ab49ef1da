// The driver's checks before a program runs, and the text of its status.
#import "ane_program.h"

#import "errors.h"
#import "replay.h"

enum {
    STATUS_INDEX = 0x2,
    STATUS_NOT_FOUND = 14,
    STATUS_TIMEOUT = 15,
    STATUS_CANCELLED = 0x12,
    STATUS_SIZE = 0x1d,
    TYPE_ERROR = 9,
    LEAST_SURFACE = 49152, // with strict_surfaces
};

NSError *driver_error(uint32_t status) {
    NSError *newer = error_27(method_evaluate, status);
    if (newer) return newer;
    NSString *text =
        [NSString stringWithFormat:@"%@: ANEProgramProcessRequestDirect() Failed with status=0x%x : statusType=0x%x",
                                                method_evaluate, status, TYPE_ERROR];
    if (status == STATUS_NOT_FOUND)
        return error_plain(23, [text stringByAppendingString:@": Program not found"]);
    if (status == STATUS_TIMEOUT) return error_plain(3, [text stringByAppendingString:@": Program Inference timeout"]);
    if (status == STATUS_CANCELLED && core.profile >= PROFILE_27) return core_error(8, text, @"Request cancelled");
    return error_plain(8, text);
}

NSError *driver_unloaded(void) { return error_plain(8, method_evaluate); }

static uint32_t check_side(const struct symbol *symbols, int32_t expected, const struct binding *given,
                           int32_t count) {
    if (count != expected) return STATUS_INDEX;
    for (int32_t i = 0; i < count; i++)
        if (given[i].index != symbols[i].index) return STATUS_INDEX;
    for (int32_t i = 0; i < count; i++)
        if ((int64_t)IOSurfaceGetAllocSize(given[i].surface) < symbols[i].minimum) return STATUS_SIZE;
    return 0;
}

// What one project met on an M4, and others did not: surfaces of 48 KiB or more, and of one size.
static uint32_t check_strictly(const struct binding *given, int32_t count) {
    for (int32_t i = 0; core.strict_surfaces && i < count; i++) {
        size_t size = IOSurfaceGetAllocSize(given[i].surface);
        if (size < LEAST_SURFACE || size != IOSurfaceGetAllocSize(given[0].surface)) return STATUS_SIZE;
    }
    return 0;
}

static int any_locked(const struct binding *given, int32_t count) {
    for (int32_t i = 0; i < count; i++)
        if (standin_surface_locks(given[i].surface)) return 1;
    return 0;
}

static void ids(const struct binding *given, int32_t count, uint32_t *out) {
    for (int32_t i = 0; i < count; i++) out[i] = IOSurfaceGetID(given[i].surface);
}

// Returns the index of a procedure: by its id, and for a program of one procedure any number; 0 to 15
// were observed to run it.
static NSUInteger place_of(StandinLoad *load, uint32_t procedure) {
    if (load->procedure_count == 1) return 0;
    for (NSUInteger i = 0; i < load->procedure_count; i++)
        if (load->procedures[i].number == (int64_t)procedure) return i;
    return NSNotFound;
}

static uint32_t check(const struct procedure *p, const struct bound *b) {
    uint32_t status = check_side(p->inputs, p->input_count, b->inputs, b->input_count);
    return status ? status : check_side(p->outputs, p->output_count, b->outputs, b->output_count);
}

uint32_t driver_run(StandinLoad *load, const struct bound *b, struct fault fault) {
    NSUInteger at = b->procedure;
    uint32_t status = 0;
    if (load->procedure_count > 0) { // otherwise the attributes have no limits and only the server checks
        at = place_of(load, b->procedure);
        if (at == NSNotFound) return STATUS_INDEX;
        status = check(&load->procedures[at], b);
    }
    if (!status) status = check_strictly(b->inputs, b->input_count);
    if (!status) status = check_strictly(b->outputs, b->output_count);
    if (status) return status;
    if (fault.kind == STANDIN_LOCKED &&
        (any_locked(b->inputs, b->input_count) || any_locked(b->outputs, b->output_count)))
        return 0;
    uint32_t inputs[SURFACE_LIMIT], outputs[SURFACE_LIMIT];
    ids(b->inputs, b->input_count, inputs);
    ids(b->outputs, b->output_count, outputs);
    status = core.server.evaluate(core.server.context, load->compiled->number, (uint32_t)at, b->request, inputs,
                                  b->input_count, outputs, b->output_count);
    programs_add_evaluation();
    return status;
}

NSError *driver_try(StandinLoad *load, const struct bound *b, struct fault fault) {
    if (!load) return driver_unloaded();
    NSError *replayed = replay_error(@"evaluate");
    if (replayed) return replayed;
    uint32_t status = driver_run(load, b, fault);
    return status ? driver_error(status) : nil;
}
