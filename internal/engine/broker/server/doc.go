// Package server is the broker: it admits clients, holds their surfaces and
// programs, and drives the engine for them.
//
//	socket or bell -> session -> surfaces, programs, requests, flights -> driver -> engine
//
// [Serve] answers the clients of a [Listener], any number at a time, and ends
// some seconds after the last has gone; [ServeConn] answers one client over a
// socket pair and ends with it. Everything a client had is given back when its
// connection ends, however it ends.
//
// # Which clients are admitted
//
// A client is known by its user and by the SHA-256 of its executable, which
// stand in for the team identifier and the code-directory hash of a signed
// program. Both come from the kernel when the connection is made, never from the
// client. Another user is refused, the superuser too: it could do nothing here
// that it cannot do elsewhere, and its surfaces do not belong with those of a
// plain user. What a client may ask for is a matter of the tier it opens and of
// the entitlements a [Policy] grants it; see the table in policy.go.
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
// about the program itself, such as an axis, has to stay as the base has it. For
// other engines the broker keeps text and weights of the base and compiles them with
// the adapter's. Either way an instance has its turn with compiles, since reading
// large weights takes as long.
//
// # What is not protected against
//
//   - The executable is read through /proc/PID/exe while a descriptor of the process that
//     made the connection shows that it lives, and has to be the same file, unchanged, when the
//     connection is taken, when it is hashed and when the client says hello. A process that
//     forks, connects and becomes another program before the broker takes the connection
//     counts as that program, and its child speaks for it; so does a process that is given
//     the socket, or that debugs its owner. Before Linux 6.5 the number of a process that
//     ended between connecting and being taken may be another one's of the same user.
//   - The file system of an executable may show the broker other bytes than the kernel executes, if another
//     process or host serves it.
//   - An interpreter is one identity whatever script it runs, and shared libraries
//     are not part of it.
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
