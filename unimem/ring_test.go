package unimem_test

import (
	"bytes"
	"fmt"
	"log"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/unimem"
)

// What is written over the end of a Ring is at its beginning, in every view of the pages.
func TestRingHasNoSeam(t *testing.T) {
	before := unimem.Live()
	r, err := unimem.NewRing(3*unimem.PageSize - 5)
	require.NoError(t, err)
	size := r.Size()
	require.Equal(t, 3*unimem.PageSize, size)
	text := []byte("over the end")
	w := r.Window(uint64(size-4), len(text))
	require.Equal(t, len(text), copy(w, text))
	require.Equal(t, text[4:], r.Window(0, len(text)-4))
	require.Equal(t, text[4:], r.Block().Bytes()[:len(text)-4])
	require.Equal(t, text[:4], r.Block().Bytes()[size-4:])
	r.Block().Bytes()[0] = '!'
	require.EqualValues(t, '!', w[4])
	require.Len(t, r.Window(7, size), size)
	require.Equal(t, len(w), cap(w), "an append does not reach the bytes behind")

	m, err := unimem.Map(r.Block())
	require.NoError(t, err)
	require.Equal(t, text[:4], m.Bytes()[size-4:])
	require.ErrorIs(t, r.Close(), unimem.ErrInUse)
	require.NotNil(t, r.Window(0, 1))
	require.NoError(t, m.Close())
	require.ErrorIs(t, r.Block().Close(), unimem.ErrInUse, "the Ring owns the Block")
	require.NoError(t, r.Close())
	require.NoError(t, r.Close())
	require.Nil(t, r.Window(0, 1))
	require.Equal(t, before, unimem.Live())
}

// A Ring has the bytes of an endless stream's last Size bytes.
func TestRingIsTheTailOfAStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, err := unimem.NewRing(1)
		require.NoError(t, err)
		var stream []byte
		start := rapid.SampledFrom([]uint64{0, 77, 1 << 40, math.MaxUint64 - 1<<20}).Draw(t, "start")
		start -= start % uint64(r.Size())
		for range rapid.IntRange(1, 12).Draw(t, "writes") {
			n := rapid.IntRange(0, r.Size()).Draw(t, "bytes")
			part := bytes.Repeat([]byte{byte(len(stream))}, n)
			copy(r.Window(start+uint64(len(stream)), n), part)
			stream = append(stream, part...)
			k := rapid.IntRange(0, min(len(stream), r.Size())).Draw(t, "tail")
			at := len(stream) - k
			require.True(t, bytes.Equal(stream[at:], r.Window(start+uint64(at), k)))
		}
		require.NoError(t, r.Close())
	})
}

func TestRingRefusals(t *testing.T) {
	for want, open := range map[error]func() (*unimem.Ring, error){
		unimem.ErrZeroSize: func() (*unimem.Ring, error) { return unimem.NewRing(0) },
		unimem.ErrSize:     func() (*unimem.Ring, error) { return unimem.NewRing(-1) },
		unimem.ErrOption:   func() (*unimem.Ring, error) { return unimem.NewRing(1, unimem.OnHeap()) },
	} {
		_, err := open()
		require.ErrorIs(t, err, want)
	}
	r, err := unimem.NewRing(1, unimem.Warm())
	require.NoError(t, err)
	require.Nil(t, r.Window(0, -1))
	require.Nil(t, r.Window(0, r.Size()+1))
	require.Empty(t, r.Window(5, 0))
	require.NoError(t, r.Close())
	for _, r := range []*unimem.Ring{nil, {}} {
		require.Nil(t, r.Window(0, 1))
		require.Zero(t, r.Size())
		require.Nil(t, r.Block())
		require.NoError(t, r.Close())
	}
}

// The last 8 samples of a stream are one slice, wherever the stream is in its memory.
func ExampleRing() {
	r, err := unimem.NewRing(1)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	at := uint64(r.Size()) - 3 // 3 bytes before the end of the memory
	copy(r.Window(at, 8), "12345678")
	fmt.Printf("%s\n", r.Window(at, 8))
	// Output: 12345678
}
