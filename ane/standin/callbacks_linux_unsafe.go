//go:build linux && cgo

package standin

// The functions of standin_server, which the framework calls on threads of its
// own choosing. They are exported through cgo rather than made by purego,
// because a callback of purego allocates three times in each call.

/*
#include <stddef.h>
#include <stdint.h>
*/
import "C"

import "unsafe"

//export anekitStandinCompile
func anekitStandinCompile(_ unsafe.Pointer, directory *C.char, program *C.uint64_t, message *C.char, capacity C.size_t) (answer C.int32_t) {
	defer survive("compile", func() { answer = 1; say(message, capacity, "the compiler panicked; its log has the place") })
	handle, err := process.server.Load().compile(C.GoString(directory))
	if err != nil {
		say(message, capacity, faults(err))
		return 1
	}
	*program = C.uint64_t(handle)
	return 0
}

//export anekitStandinAttributes
func anekitStandinAttributes(_ unsafe.Pointer, program C.uint64_t, plist *C.char, capacity C.size_t) (length C.size_t) {
	defer survive("attributes", func() { length = 0 })
	text := process.server.Load().attributes(uint64(program))
	copy(buffer(plist, capacity), text)
	return C.size_t(len(text))
}

//export anekitStandinEvaluate
func anekitStandinEvaluate(_ unsafe.Pointer, program C.uint64_t, procedure C.uint32_t, request C.uint64_t, inputs *C.uint32_t, inputCount C.int32_t, outputs *C.uint32_t, outputCount C.int32_t) C.uint32_t {
	return C.uint32_t(process.server.Load().evaluate(uint64(program), uint32(procedure), uint64(request),
		ids(inputs, inputCount), ids(outputs, outputCount)))
}

//export anekitStandinDropRequest
func anekitStandinDropRequest(_ unsafe.Pointer, request C.uint64_t) {
	defer survive("drop request", func() {})
	process.server.Load().dropRequest(uint64(request))
}

//export anekitStandinDropProgram
func anekitStandinDropProgram(_ unsafe.Pointer, program C.uint64_t) {
	defer survive("drop program", func() {})
	process.server.Load().dropProgram(uint64(program))
}

// say writes text for C.
func say(message *C.char, capacity C.size_t, text string) { put(buffer(message, capacity), text) }

// buffer is memory of the C caller, for the time of the call.
func buffer(p *C.char, n C.size_t) []byte {
	if p == nil {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), int(n))
}

// ids is a list of the C caller's, for the time of the call.
func ids(p *C.uint32_t, n C.int32_t) []uint32 {
	if p == nil || n < 0 {
		return nil
	}
	return unsafe.Slice((*uint32)(unsafe.Pointer(p)), int(n))
}
