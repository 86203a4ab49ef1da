package packed

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// benchCols is the columns of the matrix that the benchmarks read.
const benchCols = 1 << 11

// benchRows is its rows: with 4 bits it has 64 MiB, more than a cache; with -short 256 KiB.
func benchRows() int {
	if testing.Short() {
		return 1 << 8
	}
	return 1 << 16
}

// bytes is what a product reads.
func (w *Weights) bytes() int {
	return len(w.Data) + 2*len(w.Scale) + 2*len(w.OffsetHalf) + 4*len(w.OffsetSingle) + len(w.OffsetByte)
}

// shared runs a part of n items on each of some workers.
func shared(workers, n int, part func(lo, hi int)) {
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() { part(n*i/workers, n*(i+1)/workers) })
	}
	wg.Wait()
}

// BenchmarkDots is a product with one vector: bytes of weights, scales and offsets.
func BenchmarkDots(b *testing.B) {
	for _, bits := range []int{2, 3, 4, 6, 8} {
		for offset, name := range []string{"none", "integer", "fp16", "fp32"} {
			for _, wide := range []int{32, 64, 128} {
				for _, workers := range []int{1, 2} {
					b.Run(fmt.Sprintf("%dbit/%s/%d/%d", bits, name, wide, workers), func(b *testing.B) {
						w := random(rand.New(rand.NewPCG(1, 2)), kind{bits, 0, false, offset}, benchRows(), benchCols, 1,
							wide, false)
						x := halvesOf(rand.New(rand.NewPCG(1, 2)), benchCols)
						v := w.Arrange(x, make([]float32, w.VectorRoom()))
						sums := make([]float32, benchRows())
						w.Remember()
						b.SetBytes(int64(w.bytes()))
						rooms := make([]float32, workers*w.Room(32))
						for b.Loop() {
							shared(workers, benchRows()/32, func(lo, hi int) {
								room := rooms[:w.Room(32)]
								if lo > 0 {
									room = rooms[w.Room(32):]
								}
								for i := lo; i < hi; i++ {
									w.Dots(sums[32*i:32*i+32], &v, room, 32*i)
								}
							})
						}
					})
				}
			}
		}
	}
}

// BenchmarkDotsFloor reads as many bytes as the products of 4 bits, in words, and does nothing with them.
func BenchmarkDotsFloor(b *testing.B) {
	data := make([]byte, benchRows()*benchCols/2)
	for i := range data {
		data[i] = byte(i)
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			var sums [16]uint64
			for b.Loop() {
				shared(workers, len(data)/64, func(lo, hi int) {
					s := read(data[64*lo : 64*hi])
					if lo == 0 {
						sums[0] += s
					} else {
						sums[8] += s
					}
				})
			}
		})
	}
}

// read reads all whole 32 bytes of data, in words.
func read(data []byte) uint64 {
	var s [4]uint64
	for ; len(data) >= 32; data = data[32:] {
		s[0] += binary.LittleEndian.Uint64(data)
		s[1] += binary.LittleEndian.Uint64(data[8:])
		s[2] += binary.LittleEndian.Uint64(data[16:])
		s[3] += binary.LittleEndian.Uint64(data[24:])
	}
	return s[0] + s[1] + s[2] + s[3]
}
