package measure

import (
	"encoding/binary"
	"runtime"
	"slices"
	"sync"
)

// Reads returns a function by which some goroutines read memory once, in pieces of a MiB.
func Reads(workers int, all ...[]byte) func() {
	var pieces [][]byte
	for _, b := range all {
		pieces = slices.AppendSeq(pieces, slices.Chunk(b, 1<<20))
	}
	return func() {
		var wait sync.WaitGroup
		for k := range workers {
			wait.Go(func() {
				var sum uint64
				for i := k; i < len(pieces); i += workers {
					sum += read(pieces[i])
				}
				runtime.KeepAlive(sum)
			})
		}
		wait.Wait()
	}
}

// read returns a sum of b, but its last bytes.
func read(b []byte) uint64 {
	var sums [4]uint64
	for len(b) >= 32 {
		sums[0] += binary.LittleEndian.Uint64(b)
		sums[1] += binary.LittleEndian.Uint64(b[8:])
		sums[2] += binary.LittleEndian.Uint64(b[16:])
		sums[3] += binary.LittleEndian.Uint64(b[24:])
		b = b[32:]
	}
	return sums[0] + sums[1] + sums[2] + sums[3]
}
