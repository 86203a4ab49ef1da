package server

import (
	"crypto/sha256"
	"sync"
)

// maxHashes bounds what hashes remembers: some programs, each in some versions.
const maxHashes = 256

// hashKey tells one content of an executable from another.
type hashKey struct {
	device, inode uint64
	size          int64
	mtime, ctime  int64
}

// hashes remembers the SHA-256 of executables, which are many megabytes and
// connect again and again.
type hashes struct {
	mu   sync.Mutex
	sums map[hashKey][sha256.Size]byte
}

func (h *hashes) get(k hashKey) (sum [sha256.Size]byte, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	sum, ok = h.sums[k]
	return sum, ok
}

func (h *hashes) put(k hashKey, sum [sha256.Size]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sums == nil || len(h.sums) >= maxHashes {
		h.sums = map[hashKey][sha256.Size]byte{}
	}
	h.sums[k] = sum
}
