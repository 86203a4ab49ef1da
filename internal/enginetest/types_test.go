package enginetest_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/enginetest"
)

// texts collects the programs that engines compile.
type texts struct {
	mu  sync.Mutex
	all map[string]bool
}

// reader is a software engine that records every text.
type reader struct {
	ane.Engine
	texts *texts
}

func (r *reader) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	r.texts.mu.Lock()
	r.texts.all[string(src.Text)] = true
	r.texts.mu.Unlock()
	return r.Engine.Compile(ctx, src)
}

// The hardware supports fp16, fp32 and bool for inputs and outputs. It refuses integers,
// or fails on them, so the suite has no integer inputs and outputs.
func TestNoProgramHasIntegerInputsOrOutputs(t *testing.T) {
	sent := texts{all: map[string]bool{}}
	require.Empty(t, enginetest.Check(t.Context(), func() ane.Engine { return &reader{newSoft(), &sent} }))
	require.Greater(t, len(sent.all), 15)
	parsed := 0
	for text := range sent.all {
		p, err := mil.Parse("", []byte(text))
		if err != nil {
			continue // meant to be refused
		}
		parsed++
		for _, f := range p.Funcs {
			for _, v := range edges(f) {
				require.Contains(t, []mil.DType{mil.FP16, mil.FP32, mil.Bool}, v.Type.DType, "%s in\n%s", v.Name, text)
			}
		}
	}
	require.Greater(t, parsed, 15)
}

// edges returns the inputs and outputs of f. A name without a value is not an output.
func edges(f *mil.Function) []mil.Var {
	all := slices.Clone(f.Params)
	for _, op := range f.Body {
		for _, v := range op.Results {
			if slices.ContainsFunc(f.Results, func(r mil.Ref) bool { return r.Name == v.Name }) {
				all = append(all, v)
			}
		}
	}
	return all
}
