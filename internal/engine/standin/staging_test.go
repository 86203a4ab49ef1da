package standin

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
)

// liveJSON returns a live entry of Float16 as JSON: lengths of N D C H W, and
// strides of N D C H.
func liveJSON(name string, lengths, strides [5]int64) string {
	return fmt.Sprintf(`{"Name": %q, "Type": "Float16", "Batches": %d, "Depth": %d, "Channels": %d, "Height": %d, "Width": %d,
		"BatchStride": %d, "DepthStride": %d, "PlaneStride": %d, "RowStride": %d}`, name,
		lengths[0], lengths[1], lengths[2], lengths[3], lengths[4], strides[0], strides[1], strides[2], strides[3])
}

// networkDump returns a dump of one network without a description.
func networkDump(t testing.TB, in, out []string) *Dump {
	d, err := ReadDump(written(t, `{"data": {"NetworkStatusList": [{"Name": "main", "LiveInputList": [`+
		strings.Join(in, ",")+`], "LiveOutputList": [`+strings.Join(out, ",")+`]}]}}`))
	require.NoError(t, err)
	return d
}

// half stores a number at a byte.
func half(mem []byte, at int64, v float32) {
	binary.LittleEndian.PutUint16(mem[at:], uint16(fp16.FromFloat32(v)))
}

func halfAt(mem []byte, at int64) float32 {
	return fp16.Bits(binary.LittleEndian.Uint16(mem[at:])).Float32()
}

// TestRunsCopyWhereTheDumpPlacesOtherwise: a has rows of 128 bytes, b the
// layout of package ane, y planes far apart.
func TestRunsCopyOtherPlacements(t *testing.T) {
	d := networkDump(t,
		[]string{liveJSON("a", [5]int64{1, 1, 4, 1, 32}, [5]int64{1024, 1024, 256, 128}),
			liveJSON("b", [5]int64{1, 1, 4, 1, 32}, [5]int64{256, 256, 64, 64})},
		[]string{liveJSON("y@output", [5]int64{1, 1, 4, 1, 32}, [5]int64{4096, 4096, 1024, 64})})
	m := newFake(t, 3)
	s := newServer(m, d)
	h, err := s.compile(write(t, map[string]string{"model.mil": addition}))
	require.NoError(t, err)
	for round := range 3 {
		for i := range int64(128) {
			half(m.blocks[1].Bytes(), i/32*256+i%32*2, float32(i)+float32(round))
			half(m.blocks[2].Bytes(), i*2, 1)
		}
		require.Equal(t, done, s.evaluate(h, 0, 1, []uint32{1, 2}, []uint32{3}))
		for i := range int64(128) {
			require.Equal(t, float32(i)+float32(round)-1, halfAt(m.blocks[3].Bytes(), i/32*1024+i%32*2), "element %d",
				i)
		}
	}
	require.Zero(t, testing.AllocsPerRun(20, func() { s.evaluate(h, 0, 1, []uint32{1, 2}, []uint32{3}) }))
	s.DropProgram(h)
}

// TestSwappedDepthAndChannels: the second axis of the text is the channels if
// the lengths show it.
func TestSwappedDepthAndChannels(t *testing.T) {
	text := `program(1.3) { func main<ios18>(tensor<fp16, [1, 3, 2, 2, 4]> x) { tensor<fp16, [1, 3, 2, 2, 4]> y = add(x = x, y = x)[name = string("y")]; } -> (y); }`
	// N 1, D 2, C 3: the text has 3 before 2.
	d := networkDump(t, []string{liveJSON("x", [5]int64{1, 2, 3, 2, 4}, [5]int64{768, 384, 128, 64})},
		[]string{liveJSON("y@output", [5]int64{1, 3, 2, 2, 4}, [5]int64{768, 256, 128, 64})})
	m := newFake(t, 2)
	s := newServer(m, d)
	h, err := s.compile(write(t, map[string]string{"model.mil": text}))
	require.NoError(t, err)
	offset := func(c, dd, hh, w int64) int64 { return dd*384 + c*128 + hh*64 + w*2 }
	number := func(c, dd, hh, w int64) float32 { return float32(1 + ((c*2+dd)*2+hh)*4 + w) }
	every := func(f func(c, dd, hh, w int64)) {
		for i := range int64(48) {
			f(i/16, i/8%2, i/4%2, i%4)
		}
	}
	every(func(c, dd, hh, w int64) { half(m.blocks[1].Bytes(), offset(c, dd, hh, w), number(c, dd, hh, w)) })
	require.Equal(t, done, s.evaluate(h, 0, 1, []uint32{1}, []uint32{2}))
	every(func(c, dd, hh, w int64) {
		require.Equal(t, 2*number(c, dd, hh, w), halfAt(m.blocks[2].Bytes(), c*256+dd*128+hh*64+w*2))
	})
	s.DropProgram(h)
}

