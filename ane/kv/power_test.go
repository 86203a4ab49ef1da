package kv

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/unimem"
)

// tiny is a cache whose snapshots are small.
var tiny = Config{Layers: 1, Heads: 2, HeadDim: 3, Context: 256}

const talk = "dir/talk"

// step is one call that changes a snapshot, and what the snapshot holds before and after it.
type step struct {
	name          string
	before, after int
}

// steps are the calls, each on a disk that begin has made.
var steps = []step{{"save over nothing", -1, 4}, {"save over a file", 3, 4}}

// save saves a cache of n tokens.
func save(t testing.TB, d *disk, n int) error {
	k := made(t, tiny, unimem.OnHeap())
	add(t, k, n)
	return k.saveFile(d, talk, print1, nil)
}

// begin makes the disk that a step starts from.
func begin(t testing.TB, tokens int) *disk {
	d := newDisk()
	if tokens >= 0 {
		require.NoError(t, save(t, d, tokens))
	}
	return d.clone()
}

// has checks that the disk has a whole snapshot of one of the lengths, -1 for none, and returns which.
func has(t testing.TB, d *disk, lengths ...int) int {
	t.Helper()
	k, err := New(tiny, unimem.OnHeap())
	require.NoError(t, err)
	defer func() { require.NoError(t, k.Close()) }()
	n := -1
	if err := k.restoreFile(d, talk, print1, nil); err == nil {
		n = k.Len()
		holds(t, k, 0, n)
	} else {
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	require.Contains(t, lengths, n)
	return n
}

// counted runs f with the operations of d counted from 0 on, the one called fail failing.
func counted(d *disk, fail int, cut bool, f func() error) error {
	d.ops, d.fail, d.cut = 0, fail, cut
	err := f()
	d.fail, d.cut, d.dead = 0, false, false
	return err
}

func TestEveryOperationFailsOnce(t *testing.T) {
	for _, s := range steps {
		t.Run(s.name, func(t *testing.T) {
			start := begin(t, s.before)
			whole := start.clone()
			require.NoError(t, counted(whole, 0, false, func() error { return save(t, whole, s.after) }))
			n := whole.ops
			require.Greater(t, n, 6)
			has(t, whole, s.after)
			for i := 1; i <= n; i++ {
				d := start.clone()
				err := counted(d, i, false, func() error { return save(t, d, s.after) })
				require.ErrorIs(t, err, errDisk, "operation %d", i)
				typed(t, err)
				require.Zero(t, d.held, "every file is closed")
				got := has(t, d, s.before, s.after)
				// The next call on the same disk works, and removes what the failure left.
				require.NoError(t, save(t, d, 1), "after %d tokens", got)
				require.Len(t, d.names, 1)
				has(t, d, 1)
			}
		})
	}
}

func TestLossOfPower(t *testing.T) {
	tries := effort.Cases(50)
	for _, s := range steps {
		t.Run(s.name, func(t *testing.T) {
			start := begin(t, s.before)
			whole := start.clone()
			require.NoError(t, counted(whole, 0, false, func() error { return save(t, whole, s.after) }))
			seen := map[int]bool{}
			for i := 1; i <= whole.ops+1; i++ {
				d := start.clone()
				err := counted(d, i, true, func() error { return save(t, d, s.after) })
				for try := range tries {
					left := d.after(rand.New(rand.NewPCG(uint64(i), uint64(try))))
					lengths := []int{s.before, s.after}
					if err == nil {
						lengths = lengths[1:] // it has said that the new one is durable
					}
					seen[has(t, left, lengths...)] = true
					if try == 0 { // what is left can be replaced
						require.NoError(t, save(t, left, 2))
						require.Len(t, left.names, 1)
					}
				}
			}
			require.True(t, seen[s.before] && seen[s.after], "both are seen: %v", seen)
		})
	}
}

// A check of the disk: a writer that does not sync loses its bytes on it, and one that renames before syncing too.
func TestTheDiskLosesWhatIsNotSynced(t *testing.T) {
	for name, careless := range map[string]func(d *disk){
		"no sync": func(d *disk) {
			f, err := d.create("dir/a")
			require.NoError(t, err)
			_, err = f.Write([]byte("new"))
			require.NoError(t, err)
			require.NoError(t, f.Close())
			require.NoError(t, d.rename("dir/a", talk))
			require.NoError(t, d.syncDir("dir"))
		},
		"no sync of the folder": func(d *disk) {
			f, err := d.create("dir/a")
			require.NoError(t, err)
			_, err = f.Write([]byte("new"))
			require.NoError(t, err)
			require.NoError(t, f.Sync())
			require.NoError(t, f.Close())
			require.NoError(t, d.rename("dir/a", talk))
		},
	} {
		d := newDisk()
		old := &content{data: []byte("old"), synced: []byte("old")}
		d.names[talk], d.durable[talk] = old, old
		careless(d)
		seen := map[string]bool{}
		for i := range 200 {
			if c := d.after(rand.New(rand.NewPCG(1, uint64(i)))).names[talk]; c != nil {
				seen[string(c.data)] = true
			}
		}
		if name == "no sync" {
			require.True(t, seen[""] && seen["\x00\x00\x00"] && seen["new"], "%v", seen)
		} else {
			require.True(t, seen["old"] && seen["new"], "%v", seen)
		}
	}
}

// mutated changes a file as damage may: bits, bytes, cuts, growth, moved blocks.
func mutated(r *rand.Rand, text []byte) []byte {
	b := bytes.Clone(text)
	for range 1 + r.IntN(3) {
		if len(b) == 0 {
			return b
		}
		i, j := r.IntN(len(b)), r.IntN(len(b))
		n := min(1+r.IntN(64), len(b)-max(i, j))
		switch r.IntN(7) {
		case 0:
			b[i] ^= 1 << r.IntN(8)
		case 1:
			b[i] = byte(r.Uint32())
		case 2:
			b = b[:i]
		case 3:
			b = append(b, text[:n]...)
		case 4:
			copy(b[i:i+n], bytes.Clone(b[j:j+n]))
		case 5:
			clear(b[i : i+n])
		case 6:
			b = append(b[:i:i], b[i+n:]...)
		}
	}
	return b
}

// No damaged file changes a cache.
func TestNoMutatedFileIsRestored(t *testing.T) {
	files := effort.Cases(10_000)
	k := made(t, tiny, unimem.OnHeap())
	add(t, k, 3)
	d := newDisk()
	require.NoError(t, k.saveFile(d, talk, print1, nil))
	fresh, used := made(t, tiny, unimem.OnHeap()), made(t, tiny, unimem.OnHeap())
	add(t, used, 7)
	images := [2][]byte{image(fresh), image(used)}
	r := rand.New(rand.NewPCG(3, 14))
	refused := 0
	for i := range files {
		whole := d.names[talk]
		bad := mutated(r, whole.data)
		if bytes.Equal(bad, whole.data) {
			continue
		}
		d.names[talk] = &content{data: bad}
		for j, to := range []*Cache{fresh, used} {
			if err := to.restoreFile(d, talk, print1, nil); err == nil {
				t.Fatalf("restored: file %d:\n%q", i, bad)
			}
			if !bytes.Equal(images[j], image(to)) {
				t.Fatalf("changed: file %d:\n%q", i, bad)
			}
		}
		d.names[talk] = whole
		refused++
	}
	require.Greater(t, refused, files*9/10)
	require.NoError(t, fresh.restoreFile(d, talk, print1, nil))
	holds(t, fresh, 0, 3)
	t.Log(refused, "files refused")
}

// Whatever text a stream has, Restore refuses it or restores what Save would write.
func FuzzRestore(f *testing.F) {
	k := made(f, tiny, unimem.OnHeap())
	add(f, k, 3)
	f.Add(saved(f, k, print1))
	k.Clear()
	f.Add(saved(f, k, print1))
	to, used := made(f, tiny, unimem.OnHeap()), made(f, tiny, unimem.OnHeap())
	f.Fuzz(func(t *testing.T, text []byte) {
		add(t, used, 1)
		was := image(used)
		for _, mend := range []func([]byte) []byte{bytes.Clone, mended} {
			b := mend(text)
			for i, c := range []*Cache{to, used} {
				err := c.Restore(bytes.NewReader(b), print1)
				if err == nil {
					again := saved(t, c, print1)
					data := len(again) - c.header(print1).total()
					if !bytes.Equal(again[data:len(again)-8], b[data:len(again)-8]) {
						t.Errorf("restored other bytes than the file has")
					}
				} else if i == 1 && !bytes.Equal(was, image(c)) {
					t.Error("changed by a failed Restore")
				}
				c.Clear()
				add(t, used, 1)
				was = image(used)
			}
		}
	})
}

// mended makes the checksum of a header right, so that the parser after it is reached.
func mended(b []byte) []byte {
	n := 8
	if len(b) >= 8 {
		n += int(min(uint64(len(b)-8), uint64(b[0])|uint64(b[1])<<8|uint64(b[2])<<16))
	}
	if n < 8+len(opening)+digits || !bytes.HasPrefix(b[8:], []byte(opening)) {
		return bytes.Clone(b)
	}
	return append(resum(b[:n]), b[n:]...)
}
