package quotient

import (
	"golang.org/x/sys/cpu"

	"github.com/anekit/anekit/ane/fp16"
)

// lanes is the least number of elements that the assembly takes.
const lanes = 8

func negated(dst, a, b []fp16.Bits) bool {
	if len(dst) < lanes || !cpu.X86.HasAVX2 {
		return portable(dst, a, b)
	}
	return negatedVector(&dst[0], &a[0], &b[0], len(dst))
}

// n is at least lanes. It needs AVX2; each processor that has it has F16C.
//
//go:noescape
func negatedVector(dst, a, b *fp16.Bits, n int) bool
