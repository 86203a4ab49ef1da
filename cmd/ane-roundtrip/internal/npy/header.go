package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

const (
	magic = "\x93NUMPY"
	// maxHeader is the most bytes of a header. Those of NumPy have some hundred bytes.
	maxHeader = 1 << 20
	// alignment of the data in files that NumPy writes (numpy.lib.format, ARRAY_ALIGN).
	alignment = 64
	// growth is the number of digits that NumPy reserves for the dimension along which an
	// array may grow (numpy.lib.format, GROWTH_AXIS_MAX_DIGITS).
	growth = 21
)

// The keys of the dictionary.
const (
	keyDescr   = "descr"
	keyFortran = "fortran_order"
	keyShape   = "shape"
)

// parseDict reads the dictionary.
func (s *scanner) parseDict() (h header, err error) {
	if err := s.expect('{', "to open the dictionary"); err != nil {
		return h, err
	}
	var seen []string
	for !s.accept('}') {
		s.peek()
		start := s.at
		key, err := s.str("a key")
		if err != nil {
			return h, err
		}
		if slices.Contains(seen, key) {
			return h, s.fail(start, "the key %q comes twice", key)
		}
		seen = append(seen, key)
		if err := s.expect(':', "after the key"); err != nil {
			return h, err
		}
		s.peek()
		switch key {
		case keyDescr:
			h.kind, h.big, err = s.descr()
		case keyFortran:
			h.fortran, err = s.boolean()
		case keyShape:
			h.shapeAt = s.base + int64(s.at)
			h.shape, err = s.tuple()
		default:
			err = s.fail(start, "the key %.40q is unknown", key)
		}
		if err != nil {
			return h, err
		}
		if s.accept(',') {
			continue
		}
		if err := s.expect('}', "to close the dictionary"); err != nil {
			return h, err
		}
		break
	}
	for _, key := range []string{keyDescr, keyFortran, keyShape} {
		if !slices.Contains(seen, key) {
			return h, s.fail(s.at, "the key %q is missing", key)
		}
	}
	if s.peek(); s.at < len(s.text) {
		return h, s.fail(s.at, "text after the dictionary: %s", s.found())
	}
	return h, nil
}

// readHeader reads everything before the data, and returns its length too.
func readHeader(r io.Reader) (header, int64, error) {
	var fixed [12]byte
	lead := fixed[:len(magic)+2]
	n, err := io.ReadFull(r, lead)
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if other := otherFile(lead[:n]); other != nil {
			return header{}, 0, other
		}
	}
	if err != nil {
		return header{}, 0, ended(err, int64(n), "the magic string and version")
	}
	major, minor := lead[6], lead[7]
	if major < 1 || major > 3 || minor != 0 {
		return header{}, 0, &Error{
			Offset: 6, What: "format version " + strconv.Itoa(int(major)) + "." + strconv.Itoa(int(minor)) +
				" is unknown",
			Fix: "save it in version 1.0, 2.0 or 3.0",
		}
	}
	width := 2
	if major > 1 {
		width = 4
	}
	at := int64(len(lead))
	if n, err := io.ReadFull(r, fixed[at:int(at)+width]); err != nil {
		return header{}, 0, ended(err, at+int64(n), "the length of the header")
	}
	length := int64(binary.LittleEndian.Uint32(fixed[at:])) // the bytes not read are zero
	if length > maxHeader {
		return header{}, 0, &Error{
			Offset: at, What: "the header claims " + strconv.FormatInt(length, 10) + " bytes, more than " +
				strconv.Itoa(maxHeader),
			Fix: saveAgain,
		}
	}
	at += int64(width)
	var text bytes.Buffer
	if n, err := io.CopyN(&text, r, length); err != nil {
		return header{}, 0, ended(err, at+n, "a header of "+strconv.FormatInt(length, 10)+" bytes")
	}
	s := &scanner{text: text.Bytes(), base: at, longs: major < 3}
	h, err := s.parseDict()
	return h, at + length, err
}

// appendHeader returns the header that NumPy writes: the dictionary, room to grow, padding to a multiple
// of 64 (64 more if it is a multiple already) and a line feed.
func appendHeader(a *Array) ([]byte, error) {
	var shape strings.Builder
	for _, d := range a.Shape {
		if shape.Len() > 0 {
			shape.WriteString(", ")
		}
		shape.WriteString(strconv.Itoa(d))
	}
	fortran, grows := "False", 0
	if a.Fortran {
		fortran, grows = "True", max(len(a.Shape)-1, 0)
	}
	room := 0
	if len(a.Shape) > 0 {
		room = growth - len(strconv.Itoa(a.Shape[grows]))
	}
	if len(a.Shape) == 1 {
		shape.WriteByte(',')
	}
	dict := "{'descr': '" + a.Kind.descr() + "', 'fortran_order': " + fortran + ", 'shape': (" + shape.String() +
		"), }" +
		strings.Repeat(" ", room)

	total := func(lead int) int { return (lead+len(dict)+1)/alignment*alignment + alignment }
	out := append([]byte(magic), 1, 0)
	if n := total(len(out)+2) - len(out) - 2; n <= 0xffff {
		out = binary.LittleEndian.AppendUint16(out, uint16(n))
	} else {
		n = total(len(out)+4) - len(out) - 4
		if n > maxHeader {
			return nil, &Error{What: "a shape of " + strconv.Itoa(len(a.Shape)) + " dimensions does not fit a header",
				Fix: "use fewer dimensions"}
		}
		out[len(magic)] = 2
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
	}
	end := total(len(out))
	out = append(out, dict...)
	out = append(out, strings.Repeat(" ", end-1-len(out))...)
	return append(out, '\n'), nil
}
