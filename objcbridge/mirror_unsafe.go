package objcbridge

import "unsafe"

// Go versions of the structures in src/bridge.h, in the layout of 64-bit C. Pointers may refer
// to C memory, which the collector ignores.

type cError struct {
	kind, stage        int32
	code               int64
	hasStatus          int32
	status, statusType uint32
	loadStage          int32
	domain, exception  [64]byte
	message            [1024]byte
	causes             [2048]byte
}

type cConfig struct {
	framework, iokit        *byte
	programLimit, keepFiles int32
}

type cCheck struct {
	class, selector, expected, found, neededFor *byte
	classMethod, required, status               int32
}

type cDevice struct {
	hasANE, virtualMachine, internalBuild, engines, cores int32
	board                                                 int64
	architecture, subtype, variant                        [32]byte
	product, build                                        [64]byte
}

type cFolders struct {
	verifies, foreign int32
	process, user     [1024]byte
}

type cWeight struct {
	path *byte
	data unsafe.Pointer
	size uintptr
}

type cFacts struct {
	identity, path              *byte
	handle, intermediate, state uint64
	loaded, queueDepth          int32
	perfStatsMask               uint32
	recovered                   cError
}

type cBinding struct {
	surface uintptr
	index   int32
	bytes   int64
}

type cUsage struct {
	compiles, loaded, programLimit           int64
	programs, surfaces, requests, identities int64
}

// goString copies a C string. NULL becomes "".
func goString(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// cString copies s and appends a zero byte.
func cString(s string) *byte { return unsafe.SliceData(append([]byte(s), 0)) }
