package server

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
)

// source is a program as it came: what a compile needs and what its key is of.
type source struct {
	text     []byte
	function string
	weights  []weight // sorted by name
}

// weight is one file that the text names.
type weight struct {
	name string
	data []byte
}

// ReadFile implements ane.Weights.
func (s *source) ReadFile(path string) ([]byte, error) {
	if i, ok := s.find(path); ok {
		return s.weights[i].data, nil
	}
	return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
}

// find returns the index of a weight file.
func (s *source) find(path string) (int, bool) {
	return slices.BinarySearchFunc(s.weights, path, byName)
}

func byName(w weight, name string) int { return strings.Compare(w.name, name) }

// sort brings the weights into the order that everything here relies on, and
// refuses two of one name.
func (s *source) sort() error {
	slices.SortFunc(s.weights, func(a, b weight) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(s.weights); i++ {
		if s.weights[i].name == s.weights[i-1].name {
			return &ane.Error{Op: "compile", Engine: Name, Name: s.weights[i].name, Err: ane.ErrName,
				Detail: "two weight files of this name", Hint: "send each file once"}
		}
	}
	return nil
}

// Key is what a compiled program is known by: the SHA-256 of the engine that
// compiled it and of everything that went in.
type Key [sha256.Size]byte

// String is the key in hex digits, the name of its file in a cache.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// parseKey is the inverse of String.
func parseKey(s string) (k Key, err error) {
	if !isHash(s) {
		return k, fmt.Errorf("%q is no key of a compiled program", s)
	}
	_, err = hex.Decode(k[:], []byte(s))
	return k, err
}

// isHash reports whether s is a SHA-256 in hex digits.
func isHash(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// compilerVersion changes whenever what a cache holds may mean something else.
const compilerVersion = "anekit broker 1"

// key tells programs apart. Every part is led by its length, so that no two
// programs run together into the same bytes.
func (s *source) key(engine ane.Info) Key {
	h := newKeyHash(engine, s.function)
	h.part(s.text)
	for _, w := range s.weights {
		h.part([]byte(w.name))
		h.part(w.data)
	}
	return h.key()
}

// keyHash makes a Key of the parts of a program.
type keyHash struct{ hash.Hash }

// newKeyHash begins with the engine and the function.
func newKeyHash(engine ane.Info, function string) keyHash {
	h := keyHash{sha256.New()}
	for _, t := range []string{compilerVersion, engine.Name, engine.Chip, engine.Numerics, function} {
		h.part([]byte(t))
	}
	return h
}

func (h keyHash) part(b []byte) {
	h.length(len(b))
	h.Write(b)
}

// length leads a part, whose bytes follow.
func (h keyHash) length(n int) { h.Write(binary.LittleEndian.AppendUint64(nil, uint64(n))) }

func (h keyHash) key() Key { return Key(h.Sum(nil)) }

// compile is the engine's view of the source, with its weights.
func (s *source) compile(file string, weights ane.Weights) ane.Source {
	src := ane.Source{File: file, Text: s.text, Function: s.function}
	if len(s.weights) > 0 {
		src.Weights = weights
	}
	return src
}

// names is the source without its bytes: what it calls its weights.
func (s *source) names() source {
	var n source
	for _, w := range s.weights {
		n.weights = append(n.weights, weight{name: w.name})
	}
	return n
}

// bytes is how much there is of text and weights.
func (s *source) bytes() int64 {
	n := int64(len(s.text))
	for _, w := range s.weights {
		n += int64(len(w.data))
	}
	return n
}
