package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
)

// maxMade bounds a weight file that is made up.
const maxMade = 1 << 30

// weightFiles hands out the program's weight files, and makes up those that are not
// there if it may.
type weightFiles struct {
	dir   string
	fill  fill
	needs map[string][]blob.Need // by path as the program writes it
	order []string               // the paths in the order of the text
	made  []string
}

// newWeights finds out what the program expects of its weight files.
func newWeights(p *mil.Program, dir string, made fill) *weightFiles {
	w := &weightFiles{dir: dir, fill: made, needs: map[string][]blob.Need{}}
	if p == nil {
		return w
	}
	for _, v := range p.Weights() {
		path, offset, err := v.Blob().Entry()
		if err != nil {
			continue // the compiler tells
		}
		if w.needs[path] == nil {
			w.order = append(w.order, path)
		}
		w.needs[path] = append(w.needs[path], blob.Need{Offset: offset, Type: v.Type})
	}
	return w
}

// file is where a path leads, empty if it leaves the model's directory.
func (w *weightFiles) file(path string) string {
	name, ok := strings.CutPrefix(path, blob.ModelPath)
	if !ok || !filepath.IsLocal(filepath.FromSlash(name)) {
		return ""
	}
	return filepath.Join(w.dir, filepath.FromSlash(name))
}

// ReadFile returns the file at path.
func (w *weightFiles) ReadFile(path string) ([]byte, error) {
	data, err := blob.Dir(w.dir).ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	file := w.file(path)
	if w.fill.kind == "" {
		return nil, &blob.Error{File: file, Offset: -1, Msg: "no such file, which should hold " + w.list(path),
			Hint: fmt.Sprintf("put it into %s, name its directory with --model-path, or make its values up with "+
				"--fill-weights random:1", cmp.Or(w.dir, ".")), Err: err}
	}
	if data, err = blob.Blank(file, maxMade, w.needs[path]); err != nil {
		return nil, err
	}
	for _, n := range w.needs[path] {
		size, err := n.Bytes()
		if err != nil {
			return nil, err
		}
		at := int64(n.Offset) + blob.First // metadata is as long as the header
		w.fill.values(n.Type.DType, fmt.Sprintf("%s:%d", path, n.Offset), data[at:at+size])
	}
	if !slices.Contains(w.made, path) {
		w.made = append(w.made, path)
	}
	return data, nil
}

// mostListed bounds the tensors of a missing file that a message names.
const mostListed = 4

// list says what a file should hold: each tensor with type, size and place.
func (w *weightFiles) list(path string) string {
	needs, total := w.needs[path], int64(0)
	var all []string
	for _, n := range needs {
		size, err := n.Bytes()
		if err != nil {
			return n.Type.String()
		}
		total += size
		all = append(all, fmt.Sprintf("%v, %d bytes, at %d", n.Type, size, n.Offset))
	}
	switch n := len(all); {
	case n == 1:
		return all[0]
	case n > mostListed:
		all = append(all[:mostListed], fmt.Sprintf("%d more", n-mostListed))
	}
	return fmt.Sprintf("%d tensors, %d bytes in all (%s)", len(needs), total, strings.Join(all, "; "))
}
