package build_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/ops"
)

// tape reads choices from a fuzzer's bytes, zeros after their end.
type tape struct{ left []byte }

func (t *tape) next() int {
	if len(t.left) == 0 {
		return 0
	}
	n := t.left[0]
	t.left = t.left[1:]
	return int(n)
}

// number is usually a length that fits, sometimes an invalid one.
func (t *tape) number() int {
	return []int{1, 2, 4, 8, 3, -1, 0, 32, 1, 2, 4, -2, 1 << 31, -1 << 62, 16, 1}[t.next()%16]
}

func (t *tape) numbers(most int) []int {
	var list []int
	for range t.next() % (most + 1) {
		list = append(list, t.number())
	}
	return list
}

// box returns a number for each axis of x, def for most.
func (t *tape) box(x build.Value, def int) []int {
	list := make([]int, len(x.Shape()))
	for i := range list {
		if list[i] = def; t.next()%4 == 0 {
			list[i] = t.number()
		}
	}
	return list
}

func (t *tape) bools(most int) (list []bool) {
	for range t.next() % (most + 1) {
		list = append(list, t.next()%2 == 1)
	}
	return list
}

func (t *tape) name() string {
	return []string{"x", "y", "w", "relu_0", "axis", "const_0", "pad", "a", "b", "c", "1", "tensor", "", "pad_1",
		"strides", "add_0"}[t.next()%16]
}

func (t *tape) dtype() mil.DType {
	return []mil.DType{mil.FP16, mil.FP16, mil.FP16, mil.FP32, mil.Bool, mil.Int32, mil.Int8, mil.Int4, mil.String,
		mil.NoType, mil.DType(99), mil.UInt16}[t.next()%12]
}

func pick[T any](t *tape, list []T) T { return list[t.next()%len(list)] }

// session is a Builder with its functions and values.
type session struct {
	*tape
	b      *build.Builder
	funcs  []*build.Func
	values []build.Value
}

func (s *session) value() build.Value { return pick(s.tape, s.values) }

// step makes one call, chosen by the bytes.
func (s *session) step() {
	f, x := pick(s.tape, s.funcs), s.value()
	keep := func(v ...build.Value) { s.values = append(s.values, v...) }
	switch s.next() % 40 {
	case 0:
		if g := s.b.Func(s.name()); len(s.funcs) < 4 {
			s.funcs = append(s.funcs, g)
		}
	case 1, 2:
		keep(f.Input(s.name(), s.dtype(), s.numbers(6)...))
	case 3:
		shape := s.numbers(4)
		keep(f.Weight(s.name(), make([]float32, s.next()%9), shape...))
	case 4:
		t := mil.TensorOf(s.dtype(), s.numbers(4)...)
		keep(f.WeightFrom(s.name(), t, func() (io.ReadCloser, error) {
			size, err := blob.Need{Type: t}.Bytes()
			if err == nil && size > 1<<20 {
				err = errors.New("too much for a test")
			}
			if err != nil {
				return nil, err
			}
			return io.NopCloser(bytes.NewReader(make([]byte, size))), nil
		}))
	case 5:
		keep(f.Const(s.name(), mil.Ints(mil.TensorOf(s.dtype(), s.number()), s.numbers(3))))
	case 6:
		keep(f.Scalar(float64(s.number())))
	case 7:
		keep(f.Share(x))
	case 8, 9, 10:
		f.Output(s.name(), x)
	case 11:
		keep(f.Add(x, s.value()), f.Sub(x, s.value()), f.Mul(x, s.value()))
	case 12:
		keep(f.RealDiv(x, s.value()), f.Pow(x, s.value()), f.Maximum(x, s.value()), f.Minimum(x, s.value()))
	case 13, 14:
		keep(pick(s.tape, []func(build.Value) build.Value{f.Abs, f.Relu, f.Sqrt, f.Exp, f.Sigmoid, f.Tanh, f.Silu})(x))
	case 15:
		keep(f.Rsqrt(x, float64(s.number())))
	case 16:
		keep(f.Gelu(x), f.Gelu(x, build.GeluTanh))
	case 17:
		keep(f.ReduceSum(x, s.numbers(3), build.KeepDims(s.next()%2 == 1)))
	case 18:
		keep(f.ReduceMean(x, s.numbers(2), nil), f.ReduceMax(x, nil))
	case 19:
		keep(f.Softmax(x, s.number()))
	case 20:
		keep(f.LayerNorm(x, s.numbers(2), build.Gamma(s.value()), build.Epsilon(s.number())))
	case 21:
		keep(f.LayerNorm(x, []int{-1}, build.Beta(s.value())))
	case 22, 23:
		keep(f.Matmul(x, s.value(), build.TransposeX(s.next()%2 == 1), build.TransposeY(s.next()%2 == 1)))
	case 24:
		keep(f.Linear(x, s.value()), f.Linear(x, s.value(), build.Bias(s.value())))
	case 25:
		keep(f.Conv(x, s.value()))
	case 26:
		keep(f.Conv(x, s.value(), build.Strides(s.numbers(2)), build.Padding(s.numbers(4)),
			build.Dilations(s.numbers(2)), build.Groups(s.number())))
	case 27:
		keep(f.MaxPool(x, s.numbers(2), build.Strides(s.numbers(2)), build.CeilMode(s.next()%2 == 1)))
	case 28:
		keep(f.AvgPool(x, s.numbers(2), build.Same, build.ExcludePadding(s.next()%2 == 1)))
	case 29, 30:
		keep(f.Reshape(x, s.numbers(6)...))
	case 31:
		keep(f.Transpose(x, s.numbers(4)...))
	case 32:
		keep(f.ExpandDims(x, s.numbers(2)...), f.Squeeze(x, s.numbers(2)...))
	case 33:
		if keep(f.Concat(s.number(), x, s.value())); s.next()%4 == 0 {
			keep(f.ConcatInterleaved(s.number(), x, s.value()), f.Concat(0))
		}
	case 34:
		if n := s.number(); n < 100 {
			keep(f.Split(x, s.number(), n)...)
		}
	case 35:
		keep(f.SplitSizes(x, s.number(), s.numbers(3)...)...)
	case 36:
		keep(f.SliceBySize(x, s.box(x, 0), s.box(x, -1)))
	case 37:
		keep(f.SliceByIndex(x, s.box(x, 0), s.box(x, 1)),
			f.SliceByIndex(x, s.box(x, 0), s.numbers(4), build.Strides(s.box(x, 1)), build.EndMask(s.bools(4)),
				build.SqueezeMask(s.bools(4))))
	case 38:
		keep(f.Pad(x, s.numbers(4), build.PadValue(s.number()),
			pick(s.tape, []build.PadMode{build.PadConstant, build.PadReflect, build.PadReplicate})))
	case 39:
		keep(f.Cast(x, s.dtype()), f.Op("add", x.Type(), build.A("x", x), build.A("y", s.value())))
	}
}

