package main

import (
	"fmt"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// figure is the best of several rounds, and how far they lie apart.
type figure struct {
	value     float64
	low, high float64
	rounds    int
}

// add takes the figure of a round.
func (f *figure) add(v float64) {
	if f.rounds == 0 {
		f.value, f.low, f.high = v, v, v
	}
	f.rounds++
	f.value, f.low, f.high = min(f.value, v), min(f.low, v), max(f.high, v)
}

// spread is the noise of the rounds.
func (f figure) spread() float64 { return f.high - f.low }

// target is what a figure should not exceed.
type target struct {
	name, what, unit string
	figure           figure
	most             float64
	beyond           string // why nothing could meet it here, or empty
}

// Verdicts of a target.
const (
	met         = ""
	withinNoise = "within noise"
	floorBeyond = "floor is beyond it"
	missed      = "missed"
)

// verdict compares: a target is missed by more than the spread of the rounds, or it is not.
func (t target) verdict() string {
	switch excess := t.figure.value - t.most; {
	case excess <= 0:
		return met
	case t.beyond != "":
		return floorBeyond
	case excess <= t.figure.spread():
		return withinNoise
	}
	return missed
}

// worse is the worse of two verdicts.
func worse(a, b string) string {
	for _, v := range []string{missed, floorBeyond, withinNoise} {
		if a == v || b == v {
			return v
		}
	}
	return met
}

// check says which target it is, the measured value, the spread and the target.
func (t target) check() trial.Check {
	v := t.verdict()
	told := fmt.Sprintf("%s: %s, spread of %d rounds %s, target %s", t.what,
		t.text(t.figure.value), t.figure.rounds, t.text(t.figure.spread()), t.text(t.most))
	name := "bench/" + t.name
	if v == floorBeyond {
		c := trial.Skipped(name, "%s; %s", told, t.beyond)
		c.Value, c.Unit = trial.Number(t.figure.value), t.unit
		return c.Against(trial.AtMost(t.most))
	}
	if v == withinNoise {
		told += "; beyond it by less than the spread"
	}
	return trial.Judge(name, v != missed, t.figure.value, t.unit, "%s", told).Against(trial.AtMost(t.most))
}

// text is a value of the target with its unit.
func (t target) text(v float64) string {
	if t.unit == "ns" {
		return clock(v)
	}
	return fmt.Sprintf("%.2f%s", v, t.unit)
}

// clock is a time for people.
func clock(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.1f ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.1f us", ns/1e3)
	}
	return fmt.Sprintf("%.1f ms", ns/1e6)
}

// bytesText is a size for people.
func bytesText(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d MB", n>>20)
}

// joined is a list for people.
func joined(list []string) string { return strings.Join(list, ", ") }
