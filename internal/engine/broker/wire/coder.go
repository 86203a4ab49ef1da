package wire

import (
	"encoding/binary"
	"fmt"
)

// Types of fields, in the low three bits of a tag.
const (
	typeFlag = iota + 1 // 1 byte, 0 or 1
	typeU32             // 4 bytes, little endian like all numbers
	typeU64             // 8 bytes
	typeI64             // 8 bytes, two's complement
	typeText            // u32 length and as many bytes
	typeList            // u32 count; the items follow as fields
	typeBits = 3
)

// coder walks the fields of a payload in their order, writing or reading, so that both are
// one list. The first fault stays; what is read after it is left zero.
type coder struct {
	kind    Kind
	reading bool
	b       []byte // written so far, or the whole payload
	at      int    // read so far
	n       uint8  // fields so far; the tag holds its low five bits
	err     error
}

func writer(b []byte) coder { return coder{b: b} }

func reader(b []byte, k Kind) coder { return coder{b: b, kind: k, reading: true} }

// end is the verdict on a payload read.
func (c *coder) end() error {
	if c.err == nil && c.at < len(c.b) {
		c.fail("end", ErrTrailing, fmt.Sprintf("%d bytes after the last field", len(c.b)-c.at))
	}
	return c.err
}

func (c *coder) fail(field string, err error, detail string) {
	if c.err == nil {
		e := &Error{Op: "parse", Kind: c.kind, Field: field, At: c.at, Err: err, Detail: detail}
		if !c.reading {
			e.Op, e.At = "check", len(c.b)
		}
		c.err = e
	}
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

// head writes the tag of the next field, or reads it and returns the field's n bytes.
func (c *coder) head(field string, kind uint8, n int) []byte {
	tag := c.n<<typeBits | kind
	c.n++
	if !c.reading {
		c.b = append(c.b, tag)
		return nil
	}
	b := c.take(field, 1)
	if b == nil {
		return nil
	}
	if b[0] != tag {
		c.at--
		c.fail(field, ErrOrder, fmt.Sprintf("tag %#02x, not %#02x", b[0], tag))
		return nil
	}
	return c.take(field, n)
}

func (c *coder) u32(field string, p *uint32) { c.number32(field, typeU32, p) }

func (c *coder) number32(field string, kind uint8, p *uint32) {
	b := c.head(field, kind, 4)
	switch {
	case !c.reading:
		c.b = binary.LittleEndian.AppendUint32(c.b, *p)
	case b != nil:
		*p = binary.LittleEndian.Uint32(b)
	default:
		*p = 0
	}
}

func (c *coder) u64(field string, p *uint64) { c.number64(field, typeU64, p) }

func (c *coder) number64(field string, kind uint8, p *uint64) {
	b := c.head(field, kind, 8)
	switch {
	case !c.reading:
		c.b = binary.LittleEndian.AppendUint64(c.b, *p)
	case b != nil:
		*p = binary.LittleEndian.Uint64(b)
	default:
		*p = 0
	}
}

func (c *coder) i64(field string, p *int64) {
	v := uint64(*p)
	c.number64(field, typeI64, &v)
	*p = int64(v)
}

// below is a u32 that is less than limit.
func (c *coder) below(field string, p *uint32, limit uint32) {
	c.u32(field, p)
	if *p >= limit {
		c.fail(field, ErrValue, fmt.Sprintf("%d, at most %d", *p, limit-1))
		c.reset(p)
	}
}

// reset clears what was read and refused.
func (c *coder) reset(p *uint32) {
	if c.reading {
		*p = 0
	}
}

// size is a u64 of bytes, at most MaxBytes.
func (c *coder) size(field string, p *uint64) {
	c.u64(field, p)
	if *p <= MaxBytes {
		return
	}
	c.fail(field, ErrValue, fmt.Sprintf("%d, at most %d", *p, uint64(MaxBytes)))
	if c.reading {
		*p = 0
	}
}

func (c *coder) flag(field string, p *bool) {
	b := c.head(field, typeFlag, 1)
	switch {
	case !c.reading && *p:
		c.b = append(c.b, 1)
	case !c.reading:
		c.b = append(c.b, 0)
	case b != nil && b[0] > 1:
		c.fail(field, ErrValue, fmt.Sprintf("%d, not 0 or 1", b[0]))
		*p = false
	default:
		*p = b != nil && b[0] == 1
	}
}

// text is a string of at most limit bytes, of any bytes.
func (c *coder) text(field string, p *string, limit int) {
	n := uint32(len(*p))
	c.number32(field, typeText, &n)
	if uint64(n) > uint64(limit) {
		c.fail(field, ErrLong, fmt.Sprintf("%d bytes, at most %d", n, limit))
	}
	if !c.reading {
		c.b = append(c.b, *p...)
		return
	}
	*p = string(c.take(field, int(n)))
}

// items is a list of at most limit items: it writes or reads the count and returns how many
// items are to be walked. A list that was read has room for them; an empty one is nil.
func items[T any](c *coder, field string, list *[]T, limit int) int {
	n := uint32(len(*list))
	c.number32(field, typeList, &n)
	switch {
	case uint64(n) > uint64(limit):
		c.fail(field, ErrLong, fmt.Sprintf("%d items, at most %d", n, limit))
	case c.reading && int(n) > len(c.b)-c.at: // an item has a byte at least
		c.fail(field, ErrShort, fmt.Sprintf("%d items in %d bytes", n, len(c.b)-c.at))
	}
	if !c.reading {
		return len(*list)
	}
	*list = nil
	if c.err != nil || n == 0 {
		return 0
	}
	*list = make([]T, n)
	return int(n)
}
