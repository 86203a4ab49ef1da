package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
)

// hashKey tells one content of an executable from another: it cannot be written while it runs, and a change before
// that moves its times.
type hashKey struct {
	device, inode uint64
	size          int64
	mtime, ctime  int64
}

// hashes remembers the SHA-256 of executables, which are many megabytes and
// connect again and again. One that several clients run is read once for all of them.
type hashes struct {
	mu     sync.Mutex
	sums   map[hashKey][sha256.Size]byte
	open   map[hashKey]*hashing
	places chan struct{} // a token for each file that is being read; made with open
	chunk  func(n int64) // after each, for tests

	peers peers // whose executables they are
}

// hashing is one executable that is being read.
type hashing struct {
	done    chan struct{}
	sum     [sha256.Size]byte // with err, settled once done is closed
	err     error
	waiting map[*waiter]struct{} // hashes.mu guards it
}

// waiter is a connection whose process runs the executable.
type waiter struct{ fd int }

// gone reports whether the peer has closed the connection.
func (w *waiter) gone() bool {
	p := []unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0
}

// of returns the SHA-256 of f, from memory when it was read before. It returns early when ctx ends. Reading ends when
// the connections fd of all that wait for it are closed.
func (h *hashes) of(ctx context.Context, f *os.File, fd int) ([sha256.Size]byte, error) {
	key, err := fileKey(f)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	if key.size > maxExecutable {
		return [sha256.Size]byte{}, &ane.Error{Op: "admit", Engine: Name, Err: ane.ErrExhausted,
			Detail: fmt.Sprintf("an executable of %d bytes, at most %d", key.size, int64(maxExecutable)),
			Hint:   "strip it, or connect from a smaller one"}
	}
	w := &waiter{fd}
	run, sum, err := h.join(key, w, f)
	if run == nil {
		return sum, err
	}
	select {
	case <-run.done:
		return run.sum, run.err
	case <-ctx.Done():
		h.leave(run, w)
		return [sha256.Size]byte{}, ane.Deadline("admit", Name, ctx.Err())
	}
}

// join waits with others for a file, or begins to read it; nil with the sum when it is known.
func (h *hashes) join(key hashKey, w *waiter, f *os.File) (*hashing, [sha256.Size]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if sum, ok := h.sums[key]; ok {
		return nil, sum, nil
	}
	if h.open == nil {
		h.open, h.places = map[hashKey]*hashing{}, make(chan struct{}, maxHashing)
	}
	run := h.open[key]
	if run == nil {
		own, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return nil, [sha256.Size]byte{}, err
		}
		run = &hashing{done: make(chan struct{}), waiting: map[*waiter]struct{}{}}
		h.open[key] = run
		go h.read(key, run, os.NewFile(uintptr(own), "executable"))
	}
	run.waiting[w] = struct{}{}
	return run, [sha256.Size]byte{}, nil
}

// leave counts a waiter out.
func (h *hashes) leave(run *hashing, w *waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(run.waiting, w)
}

// read hashes a file, when fewer than maxHashing others are read.
func (h *hashes) read(key hashKey, run *hashing, f *os.File) {
	defer f.Close()
	h.places <- struct{}{}
	sum, err := h.sum(key, run, f)
	<-h.places
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open[key] == run {
		delete(h.open, key)
	}
	if run.sum, run.err = sum, err; err == nil {
		h.put(key, sum)
	}
	close(run.done)
}

// sum reads a file in chunks, as long as there is a client that waits for it.
func (h *hashes) sum(key hashKey, run *hashing, f *os.File) (sum [sha256.Size]byte, err error) {
	d := sha256.New()
	from := io.NewSectionReader(f, 0, maxExecutable+1)
	for read := int64(0); ; {
		if !h.awaited(key, run) {
			return sum, errLeft
		}
		n, err := io.CopyN(d, from, hashChunk)
		if read += n; h.chunk != nil {
			h.chunk(read)
		}
		switch {
		case read > maxExecutable: // it grows
			return sum, ane.ErrExhausted
		case errors.Is(err, io.EOF):
			return [sha256.Size]byte(d.Sum(nil)), nil
		case err != nil:
			return sum, err
		}
	}
}

// awaited reports whether a client still waits for a file. When none does, none joins.
func (h *hashes) awaited(key hashKey, run *hashing) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range run.waiting {
		if !w.gone() {
			return true
		}
	}
	delete(h.open, key)
	return false
}

// fileKey is what f is known by.
func fileKey(f *os.File) (hashKey, error) {
	var s unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &s); err != nil {
		return hashKey{}, err
	}
	return hashKey{uint64(s.Dev), s.Ino, s.Size, s.Mtim.Nano(), s.Ctim.Nano()}, nil
}

// put remembers a sum. The caller holds the lock.
func (h *hashes) put(k hashKey, sum [sha256.Size]byte) {
	if h.sums == nil || len(h.sums) >= maxHashes {
		h.sums = map[hashKey][sha256.Size]byte{}
	}
	h.sums[k] = sum
}
