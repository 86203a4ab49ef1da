package broker

// Traffic implements ane.Metered: bytes over all connections of the engine, headers
// included.
func (e *engine) Traffic() (sent, received int64, ok bool) {
	c, ok := Counts(e)
	return c.Bytes, c.Received, ok
}
