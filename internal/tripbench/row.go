package tripbench

import (
	"context"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

// width is the number of elements of a row: 64 bytes, the alignment of rows.
const width = 32

// row is a program, loaded and bound, whose work does not depend on the size of its
// input: it copies the last row.
type row struct {
	model   *ane.Model
	request *ane.Request
	blocks  []*unimem.Block
	result  *ane.Tensor
}

// source returns the program for an input of the given size.
func source(bytes int) (ane.Source, error) {
	planes := bytes / (512 * width * 2)
	b := mil.NewBuilder()
	f := b.Func("main")
	x := f.Input("x", mil.FP16, 1, planes, 512, width)
	f.Output(f.Op("slice_by_size", mil.TensorOf(mil.FP16, 1, 1, 1, width), "y", mil.A("x", x),
		mil.A("begin", f.Const("begin", mil.Int32s(0, planes-1, 511, 0))),
		mil.A("size", f.Const("size", mil.Int32s(1, 1, 1, width)))))
	p, err := b.Program()
	if err != nil {
		return ane.Source{}, err
	}
	return ane.Source{File: "row.mil", Text: mil.Print(p)}, nil
}

// openRow loads the program on d. The caller must call close, also after an error.
func openRow(ctx context.Context, d *ane.Device, bytes int) (r *row, err error) {
	r = &row{}
	src, err := source(bytes)
	if err != nil {
		return r, err
	}
	if r.model, err = d.Compile(ctx, src); err != nil {
		return r, err
	}
	if err := r.model.Load(ctx); err != nil {
		return r, err
	}
	tensors := map[string]*ane.Tensor{}
	for _, l := range append(r.model.Inputs(), r.model.Outputs()...) {
		b, err := unimem.Open(l.Bytes())
		if err != nil {
			return r, err
		}
		r.blocks = append(r.blocks, b)
		if tensors[l.Name], err = ane.OnBlock(b, l); err != nil {
			return r, err
		}
	}
	if err := tensors["x"].Set(7, 0, r.model.Inputs()[0].Channels-1, 511, 3); err != nil {
		return r, err
	}
	r.result = tensors["y"]
	r.request, err = r.model.Bind(map[string]*ane.Tensor{"x": tensors["x"]}, map[string]*ane.Tensor{"y": r.result})
	return r, err
}

func (r *row) evaluate() error {
	_, err := r.model.Evaluate(context.Background(), r.request)
	return err
}

// check checks the last row of the result.
func (r *row) check() error {
	if v, err := r.result.At(0, 0, 0, 3); err != nil || v != 7 {
		return errors.Join(err, fmt.Errorf("tripbench: the result is %v, want 7", v))
	}
	return nil
}

func (r *row) close(ctx context.Context) error {
	var errs []error
	if r.request != nil {
		errs = append(errs, r.request.Close())
	}
	if r.model != nil {
		errs = append(errs, r.model.Close(ctx))
	}
	for _, b := range r.blocks {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}
