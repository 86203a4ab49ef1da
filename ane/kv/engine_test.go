package kv_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/brokertest"
	"github.com/anekit/anekit/internal/engine/broker"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

const (
	heads, dim, room = 2, 32, 256
	layers           = 2
)

var config = kv.Config{Layers: layers, Heads: heads, HeadDim: dim, Context: room}

var fingerprint = kv.Fingerprint{Model: "attention", Weights: "none", Numerics: "soft"}

// attention is a device with a program of one attention over the whole cache: after the tokens the mask is -inf.
type attention struct {
	device *ane.Device
	model  *ane.Model
}

func newAttention(name string) (a *attention, err error) {
	a = &attention{}
	e := ane.Engine(soft.New())
	if name == broker.Name {
		if e, err = broker.Open(context.Background(), broker.Options{}); err != nil {
			return nil, err
		}
	}
	if a.device, err = ane.Open(e, ""); err != nil {
		return nil, err
	}
	b := build.New()
	f := b.Func("main")
	q := f.Input("q", build.FP16, 1, heads, 1, dim)
	k := f.Input("k", build.FP16, 1, heads, room, dim)
	v := f.Input("v", build.FP16, 1, heads, room, dim)
	mask := f.Input("mask", build.FP16, 1, 1, 1, room)
	f.Output("y", f.ScaledDotProductAttention(q, k, v, build.AttnMask(mask)))
	p, err := b.Program()
	if err == nil {
		a.model, err = a.device.Compile(context.Background(), ane.Source{Program: p})
	}
	if err == nil {
		err = a.model.Load(context.Background())
	}
	if err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

func (a *attention) close() error {
	var err error
	if a.model != nil {
		err = a.model.Close(context.Background())
	}
	return errors.Join(err, a.device.Close())
}

// bound is a request for one layer of a cache, on surfaces of its own beside those of the cache.
type bound struct {
	q, mask, y *ane.Tensor
	blocks     []*unimem.Block
	request    *ane.Request
}

func (a *attention) bind(c *kv.Cache, layer int) (*bound, error) {
	b := &bound{}
	tensor := func(l ane.Layout, err error) *ane.Tensor {
		block := ane.Must(unimem.Open(ane.Must(l, err).Bytes()))
		b.blocks = append(b.blocks, block)
		return ane.Must(ane.OnBlock(block, l))
	}
	b.q, b.mask, b.y = tensor(a.model.Input("q")), tensor(a.model.Input("mask")), tensor(a.model.Output("y"))
	var err error
	b.request, err = a.model.Bind(map[string]*ane.Tensor{"q": b.q, "mask": b.mask, "k": c.Keys(layer),
		"v": c.Values(layer)}, map[string]*ane.Tensor{"y": b.y})
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *bound) close() (err error) {
	if b.request != nil {
		err = b.request.Close()
	}
	for _, block := range b.blocks {
		err = errors.Join(err, block.Close())
	}
	return err
}

// say appends a token of random halves to every layer.
func say(c *kv.Cache) error {
	r := rand.New(rand.NewPCG(1, uint64(c.Position())))
	for layer := range layers {
		var sides [2][]byte
		for side := range sides {
			for range heads * dim {
				h := fp16.FromFloat32(r.Float32()*4 - 2)
				sides[side] = append(sides[side], byte(h), byte(h>>8))
			}
		}
		if err := c.Append(layer, sides[0], sides[1]); err != nil {
			return err
		}
	}
	return c.Advance(1)
}

// run evaluates the layer for the first n tokens and returns the bits of the output.
func (b *bound) run(n int) (string, error) {
	r := rand.New(rand.NewPCG(7, 7))
	q := make([]float32, heads*dim)
	for i := range q {
		q[i] = r.Float32()*2 - 1
	}
	mask := make([]float32, room)
	for i := n; i < room; i++ {
		mask[i] = -65504
	}
	if _, err := b.q.WriteFloat32(q); err != nil {
		return "", err
	}
	if _, err := b.mask.WriteFloat32(mask); err != nil {
		return "", err
	}
	if _, err := b.request.Evaluate(context.Background()); err != nil {
		return "", err
	}
	var all []byte
	for row := range b.y.Rows() {
		all = append(all, row...)
	}
	return hex.EncodeToString(all), nil
}

// talked is the outputs of every layer before and after each of n more tokens. The tensors are bound once.
func talked(name string, c *kv.Cache, n int) (out []string, err error) {
	a, err := newAttention(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	var all [layers]*bound
	for layer := range layers {
		if all[layer], err = a.bind(c, layer); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, all[layer].close()) }()
	}
	for i := range n + 1 {
		if i > 0 {
			if err := say(c); err != nil {
				return nil, err
			}
		}
		for _, b := range all {
			y, err := b.run(c.Len())
			if err != nil {
				return nil, err
			}
			out = append(out, y)
		}
	}
	return out, nil
}

// child restores the snapshot at path, continues it on the software engine, and prints the outputs.
func child(path string) error {
	c, err := kv.New(config)
	if err != nil {
		return err
	}
	if err = c.RestoreFile(path, fingerprint); err == nil {
		var out []string
		if out, err = talked(soft.Name, c, 3); err == nil {
			fmt.Print(strings.Join(out, " "))
		}
	}
	return errors.Join(err, c.Close())
}

