#ifndef STANDIN_SHA256_H
#define STANDIN_SHA256_H

#import "core.h"

#pragma GCC visibility push(hidden)

struct sha256 {
    uint32_t state[8];
    uint64_t length; // bytes taken
    uint8_t block[64];
};
void sha256_start(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t size);
NSString *sha256_finish(struct sha256 *s); // upper-case hexadecimal

#pragma GCC visibility pop

#endif
