package coreml

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxDepth is how deep messages nest, as in other readers of protobuf.
const maxDepth = 100

// value is the content of a field.
type value struct {
	is string // as in field
	n  uint64 // of varint, float and double
	b  []byte // of all others
}

// str returns the text of a field.
func (v value) str() string { return string(v.b) }

// reader reads one protobuf. After its first error it reads nothing more.
type reader struct {
	file    string
	root    []byte
	depth   int
	err     error
	spare   int      // bytes for nested lists beyond those in proportion to their values
	boxed   bool     // scalars are tensors of rank 0: see program
	op      string   // the operation that is read, for errors
	remarks []string // what was left out
	seen    map[string]bool
}

func newReader(file string, root []byte) *reader {
	return &reader{file: file, root: root[:len(root):len(root)], spare: 16 * len(root), seen: map[string]bool{}}
}

// at is the offset of b, a part of the file.
func (r *reader) at(b []byte) int64 { return int64(len(r.root) - cap(b)) }

// fail keeps the first error; b is the place.
func (r *reader) fail(b []byte, hint, format string, args ...any) {
	if r.err != nil {
		return
	}
	msg := fmt.Sprintf(format, args...)
	if r.op != "" {
		msg = "operation " + short(r.op) + ": " + msg
	}
	r.err = &Error{File: r.file, Offset: r.at(b), Msg: msg, Hint: hint, Err: ErrFormat}
}

// note adds a remark, once.
func (r *reader) note(format string, args ...any) {
	remark := fmt.Sprintf(format, args...)
	if len(r.seen) < maxRemarks && !r.seen[remark] {
		r.seen[remark] = true
		r.remarks = append(r.remarks, remark)
	}
}

// maxRemarks is how many remarks a Model keeps.
const maxRemarks = 100

const broken = "the file is damaged or incomplete; copy or convert it again"

// each calls visit for every field of the message m, in the order of the file. Fields that format lacks are noted.
func (r *reader) each(m value, visit func(name string, v value)) {
	if r.err != nil {
		return
	}
	if r.depth++; r.depth > maxDepth {
		r.fail(m.b, "no converter nests so deep; convert the model again", "messages nest more than %d deep", maxDepth)
	}
	defer func() { r.depth-- }()
	known := format[m.is]
	for b := m.b; len(b) > 0 && r.err == nil; {
		num, wire, n := protowire.ConsumeTag(b)
		if n < 0 {
			r.fail(b, broken, "%s: %v", m.is, protowire.ParseError(n))
			return
		}
		size := protowire.ConsumeFieldValue(num, wire, b[n:])
		if size < 0 {
			r.fail(b, broken, "field %d of %s: %v", num, m.is, protowire.ParseError(size))
			return
		}
		r.one(m, known, num, wire, b[n:n+size], visit)
		b = b[n+size:]
	}
}

// one calls visit for one field.
func (r *reader) one(m value, known fields, num protowire.Number, wire protowire.Type, b []byte,
	visit func(name string, v value)) {
	f, ok := known[num]
	if !ok {
		r.note("field %d of %s is not known here and was not read", num, m.is)
		return
	}
	v := value{is: f.is}
	switch {
	case wire == protowire.BytesType && (f.packed() || f.wire() == wire):
		v.b, _ = protowire.ConsumeBytes(b)
	case wire != f.wire():
		r.fail(b, broken, "%s.%s has wire type %d in place of %d", m.is, f.name, wire, f.wire())
		return
	case f.packed():
		v.b = b
	case wire == protowire.VarintType:
		v.n, _ = protowire.ConsumeVarint(b)
	case wire == protowire.Fixed32Type:
		v.n = uint64(binary.LittleEndian.Uint32(b))
	default:
		v.n = binary.LittleEndian.Uint64(b)
	}
	visit(f.name, v)
}

// integers appends the varints that v packs to list.
func (r *reader) integers(list []int64, v value) []int64 {
	n := 0
	for _, c := range v.b {
		if c < 0x80 {
			n++
		}
	}
	if list == nil {
		list = make([]int64, 0, n)
	}
	for b := v.b; len(b) > 0; {
		x, n := protowire.ConsumeVarint(b)
		if n < 0 {
			r.fail(b, broken, "a list of integers: %v", protowire.ParseError(n))
			return list
		}
		list = append(list, int64(x))
		b = b[n:]
	}
	return list
}

// reals appends the floats or doubles that v packs to list.
func (r *reader) reals(list []float64, v value) []float64 {
	size := 4
	if v.is == doubles {
		size = 8
	}
	if len(v.b)%size != 0 {
		r.fail(v.b, broken, "%d bytes are no list of %s", len(v.b), v.is)
		return list
	}
	if list == nil {
		list = make([]float64, 0, len(v.b)/size)
	}
	for b := v.b; len(b) > 0; b = b[size:] {
		if size == 4 {
			list = append(list, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		} else {
			list = append(list, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	}
	return list
}

// entry reads an entry of a map.
func (r *reader) entry(v value) (key string, content value) {
	content.is = format[v.is][2].is
	content.b = v.b[len(v.b):]
	r.each(v, func(name string, v value) {
		if name == "key" {
			key = v.str()
		} else {
			content = v
		}
	})
	return key, content
}

// short shortens a name of a file for a message.
func short(s string) string {
	if len(s) > 80 {
		s = s[:80] + ".."
	}
	return s
}
