package kv

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/unimem"
)

// twin is a cache and what it has to hold: a number for each token, in lists instead of surfaces.
type twin struct {
	c           *Cache
	window      int // 0 without
	first, next int
	tokens      map[int]byte // by position
	pending     [][]byte     // of each layer
}

// tokenOf is a token of a number, on one layer and side.
func (w *twin) tokenOf(layer, side int, number byte) []byte {
	b := bytes.Repeat([]byte{number}, w.c.token)
	b[0] = byte(2*layer + side)
	return b
}

func (w *twin) append(t *testing.T, layer int, numbers []byte) {
	var k, v []byte
	for _, n := range numbers {
		k, v = append(k, w.tokenOf(layer, 0, n)...), append(v, w.tokenOf(layer, 1, n)...)
	}
	err := w.c.Append(layer, k, v)
	end := w.next + len(w.pending[layer]) + len(numbers)
	if w.window == 0 && !w.c.config.Grow && end > w.c.Cap() {
		require.ErrorIs(t, err, ErrFull)
		return
	}
	require.NoError(t, err)
	w.pending[layer] = append(w.pending[layer], numbers...)
	if w.window > 0 {
		w.first = max(w.first, end-w.window)
	}
}

func (w *twin) advance(t *testing.T, n int) {
	err := w.c.Advance(n)
	for _, p := range w.pending {
		if len(p) < n {
			require.ErrorIs(t, err, ErrOrder)
			return
		}
	}
	require.NoError(t, err)
	for i, p := range w.pending { // every layer was given the same numbers
		for k := range n {
			w.tokens[w.next+k] = p[k]
		}
		w.pending[i] = p[n:]
	}
	w.next += n
}

func (w *twin) drop() {
	for i := range w.pending {
		w.pending[i] = nil
	}
}

func (w *twin) truncate(t *testing.T, n int) {
	length := max(0, w.next-w.first)
	err := w.c.Truncate(n)
	if n > length {
		require.ErrorIs(t, err, ErrSize)
		return
	}
	require.NoError(t, err)
	w.drop()
	w.first = min(w.first, w.next)
	w.next = w.first + n
}

func (w *twin) fork(t *testing.T) *twin {
	c, err := w.c.Fork()
	require.NoError(t, err)
	f := w.stored()
	f.c = c
	return f
}

// stored is the tokens of a snapshot of w.
func (w *twin) stored() *twin {
	s := &twin{c: w.c, window: w.window, first: min(w.first, w.next), next: w.next, tokens: map[int]byte{},
		pending: make([][]byte, len(w.pending))}
	for p := s.first; p < s.next; p++ {
		s.tokens[p] = w.tokens[p]
	}
	return s
}

// restored makes w what a Restore of the first n tokens of s makes it, all of them for -1.
func (w *twin) restored(s *twin, n int) {
	w.drop()
	w.first, w.next = s.first, s.next
	if n >= 0 {
		w.next = s.first + n
	}
	if w.window > 0 {
		w.first = max(w.first, w.next-w.window)
	}
	kept := map[int]byte{}
	for p := w.first; p < w.next; p++ {
		kept[p] = s.tokens[p]
	}
	w.tokens = kept
}

func (w *twin) check(t *testing.T) {
	require.Equal(t, max(0, w.next-w.first), w.c.Len())
	require.Equal(t, w.next, w.c.Position())
	for layer := range w.pending {
		for side := range 2 {
			for p := w.first; p < w.next; p++ {
				if want := w.tokenOf(layer, side, w.tokens[p]); !bytes.Equal(want, at(t, w.c, layer, side, p)) {
					require.Equal(t, want, at(t, w.c, layer, side, p), "layer %d side %d position %d", layer, side, p)
				}
			}
		}
	}
}

