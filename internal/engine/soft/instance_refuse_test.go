package soft_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/engine/soft"
)

// failing is a source of weights that fails to read.
type failing struct{ err error }

func (f failing) ReadFile(string) ([]byte, error) { return nil, f.err }

// TestInstanceRefusals: files that Compile rejects are rejected with the position in
// the program, and so are files that change the program's structure.
func TestInstanceRefusals(t *testing.T) {
	r, e := seeded(t), soft.New()
	axes, size := nd{mil.Int32, []int{1}, []float64{1}}, nd{mil.Int32, []int{2}, []float64{3, 2}}
	weights := []nd{weight(r, mil.FP16, 2, 3), axes, size, weight(r, mil.FP16, 7)}
	p := withWeights(t, "tensor<fp16, [2, 3]> x", weights, `tensor<fp16, [2, 3]> a = add(x = x, y = w0);
tensor<fp16, [2, 1]> b = reduce_sum(x = a, axes = w1, keep_dims = bool(true));
tensor<fp16, [2, 3]> c = mul(x = a, y = b);
tensor<fp16, [7]> dead = relu(x = w3);
tensor<fp16, [3, 2]> y = reshape(x = c, shape = w2);`, "y")
	p.text = p.text[:len(p.text)-2] + "func other<ios18>(tensor<fp16, [2]> x) {\n" +
		weightDecl("w", weightPath(4), 64, mil.FP16, []int{2}) +
		"\ntensor<fp16, [2]> y = add(x = x, y = w);\n} -> (y);\n}\n"
	p.files[weightPath(4)] = weightFile(t, weight(r, mil.FP16, 2))
	base := compileOn(t, e, p.text, p.files)
	before := runOn(t, base, 1)
	one := func(i int, x nd) files { return files{weightPath(i): weightFile(t, x)} }
	for name, c := range map[string]struct {
		w    ane.Weights
		want error
		line int
		text string
	}{
		"no weight file": {files{weightPath(0): []byte("short")}, blob.ErrFormat, 4,
			"not a weight file: it is text"},
		"empty":              {files{weightPath(0): nil}, blob.ErrFormat, 4, "not a weight file: it is empty"},
		"another type":       {one(0, weight(r, mil.FP32, 2, 3)), blob.ErrType, 4, "the program declares"},
		"another size":       {one(0, weight(r, mil.FP16, 2, 4)), blob.ErrSize, 4, "needs 12"},
		"a dead weight":      {one(3, weight(r, mil.FP16, 6)), blob.ErrSize, 7, weightPath(3)},
		"another function's": {one(4, weight(r, mil.FP16, 3)), blob.ErrSize, 15, weightPath(4)},
		"cut off":            {files{weightPath(0): p.files[weightPath(0)][:130]}, nil, 4, weightPath(0)},
		"unreadable":         {failing{errors.New("no medium")}, nil, 4, "no medium"},
		"an axis": {one(1, nd{mil.Int32, []int{1}, []float64{0}}), ane.ErrMismatch, 5,
			"w1 sets the program's structure"},
		"an axis, to the same": {one(1, nd{mil.Int32, []int{1}, []float64{-1}}), ane.ErrMismatch, 5, "w1 sets"},
		"a shape":              {one(2, nd{mil.Int32, []int{2}, []float64{2, 3}}), ane.ErrMismatch, 6, "w2 sets"},
		"an axis out of range": {one(1, nd{mil.Int32, []int{1}, []float64{9}}), ane.ErrMismatch, 5, "w1 sets"},
		"a good and a bad weight": {files{weightPath(0): p.files[weightPath(0)], weightPath(3): []byte("x")},
			blob.ErrFormat, 7, weightPath(3)},
	} {
		t.Run(name, func(t *testing.T) {
			own, err := base.(instancer).NewInstance(context.Background(), c.w)
			require.Nil(t, own)
			require.ErrorIs(t, err, ane.ErrCompile)
			if c.want != nil {
				require.ErrorIs(t, err, c.want)
			}
			var list mil.ErrorList
			require.ErrorAs(t, err, &list)
			require.Equal(t, "test.mil", list[0].File)
			require.Equal(t, c.line, list[0].Pos.Line)
			require.ErrorContains(t, err, c.text)
			require.ErrorContains(t, err, "ane: instance on soft: test.mil")
			if f, ok := c.w.(files); ok && c.want != ane.ErrMismatch {
				_, fresh := e.Compile(context.Background(), ane.Source{File: "test.mil", Text: []byte(p.text),
					Weights: f.over(p.files)})
				var same mil.ErrorList
				require.ErrorAs(t, fresh, &same)
				require.Equal(t, same.Error(), list.Error(), "the message of Compile")
			}
		})
	}
	var list mil.ErrorList
	_, err := base.(instancer).NewInstance(context.Background(),
		one(0, zeros(mil.FP16, 1)).over(one(3, zeros(mil.FP16, 1))))
	require.ErrorAs(t, err, &list)
	require.Len(t, list, 2, "the error lists both faults")
	_, err = base.(instancer).NewInstance(context.Background(),
		one(0, zeros(mil.FP16, 1)).over(one(1, zeros(mil.Int32, 1))))
	require.ErrorAs(t, err, &list)
	require.Len(t, list, 2, "the error lists faults of both kinds")
	require.ErrorIs(t, err, ane.ErrMismatch)
	require.ErrorIs(t, err, blob.ErrSize)

	for name, w := range map[string]ane.Weights{
		"none": nil, "no file": files{}, "not there": failing{fs.ErrNotExist},
		"foreign":                 files{"@model_path/else.bin": []byte("x")},
		"the same axis and shape": one(1, axes).over(one(2, size)),
	} {
		requireSame(t, p.text, base, instanceOf(t, base, w), 1)
		require.Equal(t, before, runOn(t, base, 1), name)
	}
	require.NoError(t, e.Close())
}

