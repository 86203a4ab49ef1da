#ifndef STANDIN_HASH_ENCODING_H
#define STANDIN_HASH_ENCODING_H

#import "core.h"

#pragma GCC visibility push(hidden)

// Reports whether the directory has no symbolic link, and files with these hashes by name.
BOOL hash_verify(NSString *directory, NSDictionary *hashes, NSError **error);

#pragma GCC visibility pop

#endif