// A conversation goes on bit for bit after a snapshot: in another cache, on another engine, in another process.
func TestRoundTripBetweenEnginesAndProcesses(t *testing.T) {
	leaktest.SkipEmulated(t)
	path := filepath.Join(t.TempDir(), "talk.safetensors")
	c := ane.Must(kv.New(config))
	defer func() { require.NoError(t, c.Close()) }()
	first, err := talked(soft.Name, c, 20)
	require.NoError(t, err)
	require.Len(t, first, layers*21)
	require.NotEqual(t, first[40], first[38], "another token, another output")
	require.NotEqual(t, first[40], first[41], "another layer, another output")
	require.NoError(t, c.SaveFile(path, fingerprint))
	want, err := talked(soft.Name, c, 3)
	require.NoError(t, err)
	require.Equal(t, first[40:], want[:2])

	other := ane.Must(kv.New(config))
	defer func() { require.NoError(t, other.Close()) }()
	require.NoError(t, other.RestoreFile(path, fingerprint))
	elsewhere := soft.Name
	if brokertest.Here() {
		elsewhere = broker.Name
	}
	got, err := talked(elsewhere, other, 3)
	require.NoError(t, err)
	require.Equal(t, want, got, "the engine in another process computes the same")

	// and back: what went there continues on the software engine of another process
	require.NoError(t, other.Truncate(20))
	require.NoError(t, other.SaveFile(path, fingerprint))
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childFile+"="+path)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, want, strings.Fields(string(text)))
}

// The tensors of before are refused where they are bound, when the cache has moved.
func TestBoundTensorsOfBeforeAreStale(t *testing.T) {
	a, err := newAttention(soft.Name)
	require.NoError(t, err)
	defer func() { require.NoError(t, a.close()) }()
	grows := config
	grows.Grow = true
	c := ane.Must(kv.New(grows))
	b, err := a.bind(c, 0)
	require.NoError(t, err)
	for range room {
		require.NoError(t, say(c))
	}
	_, err = b.run(room)
	require.NoError(t, err)
	require.NoError(t, say(c))
	_, err = b.run(room)
	require.ErrorIs(t, err, ane.ErrStale)

	err = c.Close()
	require.ErrorIs(t, err, kv.ErrInUse)
	require.ErrorIs(t, err, unimem.ErrInUse)
	require.NoError(t, b.close())
	require.NoError(t, c.Close())
}

func TestBoundTensorsOfAForkAreStaleAfterItsWrite(t *testing.T) {
	a, err := newAttention(soft.Name)
	require.NoError(t, err)
	defer func() { require.NoError(t, a.close()) }()
	c := ane.Must(kv.New(config))
	defer func() { require.NoError(t, c.Close()) }()
	parent, err := a.bind(c, 1)
	require.NoError(t, err)
	defer func() { require.NoError(t, parent.close()) }()
	for range 9 {
		require.NoError(t, say(c))
	}
	f := ane.Must(c.Fork())
	defer func() { require.NoError(t, f.Close()) }()
	b, err := a.bind(f, 1)
	require.NoError(t, err)
	want, err := parent.run(9)
	require.NoError(t, err)
	got, err := b.run(9)
	require.NoError(t, err)
	require.Equal(t, want, got, "the fork computes on the pages of its parent")
	shared := f.Copied() == 0
	require.NoError(t, say(f))
	_, err = b.run(10)
	if shared {
		require.ErrorIs(t, err, ane.ErrStale)
	} else {
		require.NoError(t, err)
	}
	require.NoError(t, b.close())
	if b, err = a.bind(f, 1); err == nil {
		got, err = b.run(9)
	}
	require.NoError(t, err)
	require.Equal(t, want, got)
	again, err := parent.run(9)
	require.NoError(t, err)
	require.Equal(t, want, again)
	require.NoError(t, b.close())
}

// The reader of unimem/safetensors opens snapshots.
func TestSnapshotsOpenAsSafetensors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk.safetensors")
	c := ane.Must(kv.New(config))
	defer func() { require.NoError(t, c.Close()) }()
	for range 5 {
		require.NoError(t, say(c))
	}
	require.NoError(t, c.SaveFile(path, fingerprint))
	f, err := safetensors.Open(path)
	require.NoError(t, err)
	require.Len(t, f.Names(), 2*layers+1)
	x, err := f.Tensor("layers.1.values")
	require.NoError(t, err)
	require.Equal(t, []int{1, heads, 5, dim}, x.Shape())
	require.True(t, x.Aligned())
	row, err := c.Values(1).Row(3)
	require.NoError(t, err)
	require.Equal(t, row, x.Bytes()[3*len(row):][:len(row)])
	require.NoError(t, f.Close())
}

// A request runs on a cache of a Tape while and after that is closed, until the Tape is cleared.
func TestBoundTensorsOfAClosedCacheOnATape(t *testing.T) {
	a, err := newAttention(soft.Name)
	require.NoError(t, err)
	defer func() { require.NoError(t, a.close()) }()
	tape, err := unimem.Start(0, unimem.SurfacePerSpan())
	require.NoError(t, err)
	for range 10 {
		c := ane.Must(kv.NewOn(tape, config))
		b, err := a.bind(c, 0)
		require.NoError(t, err)
		require.NoError(t, say(c))
		before, err := b.run(1)
		require.NoError(t, err)
		outcome := b.request.EvaluateAsync(t.Context())
		require.NoError(t, c.Close())
		require.NoError(t, (<-outcome).Err)
		after, err := b.run(1)
		require.NoError(t, err)
		require.Equal(t, before, after)
		tape.Clear()
		_, err = b.run(1)
		require.ErrorIs(t, err, ane.ErrStale)
		require.ErrorIs(t, tape.Close(), unimem.ErrInUse)
		require.NoError(t, b.close())
	}
	require.NoError(t, tape.Close())
}
