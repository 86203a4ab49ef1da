package safetensors

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anekit/anekit/internal/errtext"
)

// builder collects the header of a file.
type builder struct {
	json  []byte
	names map[string]struct{}
	end   int64 // of the tensors so far, from the first one's first byte
}

func newBuilder(metadata map[string]string) (*builder, error) {
	b := &builder{json: []byte{'{'}, names: map[string]struct{}{}}
	if len(metadata) == 0 {
		return b, nil
	}
	if len(metadata) > maxNames {
		return nil, &Error{Base: errtext.Base{Op: "write", Err: ErrHeader,
			Detail: fmt.Sprintf("%d names of metadata, at most %d are permitted", len(metadata), maxNames)}, Offset: -1}
	}
	b.json = append(b.json, `"`+metadataKey+`":{`...)
	for i, k := range slices.Sorted(maps.Keys(metadata)) {
		if !utf8.ValidString(k) || !utf8.ValidString(metadata[k]) {
			return nil, &Error{Base: errtext.Base{Op: "write", Err: ErrHeader,
				Detail: "metadata " + quote(k) + " is not UTF-8"}, Offset: -1}
		}
		if i > 0 {
			b.json = append(b.json, ',')
		}
		b.json = append(appendString(b.json, k), ':')
		b.json = appendString(b.json, metadata[k])
	}
	b.json = append(b.json, '}')
	return b, nil
}

// check refuses a tensor of size bytes that cannot follow the others.
func (b *builder) check(name string, dtype DType, shape []int, size int) error {
	bad := func(err error, format string, args ...any) error {
		return &Error{Base: errtext.Base{Op: "write", Err: err, Detail: fmt.Sprintf(format, args...)}, Tensor: name,
			Offset: -1}
	}
	n, err := dtype.Bytes(shape...)
	if err != nil {
		e := err.(*Error) //nolint:errorlint // of this package
		return bad(e.Err, "%s: %v %v", e.Detail, dtype, shape)
	}
	_, twice := b.names[name]
	switch {
	case !utf8.ValidString(name):
		return bad(ErrHeader, "the name is not UTF-8")
	case name == metadataKey:
		return bad(ErrHeader, "no tensor can have this name")
	case twice:
		return bad(ErrDuplicate, "")
	case n != int64(size):
		return bad(ErrShape, "%v %v has %d bytes, the data has %d", dtype, shape, n, size)
	}
	return nil
}

// add appends a tensor of size bytes, which check accepts, after the others.
func (b *builder) add(name string, dtype DType, shape []int, size int) {
	b.names[name] = struct{}{}
	if len(b.json) > 1 {
		b.json = append(b.json, ',')
	}
	b.json = append(appendString(b.json, name), `:{"dtype":"`...)
	b.json = append(append(b.json, dtype.String()...), `","shape":[`...)
	for i, axis := range shape {
		if i > 0 {
			b.json = append(b.json, ',')
		}
		b.json = strconv.AppendInt(b.json, int64(axis), 10)
	}
	b.json = strconv.AppendInt(append(b.json, `],"data_offsets":[`...), b.end, 10)
	b.end += int64(size)
	b.json = append(strconv.AppendInt(append(b.json, ','), b.end, 10), `]}`...)
}

// dataAlign is the alignment of the first tensor, at least.
const dataAlign = 64

// maxAlign is the greatest alignment: the space before the first tensor belongs to the header, which has at most
// MaxHeader bytes.
const maxAlign = 1 << 26

// text returns the header with its length, padded to at least room bytes and so that the
// tensors start at a multiple of dataAlign.
func (b *builder) text(room int) ([]byte, error) {
	n := max(lead+len(b.json)+1, room)
	n = (n + dataAlign - 1) / dataAlign * dataAlign
	if n-lead > MaxHeader {
		return nil, &Error{Base: errtext.Base{Op: "write", Err: ErrHeader,
			Detail: fmt.Sprintf("%d bytes, at most %d are permitted", n-lead, MaxHeader), Hint: "write several files"},
			Offset: -1}
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

// padding reports whether a tensor of this name is one that Align has put before another.
func padding(name string) bool { return strings.HasPrefix(name, paddingPrefix) }
