package kv

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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

func (w *twin) append(t rapid.TB, layer int, numbers []byte) {
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

func (w *twin) advance(t rapid.TB, n int) {
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

func (w *twin) truncate(t rapid.TB, n int) {
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

func (w *twin) fork(t rapid.TB) *twin {
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

// restored makes w what a Restore of s makes it.
func (w *twin) restored(s *twin) {
	w.drop()
	w.first, w.next, w.tokens = s.first, s.next, maps.Clone(s.tokens)
}

func (w *twin) check(t rapid.TB) {
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
		"plain":  func() (*Cache, error) { return New(plain) },
		"narrow": func() (*Cache, error) { return New(narrow) },
		"grows":  func() (*Cache, error) { return New(grows) },
		"slides": func() (*Cache, error) { return New(slides) },
		"heap":   func() (*Cache, error) { return New(grows, unimem.OnHeap()) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			rapid.Check(t, func(t *rapid.T) { order(t, make, dir) })
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

// order makes calls in any order, with a file in a folder of its own within dir.
func order(t *rapid.T, make func() (*Cache, error), dir string) {
	c, err := make()
	require.NoError(t, err)
	dir, err = os.MkdirTemp(dir, "")
	require.NoError(t, err)
	path := filepath.Join(dir, "s")
	all := []*twin{{c: c, window: c.config.Window, tokens: map[int]byte{}, pending: [][]byte{nil, nil}}}
	defer func() {
		for _, w := range all {
			require.NoError(t, w.c.Close())
		}
	}()
	var file *twin
	number := func(t *rapid.T, least, most int, label string) int { return rapid.IntRange(least, most).Draw(t, label) }
	one := func(t *rapid.T) *twin { return all[number(t, 0, len(all)-1, "cache")] }
	t.Repeat(map[string]func(*rapid.T){
		"tokens": func(t *rapid.T) {
			w := one(t)
			n := number(t, 1, rapid.SampledFrom([]int{3, 20, 300}).Draw(t, "most"), "tokens")
			numbers := bytes.Repeat([]byte{byte(number(t, 1, 255, "number"))}, n)
			same := bytes.Equal(w.pending[0], w.pending[1])
			for layer := range w.pending {
				if same {
					w.append(t, layer, numbers)
				}
			}
			w.advance(t, number(t, 1, n, "advance"))
		},
		"one layer, to be dropped": func(t *rapid.T) {
			w := one(t)
			w.append(t, number(t, 0, 1, "layer"), bytes.Repeat([]byte{9}, number(t, 1, 3, "tokens")))
			if rapid.Bool().Draw(t, "drop") {
				w.truncate(t, w.c.Len())
			}
		},
		"truncate": func(t *rapid.T) {
			w := one(t)
			w.truncate(t, number(t, 0, w.c.Len()+1, "length"))
		},
		"fork": func(t *rapid.T) {
			if len(all) == 4 {
				t.Skip("enough")
			}
			all = append(all, one(t).fork(t))
		},
		"close": func(t *rapid.T) {
			if len(all) == 1 {
				t.Skip("the last one")
			}
			i := number(t, 0, len(all)-1, "cache")
			require.NoError(t, all[i].c.Close())
			all = slices.Delete(all, i, i+1)
		},
		"clear": func(t *rapid.T) {
			w := one(t)
			w.c.Clear()
			w.restored(&twin{tokens: map[int]byte{}})
		},
		"save": func(t *rapid.T) {
			w := one(t)
			require.NoError(t, w.c.saveFile(unsynced{}, path, print1, nil))
			file = w.stored()
		},
		"damage": func(t *rapid.T) {
			b := saved(t, one(t).c, print1)
			b[number(t, 0, len(b)-1, "byte")] ^= 1 << number(t, 0, 7, "bit")
			target := one(t)
			before := image(target.c)
			require.Error(t, target.c.Restore(bytes.NewReader(b), print1))
			if target.c.Len() > 0 {
				require.True(t, bytes.Equal(before, image(target.c)), "a damaged snapshot changes nothing")
			}
		},
		"restore": func(t *rapid.T) {
			if file == nil {
				t.Skip("nothing is saved")
			}
			w := one(t)
			err := w.c.RestoreFile(path, print1)
			if w.window == 0 && !w.c.config.Grow && file.next > w.c.Cap() {
				require.ErrorIs(t, err, ErrFull)
				return
			}
			require.NoError(t, err)
			w.restored(file)
		},
		"": func(t *rapid.T) {
			for _, w := range all {
				w.check(t)
			}
		},
	})
}
