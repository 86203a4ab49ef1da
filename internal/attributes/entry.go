package attributes

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/plist"
)

// entry is the entry of one tensor in a list.
type entry struct {
	plist.Dict
	list, path string
	names      [2]string // Symbol, Name; empty where absent
}

// symbol returns the entry's name with its suffix, empty if it has no name.
func (e *entry) symbol() string {
	if e.names[0] != "" {
		return e.names[0]
	}
	return e.names[1]
}

// bare returns a name without Suffix.
func bare(name string) string { return strings.TrimSuffix(name, Suffix) }

// tensor reads type, axes and strides.
func (e *entry) tensor(name string, index int, output bool) (Tensor, error) {
	t := Tensor{Name: name, Index: index, Output: output, List: e.list}
	l := &t.Layout
	l.Name = name
	if v, _ := e.Get("4CCFormat"); v != nil {
		return t, &Error{Path: e.path + ".4CCFormat", Err: ErrImage,
			Msg:  fmt.Sprintf("%q is an image of pixel format %s, not a tensor", name, fourCC(v)),
			Hint: "compile the program with tensor inputs and outputs"}
	}
	var err error
	if t.Type, err = text(e.Dict, e.path, "Type"); err != nil {
		return t, err
	}
	dtype, known := types[t.Type]
	switch {
	case t.Type == "":
		return t, fault(e.path+".Type", "%q has no Type", name)
	case !known:
		return t, &Error{Path: e.path + ".Type", Msg: fmt.Sprintf("%q is of type %.40q", name, t.Type),
			Hint: "known types are " + strings.Join(slices.Sorted(maps.Keys(types)), ", ")}
	}
	l.DType = dtype
	l.Depth = 1
	depthStride, interleave := -1, 1
	for _, n := range [...]struct {
		key      string
		to       *int
		least    int
		optional bool // absent from older lists
	}{
		{"Batches", &l.Batches, 1, false}, {"Channels", &l.Channels, 1, false}, {"Depth", &l.Depth, 1, true},
		{"Height", &l.Height, 1, false}, {"Width", &l.Width, 1, false},
		{"RowStride", &l.RowStride, 0, false}, {"PlaneStride", &l.PlaneStride, 0, false},
		{"DepthStride", &depthStride, 0, true}, {"BatchStride", &l.BatchStride, 0, false},
		{"Interleave", &interleave, 1, true},
	} {
		if n.optional && !has(e.Dict, n.key) {
			continue
		}
		if *n.to, err = number(e.Dict, e.path, n.key, n.least, ane.MaxBytes); err != nil {
			return t, err
		}
	}
	if interleave > 1 {
		return t, &Error{Path: e.path + ".Interleave",
			Msg:  fmt.Sprintf("%q has %d channels interleaved", name, interleave),
			Hint: "anekit supports only tensors with separate planes"}
	}
	if l.DepthStride = depthStride; depthStride < 0 {
		if l.Depth > 1 {
			return t, fault(e.path+".DepthStride", "%q has a depth of %d and no DepthStride", name, l.Depth)
		}
		l.DepthStride = l.BatchStride // the same, since the depth is 1
	}
	l.Shape = []int{l.Batches, l.Channels, l.Height, l.Width}
	if l.Depth > 1 {
		l.Shape = []int{l.Batches, l.Depth, l.Channels, l.Height, l.Width}
	}
	if err := l.Check(); err != nil {
		return t, &Error{Path: e.path, Err: err, Msg: fmt.Sprintf("%q: %s", name, detail(err))}
	}
	return t, nil
}

// detail returns the Detail of a layout error.
func detail(err error) string {
	if e, ok := errors.AsType[*ane.Error](err); ok && e.Detail != "" {
		return e.Detail
	}
	return err.Error()
}

// fourCC formats a pixel format as its four characters if they are printable.
func fourCC(v any) string {
	n, ok := v.(int64)
	if !ok || n < 0 || n > 1<<32-1 {
		return show(v)
	}
	code := []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
	for _, c := range code {
		if c < ' ' || c > '~' {
			return fmt.Sprintf("0x%x", n)
		}
	}
	return string(code)
}
