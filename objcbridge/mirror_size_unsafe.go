//go:build amd64 || arm64

package objcbridge

import "unsafe"

// The sizes of the structures in src/bridge.h. A Go structure of another size does not
// compile.
var (
	_ [3232]byte = [unsafe.Sizeof(cError{})]byte{}
	_ [24]byte   = [unsafe.Sizeof(cConfig{})]byte{}
	_ [56]byte   = [unsafe.Sizeof(cCheck{})]byte{}
	_ [256]byte  = [unsafe.Sizeof(cDevice{})]byte{}
	_ [2056]byte = [unsafe.Sizeof(cFolders{})]byte{}
	_ [24]byte   = [unsafe.Sizeof(cWeight{})]byte{}
	_ [3288]byte = [unsafe.Sizeof(cFacts{})]byte{}
	_ [24]byte   = [unsafe.Sizeof(cBinding{})]byte{}
	_ [80]byte   = [unsafe.Sizeof(cUsage{})]byte{}
)
