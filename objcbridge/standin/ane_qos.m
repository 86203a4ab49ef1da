// _ANEQoSMapper.
#import "core.h"

#import "replay.h"

enum { REAL_TIME = 2, DEFAULT_PRIORITY = 5, DEFAULT_QOS = 21 };

// Like an M3 Pro with macOS 26.3.1: a QoS has the queue with the number of its priority.
static const struct {
    uint32_t qos;
    int priority;
} priorities[] = {{0, REAL_TIME}, {33, 3}, {25, 4}, {21, DEFAULT_PRIORITY}, {17, DEFAULT_PRIORITY}, {9, 6}};

// By priority.
static const uint32_t qualities[] = {33, 33, 33, 33, 25, 21, 9};

enum { PRIORITIES = sizeof priorities / sizeof priorities[0], QUALITIES = sizeof qualities / sizeof qualities[0] };

// A dump's value for a number, in a separate table. Other numbers use the key "other".
static int64_t replayed(NSString *table, int64_t number, int64_t own) {
    int64_t other = replay_number(table, @"other", own);
    return replay_number(table, [NSString stringWithFormat:@"%lld", (long long)number], other);
}

@interface StandinQoSMapper : StandinObject
@end

@implementation StandinQoSMapper

+ (uint32_t)aneRealTimeTaskQoS {
    return 0;
}

+ (uint32_t)aneBackgroundTaskQoS {
    return 9;
}

+ (uint32_t)aneUtilityTaskQoS {
    return 17;
}

+ (uint32_t)aneDefaultTaskQoS {
    return 21;
}

+ (uint32_t)aneUserInitiatedTaskQoS {
    return 25;
}

+ (uint32_t)aneUserInteractiveTaskQoS {
    return 33;
}

static int priority_of(uint32_t qos) {
    for (int i = 0; i < PRIORITIES; i++)
        if (priorities[i].qos == qos) return priorities[i].priority;
    core_log(@"Invalid qos requested: %u", qos);
    return DEFAULT_PRIORITY;
}

+ (int)programPriorityForQoS:(uint32_t)qos {
    return (int)replayed(@"priorityOfQoS", qos, priority_of(qos));
}

+ (uint32_t)qosForProgramPriority:(int)priority {
    BOOL known = priority >= 0 && priority < QUALITIES;
    return (uint32_t)replayed(@"qosOfPriority", priority, known ? qualities[priority] : DEFAULT_QOS);
}

+ (uint64_t)queueIndexForQoS:(uint32_t)qos {
    return (uint64_t)replayed(@"queueOfQoS", qos, priority_of(qos));
}

+ (int)realTimeProgramPriority {
    return REAL_TIME;
}

+ (uint64_t)realTimeQueueIndex {
    return REAL_TIME;
}

@end