func TestImpossiblePlacements(t *testing.T) {
	const huge = 1 << 62
	good := liveJSON("y@output", [5]int64{1, 1, 4, 1, 32}, [5]int64{256, 256, 64, 64})
	for name, c := range map[string]struct {
		entry string
		want  status
	}{
		"as it is":         {liveJSON("a", [5]int64{1, 1, 4, 1, 32}, [5]int64{256, 256, 64, 64}), done},
		"longer":           {liveJSON("a", [5]int64{1, 1, 4, 1, 32}, [5]int64{1 << 20, 256, 64, 64}), tooShort},
		"beyond its bytes": {liveJSON("a", [5]int64{1, 1, 4, 1, 32}, [5]int64{256, 256, 128, 64}), done},
		"no batch stride":  {liveJSON("a", [5]int64{1, 1, 4, 1, 32}, [5]int64{0, 0, 64, 0}), done},
		"odd batch stride": {liveJSON("a", [5]int64{1, 1, 4, 1, 32}, [5]int64{-7, 3, 64, 1}), done},
		"overflow":         {liveJSON("a", [5]int64{1, 1, 4, 1, 32}, [5]int64{huge, huge, huge, huge}), failed},
		"negative":         {liveJSON("a", [5]int64{1, 1, 4, 1, 32}, [5]int64{256, 256, -64, 64}), failed},
		"zero":             {liveJSON("a", [5]int64{1, 1, 4, 1, 32}, [5]int64{0, 0, 0, 0}), failed},
		"batches":          {liveJSON("a", [5]int64{huge, 1, 4, 1, 32}, [5]int64{256, 256, 64, 64}), failed},
		// of equal names
		"another program":    {liveJSON("a", [5]int64{1, 1, 4, 1, 31}, [5]int64{256, 256, 1, 0}), done},
		"all rows in one":    {liveJSON("a", [5]int64{1, 1, 4, 1, 32}, [5]int64{256, 256, 1, 64}), done},
		"another type":       {`{"Name": "a", "Type": "Int4", "RowStride": 64}`, failed},
		"no numbers":         {`{"Name": "a", "Type": "Float16", "RowStride": "64", "Width": true}`, failed},
		"interleaved":        {`{"Name": "a", "Type": "Float16", "Interleave": 4, "RowStride": 64}`, failed},
		"an image":           {`{"Name": "a", "Height": 4, "Width": 32, "4CCFormat": 875704438}`, failed},
		"only a name":        {`{"Name": "a", "Type": "Float16"}`, done},
		"the stride is real": {`{"Name": "a", "Type": "Float16", "RowStride": 64.5}`, failed},
	} {
		t.Run(name, func(t *testing.T) {
			m := newFake(t, 2)
			d := networkDump(t, []string{c.entry}, []string{good})
			s := newServer(m, d)
			h, err := s.compile(write(t,
				map[string]string{"model.mil": functions(`func main<ios18>(T a) { T y = add(x = a, y = a)[name = string("y")]; } -> (y);`)}))
			require.NoError(t, err)
			require.Equal(t, c.want, s.evaluate(h, 0, 1, []uint32{1}, []uint32{2}))
			s.DropProgram(h)
		})
	}
}

// TestOtherProgramsUnderADump: a program whose tensors have other names does
// not match the dump.
func TestOtherProgramsUnderADump(t *testing.T) {
	d := networkDump(t, []string{liveJSON("a", [5]int64{1, 1, 4, 1, 32}, [5]int64{1024, 1024, 256, 128})},
		[]string{`{"Name": "y@output"}`})
	s := newServer(newFake(t, 0), d)
	h, err := s.compile(write(t, map[string]string{"model.mil": addition}))
	require.NoError(t, err)
	status := decode(t, s.Attributes(h))["NetworkStatusList"].([]any)[0].(map[string]any)
	require.EqualValues(t, 256, status["LiveInputList"].([]any)[0].(map[string]any)["BatchStride"])
	s.DropProgram(h)
}
