// Package measure compares operations with their floors, the least code that does the same work. Both take turns, so
// that other programs on the machine slow both. A package for each subject has a table of Cases; the command bench
// and the benchmarks of the measured package run them.
package measure

import (
	"context"
	"slices"
	"time"
)

// Side is what takes turns. lap ends a step of a turn; a turn that does not call it is one step.
type Side func(lap func()) error

// Times are the nanoseconds of a side, by turn and step.
type Times [][]float64

// Best is the shortest time of a step.
func (t Times) Best(step int) float64 { return slices.Min(t.step(step)) }

// Median is the median time of a step.
func (t Times) Median(step int) float64 { return percentile(t.step(step), 50) }

func (t Times) step(i int) (all []float64) {
	for _, turn := range t {
		all = append(all, turn[i])
	}
	return all
}

// percentile returns the time that so many of 100 do not exceed. It sorts times.
func percentile(times []float64, of int) float64 {
	slices.Sort(times)
	return times[len(times)*of/100]
}

// Turns calls each side n times, at least once, and returns the times of each. It reverses their order in every
// turn, because each leaves caches and the kernel to the next. It ends between two sides when ctx does.
func Turns(ctx context.Context, n int, sides ...Side) ([]Times, error) {
	all, order := make([]Times, len(sides)), make([]int, len(sides))
	for i := range order {
		order[i] = i
	}
	for range max(n, 1) {
		for _, i := range order {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			var laps []float64
			last := time.Now()
			lap := func() {
				laps = append(laps, max(float64(time.Since(last)), 1))
				last = time.Now()
			}
			if err := sides[i](lap); err != nil {
				return nil, err
			}
			if len(laps) == 0 {
				lap()
			}
			all[i] = append(all[i], laps)
		}
		slices.Reverse(order)
	}
	return all, nil
}

// Best calls a function n times, at least once, and returns its shortest time.
func Best(ctx context.Context, n int, f func() error) (time.Duration, error) {
	t, err := Turns(ctx, n, func(func()) error { return f() })
	if err != nil {
		return 0, err
	}
	return time.Duration(t[0].Best(0)), nil
}
