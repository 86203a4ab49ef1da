//go:build !macrules

package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
)

// hashes remembers the SHA-256 of executables, which are many megabytes and
// connect again and again. One that several clients run is read once for all of them. One whose clients have
// gone, for instance because the time for the hello was too short to read it, is read on from there for the next:
// a client that connects again and again is admitted in the end, and reading costs nothing between its attempts.
type hashes struct {
	mu    sync.Mutex
	sums  map[hashKey][sha256.Size]byte
	begun map[hashKey]progress // of files that no client waits for
	open  map[hashKey]*hashing
	line  map[*hashing]struct{} // what is read or waits for that, also when no client waits for it any longer
	turns *sync.Cond            // on mu: a hashing has ended, or its last waiter has left; made with open
	chunk func(n int64)         // after each, for tests
	now   func() time.Time      // stands for time.Now, for tests

	arrived int

	peers peers // whose executables they are
}

// progress is how far an executable was read.
type progress struct {
	hash.Hash
	read int64
}

// hashing is one executable that is being read.
type hashing struct {
	key     hashKey
	settled bool // when reading began; see hashes.settled
	progress
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

// settleTime is how long the last change of a file was ago for the next one to move its times: the clock of the kernel
// has ticks of 10 ms at most, before Linux 6.13, and file systems have times of seconds, some of them.
const settleTime = 2 * time.Second

// settled reports whether a change of the file from now on has another key.
func (h *hashes) settled(key hashKey) bool {
	now := h.now
	if now == nil {
		now = time.Now
	}
	return now().UnixNano()-max(key.ctime, key.mtime) > int64(settleTime)
}

// of returns the SHA-256 of the file of a key, which the descriptor file stands for, from memory when it was read
// before. It returns early when ctx ends. Reading ends when the connections fd of all that wait for it are closed.
func (h *hashes) of(ctx context.Context, key hashKey, file, fd int) ([sha256.Size]byte, error) {
	if key.size > maxExecutable {
		return [sha256.Size]byte{}, &ane.Error{Op: "admit", Engine: Name, Err: ane.ErrExhausted,
			Detail: fmt.Sprintf("an executable of %d bytes, at most %d", key.size, int64(maxExecutable)),
			Hint:   "strip it, or connect from a smaller one"}
	}
	w := &waiter{fd}
	run, sum, err := h.join(key, w, file)
	if run == nil {
		return sum, err
	}
	select {
	case <-run.done:
		return run.sum, run.err
	case <-ctx.Done():
		left := h.leave(run, w)
		return [sha256.Size]byte{}, &ane.Error{Op: "admit", Engine: Name, Err: ane.ErrExhausted,
			Detail: fmt.Sprintf("%d of the %d bytes of its executable were read in the time for hello", key.size-left,
				key.size),
			Hint: "try again: reading goes on from there"}
	}
}

// join waits with others for a file, or begins to read it; nil with the sum when it is known.
func (h *hashes) join(key hashKey, w *waiter, file int) (*hashing, [sha256.Size]byte, error) {
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
		own, err := unix.FcntlInt(uintptr(file), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return nil, [sha256.Size]byte{}, err
		}
		h.arrived++
		run = &hashing{key: key, settled: h.settled(key), progress: h.take(key), done: make(chan struct{}),
			waiting: map[*waiter]struct{}{}, turn: h.arrived}
		run.left = key.size - run.read
		h.open[key], h.line[run] = run, struct{}{}
		go h.finish(run, own)
	}
	run.waiting[w] = struct{}{}
	return run, [sha256.Size]byte{}, nil
}

// leave counts a waiter out. It returns how many bytes are left to read.
func (h *hashes) leave(run *hashing, w *waiter) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if delete(run.waiting, w); len(run.waiting) == 0 {
		h.turns.Broadcast()
	}
	return run.left
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

// finish hashes a file, or as much of it as clients wait for.
func (h *hashes) finish(run *hashing, file int) {
	err := h.read(run, file)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.line, run)
	h.turns.Broadcast()
	if h.open[run.key] == run {
		delete(h.open, run.key)
	}
	if run.err = err; err == nil {
		run.sum = [sha256.Size]byte(run.Sum(nil))
	}
	switch {
	case !run.settled: // it may have been changed, or be changed, and have the same key
	case err == nil:
		h.put(run.key, run.sum)
	case errors.Is(err, errLeft):
		h.keep(run.key, run.progress)
	}
	close(run.done)
}

// read reads a file in chunks, as long as there is a client that waits for it, which its file system may keep waiting.
func (h *hashes) read(run *hashing, file int) error {
	f, err := os.Open("/proc/self/fd/" + strconv.Itoa(file)) // file has a path alone
	_ = unix.Close(file)
	if err != nil {
		return err
	}
	defer f.Close()
	from := io.NewSectionReader(f, run.read, maxExecutable+1-run.read)
	for n := int64(0); ; {
		h.await(run, n)
		if !h.awaited(run) {
			return errLeft
		}
		n, err = io.CopyN(run, from, hashChunk)
		if run.read += n; h.chunk != nil {
			h.chunk(run.read)
		}
		switch {
		case run.read > maxExecutable: // it grows
			return ane.ErrExhausted
		case errors.Is(err, io.EOF):
			if now, err := keyOf(int(f.Fd()), ""); err != nil || now != run.key {
				return errors.Join(errChanged, err)
			}
			return nil
		case err != nil:
			return err
		}
	}
}

// errChanged ends the reading of an executable that its process did not run all the time.
var errChanged = errors.New("it was changed while it was read; connect again")

// awaited reports whether a client still waits for a file. When none does, none joins.
func (h *hashes) awaited(run *hashing) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range run.waiting {
		if !w.gone() {
			return true
		}
	}
	delete(h.open, run.key)
	return false
}

// put remembers a sum. The caller holds the lock.
func (h *hashes) put(k hashKey, sum [sha256.Size]byte) {
	if h.sums == nil || len(h.sums) >= maxHashes {
		h.sums = map[hashKey][sha256.Size]byte{}
	}
	h.sums[k] = sum
	delete(h.begun, k)
}

// keep remembers how far a file was read; of too many, those of which most was read. The caller holds the lock.
func (h *hashes) keep(k hashKey, p progress) {
	if _, known := h.sums[k]; known || p.read <= h.begun[k].read {
		return
	}
	if h.begun == nil {
		h.begun = map[hashKey]progress{}
	}
	h.begun[k] = p
	if len(h.begun) <= maxHashes {
		return
	}
	least := k
	for other, q := range h.begun {
		if q.read < h.begun[least].read {
			least = other
		}
	}
	delete(h.begun, least)
}

// take is how far a file was read; nothing of a new one. The caller holds the lock.
func (h *hashes) take(k hashKey) progress {
	p, known := h.begun[k]
	if !known {
		return progress{Hash: sha256.New()}
	}
	delete(h.begun, k)
	return p
}
