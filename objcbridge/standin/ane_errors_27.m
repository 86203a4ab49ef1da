// Errors of macOS 27 observed with their code. Other statuses keep the form of 26 here: their codes,
// between 30 and 53, are not published.
#import "core.h"
#import "errors.h"

static const struct {
    int64_t status;
    NSInteger code;
    NSString *text;
} inference[] = {
    {0x1d, 42,
     @"Inference failed — IOSurface smaller than the model expects (re-check inputBufferSize/outputBufferSize from the "
     @"load reply)"},
    {0x15, 47, @"Inference failed — request aborted"},
};

enum { ROWS = sizeof inference / sizeof inference[0], NO_MEMORY = 53, NO_SLOT = 54, NO_RESOURCES = 5, STAGE = 4 };

static NSString *const no_memory =
    @"Program load failed — no memory (transient; retry under lower memory pressure)";
static NSString *const no_slot = @"Program load failed — no ANE resources (transient; retry)";

static NSString *with(NSString *text, int64_t status) {
    return [NSString stringWithFormat:@"%@ (underlying=0x%llX)", text, (unsigned long long)status];
}

static NSError *made(NSInteger code, NSString *method, NSString *text, NSDictionary *more) {
    return error_nested(@"com.apple.appleneuralengine", code, [NSString stringWithFormat:@"%@: %@", method, text], more, nil);
}

NSError *error_27(NSString *method, int64_t status) {
    if (core.profile < PROFILE_27) return nil;
    for (int i = 0; i < ROWS; i++)
        if (inference[i].status == status)
            return made(inference[i].code, method, with(inference[i].text, status),
                        [NSDictionary dictionaryWithObject:[NSNumber numberWithLongLong:status]
                                                    forKey:@"_ANEErrorUnderlyingStatus"]);
    return nil;
}

NSError *error_27_load(NSString *method) {
    if (core.profile < PROFILE_27) return nil;
    return made(NO_SLOT, method, with(no_slot, NO_RESOURCES),
                [NSDictionary dictionaryWithObjectsAndKeys:[NSNumber numberWithInt:NO_RESOURCES], @"_ANEErrorUnderlyingStatus",
                                                           [NSNumber numberWithInt:STAGE], @"_ANEErrorLoadStage", nil]);
}

NSString *error_27_text(NSInteger code, int64_t status) {
    for (int i = 0; i < ROWS; i++)
        if (inference[i].code == code) return with(inference[i].text, status);
    if (code == NO_SLOT) return with(no_slot, status);
    return code == NO_MEMORY ? with(no_memory, status) : nil;
}
