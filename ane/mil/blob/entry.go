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

// end is the offset after the payload.
func (e Entry) end() int64 { return e.DataOffset + e.Size }

// Entry returns the entry whose metadata starts at offset. Faults are ErrOffset
// for an offset that names no entry, ErrEntry for malformed metadata, ErrBounds
// for a payload outside of the file.
func (f *File) Entry(offset uint64) (Entry, error) {
	e := Entry{Offset: offset}
	meta, err := f.meta(offset)
	if err != nil {
		return e, err
	}
	at := int64(offset)
	if offset%alignment != 0 {
		f.warn("byte %d: the entry is not at a multiple of 64", at)
	}
	if e.Tag = Tag(binary.LittleEndian.Uint32(meta[4:])); !e.Tag.Known() {
		return e, f.fault(ErrEntry, at+4, fmt.Sprintf("unknown scalar %v", e.Tag), "types are numbered 1 to 17")
	}
	if err := f.payload(&e, meta); err != nil {
		return e, err
	}
	if err := f.unused(&e, binary.LittleEndian.Uint64(meta[24:])); err != nil {
		return e, err
	}
	if !zero(meta[32:]) {
		f.warn("byte %d: the metadata does not end with zeros; ignored", at+32)
	}
	return e, nil
}

// meta reads the metadata at offset.
func (f *File) meta(offset uint64) ([]byte, error) {
	switch {
	case offset == 0:
		return nil, f.fault(ErrOffset, 0, "offset 0 is the header of the file",
			"give the offset of an entry; the first is at 64")
	case offset < First:
		return nil, f.fault(ErrOffset, int64(offset), fmt.Sprintf("offset %d lies in the header of the file", offset),
			"give the offset of an entry; the first is at 64")
	case offset > uint64(f.size):
		return nil, f.fault(ErrOffset, f.size, fmt.Sprintf("offset %d is beyond the end of the file, which has %d "+
			"bytes", offset, f.size), "check the offset and the path")
	}
	var meta [metaSize]byte
	if uint64(f.size)-offset >= metaSize {
		if err := f.read(meta[:], int64(offset)); err != nil {
			return nil, err
		}
		if binary.LittleEndian.Uint32(meta[:]) == sentinel {
			return meta[:], nil
		}
	}
	if f.payloadAt(offset) {
		return nil, f.fault(ErrOffset, int64(offset), fmt.Sprintf("offset %d points at the payload", offset),
			fmt.Sprintf("give the offset of its entry, %d", offset-metaSize))
	}
	if uint64(f.size)-offset < metaSize {
		return nil, f.fault(ErrOffset, int64(offset),
			fmt.Sprintf("no room for an entry at offset %d in a file of %d bytes", offset, f.size),
			"check the offset and the path")
	}
	return nil, f.fault(ErrOffset, int64(offset), fmt.Sprintf("no entry starts at offset %d: 0x%08x where "+
		"0xdeadbeef is expected", offset, binary.LittleEndian.Uint32(meta[:])),
		"give the offset of an entry; the first is at 64")
}

// payloadAt reports whether an entry's metadata ends where offset points.
func (f *File) payloadAt(offset uint64) bool {
	var meta [metaSize]byte
	if offset < First+metaSize || f.read(meta[:], int64(offset-metaSize)) != nil {
		return false
	}
	return binary.LittleEndian.Uint32(meta[:]) == sentinel
}

// payload reads the place of the payload.
func (f *File) payload(e *Entry, meta []byte) error {
	at := int64(e.Offset)
	after := e.Offset + metaSize
	size, start := binary.LittleEndian.Uint64(meta[8:]), binary.LittleEndian.Uint64(meta[16:])
	switch {
	case start == 0:
		f.warn("byte %d: the payload offset is 0; %d is used, after the metadata", at+16, after)
		start = after
	case start < after:
		return f.fault(ErrEntry, at+16, fmt.Sprintf("the payload starts at %d, before its metadata ends at %d", start,
			after), "a payload follows its metadata")
	case start != after:
		f.warn("byte %d: the payload starts at %d, not after the metadata at %d", at+16, start, after)
	}
	total := uint64(f.size)
	if start > total || size > total-start {
		return f.fault(ErrBounds, at+8, fmt.Sprintf("a payload of %d bytes at %d does not fit in the file, which "+
			"has %d", size, start, total), "the file is truncated or the entry is wrong; write the file again")
	}
	e.DataOffset, e.Size = int64(start), int64(size)
	return nil
}

// unused reads the number of unused bits, which only types below 8 bits have.
func (f *File) unused(e *Entry, bits uint64) error {
	at := int64(e.Offset) + 24
	switch {
	case bits == 0:
	case e.Tag.Bits() >= 8:
		f.warn("byte %d: %d unused bits for %v, which has none; ignored", at, bits, e.Tag)
	case bits >= 8 || e.Size == 0:
		return f.fault(ErrEntry, at, fmt.Sprintf("%d unused bits in a payload of %d bytes", bits, e.Size),
			"there are fewer than 8, in the last byte")
	default:
		e.UnusedBits = int(bits)
	}
	return nil
}

// Entries returns as many entries as the header says, in order. ErrCount means that
// the file has fewer.
func (f *File) Entries() ([]Entry, error) {
	var all []Entry
	next := int64(First)
	for range f.count {
		if next > f.size-metaSize {
			return all, f.fault(ErrCount, 0, fmt.Sprintf("the header says %d entries, the file has %d", f.count,
				len(all)), "the file is truncated or the header is wrong")
		}
		e, err := f.Entry(uint64(next))
		if err != nil {
			return all, err
		}
		all = append(all, e)
		next = f.following(e)
	}
	return all, nil
}

// following is the offset of the entry after e: the next multiple of 64, or directly
// after its payload in files that do not align entries.
func (f *File) following(e Entry) int64 {
	direct := e.end()
	aligned := align(direct)
	var mark [4]byte
	if direct == aligned {
		return aligned
	}
	for _, at := range []int64{aligned, direct} {
		if at <= f.size-metaSize && f.read(mark[:], at) == nil && binary.LittleEndian.Uint32(mark[:]) == sentinel {
			return at
		}
	}
	return aligned
}

// align rounds n up to a multiple of 64. The size of a file in memory cannot overflow.
func align(n int64) int64 { return (n + alignment - 1) / alignment * alignment }
