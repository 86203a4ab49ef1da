package ops_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// survey resolves the only function of a text.
func survey(t *testing.T, text string) *ops.Graph {
	p, err := mil.Parse("e.mil", []byte(text))
	require.True(t, err == nil || mil.OnlyNames(err), "%v", err)
	all := ops.Survey("e.mil", p)
	require.Len(t, all, 1)
	return all[0]
}

// A survey has no faults of open axes and of paths: rules of lint are about those.
func TestSurveyLeavesAxesAndPathsToRules(t *testing.T) {
	g := survey(t, around(`tensor<fp16, [?]> open = const()[val = tensor<fp16, [?]>([1])];
`+
		`tensor<fp16, [2]> w = const()[val = tensor<fp16, [2]>(BLOBFILE(path = string("../w"), offset = uint64(64)))];`,
		"w"))
	require.Empty(t, g.Faults)
	require.True(t, g.Values["open"].Open)
	require.True(t, g.Values["w"].Folded)
}

// A survey believes the types of faulty statements and goes on; the graph tells what makes and what uses each value.
func TestSurvey(t *testing.T) {
	g := survey(t, around(`int32 a = const()[val = int32(1)];
tensor<fp16, [2, 9]> wrong = relu(x = x);
tensor<fp16, [2, 9]> v = abs(x = wrong);
tensor<fp16, [?]> open = frobnicate(x = v, axis = a);
tensor<fp16, [2]> u = relu(x = open);
tensor<fp16, [2]> z = softmax(x = u, axis = a);
tensor<fp16, [2, 2]> w2 = const()[val = tensor<fp16, [2, 2]>(BLOBFILE(path = string("none"), offset = uint64(64)))];
tensor<fp16, [2, 2]> folded = add(x = w2, y = w2);`, "z"))
	require.Len(t, g.Statements, 8)
	require.Len(t, g.Faults, 2, "%v", g.Faults)
	require.ErrorContains(t, g.Faults[0], "wrong: Expected tensor<fp16, [2, 3]>")
	require.ErrorContains(t, g.Faults[1], "softmax: axis: axis 1 of a tensor of rank 1")
	require.Len(t, g.Nodes, 3, "relu, abs and add")
	value := g.Values
	require.Equal(t, []int{2, 9}, value["v"].Shape)
	require.True(t, value["open"].Open)
	require.Nil(t, value["x"].Made)
	require.Equal(t, "abs", value["v"].Made.Op.Kind)
	require.Equal(t, []*ops.Node{value["open"].Made, value["z"].Made}, value["a"].Uses)
	require.NotNil(t, value["a"].Literal)
	require.True(t, value["folded"].Folded && value["w2"].Folded && !value["z"].Folded)
	require.Equal(t, []*ops.Value{value["z"]}, g.Outputs)
}

// A survey of a program without faults has the nodes of Analyze.
func TestSurveyOfASoundProgram(t *testing.T) {
	text := around("tensor<fp16, [2, 3]> a = relu(x = x);\ntensor<fp16, [3, 2]> y = transpose(x = a, perm = "+
		"tensor<int32, [2]>([1, 0]));", "y")
	want, list := analyze(t, text, nil)
	require.Empty(t, list)
	got := survey(t, text)
	require.Empty(t, got.Faults)
	require.Len(t, got.Nodes, len(want.Nodes))
	for i, n := range want.Nodes {
		require.Equal(t, n.Attrs, got.Nodes[i].Attrs)
		require.Equal(t, n.Out[0].Type(), got.Nodes[i].Out[0].Type())
		require.Equal(t, n, n.Out[0].Made)
	}
}
