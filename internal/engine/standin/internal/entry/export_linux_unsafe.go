//go:build linux && cgo

package entry

/*
#include <stddef.h>
#include <stdint.h>
*/
import "C"

import "unsafe"

func server() Server { return *process.server.Load() }

//export anekitStandinCompile
func anekitStandinCompile(_ unsafe.Pointer, directory *C.char, program *C.uint64_t, message *C.char,
	capacity C.size_t) C.int32_t {
	handle, kind, fault := server().Compile(C.GoString(directory))
	if kind != 0 {
		put(buffer(message, capacity), fault)
		return C.int32_t(kind)
	}
	*program = C.uint64_t(handle)
	return 0
}

//export anekitStandinAttributes
func anekitStandinAttributes(_ unsafe.Pointer, program C.uint64_t, plist *C.char, capacity C.size_t) C.size_t {
	text := server().Attributes(uint64(program))
	copy(buffer(plist, capacity), text)
	return C.size_t(len(text))
}

//export anekitStandinEvaluate
func anekitStandinEvaluate(_ unsafe.Pointer, program C.uint64_t, procedure C.uint32_t, request C.uint64_t,
	inputs *C.uint32_t, inputCount C.int32_t, outputs *C.uint32_t, outputCount C.int32_t) C.uint32_t {
	return C.uint32_t(server().Evaluate(uint64(program), uint32(procedure), uint64(request),
		ids(inputs, inputCount), ids(outputs, outputCount)))
}

//export anekitStandinDropRequest
func anekitStandinDropRequest(_ unsafe.Pointer, request C.uint64_t) {
	server().DropRequest(uint64(request))
}

//export anekitStandinDropProgram
func anekitStandinDropProgram(_ unsafe.Pointer, program C.uint64_t) {
	server().DropProgram(uint64(program))
}

// buffer returns memory of the C caller, valid during the call.
func buffer(p *C.char, n C.size_t) []byte {
	if p == nil {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), int(n))
}

// ids returns a list of the C caller, valid during the call.
func ids(p *C.uint32_t, n C.int32_t) []uint32 {
	if p == nil || n < 0 {
		return nil
	}
	return unsafe.Slice((*uint32)(unsafe.Pointer(p)), int(n))
}
