//go:build !macrules

package wire

import (
	"os"

	"golang.org/x/sys/unix"
)

// Credentials are the user and the process of a peer, as the system knows them.
type Credentials struct {
	UID, GID uint32
	PID      int // when it connected; the number may be another process's since
}

// Foreign reports whether the peer runs as another user than this process.
func (c Credentials) Foreign() bool { return int64(c.UID) != int64(os.Geteuid()) }

// PeerOf tells which process connected the other end of a Unix socket: SO_PEERCRED.
func PeerOf(fd int) (Credentials, error) {
	u, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return Credentials{}, socketError("peer", "getsockopt(SO_PEERCRED)", err)
	}
	return Credentials{UID: u.Uid, GID: u.Gid, PID: int(u.Pid)}, nil
}
