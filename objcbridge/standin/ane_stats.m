// _ANEPerformanceStats and _ANEPerformanceStatsIOSurface. Nothing fills them: on Apple's side the
// counters need an entitlement.
#import "ane_stats.h"

@implementation StandinPerformanceStats

+ (id)statsWithHardwareExecutionNS:(uint64_t)ns {
    StandinPerformanceStats *s = [[self alloc] autorelease];
    s->nanoseconds = ns;
    return s;
}

- (id)init {
    [self release];
    return nil;
}

+ (uint32_t)driverMaskForANEFMask:(uint32_t)mask {
    return mask > 15 ? 0 : mask;
}

- (uint64_t)hwExecutionTime {
    return nanoseconds;
}

@end

@implementation StandinPerformanceStatsSurface

static id fill(StandinPerformanceStatsSurface *s, id surface, int64_t type) {
    if (!s) return nil;
    s->surface = [surface retain];
    s->type = type;
    return s;
}

+ (id)objectWithIOSurface:(id)s statType:(int64_t)t {
    core_require(s, "_ANEIOSurfaceObject", "ioSurface");
    return [fill([self alloc], s, t) autorelease];
}

- (id)initWithIOSurface:(id)s statType:(int64_t)t {
    return fill(self, s, t);
}

- (int64_t)statType {
    return type;
}

- (id)stats {
    return surface;
}

- (void)dealloc {
    [surface release];
    [super dealloc];
}

@end
