package build

import "github.com/anekit/anekit/ane/mil"

// KeepDims keeps the reduced axes with length 1, instead of dropping them.
type KeepDims bool

// IndexType is the type of indexes: int32, the default, or uint16.
type IndexType mil.DType

func (k KeepDims) set(c *call) { c.put("keep_dims", bool(k)) }

func (t IndexType) set(c *call) {
	name := "output_dtype"
	if c.kind == "topk" {
		name = "output_indices_dtype"
	}
	c.put(name, mil.DType(t))
}

// ReduceArgmax returns the index of the maximum along axis. Of equal elements it returns one, the software engine the
// first. Apple's engine is known to refuse it.
func (f *Func) ReduceArgmax(x Value, axis int, options ...Optional) Value {
	return f.plain("reduce_argmax", x, axis, options)
}

// ReduceArgmin returns the index of the minimum along axis, like ReduceArgmax.
func (f *Func) ReduceArgmin(x Value, axis int, options ...Optional) Value {
	return f.plain("reduce_argmin", x, axis, options)
}

// fold writes an operator over axes, or over all axes, the default, if the list is empty.
func (f *Func) fold(kind string, x Value, axes []int, options []Optional) Value {
	if len(axes) == 0 {
		return f.plain(kind, x, options)
	}
	return f.plain(kind, x, axes, options)
}
