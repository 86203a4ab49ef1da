package wire

// Credentials are who connected, as the system knows it.
type Credentials struct {
	UID, GID uint32
	PID      int // when it connected; the number may be another process's since
}

// Peer tells who is at the other end.
func (c *Conn) Peer() (Credentials, error) {
	var who Credentials
	err := c.Control(func(fd int) (err error) {
		who, err = PeerOf(fd)
		return err
	})
	return who, err
}
