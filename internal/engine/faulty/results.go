package faulty

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

// results are the engines with wrong results.
func results() []Fault {
	return []Fault{
		{Name: "wrong-result", What: "flips the bit below the sign of the last output element", damage: flipElement},
		{Name: "stale-result", What: "returns the result of the previous run", damage: stale},
		{Name: "last-row-missing", What: "leaves the last row of the last output unchanged", run: unfinished},
		{Name: "flushes-subnormals", SuiteOnly: true, What: "writes zero for results below the smallest normal fp16",
			damage: eachHalf(flush)},
		{Name: "short-mantissa", What: "clears the lowest bit of every fp16 result", damage: eachHalf(shorten)},
		{Name: "not-deterministic", What: "changes the lowest bit of one element in every other run", damage: waver},
	}
}

// flipElement damages the last element of the last output: flipping the bit
// below the sign makes numbers below 2 large and the others small.
func flipElement(v *invocation) error {
	row, err := lastRow(v.out)
	if err != nil {
		return err
	}
	bit := byte(1 << 6)
	if v.out[len(v.out)-1].Layout().DType == mil.Bool {
		bit = 1
	}
	row[len(row)-1] ^= bit
	return nil
}

// lastRow returns the bytes of the last row of the last tensor.
func lastRow(tensors []*ane.Tensor) ([]byte, error) {
	t := tensors[len(tensors)-1]
	return t.Row(t.Layout().Rows() - 1)
}

// stale returns the result of each run only in the next one.
func stale(v *invocation) error {
	before := v.results
	v.results = nil
	for i, t := range v.out {
		packed := make([]byte, t.Layout().PackedBytes())
		if _, err := t.Read(packed); err != nil {
			return err
		}
		v.results = append(v.results, packed)
		if before != nil {
			if _, err := t.Write(before[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// unfinished restores the last row after a run.
func unfinished(ctx context.Context, v *invocation) error {
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

// eachHalf applies f to all elements of fp16 outputs.
func eachHalf(f func(uint16) uint16) func(*invocation) error {
	return func(v *invocation) error {
		for _, t := range v.out {
			if t.Layout().DType != mil.FP16 {
				continue
			}
			for i := range t.Layout().Rows() {
				row, err := t.Row(i)
				if err != nil {
					return err
				}
				for at := 0; at < len(row); at += 2 {
					binary.LittleEndian.PutUint16(row[at:], f(binary.LittleEndian.Uint16(row[at:])))
				}
			}
		}
		return nil
	}
}

func flush(h uint16) uint16 {
	if h&0x7c00 == 0 {
		return h & 0x8000
	}
	return h
}

// shorten keeps infinities and NaN, whose lowest bit is not precision.
func shorten(h uint16) uint16 {
	if h&0x7c00 == 0x7c00 {
		return h
	}
	return h &^ 1
}

// waver changes the first element in odd runs.
func waver(v *invocation) error {
	row, err := v.out[0].Row(0)
	if err == nil && v.runs%2 == 1 {
		row[0] ^= 1
	}
	return err
}
