// Package simd tells which vector instructions the assembly of the engine may use.
package simd

import (
	"runtime"

	"golang.org/x/sys/cpu"
)

// Level is a set of instructions.
type Level int

// The levels. A processor that has AVX512 has AVX2.
const (
	Portable Level = iota // none: the Go code, which runs on every processor
	Neon                  // those of every arm64
	AVX2                  // with FMA, F16C and POPCNT
	AVX512                // F, VL, DQ, BW and CD
)

func (l Level) String() string { return [...]string{"portable", "neon", "avx2", "avx512"}[l] }

// Levels lists those of this processor, the widest one last. x/sys/cpu reports instructions only if the operating
// system saves the registers that they use.
func Levels() []Level {
	all, x86 := []Level{Portable}, &cpu.X86
	if runtime.GOARCH == "arm64" {
		all = append(all, Neon)
	}
	if x86.HasAVX2 && x86.HasFMA && x86.HasF16C && x86.HasPOPCNT {
		all = append(all, AVX2)
		if x86.HasAVX512F && x86.HasAVX512VL && x86.HasAVX512DQ && x86.HasAVX512BW && x86.HasAVX512CD {
			all = append(all, AVX512)
		}
	}
	return all
}

// Best is the widest level of this processor.
func Best() Level {
	all := Levels()
	return all[len(all)-1]
}
