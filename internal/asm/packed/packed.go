// Package packed writes the assembly of the software engine's package of that name.
package packed

import (
	"fmt"

	"github.com/anekit/anekit/internal/asm/emit"
)

// width writes instructions for vectors of one width.
type width struct{ emit.Width }

// Write writes all functions, and for those of several kinds one that chooses.
func Write(f *emit.File) {
	of := func(bits int) width { return width{emit.Width{File: f, Bits: bits}} }
	var fixes, expands, dots [][2]string
	for _, w := range []width{of(256), of(512)} {
		w.dotFloats()
		w.split()
		w.fix()
		for i := range w.Bits / 256 * 3 {
			k := fixed{width: w, rows: 1 + i/3*3, columns: 32 << (i % 3)}
			k.write()
			when := fmt.Sprintf("bits == %d && columns == %d && rows == %d", w.Bits, k.columns, k.rows)
			fixes = append(fixes, [2]string{when, k.name()})
		}
		for _, integers := range []int{2, 3, 4, 6, 8, -8} {
			k := elements{width: w, integers: max(integers, -integers), signed: integers < 0}
			k.write()
			expands = append(expands, [2]string{fmt.Sprintf("bits == %d && %s", w.Bits, k.when()), k.name()})
			for _, exact := range []bool{false, true} {
				if k.products, k.exact = true, exact; w.Bits == 512 && integers != 4 {
					k.write()
					dots = append(dots, [2]string{fmt.Sprintf("exact == %v && %s", exact, k.when()), k.name()})
				}
			}
		}
	}
	f.Choose("fixedRows", "(bits, columns, rows int, d *fixes)", "d", "calls a kernel of integers.", fixes)
	f.Choose("expand", "(bits, integers int, signed bool, d *dots)", "d", "calls a kernel that expands.", expands)
	f.Choose("multiply", "(integers int, signed, exact bool, d *dots)", "d", "calls a kernel of elements.", dots)
	widths := func(name string) [][2]string {
		return [][2]string{{"bits == 256", name + "256"}, {"bits == 512", name + "512"}}
	}
	f.Choose("dotFloats", "(bits int, lanes *[Lanes]float32, a, b *float32, chunks int)", "lanes, a, b, chunks",
		"adds the products of a and b to 64 sums.", widths("dotFloats"))
	f.Choose("fixGroups", "(bits int, f *fixing) (most uint32, steep bool)", "f", "calls fixGroups256 or fixGroups512.",
		widths("fixGroups"))
	f.Choose("split", "(bits int, p *parts) (wrong, inexact bool)", "p", "calls split256 or split512.", widths("split"))
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
