package nvme

import (
	"errors"

	"github.com/anekit/anekit/internal/dart"
)

// Span is a run of device addresses that a command's data has. It begins at a page, except for the first.
type Span struct{ At, Size uint64 }

// pointers reads the PRP entries that say where the n bytes of a command's data are. The first entry has any offset of
// whole words into its page. The second is the next page if that is the last, else the address of a list, of whole
// entries; other entries have no offset. The last entry of a page of a list is the address of the next page of the
// list, if more follow.
func pointers(t *dart.Table, c *Command, n uint64) ([]Span, Status) {
	first, second := le.Uint64(c.Data[:]), le.Uint64(c.Data[8:])
	if first%4 != 0 {
		return nil, PRPOffset
	}
	k := min(n, pages-first%pages)
	all := append(make([]Span, 0, n/pages+2), Span{first, k})
	if n -= k; n == 0 {
		return all, Success
	}
	if n <= pages {
		if second%pages != 0 {
			return nil, PRPOffset
		}
		return append(all, Span{second, n}), Success
	}
	if second%8 != 0 {
		return nil, PRPOffset
	}
	for list := second; n > 0; {
		room := (pages - list%pages) / 8 // entries of this page
		need := (n + pages - 1) / pages
		entries := make([]byte, 8*min(room, need))
		if t.Load(list, entries) != nil {
			return nil, DataTransferError
		}
		chain := need > room
		for i := 0; i < len(entries); i += 8 {
			at := le.Uint64(entries[i:])
			if at%pages != 0 {
				return nil, PRPOffset
			}
			if chain && i == len(entries)-8 {
				list = at
				break
			}
			k := min(n, pages)
			all = append(all, Span{at, k})
			n -= k
		}
	}
	return all, Success
}

var errSpans = errors.New("nvme: data that PRP entries cannot describe")

// point writes PRP entries for data, those after the first to list if they are more than one.
func (c *Command) point(data []Span, list Memory) error {
	entries := make([]uint64, 0, MaxTransfer/pages+1)
	for i, s := range data {
		for at := s.At; at < s.At+s.Size; at += pages - at%pages {
			entries = append(entries, at)
		}
		if i > 0 && s.At%pages != 0 || i < len(data)-1 && (s.At+s.Size)%pages != 0 {
			return errSpans
		}
	}
	switch n := len(entries); {
	case n == 0 || n > len(list.Bytes)/8:
		return errSpans
	case n > 2:
		for i, at := range entries[1:] {
			le.PutUint64(list.Bytes[8*i:], at)
		}
		le.PutUint64(c.Data[8:], list.At)
	case n == 2:
		le.PutUint64(c.Data[8:], entries[1])
	}
	le.PutUint64(c.Data[:], entries[0])
	return nil
}
