package wire

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// Version is the version of frames and payloads that this package speaks.
const Version = 2

// Kind says what a frame is about. A request's kind with the Reply bit is its answer;
// KindFault answers any request that failed.
type Kind uint16

// Kinds of requests.
const (
	KindHello Kind = 1 + iota
	KindSurface
	KindDrop
	KindCompile
	KindInstance
	KindLoad
	KindUnload
	KindRelease
	KindBind
	KindUnbind
	KindEvaluate
	KindCancel
	KindPurge
	KindStats
	KindPing
	KindFault // only as an answer, without the Reply bit
	KindChain
)

// Reply is the bit that makes a kind its answer.
const Reply Kind = 0x8000

// kinds are the names of the kinds, and the payloads of request and answer.
var kinds = [...]struct {
	name           string
	request, reply Payload
}{
	KindHello:    {"hello", Hello{}, HelloReply{}}, // the memory of a Bell may come beside it
	KindSurface:  {"surface", Surface{}, Empty{}},
	KindDrop:     {"drop", Drop{}, Empty{}},
	KindCompile:  {"compile", Compile{}, Compiled{}},
	KindInstance: {"instance", Instance{}, Compiled{}},
	KindLoad:     {"load", Load{}, Loaded{}},
	KindUnload:   {"unload", Unload{}, Empty{}},
	KindRelease:  {"release", Release{}, Empty{}},
	KindBind:     {"bind", Bind{}, Bound{}},
	KindUnbind:   {"unbind", Unbind{}, Empty{}},
	KindEvaluate: {"evaluate", Evaluate{}, Done{}},
	KindCancel:   {"cancel", Cancel{}, Cancelled{}},
	KindPurge:    {"purge", Purge{}, Purged{}},
	KindStats:    {"stats", Empty{}, Stats{}},
	KindPing:     {"ping", Empty{}, Empty{}},
	KindFault:    {"fault", Fault{}, nil},
	KindChain:    {"chain", Chain{}, Done{}},
}

// known reports whether this version has the kind.
func (k Kind) known() bool {
	base := k &^ Reply
	return base > 0 && int(base) < len(kinds) && (k&Reply == 0 || kinds[base].reply != nil)
}

// String names the kind: "bind", "bind reply", or its number.
func (k Kind) String() string {
	switch {
	case !k.known():
		return "kind " + strconv.Itoa(int(k))
	case k&Reply != 0:
		return kinds[k&^Reply].name + " reply"
	}
	return kinds[k].name
}

// HeaderSize is the length of a frame's header in bytes.
const HeaderSize = 24

// Limits of a frame.
const (
	// MaxPayload bounds a payload inside a frame: two frames fit into the smallest
	// default buffer of a Linux socket (212992 bytes, net.core.wmem_default).
	MaxPayload = 64 << 10
	// MaxFrame is the longest packet, and the length of a buffer that takes every frame.
	MaxFrame = HeaderSize + MaxPayload
	// MaxDescriptors bounds the descriptors beside a frame; Linux takes 253 (SCM_MAX_FD).
	MaxDescriptors = 16
	// MaxUpload bounds the bytes of the memfds beside a frame.
	MaxUpload = 4 << 30
	// MaxLong bounds a payload that travels in a memfd.
	MaxLong = 1 << 20
)

// magic begins every frame: "aneb" in the order of bytes.
const magic = 'a' | 'n'<<8 | 'e'<<16 | 'b'<<24

// FlagLong is the one flag of a frame: the payload is the contents of the last descriptor, a sealed memfd.
const FlagLong = 1

// Frame is one packet. The header before the payload, little endian:
//
//	0  u32 magic   4  u16 version   6  u16 kind   8  u32 length of the payload
//	12 u32 flags   16 u64 id
type Frame struct {
	Kind    Kind
	Flags   uint32
	ID      uint64 // chosen by the asking end, repeated by the answering one
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

// Append writes the frame after b as Send would.
func (f Frame) Append(b []byte) []byte {
	var h [HeaderSize]byte
	f.putHeader(&h)
	return append(append(b, h[:]...), f.Payload...)
}

// ParseFrame reads one packet; the Payload is part of b. With an error it returns the Kind and
// the ID if the header was readable, so that the sender can be answered.
func ParseFrame(b []byte) (Frame, error) {
	if len(b) < HeaderSize {
		return Frame{}, &Error{Op: "receive", Field: "header", Err: ErrShort,
			Detail: fmt.Sprintf("%d bytes of %d", len(b), HeaderSize)}
	}
	if m := binary.LittleEndian.Uint32(b); m != magic {
		return Frame{}, &Error{Op: "receive", Field: "magic", Err: ErrMagic, Detail: fmt.Sprintf("%#08x", m)}
	}
	if v := binary.LittleEndian.Uint16(b[4:]); v != Version {
		return Frame{}, &Error{Op: "receive", Field: "version", At: 4, Err: ErrVersion,
			Detail: fmt.Sprintf("%d, this side has %d", v, Version),
			Hint:   "run broker and client of one release"}
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
		return f, f.fault("receive", "kind", 6, ErrKind, f.Kind.String())
	case n > MaxPayload:
		return f, f.fault("receive", "length", 8, ErrLong, fmt.Sprintf("%d bytes, at most %d", n, MaxPayload))
	case f.Flags&^FlagLong != 0:
		return f, f.fault("receive", "flags", 12, ErrValue, fmt.Sprintf("%#x", f.Flags))
	case n > have:
		return f, f.fault("receive", "length", 8, ErrShort, fmt.Sprintf("%d bytes of %d", have, n))
	case n < have:
		return f, f.fault("receive", "length", 8, ErrTrailing, fmt.Sprintf("%d bytes after %d", have-n, n))
	case f.Flags&FlagLong != 0 && n != 0:
		return f, f.fault("receive", "length", 8, ErrTrailing, "a long frame has its payload in a memfd alone")
	}
	f.Payload = b[HeaderSize:]
	return f, nil
}

// sendable refuses a frame that the other end would.
func (f *Frame) sendable(op string, limit int) error {
	switch {
	case !f.Kind.known():
		return f.fault(op, "kind", 6, ErrKind, f.Kind.String())
	case len(f.Payload) > limit:
		return f.fault(op, "length", 8, ErrLong, fmt.Sprintf("%d bytes, at most %d", len(f.Payload), limit))
	}
	return nil
}

func (f *Frame) fault(op, field string, at int, err error, detail string) error {
	return &Error{Op: op, Kind: f.Kind, Field: field, At: at, Err: err, Detail: detail}
}
