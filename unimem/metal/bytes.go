package metal

import (
	_ "embed"
	"encoding/binary"
	"fmt"

	"github.com/anekit/anekit/unimem"
)

// Command is a Dispatch, a Fill or a Copy.
type Command interface {
	// steps checks a command and keeps what it names open.
	steps(s *submission) ([]step, error)
}

// Fill repeats a word in a Range of any offset and length: it begins at the first byte, and is cut off at the last.
type Fill struct {
	To   Range
	Word uint32 // little-endian
}

// Copy copies a Range to one of the same length, both at any offset, that shares no byte with it.
type Copy struct{ To, From Range }

// bytesText has the kernels for what fillBuffer and copyFromBuffer do not: they have one byte to fill with, and on
// macOS offsets and lengths that are multiples of 4.
//
//go:embed bytes.metal
var bytesText string

const (
	fillName, copyName = "fill_bytes", "copy_bytes"
	bytesOfThread      = 16      // that one thread writes
	bytesGroup         = 64      // threads
	bytesMost          = 1 << 30 // of one dispatch, whose constants have 32 bits
)

// bytesKernel returns the kernel of a name, which it compiles at first. bindings are the numbers of its buffers.
func (d *Device) bytesKernel(name string, bindings ...int) (*Kernel, error) {
	d.edges.Lock()
	defer d.edges.Unlock()
	if k := d.bytes[name]; k != nil {
		return k, nil
	}
	k, err := d.NewKernel(Program{Name: name, Text: bytesText, Buffers: bindings, Push: 8, Group: [3]int{bytesGroup, 1, 1}})
	if err == nil {
		d.bytes[name] = k
	}
	return k, err
}

// byteRange checks a Range of a Fill or a Copy and keeps its Buffer open.
func (s *submission) byteRange(what string, r Range, written bool) (uintptr, error) {
	var o *object
	if r.Buffer != nil {
		o = r.Buffer.object
	}
	ref, err := s.hold(o, "Buffer")
	switch {
	case err != nil:
		return 0, err
	case r.Offset < 0 || r.Length < 1 || r.Offset > r.Buffer.size || r.Length > r.Buffer.size-r.Offset:
		return 0, newError("submit", ErrRange, "", fmt.Sprintf("%s: %d bytes at %d of %d", what, r.Length, r.Offset,
			r.Buffer.size))
	case written && r.Buffer.readOnly:
		return 0, newError("submit", ErrReadOnly, "", what+" is written: use a Buffer of a Block that may be written to")
	}
	return ref, nil
}

func (c Fill) steps(s *submission) ([]step, error) {
	to, err := s.byteRange("To", c.To, true)
	if err != nil {
		return nil, err
	}
	value := byte(c.Word)
	if c.Word == uint32(value)*0x01010101 && c.To.Offset%4 == 0 && c.To.Length%4 == 0 {
		return []step{{blit: &blit{to: to, toOffset: c.To.Offset, length: c.To.Length, value: value}}}, nil
	}
	return s.byBytes(fillName, c.To.Length, c.Word, bound{to, c.To.Offset, 1})
}

func (c Copy) steps(s *submission) ([]step, error) {
	to, err := s.byteRange("To", c.To, true)
	if err != nil {
		return nil, err
	}
	from, err := s.byteRange("From", c.From, false)
	switch {
	case err != nil:
		return nil, err
	case c.To.Length != c.From.Length:
		return nil, newError("submit", ErrRange, "", fmt.Sprintf("%d bytes to %d", c.From.Length, c.To.Length))
	case c.To.shares(c.From):
		return nil, newError("submit", ErrRange, "", "To and From share bytes")
	case (c.To.Offset|c.From.Offset|c.To.Length)%4 == 0:
		return []step{{blit: &blit{to: to, from: from, toOffset: c.To.Offset, fromOffset: c.From.Offset,
			length: c.To.Length}}}, nil
	}
	return s.byBytes(copyName, c.To.Length, 0, bound{to, c.To.Offset, 1}, bound{from, c.From.Offset, 2})
}

// shares reports whether two Ranges have a byte of memory in common: in one Buffer, in one memory that several Blocks
// map, or at one address.
func (r Range) shares(o Range) bool {
	meet := func(a, b uintptr) bool { return a < b+uintptr(o.Length) && b < a+uintptr(r.Length) }
	a, b := r.Buffer.object.block, o.Buffer.object.block
	switch {
	case r.Buffer == o.Buffer, a != nil && b != nil && a.Key() == b.Key() && a.Key() != unimem.Key{}:
		return meet(uintptr(r.Offset), uintptr(o.Offset))
	case a == nil || b == nil:
		return false
	}
	return meet(a.Address()+uintptr(r.Offset), b.Address()+uintptr(o.Offset))
}

// byBytes makes the dispatches of a kernel of bytesText over length bytes of the buffers.
func (s *submission) byBytes(name string, length int, word uint32, buffers ...bound) (all []step, err error) {
	var numbers []int
	for _, b := range buffers {
		numbers = append(numbers, b.at)
	}
	k, err := s.device.bytesKernel(name, numbers...)
	if err != nil {
		return nil, err
	}
	pipeline, err := s.hold(k.object, "Kernel")
	if err != nil {
		return nil, err
	}
	for at := 0; at < length; at += bytesMost {
		n := min(length-at, bytesMost)
		d := dispatch{pipeline: pipeline, groups: k.program.Groups((n+bytesOfThread-1)/bytesOfThread, 1, 1),
			group: k.program.Group}
		d.push = binary.LittleEndian.AppendUint32(d.push, uint32(n))
		d.push = binary.LittleEndian.AppendUint32(d.push, word)
		for _, b := range buffers {
			d.buffers = append(d.buffers, bound{b.buffer, b.offset + at, b.at})
		}
		all = append(all, step{dispatch: d})
	}
	return all, nil
}
