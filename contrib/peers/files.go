package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	peer "github.com/nlpodyssey/safetensors"
	"github.com/x448/float16"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem/safetensors"
)

// files compares what other Go packages do with files of weights: reading headers, and converting numbers.
func (o options) files(t *step.T) {
	for _, n := range []int{291, 10_000, 100_000} {
		if name := fmt.Sprintf("safetensors: open a file of %d tensors", n); o.wants(name) {
			o.open(t, name, n)
		}
	}
	floats, halves, others := make([]float32, 1<<20), make([]fp16.Bits, 1<<20), make([]float16.Float16, 1<<20)
	draw := rand.New(rand.NewPCG(1, 2))
	for i := range floats {
		floats[i] = float32(draw.NormFloat64())
	}
	encode, decode := "float32 to fp16, 1Mi", "fp16 to float32, 1Mi"
	if o.wants(encode) || o.wants(decode) {
		best := o.pair(func() { fp16.Encode(halves, floats) }, func() {
			for i, f := range floats {
				others[i] = float16.Fromfloat32(f)
			}
		})
		for i, h := range halves {
			if uint16(h) != others[i].Bits() {
				step.NoError(fmt.Errorf("%g: %#x, and %#x of the peer", floats[i], h, others[i]))
			}
		}
		o.print(encode, best[0], best[1], 1)
		best = o.pair(func() { fp16.Decode(floats, halves) }, func() {
			for i, h := range others {
				floats[i] = h.Float32()
			}
		})
		o.print(decode, best[0], best[1], 1)
	}
}

// open compares mapping a file and reading its header.
func (o options) open(t *step.T, name string, tensors int) {
	path := filepath.Join(o.dir, fmt.Sprintf("anekit-peers-%d.safetensors", tensors))
	w := step.Must(safetensors.Create(path, nil))
	for i := range tensors {
		step.NoError(w.Add(fmt.Sprintf("model.layers.%d.block.%d.weight", i, i%7), safetensors.F32, []int{4, 4},
			make([]byte, 64)))
	}
	step.NoError(w.Close())
	t.Later(func(context.Context) error { return os.Remove(path) })
	same := func(n int) {
		if n != tensors {
			step.NoError(fmt.Errorf("%s: %d tensors", path, n))
		}
	}
	best := o.pair(func() {
		f := step.Must(safetensors.Open(path))
		same(len(f.Names()))
		step.NoError(f.Close())
	}, func() {
		f := step.Must(os.Open(path))
		size := int(step.Must(f.Stat()).Size())
		mem := step.Must(unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED))
		all := step.Must(peer.Deserialize(mem))
		same(len(all.Names()))
		step.NoError(unix.Munmap(mem))
		step.NoError(f.Close())
	})
	o.print(name, best[0], best[1], 1)
}
