// The live entries of a program's attributes. Replayed attributes may have any content, so each value's
// type is checked.
#ifndef STANDIN_LIVE_ENTRIES_H
#define STANDIN_LIVE_ENTRIES_H

#import <Foundation/Foundation.h>

#include <stdint.h>

#pragma GCC visibility push(hidden)

enum live_side { LIVE_INPUTS, LIVE_OUTPUTS, LIVE_SIDES };

// One array for each network: its entries of a side, from all its lists. Without a description of
// symbols they are in the order of the symbols, which is bytewise if there are several lists.
NSArray *live_entries(NSArray *networks, enum live_side side, BOOL described);

// The network of a procedure: the one with its name, else the one at its index if there are as many
// networks as procedures, else the only one. NSNotFound if none.
NSUInteger live_network(NSArray *networks, NSString *name, NSUInteger place, NSUInteger procedures);

// The entry of a symbol: the one with its Symbol or else Name in the procedure's network, else the one
// at its index if no entry there has a name, else the one with its name in any network. nil if none.
NSDictionary *live_find(NSArray *entries, NSUInteger network, NSString *symbol, NSUInteger place);

// The necessary bytes of an entry's surface. INT64_MAX, more than any surface has, for invalid numbers.
int64_t live_bytes(NSDictionary *entry);

#pragma GCC visibility pop

#endif
