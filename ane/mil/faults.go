package mil

import (
	"context"
	"fmt"
	"slices"
)

// Limits of a program.
const (
	// MaxFaults is how many faults Parse and Validate report before they stop with the fault "too many faults".
	MaxFaults = 100
	// MaxNesting is how deep types, operands, literals and blocks nest. Programs in use stay below ten.
	MaxNesting = 100
)

// faults collects faults up to the limit.
type faults struct {
	file string
	list ErrorList
	full bool // more faults were found than the list holds
}

// add collects a fault and reports whether the list had room for it.
func (f *faults) add(e *Error) bool {
	if len(f.list) >= MaxFaults {
		f.full = true
		return false
	}
	e.File = f.file
	f.list.Add(e)
	return true
}

// err returns the sorted list; if faults were left out, its last fault says so.
func (f *faults) err() error {
	if f.full {
		return cut(f.list)
	}
	return f.list.Err()
}

// Merge returns the faults of both lists in order of position, up to MaxFaults. Where both have faults at the same
// place, Merge keeps those of l.
func (l ErrorList) Merge(second ErrorList) ErrorList {
	seen := map[Pos]bool{}
	all := slices.Clone(l)
	for _, e := range l {
		seen[e.Pos] = true
	}
	for _, e := range second {
		if !e.Pos.Known() || !seen[e.Pos] {
			all.Add(e)
		}
	}
	if len(all) > MaxFaults {
		return cut(all)
	}
	all.sort()
	return all
}

// cut keeps the first MaxFaults faults of list and adds the fault "too many faults".
func cut(list ErrorList) ErrorList {
	list.sort()
	list = list[:MaxFaults]
	last := list[MaxFaults-1]
	return append(list, &Error{File: last.File, Pos: last.Pos, Msg: "too many faults",
		Hint: fmt.Sprintf("fix these %d first", MaxFaults)})
}

// watch has the reading of a program end with a context, which it asks after every watchStride parts: tokens,
// statements, operands or elements. That is after some hundred microseconds.
type watch struct {
	ctx   context.Context
	parts int
	err   error // of the context
}

const watchStride = 4096

// ended counts one part, and reports whether the context has ended.
func (w *watch) ended() bool {
	if w.parts++; w.parts%watchStride == 0 && w.err == nil {
		w.err = w.ctx.Err()
	}
	return w.err != nil
}

// fault counts one part, and returns the fault of a context that has ended, or nil.
func (w *watch) fault() *Error {
	if !w.ended() {
		return nil
	}
	return &Error{Msg: "not read to its end: " + w.err.Error(), Err: w.err}
}