// Calls in any order do what they do to lists of tokens, in a cache and in its forks.
func TestCallsInAnyOrder(t *testing.T) {
	plain := Config{Layers: 2, Heads: 2, HeadDim: 32, Context: 256, DType: mil.FP16}
	narrow, grows, slides := plain, plain, plain
	narrow.HeadDim = 5 // rows are padded
	grows.Grow = true
	slides.Window = 7
	for name, make := range map[string]func() (*Cache, error){
		"plain":        func() (*Cache, error) { return New(plain) },
		"narrow":       func() (*Cache, error) { return New(narrow) },
		"grows":        func() (*Cache, error) { return New(grows) },
		"slides":       func() (*Cache, error) { return New(slides) },
		"slides joint": func() (*Cache, error) { return NewJoint(slides) },
		"grows joint":  func() (*Cache, error) { return NewJoint(grows) },
		"heap":         func() (*Cache, error) { return New(grows, unimem.OnHeap()) },
	} {
		t.Run(name, func(t *testing.T) {
			seeds := 8/slow() + 1
			if !effort.Full() {
				seeds = min(seeds, 2)
			}
			for seed := range uint64(seeds) {
				order(t, make, rand.New(rand.NewPCG(seed, 1)))
			}
		})
	}
}

// unsynced is the system's files without the waits for its disk.
type unsynced struct{ system }

type unsyncedFile struct{ file }

func (unsyncedFile) Sync() error { return nil }

func (u unsynced) create(path string) (file, error) {
	f, err := u.system.create(path)
	return unsyncedFile{f}, err
}

func (unsynced) syncDir(string) error { return nil }

// slow divides the work of tests: the race detector takes ten times as long.
func slow() int {
	if effort.Race {
		return 10
	}
	if !effort.Full() {
		return 4
	}
	return 1
}

// order makes calls in a random order.
func order(t *testing.T, make func() (*Cache, error), r *rand.Rand) {
	c, err := make()
	require.NoError(t, err)
	all := []*twin{{c: c, window: c.config.Window, tokens: map[int]byte{}, pending: [][]byte{nil, nil}}}
	path := filepath.Join(t.TempDir(), "s")
	var file *twin
	for range 60 {
		i := r.IntN(len(all))
		w := all[i]
		switch r.IntN(13) {
		case 0, 1, 2, 3: // whole tokens
			n := 1 + r.IntN([]int{3, 20, 300}[r.IntN(3)])
			numbers := bytes.Repeat([]byte{byte(1 + r.IntN(255))}, n)
			same := bytes.Equal(w.pending[0], w.pending[1])
			for layer := range w.pending {
				if same {
					w.append(t, layer, numbers)
				}
			}
			w.advance(t, 1+r.IntN(n))
		case 4: // one layer, to be dropped
			w.append(t, r.IntN(2), bytes.Repeat([]byte{9}, 1+r.IntN(3)))
			if r.IntN(2) == 0 {
				w.truncate(t, w.c.Len())
			}
		case 5:
			w.truncate(t, r.IntN(w.c.Len()+2))
		case 6:
			if len(all) < 4 {
				all = append(all, w.fork(t))
			}
		case 7:
			if len(all) > 1 {
				require.NoError(t, w.c.Close())
				all = slices.Delete(all, i, i+1)
			}
		case 8:
			if r.IntN(4) == 0 {
				w.c.Clear()
				w.restored(&twin{}, 0)
			} else {
				require.NotNil(t, w.c.AllKeys())
			}
		case 9:
			if err := w.c.appendFile(unsynced{}, path, print1); err != nil {
				require.NoError(t, w.c.saveFile(unsynced{}, path, print1, nil))
				file = w.stored()
			} else {
				for ; file.next < w.next; file.next++ {
					file.tokens[file.next] = w.tokens[file.next]
				}
			}
			if r.IntN(3) == 0 {
				require.NoError(t, foldFile(unsynced{}, path))
				file.restored(file, -1) // a fold keeps the window alone
			}
		case 10: // damage
			b := saved(t, w.c, print1)
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			target := all[r.IntN(len(all))]
			before := image(target.c)
			require.Error(t, target.c.Restore(bytes.NewReader(b), print1))
			if target.c.Len() > 0 {
				require.True(t, bytes.Equal(before, image(target.c)), "a damaged snapshot changes nothing")
			}
		default:
			if file == nil {
				continue
			}
			n := -1
			if r.IntN(2) == 0 {
				n = r.IntN(file.next - file.first + 1)
				err = w.c.RestorePrefixFile(path, print1, n)
			} else {
				err = w.c.RestoreFile(path, print1)
			}
			if w.window == 0 && !w.c.config.Grow && file.next > w.c.Cap() {
				require.ErrorIs(t, err, ErrFull)
				continue
			}
			require.NoError(t, err)
			w.restored(file, n)
		}
		for _, w := range all {
			w.check(t)
		}
	}
	for _, w := range all {
		require.NoError(t, w.c.Close())
	}
}
