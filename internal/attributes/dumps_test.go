package attributes_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/attributes"
	"github.com/anekit/anekit/internal/plist"
)

// dump reads the attributes of testdata/dumps/NAME.json.
func dump(t testing.TB, name string) plist.Dict {
	v, err := plist.ReadFile(filepath.Join("../../testdata/dumps", name+".json"))
	require.NoError(t, err)
	found, ok := attributes.Search(v)
	require.True(t, ok, name)
	return found
}

func read(t testing.TB, name string) *attributes.Program {
	p, err := attributes.Read(dump(t, name))
	require.NoError(t, err)
	return p
}

// Tensors that an M1 with macOS 27.0.1 printed, placed in the shapes of the program's text.
func TestM1Tensors(t *testing.T) {
	for _, c := range []struct {
		dump, tensor string
		index        int
		text         []int
		axes         [5]int // N D C H W
		strides      [4]int // batch, depth, plane, row
	}{
		{"m1-status-projector", "features", 1, []int{1, 8, 3072}, [5]int{1, 1, 1, 8, 3072}, [4]int{49152, 49152, 49152,
			6144}},
		{"m1-status-projector", "cos", 0, []int{1, 1, 8, 128}, [5]int{1, 1, 1, 8, 128}, [4]int{2048, 2048, 2048, 256}},
		{"m1-status-projector", "new_k", 0, []int{3, 1, 8, 8, 128}, [5]int{3, 1, 8, 8, 128}, [4]int{16384, 16384, 2048,
			256}},
		{"m1-status-projector", "new_v", 1, []int{3, 1, 8, 8, 128}, [5]int{3, 1, 8, 8, 128}, [4]int{16384, 16384, 2048,
			256}},
		{"m1-status-target0", "cache_k", 0, []int{14, 1, 8, 256, 128}, [5]int{14, 1, 8, 256, 128},
			[4]int{524288, 524288, 65536, 256}},
		{"m1-status-target0", "mask", 4, []int{1, 1, 8, 264}, [5]int{1, 1, 1, 8, 264}, [4]int{4608, 4608, 4608, 576}},
		{"m1-status-target0", "captures", 0, []int{2, 1, 8, 1024}, [5]int{2, 1, 1, 8, 1024}, [4]int{16384, 16384, 16384,
			2048}},
		{"m1-status-head", "logits18", 9, []int{1, 8, 4480}, [5]int{1, 1, 1, 8, 4480}, [4]int{71680, 71680, 71680,
			8960}},
		{"m1-status-head", "logits1", 10, []int{1, 8, 8192}, [5]int{1, 1, 1, 8, 8192}, [4]int{131072, 131072, 131072,
			16384}},
	} {
		p := read(t, c.dump)
		require.Len(t, p.Procedures, 1)
		require.Equal(t, "main", p.Procedures[0].Name)
		got := tensor(t, p, c.tensor)
		require.Equal(t, c.index, got.Index)
		l, err := got.Place(mil.Var{Name: c.tensor, Type: mil.TensorOf(mil.FP16, c.text...)})
		require.NoError(t, err)
		require.Equal(t, c.axes, [5]int{l.Batches, l.Depth, l.Channels, l.Height, l.Width}, c.tensor)
		require.Equal(t, c.strides, [4]int{l.BatchStride, l.DepthStride, l.PlaneStride, l.RowStride}, c.tensor)
		own, err := ane.NewLayout(c.tensor, mil.FP16, c.text...)
		require.NoError(t, err)
		require.True(t, own.Equal(l), "NewLayout places %s as the M1 does", c.tensor)

		_, err = got.Place(mil.Var{Name: c.tensor, Type: mil.TensorOf(mil.FP32, c.text...)})
		require.ErrorIs(t, err, ane.ErrMismatch)
		c.text[len(c.text)-1]++
		_, err = got.Place(mil.Var{Name: c.tensor, Type: mil.TensorOf(mil.FP16, c.text...)})
		require.ErrorIs(t, err, ane.ErrMismatch)
	}
}

func tensor(t testing.TB, p *attributes.Program, name string) attributes.Tensor {
	for _, q := range p.Procedures {
		for _, list := range [][]attributes.Tensor{q.Inputs, q.Outputs} {
			for _, found := range list {
				if found.Name == name {
					return found
				}
			}
		}
	}
	t.Fatalf("no tensor %s", name)
	return attributes.Tensor{}
}

// Every tensor of every real MIL program has the layout of NewLayout: the check of overlaps
// refuses none of them.
func TestDumpsOfPrograms(t *testing.T) {
	files, err := filepath.Glob("../../testdata/dumps/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	programs, tensors := 0, 0
	for _, file := range files {
		v, err := plist.ReadFile(file)
		require.NoError(t, err)
		found, ok := attributes.Search(v)
		if !ok {
			continue
		}
		programs++
		p, err := attributes.Read(found)
		if strings.Contains(file, "420v") {
			require.ErrorIs(t, err, attributes.ErrImage)
			continue
		}
		require.NoError(t, err, file)
		for _, q := range p.Procedures {
			for _, l := range append(q.Inputs, q.Outputs...) {
				own, err := ane.NewLayout(l.Name, l.Layout.DType, l.Layout.Shape...)
				require.NoError(t, err)
				require.True(t, own.Equal(l.Layout), "%s %s", file, l.Name)
				require.Equal(t, own.Bytes(), l.Layout.Bytes())
				tensors++
			}
		}
	}
	require.GreaterOrEqual(t, programs, 5)
	require.GreaterOrEqual(t, tensors, 36)
}

// The input of the identity program has neither Symbol nor Name, and neither has its output.
func TestEntriesWithoutNames(t *testing.T) {
	p := read(t, "ironmill-identity-1x4x1x4-fp16")
	require.Equal(t, "main", p.Procedures[0].Name)
	require.Len(t, p.Procedures[0].Inputs, 1)
	in := p.Procedures[0].Inputs[0]
	require.Equal(t, "a_input0", in.Name)
	require.Equal(t, 256, in.Layout.Bytes())
	require.Equal(t, 256, in.Layout.DepthStride)
	require.Equal(t, []string{"out"}, p.Procedures[0].Unplaced)
}

func TestImagesAreRefusedByName(t *testing.T) {
	_, err := attributes.Read(dump(t, "m1-hwx-two-procedures-420v"))
	require.ErrorIs(t, err, attributes.ErrImage)
	require.ErrorIs(t, err, ane.ErrAttributes)
	require.ErrorContains(t, err, "NetworkStatusList[0].LiveInputList[0].4CCFormat")
	require.ErrorContains(t, err, `"input_tensor" is an image of pixel format 420v`)
}
