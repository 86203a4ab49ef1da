package nvme

import "github.com/anekit/anekit/internal/dart"

// span is a run of device addresses that a command's data has.
type span struct{ at, n uint64 }

// Types of SGL descriptors, in the upper half of their last byte.
const (
	sglData        = 0
	sglBitBucket   = 1
	sglSegment     = 2
	sglLastSegment = 3
)

// maxDescriptors bounds what one command makes the controller read.
const maxDescriptors = 4096

// pointers reads where the n bytes of a command's data are. page is the memory page of the controller (CC.MPS).
func pointers(t *dart.Table, c *Command, n, page uint64) ([]span, Status) {
	if n == 0 {
		return nil, Success
	}
	switch c.Pointer {
	case PRP:
		return prps(t, le.Uint64(c.Data[:]), le.Uint64(c.Data[8:]), n, page)
	case SGL:
		return sgl(t, c.Data, n)
	}
	return nil, InvalidField
}

// prps reads PRP entries. The first has any offset of whole words into its page. The second is the next page if
// that is the last, else the address of a list, of whole entries; other entries have no offset. The last entry
// of a page of a list is the address of the next page, if more follow.
func prps(t *dart.Table, first, second, n, page uint64) ([]span, Status) {
	if first%4 != 0 {
		return nil, PRPOffset
	}
	k := min(n, page-first%page)
	all := []span{{first, k}}
	if n -= k; n == 0 {
		return all, Success
	}
	if n <= page {
		if second%page != 0 {
			return nil, PRPOffset
		}
		return append(all, span{second, n}), Success
	}
	if second%8 != 0 {
		return nil, PRPOffset
	}
	for list := second; n > 0; {
		room := (page - list%page) / 8 // entries of this page
		need := (n + page - 1) / page
		entries := make([]byte, 8*min(room, need))
		if t.Load(list, entries) != nil {
			return nil, DataTransferError
		}
		chain := need > room
		for i := 0; i < len(entries); i += 8 {
			at := le.Uint64(entries[i:])
			if at%page != 0 {
				return nil, PRPOffset
			}
			if chain && i == len(entries)-8 {
				list = at
				break
			}
			k := min(n, page)
			all = append(all, span{at, k})
			n -= k
		}
	}
	return all, Success
}

// sgl reads an SGL: one data block, or segments of descriptors of which each but the last ends with the next.
func sgl(t *dart.Table, root [16]byte, n uint64) ([]span, Status) {
	var all []span
	seen, segment, last := 0, []byte(root[:]), false
	for first := true; ; first = false {
		var next []byte
		for i := 0; i < len(segment); i += 16 {
			if seen++; seen > maxDescriptors {
				return nil, SGLCount
			}
			d := segment[i : i+16]
			at, length, kind, sub := le.Uint64(d), uint64(le.Uint32(d[8:])), d[15]>>4, d[15]&15
			end := i == len(segment)-16
			switch {
			case sub != 0:
				return nil, SGLType
			case kind == sglData:
				k := min(length, n)
				if length > n { // the SGL has more than the command
					return nil, SGLLength
				}
				if k > 0 {
					all = append(all, span{at, k})
				}
				n -= k
			case kind == sglSegment || kind == sglLastSegment:
				if !end || last { // only the last of a segment leads to another, and the last segment to none
					return nil, SGLCount
				}
				if length == 0 || length%16 != 0 || length > 16*maxDescriptors {
					return nil, SGLSegment
				}
				next = make([]byte, length)
				if t.Load(at, next) != nil {
					return nil, DataTransferError
				}
				last = kind == sglLastSegment
			default: // bit buckets and keyed blocks
				return nil, SGLType
			}
		}
		if next == nil {
			if !first && !last { // a segment that is not the last leads on
				return nil, SGLSegment
			}
			break
		}
		segment = next
	}
	if n > 0 {
		return nil, SGLLength
	}
	return all, Success
}
