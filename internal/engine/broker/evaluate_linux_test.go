//go:build !macrules

package broker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/access"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
)

func TestEvaluateAllocatesNothing(t *testing.T) {
	if effort.Race {
		t.Skip("the race detector allocates; run without -race")
	}
	r := newRig(t, Options{}, lastRow(1<<20))
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	for name, ctx := range map[string]context.Context{"no end": context.Background(), "a deadline": ctx} {
		n := testing.AllocsPerRun(1000, func() {
			if err := r.run(ctx); err != nil {
				t.Error(err)
			}
		})
		require.Zero(t, n, name)
	}
}

// One small frame each way, whatever the size of the tensors.
func TestTrafficOfEvaluate(t *testing.T) {
	const runs = 100
	var sizes []uint64
	for _, bytes := range []int{1 << 20, 64 << 20} {
		r := newRig(t, Options{}, lastRow(bytes))
		require.NoError(t, r.run(t.Context()))
		before := r.engine.(*engine).traffic()
		for range runs {
			require.NoError(t, r.run(t.Context()))
		}
		after := r.engine.(*engine).traffic()
		require.EqualValues(t, runs, after.FramesOut-before.FramesOut)
		sizes = append(sizes, (after.BytesOut-before.BytesOut)/runs)
	}
	require.Equal(t, sizes[0], sizes[1])
	require.LessOrEqual(t, sizes[0], uint64(wire.HeaderSize+64))
}

// Each Block is sent once, whatever is bound to it, and forgotten with its last request.
func TestSurfacesAreSentOnce(t *testing.T) {
	f := newFake(t)
	r := newRig(t, Options{Path: f.path}, negation())
	in := memory(t, r.in.Layout())
	q, err := r.bind(in, r.out)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			q, err := r.bind(in, r.out)
			if err == nil {
				_, err = r.model.Evaluate(context.Background(), q)
				err = errors.Join(err, q.Close())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 3, f.count(wire.KindSurface))
	require.Zero(t, f.count(wire.KindDrop))
	require.NoError(t, q.Close())
	require.Equal(t, 1, f.count(wire.KindDrop))
}

func TestHeapMemoryIsRefused(t *testing.T) {
	r := newRig(t, Options{}, negation())
	b, err := unimem.Open(r.in.Layout().Bytes(), unimem.OnHeap())
	require.NoError(t, err)
	defer b.Close()
	x, err := ane.OnBlock(b, r.in.Layout())
	require.NoError(t, err)
	_, err = r.bind(x, r.out)
	require.ErrorIs(t, err, unimem.ErrShare)
	r.negates(t, 3)
}

func TestPeer(t *testing.T) {
	e, err := Open(t.Context(), Options{})
	require.NoError(t, err)
	defer e.Close()
	x, err := e.Compile(t.Context(), negation())
	require.NoError(t, err)
	defer x.Close()
	require.NoError(t, x.Load(t.Context()))
	in, out := memory(t, x.Inputs()[0]), memory(t, x.Outputs()[0])
	v, err := x.Prepare([]*ane.Tensor{in}, []*ane.Tensor{out})
	require.NoError(t, err)
	pid, ins, outs := v.(access.Peer).Peer()
	require.NotEqual(t, os.Getpid(), pid)
	require.True(t, lives(pid))
	require.Len(t, ins, 1)
	require.Len(t, outs, 1)
	require.NotZero(t, ins[0])
	for i, tensor := range []*ane.Tensor{in, out} {
		own, err := procmem.At(0, uint64(tensor.Block().Address()))
		require.NoError(t, err)
		there, err := procmem.At(pid, uint64(append(ins, outs...)[i]))
		require.NoError(t, err)
		require.NotZero(t, own.Inode)
		require.Equal(t, []uint64{own.Device, own.Inode}, []uint64{there.Device, there.Inode})
		require.Equal(t, own.OffsetOf(uint64(tensor.Block().Address())), there.OffsetOf(uint64(append(ins, outs...)[i])))
		require.True(t, there.Shared)
	}
	require.NoError(t, v.Close())
	pid, _, _ = v.(access.Peer).Peer()
	require.Zero(t, pid)
}

// missing has no weights and says why.
type missing struct{ err error }

// ReadFile implements ane.Weights.
func (m missing) ReadFile(string) ([]byte, error) { return nil, m.err }

