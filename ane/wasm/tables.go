package wasm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// tableElements is the most elements of a guest's tables together, also after they have grown.
const tableElements = 1 << 20

// sectionTable is the number of the section of tables.
const sectionTable = 4

// boundTables returns a binary whose tables have a maximum, so that they hold at most tableElements together: wazero
// allocates tables outside of the linear memory.
func boundTables(text []byte) ([]byte, error) {
	const header = 8
	if len(text) < header {
		return text, nil // wazero says what is wrong
	}
	out, rest := slices.Clone(text[:header]), text[header:]
	left := tableElements
	for len(rest) > 0 {
		size, n := number(rest[1:])
		if n == 0 || size > len(rest)-1-n {
			return nil, errBinary
		}
		id, body := rest[0], rest[1+n:][:size]
		rest = rest[1+n+size:]
		if id == sectionTable {
			var err error
			if body, left, err = boundSection(body, left); err != nil {
				return nil, err
			}
		}
		out = append(binary.AppendUvarint(append(out, id), uint64(len(body))), body...)
	}
	return out, nil
}

var errBinary = errors.New("the binary is cut off or malformed")

// boundSection bounds the tables of a section to left elements, and returns how many remain.
func boundSection(body []byte, left int) ([]byte, int, error) {
	type table struct {
		kind     byte
		min, max int
	}
	var tables []table
	count, n := number(body)
	if n == 0 || count > len(body) {
		return nil, 0, errBinary
	}
	body = body[n:]
	for range count {
		if len(body) < 3 {
			return nil, 0, errBinary
		}
		t := table{kind: body[0], max: tableElements}
		limits := body[1]
		if t.kind != 0x70 && t.kind != 0x6f || limits > 1 {
			return nil, 0, fmt.Errorf("a table of type %#x and limits %#x is not supported", t.kind, limits)
		}
		body = body[2:]
		for i, v := range []*int{&t.min, &t.max}[:1+limits] {
			if *v, n = number(body); n == 0 || i == 1 && t.max < t.min {
				return nil, 0, errBinary
			}
			body = body[n:]
		}
		if t.min > left {
			return nil, 0, fmt.Errorf("a table of %d elements: all tables of a guest have at most %d", t.min,
				tableElements)
		}
		left -= t.min
		tables = append(tables, t)
	}
	if len(body) > 0 {
		return nil, 0, errBinary
	}
	out := binary.AppendUvarint(nil, uint64(count))
	for _, t := range tables {
		grow := min(max(t.max-t.min, 0), left)
		left -= grow
		out = append(out, t.kind, 1)
		out = binary.AppendUvarint(out, uint64(t.min))
		out = binary.AppendUvarint(out, uint64(t.min+grow))
	}
	return out, left, nil
}

// number reads an unsigned number of at most 32 bits and the bytes that it takes, 0 for none.
func number(b []byte) (v, bytes int) {
	n, bytes := binary.Uvarint(b)
	if bytes <= 0 || bytes > 5 || n > 1<<32-1 {
		return 0, 0
	}
	return int(n), bytes
}
