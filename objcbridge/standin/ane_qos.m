// _ANEQoSMapper.
#import "core.h"

enum { REAL_TIME = 2, DEFAULT_PRIORITY = 5 };

static const struct {
    uint32_t qos;
    int priority;
} table[] = {{0, REAL_TIME}, {33, 3}, {25, 4}, {21, DEFAULT_PRIORITY}, {17, DEFAULT_PRIORITY}, {9, 6}};

enum { ROWS = sizeof table / sizeof table[0] };

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

+ (int)programPriorityForQoS:(uint32_t)qos {
    for (int i = 0; i < ROWS; i++)
        if (table[i].qos == qos) return table[i].priority;
    core_log(@"Invalid qos requested: %u", qos);
    return DEFAULT_PRIORITY;
}

+ (uint32_t)qosForProgramPriority:(int)priority {
    for (int i = 0; i < ROWS; i++)
        if (table[i].priority == priority) return table[i].qos;
    return 21;
}

// Which queues 33, 25, 21, 17 and 9 have on Apple's side is not known; here all but real time share one.
+ (uint64_t)queueIndexForQoS:(uint32_t)qos {
    return qos == 0 ? REAL_TIME : DEFAULT_PRIORITY;
}

+ (int)realTimeProgramPriority {
    return REAL_TIME;
}

+ (uint64_t)realTimeQueueIndex {
    return REAL_TIME;
}

@end
