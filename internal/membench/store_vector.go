//go:build amd64 || arm64

package membench

import (
	"runtime"

	"golang.org/x/sys/cpu"
)

// storeVectors fills mem with the bytes of v: AVX2 on amd64, NEON on arm64.
//
//go:noescape
func storeVectors(mem []byte, v uint64)

// hasVectors reports whether storeVectors runs on this processor.
func hasVectors() bool { return runtime.GOARCH == "arm64" || cpu.X86.HasAVX2 }
