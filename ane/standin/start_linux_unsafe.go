//go:build linux && cgo

package standin

/*
#cgo CFLAGS: -I${SRCDIR}/../../objcbridge/standin
#include "standin.h"

// Defined in callbacks_linux_unsafe.go.
extern int32_t anekitStandinCompile(void *, char *, uint64_t *, char *, size_t);
extern size_t anekitStandinAttributes(void *, uint64_t, char *, size_t);
extern uint32_t anekitStandinEvaluate(void *, uint64_t, uint32_t, uint64_t, uint32_t *, int32_t, uint32_t *, int32_t);
extern void anekitStandinDropRequest(void *, uint64_t);
extern void anekitStandinDropProgram(void *, uint64_t);
*/
import "C"

import (
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// The Go twins of two C structures are as large as these.
var (
	_ [unsafe.Sizeof(Counts{})]byte        = [C.sizeof_standin_counts]byte{}
	_ [unsafe.Sizeof(SurfaceCounts{})]byte = [C.sizeof_standin_surface_stats]byte{}
)

// begin starts the framework and returns what standin_start does. The C
// structures stay pinned for the life of the process, because the framework may
// keep pointers into them.
func (l *library) begin(o Options) int {
	var forever runtime.Pinner
	list := func(words []string) **C.char {
		pointers := make([]*C.char, len(words)+1) // ended by NULL
		for i, w := range words {
			b := text(w)
			forever.Pin(b)
			pointers[i] = (*C.char)(unsafe.Pointer(b))
		}
		forever.Pin(&pointers[0])
		return &pointers[0]
	}
	config := &C.standin_config{
		profile:        *list([]string{o.profile()}),
		missing:        list(o.Missing),
		changed:        list(o.Changed),
		compile_budget: C.int32_t(o.CompileBudget),
		server: C.standin_server{
			compile:      (*[0]byte)(C.anekitStandinCompile),
			attributes:   (*[0]byte)(C.anekitStandinAttributes),
			evaluate:     (*[0]byte)(C.anekitStandinEvaluate),
			drop_request: (*[0]byte)(C.anekitStandinDropRequest),
			drop_program: (*[0]byte)(C.anekitStandinDropProgram),
		},
	}
	forever.Pin(config)
	r, _, _ := purego.SyscallN(l.start, uintptr(unsafe.Pointer(config)))
	l.pins = append(l.pins, &forever)
	return int(int32(r))
}
