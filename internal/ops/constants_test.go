package ops_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/ops"
)

// lent are Constants by offset; others are in files, if there are any.
type lent struct {
	at    map[uint64][]byte
	files map[string][]byte
	err   error
}

func (l lent) ReadFile(path string) ([]byte, error) {
	if data, ok := l.files[path]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func (l lent) Constant(_ string, offset uint64, _ mil.Type) ([]byte, error) {
	if data, ok := l.at[offset]; ok {
		return data, l.err
	}
	return nil, fs.ErrNotExist
}

const lentText = `program(1.3)
{
func main<ios18>(tensor<fp16, [1, 6]> x) {
tensor<uint3, [2, 6]> q = const()[val = tensor<uint3, [2, 6]>(BLOBFILE(path = string("w.bin"), offset = uint64(64)))];
tensor<fp16, [2, 1]> s = const()[val = tensor<fp16, [2, 1]>(BLOBFILE(path = string("w.bin"), offset = uint64(7)))];
tensor<fp16, [2, 6]> w = constexpr_blockwise_shift_scale(data = q, scale = s);
tensor<fp16, [1, 2]> y = linear(x = x, weight = w);
} -> (y);
}`

func lentProgram(t *testing.T) *mil.Program {
	t.Helper()
	p, err := mil.Parse("lent.mil", []byte(lentText))
	require.NoError(t, err)
	return p
}

// TestConstants: the Graph has the bytes of Constants themselves, at any offset, and integers below 8 bits as they are
// stored or unpacked. What Constants do not have is read from the file.
func TestConstants(t *testing.T) {
	scales := []byte{0, 0x3c, 0, 0x40}
	unpacked := []byte{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}
	packed := pack3(unpacked)
	both := lent{at: map[uint64][]byte{64: packed, 7: scales}}
	g, err := ops.AnalyzeStored(t.Context(), "lent.mil", lentProgram(t), "", both)
	require.NoError(t, err)
	q, s := g.Weights[0].Value, g.Weights[1].Value
	require.Same(t, &packed[0], &q.Stored[0])
	require.Nil(t, q.Data)
	require.True(t, q.Const())
	require.Same(t, &scales[0], &s.Data[0])
	require.NotEmpty(t, g.Notes, "Apple's operator has no 3 bits")

	g, err = ops.Analyze("lent.mil", lentProgram(t), "", both)
	require.NoError(t, err)
	require.Equal(t, unpacked, g.Weights[0].Value.Data)
	require.Nil(t, g.Weights[0].Value.Stored)

	var w blob.Writer
	_, err = w.Add(mil.UInt3, packed, 8*len(packed)-36)
	require.NoError(t, err)
	g, err = ops.AnalyzeStored(t.Context(), "lent.mil", lentProgram(t), "", lent{at: map[uint64][]byte{7: scales},
		files: map[string][]byte{"w.bin": w.Bytes()}})
	require.NoError(t, err)
	require.Equal(t, packed, g.Weights[0].Value.Stored)

	entries, faults := ops.Reread("lent.mil", g.Weights, both)
	require.Empty(t, faults)
	require.Same(t, &packed[0], &entries[0].Stored[0])
	require.True(t, entries[0].Kept && entries[1].Kept)
}

// pack3 is the definition of the format: bits one after the other, from the low ones up.
func pack3(values []byte) []byte {
	out := make([]byte, (3*len(values)+7)/8)
	for i, v := range values {
		for b := range 3 {
			out[(3*i+b)/8] |= v >> b & 1 << ((3*i + b) % 8)
		}
	}
	return out
}

// TestConstantsFaults: a constant of another length, or one that cannot be read, is a fault at its place.
func TestConstantsFaults(t *testing.T) {
	broken := errors.New("broken")
	scales := []byte{0, 0x3c, 0, 0x40}
	for name, c := range map[string]struct {
		weights lent
		is      error
	}{
		"short": {lent{at: map[uint64][]byte{64: make([]byte, 4), 7: scales}}, blob.ErrSize},
		"long":  {lent{at: map[uint64][]byte{64: make([]byte, 6), 7: scales}}, blob.ErrSize},
		"empty": {lent{at: map[uint64][]byte{64: nil, 7: scales}}, blob.ErrSize},
		"error": {lent{at: map[uint64][]byte{64: make([]byte, 5), 7: scales}, err: broken}, broken},
		"none":  {lent{at: map[uint64][]byte{7: scales}}, fs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ops.AnalyzeStored(t.Context(), "lent.mil", lentProgram(t), "", c.weights)
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, "lent.mil:4:")
			good := lent{at: map[uint64][]byte{64: make([]byte, 5), 7: scales}}
			g, err := ops.AnalyzeStored(t.Context(), "lent.mil", lentProgram(t), "", good)
			require.NoError(t, err)
			_, faults := ops.Reread("lent.mil", g.Weights, c.weights)
			if name != "none" {
				require.ErrorIs(t, faults.Err(), c.is)
			}
		})
	}
}
