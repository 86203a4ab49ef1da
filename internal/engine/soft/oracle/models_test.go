// The engine's values of whole programs beside an evaluation in float64 that shares no code with it.
package oracle_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/coreml"
	"github.com/anekit/anekit/internal/engine/soft"
)

// judge compares the engine's outputs of a program with the exact ones. How far they may be from these says a second
// evaluation in float64 that rounds each result to its type: the engine may err twice as much, in the mean over an
// output. Whole numbers and truth values are equal.
func judge(t *testing.T, src ane.Source, in map[string]nd, files map[string][]byte) {
	p, err := src.Tree()
	require.NoError(t, err)
	f := p.Select(src.Function)
	exact := (&oracle{TB: t, files: files}).function(f, in)
	rounded := (&oracle{TB: t, files: files, rounded: true}).function(f, in)
	got := run(t, src, in)
	require.Len(t, got, len(exact))
	for name, want := range exact {
		engine, half := distance(got[name], want), distance(rounded[name], want)
		t.Logf("%s %v: engine %.3g, rounded %.3g", name, want.shape, engine, half)
		require.Equal(t, fmt.Sprint(want.shape), fmt.Sprint(got[name].shape))
		if want.d.Float() {
			require.LessOrEqual(t, engine, 2*half+math.Ldexp(1, -11), name)
		} else {
			require.Equal(t, rounded[name].v, got[name].v, name)
		}
	}
}

// distance is the root of the mean square difference, in units of the root mean square of want. It leaves out what is no
// number in both.
func distance(x, want nd) float64 {
	var d, all float64
	for i, f := range want.v {
		if math.IsNaN(f) && math.IsNaN(x.v[i]) {
			continue
		}
		d += (f - x.v[i]) * (f - x.v[i])
		all += f * f
	}
	return math.Sqrt(d / max(all, math.SmallestNonzeroFloat64))
}

// run evaluates on the software engine.
func run(t *testing.T, src ane.Source, in map[string]nd) map[string]nd {
	dev, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	defer func() { require.NoError(t, dev.Close()) }()
	m, err := dev.Compile(t.Context(), src)
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close(t.Context())) }()
	require.NoError(t, m.Load(t.Context()))
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	for _, l := range m.Inputs() {
		_, err := r.Input(l.Name).Write(encode(t, in[l.Name]))
		require.NoError(t, err)
	}
	_, err = r.Evaluate(t.Context())
	require.NoError(t, err)
	out := map[string]nd{}
	for _, l := range m.Outputs() {
		data := make([]byte, l.PackedBytes())
		_, err := r.Output(l.Name).Read(data)
		require.NoError(t, err)
		out[l.Name] = decode(t, l.DType, l.Shape, data)
	}
	return out
}

func decode(t testing.TB, d mil.DType, shape []int, data []byte) nd {
	x := zeros(d, shape...)
	for i := range x.v {
		switch d {
		case mil.FP16:
			x.v[i] = fromHalf(binary.LittleEndian.Uint16(data[2*i:]))
		case mil.FP32:
			x.v[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
		case mil.Int32:
			x.v[i] = float64(int32(binary.LittleEndian.Uint32(data[4*i:])))
		case mil.Bool:
			x.v[i] = float64(data[i])
		default:
			require.Fail(t, "no reader of elements", "%v", d)
		}
	}
	return x
}

func encode(t testing.TB, x nd) (data []byte) {
	for _, f := range x.v {
		switch x.d {
		case mil.FP16:
			data = binary.LittleEndian.AppendUint16(data, halfBits(f))
		case mil.FP32:
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(f)))
		case mil.Int32:
			data = binary.LittleEndian.AppendUint32(data, uint32(int32(f)))
		case mil.Bool:
			data = append(data, byte(f))
		default:
			require.Fail(t, "no writer of elements", "%v", x.d)
		}
	}
	return data
}

// halfBits are the bits of a number that half precision has.
func halfBits(f float64) uint16 {
	bits := uint16(0)
	if math.Signbit(f) {
		bits, f = 1<<15, -f
	}
	_, exp := math.Frexp(f)
	if exp < -13 {
		return bits | uint16(math.Ldexp(f, 24))
	}
	return bits | uint16(exp+14)<<10 | uint16(math.Ldexp(f, 11-exp))&1023
}

