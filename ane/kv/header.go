package kv

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/errtext"
)

// version is the version of the format. Every version begins as opening says, so that each can check every header.
const version = "1"

// opening is the start of a header: its checksum in 16 hexadecimal digits, the xxh3 of the header with zeros there.
const (
	opening = `{"__metadata__":{"checksum":"`
	digits  = 16
)

// maxHeader is the longest header in bytes, that of safetensors: 4096 layers need 1.2 MB, the longest note 89.5 MB.
const maxHeader = 100_000_000

// dataAlign is the alignment of the data in the file. The header is padded with spaces.
const dataAlign = 64

// header describes a snapshot. Its text is canonical: a reader makes it again and compares.
type header struct {
	Fingerprint
	layers, heads, dim int
	dtype              mil.DType
	window             int // 0 without
	first, tokens      int
	note               []byte // of SaveFileNote; empty without
}

// formatType is the name of an element type in safetensors, or empty.
func formatType(d mil.DType) string {
	switch d {
	case mil.FP16:
		return "F16"
	case mil.FP32:
		return "F32"
	case mil.Bool:
		return "BOOL"
	case mil.Int8:
		return "I8"
	case mil.UInt8:
		return "U8"
	case mil.Int16:
		return "I16"
	case mil.UInt16:
		return "U16"
	case mil.Int32:
		return "I32"
	case mil.UInt32:
		return "U32"
	}
	return ""
}

// plane is the bytes of a head, tensor those of a layer and side, data all of them, trailer the checksums after them.
func (h *header) plane() int   { return h.tokens * h.dim * h.dtype.Size() }
func (h *header) tensor() int  { return h.heads * h.plane() }
func (h *header) data() int    { return 2 * h.layers * h.tensor() }
func (h *header) trailer() int { return 8 * (2*h.layers*h.heads + 1) }
func (h *header) total() int   { return h.data() + h.trailer() }

// group is the number of tensors that have about size bytes.
func (h *header) group(size int) int {
	return min(max(1, size/max(1, h.tensor())), maxSurfaces)
}

// end is the position after the tokens.
func (h *header) end() int { return h.first + h.tokens }

// sumsName is the name of the tensor with the checksums.
const sumsName = "checksums"

// tensorName is the name of the keys or values of a layer.
func tensorName(i int) string { return string(appendName(nil, i)) }

func appendName(b []byte, i int) []byte {
	b = strconv.AppendInt(append(b, "layers."...), int64(i/2), 10)
	return append(b, [2]string{".keys", ".values"}[i%2]...)
}

// encode returns the length and the header, padded.
func (h *header) encode() []byte {
	b := make([]byte, 8, 2048+len(h.note)/3*4+192*(h.layers+1))
	b = append(b, opening...)
	b = append(b, "0000000000000000"...)
	field := func(name, value string) {
		b = append(b, `","`...)
		b = append(b, name...)
		b = append(b, `":"`...)
		b = append(b, value...)
	}
	field("format", "anekit-kv")
	field("version", version)
	for _, f := range h.fields() {
		field(f.name, escaped(*f.value))
	}
	for _, f := range h.numbers() {
		field(f.name, strconv.Itoa(*f.value))
	}
	field("dtype", h.dtype.String())
	if len(h.note) > 0 {
		field("note", base64.StdEncoding.EncodeToString(h.note))
	}
	b = append(b, `"}`...)
	size := h.tensor()
	offsets := func(from, to int) {
		b = append(b, `],"data_offsets":[`...)
		b = strconv.AppendInt(b, int64(from), 10)
		b = append(b, ',')
		b = strconv.AppendInt(b, int64(to), 10)
		b = append(b, `]}`...)
	}
	kind := fmt.Sprintf(`":{"dtype":"%s","shape":[1,%d,%d,%d`, formatType(h.dtype), h.heads, h.tokens, h.dim)
	for i := range 2 * h.layers {
		b = append(b, `,"`...)
		b = appendName(b, i)
		b = append(b, kind...)
		offsets(i*size, (i+1)*size)
	}
	b = fmt.Appendf(b, `,"%s":{"dtype":"U8","shape":[%d`, sumsName, h.trailer())
	offsets(h.data(), h.total())
	b = append(b, '}')
	for len(b)%dataAlign != 0 {
		b = append(b, ' ')
	}
	binary.LittleEndian.PutUint64(b, uint64(len(b)-8))
	copy(b[8+len(opening):], fmt.Sprintf("%016x", xxh3.Hash(b)))
	return b
}

