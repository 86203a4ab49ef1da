// Package entry has the C functions that the stand-in framework calls to compile
// and run programs, and passes the calls to Go.
//
// They are exported through cgo and not made by purego, because a purego callback
// allocates three times per call.
package entry

import (
	"sync/atomic"
	"unicode/utf8"
)

// Server receives the calls, on any thread of the framework. Its methods do not
// panic. Slices are C's memory, valid during the call.
type Server interface {
	// Compile compiles the program in a directory. kind is an enum standin_compiled of
	// standin.h, 0 on success.
	Compile(directory string) (program uint64, kind int32, fault string)
	// Attributes returns the program's property list.
	Attributes(program uint64) []byte
	// Evaluate runs a procedure on surfaces and returns the driver's status.
	Evaluate(program uint64, procedure uint32, request uint64, inputs, outputs []uint32) uint32
	DropRequest(request uint64)
	DropProgram(program uint64)
}

// process holds the server: a process starts the framework once, and the C
// functions cannot find the server elsewhere.
var process struct{ server atomic.Pointer[Server] }

// Serve sets the server that the functions call and returns the previous one. Call
// it before the framework starts.
func Serve(s Server) (before Server) {
	if b := process.server.Swap(&s); b != nil {
		before = *b
	}
	return before
}

// put writes text and a zero byte into room. It cuts text at a whole character.
func put(room []byte, text string) {
	if len(room) == 0 {
		return
	}
	n := min(len(text), len(room)-1)
	for n < len(text) && n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	room[copy(room, text[:n])] = 0
}
