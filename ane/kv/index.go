package kv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path/filepath"
	"strings"

	"github.com/zeebo/xxh3"
)

// index names the files of a snapshot in order: the text of a *.safetensors.index.json, with the parts in its
// metadata.
type index struct {
	Metadata struct {
		Checksum string `json:"checksum"` // xxh3 of the text with an empty Checksum
		Format   string `json:"format"`
		Version  string `json:"version"`
		Parts    []part `json:"parts"`
	} `json:"metadata"`
	WeightMap map[string]string `json:"weight_map"`
}

// part is one file of an index.
type part struct {
	File   string `json:"file"` // beside the index
	ID     string `json:"id"`
	First  int    `json:"first"`
	Tokens int    `json:"tokens"`
}

const (
	indexSuffix = ".index.json"
	partMark    = ".part-"
	tempMark    = ".tmp-"
	maxIndex    = 64 << 20
)

// newIndex makes the index of parts, whose headers are like h.
func newIndex(h header, parts []part) *index {
	x := &index{WeightMap: map[string]string{}}
	x.Metadata.Format, x.Metadata.Version, x.Metadata.Parts = "anekit-kv", version, parts
	for _, p := range parts {
		h.first = p.First
		for i := range 2 * h.layers {
			x.WeightMap[h.tensorName(i)] = p.File
		}
		x.WeightMap[h.sums()] = p.File
	}
	return x
}

// text is the canonical text.
func (x *index) text() []byte {
	plain := *x
	plain.Metadata.Checksum = ""
	b, _ := json.MarshalIndent(plain, "", " ") // strings and numbers always have a text
	plain.Metadata.Checksum = fmt.Sprintf("%016x", xxh3.Hash(b))
	b, _ = json.MarshalIndent(plain, "", " ")
	return append(b, '\n')
}

// parseIndex parses the text of an index.
func parseIndex(op, name string, b []byte) (*index, error) {
	var x index
	if err := json.Unmarshal(b, &x); err != nil {
		return nil, damaged(op, name, "index: %v", err)
	}
	if !bytes.Equal(x.text(), b) {
		return nil, damaged(op, name, "checksum of the index differs")
	}
	if x.Metadata.Format != "anekit-kv" || x.Metadata.Version != version {
		return nil, &Error{Op: op, Name: name, Err: ErrVersion,
			Detail: fmt.Sprintf("index of format %.40q version %.40q",
				x.Metadata.Format, x.Metadata.Version)}
	}
	if len(x.Metadata.Parts) < 2 {
		return nil, damaged(op, name, "the index names no further file")
	}
	for i, p := range x.Metadata.Parts {
		if p.File != filepath.Base(p.File) || strings.ContainsAny(p.File, `/\`) || p.Tokens < 0 || p.First < 0 ||
			i > 0 && p.First != x.Metadata.Parts[i-1].First+x.Metadata.Parts[i-1].Tokens {
			return nil, damaged(op, name, "part %d of the index: %.80q at position %d", i, p.File, p.First)
		}
	}
	return &x, nil
}

// chain is the open files of a snapshot, their headers read.
type chain struct {
	sources []source
	open    []file
	parts   []part
}

// Close closes the files.
func (s *chain) Close() (err error) {
	for _, f := range s.open {
		err = errors.Join(err, f.Close())
	}
	return err
}

// openChain opens the snapshot at path: its file, and the further ones if the index beside it is of this file. An
// index of another file is one that a loss of power left when the file was replaced.
func openChain(op string, fs files, path string) (_ *chain, err error) {
	s := &chain{}
	defer func() {
		if err != nil {
			_ = s.Close() // the first failure is the one to report
		}
	}()
	if err := s.add(op, fs, path, nil); err != nil {
		return nil, err
	}
	base := s.sources[0].head
	s.parts = []part{{File: filepath.Base(path), ID: base.id, First: base.first, Tokens: base.tokens}}
	name := path + indexSuffix
	b, err := readSmall(fs, name)
	if errors.Is(err, iofs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, &Error{Op: op, Name: name, Cause: err}
	}
	x, err := parseIndex(op, name, b)
	if err != nil {
		return nil, err
	}
	if p := x.Metadata.Parts[0]; p.ID != base.id || p.First != base.first || p.Tokens != base.tokens {
		return s, nil
	}
	for i := range x.Metadata.Parts[1:] {
		p := &x.Metadata.Parts[1+i]
		if err := s.add(op, fs, filepath.Join(filepath.Dir(path), p.File), p); err != nil {
			return nil, err
		}
		if h := s.sources[1+i].head; h.follows != x.Metadata.Parts[i].ID {
			return nil, damaged(op, p.File, "follows %q, not the part before it", h.follows)
		}
	}
	s.parts = x.Metadata.Parts
	return s, nil
}

// add opens a file, reads its header, and compares its size and, if it is not nil, what the index says of it.
func (s *chain) add(op string, fs files, path string, want *part) error {
	f, size, err := fs.open(path)
	if err != nil {
		if want != nil && errors.Is(err, iofs.ErrNotExist) {
			return &Error{Op: op, Name: path, Err: ErrCorrupt, Detail: "a part of the snapshot is missing", Cause: err}
		}
		return &Error{Op: op, Name: path, Cause: err}
	}
	s.open = append(s.open, f)
	h, raw, err := readHeader(op, path, f)
	if err != nil {
		return err
	}
	if have := len(raw) + h.total(); int64(have) != size {
		return damaged(op, path, "%d bytes, the header describes %d", size, have)
	}
	if want != nil && (h.id != want.ID || h.first != want.First || h.tokens != want.Tokens) {
		return damaged(op, path, "the index describes another file of this name")
	}
	at, _ := f.(io.ReaderAt)
	s.sources = append(s.sources, source{r: f, at: at, name: path, head: h, raw: raw})
	return nil
}

// readSmall reads a file of at most maxIndex bytes.
func readSmall(fs files, path string) ([]byte, error) {
	f, _, err := fs.open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxIndex))
	return b, closing(f, err)
}
