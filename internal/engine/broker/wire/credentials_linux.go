package wire

import "golang.org/x/sys/unix"

// PeerOf tells who is at the other end of a Unix socket: SO_PEERCRED.
func PeerOf(fd int) (Credentials, error) {
	u, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return Credentials{}, socketError("peer", "getsockopt(SO_PEERCRED)", err)
	}
	return Credentials{UID: u.Uid, GID: u.Gid, PID: int(u.Pid)}, nil
}
