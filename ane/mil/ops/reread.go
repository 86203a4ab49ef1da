package ops

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// Weight is a constant that was read from a weight file. It says what another
// file has to hold in place of it, so that the program need not be analysed again.
type Weight struct {
	Value  *Value // nil with Other
	Other  bool   // of a function that is not the Graph's: the entry has to fit, no more
	Name   string // the constant's, "constant" where it has none
	Type   mil.Type
	Path   string // of the file, as the program writes it
	Offset uint64 // of the entry in it
	Pos    mil.Pos
	// Taken holds the elements when an operator took them for a setting, such as an
	// axis: the Graph holds for these alone. nil when only the type counts.
	Taken []byte
	Notes []string // those of Graph.Notes that the file brought up here
}

// take notes that the elements of v decide about the Graph. w is nil for a value
// that came from no file.
func (w *Weight) take(v *Value) {
	if w != nil && w.Taken == nil {
		w.Taken = slices.Clone(v.Data)
	}
}

// named gives the weights of an analysis their names, which are known behind the
// statement.
func (a *analysis) named() []*Weight {
	for _, w := range a.graph.Weights {
		w.Name = w.Value.Name
	}
	return a.graph.Weights
}

// elsewhere returns the weights of a function whose Graph nobody needs.
func (a *analysis) elsewhere() []*Weight {
	list := a.named()
	for _, w := range list {
		w.Value, w.Other, w.Notes = nil, true, nil
	}
	return list
}

// Entry is what a file holds in place of a Weight.
type Entry struct {
	Data  []byte   // the dense elements, in the bytes of the file; nil when there is no such file
	Notes []string // as Graph.Notes
}

// Reread looks up list in other files, each read once, with the checks that Analyze
// makes. A file is not there when weights is nil or its error matches
// fs.ErrNotExist. The Entries stand in the order of list. file is the name used in
// messages. The faults are as Analyze tells them; what they are about has no Data.
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
			e.Data, err = f.tensor(w.Offset, w.Type)
			if notes := f.warned(file, w); !w.Other {
				e.Notes = notes
			}
		}
		if err != nil {
			fault := w.fault(err)
			fault.File = file
			faults.Add(fault)
		}
		if len(faults) > mil.MaxFaults {
			break // Merge says that there are too many
		}
	}
	return entries, mil.Merge(nil, faults)
}
