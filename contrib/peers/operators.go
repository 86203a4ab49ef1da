package main

import (
	"fmt"
	"math"
	"os"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem/blas"
)

// compiled is a net on the software engine.
func (o options) compiled(t *step.T, make func(*net) value) (*net, *ane.Request) {
	b := build.New()
	n := &net{Func: b.Func("main")}
	y := make(n)
	n.Output("y", y.mil)
	n.node("Identity", "y", []string{y.onnx})
	n.end(12, "y")
	d := step.Must(engine.Open(t.Ctx, engine.Soft, engine.Workers(o.threads)))
	t.Closing(d.Close)
	m := step.Must(d.Compile(t.Ctx, ane.Source{Program: step.Must(b.Program())}))
	t.Later(m.Close)
	r := step.Must(m.NewRequest(t.Ctx))
	t.Closing(r.Close)
	for i, in := range n.inputs {
		step.Must(r.Input(in.name).WriteFloat32(numbers(elements(in.shape), 1000+i, 1)))
	}
	return n, r
}

// products are products of square matrices beside OpenBLAS.
func (o options) products(t *step.T) {
	step.NoError(os.Setenv("OPENBLAS_NUM_THREADS", fmt.Sprint(o.threads)))
	l := step.Must(blas.Open())
	fmt.Println("#", l.Name())
	for _, s := range [][3]int{{256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048},
		{16, 2048, 2048}, {256, 1024, 2816}} {
		rows, inner, columns := s[0], s[1], s[2]
		name := fmt.Sprintf("matmul %dx%dx%d", rows, inner, columns)
		if !o.wants(name) {
			continue
		}
		step.NoError(step.Run(t.Ctx, func(t *step.T) {
			_, r := o.compiled(t, func(n *net) value {
				return n.matmul(n.in("x", rows, inner), n.weight(0, inner, columns))
			})
			on := func(rows, columns int) blas.Matrix {
				return blas.Matrix{Data: numbers(rows*columns, 1, 1), Rows: rows, Cols: columns, Stride: columns}
			}
			a, b, c := on(rows, inner), on(inner, columns), on(rows, columns)
			best := o.pair(func() { step.Must(r.Evaluate(t.Ctx)) }, func() { step.NoError(l.Product(c, a, b)) })
			o.print(name, best[0], best[1], 1.05)
		}))
	}
}

// library is ONNX Runtime in the package of npm.
const library = "node_modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1"

// operators are operators and networks of fp16 beside ONNX Runtime with float32.
func (o options) operators(t *step.T) {
	ort.SetSharedLibraryPath(library)
	step.NoError(ort.InitializeEnvironment())
	t.Closing(ort.DestroyEnvironment)
	fmt.Println("# ONNX Runtime", ort.GetVersion())
	for _, c := range operators() {
		if !o.wants(c.name) {
			continue
		}
		step.NoError(step.Run(t.Ctx, func(t *step.T) {
			n, r := o.compiled(t, c.make)
			run, result := o.session(t, n)
			best := o.pair(func() { step.Must(r.Evaluate(t.Ctx)) }, run)
			o.print(c.name, best[0], best[1], c.wanted)
			same(step.Must(r.Output("y").Float32s()), result())
		}))
	}
}

// session returns a call of ONNX Runtime, and its last result.
func (o options) session(t *step.T, n *net) (run func(), result func() []float32) {
	s := step.Must(ort.NewSessionOptions())
	t.Closing(s.Destroy)
	step.NoError(s.SetIntraOpNumThreads(o.threads))
	step.NoError(s.SetInterOpNumThreads(1))
	var names []string
	var inputs []ort.Value
	for i, in := range n.inputs {
		var shape ort.Shape
		for _, d := range in.shape {
			shape = append(shape, int64(d))
		}
		v := step.Must(ort.NewTensor(shape, numbers(elements(in.shape), 1000+i, 1)))
		t.Closing(v.Destroy)
		names, inputs = append(names, in.name), append(inputs, v)
	}
	net := step.Must(ort.NewDynamicAdvancedSessionWithONNXData(n.model(), names, []string{"y"}, s))
	t.Closing(net.Destroy)
	outputs := []ort.Value{nil} // the first run makes it
	t.Closing(func() error { return outputs[0].Destroy() })
	run = func() { step.NoError(net.Run(inputs, outputs)) }
	return run, func() []float32 { return outputs[0].(*ort.Tensor[float32]).GetData() }
}

// same says so if two results are not those of the same network: their mean magnitudes differ by more than fp16
// explains.
func same(ours, peer []float32) {
	sum := func(v []float32) (s float64) {
		for _, x := range v {
			s += math.Abs(float64(x))
		}
		return s / float64(len(v))
	}
	if a, b := sum(ours), sum(peer); len(ours) != len(peer) || math.Abs(a-b) > .02*(a+b) {
		fmt.Printf("# the results differ: mean magnitude %g of %d, %g of %d\n", a, len(ours), b, len(peer))
	}
}
