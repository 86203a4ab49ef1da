package safetensors

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/internal/huge"
)

// sparse makes a file of 291 tensors, as a Llama of 7B has, whose bytes are a hole.
func sparse(tb testing.TB, size int64) string {
	tb.Helper()
	const tensors = 291
	each := size / tensors / 2
	b, err := newBuilder(map[string]string{"format": "pt"})
	require.NoError(tb, err)
	for i := range tensors {
		b.add(fmt.Sprintf("model.layers.%d.self_attn.q_proj.%d.weight", i/9, i%9), BF16, []int{int(each)}, int(each*2))
	}
	head, err := b.text(0)
	require.NoError(tb, err)
	path := filepath.Join(tb.TempDir(), "sparse"+extension)
	require.NoError(tb, os.WriteFile(path, head, 0o600))
	require.NoError(tb, os.Truncate(path, int64(len(head))+b.end))
	return path
}

// The header is read and checked; the bound of the issue is 0.5 ms and two allocations a tensor.
func BenchmarkOpen(b *testing.B) {
	for _, size := range []int64{1 << 30, 8 << 30} {
		b.Run(fmt.Sprintf("%dGiB", size>>30), func(b *testing.B) {
			path := sparse(b, size)
			b.ReportAllocs()
			for b.Loop() {
				f, err := Open(path)
				require.NoError(b, err)
				_ = f.Close()
			}
		})
	}
}

// The floor of Open: the system calls alone.
func BenchmarkOpenFloor(b *testing.B) {
	path := sparse(b, 1<<30)
	for b.Loop() {
		f, err := os.Open(path)
		require.NoError(b, err)
		var head [64 << 10]byte
		_, err = f.ReadAt(head[:], 0)
		require.NoError(b, err)
		m, err := unimem.MapFile(f)
		require.NoError(b, err)
		_ = f.Close()
		_ = m.Close()
	}
}

func TestOpenAllocatesLittle(t *testing.T) {
	path := sparse(t, 8<<30)
	n := testing.AllocsPerRun(10, func() {
		f, err := Open(path)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	})
	require.Less(t, n, 2.0*291/10, "far below two for each of 291 tensors")
}

// loaded makes a file with data, and returns it with its size.
func loaded(b *testing.B, size int) string {
	path := filepath.Join(b.TempDir(), "data"+extension)
	w, err := Create(path, nil, NoSync())
	require.NoError(b, err)
	data := make([]byte, 16<<20)
	for i := range data {
		data[i] = byte(i * 31 >> 2)
	}
	for i := range size / len(data) {
		require.NoError(b, w.Add(fmt.Sprint(i), U8, []int{len(data)}, data))
	}
	require.NoError(b, w.Close())
	return path
}

const loadSize = 256 << 20

// BenchmarkLoad reads into a Tape, and as its floors the same reads into plain memory, into plain memory with
// huge pages, and into pinned shared memory, which has them where the kernel makes them. Cold is a Tape whose
// pages were never touched: its Load allocates them.
func BenchmarkLoad(b *testing.B) {
	path := loaded(b, loadSize)
	for _, direct := range []bool{true, false} {
		name, opts := "direct", []Option(nil)
		if !direct {
			name, opts = "buffered", []Option{Buffered()}
		}
		b.Run(name, func(b *testing.B) {
			tp, err := unimem.Start(loadSize+1<<20, unimem.Warm())
			require.NoError(b, err)
			defer tp.Close()
			b.SetBytes(loadSize)
			for b.Loop() {
				f, err := Load(context.Background(), path, tp, opts...)
				require.NoError(b, err)
				_ = f.Close()
				tp.Clear()
			}
		})
		if direct {
			b.Run(name+" ring", func(b *testing.B) {
				tp, err := unimem.Start(loadSize+1<<20, unimem.Warm())
				require.NoError(b, err)
				defer tp.Close()
				b.SetBytes(loadSize)
				for b.Loop() {
					f, err := Load(context.Background(), path, tp, Ring())
					require.NoError(b, err)
					if r := f.Report(); r.Ring != nil {
						b.Skip(r.Ring)
					}
					_ = f.Close()
					tp.Clear()
				}
			})
		}
		b.Run(name+" cold", func(b *testing.B) {
			b.SetBytes(loadSize)
			for b.Loop() {
				tp, err := unimem.Start(loadSize + 1<<20)
				require.NoError(b, err)
				f, err := Load(context.Background(), path, tp, opts...)
				require.NoError(b, err)
				_ = f.Close()
				_ = tp.Close()
			}
		})
		for kind, opts := range floors() {
			b.Run(name+" floor "+kind, func(b *testing.B) {
				plain := memoryOf(b, kind, opts)
				b.SetBytes(loadSize)
				for b.Loop() {
					plainReads(b, path, plain.Bytes(), direct)
				}
			})
		}
	}
}

