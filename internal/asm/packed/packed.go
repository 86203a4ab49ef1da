// Package packed writes the assembly of the software engine's package of that name.
package packed

import (
	"github.com/anekit/anekit/internal/asm/emit"

	"github.com/mmcloughlin/avo/operand"
)

// width writes instructions for vectors of one width.
type width struct{ emit.Width }

// Write writes all functions.
func Write(f *emit.File) {
	each := func(name, signature, comment string, body func(w width)) {
		f.Func(name, signature, comment)
		for _, bits := range []int{512, 256} {
			f.When("bits", bits, func() { body(width{emit.Width{File: f, Bits: bits}}) })
		}
		f.RET()
	}
	each("dotFloats", "(bits int, lanes *[Lanes]float32, a, b *float32, chunks int)",
		"adds the products of a and b to 64 sums.", width.dotFloats)
	each("split", "(bits int, p *parts) (wrong, inexact bool)",
		`makes for every integer in range integer * scale - high exact in float32, and high plus a number from under to over
is scale * offset. wrong tells that numbers are too small or too large, inexact that scale * (integer - offset) may
not be exact in float32. With 256 bits under is that number, rounded, and over what rounding takes of it.`, width.split)
	each("fixGroups", "(bits int, f *fixing) (most uint32, steep bool)",
		"makes integers of a vector and returns the bits of the greatest magnitude in it, or that it is steep.", width.fix)
	each("fixedRows", "(bits, columns, rows int, d *fixes)",
		"takes a multiple of 1 or, with 512 bits, 4 rows in blocks of 32, 64 or 128 columns.", func(w width) {
			for _, columns := range []int{32, 64, 128} {
				f.When("columns", columns, func() {
					if w.Bits == 512 {
						f.When("rows", 4, func() { (&fixed{width: w, columns: columns, rows: 4}).write() })
					}
					(&fixed{width: w, columns: columns, rows: 1}).write()
				})
			}
		})
	of := func(w width, integers int) elements {
		return elements{width: w, integers: max(integers, -integers), signed: integers < 0}
	}
	each("expand", "(bits, integers int, d *dots)",
		"makes elements of integers of some bits, less than 0 for signed ones in bytes.", func(w width) {
			for _, integers := range []int{2, 3, 4, 6, 8, -8} {
				f.When("integers", integers, func() {
					k := of(w, integers)
					k.write()
				})
			}
		})
	f.Func("multiply", "(integers, found int, d *dots)",
		"multiplies elements of integers as expand makes them, which are exact if found says so, with AVX-512.")
	for _, integers := range []int{2, 3, 6, 8, -8} {
		f.When("integers", integers, func() {
			k := of(width{emit.Width{File: f, Bits: 512}}, integers)
			k.products = true
			inexact := k
			k.exact = true
			f.When("found", 1, k.write)
			inexact.write()
		})
	}
	f.RET()
	w := width{emit.Width{File: f, Bits: 256}}
	f.Func("words", "(f *wording) (most uint32, steep bool)",
		`makes integers of 16 bits of a vector and returns the bits of the greatest magnitude in it, or that it is steep. It
uses AVX2.`)
	w.words()
	f.Func("panel", "(spread int, d *paneling)", `stores 16 rows: 32 bits of each, then the next ones. With spread they are
16 bits, a byte for each integer, of which a byte of a row has so many. It uses AVX2.`)
	for spread := range 3 {
		f.When("spread", spread, func() { w.panel(spread) })
	}
	f.RET()
	f.Func("tile", "(integers, vectors int, d *tiling)", `adds the products of a panel with 1 to 6 vectors of words to sums of 32
for each vector. Integers have some bits, or 0 where they are spread. It uses AVX2.`)
	for _, integers := range []int{0, 4, 8} {
		f.When("integers", integers, func() {
			for vectors := range 6 {
				f.When("vectors", vectors+1, func() { w.tile(integers, vectors+1) })
			}
		})
	}
	f.RET()
	f.Func("wordRows", "(signed int, d *wordy)",
		"adds the products of 16 rows of bytes with one vector of words to sums. It uses AVX2.")
	for signed, extend := range []func(...operand.Op){w.VPMOVZXBW, w.VPMOVSXBW} {
		f.When("signed", signed, func() { w.wordRows(extend) })
	}
	f.RET()
}

// dotFloats adds products of floats to 64 sums.
func (w width) dotFloats() {
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
