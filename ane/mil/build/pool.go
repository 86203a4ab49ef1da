package build

// PoolOption is Strides, Padding, a PadType or CeilMode.
type PoolOption interface{ pool(*window) }

// AvgPoolOption is a PoolOption or ExcludePadding.
type AvgPoolOption interface{ avgPool(*window) }

// CeilMode adds one more window along an axis when the strides leave a remainder.
type CeilMode bool

// ExcludePadding divides by the number of elements of the window inside x, not by all.
type ExcludePadding bool

func (m CeilMode) pool(w *window)          { w.ceil = m }
func (e ExcludePadding) avgPool(w *window) { w.exclude = e }
func (s Strides) avgPool(w *window)        { s.pool(w) }
func (p Padding) avgPool(w *window)        { p.pool(w) }
func (p PadType) avgPool(w *window)        { p.pool(w) }
func (m CeilMode) avgPool(w *window)       { m.pool(w) }

// MaxPool returns the maximum of each window of x [N, C, H, W], [N, C, W] or [N, C, D, H, W]; kernel is
// the window's length along each spatial axis.
func (f *Func) MaxPool(x Value, kernel []int, options ...PoolOption) Value {
	var w window
	for _, o := range given(options) {
		o.pool(&w)
	}
	return f.pool("max_pool", x, kernel, w).one()
}

// AvgPool returns the mean of each window of x [N, C, H, W], [N, C, W] or [N, C, D, H, W]; kernel is
// the window's length along each spatial axis.
func (f *Func) AvgPool(x Value, kernel []int, options ...AvgPoolOption) Value {
	var w window
	for _, o := range given(options) {
		o.avgPool(&w)
	}
	return f.pool("avg_pool", x, kernel, w).bool("exclude_padding_from_average", bool(w.exclude)).one()
}

// L2Pool returns the square root of the sum of squares of each window, like MaxPool.
func (f *Func) L2Pool(x Value, kernel []int, options ...PoolOption) Value {
	var w window
	for _, o := range given(options) {
		o.pool(&w)
	}
	return f.pool("l2_pool", x, kernel, w).one()
}

func (f *Func) pool(kind string, x Value, kernel []int, w window) *call {
	return f.call(kind).value("x", x).bool("ceil_mode", bool(w.ceil)).ints("kernel_sizes", kernel).slide(w, spatial(x))
}
