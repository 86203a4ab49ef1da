package wasm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/unimem"
)

// maxRanges and maxPush bound what gpu_run reads before it knows the kernel.
const maxRanges, maxPush = 16, 4096

// errNoGPU: a guest of a Host without a GPU.
var errNoGPU = fmt.Errorf("%w: this host has no GPU", CodeUnsupported)

func gpuAlignment(_ context.Context, g *Guest, _ []uint64) (int, error) {
	if g.host.config.gpu == nil {
		return 0, errNoGPU
	}
	return g.host.config.gpu.Alignment(), nil
}

// gpuRun runs a kernel on ranges of the guest's memory: a name, an array of pointers and lengths, push constants.
func gpuRun(ctx context.Context, g *Guest, p []uint64) (int, error) {
	if g.host.config.gpu == nil {
		return 0, errNoGPU
	}
	name, err := g.name(p[0], p[1])
	if err != nil {
		return 0, err
	}
	if p[3] > maxRanges || p[5] > maxPush {
		return 0, fmt.Errorf("%w: %d ranges and %d bytes of constants, at most %d and %d", CodeLimit, p[3], p[5], maxRanges,
			maxPush)
	}
	table, err := g.memory.Range(p[2], 8*p[3])
	if err != nil {
		return 0, err
	}
	push, err := g.memory.Range(p[4], p[5])
	if err != nil {
		return 0, err
	}
	ranges := make([][2]int, p[3])
	for i := range ranges {
		ptr, length := binary.LittleEndian.Uint32(table[8*i:]), binary.LittleEndian.Uint32(table[8*i+4:])
		region, err := g.memory.InPlace(uint64(ptr), uint64(length)) // no surface is mapped there
		if err != nil {
			return 0, err
		}
		defer region.Close()
		ranges[i] = [2]int{int(ptr), int(length)}
	}
	if g.gpu == nil {
		if g.gpu, err = g.reach(ctx); err != nil {
			return 0, err
		}
	}
	push = append([]byte(nil), push...) // the kernel may write to where it is
	g.stage(ranges, true)
	if err = g.gpu.Run(ctx, name, ranges, push); err == nil {
		g.stage(ranges, false)
	}
	if g.staged == nil && !g.host.device.Info().Offsets { // surfaces come and go over the pages that a driver has pinned
		err = errors.Join(err, g.leave())
	}
	return 0, err
}

// reach imports the guest's Block, or in a copying Host one of its own.
func (g *Guest) reach(ctx context.Context) (hal.GPUMemory, error) {
	b := g.memory.Block()
	if g.host.config.copying {
		own, err := unimem.Open(b.Size())
		if err != nil {
			return nil, err
		}
		g.staged, b = own, own
	}
	m, err := g.host.config.gpu.Import(ctx, b)
	if err != nil {
		err = errors.Join(err, g.staged.Close())
		g.staged = nil
	}
	return m, err
}

// stage copies ranges to the GPU's side, or back, in a copying Host.
func (g *Guest) stage(ranges [][2]int, to bool) {
	if g.staged == nil {
		return
	}
	for _, r := range ranges {
		own, here := g.staged.Bytes()[r[0]:][:r[1]], g.memory.Block().Bytes()[r[0]:][:r[1]]
		if !to {
			own, here = here, own
		}
		g.AddCopied(int64(copy(own, here)))
	}
}

// leave waits for the GPU and takes the guest's memory from it. The caller holds mu.
func (g *Guest) leave() error {
	if g.gpu == nil {
		return nil
	}
	err := errors.Join(g.gpu.Close(), g.staged.Close())
	g.gpu, g.staged = nil, nil
	return err
}

// GPU is what a GPU reaches of the guest's memory, for evidence; nil before the first gpu_run, and between two of them
// on an engine that reads surfaces from byte 0. The Guest owns it.
func (g *Guest) GPU() hal.GPUMemory {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.gpu
}
