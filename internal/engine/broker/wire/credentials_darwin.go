package wire

import "golang.org/x/sys/unix"

// localPeerPID is LOCAL_PEERPID of sys/un.h.
const localPeerPID = 2

// PeerOf tells who is at the other end of a Unix socket: LOCAL_PEERCRED and LOCAL_PEERPID.
// Not tried on a Mac.
func PeerOf(fd int) (Credentials, error) {
	x, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return Credentials{}, socketError("peer", "getsockopt(LOCAL_PEERCRED)", err)
	}
	pid, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, localPeerPID)
	if err != nil {
		return Credentials{}, socketError("peer", "getsockopt(LOCAL_PEERPID)", err)
	}
	who := Credentials{UID: x.Uid, PID: pid}
	if x.Ngroups > 0 {
		who.GID = x.Groups[0]
	}
	return who, nil
}
