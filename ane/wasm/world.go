package wasm

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/tetratelabs/wazero"
)

// World is how far a guest has read clocks and random numbers, its last handle, and the text of error_text. A guest
// with the memory, globals and World of another one continues reading where that one stopped.
type World struct {
	Random    uint64 // bytes of random numbers
	Wall      uint64 // readings of the wall clock
	Monotonic uint64 // readings of the monotonic clock
	Handle    int32  // the last handle; 0 before the first
	Failure   string // the text of the last error, valid UTF-8 of at most 4,096 bytes; empty without
}

// maxFailure is the largest number of bytes of an error's text that a guest can read.
const maxFailure = 4096

// worldBegin is the first reading of the wall clock: the start of 2022.
var worldBegin = time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)

// config gives a guest random numbers and clocks, which are the same in every run. A clock goes on by a millisecond at
// each reading.
func (w *World) config(c wazero.ModuleConfig) wazero.ModuleConfig {
	const resolution = 1000
	return c.WithRandSource(random{w}).
		WithWalltime(func() (int64, int32) {
			t := worldBegin.Add(time.Duration(w.Wall) * time.Millisecond)
			w.Wall++
			return t.Unix(), int32(t.Nanosecond())
		}, resolution).
		WithNanotime(func() int64 {
			w.Monotonic++
			return int64(w.Monotonic-1) * int64(time.Millisecond)
		}, resolution)
}

// random reads the random numbers of a World: block i is the SHA-256 of i.
type random struct{ *World }

// Read implements io.Reader. The error is nil.
func (w random) Read(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		sum := sha256.Sum256(binary.LittleEndian.AppendUint64(nil, w.Random/sha256.Size))
		n := copy(rest, sum[w.Random%sha256.Size:])
		w.Random += uint64(n)
		rest = rest[n:]
	}
	return len(b), nil
}

// World returns how far the guest has read.
func (g *Guest) World() World {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.world
}

// SetWorld makes the guest continue reading from w, and use no handle of w again.
func (g *Guest) SetWorld(w World) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w.Handle = max(w.Handle, g.world.Handle)
	g.world = w
}
