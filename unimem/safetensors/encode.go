package safetensors

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Item is a tensor to write.
type Item struct {
	Name  string
	DType DType
	Shape []int
	Data  []byte
}

// Encode writes a file to w: the header, then the tensors in the order of items, each with one call
// of w.Write. The header is padded with spaces, so that the first tensor starts at a multiple
// of 64 bytes. It returns the number of bytes written.
//
// Errors: those of Writer.Add for the items, and that of w.
func Encode(w io.Writer, metadata map[string]string, items []Item) (int64, error) {
	b := newBuilder(metadata)
	for i := range items {
		if err := b.add(&items[i]); err != nil {
			return 0, err
		}
	}
	head, err := b.text(0)
	if err != nil {
		return 0, err
	}
	var total int64
	write := func(p []byte) error {
		n, err := w.Write(p)
		total += int64(n)
		if err == nil && n < len(p) {
			err = io.ErrShortWrite
		}
		return err
	}
	if err := write(head); err != nil {
		return total, err
	}
	for i := range items {
		if len(items[i].Data) == 0 {
			continue
		}
		if err := write(items[i].Data); err != nil {
			return total, err
		}
	}
	return total, nil
}

// builder collects the header of a file.
type builder struct {
	json  []byte
	names map[string]struct{}
	end   int64 // of the tensors so far, from the first one's first byte
	fault error // of the metadata
}

func newBuilder(metadata map[string]string) *builder {
	b := &builder{json: []byte{'{'}, names: map[string]struct{}{}}
	if len(metadata) == 0 {
		return b
	}
	b.json = append(b.json, `"`+metadataKey+`":{`...)
	for i, k := range slices.Sorted(maps.Keys(metadata)) {
		if !utf8.ValidString(k) || !utf8.ValidString(metadata[k]) {
			b.fault = &Error{Op: "write", Offset: -1, Err: ErrHeader, Detail: "metadata " + quote(k) + " is not UTF-8"}
			return b
		}
		if i > 0 {
			b.json = append(b.json, ',')
		}
		b.json = append(appendString(b.json, k), ':')
		b.json = appendString(b.json, metadata[k])
	}
	b.json = append(b.json, '}')
	return b
}

// add appends a tensor after the others.
func (b *builder) add(t *Item) error { return b.addSized(t, int64(len(t.Data))) }

// addSized is add for a tensor of size bytes.
func (b *builder) addSized(t *Item, size int64) error {
	if b.fault != nil {
		return b.fault
	}
	bad := func(err error, format string, args ...any) error {
		return &Error{Op: "write", Tensor: t.Name, Offset: -1, Err: err, Detail: fmt.Sprintf(format, args...)}
	}
	n, err := t.DType.Bytes(t.Shape...)
	if err != nil {
		e := err.(*Error) //nolint:errorlint // of this package
		return bad(e.Err, "%s: %v %v", e.Detail, t.DType, t.Shape)
	}
	_, twice := b.names[t.Name]
	switch {
	case !utf8.ValidString(t.Name):
		return bad(ErrHeader, "the name is not UTF-8")
	case t.Name == metadataKey:
		return bad(ErrHeader, "no tensor can have this name")
	case twice:
		return bad(ErrDuplicate, "")
	case n != size:
		return bad(ErrShape, "%v %v has %d bytes, the data has %d", t.DType, t.Shape, n, size)
	}
	b.names[t.Name] = struct{}{}
	if len(b.json) > 1 {
		b.json = append(b.json, ',')
	}
	b.json = append(appendString(b.json, t.Name), `:{"dtype":"`...)
	b.json = append(append(b.json, t.DType.String()...), `","shape":[`...)
	for i, axis := range t.Shape {
		if i > 0 {
			b.json = append(b.json, ',')
		}
		b.json = strconv.AppendInt(b.json, int64(axis), 10)
	}
	b.json = strconv.AppendInt(append(b.json, `],"data_offsets":[`...), b.end, 10)
	b.end += n
	b.json = append(strconv.AppendInt(append(b.json, ','), b.end, 10), `]}`...)
	return nil
}

// dataAlign is the alignment of the first tensor, at least.
const dataAlign = 64

// maxAlign is the greatest alignment: the space before the first tensor belongs to the header, which has at most
// MaxHeader bytes.
const maxAlign = 1 << 26

// text returns the header with its length, padded to at least room bytes and so that the
// tensors start at a multiple of dataAlign.
func (b *builder) text(room int) ([]byte, error) {
	if b.fault != nil {
		return nil, b.fault
	}
	n := max(lead+len(b.json)+1, room)
	n = (n + dataAlign - 1) / dataAlign * dataAlign
	if n-lead > MaxHeader {
		return nil, &Error{Op: "write", Offset: -1, Err: ErrHeader,
			Detail: fmt.Sprintf("%d bytes, at most %d are permitted", n-lead, MaxHeader), Hint: "write several files"}
	}
	all := make([]byte, 0, n)
	all = binary.LittleEndian.AppendUint64(all, uint64(n-lead))
	all = append(append(all, b.json...), '}')
	for len(all) < n {
		all = append(all, ' ')
	}
	return all, nil
}

// appendString appends a JSON string.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20:
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// paddingPrefix begins the names of the tensors that align others.
const paddingPrefix = "__padding__."

// Padding reports whether a tensor of this name is one that Align has put before another.
func Padding(name string) bool { return strings.HasPrefix(name, paddingPrefix) }
