package decoder

import (
	"errors"
	"sync"

	"github.com/anekit/anekit/unimem"
)

// arena is memory for converted weights, outside the Go heap: the collector neither counts nor moves it. It is
// reserved in large Blocks, whose pages appear when they are written.
type arena struct {
	mu     sync.Mutex
	blocks []*unimem.Block
	free   []byte
}

const arenaBlock = 64 << 20

// take returns n bytes of zeros at a multiple of 64 bytes.
func (a *arena) take(n int) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	room := (n + 63) / 64 * 64
	if room > len(a.free) {
		b, err := unimem.Open(max(room, arenaBlock))
		if err != nil {
			return nil, &Error{Op: "load", Detail: "no memory for converted weights", Cause: err}
		}
		a.blocks = append(a.blocks, b)
		a.free = b.Bytes()
	}
	taken := a.free[:n:n]
	a.free = a.free[room:]
	return taken, nil
}

// close frees the memory.
func (a *arena) close() (err error) {
	for _, b := range a.blocks {
		err = errors.Join(err, b.Close())
	}
	if err == nil {
		a.blocks, a.free = nil, nil
	}
	return err
}
