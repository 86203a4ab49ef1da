package wire

// Control lends the socket's descriptor to f, which does not keep it, for what a Conn has
// no call for. ErrClosed after Close, otherwise what f returns.
func (c *Conn) Control(f func(fd int) error) error {
	if c == nil {
		return none("control")
	}
	return c.control(f)
}