// numbers are the fields of the shape, in the order of the file.
func (h *header) numbers() [6]struct {
	name  string
	value *int
} {
	return [6]struct {
		name  string
		value *int
	}{{"layers", &h.layers}, {"heads", &h.heads}, {"head_dim", &h.dim}, {"window", &h.window}, {"first", &h.first},
		{"tokens", &h.tokens}}
}

// damaged is the error of a snapshot that cannot be used.
func damaged(op, name, format string, args ...any) error {
	return &Error{Base: errtext.Base{Op: op, Err: ErrCorrupt, Detail: fmt.Sprintf(format, args...)}, Name: name}
}

// readError is the error of a read: a stream that ends early is a truncated snapshot.
func readError(op, name, what string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{Base: errtext.Base{Op: op, Err: ErrCorrupt, Detail: what + ": the snapshot is truncated",
			Cause: io.ErrUnexpectedEOF}, Name: name}
	}
	return &Error{Base: errtext.Base{Op: op, Detail: what, Cause: err}, Name: name}
}

// readHeader reads and checks the header of a snapshot, and returns it with its bytes. A header longer than 100 MB is
// refused, and no more memory is taken than bytes have arrived, twice.
func readHeader(op, name string, r io.Reader) (*header, []byte, error) {
	var length [8]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, nil, readError(op, name, "length of the header", err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n < uint64(len(opening)+digits) || n > maxHeader || n%8 != 0 {
		return nil, nil, damaged(op, name, "a header of %d bytes", n)
	}
	raw := make([]byte, 8, 8+min(n, 1<<20))
	copy(raw, length[:])
	for len(raw) < int(8+n) {
		if len(raw) == cap(raw) {
			raw = slices.Grow(raw, min(len(raw), int(8+n)-len(raw)))
		}
		k, err := io.ReadFull(r, raw[len(raw):min(cap(raw), int(8+n))])
		raw = raw[:len(raw)+k]
		if err != nil {
			return nil, nil, readError(op, name, "header", err)
		}
	}
	h, err := parseHeader(op, name, raw)
	return h, raw, err
}

// parseHeader parses length and header.
func parseHeader(op, name string, raw []byte) (*header, error) {
	if !bytes.HasPrefix(raw[8:], []byte(opening)) {
		return nil, damaged(op, name, "not a snapshot of this package: the header begins with %.40q", raw[8:])
	}
	stored := string(raw[8+len(opening):][:digits])
	copy(raw[8+len(opening):], "0000000000000000")
	sum := fmt.Sprintf("%016x", xxh3.Hash(raw))
	copy(raw[8+len(opening):], stored)
	if sum != stored {
		return nil, damaged(op, name, "checksum of the header is %s, not %.16q", sum, stored)
	}
	meta, err := metadata(string(raw[8+len(`{"__metadata__":{`):]))
	if err != nil {
		return nil, damaged(op, name, "metadata: %v", err)
	}
	if meta.get("format") != "anekit-kv" || meta.get("version") != version {
		return nil, &Error{Base: errtext.Base{Op: op, Err: ErrVersion,
			Detail: fmt.Sprintf("format %.40q version %.40q, this is version %s", meta.get("format"),
				meta.get("version"), version), Hint: "read it with the version of anekit that wrote it"}, Name: name}
	}
	h := &header{dtype: mil.ParseDType(meta.get("dtype"))}
	if h.note, err = base64.StdEncoding.DecodeString(meta.get("note")); err != nil {
		return nil, damaged(op, name, "note: %v", err)
	}
	for _, f := range h.fields() {
		*f.value = meta.get(f.name)
	}
	for _, f := range h.numbers() {
		n, err := strconv.Atoi(meta.get(f.name))
		if err != nil || n < 0 || f.value != &h.first && n > maxCount {
			return nil, damaged(op, name, "%s is %.40q", f.name, meta.get(f.name))
		}
		*f.value = n
	}
	if formatType(h.dtype) == "" || min(h.layers, h.heads, h.dim) < 1 || h.layers > len(raw)/64 ||
		h.heads > maxCount/h.layers || h.dim*h.tokens > (1<<50)/(h.layers*h.heads) {
		return nil, damaged(op, name, "shape %d x %d x %d x %d of %.16q", h.layers, h.heads, h.tokens, h.dim,
			meta.get("dtype"))
	}
	if h.window == 0 && h.first != 0 || h.window > 0 && h.tokens > h.window || h.first > 1<<60 {
		return nil, damaged(op, name, "%d tokens from position %d on, window %d", h.tokens, h.first, h.window)
	}
	if !bytes.Equal(h.encode(), raw) {
		return nil, damaged(op, name, "the header describes other tensors than a snapshot has")
	}
	return h, nil
}

// pairs are the names and values of the metadata in their order.
type pairs [][2]string

func (p pairs) get(name string) string {
	for _, v := range p {
		if v[0] == name {
			return v[1]
		}
	}
	return ""
}

// errMetadata: text that encode does not write.
var errMetadata = errors.New("not a list of names and strings")

// metadata parses the members of an object as encode writes them: without spaces, to the brace. The caller compares
// the text with that of encode, so that what this parser lets through is found. A snapshot's tensors are never
// parsed: encode makes their text from the metadata, in a third of the time. With encoding/json a header takes 8 µs
// more, of the 0.1 ms in which 24 tokens are restored.
func metadata(text string) (all pairs, err error) {
	all = make(pairs, 0, 24)
	for {
		var pair [2]string
		for i, end := range [2]string{":", ""} {
			if pair[i], text, err = quoted(text); err != nil {
				return nil, err
			}
			var ok bool
			if text, ok = strings.CutPrefix(text, end); !ok {
				return nil, errMetadata
			}
		}
		all = append(all, pair)
		var more bool
		if text, more = strings.CutPrefix(text, ","); !more {
			return all, nil
		}
	}
}

// quoted parses the string at the beginning of text, and returns its value and the text after it.
func quoted(text string) (value, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		return "", "", errMetadata
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			value, rest = text[1:i], text[i+1:]
			if strings.IndexByte(value, '\\') >= 0 {
				value, err = unescaped(text[:i+1])
			}
			return value, rest, err
		}
	}
	return "", "", errMetadata
}

