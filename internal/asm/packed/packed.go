// Package packed writes the assembly of the software engine's package of that name.
package packed

import (
	"fmt"

	"github.com/anekit/anekit/internal/asm/emit"
)

// width writes instructions for vectors of one width.
type width struct{ emit.Width }

// Write writes all functions.
func Write(f *emit.File) {
	for _, bits := range []int{256, 512} {
		w := width{emit.Width{File: f, Bits: bits}}
		w.dotFloats()
	}
}

// begin begins a function whose name ends in the width.
func (w width) begin(name, signature, comment string) {
	w.Func(fmt.Sprint(name, w.Bits), signature, comment)
}

// dotFloats adds products of floats to 64 sums.
func (w width) dotFloats() {
	w.begin("dotFloats", "(lanes *[Lanes]float32, a, b *float32, chunks int)", "adds the products of a and b to 64 sums.")
	lanes, a, b := w.Whole(w.Param("lanes")), w.Whole(w.Param("a")), w.Whole(w.Param("b"))
	sums := w.Vectors(64 / w.Lanes())
	for i, sum := range sums {
		w.VMOVUPS(emit.At(lanes, i*w.Bits/8), sum)
	}
	w.Times("chunk", w.Whole(w.Param("chunks")), func() {
		elements := w.Vectors(len(sums))
		for i, e := range elements {
			w.VMOVUPS(emit.At(a, i*w.Bits/8), e)
		}
		for i, e := range elements {
			w.VFMADD231PS(emit.At(b, i*w.Bits/8), e, sums[i])
		}
		w.Add(256, a)
		w.Add(256, b)
	})
	for i, sum := range sums {
		w.VMOVUPS(sum, emit.At(lanes, i*w.Bits/8))
	}
	w.End()
}
