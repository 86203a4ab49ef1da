// Package entry holds the C functions that the stand-in framework calls to have
// programs compiled and run, and passes the calls on to Go.
//
// They are exported through cgo rather than made by purego, because a callback of
// purego allocates three times in each call.
package entry

import "sync/atomic"

// Server is what the functions call, on threads of the framework's own choosing.
// Its methods do not panic. Slices are C's, for the time of the call.
type Server interface {
	// Compile compiles what stands in a directory; fault is empty when it could.
	Compile(directory string) (program uint64, fault string)
	// Attributes returns the program's property list.
	Attributes(program uint64) []byte
	// Evaluate runs a procedure on surfaces and returns the driver's status.
	Evaluate(program uint64, procedure uint32, request uint64, inputs, outputs []uint32) uint32
	DropRequest(request uint64)
	DropProgram(program uint64)
}

// process holds the server: the framework is started once in a process, and its
// functions have no other place to find it.
var process struct{ server atomic.Pointer[Server] }

// Serve says whom the functions call, and returns whom they called before. It goes
// before the framework starts.
func Serve(s Server) (before Server) {
	if b := process.server.Swap(&s); b != nil {
		before = *b
	}
	return before
}
