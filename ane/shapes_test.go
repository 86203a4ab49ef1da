package ane_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil"
)

// flexible is a program whose input has an axis without a length.
const flexible = `program(1.3)
{
func main<ios18>(tensor<fp16, [1, ?]> x) [FlexibleShapeInformation =
tuple<tuple<string, dict<string, tensor<int32, [?]>>>>((("DefaultShapes", {{"x", [1, 4]}})))] {
tensor<fp16, [1, ?]> y = relu(x = x);
} -> (y);
}`

// described is a Program with default shapes of its own.
type described struct{ *mil.Program }

func (described) Shapes() map[string][]int { return map[string][]int{"x": {1, 6}} }

func TestSourceShapes(t *testing.T) {
	d, err := engine.Open(t.Context(), "soft")
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	bare := strings.Replace(flexible, "DefaultShapes", "Other", 1)
	tree, err := mil.Parse("", []byte(bare))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		src         ane.Source
		shape, note string
	}{
		"default":     {ane.Source{Text: []byte(flexible)}, "[1, 4]", "the default of the program"},
		"given":       {ane.Source{Text: []byte(flexible), Shapes: map[string][]int{"x": {1, 5}}}, "[1, 5]", ""},
		"description": {ane.Source{Program: described{tree}}, "[1, 6]", "the default of the model"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := d.Compile(t.Context(), c.src)
			require.NoError(t, err)
			if notes := strings.Join(m.Receipt().Notes, "\n"); c.note == "" {
				require.Empty(t, notes)
			} else {
				require.Contains(t, notes, "input x takes the shape "+c.shape+", "+c.note)
			}
			require.Equal(t, c.shape, strings.Replace(fmt.Sprint(m.Inputs()[0].Shape), " ", ", ", 1))
			require.NoError(t, m.Close(t.Context()))
			text, err := c.src.MIL()
			require.NoError(t, err)
			require.Contains(t, string(text), "tensor<fp16, "+c.shape+"> y = relu")
		})
	}
	_, err = d.Compile(t.Context(), ane.Source{Text: []byte(bare)})
	require.ErrorIs(t, err, ane.ErrCompile)
	require.ErrorContains(t, err, "3:18: input x has no default length for axis 1 of tensor<fp16, [1, ?]>; give --shape x=1,N")
	_, err = d.Compile(t.Context(), ane.Source{Text: []byte(flexible), Shapes: map[string][]int{"z": {1}}})
	require.ErrorIs(t, err, ane.ErrCompile)
	closed := ane.Source{Text: []byte(strings.ReplaceAll(flexible, "?", "4"))}
	text, err := closed.MIL()
	require.NoError(t, err)
	require.Same(t, &closed.Text[0], &text[0], "a text without open axes stays as it is")
}