// begin starts a program with an input and, if the bytes choose so, a weight.
func begin(choices []byte) *session {
	s := &session{tape: &tape{left: choices}, values: []build.Value{{}}}
	var options []build.Option
	if first := s.next(); first%2 == 1 {
		options = append(options, build.OldDialect(), build.FilePerWeight())
	}
	s.b = build.New(options...)
	s.funcs = []*build.Func{s.b.Func("main")}
	if s.values[0] = s.funcs[0].Input("in", build.FP16, 1, 4, 2, 8); s.next()%2 == 1 {
		s.values = append(s.values, s.funcs[0].Weight("k", make([]float32, 32), 8, 4, 1, 1))
	}
	return s
}

// finish checks that a sequence of calls gives faults, each with its line, or a program
// whose text parses to the same tree and that ops.Analyze accepts for every function.
// It returns the program, nil for faults.
func (s *session) finish(t *testing.T) *mil.Program {
	p, err := s.b.Program()
	if err != nil {
		var list mil.ErrorList
		if !errors.As(err, &list) || p != nil {
			t.Fatalf("%T: %v", err, err)
		}
		for _, e := range list {
			if e.File == "" || !e.Pos.Known() || e.Msg == "" {
				t.Fatalf("no place: %v", e)
			}
		}
		return nil
	}
	text := p.Text()
	again, err := mil.Parse("built.mil", text)
	if err != nil || !mil.Equal(p.Program, again) {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, w := range p.Weights {
		if w.Size() > 1<<20 {
			return p.Program // too much for a test
		}
	}
	for _, fn := range p.Funcs {
		if _, err := ops.Analyze("built.mil", again, fn.Name, p.Weights); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	return p.Program
}

func FuzzCalls(f *testing.F) {
	for call := range 40 {
		for seed := range 4 {
			f.Add([]byte{byte(seed), 0, byte(1 + seed%2), byte(call), byte(seed), 1, 2, 3, 1, 0, 0, byte(3 + seed), 8,
				7})
		}
	}
	// x of [1, 2, 4, 8], relu of it, output y
	f.Add([]byte{0, 0, 0, 1, 0, 0, 4, 0, 1, 2, 3, 0, 1, 13, 1, 0, 2, 8, 1})
	f.Fuzz(func(t *testing.T, choices []byte) {
		s := begin(choices)
		for calls := 0; len(s.left) > 0 && calls < 200; calls++ {
			s.step()
		}
		s.finish(t)
	})
}

// Random calls build programs; faulty calls are removed.
func TestGrownPrograms(t *testing.T) {
	kinds := map[string]int{}
	for seed := range uint64(16) {
		r := rand.New(rand.NewPCG(seed, 1))
		start := []byte{byte(seed), byte(seed / 2)}
		var calls [][]byte
		grow := func() *mil.Program {
			s := begin(start)
			for _, c := range calls {
				s.left = c
				s.step()
			}
			for _, f := range s.funcs {
				f.Output("end", f.Relu(f.Input("start", build.FP16, 1, 1, 1, 32)))
			}
			return s.finish(t)
		}
		var last *mil.Program
		for range 100 {
			call := make([]byte, 16)
			for i := range call {
				call[i] = byte(r.Uint32())
			}
			calls = append(calls, call)
			if p := grow(); p != nil {
				last = p
			} else {
				calls = calls[:len(calls)-1]
			}
		}
		if last == nil {
			t.Fatal("nothing grew")
		}
		for _, f := range last.Funcs {
			for _, op := range f.Body {
				kinds[op.Kind]++
			}
		}
	}
	for _, kind := range []string{"const", "add", "relu", "conv", "matmul", "softmax", "reduce_mean", "max_pool",
		"reshape", "concat", "split", "slice_by_size", "pad", "cast"} {
		if kinds[kind] == 0 {
			t.Errorf("no program has %s: %v", kind, kinds)
		}
	}
}
