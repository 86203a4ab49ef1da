package nvme

import (
	"sync/atomic"
	"unsafe"
)

// publish writes an entry of a completion queue: first what it says, then the word with the phase bit, which
// tells the host that the rest is there. mem begins at a multiple of 4 bytes.
func publish(mem []byte, entry *[CompletionSize]byte) {
	copy(mem[:12], entry[:12])
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&mem[12])), le.Uint32(entry[12:]))
}

// observe reads an entry in the opposite order, if the phase bit of its last word is phase.
func observe(mem []byte, phase bool, entry *[CompletionSize]byte) bool {
	const bit = 1 << 16
	last := atomic.LoadUint32((*uint32)(unsafe.Pointer(&mem[12])))
	if last&bit != 0 != phase {
		return false
	}
	le.PutUint32(entry[12:], last)
	copy(entry[:12], mem[:12])
	return true
}
