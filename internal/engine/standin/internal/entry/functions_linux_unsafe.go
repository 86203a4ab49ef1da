//go:build linux && cgo

package entry

/*
#include <stddef.h>
#include <stdint.h>

// Defined in export_linux_unsafe.go.
extern int32_t anekitStandinCompile(void *, char *, uint64_t *, char *, size_t);
extern size_t anekitStandinAttributes(void *, uint64_t, char *, size_t);
extern uint32_t anekitStandinEvaluate(void *, uint64_t, uint32_t, uint64_t, uint32_t *, int32_t, uint32_t *, int32_t);
extern void anekitStandinDropRequest(void *, uint64_t);
extern void anekitStandinDropProgram(void *, uint64_t);
*/
import "C"

import "unsafe"

// Functions are the fields of standin_server in standin.h, without context.
type Functions struct {
	Compile, Attributes, Evaluate, DropRequest, DropProgram unsafe.Pointer
}

// Addresses returns the addresses of the functions.
func Addresses() Functions {
	return Functions{
		Compile:     unsafe.Pointer(C.anekitStandinCompile),
		Attributes:  unsafe.Pointer(C.anekitStandinAttributes),
		Evaluate:    unsafe.Pointer(C.anekitStandinEvaluate),
		DropRequest: unsafe.Pointer(C.anekitStandinDropRequest),
		DropProgram: unsafe.Pointer(C.anekitStandinDropProgram),
	}
}
