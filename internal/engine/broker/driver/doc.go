// Package driver is a software kernel driver for a software Neural Engine. It runs the programs of any ane.Engine. Its
// callers see the selectors, structures and return codes of package driverabi and nothing else.
//
// A Driver owns one engine's time. A Client is one process that may use it: it
// shakes hands, creates and prepares programs, maps surfaces, and sends requests by
// numbers. Whatever a number names was given to that client before; another client's
// token is refused like one that never was.
//
// What the source of the ABI leaves undocumented, this package fills with fields of its
// own. All of them are declared in layout.go; no other driver reads them.
//
// # Queue
//
// All requests of all clients go through one queue to one engine, which runs one at a time. There are eight levels;
// driverabi.Class gives that of a quality of service. Within a level requests run in the order in which they came.
// Weights divide the engine's turns between levels: level n+1 gets half the turns of level n while both have work. A
// level that has work gets one turn in any StarvationBound, so busy levels do not starve the lowest. An engine may call
// Yield of a run's context between two steps, or two parts of a step. Requests of higher levels then run, and the rest
// of the run counts as a turn of its own level. A client has at most driverabi.QueueDepth requests in the queue; one
// more is answered with a full code and may be sent again after a completion. When all clients together fill the queue,
// one that has nothing in it is admitted all the same.
//
// # Completion
//
// A request that was accepted completes exactly once. With an asynchronous port the
// completion goes to ClientInfo.Wake, otherwise Control returns with it.
//
// # Lifetimes
//
// A program belongs to the caller that added it, and stays open until after Remove. A
// surface's Block is held from AddSurface to Remove. Everything else belongs to
// the client and is undone by Client.Close.
//
// # Limits
//
// Answered as on a release build: the debug work processor and the firmware load are
// Unsupported. There is no power state, so arguments about power change a request's
// level. A chain has one procedure, and answers when its outputs are written. The levels 0
// and 1, which the firmware counts as real time, are never used: quality of service 0 has
// the documented level 2. An engine that ignores its context delays every client: nothing
// can take a run from it. Clients that share a program wait for each other's loading of it,
// and a client that ends waits with them.
package driver
