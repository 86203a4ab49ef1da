//go:build !macrules

package huge

import (
	"golang.org/x/sys/unix"
)

// step is the memory that one call of the kernel collapses. After a failed huge page the call continues, slowly when
// memory is fragmented, so step bounds the time that is lost.
const step = 64 << 20

// Back allocates huge pages for runs of Size bytes of mem that have no page yet, and returns the bytes of those runs.
// It changes no byte. A run with a page stays as it is, and so does memory in no whole run. Back ends at the first
// refusal of the kernel, so that it does nothing on a kernel without huge pages.
func Back(mem []byte) (backed int) {
	mem = whole(mem)
	for len(mem) > 0 {
		n := min(step, len(mem))
		k, ok := back(mem[:n:n])
		backed += k
		if !ok {
			return backed
		}
		mem = mem[n:]
	}
	return backed
}

// back is Back of a step. Without ok, the kernel refused.
func back(mem []byte) (backed int, ok bool) {
	absent, ok := runs(mem)
	if !ok {
		return 0, false
	}
	for _, r := range absent {
		part := mem[r.from:r.to:r.to]
		// The kernel collapses only runs that have a page.
		for at := 0; at < len(part); at += Size {
			if unix.Madvise(part[at:at+small:at+small], unix.MADV_POPULATE_WRITE) != nil {
				return backed, false
			}
		}
		if unix.Madvise(part, unix.MADV_COLLAPSE) != nil {
			return backed, false
		}
		backed += len(part)
	}
	return backed, true
}

// run is the bytes [from, to).
type run struct{ from, to int }

// small is the page of systems that have huge pages of Size.
const small = 4 << 10

// runs lists the whole runs in which no page is present. It is not ok if the kernel does not tell.
func runs(mem []byte) (absent []run, ok bool) {
	var there [step / small]byte
	if mincore(mem, there[:len(mem)/small]) != nil {
		return nil, false
	}
	for at := 0; at < len(mem); at += Size {
		present := byte(0)
		for _, b := range there[at/small : (at+Size)/small] {
			present |= b & 1
		}
		switch n := len(absent); {
		case present != 0:
		case n > 0 && absent[n-1].to == at:
			absent[n-1].to += Size
		default:
			absent = append(absent, run{at, at + Size})
		}
	}
	return absent, true
}
