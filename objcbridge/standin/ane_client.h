#ifndef STANDIN_ANE_CLIENT_H
#define STANDIN_ANE_CLIENT_H

#import "core.h"

#pragma GCC visibility push(hidden)

// +sharedConnection returns one object for the life of the process, which is not counted as an instance.
id client_shared(void);
// Mapping fails on the in-memory path with code 13.
BOOL client_refuse_map(id request, NSError **error);

#pragma GCC visibility pop

#endif
