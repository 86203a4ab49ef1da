package wire

import "strconv"

// Version is the version of frames and payloads that this package speaks.
const Version = 1

// Kind says what a frame is about. A request's kind with the Reply bit is its answer;
// KindFault answers any request that failed.
type Kind uint16

// Kinds of requests, each with the payloads of request and answer.
const (
	KindHello    Kind = 1 + iota // Hello, HelloReply
	KindSurface                  // Surface and its memfd, SurfaceReply
	KindDrop                     // Drop, Empty
	KindCompile                  // Compile and its memfds, Compiled
	KindInstance                 // Instance and its memfds, Compiled
	KindLoad                     // Load, Loaded
	KindUnload                   // Unload, Empty
	KindRelease                  // Release, Empty
	KindBind                     // Bind, Bound
	KindUnbind                   // Unbind, Empty
	KindEvaluate                 // Evaluate, Done
	KindCancel                   // Cancel, Cancelled
	KindPurge                    // Purge, Purged
	KindStats                    // Empty, Stats
	KindStatus                   // Status, StatusReply
	KindPing                     // Empty, Empty
	KindFault                    // only as an answer, without the Reply bit: Fault
	kinds
)

// Reply is the bit that makes a kind its answer.
const Reply Kind = 0x8000

var kindNames = [kinds]string{
	"", "hello", "surface", "drop", "compile", "instance", "load", "unload", "release", "bind",
	"unbind", "evaluate", "cancel", "purge", "stats", "status", "ping", "fault",
}

// known reports whether this version has the kind.
func (k Kind) known() bool {
	base := k &^ Reply
	return base >= KindHello && base < kinds && k != KindFault|Reply
}

// String names the kind: "bind", "bind reply", or its number.
func (k Kind) String() string {
	switch {
	case !k.known():
		return "kind " + strconv.Itoa(int(k))
	case k&Reply != 0:
		return kindNames[k&^Reply] + " reply"
	}
	return kindNames[k]
}
