package faulty

import (
	"context"
	"slices"

	"github.com/anekit/anekit/ane"
)

// lifetimes are the engines that hold or continue something too long.
func lifetimes() []Fault {
	return []Fault{
		{Name: "ignores-cancel", SuiteOnly: true, What: "continues after the context has ended", run: uncancelled},
		{Name: "never-unloads", SuiteOnly: true, What: "ignores Unload", keep: true},
		{Name: "keeps-weights", SuiteOnly: true, What: "gives instances the weights of their base", based: true},
		{Name: "leaks-hold", What: "holds the Blocks of closed requests", prepare: holding},
	}
}

func uncancelled(ctx context.Context, v *invocation) error {
	return v.Invocation.Evaluate(context.WithoutCancel(ctx))
}

// holding retains every Block once more than it releases it.
func holding(x *executable, in, out []*ane.Tensor) (*invocation, error) {
	v, err := honest(x, in, out)
	if err != nil {
		return nil, err
	}
	for _, t := range slices.Concat(in, out) {
		b := t.Block()
		if err := b.Retain(); err != nil {
			_ = v.Close() // report the first error
			return nil, err
		}
		x.engine.postpone(func() error { b.Release(); return nil })
	}
	return v, nil
}
