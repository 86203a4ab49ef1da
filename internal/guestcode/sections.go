package guestcode

import (
	"encoding/binary"
	"errors"
)

// Header begins the binaries of WebAssembly 1.
const Header = "\x00asm\x01\x00\x00\x00"

// The numbers of sections.
const (
	Custom   = 0
	Types    = 1
	Imports  = 2
	Funcs    = 3
	Tables   = 4
	Globals  = 6
	Exports  = 7
	Elements = 9
	Code     = 10
	Data     = 11
)

// Section is a part of a binary.
type Section struct {
	ID   byte
	Body []byte
}

// Split returns the sections of a binary, whose bodies are parts of text.
func Split(text []byte) ([]Section, error) {
	if len(text) < len(Header) || string(text[:len(Header)]) != Header {
		return nil, errors.New("not a WebAssembly binary of version 1")
	}
	var all []Section
	r := &Reader{Rest: text[len(Header):]}
	for len(r.Rest) > 0 {
		all = append(all, Section{r.Byte(), r.Text()})
	}
	return all, r.Err
}

// Join returns the binary of sections.
func Join(all []Section) []byte {
	n := len(Header)
	for _, s := range all {
		n += 1 + binary.MaxVarintLen32 + len(s.Body)
	}
	text := append(make([]byte, 0, n), Header...)
	for _, s := range all {
		text = append(text, s.ID)
		text = binary.AppendUvarint(text, uint64(len(s.Body)))
		text = append(text, s.Body...)
	}
	return text
}