// unescaped is the value of a JSON string.
func unescaped(text string) (value string, err error) {
	err = json.Unmarshal([]byte(text), &value)
	return value, err
}

// escaped is a value as JSON has it between quotes.
func escaped(value string) string {
	plain := func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '-' <= r && r <= '9' }
	if strings.IndexFunc(value, func(r rune) bool { return !plain(r) }) < 0 {
		return value
	}
	text, _ := json.Marshal(value) // a string always has a text
	return string(text[1 : len(text)-1])
}

// header describes the tokens of the cache.
func (c *Cache) header(f Fingerprint) *header {
	h := &header{Fingerprint: f, layers: c.config.Layers, heads: c.config.Heads, dim: c.config.HeadDim,
		dtype: c.config.DType, first: min(c.first, c.next), tokens: c.Len()}
	if c.slides {
		h.window = c.memory.tokens
	}
	return h
}

// compare returns the error of a snapshot that belongs to another cache.
func (c *Cache) compare(op, name string, h *header, f Fingerprint) error {
	ours := c.header(f)
	why := f.differences(h.Fingerprint)
	add := func(what string, a, b any) {
		if why != "" {
			why += ", "
		}
		why += fmt.Sprintf("%s is %v in the snapshot, %v here", what, a, b)
	}
	numbers, theirs := ours.numbers(), h.numbers()
	for i, n := range numbers[:4] { // without positions
		if *n.value != *theirs[i].value {
			add(n.name, *theirs[i].value, *n.value)
		}
	}
	if h.dtype != ours.dtype {
		add("dtype", h.dtype, ours.dtype)
	}
	if why != "" {
		return &Error{Base: errtext.Base{Op: op, Err: ErrFingerprint, Detail: why,
			Hint: "compute the tokens again, or restore into a cache of that model"}, Name: name}
	}
	return nil
}
