package trial

import "github.com/anekit/anekit/ane"

// Surface is how a tensor lies on its surface: rows of values, each followed by padding, then the rest of the surface.
type Surface struct {
	Tensor    string `json:"tensor"`
	Side      string `json:"side"` // input or output
	DType     string `json:"dtype"`
	Shape     []int  `json:"shape"`
	Rows      int    `json:"rows"`
	RowBytes  int    `json:"row_bytes"`     // values of a row
	RowStride int    `json:"row_stride"`    // from a row to the next
	Values    int    `json:"value_bytes"`   // of all rows
	Tensors   int    `json:"tensor_bytes"`  // values and the padding between them
	Bytes     int    `json:"surface_bytes"` // of the memory that the engine maps
}

// SurfaceOf describes a tensor that begins its surface. side is input or output.
func SurfaceOf(side string, t *ane.Tensor) Surface {
	l := t.Layout()
	shape := l.Shape
	if shape == nil {
		shape = []int{}
	}
	return Surface{Tensor: l.Name, Side: side, DType: l.DType.String(), Shape: shape, Rows: l.Rows(),
		RowBytes: l.RowBytes(), RowStride: l.RowStride, Values: l.PackedBytes(), Tensors: l.Bytes(),
		Bytes: len(t.Block().Bytes())}
}

// Surfaces describes the tensors of the Rig, inputs first.
func (r *Rig) Surfaces() []Surface {
	all := []Surface{}
	for _, l := range r.Model.Inputs() {
		all = append(all, SurfaceOf("input", r.In[l.Name]))
	}
	for _, l := range r.Model.Outputs() {
		all = append(all, SurfaceOf("output", r.Out[l.Name]))
	}
	return all
}
