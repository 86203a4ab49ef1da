package faulty

import (
	"context"
	"slices"
)

// stale returns the result of each run only in the next one.
func stale() run {
	var before [][]byte
	return func(ctx context.Context, v *invocation) error {
		if err := v.Invocation.Evaluate(ctx); err != nil {
			return err
		}
		var now [][]byte
		for i, t := range v.out {
			packed := make([]byte, t.Layout().PackedBytes())
			if _, err := t.Read(packed); err != nil {
				return err
			}
			now = append(now, packed)
			if before != nil {
				if _, err := t.Write(before[i]); err != nil {
					return err
				}
			}
		}
		before = now
		return nil
	}
}

// unfinished restores the last row after a run.
func unfinished() run {
	return func(ctx context.Context, v *invocation) error {
		row, err := lastRow(v.out)
		if err != nil {
			return err
		}
		old := slices.Clone(row)
		if err := v.Invocation.Evaluate(ctx); err != nil {
			return err
		}
		copy(row, old)
		return nil
	}
}
