package wire

// Sealed is a read-only mapping of a memfd whose bytes no process can change any more.
type Sealed struct {
	mem []byte
}

// Bytes is the whole file, not to be written to: that is a fault. Nil after Close.
func (s *Sealed) Bytes() []byte {
	if s == nil {
		return nil
	}
	return s.mem
}
