package lint

import (
	"cmp"
	"errors"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/internal/ops"
)

// entry is a place of a weight file that the program names.
type entry struct {
	path   string
	offset uint64
	end    uint64 // after the elements
	pos    mil.Pos
}

// entries lists the places of weight files, in the order of the text.
func (r *run) entries() (all []entry) {
	for _, v := range r.prog.Weights() {
		p, offset, err := v.Blob().Entry()
		if err != nil {
			continue
		}
		size := uint64(0)
		if n, err := (blob.Need{Offset: offset, Type: v.Type}).Bytes(); err == nil {
			size = uint64(n)
		}
		all = append(all, entry{p, offset, offset + blob.First + size, v.Blob().Pos})
	}
	return all
}

// misplaced reports whether no weight file has an entry at an offset.
func misplaced(offset uint64) bool { return offset == 0 || offset%64 != 0 || offset == 128 }

func checkOffset(c *check) {
	for _, e := range c.entries() {
		switch {
		case !misplaced(e.offset):
		case e.offset == 0:
			c.error(e.pos, "", "offset 0 is the header of %s", near.Cut(e.path))
		case e.offset%64 != 0:
			c.error(e.pos, "", "offset %d of %s is not a multiple of 64", e.offset, near.Cut(e.path))
		default:
			c.error(e.pos, "", "offset 128 of %s is where the elements of the first entry start", near.Cut(e.path))
		}
	}
}

func checkOverlap(c *check) {
	all := c.entries()
	slices.SortStableFunc(all, func(a, b entry) int {
		return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.offset, b.offset))
	})
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		if a.path == b.path && a.offset != b.offset && b.offset < a.end && b.offset%64 == 0 && a.offset > 0 &&
			b.offset != 128 {
			c.error(b.pos, "", "offset %d of %s lies within the entry at %d, which ends at %d", b.offset,
				near.Cut(b.path), a.offset, a.end)
		}
	}
}

func checkPath(c *check) {
	for _, e := range c.entries() {
		rest, ok := strings.CutPrefix(e.path, blob.ModelPath)
		clean := path.Clean("/" + rest)
		switch {
		case !ok:
			c.error(e.pos, "", "path %s does not start with @model_path/", near.Cut(e.path))
		case strings.HasPrefix(rest, "/") || strings.Contains("/"+rest+"/", "/../") || strings.Contains(rest, "\\") ||
			strings.Contains(rest, "\x00") ||
			clean == "/":
			c.error(e.pos, "", "path %s leaves the folder of the model", near.Cut(e.path))
		}
	}
}

// severalFiles is the first release whose framework is known to refuse several weight files.
const severalFiles chip.OS = 27

func checkFiles(c *check) {
	if c.OS != 0 && c.OS < severalFiles {
		return
	}
	first := ""
	for _, e := range c.entries() {
		if first == "" {
			first = e.path
		}
		if e.path != first {
			c.warn(e.pos, "", "%s is another weight file than %s", near.Cut(e.path), near.Cut(first))
			return
		}
	}
}

func checkBudget(c *check) {
	sum := uint64(0)
	seen := map[entry]bool{}
	var pos mil.Pos
	for _, e := range c.entries() {
		k := entry{path: e.path, offset: e.offset}
		if !seen[k] {
			seen[k] = true
			sum += min(e.end-e.offset, 1<<50)
		}
		if !pos.Known() {
			pos = e.pos
		}
	}
	if limit := c.spec.WeightBytes.Value; sum > uint64(limit) {
		c.note(pos, "", "%d bytes of weights; on an M3 Pro about %d were the most that loaded", sum, limit)
	}
}

func checkLoads(c *check) {
	if n := c.spec.Loaded.Value; c.Programs > n {
		c.warn(c.prog.Pos, "", "%d programs, at most %d are loaded", c.Programs, n)
	}
}

// maxElements is the largest number of elements of a constant that lint reads.
const maxElements = 1 << 27

// absence is a weight file that is not there.
type absence struct {
	path string
	pos  mil.Pos // of the first constant
	n    int     // constants
}

// readWeights reads the constants in files, as far as they are there, and keeps what is wrong with the files.
func (r *run) readWeights() {
	var list []*ops.Weight
	var values []*mil.Value
	for _, v := range r.prog.Weights() {
		path, offset, err := v.Blob().Entry()
		if n, fixed := v.Type.Elements(); err == nil && fixed && n <= maxElements {
			w := &ops.Weight{Type: v.Type, Path: path, Offset: offset, Pos: v.Blob().Pos}
			if v.Type.DType.Size() == 0 {
				w.Value = &ops.Value{Stored: []byte{0}} // its elements stay packed
			}
			list, values = append(list, w), append(values, v)
		}
	}
	entries, broken := ops.Reread("", list, r.Weights)
	r.broken = broken
	files := map[string]*absence{}
	for i, e := range entries {
		r.weights[values[i]] = e.Data
		w := list[i]
		if e.Data != nil || e.Stored != nil || r.Weights == nil {
			continue
		}
		if files[w.Path] == nil {
			files[w.Path] = &absence{path: w.Path, pos: w.Pos}
			if _, err := r.Weights.ReadFile(w.Path); errors.Is(err, fs.ErrNotExist) {
				r.absent = append(r.absent, files[w.Path])
			}
		}
		files[w.Path].n++
	}
}

// checkWeightFile says what run refuses in weight files. What other rules say of offsets and paths it leaves out. Of
// the offsets without an entry in one file it tells the first, with their number.
func checkWeightFile(c *check) {
	for _, a := range c.absent {
		const fix = "get the file, or fill it with --fill-weights"
		c.note(a.pos, fix, "no weight file %s; constants in it: %d", near.Cut(a.path), a.n)
	}
	nowhere := map[string]int{} // constants of a file at offsets without an entry
	for _, e := range c.broken {
		if at := noEntry(e); at != nil {
			nowhere[at.File]++
		}
	}
	for _, e := range c.broken {
		switch at := noEntry(e); {
		case at != nil && nowhere[at.File] > 1:
			c.error(e.Pos, e.Hint, "%s (%d constants of the file name no entry)", e.Msg, nowhere[at.File])
			nowhere[at.File] = 0
		case at != nil && nowhere[at.File] == 1, !errors.Is(e, fs.ErrInvalid) && !errors.Is(e, blob.ErrOffset):
			c.error(e.Pos, e.Hint, "%s", e.Msg)
		}
	}
}

// noEntry returns the fault of an offset without an entry that blob-offset does not know from the program alone; nil
// for another fault.
func noEntry(e *mil.Error) *blob.Error {
	at := (*blob.Error)(nil)
	if errors.Is(e, blob.ErrOffset) && errors.As(e, &at) && !misplaced(uint64(at.Offset)) {
		return at
	}
	return nil
}

// elements returns the elements of a constant; nil if they are not known.
func (r *run) elements(v *ops.Value) []float64 {
	if v == nil || v.Literal == nil || v.Open || v.Elements() > maxElements {
		return nil
	}
	if v.Literal.Blob() == nil {
		return literal(v)
	}
	read := ops.Value{DType: v.DType, Shape: v.Shape, Data: r.weights[v.Literal]}
	return read.Floats()
}

// spanOf returns the span of elements; unknown if one is not finite.
func spanOf(list []float64) span {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, x := range list {
		lo, hi = min(lo, x), max(hi, x)
	}
	return between(lo, hi)
}
