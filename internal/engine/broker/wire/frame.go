package wire

import (
	"encoding/binary"
	"fmt"
)

// HeaderSize is the length of a frame's header in bytes.
const HeaderSize = 24

// magic begins every frame: "aneb" in the order of bytes.
const magic = 'a' | 'n'<<8 | 'e'<<16 | 'b'<<24

// Flags of a frame.
const (
	// FlagLong: the payload is the contents of the last descriptor, a sealed memfd.
	FlagLong   = 1 << iota
	flagsKnown = FlagLong
)

// Frame is one packet. The header before the payload, little endian:
//
//	0  u32 magic   4  u16 version   6  u16 kind   8  u32 length of the payload
//	12 u32 flags   16 u64 id
type Frame struct {
	Kind    Kind
	Flags   uint32
	ID      uint64 // chosen by who asks, repeated by who answers
	Payload []byte
}

// putHeader writes the header of f to h.
func (f *Frame) putHeader(h *[HeaderSize]byte) {
	binary.LittleEndian.PutUint32(h[0:], magic)
	binary.LittleEndian.PutUint16(h[4:], Version)
	binary.LittleEndian.PutUint16(h[6:], uint16(f.Kind))
	binary.LittleEndian.PutUint32(h[8:], uint32(len(f.Payload)))
	binary.LittleEndian.PutUint32(h[12:], f.Flags)
	binary.LittleEndian.PutUint64(h[16:], f.ID)
}

// Append writes the frame behind b as Send would: for tests and tools.
func (f Frame) Append(b []byte) []byte {
	var h [HeaderSize]byte
	f.putHeader(&h)
	return append(append(b, h[:]...), f.Payload...)
}

// ParseFrame reads one packet; the Payload is part of b. With an error come the Kind and
// the ID if the header was readable, so that the sender can be answered.
func ParseFrame(b []byte) (Frame, error) {
	if len(b) < HeaderSize {
		return Frame{}, &Error{Op: "receive", Field: "header", Err: ErrShort, Detail: fmt.Sprintf("%d bytes of %d", len(b), HeaderSize)}
	}
	if m := binary.LittleEndian.Uint32(b); m != magic {
		return Frame{}, &Error{Op: "receive", Field: "magic", Err: ErrMagic, Detail: fmt.Sprintf("%#08x", m)}
	}
	if v := binary.LittleEndian.Uint16(b[4:]); v != Version {
		return Frame{}, &Error{Op: "receive", Field: "version", At: 4, Err: ErrVersion, Detail: fmt.Sprintf("%d, this side has %d", v, Version),
			Hint: "run broker and client of one release"}
	}
	f := Frame{
		Kind:  Kind(binary.LittleEndian.Uint16(b[6:])),
		Flags: binary.LittleEndian.Uint32(b[12:]),
		ID:    binary.LittleEndian.Uint64(b[16:]),
	}
	n := uint64(binary.LittleEndian.Uint32(b[8:]))
	have := uint64(len(b) - HeaderSize)
	switch {
	case !f.Kind.known():
		return f, f.fault("kind", 6, ErrKind, f.Kind.String())
	case n > MaxPayload:
		return f, f.fault("length", 8, ErrLong, fmt.Sprintf("%d bytes, at most %d", n, MaxPayload))
	case f.Flags&^flagsKnown != 0:
		return f, f.fault("flags", 12, ErrValue, fmt.Sprintf("%#x", f.Flags))
	case n > have:
		return f, f.fault("length", 8, ErrShort, fmt.Sprintf("%d bytes of %d", have, n))
	case n < have:
		return f, f.fault("length", 8, ErrTrailing, fmt.Sprintf("%d bytes behind %d", have-n, n))
	case f.Flags&FlagLong != 0 && n != 0:
		return f, f.fault("length", 8, ErrTrailing, "a long frame has its payload in a memfd alone")
	}
	f.Payload = b[HeaderSize:]
	return f, nil
}

func (f Frame) fault(field string, at int, err error, detail string) error {
	return &Error{Op: "receive", Kind: f.Kind, Field: field, At: at, Err: err, Detail: detail}
}
