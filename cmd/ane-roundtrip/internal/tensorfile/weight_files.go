package tensorfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/sniff"
)

// maxFilled is the most bytes of a weight file that --fill-weights fills.
const maxFilled = 1 << 30

// WeightFiles reads the weight files of a program. If fill has a kind it fills missing files, and
// those in whose place there is a Git LFS pointer or the like.
type WeightFiles struct {
	dir   string
	fill  Fill
	Needs map[string][]blob.Need // by the path that the program contains
	Order []string               // the paths in the order of the text
	Made  []string               // paths of the files that it filled
	Why   []string               // what is in the place of each: missing, a Git LFS pointer ..
}

// NewWeights collects the tensors that the program expects in its weight files.
func NewWeights(p *mil.Program, dir string, made Fill) *WeightFiles {
	w := &WeightFiles{dir: dir, fill: made, Needs: map[string][]blob.Need{}}
	if p == nil {
		return w
	}
	for _, v := range p.Weights() {
		path, offset, err := v.Blob().Entry()
		if err != nil {
			continue // the compiler reports it
		}
		if w.Needs[path] == nil {
			w.Order = append(w.Order, path)
		}
		w.Needs[path] = append(w.Needs[path], blob.Need{Offset: offset, Type: v.Type})
	}
	return w
}

// File returns the file of a path of the program; empty if the path leaves the model's folder.
func (w *WeightFiles) File(path string) string {
	name, ok := strings.CutPrefix(path, blob.ModelPath)
	if !ok || !filepath.IsLocal(filepath.FromSlash(name)) {
		return ""
	}
	return filepath.Join(w.dir, filepath.FromSlash(name))
}

// ReadFile returns the file at path.
func (w *WeightFiles) ReadFile(path string) ([]byte, error) {
	data, err := blob.Dir(w.dir).ReadFile(path)
	var fault *blob.Error
	if errors.Is(err, fs.ErrPermission) && errors.As(err, &fault) {
		fault.Hint = fmt.Sprintf("make it readable, or name the folder that holds %s with --model-path",
			strings.TrimPrefix(path, blob.ModelPath))
	}
	file, why := w.File(path), "missing"
	if !errors.Is(err, fs.ErrNotExist) {
		found := sniff.Start(file, data[:min(len(data), sniff.Enough)], int64(len(data)))
		if err != nil || w.fill.Kind == "" || !found.Absent() {
			return data, err
		}
		why = found.What
	}
	if w.fill.Kind == "" {
		return nil, &blob.Error{File: file, Offset: -1, Msg: "no such file, expected to hold " + w.list(path),
			Hint: fmt.Sprintf("put the file into %s, name the folder that holds %s with --model-path, or fill it "+
				"with --fill-weights random:1", filepath.Dir(file), strings.TrimPrefix(path, blob.ModelPath)), Err: err}
	}
	if data, err = blob.Blank(file, maxFilled, w.Needs[path]); err != nil {
		return nil, err
	}
	for _, n := range w.Needs[path] {
		size, err := n.Bytes()
		if err != nil {
			return nil, err
		}
		at := int64(n.Offset) + blob.First // metadata is as long as the header
		w.fill.values(n.Type.DType, fmt.Sprintf("%s:%d", path, n.Offset), data[at:at+size])
	}
	if !slices.Contains(w.Made, path) {
		w.Made, w.Why = append(w.Made, path), append(w.Why, why)
	}
	return data, nil
}

// Notes tells of the files that --fill-weights has filled.
func (w *WeightFiles) Notes(values string) (notes []string) {
	for i, path := range w.Made {
		notes = append(notes, fmt.Sprintf("%s is %s; --fill-weights %s filled it", path, w.Why[i], values))
	}
	return notes
}

// Explain completes the faults of the program's weight files: the real file, its size, what it should
// hold, and the flag that names another one.
func (w *WeightFiles) Explain(err error) {
	for _, e := range cli.ProgramErrors(err) {
		e.Msg = regexp.MustCompile(counted).ReplaceAllString(e.Msg, "")
		for _, path := range w.Order {
			what, ok := strings.CutPrefix(e.Msg, "weights "+path+": ") // a broker sends only the text
			if !ok {
				continue
			}
			if info, err := os.Stat(w.File(path)); err == nil {
				e.Msg = fmt.Sprintf("weights %s: %s%s, expected to hold %s", w.File(path), what, sized(what, info.Size()),
					w.list(path))
				e.Hint = strings.TrimPrefix(fmt.Sprintf("%s; put the real file there, or name the folder that holds %s "+
					"with --model-path", e.Hint, strings.TrimPrefix(path, blob.ModelPath)), "; ")
			}
		}
	}
}

// counted is how many constants a fault of a file is about, which list says too.
const counted = `( \(\d+ constants\))$`

// sized names the size of a file for a message, unless what the message says of the file has it.
func sized(what string, size int64) string {
	if strings.Contains(what, "not a weight file: it is ") {
		return ""
	}
	for _, said := range []string{"a file of %d bytes", "%d bytes are too few", "the file, which has %d"} {
		if strings.Contains(what, fmt.Sprintf(said, size)) {
			return ""
		}
	}
	return fmt.Sprintf(", in a file of %d bytes", size)
}

// maxListed is how many tensors of a missing file a message names.
const maxListed = 4

// list describes the tensors that a file should hold: type, size and offset of each.
func (w *WeightFiles) list(path string) string {
	needs, total := w.Needs[path], int64(0)
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
	case n > maxListed:
		all = append(all[:maxListed], fmt.Sprintf("%d more", n-maxListed))
	}
	return fmt.Sprintf("%d tensors, %d bytes in all (%s)", len(needs), total, strings.Join(all, "; "))
}
