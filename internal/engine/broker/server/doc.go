// Package server is the broker: it admits clients, holds their surfaces and
// programs, and drives the engine for them.
//
//	socket or bell -> session -> resources, calls -> driver -> engine
//
// [Serve] answers the clients of an [admission.Listener], any number at a time, and ends
// some seconds after the last has gone; [ServeConn] answers one client over a
// socket pair and ends with it. Everything a client had is given back when its
// connection ends, however it ends.
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
// An instance is a loaded program with other weights, of which only the files that
// differ are sent. An engine whose programs are a driver.Instancer, as the software
// engine's are, links it to the base without compiling: it reads the weights, computes
// again what was folded from them, and shares everything else. A weight that decides
// about the program itself, such as an axis, has to stay as the base has it. Other
// engines have no instances. An instance has its turn with compiles, since reading
// large weights takes as long.
//
// # What is not protected against
//
//   - A client may change a surface while it is read. The engine computes garbage
//     then, on that client's own surfaces; it cannot leave them.
//   - A client may take all the engine's time that its quality of service gives it.
//     Refused frames cost a thread until the client is cut off, whether they come over
//     the socket or through the bell; counts of a bell without a frame cost next to nothing.
//   - A shared broker that is lost may still run what its client had out: the client
//     cannot wait for its end, as it does for that of a private one.
//   - The user can kill the broker and change the files of its cache. An entry counts
//     only if its content has the key that it is filed by: a changed one is compiled again.
//
// Memory between processes is a Linux matter (sealed memfds, descriptors over
// SOCK_SEQPACKET). On other systems every entry answers an error that matches
// ane.ErrUnavailable.
package server
