package wire

import (
	"encoding/binary"
	"fmt"
	"reflect"
)

// Payload is what a frame carries: a pointer to one of the structs that the table of kinds names.
type Payload any

// Append writes a payload after b, whatever it holds.
func Append(b []byte, p Payload) []byte {
	c := coder{b: b}
	c.message(p)
	return c.b
}

// Parse reads a whole payload, replacing every field of p. On an error, an *Error, the fields hold nothing of use.
func Parse(b []byte, p Payload) error {
	c := coder{b: b, reading: true}
	c.message(p)
	if c.err == nil && c.at < len(b) {
		c.fail("end", ErrTrailing, fmt.Sprintf("%d bytes after the last field", len(b)-c.at))
	}
	return c.err
}

// Check tells the first field of a payload that the other side would refuse.
func Check(p Payload) error {
	c := coder{}
	c.message(p)
	if c.err == nil && len(c.b) > MaxLong {
		c.fail("payload", ErrLong, "more than MaxLong bytes")
	}
	return c.err
}

// coder walks the fields of a message in their order, writing or reading. The first fault stays; what is read after
// it is left zero.
type coder struct {
	kind    Kind
	reading bool
	b       []byte // written so far, or the whole payload
	at      int    // read so far
	n       uint8  // fields so far; the tag holds its low five bits
	err     error
}

func (c *coder) message(p Payload) {
	v := reflect.ValueOf(p).Elem()
	m := messages()[v.Type()]
	c.kind = m.kind
	c.value(v, &m.field)
}

func (c *coder) value(v reflect.Value, f *field) {
	switch f.form {
	case formStruct:
		for i := range f.parts {
			c.value(v.Field(i), &f.parts[i])
		}
	case formFlag:
		var n uint64
		if v.Bool() {
			n = 1
		}
		if n = c.number(f, n); c.reading {
			v.SetBool(n == 1)
		}
	case formU32, formU64:
		if n := c.number(f, v.Uint()); c.reading {
			v.SetUint(n)
		}
	case formI64, formLength:
		if n := c.number(f, uint64(v.Int())); c.reading {
			v.SetInt(int64(n))
		}
	case formText:
		n := c.number(f, uint64(v.Len()))
		if c.reading {
			v.SetString(string(c.take(f.name, int(n))))
		} else {
			c.b = append(c.b, v.String()...)
		}
	case formList:
		n := c.number(f, uint64(v.Len()))
		if c.reading {
			c.room(v, f, int(n))
		}
		for i := range v.Len() {
			c.value(v.Index(i), &f.parts[0])
		}
	}
}

// room makes a list of n items to be read; an empty one is nil.
func (c *coder) room(v reflect.Value, f *field, n int) {
	v.SetZero()
	if n > len(c.b)-c.at { // an item has a byte at least
		c.fail(f.name, ErrShort, fmt.Sprintf("%d items in %d bytes", n, len(c.b)-c.at))
	}
	if c.err == nil && n > 0 {
		v.Grow(n)
		v.SetLen(n)
	}
}

// number writes n as the field's number, its length or its count, or reads it and returns 0 after a fault.
func (c *coder) number(f *field, n uint64) uint64 {
	var word [8]byte
	width, tag := forms[f.form].width, c.n<<tagBits|forms[f.form].tag
	c.n++
	if c.reading {
		n = 0
		if c.tag(f, tag) {
			copy(word[:], c.take(f.name, width))
			n = binary.LittleEndian.Uint64(word[:])
		}
	} else {
		binary.LittleEndian.PutUint64(word[:], n)
		c.b = append(append(c.b, tag), word[:width]...)
	}
	if n > f.limit {
		err := ErrValue
		if f.form == formText || f.form == formList {
			err = ErrLong
		}
		c.fail(f.name, err, fmt.Sprintf("%d, at most %d", n, f.limit))
	}
	if c.reading && c.err != nil {
		return 0
	}
	return n
}

// tag reads the tag that leads a field.
func (c *coder) tag(f *field, want uint8) bool {
	b := c.take(f.name, 1)
	if b == nil {
		return false
	}
	if b[0] != want {
		c.at--
		c.fail(f.name, ErrOrder, fmt.Sprintf("tag %#02x, not %#02x", b[0], want))
		return false
	}
	return true
}

// take returns the next n bytes, nil after a fault or where there are fewer.
func (c *coder) take(field string, n int) []byte {
	if c.err != nil {
		return nil
	}
	if len(c.b)-c.at < n {
		c.fail(field, ErrShort, fmt.Sprintf("%d bytes of %d", len(c.b)-c.at, n))
		return nil
	}
	b := c.b[c.at : c.at+n : c.at+n]
	c.at += n
	return b
}

func (c *coder) fail(field string, err error, detail string) {
	if c.err != nil {
		return
	}
	e := &Error{Op: "parse", Kind: c.kind, Field: field, At: c.at, Err: err, Detail: detail}
	if !c.reading {
		e.Op, e.At = "check", len(c.b)
	}
	c.err = e
}
