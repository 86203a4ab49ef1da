package driverabi

import "encoding/binary"

// Structure is one of the fixed-size structures that the selectors take or give.
// Encode and Decode return an *Error matching ErrSize, and change nothing, unless b
// is exactly Size bytes long.
type Structure interface {
	Size() int
	Encode(b []byte) error
	Decode(b []byte) error
	// Fields are the documented fields, by offset.
	Fields() []Field
	// Unknown are the bytes that no field covers, by offset. They live in Raw.
	Unknown() []Range
}

// Field is a documented field of a structure.
type Field struct {
	Name   string
	Offset int
	// Size in bytes; 0 where only the start of the field is documented, so that its
	// bytes are Unknown.
	Size   int
	Source string // the table, listing or section that documents it
	// Reading is what this package adds to the source, such as a width that the
	// source does not give; empty where it adds nothing.
	Reading string
}

// Range is the bytes [Offset, End) of a structure.
type Range struct{ Offset, End int }

// read32 is the Reading of a field whose width the source leaves open.
const read32 = "width not documented, read as 32 bits"

// gaps are the ranges of size bytes that fields, ordered by offset, leave out.
func gaps(size int, fields []Field) []Range {
	var out []Range
	at := 0
	for _, f := range fields {
		if f.Size == 0 {
			continue
		}
		if f.Offset > at {
			out = append(out, Range{at, f.Offset})
		}
		at = f.Offset + f.Size
	}
	if at < size {
		out = append(out, Range{at, size})
	}
	return out
}

// load copies b into raw if b has its length.
func load(structure string, raw, b []byte) error {
	if err := sized(structure, len(raw), len(b)); err != nil {
		return err
	}
	copy(raw, b)
	return nil
}

// store copies raw into b if b has its length.
func store(structure string, b, raw []byte) error {
	if err := sized(structure, len(raw), len(b)); err != nil {
		return err
	}
	copy(b, raw)
	return nil
}

// take32 reads a field and clears it in raw, which keeps unknown bytes only.
func take32(raw []byte, at int) uint32 {
	v := binary.LittleEndian.Uint32(raw[at:])
	binary.LittleEndian.PutUint32(raw[at:], 0)
	return v
}

func take64(raw []byte, at int) uint64 {
	v := binary.LittleEndian.Uint64(raw[at:])
	binary.LittleEndian.PutUint64(raw[at:], 0)
	return v
}

func put32(b []byte, at int, v uint32) { binary.LittleEndian.PutUint32(b[at:], v) }
func put64(b []byte, at int, v uint64) { binary.LittleEndian.PutUint64(b[at:], v) }
