// What the driver checks before a program runs, and how its status is told.
#import "ane_program.h"

enum {
    STATUS_INDEX = 0x2,
    STATUS_NOT_FOUND = 14,
    STATUS_TIMEOUT = 15,
    STATUS_SIZE = 0x1d,
    TYPE_ERROR = 9,
};

static NSString *const method = @"processRequest:model:qos:qIndex:modelStringID:options:returnValue:error:";

NSError *driver_error(uint32_t status) {
    if (status == STATUS_NOT_FOUND) return core_error(23, method, @"Program not found");
    if (status == STATUS_TIMEOUT) return core_error(3, method, @"Timed out");
    return core_error(8, method,
                      [NSString stringWithFormat:@"ANEProgramProcessRequestDirect() Failed with status=0x%x : "
                                                 @"statusType=0x%x",
                                                 status, TYPE_ERROR]);
}

NSError *driver_unloaded(void) { return core_error(8, method, @"Program Inference error"); }

static uint32_t check_side(const struct symbol *symbols, int32_t expected, const struct binding *given,
                           int32_t count) {
    if (count != expected) return STATUS_INDEX;
    for (int32_t i = 0; i < count; i++)
        if (given[i].index != symbols[i].index) return STATUS_INDEX;
    for (int32_t i = 0; i < count; i++)
        if ((int64_t)IOSurfaceGetAllocSize(given[i].surface) < symbols[i].minimum) return STATUS_SIZE;
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

uint32_t driver_run(StandinLoad *load, const struct bound *b, struct fault fault) {
    if (b->procedure >= load->procedure_count) return STATUS_INDEX;
    const struct procedure *p = &load->procedures[b->procedure];
    uint32_t status = check_side(p->inputs, p->input_count, b->inputs, b->input_count);
    if (!status) status = check_side(p->outputs, p->output_count, b->outputs, b->output_count);
    if (status) return status;
    if (fault.kind == STANDIN_LOCKED &&
        (any_locked(b->inputs, b->input_count) || any_locked(b->outputs, b->output_count)))
        return 0;
    uint32_t inputs[SURFACE_LIMIT], outputs[SURFACE_LIMIT];
    ids(b->inputs, b->input_count, inputs);
    ids(b->outputs, b->output_count, outputs);
    status = core.server.evaluate(core.server.context, load->compiled->number, b->procedure, b->request, inputs,
                                  b->input_count, outputs, b->output_count);
    programs_add_evaluation();
    return status;
}
