// Package broker is a client's view of the software engine in another process: an ane.Engine. Its programs run in that
// process's address space, on the pages of the caller's Blocks.
//
// Open starts a private broker from this program's own executable, and Close of the Engine ends it. A shared broker
// serves several clients over a socket. A program that starts private brokers calls ServeChild of ane/engine/broker
// first in main. In the child, ServeChild serves and does not return. The init functions of all packages run in the
// child too.
//
// # What goes between the processes
//
// The socket carries each surface's descriptor once, and MIL text and weights once a compile. Every evaluation or chain
// (ane.Chainer) then takes one small frame each way, whatever the size of the tensors. The frame goes through memory
// that both have mapped (wire.Bell), or over the socket while another evaluation runs.
//
// # When the broker dies
//
// Calls in flight end with ane.ErrLost. Memory belongs to the client, so nothing else is lost. The next call starts or
// finds another broker, where it compiles, loads and binds again what it needs (lost.go). Starts are spaced out; after
// one that failed, calls answer with that failure until the next is due.
//
// # Limits
//
// Work whose context ends goes on at the broker, and is undone there when it is
// done. A broker that has been killed may have written part of the outputs of the
// calls that were in flight. Heap memory cannot be shared: binding it is an error
// that matches unimem.ErrShare. Private brokers need Linux and /proc.
package broker
