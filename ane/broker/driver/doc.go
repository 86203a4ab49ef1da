// Package driver is a software kernel driver for a software Neural Engine: below
// it stands any ane.Engine's programs, above it the selectors, structures and return
// codes of package driverabi and nothing else.
//
// A Driver owns one engine's time. A Client is one process that may use it: it
// shakes hands, creates and prepares programs, maps surfaces, and sends requests by
// numbers. Whatever a number names was given to that client before; another client's
// token is refused like one that never was.
//
// What the seed of the ABI leaves undocumented, this package fills with fields of its
// own. All of them are declared in layout.go and marked as ours; no other driver reads
// them.
//
// # Queue
//
// All requests of all clients go through one queue to one engine, which runs one at
// a time. There are eight levels; driverabi.QueueIndex gives a request's level. Within
// a level requests run in the order in which they came. Between levels the engine's
// turns are divided by weight: level n+1 gets half the turns of level n while both
// have work, and a level that has work gets one turn in any StarvationBound, so the
// lowest class is served however busy the others are. A client has at most QueueDepth
// requests in the queue; one more is answered with a full code and may be sent again
// after a completion.
//
// # Completion
//
// A request that was accepted completes exactly once. With an asynchronous port the
// completion goes to ClientInfo.Wake, otherwise Control returns with it.
//
// # Lifetimes
//
// A program belongs to whoever added it, and stays open until after RemoveProgram. A
// surface's Block is held from AddSurface to RemoveSurface. Everything else belongs to
// the client and is undone by Client.Close.
package driver
