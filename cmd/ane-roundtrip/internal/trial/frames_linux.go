package trial

import (
	"encoding/binary"
	"os"
	"reflect"
)

// frames compares the page frames behind both sides' addresses, pair by pair.
func frames(pairs ...[]byte) Check {
	const name = "sharing/frames"
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return skip(name, "%v", err)
	}
	defer f.Close()
	same, differ := 0, 0
	for i := 0; i < len(pairs); i += 2 {
		for at := 0; at < min(len(pairs[i]), len(pairs[i+1])); at += os.Getpagesize() {
			seen(&pairs[i][at], &pairs[i+1][at]) // both sides' pages exist once written
			seen(&pairs[i+1][at], &pairs[i][at])
			a, okA := frame(f, pairs[i], at)
			b, okB := frame(f, pairs[i+1], at)
			switch {
			case !okA || !okB:
				return skip(name, "page frames are shown to root alone; the other sharing checks do not need them")
			case a == b:
				same++
			default:
				differ++
			}
		}
	}
	return Judge(name, differ == 0 && same > 0, float64(same), "frames", "%d page frames are the same on both sides, %d differ", same, differ)
}

// frame returns the number of the page frame behind b[at]: bits 0 to 54 of the
// entry, of which bit 63 says that the page is present
// (Documentation/admin-guide/mm/pagemap.rst of the kernel).
func frame(pagemap *os.File, b []byte, at int) (uint64, bool) {
	address := uint64(reflect.ValueOf(b[at:]).Pointer())
	var entry [8]byte
	if _, err := pagemap.ReadAt(entry[:], int64(address/uint64(os.Getpagesize())*8)); err != nil {
		return 0, false
	}
	e := binary.NativeEndian.Uint64(entry[:])
	pfn := e & (1<<55 - 1)
	return pfn, e>>63 == 1 && pfn != 0
}
