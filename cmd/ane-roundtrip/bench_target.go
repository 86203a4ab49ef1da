package main

import (
	"fmt"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/membench"
)

// figure is the best value of several rounds, with the lowest and highest one.
type figure struct {
	value     float64
	low, high float64
	rounds    int
}

// add adds the value of a round.
func (f *figure) add(v float64) {
	if f.rounds == 0 {
		f.value, f.low, f.high = v, v, v
	}
	f.rounds++
	f.value, f.low, f.high = min(f.value, v), min(f.low, v), max(f.high, v)
}

// spread is the distance between the lowest and the highest round.
func (f figure) spread() float64 { return f.high - f.low }

// target is a figure with the value that it should not exceed.
type target struct {
	name, what, unit string
	figure           figure
	most             float64
	unreachable      string  // why no code can meet the target here; empty if it can
	ratio            *target // of a time: the ratio of the same rounds to their floor; nil if it has no target
}

// Verdicts of a target.
const (
	metTarget    = ""
	withinNoise  = "within noise"
	floorExceeds = "floor is beyond it"
	ratioMet     = "ratio is met"
	missedTarget = "missed"
)

// verdict compares the figure with the target. A figure misses it if it exceeds it by more than the
// spread of the rounds. A time is also compared with the floor of the same rounds, which a loaded machine
// slows as much: it misses its target only if its ratio does.
func (t target) verdict() string {
	switch excess := t.figure.value - t.most; {
	case excess <= 0:
		return metTarget
	case t.unreachable != "":
		return floorExceeds
	case excess <= t.figure.spread():
		return withinNoise
	case t.ratio != nil && t.ratio.verdict() != missedTarget:
		return ratioMet
	}
	return missedTarget
}

// worse is the worse of two verdicts.
func worse(a, b string) string {
	for _, v := range []string{missedTarget, floorExceeds, ratioMet, withinNoise} {
		if a == v || b == v {
			return v
		}
	}
	return metTarget
}

// check returns the target as a check, whose detail gives the measured value, the spread and the target.
func (t target) check() trial.Check {
	v := t.verdict()
	detail := fmt.Sprintf("%s: %s, spread of %d rounds %s, target %s", t.what,
		t.text(t.figure.value), t.figure.rounds, t.text(t.figure.spread()), t.text(t.most))
	name := "bench/" + t.name
	if v == floorExceeds {
		c := trial.Skipped(name, "%s; %s", detail, t.unreachable)
		c.Value, c.Unit = trial.Number(t.figure.value), t.unit
		return c.Against(trial.AtMost(t.most))
	}
	switch v {
	case withinNoise:
		detail += "; exceeds it by less than the spread"
	case ratioMet:
		detail += fmt.Sprintf("; the ratio to the floor of the same rounds, %s, meets its target %s",
			t.ratio.text(t.ratio.figure.value), t.ratio.text(t.ratio.most))
	}
	return trial.Judge(name, v != missedTarget, t.figure.value, t.unit, "%s", detail).Against(trial.AtMost(t.most))
}

// text formats a value with the unit of the target.
func (t target) text(v float64) string {
	if t.unit == "ns" {
		return membench.TimeText(v)
	}
	return fmt.Sprintf("%.2f%s", v, t.unit)
}
