package resources

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/numerics"
)

// Source is a program as it came: what a compile needs and what its key is of.
type Source struct {
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
func (s *Source) ReadFile(path string) ([]byte, error) {
	if i, ok := s.find(path); ok {
		return s.weights[i].data, nil
	}
	return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
}

// find returns the index of a weight file.
func (s *Source) find(path string) (int, bool) {
	return slices.BinarySearchFunc(s.weights, path, func(w weight, name string) int {
		return strings.Compare(w.name, name)
	})
}

// sort brings the weights into the order that everything here relies on, and
// refuses two of one name.
func (s *Source) sort() error {
	slices.SortFunc(s.weights, func(a, b weight) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(s.weights); i++ {
		if s.weights[i].name == s.weights[i-1].name {
			return &ane.Error{Op: "compile", Engine: Name, Name: s.weights[i].name, Err: ane.ErrName,
				Detail: "two weight files of this name", Hint: "send each file once"}
		}
	}
	return nil
}

// Compile is the engine's view of the source, with weights from elsewhere.
func (s *Source) Compile(file string, weights ane.Weights) ane.Source {
	src := ane.Source{File: file, Text: s.text, Function: s.function}
	if len(s.weights) > 0 {
		src.Weights = weights
	}
	return src
}

// Tree is what the tree of the text takes while it is compiled.
func (s *Source) Tree() Needs { return Needs{Memory: treeBytes * int64(len(s.text))} }

// names is what the source calls its weights.
func (s *Source) names() (names []string) {
	for _, w := range s.weights {
		names = append(names, w.name)
	}
	return names
}

// bytes is how much there is of text and weights.
func (s *Source) bytes() int64 {
	n := int64(len(s.text))
	for _, w := range s.weights {
		n += int64(len(w.data))
	}
	return n
}

// Key is what a compiled program is known by: the SHA-256 of the engine that
// compiled it and of everything that went in.
type Key [sha256.Size]byte

// String is the key in hex digits, the name of its file in a cache.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// ParseKey is the inverse of String.
func ParseKey(s string) (k Key, err error) {
	if len(s) != 2*len(k) || strings.Trim(s, "0123456789abcdef") != "" {
		return k, &ane.Error{Op: "compile", Engine: Name, Name: s, Err: ane.ErrName,
			Detail: "no key of a compiled program", Hint: "send the key of a Compiled"}
	}
	_, err = hex.Decode(k[:], []byte(s))
	return k, err
}

// compilerVersion changes whenever what a cache holds may mean something else.
const compilerVersion = "anekit broker 2"

// Key tells programs apart, and gives way to other compiles while it reads. A program has another key for each
// arithmetic of the engine.
func (s *Source) Key(ctx context.Context, engine ane.Info) (Key, error) {
	h := sha256.New()
	for _, t := range []string{compilerVersion, engine.Name, engine.Chip, engine.Numerics} {
		_ = writePart(ctx, h, []byte(t)) // a hash takes everything
	}
	err := s.write(ctx, h)
	return Key(h.Sum(nil)), err
}

// write writes the parts of the source one after another: what its key is of, and what a cache keeps.
func (s *Source) write(ctx context.Context, w io.Writer) error {
	err := errors.Join(writePart(ctx, w, []byte(s.function)), writePart(ctx, w, s.text))
	for i := 0; err == nil && i < len(s.weights); i++ {
		err = errors.Join(writePart(ctx, w, []byte(s.weights[i].name)), writePart(ctx, w, s.weights[i].data))
	}
	return err
}

// chunk is how much is read between two looks at the context.
const chunk = 256 << 10

// writePart leads a part by its length, so that no two programs run together into the same bytes.
func writePart(ctx context.Context, w io.Writer, b []byte) error {
	_, err := w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(b))))
	for part := range slices.Chunk(b, chunk) {
		if err == nil {
			_, err = w.Write(part)
		}
		if ctx.Err() != nil {
			return ane.Deadline("compile", Name, ctx.Err())
		}
		giveWay(ctx)
	}
	return err
}

// giveWay lets other compiles run, if ctx is the turn of one.
func giveWay(ctx context.Context) {
	if turn, ok := ctx.(interface{ Yield() }); ok {
		turn.Yield()
	}
}

// errEntry is an entry of a cache that differs from what was written.
var errEntry = errors.New("damaged entry")

// parseSource reads what write wrote. The source lies in b.
func parseSource(b []byte) (*Source, error) {
	bad := false
	next := func() (part []byte) {
		if len(b) < 8 || binary.LittleEndian.Uint64(b) > uint64(len(b)-8) {
			bad, b = true, nil
			return nil
		}
		end := 8 + int(binary.LittleEndian.Uint64(b))
		part, b = b[8:end:end], b[end:]
		return part
	}
	s := &Source{function: string(next()), text: next()}
	for len(b) > 0 {
		s.weights = append(s.weights, weight{string(next()), next()})
	}
	if bad || s.sort() != nil {
		return nil, errEntry
	}
	return s, nil
}

// InfoOf is the engine as the programs of a mode see it.
func InfoOf(i ane.Info, m numerics.Mode) ane.Info {
	if m != numerics.Reference {
		i.Numerics = m.Describe()
	}
	return i
}
