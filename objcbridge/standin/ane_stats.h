#ifndef STANDIN_ANE_STATS_H
#define STANDIN_ANE_STATS_H

#import "core.h"

// _ANEPerformanceStats
@interface StandinPerformanceStats : StandinObject {
@public
    uint64_t nanoseconds;
}
@end

// _ANEPerformanceStatsIOSurface
@interface StandinPerformanceStatsSurface : StandinObject {
@public
    id surface; // _ANEIOSurfaceObject
    int64_t type;
}
@end

// _ANESharedEvents
@interface StandinSharedEvents : StandinObject {
@public
    NSArray *signals, *waits;
}
@end

#endif
