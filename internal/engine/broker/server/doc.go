// Package server is the broker: it admits clients, holds their surfaces and
// programs, and drives the engine for them.
//
//	socket or bell -> session -> resources, calls -> driver -> engine
//
// [Serve] answers the clients of an [Listener], any number at a time. It ends some seconds after the last has
// gone. [ServeConn] answers one client over a socket pair and ends with it. Everything a client had is given back when
// its connection ends, however it ends.
//
// # Which clients are admitted
//
// Package admission decides that, and what a client may ask for in the tier that it opens. Package resources has what
// it holds then, and package calls what it waits for.
//
// Programs in memory, the compile cache and adapters belong to an identity:
// another identity cannot find them, attach to them, run or purge them. Handles
// are numbers in the table of one connection, so that another client's cannot be
// named at all.
//
// # Adapters
//
// An instance is a loaded program with other weights, of which only the files that differ are sent. An engine whose
// programs are a driver.Instancer (the software engine's are) links the instance to the base without compiling. It
// reads the weights, computes again what was folded from them, and shares everything else. A weight that decides about
// the program itself, such as an axis, has to stay as the base has it. Other engines have no instances. An instance has
// its turn with compiles, since reading large weights takes as long.
//
// docs/BROKER.md says what the broker does not protect against.
// Memory between processes is a Linux matter (sealed memfds, descriptors over
// SOCK_SEQPACKET). On other systems every entry answers an error that matches
// ane.ErrUnavailable.
package server
