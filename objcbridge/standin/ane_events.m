// _ANESharedEvents: only the part that makes a request asynchronous. Nothing is signalled or waited for.
#import "ane_stats.h"

@implementation StandinSharedEvents

static id fill(StandinSharedEvents *e, NSArray *signals, NSArray *waits) {
    if (!e) return nil;
    e->signals = [signals retain];
    e->waits = [waits retain];
    return e;
}

+ (id)sharedEventsWithSignalEvents:(NSArray *)s waitEvents:(NSArray *)w {
    return [fill([self alloc], s, w) autorelease];
}

- (id)init {
    [self release];
    return nil;
}

- (id)initWithSignalEvents:(NSArray *)s waitEvents:(NSArray *)w {
    return fill(self, s, w);
}

- (NSArray *)signalEvents {
    return signals;
}

- (NSArray *)waitEvents {
    return waits;
}

- (void)dealloc {
    [signals release];
    [waits release];
    [super dealloc];
}

@end
