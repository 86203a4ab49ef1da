//go:build !macrules

package admission

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// ProcessOf is the process that made a connection, with what can be read of it.
func ProcessOf(conn *wire.Conn) (p Process) {
	p.Executable = "unknown"
	_ = conn.Control(func(fd int) error {
		cred, err := wire.PeerOf(fd)
		if err == nil {
			p.PID, p.User = cred.PID, cred.UID
		}
		if path, err := os.Readlink(executableOf(cred.PID)); err == nil {
			p.Executable = path
		}
		return err
	})
	return p
}

// Executables identifies clients by their executables. It remembers the SHA-256 of each, since an executable has many
// megabytes and connects repeatedly.
type Executables struct {
	mu   sync.Mutex
	sums map[fileKey][sha256.Size]byte
}

// fileKey tells one executable from another: it cannot be written while it runs, and a change moves its time.
type fileKey struct {
	device, inode uint64
	size          int64
	mtime         unix.Timespec
}

const (
	// maxExecutable is how long the executable of a client may be: a second of hashing.
	maxExecutable = 1 << 30
	// hashChunk bytes of it are read between two looks at the time, and maxHashes executables are remembered.
	hashChunk = 1 << 20
	maxHashes = 256
)

// Identify asks the kernel which process made a connection. The error matches ane.ErrDenied when the broker does not
// serve it. Reading its executable ends with ctx.
//
// Another process may get the same number. So Identify takes a descriptor of the process, opens the executable, then
// checks that the process lives. A live process is the one whose executable was opened.
func (h *Executables) Identify(ctx context.Context, conn *wire.Conn) (id Identity, err error) {
	err = conn.Control(func(fd int) error {
		cred, err := wire.PeerOf(fd)
		if err != nil {
			return refuse("", "the peer's credentials cannot be read", err)
		}
		peer := "process " + strconv.Itoa(cred.PID)
		if cred.Foreign() {
			return refuse(peer, fmt.Sprintf("user %d, and this broker serves user %d alone", cred.UID, os.Geteuid()), nil)
		}
		alive, err := processOf(fd, cred.PID)
		if err != nil {
			return refuse(peer, "the process has ended or cannot be watched", err)
		}
		defer unix.Close(alive)
		exe, err := os.Open(executableOf(cred.PID))
		if err != nil {
			return refuse(peer, "its executable cannot be read", err)
		}
		defer exe.Close()
		id.User = cred.UID
		if id.Executable, err = h.sum(ctx, exe); err != nil {
			return refuse(peer, "its executable cannot be read", err)
		}
		if ended(alive) {
			return refuse(peer, "the process ended while it was admitted", nil)
		}
		return nil
	})
	return id, err
}

// processOf returns a descriptor of the process at the other end. The kernel noted it when the connection was made
// (Linux 6.5). Older kernels give the process that has the number now.
func processOf(fd, pid int) (int, error) {
	pidfd, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	if errors.Is(err, unix.ENOPROTOOPT) {
		return unix.PidfdOpen(pid, 0)
	}
	return pidfd, err
}

// ended reports whether the process of a descriptor has ended.
func ended(pidfd int) bool {
	p := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(p, 0)
	return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
}

// refuse is the answer to a process that is not admitted.
func refuse(peer, detail string, cause error) error {
	what, hint := ane.ErrDenied, "start a broker of your own, as the same user"
	switch {
	case errors.Is(cause, unix.EMFILE) || errors.Is(cause, unix.ENFILE):
		what, hint = ane.ErrExhausted, "connect again, or raise the broker's limit on open files (ulimit -n)"
	case errors.Is(cause, ane.ErrExhausted):
		what, hint = ane.ErrExhausted, "connect again, or from a smaller executable (strip)"
	}
	return &ane.Error{Op: "admit", Engine: engine, Name: peer, Err: ane.Because(what, cause), Detail: detail, Hint: hint}
}

// sum returns the SHA-256 of an executable, from memory when it was read before.
func (h *Executables) sum(ctx context.Context, f *os.File) (sum [sha256.Size]byte, err error) {
	var s unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &s); err != nil {
		return sum, err
	}
	if s.Size > maxExecutable {
		return sum, ane.Because(ane.ErrExhausted,
			fmt.Errorf("an executable of %d bytes, at most %d", s.Size, int64(maxExecutable)))
	}
	key := fileKey{uint64(s.Dev), s.Ino, s.Size, s.Mtim}
	h.mu.Lock()
	sum, known := h.sums[key]
	h.mu.Unlock()
	if known {
		return sum, nil
	}
	hash := sha256.New()
	for at := int64(0); at < s.Size; at += hashChunk {
		if ctx.Err() != nil {
			return sum, ane.Because(ane.ErrExhausted,
				fmt.Errorf("%d of the %d bytes of its executable were read in the time for hello", at, s.Size))
		}
		if _, err := io.Copy(hash, io.NewSectionReader(f, at, min(hashChunk, s.Size-at))); err != nil {
			return sum, err
		}
	}
	hash.Sum(sum[:0])
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sums == nil || len(h.sums) >= maxHashes {
		h.sums = map[fileKey][sha256.Size]byte{}
	}
	h.sums[key] = sum
	return sum, nil
}
