package actor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"
)

// Numbers of the sections of a WebAssembly binary.
const (
	sectionImport = 2
	sectionGlobal = 6
	sectionExport = 7
	sectionCode   = 10
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

// expose returns a binary with an export for every mutable global, or the reason why the guest's state would not be
// whole with them.
func expose(text []byte) (e exposed, err error) {
	if len(text) < 8 || string(text[:8]) != "\x00asm\x01\x00\x00\x00" {
		return e, errors.New("no WebAssembly binary of version 1")
	}
	type section struct {
		id   byte
		body []byte
	}
	var sections []section
	in := &input{b: text[8:]}
	for len(in.b) > 0 && in.err == nil {
		id := in.byte()
		sections = append(sections, section{id, in.take(in.number())})
	}
	if in.err != nil {
		return e, in.err
	}
	at := slices.IndexFunc(sections, func(s section) bool { return s.id == sectionExport })
	if at < 0 {
		return e, errors.New("it exports nothing")
	}
	for _, s := range sections {
		r := &input{b: s.body}
		switch s.id {
		case sectionImport:
			err = onlyFunctions(r)
		case sectionGlobal:
			e.globals, err = mutable(r)
		case sectionCode:
			err = steadyCode(r)
		}
		if err == nil {
			err = r.err
		}
		if err != nil {
			return e, err
		}
	}
	if sections[at].body, err = withExports(sections[at].body, e.globals); err != nil {
		return e, err
	}
	e.text = slices.Clone(text[:8])
	for _, s := range sections {
		e.text = append(e.text, s.id)
		e.text = binary.AppendUvarint(e.text, uint64(len(s.body)))
		e.text = append(e.text, s.body...)
	}
	return e, nil
}

// onlyFunctions refuses imports that are no functions.
func onlyFunctions(in *input) error {
	for range in.number() {
		module, name := in.take(in.number()), in.take(in.number())
		if kind := in.byte(); kind != 0 && in.err == nil {
			return fmt.Errorf("it imports %s of %s, which is no function", name, module)
		}
		in.number()
		if in.err != nil {
			break
		}
	}
	return nil
}

// mutable lists the mutable globals.
func mutable(in *input) (all []global, err error) {
	for i := range in.number() {
		kind, changes := in.byte(), in.byte()
		in.constant()
		if in.err != nil {
			return nil, nil
		}
		if changes == 0 {
			continue
		}
		switch kind {
		case api.ValueTypeI32, api.ValueTypeI64, api.ValueTypeF32, api.ValueTypeF64:
			all = append(all, global{i, kind})
		default:
			return nil, fmt.Errorf("its mutable global %d is a reference or a vector (type %#x)", i, kind)
		}
	}
	return all, nil
}

// withExports adds the exports of globals to an export section.
func withExports(body []byte, globals []global) ([]byte, error) {
	in := &input{b: body}
	n := in.number()
	list := in.b
	for range n {
		name := string(in.take(in.number()))
		in.byte()
		in.number()
		if in.err != nil {
			return nil, in.err
		}
		if strings.HasPrefix(name, globalPrefix) {
			return nil, fmt.Errorf("it exports %s itself", name)
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
func steadyCode(in *input) error {
	for i := range in.number() {
		body := &input{b: in.take(in.number())}
		for range body.number() { // locals
			body.number()
			body.byte()
			if body.err != nil {
				break
			}
		}
		for len(body.b) > 0 && body.err == nil {
			if why := body.instruction(); why != "" {
				return fmt.Errorf("its function %d (of those with code) %s, which a snapshot cannot hold", i, why)
			}
		}
		if in.err == nil && body.err != nil {
			return fmt.Errorf("function %d (of those with code): %w", i, body.err)
		}
		if in.err != nil {
			break
		}
	}
	return nil
}

// input reads a binary. After an error every call returns zeros.
type input struct {
	b   []byte
	err error
}

var errCut = errors.New("the binary is cut off or malformed")

func (in *input) fail() {
	if in.err == nil {
		in.err = errCut
	}
	in.b = nil
}

func (in *input) take(n int) []byte {
	if n < 0 || n > len(in.b) {
		in.fail()
		return nil
	}
	b := in.b[:n:n]
	in.b = in.b[n:]
	return b
}

func (in *input) byte() byte {
	if b := in.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

// number reads an unsigned number of at most 32 bits.
func (in *input) number() int {
	n, used := binary.Uvarint(in.b)
	if used <= 0 || used > 5 || n > 1<<32-1 {
		in.fail()
		return 0
	}
	in.b = in.b[used:]
	return int(n)
}

// signed skips a signed number of at most 64 bits.
func (in *input) signed() {
	for range 10 {
		if in.byte()&0x80 == 0 {
			return
		}
	}
	in.fail()
}

// constant skips a constant expression and its end.
func (in *input) constant() {
	for in.err == nil {
		if len(in.b) > 0 && in.b[0] == 0x0b {
			in.byte()
			return
		}
		in.instruction()
	}
}

// instruction skips an instruction. It returns what the instruction does if a snapshot cannot hold that.
func (in *input) instruction() (why string) {
	switch op := in.byte(); {
	case op == 0x02 || op == 0x03 || op == 0x04: // block, loop, if
		in.signed()
	case op == 0x0c || op == 0x0d || op == 0x10 || op >= 0x20 && op <= 0x25: // branches, call, get and set
		in.number()
	case op == 0x26:
		in.number()
		return "sets an element of a table"
	case op == 0x0e: // br_table
		for range in.number() + 1 {
			in.number()
			if in.err != nil {
				return ""
			}
		}
	case op == 0x11: // call_indirect
		in.number()
		in.number()
	case op == 0x12 || op == 0x13:
		in.err = errors.New("tail calls are not supported")
	case op == 0x1c: // select with types
		in.take(in.number())
	case op >= 0x28 && op <= 0x3e: // loads and stores
		in.memory()
	case op == 0x3f || op == 0x40: // memory.size, memory.grow
		in.byte()
	case op == 0x41 || op == 0x42:
		in.signed()
	case op == 0x43:
		in.take(4)
	case op == 0x44:
		in.take(8)
	case op == 0xd0: // ref.null
		in.signed()
	case op == 0xd2: // ref.func
		in.number()
	case op == 0xfc:
		return in.miscellaneous()
	case op == 0xfd:
		in.vector()
	case op == 0x00, op == 0x01, op == 0x05, op == 0x0b, op == 0x0f, op == 0x1a, op == 0x1b, op >= 0x45 && op <= 0xc4,
		op == 0xd1:
	default:
		if in.err == nil {
			in.err = fmt.Errorf("instruction %#x is not supported", op)
		}
	}
	return ""
}

// memory skips the immediates of a load or store.
func (in *input) memory() {
	in.number()
	in.number()
}

// miscellaneous skips an instruction after 0xfc.
func (in *input) miscellaneous() (why string) {
	switch op := in.number(); op {
	case 0, 1, 2, 3, 4, 5, 6, 7: // truncations
	case 8: // memory.init
		in.number()
		in.byte()
	case 9: // data.drop
		return "drops a data segment"
	case 10: // memory.copy
		in.take(2)
	case 11: // memory.fill
		in.byte()
	case 12:
		return "initializes a table"
	case 13:
		return "drops an element segment"
	case 14:
		return "copies elements of a table"
	case 15:
		return "grows a table"
	case 16: // table.size
		in.number()
	case 17:
		return "fills a table"
	default:
		in.err = fmt.Errorf("instruction 0xfc %d is not supported", op)
	}
	return ""
}

// vector skips an instruction after 0xfd.
func (in *input) vector() {
	switch op := in.number(); {
	case op <= 11 || op == 92 || op == 93: // loads and the store
		in.memory()
	case op == 12 || op == 13: // constant, shuffle
		in.take(16)
	case op >= 21 && op <= 34: // lanes
		in.byte()
	case op >= 84 && op <= 91: // loads and stores of lanes
		in.memory()
		in.byte()
	}
}
