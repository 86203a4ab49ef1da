package wasm

import (
	"encoding/binary"
	"fmt"

	"github.com/anekit/anekit/internal/guestcode"
)

// tableElements is the largest number of elements of all tables of a guest, also after they have grown.
const tableElements = 1 << 20

// bounded returns a binary whose numbers fit its size, and whose tables have a maximum and hold at most tableElements
// together. wazero takes memory for both outside of the linear memory.
func bounded(text []byte) ([]byte, error) {
	sections, err := guestcode.Split(text)
	if err != nil {
		return nil, err
	}
	if err := guestcode.Check(sections); err != nil {
		return nil, err
	}
	left := tableElements
	for i, s := range sections {
		if s.ID == guestcode.Tables {
			if sections[i].Body, left, err = boundSection(s.Body, left); err != nil {
				return nil, err
			}
		}
	}
	return guestcode.Join(sections), nil
}

// boundSection bounds the tables of a section to left elements, and returns how many remain.
func boundSection(body []byte, left int) ([]byte, int, error) {
	type table struct {
		kind     byte
		min, max int
	}
	var tables []table
	in := &guestcode.Reader{Rest: body}
	for range in.Count() {
		t := table{kind: in.Byte(), max: tableElements}
		limits := in.Byte()
		if in.Err == nil && (t.kind != 0x70 && t.kind != 0x6f || limits > 1) {
			return nil, 0, fmt.Errorf("a table of type %#x and limits %#x is not supported", t.kind, limits)
		}
		if t.min = in.Number(); limits == 1 {
			t.max = in.Number()
		}
		switch {
		case in.Err != nil:
			return nil, 0, in.Err
		case t.max < t.min && limits == 1:
			return nil, 0, guestcode.ErrCut
		case t.min > left:
			return nil, 0, fmt.Errorf("a table of %d elements: all tables of a guest have at most %d", t.min,
				tableElements)
		}
		left -= t.min
		tables = append(tables, t)
	}
	if in.Err != nil || len(in.Rest) > 0 {
		return nil, 0, guestcode.ErrCut
	}
	out := binary.AppendUvarint(nil, uint64(len(tables)))
	for _, t := range tables {
		grow := min(max(t.max-t.min, 0), left)
		left -= grow
		out = append(out, t.kind, 1)
		out = binary.AppendUvarint(out, uint64(t.min))
		out = binary.AppendUvarint(out, uint64(t.min+grow))
	}
	return out, left, nil
}
