//go:build !macrules

package server

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
)

// hashes remembers the SHA-256 of executables, which are many megabytes and connect again and again.
type hashes struct {
	mu   sync.Mutex
	sums map[hashKey][sha256.Size]byte
}

// hashKey tells one executable from another: it cannot be written while it runs, and a change moves its time.
type hashKey struct {
	device, inode uint64
	size          int64
	mtime         unix.Timespec
}

// of returns the SHA-256 of an executable, from memory when it was read before. Reading ends with ctx.
func (h *hashes) of(ctx context.Context, f *os.File) ([sha256.Size]byte, error) {
	var s unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &s); err != nil {
		return [sha256.Size]byte{}, err
	}
	if s.Size > maxExecutable {
		return [sha256.Size]byte{}, &ane.Error{Op: "admit", Engine: Name, Err: ane.ErrExhausted,
			Detail: fmt.Sprintf("an executable of %d bytes, at most %d", s.Size, int64(maxExecutable)),
			Hint:   "strip it, or connect from a smaller one"}
	}
	key := hashKey{uint64(s.Dev), s.Ino, s.Size, s.Mtim}
	h.mu.Lock()
	sum, known := h.sums[key]
	h.mu.Unlock()
	if known {
		return sum, nil
	}
	hash := sha256.New()
	for at := int64(0); at < s.Size; at += hashChunk {
		if ctx.Err() != nil {
			return sum, &ane.Error{Op: "admit", Engine: Name, Err: ane.ErrExhausted,
				Detail: fmt.Sprintf("%d of the %d bytes of its executable were read in the time for hello", at, s.Size),
				Hint:   "try again, or strip it"}
		}
		if _, err := io.Copy(hash, io.NewSectionReader(f, at, min(hashChunk, s.Size-at))); err != nil {
			return sum, err
		}
	}
	hash.Sum(sum[:0])
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sums == nil || len(h.sums) >= maxHashes {
		h.sums = map[hashKey][sha256.Size]byte{}
	}
	h.sums[key] = sum
	return sum, nil
}
