// Package broker is the software engine in a process of its own, as a client
// sees it: an ane.Engine whose programs run in another address space, on the very
// pages of the caller's Blocks.
//
// The process is either private, started by Open from this program's own
// executable and ended with the Engine, or shared by several clients over a socket.
// A program that starts private brokers calls ServeChild first in main, which serves in the
// child and does not return there; the init functions of all packages run in the child too.
//
// # What goes between the processes
//
// Over the socket each surface's descriptor once, and MIL text and weights once a
// compile. Then one small frame each way for every evaluation or chain (ane.Chainer),
// whatever the size of the tensors: through memory that both have mapped (wire.Bell), or over
// the socket for those that run at the same time.
//
// # When the broker dies
//
// Calls in flight end with ane.ErrLost. Memory belongs to the client, so nothing
// else is lost: the next call starts or finds another broker and compiles, loads and
// binds there again what it needs (lost.go). Starts are spaced out; after one that
// failed, calls answer with that failure until the next is due.
//
// # Limits
//
// Work whose context ends goes on at the broker, and is undone there when it is
// done. A broker that has been killed may have written part of the outputs of the
// calls that were in flight. Heap memory cannot be shared: binding it is an error
// that matches unimem.ErrShare. Private brokers need Linux and /proc.
package broker
