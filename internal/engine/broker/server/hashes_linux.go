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
	mu    sync.Mutex
	sums  map[hashKey][sha256.Size]byte
	open  map[hashKey]*hashing
	line  map[*hashing]struct{} // what is read or waits for that, also when no client waits for it any longer
	turns *sync.Cond            // on mu: a hashing has ended, or its last waiter has left; made with open
	chunk func(n int64)         // after each, for tests

	arrived int

	peers peers // whose executables they are
}

// hashing is one executable that is being read.
type hashing struct {
	done    chan struct{}
	sum     [sha256.Size]byte // with err, settled once done is closed
	err     error
	waiting map[*waiter]struct{} // hashes.mu guards it, left and turn
	left    int64                // bytes that have not been read
	turn    int                  // order of arrival
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
		h.open, h.line, h.turns = map[hashKey]*hashing{}, map[*hashing]struct{}{}, sync.NewCond(&h.mu)
	}
	run := h.open[key]
	if run == nil {
		if len(h.line) >= maxInLine {
			return nil, [sha256.Size]byte{}, exhausted("admit", "", "executables that are read", maxInLine,
				"connect later")
		}
		own, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return nil, [sha256.Size]byte{}, err
		}
		h.arrived++
		run = &hashing{done: make(chan struct{}), waiting: map[*waiter]struct{}{}, left: key.size, turn: h.arrived}
		h.open[key], h.line[run] = run, struct{}{}
		go h.read(key, run, os.NewFile(uintptr(own), "executable"))
	}
	run.waiting[w] = struct{}{}
	return run, [sha256.Size]byte{}, nil
}

// leave counts a waiter out.
func (h *hashes) leave(run *hashing, w *waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if delete(run.waiting, w); len(run.waiting) == 0 {
		h.turns.Broadcast()
	}
}

// await waits until fewer than maxHashing executables with less to read are in line, or no client waits for this one.
// The shortest go first, because the time for the hello runs meanwhile: long ones, however many a user has, keep no
// other client out.
func (h *hashes) await(run *hashing, read int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if run.left -= read; run.left < 0 { // it grows
		run.left = maxExecutable
	}
	for len(run.waiting) > 0 && h.before(run) >= maxHashing {
		h.turns.Wait()
	}
}

// before counts the executables that are read before this one. One that no client waits for does not count: it ends,
// unless its file system does not answer, which keeps no other out. The caller holds the lock.
func (h *hashes) before(run *hashing) (n int) {
	for other := range h.line {
		if len(other.waiting) == 0 {
			continue
		}
		if other.left < run.left || other.left == run.left && other.turn < run.turn {
			n++
		}
	}
	return n
}

// read hashes a file, chunk after chunk in its turns.
func (h *hashes) read(key hashKey, run *hashing, f *os.File) {
	defer f.Close()
	sum, err := h.sum(key, run, f)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.line, run)
	h.turns.Broadcast()
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
	for read, n := int64(0), int64(0); ; {
		h.await(run, n)
		if !h.awaited(key, run) {
			return sum, errLeft
		}
		n, err = io.CopyN(d, from, hashChunk)
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