// floors are the kinds of memory that BenchmarkLoad compares with.
func floors() map[string][]unimem.Option {
	return map[string][]unimem.Option{
		"plain": {unimem.OnHeap(), unimem.Warm()}, "huge": {unimem.OnHeap()}, "pinned": {unimem.Warm()},
	}
}

// memoryOf opens memory for the reads of a floor.
func memoryOf(b *testing.B, kind string, opts []unimem.Option) *unimem.Block {
	b.Helper()
	m, err := unimem.Open(loadSize+1<<20, opts...)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, m.Close()) })
	if kind == "huge" {
		huge.Back(m.Bytes())
	}
	return m
}

// plainReads is what Load does with the disk: the same reads by as many goroutines.
func plainReads(b *testing.B, path string, mem []byte, direct bool) {
	f, _, err := openSource(path, direct)
	require.NoError(b, err)
	defer f.Close()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			for at := next.Add(part) - part; at < loadSize; at = next.Add(part) - part {
				if _, err := f.ReadAt(mem[at:min(at+part, int64(len(mem)))], at); err != nil && err != io.EOF {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkLoadRatio takes Load and its floors in turn, which a machine with other work does not bias, and reports
// the median of how many times the bytes a second of the floor Load reaches; the bound of the issue is 0.9.
func BenchmarkLoadRatio(b *testing.B) {
	path := loaded(b, loadSize)
	for _, direct := range []bool{true, false} {
		name, opts := "direct", []Option(nil)
		if !direct {
			name, opts = "buffered", []Option{Buffered()}
		}
		b.Run(name, func(b *testing.B) {
			tp, err := unimem.Start(loadSize+1<<20, unimem.Warm())
			require.NoError(b, err)
			defer tp.Close()
			memory := map[string]*unimem.Block{}
			for kind, o := range floors() {
				memory[kind] = memoryOf(b, kind, o)
			}
			ratios := map[string][]float64{}
			for b.Loop() {
				start := time.Now()
				f, err := Load(context.Background(), path, tp, opts...)
				took := time.Since(start).Seconds()
				require.NoError(b, err)
				_ = f.Close()
				tp.Clear()
				for kind, m := range memory {
					start = time.Now()
					plainReads(b, path, m.Bytes(), direct)
					ratios[kind] = append(ratios[kind], time.Since(start).Seconds()/took)
				}
			}
			for kind, all := range ratios {
				slices.Sort(all)
				b.ReportMetric(all[len(all)/2], kind)
			}
			b.ReportMetric(0, "ns/op") // of all together
		})
	}
}

// BenchmarkFloat16 converts into a Tape; its floor is a copy that reads and writes as many bytes.
func BenchmarkFloat16(b *testing.B) {
	const n = 16 << 20
	path := filepath.Join(b.TempDir(), "data"+extension)
	w, err := Create(path, nil, NoSync())
	require.NoError(b, err)
	require.NoError(b, w.Add("f", F32, []int{n}, make([]byte, 4*n)))
	require.NoError(b, w.Add("b", BF16, []int{n}, make([]byte, 2*n)))
	require.NoError(b, w.Close())
	f, err := Open(path)
	require.NoError(b, err)
	defer f.Close()
	tp, err := unimem.Start(4*n, unimem.Warm())
	require.NoError(b, err)
	defer tp.Close()
	for name, moved := range map[string]int{"f": 6 * n, "b": 4 * n} {
		x, err := f.Tensor(name)
		require.NoError(b, err)
		b.Run(x.DType().String(), func(b *testing.B) {
			b.SetBytes(int64(moved))
			for b.Loop() {
				_, err := x.Float16To(tp.Block().Bytes())
				require.NoError(b, err)
			}
		})
		b.Run(x.DType().String()+" floor", func(b *testing.B) {
			src := make([]byte, moved/2)
			for i := range src {
				src[i] = 1
			}
			dst := tp.Block().Bytes()
			b.SetBytes(int64(moved))
			for b.Loop() {
				copy(dst, src)
			}
		})
	}
}
