#ifndef STANDIN_ANE_DESCRIPTOR_H
#define STANDIN_ANE_DESCRIPTOR_H

#import "core.h"

// _ANEInMemoryModelDescriptor. Text and plist are copied, weights retained.
@interface StandinDescriptor : StandinObject {
@public
    NSData *text, *plist;
    NSDictionary *weights;
    NSString *text_hash, *weights_hash, *plist_hash;
    NSDictionary *file_hashes; // of the files that the framework writes, by name; from 27 on
    BOOL shared_name;          // several weights have one file
    BOOL mil;
}
@end

#pragma GCC visibility push(hidden)

NSString *descriptor_identity(StandinDescriptor *d);

#pragma GCC visibility pop

#endif
