package driver

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/unimem"
)

// smallest is the smallest program: what a request costs when the engine does nothing
// worth mentioning.
const smallest = `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 32]> x) {
            tensor<fp16, [1, 32]> y = relu(x = x);
        } -> (y);
}`

// software is a driver over the software engine with one prepared program and a pair of
// mapped surfaces.
type software struct {
	engine  ane.Engine
	exec    ane.Executable
	driver  *Driver
	client  *Client
	token   uint64
	ids     []uint32
	blocks  []*unimem.Block
	tensors []*ane.Tensor
}

func newSoft(t testing.TB, text string) *software {
	s := &software{engine: soft.New()}
	var err error
	s.exec, err = s.engine.Compile(context.Background(), ane.Source{Text: []byte(text)})
	require.NoError(t, err)
	r := newRig(t)
	s.driver = r.driver
	info := privileged
	s.client = r.opened(info)
	res, err := s.driver.AddProgram(s.exec)
	require.NoError(t, err)
	s.token = r.prepared(s.client, res)
	for _, l := range append(s.exec.Inputs(), s.exec.Outputs()...) {
		b, err := unimem.Open(l.Bytes())
		require.NoError(t, err)
		id, err := s.driver.AddSurface(b)
		require.NoError(t, err)
		x, err := ane.OnBlock(b, l)
		require.NoError(t, err)
		s.ids, s.blocks, s.tensors = append(s.ids, id), append(s.blocks, b), append(s.tensors, x)
	}
	r.mapped(s.client, s.ids...)
	t.Cleanup(func() {
		require.NoError(t, s.driver.Close(context.Background()))
		for _, b := range s.blocks {
			require.NoError(t, b.Close())
		}
		require.NoError(t, s.exec.Close())
		require.NoError(t, s.engine.Close())
	})
	return s
}

func TestOverTheSoftwareEngine(t *testing.T) {
	s := newSoft(t, smallest)
	for n := range uint32(4) {
		in := s.tensors[0].Bytes()
		for i := range in {
			in[i] = byte(i*int(n+1)) & 0x3f // positive numbers, which relu leaves alone
		}
		_, ret := ask{token: s.token, sequence: n, surfaces: s.ids}.send(s.client)
		require.NoError(t, ret)
		require.Equal(t, in[:64], s.tensors[1].Bytes()[:64])
	}
	for _, id := range s.ids {
		require.NoError(t, unmap1(s.client, id), "the engine has released the surface")
	}
}