func TestWeightsThatCannotBeRead(t *testing.T) {
	e, err := Open(t.Context(), Options{})
	require.NoError(t, err)
	defer e.Close()
	src := source("weighty", "tensor<fp16, [1, 2, 3, 32]>", "y", `tensor<fp16, [2]> w = const()[name = string("w"), `+
		`val = tensor<fp16, [2]>(BLOBFILE(path = string("@model_path/w.bin"), offset = uint64(64)))];
tensor<fp16, [1, 2, 3, 32]> y = mul(x = x, y = fp16(0x1p+0))[name = string("y")];`)
	for _, w := range []ane.Weights{nil, missing{fs.ErrNotExist}, missing{fs.ErrPermission}} {
		src.Weights = w
		_, err := e.Compile(t.Context(), src)
		require.ErrorIs(t, err, ane.ErrCompile)
		require.ErrorContains(t, err, "weighty.mil:5:")
		if m, ok := w.(missing); ok {
			require.ErrorIs(t, err, m.err)
		}
	}
}

// A weight file that cannot be read has the words that it has on the engine in this process, also for an instance,
// and errors name the engine that the caller opened.
func TestUnreadableWeightsHaveTheWordsOfSoft(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "w.bin"), 0o700))
	const path = "@model_path/w.bin"
	var file blob.Writer
	at, err := file.Add(mil.FP16, make([]byte, 4), 0)
	require.NoError(t, err)
	constant := func(name, path string) string {
		return fmt.Sprintf(`tensor<fp16, [2]> %s = const()[name = string("%s"), val = tensor<fp16, [2]>(BLOBFILE(path = `+
			`string("%s"), offset = uint64(%d)))];`, name, name, path, at) + "\n"
	}
	src := source("weighty", "tensor<fp16, [1, 2, 3, 32]>", "y", constant("w", path)+
		constant("v", "@model_path/w.bin: v.bin")+constant("u", "@model_path/u.bin")+
		`tensor<fp16, [1, 2, 3, 32]> y = mul(x = x, y = fp16(0x1p+0))[name = string("y")];`)
	said := func(e ane.Engine, w ane.Weights, instance bool) string {
		d, err := ane.Open(e, "")
		require.NoError(t, err)
		defer func() { require.NoError(t, d.Close()) }()
		if !instance {
			src.Weights = w
			_, err = d.Compile(t.Context(), src)
		} else {
			src.Weights = ane.Files{path: file.Bytes(), "@model_path/w.bin: v.bin": file.Bytes(),
				"@model_path/u.bin": file.Bytes()}
			m, compiled := d.Compile(t.Context(), src)
			require.NoError(t, compiled)
			_, err = m.WithWeights(t.Context(), w)
			require.NoError(t, m.Close(t.Context()))
		}
		require.ErrorIs(t, err, ane.ErrCompile)
		require.ErrorContains(t, err, "on "+e.Info().Name+": weighty.mil: ")
		return strings.Replace(err.Error(), " on "+e.Info().Name, "", 1)
	}
	compare := func(w ane.Weights, instance bool) {
		e, err := Open(t.Context(), Options{})
		require.NoError(t, err)
		require.Equal(t, said(soft.New(), w, instance), said(e, w, instance))
	}
	for _, w := range []ane.Weights{nil, ane.Files{}, blob.FS(fstest.MapFS{}), blob.Dir(dir), missing{fs.ErrPermission},
		ane.Files{path: file.Bytes()}, ane.Files{path: make([]byte, 100)}} {
		compare(w, false)
	}
	compare(blob.Dir(dir), true)
}

// A program is what its weights were when it was compiled, also at the next broker.
func TestWeightsStay(t *testing.T) {
	const path = "@model_path/w.bin"
	var file blob.Writer
	ones := make([]byte, 2*32)
	for i := range 32 {
		binary.LittleEndian.PutUint16(ones[2*i:], uint16(fp16.FromFloat64(-1)))
	}
	at, err := file.Add(mil.FP16, ones, 0)
	require.NoError(t, err)
	w := weights{path: file.Bytes(), "@model_path/other.bin": {1}}
	src := source("weighty", "tensor<fp16, [1, 2, 3, 32]>", "y", fmt.Sprintf(`tensor<fp16, [1, 1, 1, 32]> w = const()[`+
		`name = string("w"), val = tensor<fp16, [1, 1, 1, 32]>(BLOBFILE(path = string("%s"), offset = uint64(%d)))];
tensor<fp16, [1, 2, 3, 32]> y = mul(x = x, y = w)[name = string("y")];`, path, at))
	src.Weights = w
	r := newRig(t, Options{}, src)
	r.negates(t, 5)
	clear(w[path])
	clear(src.Text)
	pid := r.pid(t)
	signal(t, pid, unix.SIGKILL)
	ends(t, pid)
	r.negates(t, 6)
	require.Equal(t, 2, starts(r.engine))
}
