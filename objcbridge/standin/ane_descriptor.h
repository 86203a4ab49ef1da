#ifndef STANDIN_ANE_DESCRIPTOR_H
#define STANDIN_ANE_DESCRIPTOR_H

#import "core.h"

// _ANEInMemoryModelDescriptor. Text and plist are copied, weights retained.
@interface StandinDescriptor : StandinObject {
@public
    NSData *text, *plist;
    NSDictionary *weights;
    NSString *text_hash, *weights_hash, *plist_hash;
    BOOL mil;
}
@end

#pragma GCC visibility push(hidden)

NSString *descriptor_identity(StandinDescriptor *d);

#pragma GCC visibility pop

#endif