// TestInstanceCopiesWeights: changes to the caller's bytes after the call have no
// effect.
func TestInstanceCopiesWeights(t *testing.T) {
	r, e := seeded(t), soft.New()
	weights := []nd{weight(r, mil.FP16, 3, 40), weight(r, mil.FP16, 2, 40)}
	p := withWeights(t, "tensor<fp16, [2, 3]> x", weights,
		"tensor<fp16, [2, 40]> a = matmul(x = x, y = w0);\ntensor<fp16, [2, 40]> y = add(x = a, y = w1);", "y")
	base := compileOn(t, e, p.text, p.files)
	own := refill(t, r, weights, 0, 1)
	inst := instanceOf(t, base, own)
	want := runOn(t, inst, 1)
	for _, data := range own {
		clear(data)
	}
	require.NoError(t, base.Close())
	require.Equal(t, want, runOn(t, inst, 1))
	require.NoError(t, inst.Close())
	require.NoError(t, e.Close())
}

// TestInstanceNotes: replacing a file removes its notes and adds those of its
// replacement.
func TestInstanceNotes(t *testing.T) {
	r, e := seeded(t), soft.New()
	weights := []nd{weight(r, mil.FP16, 2), weight(r, mil.FP16, 2)}
	p := withWeights(t, "tensor<fp16, [2]> x", weights,
		"tensor<fp16, [2]> a = add(x = x, y = w0);\ntensor<fp16, [2]> y = add(x = a, y = w1);", "y")
	p.files[weightPath(0)][20] = 1 // the header's reserved bytes
	base := compileOn(t, e, p.text, p.files)
	require.Len(t, base.Notes(), 1)
	own := refill(t, r, weights, 0, 1)
	own[weightPath(1)][20] = 1
	inst := instanceOf(t, base, own)
	require.Len(t, inst.Notes(), 1)
	require.Contains(t, inst.Notes()[0], weightPath(1))
	require.Equal(t, compileOn(t, e, p.text, own).Notes(), inst.Notes())
	require.Contains(t, base.Notes()[0], weightPath(0))
	require.Equal(t, inst.Notes(), instanceOf(t, base, own).Notes(), "a second instance")
	require.Equal(t, base.Notes(), instanceOf(t, inst, p.files).Notes())
	require.NoError(t, e.Close())
}

