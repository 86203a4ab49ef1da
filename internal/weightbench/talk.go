package weightbench

import (
	"context"

	"github.com/anekit/anekit/internal/decoderbench"
	"github.com/anekit/anekit/unimem/safetensors"
)

// steps are the tokens that the second suite generates, and those of the third: a cache that grows by 256 moves once.
const steps, longSteps = 24, 240

// Talk measures a model in a folder, its weights mapped and read, in processes of their own. The best of the rounds
// counts.
func Talk(ctx context.Context, dir string, m Model, rounds int) (all []Talked, err error) {
	for range rounds {
		for i, mode := range []safetensors.Mode{safetensors.ReadMode, safetensors.MapMode} {
			r, err := run[Talked](ctx, task{Kind: "talk", Path: dir, Mode: mode, Steps: steps})
			if err != nil {
				return nil, err
			}
			if r.Model = m; len(all) <= i {
				all = append(all, r)
			}
			all[i].best(r)
			all[i].Added = all[i].Peak - all[0].Peak
		}
	}
	return all, nil
}

// best keeps what is better of another round.
func (r *Talked) best(other Talked) {
	r.Load, r.First = min(r.Load, other.Load), min(r.First, other.First)
	r.Prompt, r.Generate = max(r.Prompt, other.Prompt), max(r.Generate, other.Generate)
	r.Peak = min(r.Peak, other.Peak)
}

// Grow measures a model in a folder whose keys and values grow, or are reserved for some tokens: the third suite.
func Grow(ctx context.Context, dir string, m Model, reserved ...int) (all []Talked, err error) {
	for _, tokens := range reserved {
		j := task{Kind: "talk", Path: dir, Mode: safetensors.MapMode, Steps: longSteps, Reserved: tokens}
		if tokens == 0 {
			j.Reserved = -1
		}
		r, err := run[Talked](ctx, j)
		if err != nil {
			return nil, err
		}
		r.Model, r.Keys.Mode = m, decoderbench.Mode(tokens)
		all = append(all, r)
		last := &all[len(all)-1]
		last.Added, last.Keys.Delta = r.Peak-all[0].Peak, r.Keys.Bytes-all[0].Keys.Bytes
	}
	return all, nil
}
