package build

// What Conv and the pools have in common: a window that slides over the spatial axes
// of x, which are the last one to three.

// Strides are the steps of the window along each spatial axis; in SliceByIndex the
// steps along each axis. The default is 1.
type Strides []int

// Padding is the number of zeros around x, a pair for each spatial axis: top, bottom,
// left, right. The default is none.
type Padding []int

// PadType is a rule for the padding.
type PadType string

// The rules for the padding.
const (
	Valid     PadType = "valid"      // none: the default
	Same      PadType = "same"       // at stride 1 the result is as large as x; an odd zero is at the end
	SameLower PadType = "same_lower" // like Same, but an odd zero is at the start
)

func (s Strides) conv(w *window) { w.strides = s }
func (s Strides) pool(w *window) { w.strides = s }
func (p Padding) conv(w *window) { w.padding, w.padType = p, "custom" }
func (p Padding) pool(w *window) { w.padding, w.padType = p, "custom" }
func (p PadType) conv(w *window) { w.padding, w.padType = nil, p }
func (p PadType) pool(w *window) { w.padding, w.padType = nil, p }

type window struct {
	strides   Strides
	padding   Padding
	padType   PadType
	dilations Dilations // conv
	groups    Groups    // conv
	shape     OutputShape
	bias      *Bias
	ceil      CeilMode // pools
	exclude   ExcludePadding
}

// spatial is the number of spatial axes of x.
func spatial(x Value) int { return max(x.rank()-2, 1) }

// slide adds the arguments strides, pad_type and pad.
func (c *call) slide(w window, n int) *call {
	if w.padType == "" {
		w.padType = Valid
	}
	padding := []int(w.padding)
	if w.padType != "custom" {
		padding = make([]int, 2*n)
	}
	return c.ints("pad", padding).word("pad_type", string(w.padType)).ints("strides", or(w.strides, 1, n))
}

// or returns list, or n times def if list is nil.
func or[T any, L ~[]T](list L, def T, n int) []T {
	if list != nil {
		return list
	}
	all := make([]T, n)
	for i := range all {
		all[i] = def
	}
	return all
}
