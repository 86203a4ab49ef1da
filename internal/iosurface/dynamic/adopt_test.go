//go:build linux && cgo

package dynamic_test

import (
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/iosurface/dynamic"
	"github.com/anekit/anekit/unimem"
)

// foreign makes a surface of another owner, backed by a file.
func (s *standin) foreign(t *testing.T, content []byte) (ref uintptr, id uint32, file *os.File) {
	file, err := os.OpenFile(filepath.Join(t.TempDir(), "pixels"), os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(t, err)
	_, err = file.Write(content)
	require.NoError(t, err)
	ref = s.adopt(int32(file.Fd()), uintptr(len(content)))
	require.NotZero(t, ref)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	return ref, s.id(t, ref), file
}

func TestAdopt(t *testing.T) {
	s := gated(t)
	content := make([]byte, page+100)
	for i := range content {
		content[i] = byte(i%251 + 1)
	}
	ref, id, file := s.foreign(t, content)
	live := unimem.Live()
	b, err := s.Adopt(id, len(content), unimem.Warm(), nil)
	require.NoError(t, err)
	require.Equal(t, live.Blocks+1, unimem.Live().Blocks)
	require.Equal(t, live.Bytes, unimem.Live().Bytes, "adopting allocates no memory")
	require.Equal(t, "IOSurface", b.Backing())
	require.Equal(t, len(content), b.Size(), "not rounded up: the surface may end there")
	require.Equal(t, len(content), cap(b.Bytes()))
	require.Equal(t, id, b.ID())
	require.NotEqual(t, ref, b.Handle(), "a lookup makes another reference object of the surface")
	require.Equal(t, content, b.Bytes(), "Warm has written nothing")
	require.EqualValues(t, 1, s.locks(ref))

	b.Bytes()[page] = 0
	var one [1]byte
	_, err = file.ReadAt(one[:], page)
	require.NoError(t, err)
	require.Zero(t, one[0], "no copy was made")

	s.release(t, ref) // its creator releases it first
	require.NoError(t, b.Retain())
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	b.Release()
	m, err := unimem.Map(b)
	require.NoError(t, err)
	require.NoError(t, m.Close())
	require.NoError(t, b.Close())
	require.Equal(t, live, unimem.Live())
	_, err = s.Adopt(id, 1)
	require.ErrorIs(t, err, unimem.ErrCreate, "the last owner has released the surface")
}

func TestAdoptDoesNotChangeLocksOfTheCreator(t *testing.T) {
	s := gated(t)
	b, err := unimem.Open(1, s.Option())
	require.NoError(t, err)
	part, err := s.Adopt(b.ID(), 10)
	require.NoError(t, err)
	require.Equal(t, b.Address(), part.Address())
	require.NoError(t, part.Close())
	require.EqualValues(t, 1, s.locks(b.Handle()), "the creator's lock is still held")
	b.Bytes()[0] = 1
	require.NoError(t, b.Close())
}

func TestAdoptRefusals(t *testing.T) {
	s := gated(t)
	ref, id, _ := s.foreign(t, make([]byte, page))
	other, err := dynamic.Load(s.path, s.path)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		id   uint32
		size int
		opts []unimem.Option
		want []error
	}{
		"no bytes":           {id, 0, nil, []error{unimem.ErrZeroSize}},
		"negative":           {id, -1, nil, []error{unimem.ErrSize}},
		"least":              {id, math.MinInt, nil, []error{unimem.ErrSize}},
		"one too many":       {id, page + 1, nil, []error{unimem.ErrSize, unimem.ErrCreate}},
		"most":               {id, math.MaxInt, nil, []error{unimem.ErrSize, unimem.ErrCreate}},
		"id 0":               {0, 1, nil, []error{unimem.ErrCreate}},
		"no such id":         {math.MaxUint32, 1, nil, []error{unimem.ErrCreate}},
		"per cell":           {id, 1, []unimem.Option{unimem.SurfacePerCell()}, []error{unimem.ErrOption}},
		"on the heap":        {id, 1, []unimem.Option{unimem.OnHeap()}, []error{unimem.ErrOption}},
		"another's option":   {id, 1, []unimem.Option{blockoption.On(other)}, []error{unimem.ErrOption}},
		"option of no other": {id, 1, []unimem.Option{blockoption.On(nil)}, []error{unimem.ErrOption}},
	} {
		t.Run(name, func(t *testing.T) {
			live, alive := unimem.Live(), s.now().alive()
			b, err := s.Adopt(c.id, c.size, c.opts...)
			require.Nil(t, b)
			for _, want := range c.want {
				require.ErrorIs(t, err, want)
			}
			var e *unimem.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, "adopt", e.Op)
			require.Equal(t, live, unimem.Live())
			require.Equal(t, alive, s.now().alive())
		})
	}
	b, err := s.Adopt(id, page, s.Option())
	require.NoError(t, err, "the library's own option is accepted")
	require.NoError(t, b.Close())
	s.release(t, ref)
}

func TestAdoptFromManyGoroutines(t *testing.T) {
	s := gated(t)
	ref, id, _ := s.foreign(t, make([]byte, page))
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 100 {
				b, err := s.Adopt(id, page)
				if err != nil || b.Close() != nil {
					t.Error("adopting or closing failed: ", err)
					return
				}
			}
		})
	}
	wg.Wait()
	require.Zero(t, s.locks(ref))
	s.release(t, ref)
}
