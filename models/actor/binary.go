package actor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"

	"github.com/anekit/anekit/internal/guestcode"
)

// globalPrefix begins the names of the exports that expose adds.
const globalPrefix = "anekit:global:"

// exposed is a binary whose mutable globals are exported.
type exposed struct {
	text    []byte
	globals []global
}

// global is a mutable global.
type global struct {
	index int
	kind  api.ValueType
}

func (g global) export() string { return fmt.Sprintf("%s%d", globalPrefix, g.index) }

// expose returns a binary with an export for each mutable global, or the reason why the guest's state would not be
// whole with them.
func expose(text []byte) (e exposed, err error) {
	sections, err := guestcode.Split(text)
	if err != nil {
		return e, err
	}
	if err := guestcode.Check(sections); err != nil {
		return e, err
	}
	at := slices.IndexFunc(sections, func(s guestcode.Section) bool { return s.ID == guestcode.Exports })
	if at < 0 {
		return e, errors.New("it exports nothing")
	}
	for _, s := range sections {
		in := &input{guestcode.Reader{Rest: s.Body}}
		switch s.ID {
		case guestcode.Globals:
			e.globals = mutable(in)
		case guestcode.Code:
			steadyCode(in)
		}
		if in.Err != nil {
			return e, in.Err
		}
	}
	if sections[at].Body, err = withExports(sections[at].Body, e.globals); err != nil {
		return e, err
	}
	e.text = guestcode.Join(sections)
	return e, nil
}

// mutable lists the mutable globals.
func mutable(in *input) (all []global) {
	i := 0
	in.List(func() {
		kind := in.Peek()
		in.Type()
		changes := in.Byte() != 0
		in.Constant()
		number := kind == api.ValueTypeI32 || kind == api.ValueTypeI64 || kind == api.ValueTypeF32 ||
			kind == api.ValueTypeF64
		if changes && !number {
			in.Refuse("its mutable global %d is a reference or a vector (type %#x)", i, kind)
		}
		if changes {
			all = append(all, global{i, kind})
		}
		i++
	})
	return all
}

// withExports adds the exports of globals to an export section.
func withExports(body []byte, globals []global) ([]byte, error) {
	in := &guestcode.Reader{Rest: body}
	n := in.Number()
	list := in.Rest
	for range n {
		name := string(in.Text())
		in.Byte()
		in.Number()
		if strings.HasPrefix(name, globalPrefix) {
			in.Refuse("it exports %s itself", name)
		}
		if in.Err != nil {
			return nil, in.Err
		}
	}
	out := binary.AppendUvarint(nil, uint64(n+len(globals)))
	out = append(out, list...)
	for _, g := range globals {
		name := g.export()
		out = append(binary.AppendUvarint(out, uint64(len(name))), name...)
		out = binary.AppendUvarint(append(out, 3), uint64(g.index))
	}
	return out, nil
}

// steadyCode refuses instructions that change a table, or drop a segment.
func steadyCode(in *input) {
	i := 0
	in.List(func() {
		body := &input{guestcode.Reader{Rest: in.Text()}}
		body.List(func() { // locals
			body.Number()
			body.Type()
		})
		for len(body.Rest) > 0 {
			body.instruction()
		}
		if body.Err != nil {
			in.Refuse("its function %d (of those with code) %w", i, body.Err)
		}
		i++
	})
}

// input reads the code of a binary.
type input struct{ guestcode.Reader }

// changes refuses an instruction whose effect a snapshot cannot hold.
func (in *input) changes(what string) { in.Refuse("%s, which a snapshot cannot hold", what) }

// instruction skips an instruction.
func (in *input) instruction() {
	switch op := in.Byte(); {
	case op == 0x02 || op == 0x03 || op == 0x04: // block, loop, if
		in.Signed()
	case op == 0x0c || op == 0x0d || op == 0x10 || op >= 0x20 && op <= 0x25: // branches, call, get and set
		in.Number()
	case op == 0x26:
		in.changes("sets an element of a table")
	case op == 0x0e: // br_table
		in.List(func() { in.Number() })
		in.Number()
	case op == 0x11: // call_indirect
		in.Number()
		in.Number()
	case op == 0x12 || op == 0x13:
		in.Refuse("has tail calls, which are not supported")
	case op == 0x1c: // select with types
		in.Text()
	case op >= 0x28 && op <= 0x3e: // loads and stores
		in.memory()
	case op == 0x3f || op == 0x40: // memory.size, memory.grow
		in.Byte()
	case op == 0x41 || op == 0x42 || op == 0xd0: // i32.const, i64.const, ref.null
		in.Signed()
	case op == 0x43:
		in.Take(4)
	case op == 0x44:
		in.Take(8)
	case op == 0xd2: // ref.func
		in.Number()
	case op == 0xfc:
		in.miscellaneous()
	case op == 0xfd:
		in.vector()
	case op == 0x00, op == 0x01, op == 0x05, op == 0x0b, op == 0x0f, op == 0x1a, op == 0x1b, op >= 0x45 && op <= 0xc4,
		op == 0xd1:
	default:
		in.Refuse("has instruction %#x, which is not supported", op)
	}
}

// memory skips the immediates of a load or store.
func (in *input) memory() {
	in.Number()
	in.Number()
}

// miscellaneous skips an instruction after 0xfc.
func (in *input) miscellaneous() {
	switch op := in.Number(); op {
	case 0, 1, 2, 3, 4, 5, 6, 7: // truncations
	case 8: // memory.init
		in.Number()
		in.Byte()
	case 9:
		in.changes("drops a data segment")
	case 10: // memory.copy
		in.Take(2)
	case 11: // memory.fill
		in.Byte()
	case 12:
		in.changes("initializes a table")
	case 13:
		in.changes("drops an element segment")
	case 14:
		in.changes("copies elements of a table")
	case 15:
		in.changes("grows a table")
	case 16: // table.size
		in.Number()
	case 17:
		in.changes("fills a table")
	default:
		in.Refuse("has instruction 0xfc %d, which is not supported", op)
	}
}

// vector skips an instruction after 0xfd.
func (in *input) vector() {
	switch op := in.Number(); {
	case op <= 11 || op == 92 || op == 93: // loads and the store
		in.memory()
	case op == 12 || op == 13: // constant, shuffle
		in.Take(16)
	case op >= 21 && op <= 34: // lanes
		in.Byte()
	case op >= 84 && op <= 91: // loads and stores of lanes
		in.memory()
		in.Byte()
	}
}
