// -validate of a request, and its conversion to C values.
#import "ane_request.h"

#import "ane_stats.h"
#import "ane_surface.h"

enum { INDEX_LIMIT = 254, PROCEDURE_LIMIT = 128, EVENT_LIMIT = 64, STATISTIC_KINDS = 3 };

// One side of a request. limit is the number of symbols; 0 if it does not apply.
static BOOL side_valid(NSArray *surfaces, NSArray *indices, NSUInteger limit) {
    NSUInteger n = [surfaces count];
    if (n < 1 || n > SURFACE_LIMIT || [indices count] != n) return NO;
    for (NSUInteger i = 0; i < n; i++) {
        core_require([surfaces objectAtIndex:i], "_ANEIOSurfaceObject", "ioSurface");
        NSUInteger index = [[indices objectAtIndex:i] unsignedIntegerValue];
        if (index > INDEX_LIMIT || (limit && index >= limit)) return NO;
    }
    return YES;
}

static BOOL statistics_valid(NSArray *statistics) {
    unsigned seen = 0;
    NSUInteger n = [statistics count];
    for (NSUInteger i = 0; i < n; i++) {
        StandinPerformanceStatsSurface *s = [statistics objectAtIndex:i];
        core_require(s, "_ANEPerformanceStatsIOSurface", "statType");
        if (s->type < 0 || s->type >= STATISTIC_KINDS || (seen >> s->type & 1)) return NO;
        seen |= 1u << s->type;
    }
    return YES;
}

static BOOL events_valid(StandinSharedEvents *events) {
    core_require(events, "_ANESharedEvents", "signalEvents");
    return !events || ([events->signals count] <= EVENT_LIMIT && [events->waits count] <= EVENT_LIMIT);
}

BOOL request_valid(StandinRequest *r, StandinLoad *load) {
    BOOL counts = load && core.profile >= PROFILE_27;
    return side_valid(r->inputs, r->input_indices, counts ? load->input_symbols : 0) &&
           side_valid(r->outputs, r->output_indices, counts ? load->output_symbols : 0) &&
           [r->index unsignedIntegerValue] <= PROCEDURE_LIMIT && statistics_valid(r->statistics) &&
           events_valid(r->events);
}

static int32_t bind_side(NSArray *surfaces, NSArray *indices, struct binding *out) {
    int32_t n = (int32_t)[surfaces count];
    for (int32_t i = 0; i < n; i++) {
        StandinSurface *s = [surfaces objectAtIndex:(NSUInteger)i];
        struct binding b = {(uint32_t)[[indices objectAtIndex:(NSUInteger)i] unsignedIntegerValue], s->surface};
        int32_t at = i;
        for (; at > 0 && out[at - 1].index > b.index; at--) out[at] = out[at - 1];
        out[at] = b;
    }
    return n;
}

void request_bind(StandinRequest *r, struct bound *b) {
    b->procedure = (uint32_t)[r->index unsignedIntegerValue];
    b->request = r->number;
    b->input_count = bind_side(r->inputs, r->input_indices, b->inputs);
    b->output_count = bind_side(r->outputs, r->output_indices, b->outputs);
}
