package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
)

// An entry of the cache is a file:
//
//	magic    8 bytes
//	key      32 bytes, as in the file's name
//	function, text, then each weight's name and data:
//	         u64 length, bytes; after text u64 number of weights
//	checksum 32 bytes: SHA-256 of all before
//
// Numbers are little endian.
const entryMagic = "anecach1"

// errEntry is an entry that is not what was written, for whatever reason.
var errEntry = errors.New("damaged entry")

// writeEntry writes what readEntry reads.
func writeEntry(w io.Writer, k Key, s *source) error {
	e := entryWriter{to: w, sum: sha256.New()}
	e.raw([]byte(entryMagic))
	e.raw(k[:])
	e.part([]byte(s.function))
	e.part(s.text)
	e.number(uint64(len(s.weights)))
	for _, f := range s.weights {
		e.part([]byte(f.name))
		e.part(f.data)
	}
	e.raw(e.sum.Sum(nil))
	return e.err
}

// entryWriter keeps the first fault and the checksum.
type entryWriter struct {
	to  io.Writer
	sum hash.Hash
	err error
}

func (e *entryWriter) raw(b []byte) {
	e.sum.Write(b)
	if e.err == nil {
		_, e.err = e.to.Write(b)
	}
}

func (e *entryWriter) number(n uint64) { e.raw(binary.LittleEndian.AppendUint64(nil, n)) }

func (e *entryWriter) part(b []byte) {
	e.number(uint64(len(b)))
	e.raw(b)
}

// readEntry returns the program of an entry, whose slices are parts of b, or
// errEntry.
func readEntry(b []byte, k Key) (*source, error) {
	end := len(b) - sha256.Size
	if end < 0 || sha256.Sum256(b[:end]) != [sha256.Size]byte(b[end:]) {
		return nil, errEntry
	}
	r := entryReader{rest: b[:end]}
	if !bytes.Equal(r.take(uint64(len(entryMagic))), []byte(entryMagic)) || !bytes.Equal(r.take(uint64(len(k))), k[:]) {
		return nil, errEntry
	}
	s := &source{function: string(r.part()), text: r.part()}
	for n := r.number(); n > 0 && !r.bad; n-- {
		s.weights = append(s.weights, weight{name: string(r.part()), data: r.part()})
	}
	if r.bad || len(r.rest) > 0 || s.sort() != nil {
		return nil, errEntry
	}
	return s, nil
}

// entryReader takes parts off the front; bad is that one was not there.
type entryReader struct {
	rest []byte
	bad  bool
}

func (r *entryReader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.rest)) {
		r.bad = true
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *entryReader) number() uint64 {
	b := r.take(8)
	if r.bad {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

func (r *entryReader) part() []byte { return r.take(r.number()) }
