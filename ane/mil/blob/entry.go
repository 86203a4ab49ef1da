package blob

import (
	"encoding/binary"
	"fmt"
)

// Entry describes one tensor of a file. The file has checked all of it against its size.
type Entry struct {
	Offset     uint64 // of the metadata, as a BLOBFILE names it
	Tag        Tag    // scalar type
	DataOffset int64  // of the payload, in bytes from the start of the file
	Size       int64  // of the payload, in bytes
	UnusedBits int    // at the end of the payload, below 8
}

// header is the start of a file, as the package comment lists it.
type header struct {
	Count, Version uint32
	Zeros          [56]byte
}

// meta is the metadata of an entry.
type meta struct {
	Sentinel, Tag           uint32
	Size, Start, UnusedBits uint64
	Zeros                   [32]byte
}

// encoded returns a header or a meta in the form of the file.
func encoded(part any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, part)
	if err != nil {
		panic("BUG: " + err.Error()) // a type without a fixed size
	}
	return b
}

func (e Entry) meta() []byte {
	return encoded(meta{Sentinel: sentinel, Tag: uint32(e.Tag), Size: uint64(e.Size), Start: uint64(e.DataOffset),
		UnusedBits: uint64(e.UnusedBits)})
}

// end is the offset after the payload.
func (e Entry) end() int64 { return e.DataOffset + e.Size }

// Entry returns the entry whose metadata starts at offset. Faults are ErrOffset for an offset that names no entry,
// ErrEntry for malformed metadata, ErrBounds for a payload outside of the file.
func (f *File) Entry(offset uint64) (Entry, error) {
	m, err := f.meta(offset)
	e := Entry{Offset: offset, Tag: Tag(m.Tag)}
	if err != nil {
		return e, err
	}
	at, after, total := int64(offset), offset+metaSize, uint64(f.size)
	if offset%alignment != 0 {
		f.warn("byte %d: the entry is not at a multiple of 64", at)
	}
	switch {
	case !e.Tag.Known():
		return e, f.fault(ErrEntry, at+4, "types are numbered 1 to 17", "unknown scalar %v", e.Tag)
	case m.Start == 0:
		f.warn("byte %d: the payload offset is 0; %d is used, after the metadata", at+16, after)
		m.Start = after
	case m.Start < after:
		return e, f.fault(ErrEntry, at+16, "a payload follows its metadata",
			"the payload starts at %d, before its metadata ends at %d", m.Start, after)
	case m.Start != after:
		f.warn("byte %d: the payload starts at %d, not after the metadata at %d", at+16, m.Start, after)
	}
	if m.Start > total || m.Size > total-m.Start {
		return e, f.fault(ErrBounds, at+8, "the file is truncated or the entry is wrong; write the file again",
			"a payload of %d bytes at %d does not fit in the file, which has %d", m.Size, m.Start, total)
	}
	e.DataOffset, e.Size = int64(m.Start), int64(m.Size)
	switch bits := m.UnusedBits; {
	case bits == 0:
	case e.Tag.Bits() >= 8:
		f.warn("byte %d: %d unused bits for %v, which has none; ignored", at+24, bits, e.Tag)
	case bits >= 8 || e.Size == 0:
		return e, f.fault(ErrEntry, at+24, "there are fewer than 8, in the last byte",
			"%d unused bits in a payload of %d bytes", bits, e.Size)
	default:
		e.UnusedBits = int(bits)
	}
	if m.Zeros != (meta{}).Zeros {
		f.warn("byte %d: the metadata does not end with zeros; ignored", at+32)
	}
	return e, nil
}

// meta reads the metadata at offset.
func (f *File) meta(offset uint64) (m meta, err error) {
	at := int64(min(offset, uint64(f.size)))
	if offset >= First && f.size-at >= metaSize {
		if err := f.decode(&m, at); err != nil || m.Sentinel == sentinel {
			return m, err
		}
	}
	const first, check = "give the offset of an entry; the first is at 64", "check the offset and the path"
	fail := func(hint, format string, args ...any) (meta, error) {
		return m, f.fault(ErrOffset, at, hint, format, args...)
	}
	switch {
	case offset == 0:
		return fail(first, "offset 0 is the header of the file")
	case offset < First:
		return fail(first, "offset %d lies in the header of the file", offset)
	case offset > uint64(f.size):
		return fail(check, "offset %d is beyond the end of the file, which has %d bytes", offset, f.size)
	case at >= First+metaSize && f.marked(at-metaSize):
		return fail(fmt.Sprintf("give the offset of its entry, %d", offset-metaSize), "offset %d points at the payload",
			offset)
	case f.size-at < metaSize:
		return fail(check, "no room for an entry at offset %d in a file of %d bytes", offset, f.size)
	}
	return fail(first, "no entry starts at offset %d: 0x%08x where 0xdeadbeef is expected", offset, m.Sentinel)
}

// decode reads a header or a meta at an offset from which on the file is long enough.
func (f *File) decode(part any, at int64) error {
	b := make([]byte, binary.Size(part))
	if err := f.read(b, at); err != nil {
		return err
	}
	_, err := binary.Decode(b, binary.LittleEndian, part)
	return err
}

// marked reports whether metadata starts at an offset.
func (f *File) marked(at int64) bool {
	var m meta
	return at <= f.size-metaSize && f.decode(&m, at) == nil && m.Sentinel == sentinel
}

// Entries returns as many entries as the header says, in order. ErrCount means that the file has fewer.
func (f *File) Entries() ([]Entry, error) {
	var all []Entry
	next := int64(First)
	for range f.count {
		if next > f.size-metaSize {
			return all, f.fault(ErrCount, 0, "the file is truncated or the header is wrong",
				"the header says %d entries, the file has %d", f.count, len(all))
		}
		e, err := f.Entry(uint64(next))
		if err != nil {
			return all, err
		}
		all = append(all, e)
		// Some files do not align entries.
		if next = align(e.end()); !f.marked(next) && f.marked(e.end()) {
			next = e.end()
		}
	}
	return all, nil
}

// align rounds n up to a multiple of 64. The size of a file in memory cannot overflow.
func align(n int64) int64 { return (n + alignment - 1) / alignment * alignment }
