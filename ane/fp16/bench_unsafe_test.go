package fp16

import (
	"math"
	"runtime"
	"testing"
	"unsafe"
)

// The floor of a conversion is a copy of as many bytes. Encode and Decode of n elements
// read and write 6n bytes in total, like a copy of 3n bytes; Round 8n, like a copy of
// 4n. All buffers begin on a page and are written before the clock starts.

const benchPage = 4096

// pages returns n elements that begin on a page, all set to v.
func pages[T any](n int, v T) []T {
	size := unsafe.Sizeof(v)
	all := make([]T, n+benchPage/int(size))
	skip := (benchPage - uintptr(unsafe.Pointer(&all[0]))%benchPage) % benchPage / size
	all = all[skip:][:n]
	for i := range all {
		all[i] = v
	}
	return all
}

// eachSize runs prepare for each number of elements and times the function that it
// returns.
func eachSize(b *testing.B, moved int, prepare func(n int) func()) {
	for _, size := range []struct {
		name string
		n    int
	}{{"4Ki", 4 << 10}, {"64Ki", 64 << 10}, {"1Mi", 1 << 20}, {"4Mi", 4 << 20}, {"16Mi", 16 << 20}} {
		b.Run(size.name, func(b *testing.B) {
			f := prepare(size.n)
			f()
			b.SetBytes(int64(moved * size.n))
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}

func floor(b *testing.B, moved int) {
	eachSize(b, moved, func(n int) func() {
		dst, src := pages[byte](moved/2*n, 0), pages[byte](moved/2*n, 0x3c)
		return func() { copy(dst, src) }
	})
}

func BenchmarkEncodeBrain(b *testing.B) {
	eachSize(b, 4, func(n int) func() {
		dst, src := pages[Bits](n, 0), pages[Brain](n, 0x3f8c)
		return func() { EncodeBrain(dst, src) }
	})
}

func BenchmarkEncodeBrainFloor(b *testing.B) { floor(b, 4) }

func BenchmarkEncode(b *testing.B) {
	eachSize(b, 6, func(n int) func() {
		dst, src := pages[Bits](n, 0), pages[float32](n, 1.1)
		return func() { Encode(dst, src) }
	})
}

func BenchmarkEncodeFinite(b *testing.B) {
	eachSize(b, 6, func(n int) func() {
		dst, src := pages[Bits](n, 0), pages[float32](n, 1.1)
		return func() { EncodeFinite(dst, src) }
	})
}

func BenchmarkEncodeFloor(b *testing.B) { floor(b, 6) }

func BenchmarkDecode(b *testing.B) {
	eachSize(b, 6, func(n int) func() {
		dst, src := pages[float32](n, 0), pages[Bits](n, 0x3c66)
		return func() { Decode(dst, src) }
	})
}

func BenchmarkDecodeFloor(b *testing.B) { floor(b, 6) }

func BenchmarkRound(b *testing.B) {
	eachSize(b, 8, func(n int) func() {
		dst, src := pages[float32](n, 0), pages[float32](n, 1.1)
		return func() { Round(dst, src) }
	})
}

func BenchmarkRoundFloor(b *testing.B) { floor(b, 8) }

// The floor of single values is the loop without the conversion.

func eachValue[T any](b *testing.B, src []T, f func(T) uint32) {
	var sum uint32
	for b.Loop() {
		for _, v := range src {
			sum += f(v)
		}
	}
	runtime.KeepAlive(sum)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(src)), "ns/element")
}

func BenchmarkFromFloat32(b *testing.B) {
	eachValue(b, floats(neighborhoods())[:1<<14], func(f float32) uint32 { return uint32(FromFloat32(f)) })
}

func BenchmarkFromFloat32Floor(b *testing.B) {
	eachValue(b, floats(neighborhoods())[:1<<14], math.Float32bits)
}

func BenchmarkFloat32(b *testing.B) {
	eachValue(b, allHalves(), func(h Bits) uint32 { return math.Float32bits(h.Float32()) })
}

func BenchmarkFloat32Floor(b *testing.B) {
	eachValue(b, allHalves(), func(h Bits) uint32 { return uint32(h) })
}
