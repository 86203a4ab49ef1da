// The live entries of a program's attributes. Attributes that are replayed may say anything, so nothing is taken from
// them without a look at its type.
#ifndef STANDIN_LIVE_ENTRIES_H
#define STANDIN_LIVE_ENTRIES_H

#import <Foundation/Foundation.h>

#include <stdint.h>

#pragma GCC visibility push(hidden)

enum live_side { LIVE_INPUTS, LIVE_OUTPUTS, LIVE_SIDES };

// One array for each network: its entries of a side, of all its lists. Without a description of symbols they are in the
// order of the symbols, which is bytewise where there are several lists.
NSArray *live_entries(NSArray *networks, enum live_side side, BOOL described);

// The network of a procedure: the one of its name, else the one at its place where there are as many as procedures,
// else the only one. NSNotFound where none is.
NSUInteger live_network(NSArray *networks, NSString *name, NSUInteger place, NSUInteger procedures);

// The entry of a symbol: that of its Symbol or else Name in the procedure's network, else the one at its place where no
// entry there has a name, else that of its name in any network. nil where there is none.
NSDictionary *live_find(NSArray *entries, NSUInteger network, NSString *symbol, NSUInteger place);

// How many bytes an entry's surface has to have. INT64_MAX, as long as no surface is, for numbers that mean none.
int64_t live_bytes(NSDictionary *entry);

#pragma GCC visibility pop

#endif
