package ops

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// Weight is a constant that was read from a weight file. It describes what a
// replacement file must contain, so that the program need not be analyzed again.
type Weight struct {
	Value  *Value // nil if Other
	Other  bool   // belongs to another function than the Graph's: only the type has to fit
	Name   string // name of the constant, "constant" if it has none
	Type   mil.Type
	Path   string // path of the file, as the program writes it
	Offset uint64 // offset of the entry in the file
	Pos    mil.Pos
	// Taken holds the elements when an operator uses them as a setting, such as an
	// axis: the Graph is valid only for these elements. nil when only the type matters.
	Taken []byte
	Notes []string // the entries of Graph.Notes about this constant's file
}

// take records that the Graph depends on the elements of v. w is nil for a value
// that is not from a file.
func (w *Weight) take(v *Value) {
	if w != nil && w.Taken == nil {
		w.Taken = slices.Clone(v.Data)
	}
}

// named sets the names of the weights of an analysis. A name is known only after its
// statement is resolved.
func (a *analysis) named() []*Weight {
	for _, w := range a.graph.Weights {
		w.Name = w.Value.Name
	}
	return a.graph.Weights
}

// elsewhere returns the weights of a function whose Graph is not needed.
func (a *analysis) elsewhere() []*Weight {
	list := a.named()
	for _, w := range list {
		w.Value, w.Other, w.Notes = nil, true, nil
	}
	return list
}

// Entry is the content of another file in place of a Weight.
type Entry struct {
	Data   []byte   // the dense elements, aliasing the file; nil when there is no such file
	Stored []byte   // instead of Data where Value.Stored has the elements of the Graph
	Kept   bool     // the bytes are those of Constants: they stay, and need no copy
	Notes  []string // like Graph.Notes
}

// Reread reads the entries of list from other files, with the same checks as Analyze.
// It reads each file once. A file is missing when weights is nil or the error of
// ReadFile matches fs.ErrNotExist. The Entries are in the order of list. file is the
// name used in messages. Faults are like those of Analyze; a faulty Entry has no Data.
func Reread(file string, list []*Weight, weights Weights) ([]Entry, mil.ErrorList) {
	entries := make([]Entry, len(list))
	if weights == nil {
		return entries, nil
	}
	type opened struct {
		*weightFile
		err error
	}
	files := map[string]opened{}
	var faults mil.ErrorList
	for i, w := range list {
		stored := w.Value != nil && w.Value.Stored != nil
		if e, ok, err := constantOf(weights, w, stored); ok {
			if entries[i] = e; err != nil {
				faults.Add(w.Fault(file, err))
			}
			continue
		}
		f, known := files[w.Path]
		if !known {
			var data []byte
			if data, f.err = weights.ReadFile(w.Path); f.err == nil {
				f.weightFile, f.err = read(data, w.Path)
			} else if errors.Is(f.err, fs.ErrNotExist) {
				f.err = nil
			}
			files[w.Path] = f
		}
		err, e := f.err, &entries[i]
		if f.weightFile != nil {
			*e, err = f.entry(w, stored)
			if notes := f.warned(file, w); !w.Other {
				e.Notes = notes
			}
		}
		if err != nil {
			faults.Add(w.Fault(file, err))
		}
		if len(faults) > mil.MaxFaults {
			break // Merge adds the fault "too many faults"
		}
	}
	return entries, mil.Merge(nil, faults)
}