// random fills a tensor: floats are halves of mean 0, with the given deviation, whole numbers are small.
func random(r *rand.Rand, d mil.DType, deviation float64, shape ...int) nd {
	return zeros(d, shape...).each(func(float64) float64 {
		switch {
		case d == mil.Bool:
			return float64(r.IntN(2))
		case d.Integer():
			return float64(1 + r.IntN(3))
		}
		return toHalf(r.NormFloat64() * deviation)
	})
}

// weights makes the weight files of a program. Deviations keep the size of what products give: those of an average.
func weights(t testing.TB, r *rand.Rand, p *mil.Program) map[string][]byte {
	needs, files := map[string][]blob.Need{}, map[string][]byte{}
	for _, v := range p.Weights() {
		path, at, err := v.Blob().Entry()
		require.NoError(t, err)
		needs[path] = append(needs[path], blob.Need{Offset: at, Type: v.Type})
	}
	for path, list := range needs {
		file, err := blob.Blank(path, 4<<30, list)
		require.NoError(t, err)
		for _, n := range list {
			shape, _ := n.Type.Shape()
			deviation := 0.5
			if len(shape) > 1 {
				deviation = 1 / math.Sqrt(float64(volume(shape[1:])))
			}
			w := random(r, n.Type.DType, deviation, shape...)
			if len(shape) == 1 && n.Type.DType.Float() { // a variance among them has to be positive
				w = w.each(math.Abs)
			}
			copy(file[n.Offset+64:], encode(t, w))
		}
		files[path] = file
	}
	return files
}

// inputs makes the inputs of a program.
func inputs(t testing.TB, r *rand.Rand, p *mil.Program) map[string]nd {
	in := map[string]nd{}
	for _, v := range p.Select("").Params {
		shape, fixed := v.Type.Shape()
		require.True(t, fixed, v.Name)
		in[v.Name] = random(r, v.Type.DType, 1, shape...)
	}
	return in
}

// TestPublishedModels evaluates the models of the folder that ANEKIT_MODELS names, in every form that coreml opens. The
// weights are random, because most folders come without theirs.
func TestPublishedModels(t *testing.T) {
	folder := os.Getenv("ANEKIT_MODELS")
	if folder == "" {
		t.Skip("run with ANEKIT_MODELS=FOLDER, for the models in a folder")
	}
	found, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, file := range found {
		t.Run(file.Name(), func(t *testing.T) {
			m, err := coreml.Open(filepath.Join(folder, file.Name()))
			require.NoError(t, err)
			if m.Tree() == nil {
				t.Skip("has no program of its own")
			}
			src := ane.Source{File: file.Name(), Program: m}
			p, err := src.Tree() // with lengths for open axes
			if err != nil {      // the default of some models leaves nothing of a slice
				t.Log(err)
				src.Shapes = longer(m.Tree().Select(""))
				p, err = src.Tree()
			}
			require.NoError(t, err)
			r := rand.New(rand.NewPCG(1, 2))
			files, in := weights(t, r, p), inputs(t, r, p)
			for _, x := range (&oracle{TB: t, files: files}).function(p.Select(""), in) {
				if slices.ContainsFunc(x.v, math.IsNaN) { // a logarithm, for example, of what is a spectrum
					for name, x := range in {
						in[name] = x.each(math.Abs)
					}
					break
				}
			}
			src.Weights = ane.Files(files)
			judge(t, src, in, files)
		})
	}
}

// longer has 300 elements for each open axis of an input.
func longer(f *mil.Function) map[string][]int {
	shapes := map[string][]int{}
	for _, v := range f.Params {
		if _, fixed := v.Type.Shape(); !fixed {
			for _, d := range v.Type.Dims {
				n := 300
				if d.Known() {
					n = d.Size
				}
				shapes[v.Name] = append(shapes[v.Name], n)
			}
		}
	}
	return shapes
}