// TestInstanceUnaligned replaces aligned entries, and entries of constants that are used
// twice, by entries that start at an odd byte, as some writers produce.
func TestInstanceUnaligned(t *testing.T) {
	r, e := seeded(t), soft.New()
	weights := []nd{weight(r, mil.FP16, 2, 3)}
	again := weightDecl("again", weightPath(0), 64, mil.FP16, []int{3, 2})
	p := withWeights(t, "tensor<fp16, [2, 3]> x", weights, again+
		"\ntensor<fp16, [2, 2]> a = matmul(x = x, y = again);\ntensor<fp16, [2, 3]> y = matmul(x = a, y = w0);", "y")
	base := compileOn(t, e, p.text, p.files)
	for range 3 {
		own := refill(t, r, weights, 0)
		good := own[weightPath(0)]
		unaligned := append(append(append([]byte{}, good[:128]...), 0), good[128:]...)
		le.PutUint64(unaligned[64+16:], 129)
		x := instanceOf(t, base, files{weightPath(0): unaligned})
		requireSame(t, p.text, compileOn(t, e, p.text, files{weightPath(0): unaligned}), x, 1)
		require.Equal(t, runOn(t, compileOn(t, e, p.text, own), 1), runOn(t, x, 1))
	}
	require.NoError(t, e.Close())
}

// TestInstanceCancelled: the error of an ended context matches the context's.
func TestInstanceCancelled(t *testing.T) {
	r, e := seeded(t), soft.New()
	weights := []nd{weight(r, mil.FP16, 2, 3)}
	p := withWeights(t, "tensor<fp16, [2, 3]> x", weights,
		"tensor<fp16, [2, 3]> c = exp(x = w0);\ntensor<fp16, [2, 3]> y = add(x = x, y = c);", "y")
	base := compileOn(t, e, p.text, p.files)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := base.(instancer).NewInstance(ctx, refill(t, r, weights, 0))
	require.ErrorIs(t, err, ane.ErrDeadline)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, e.Close())
}

// TestConcurrentInstances makes, runs and closes instances from many goroutines while the
// base runs and after it is closed.
func TestConcurrentInstances(t *testing.T) {
	r, e := seeded(t), soft.New()
	weights := []nd{weight(r, mil.FP16, 40, 33), weight(r, mil.FP16, 33, 40), weight(r, mil.FP16, 40)}
	p := withWeights(t, "tensor<fp16, [8, 40]> x", weights, `tensor<fp16, [40, 40]> w = matmul(x = w0, y = w1);
tensor<fp16, [8, 40]> a = matmul(x = x, y = w);
tensor<fp16, [8, 33]> b = matmul(x = a, y = w0);
tensor<fp16, [8, 40]> y = linear(x = a, weight = w, bias = w2);`, "y, b")
	base := compileOn(t, e, p.text, p.files)
	const kinds = 7
	var own [kinds]files
	var want [kinds]map[string][]byte
	for i := range kinds {
		var which []int
		for k := range weights {
			if (i+1)>>k&1 != 0 {
				which = append(which, k)
			}
		}
		own[i] = refill(t, r, weights, which...)
		want[i] = runOn(t, compileOn(t, e, p.text, own[i].over(p.files)), 1)
	}
	before := runOn(t, base, 1)
	var all sync.WaitGroup
	all.Go(func() {
		for range 30 {
			if fmt.Sprint(before) != fmt.Sprint(runOn(t, base, 1)) {
				t.Error("the base changed")
			}
		}
	})
	for i := range kinds {
		all.Go(func() {
			for range 10 {
				x := instanceOf(t, base, own[i])
				y := instanceOf(t, x, own[i])
				for _, one := range []ane.Executable{x, y} {
					if fmt.Sprint(want[i]) != fmt.Sprint(runOn(t, one, 1)) {
						t.Errorf("instance %d differs", i)
					}
					if err := one.Close(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	x := instanceOf(t, base, own[0])
	require.NoError(t, base.Close())
	require.Equal(t, want[0], runOn(t, x, 1))
	require.Equal(t, want[2], runOn(t, instanceOf(t, instanceOf(t, x, p.files), own[2]), 1),
		"an instance of a closed base")
	require.NoError(t, e.Close())
}
