package wire

// Sealed is a memfd whose bytes no process can change any more, by a descriptor of its own until Map. It costs no
// memory before that. Not for several goroutines.
type Sealed struct {
	fd   int // with size > 0, until Map or Close; then -1
	size int
	mem  []byte
	file [2]uint64
}

// File is the device and the inode of the file, which no other file has until Close. Both are 0 of an empty one.
func (s *Sealed) File() (device, inode uint64) { return s.file[0], s.file[1] }

// Size is the length of the file in bytes, 0 after Close.
func (s *Sealed) Size() int {
	if s == nil {
		return 0
	}
	return s.size
}

// Bytes is the whole file once it is mapped, not to be written to: that is a fault. Nil before
// Map and after Close.
func (s *Sealed) Bytes() []byte {
	if s == nil {
		return nil
	}
	return s.mem
}
