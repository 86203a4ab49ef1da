package standin

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/plist"
)

func TestAxesOfTexts(t *testing.T) {
	for _, c := range []struct {
		shape   []int
		lengths [5]int64 // N D C H W
		want    []int    // nil if the lengths do not match the text
	}{
		{nil, [5]int64{1, 1, 1, 1, 1}, order5[:]},
		{[]int{1}, [5]int64{1, 1, 1, 1, 1}, order5[:]},
		{[]int{30}, [5]int64{1, 1, 1, 1, 30}, order5[:]},
		{[]int{30}, [5]int64{1, 30, 1, 1, 1}, order5[:]},
		{[]int{30}, [5]int64{1, 1, 15, 1, 2}, nil},
		{[]int{4, 30}, [5]int64{4, 1, 30, 1, 1}, order5[:]},
		{[]int{4, 30}, [5]int64{30, 1, 4, 1, 1}, nil},
		{[]int{3, 4, 5}, [5]int64{1, 3, 4, 1, 5}, order5[:]},
		{[]int{3, 4, 5}, [5]int64{1, 4, 3, 1, 5}, nil},
		{[]int{2, 3, 4, 5}, [5]int64{2, 1, 3, 4, 5}, order5[:]},
		{[]int{2, 3, 4, 5}, [5]int64{2, 3, 1, 4, 5}, nil},
		{[]int{1, 3, 4, 5}, [5]int64{3, 1, 1, 4, 5}, nil},
		{[]int{2, 3, 4, 5, 6}, [5]int64{2, 3, 4, 5, 6}, order5[:]},
		{[]int{2, 4, 3, 5, 6}, [5]int64{2, 3, 4, 5, 6}, swapped[:]},
		{[]int{3, 4, 1, 1, 5}, [5]int64{1, 4, 3, 1, 5}, swapped[:]},
		{[]int{1, 3, 4, 1, 5}, [5]int64{1, 4, 3, 1, 5}, swapped[:]},
		{[]int{3, 4, 1, 5, 1}, [5]int64{1, 4, 3, 5, 1}, swapped[:]},
		{[]int{3, 4, 1, 5, 1}, [5]int64{1, 3, 4, 1, 5}, order5[:]},
		{[]int{3, 2, 4, 1, 6}, [5]int64{1, 2, 3, 4, 6}, swapped[:]},
		{[]int{3, 2, 4, 1, 6}, [5]int64{2, 3, 1, 4, 6}, nil},
		{[]int{1, 1, 1, 1, 30}, [5]int64{1, 1, 30, 1, 1}, order5[:]},
	} {
		axes, ok := axesOf(c.shape, c.lengths)
		require.Equal(t, c.want != nil, ok, "%v %v", c.shape, c.lengths)
		require.Equal(t, c.want, axes, "%v %v", c.shape, c.lengths)
	}
}

// TestSwappedAxesWithOnes: a text of five axes, some of length 1, has the
// channels outside the depth.
func TestSwappedAxesWithOnes(t *testing.T) {
	text := `program(1.3) { func main<ios18>(tensor<fp16, [3, 4, 1, 1, 5]> x) { tensor<fp16, [3, 4, 1, 1, 5]> y = add(x = x, y = x)[name = string("y")]; } -> (y); }`
	d := networkDump(t, []string{liveJSON("x", [5]int64{1, 4, 3, 1, 5}, [5]int64{768, 192, 64, 64})},
		[]string{liveJSON("y@output", [5]int64{3, 4, 1, 1, 5}, [5]int64{256, 64, 64, 64})})
	m := newFake(t, 2)
	s := newServer(m, d)
	h, err := s.compile(write(t, map[string]string{"model.mil": text}))
	require.NoError(t, err)
	for i := range int64(60) {
		half(m.blocks[1].Bytes(), i/20*64+i/5%4*192+i%5*2, float32(i))
	}
	require.Equal(t, done, s.evaluate(h, 0, 1, []uint32{1}, []uint32{2}))
	for i := range int64(60) {
		require.Equal(t, float32(2*i), halfAt(m.blocks[2].Bytes(), i/20*256+i/5%4*64+i%5*2), "element %d", i)
	}
	s.DropProgram(h)
}

// TestProgramsOfTheSameNames: a program with the names of the dump and other
// tensors does not match the dump.
func TestProgramsOfTheSameNames(t *testing.T) {
	x := func(kind string, lengths [5]int64) *Dump {
		d := networkDump(t, []string{liveJSON("x", lengths, [5]int64{8192, 8192, 8192, 128})},
			[]string{`{"Name": "y@output"}`})
		d.Program.Inputs[0].Type = kind
		return d
	}
	for name, c := range map[string]struct {
		d     *Dump
		shape string
		is    bool
	}{
		"its own":               {x("Float16", [5]int64{1, 1, 64, 4, 32}), "1, 64, 4, 32", true},
		"of a lower rank":       {x("Float16", [5]int64{1, 1, 64, 4, 32}), "64, 4, 32", true},
		"as many elements":      {x("Float16", [5]int64{1, 1, 32, 8, 32}), "1, 64, 4, 32", false},
		"another type":          {x("Float32", [5]int64{1, 1, 64, 4, 32}), "1, 64, 4, 32", false},
		"a row as a column":     {x("Float16", [5]int64{1, 1, 16, 1, 1}), "1, 1, 1, 16", false},
		"a row as any one axis": {x("Float16", [5]int64{1, 1, 16, 1, 1}), "16", true},
		"a type without a text": {x("Float8", [5]int64{1, 1, 64, 4, 32}), "1, 64, 4, 32", true},
		"no length":             {x("Float16", [5]int64{1, 1, 0, 4, 32}), "1, 64, 4, 32", true},
	} {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf(`program(1.3) { func main<ios18>(tensor<fp16, [%[1]s]> x) { tensor<fp16, [%[1]s]> y = relu(x = x)[name = string("y")]; } -> (y); }`, c.shape)
			entry := firstEntry(replaying(t, c.d, text))
			stride, _ := entry.Get("RowStride")
			require.Equal(t, c.is, stride == int64(128), "%v", plist.Dict(entry))
		})
	}
}

// TestStridesInAnyOrder: the batches are inside the planes. Strides need not
// decrease from axis to axis.
func TestStridesInAnyOrder(t *testing.T) {
	text := `program(1.3) { func main<ios18>(tensor<fp16, [2, 8, 4, 8]> x) { tensor<fp16, [2, 8, 4, 8]> y = add(x = x, y = x)[name = string("y")]; } -> (y); }`
	d := networkDump(t, []string{liveJSON("x", [5]int64{2, 1, 8, 4, 8}, [5]int64{64, 0, 128, 16})},
		[]string{liveJSON("y@output", [5]int64{2, 1, 8, 4, 8}, [5]int64{512, 512, 64, 16})})
	m := newFake(t, 2)
	s := newServer(m, d)
	h, err := s.compile(write(t, map[string]string{"model.mil": text}))
	require.NoError(t, err)
	for i := range int64(512) {
		half(m.blocks[1].Bytes(), i/256*64+i/32%8*128+i/8%4*16+i%8*2, float32(i))
	}
	require.Equal(t, done, s.evaluate(h, 0, 1, []uint32{1}, []uint32{2}))
	for i := range int64(512) {
		require.Equal(t, float32(2*i), halfAt(m.blocks[2].Bytes(), i/256*512+i/32%8*64+i/8%4*16+i%8*2), "element %d", i)
	}
	s.DropProgram(h)
}
