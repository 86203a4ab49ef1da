package faulty

import (
	"encoding/binary"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

// results are the engines with wrong results.
func results() []Fault {
	return []Fault{
		{Name: "wrong-result", What: "flips the bit below the sign of the last output element",
			run: spoiled(flipElement)},
		{Name: "stale-result", What: "returns the result of the previous run", run: stale},
		{Name: "last-row-missing", What: "leaves the last row of the last output unchanged", run: unfinished},
		{Name: "flushes-subnormals", SuiteOnly: true, What: "writes zero for results below the smallest normal fp16",
			run: spoiled(eachHalf(flush))},
		{Name: "short-mantissa", What: "clears the lowest bit of every fp16 result", run: spoiled(eachHalf(shorten))},
		{Name: "not-deterministic", What: "changes the lowest bit of one element in every other run",
			run: spoiled(waver)},
	}
}

// flipElement damages the last element of the last output: flipping the bit
// below the sign makes numbers below 2 large and the others small.
func flipElement(v *invocation, _ int) error {
	row, err := lastRow(v.out)
	if err != nil {
		return err
	}
	d := v.out[len(v.out)-1].Layout().DType
	switch top := &row[len(row)-1]; d {
	case mil.Bool:
		*top ^= 1
	default:
		*top ^= 1 << 6
	}
	return nil
}

// lastRow returns the bytes of the last row of the last tensor.
func lastRow(tensors []*ane.Tensor) ([]byte, error) {
	t := tensors[len(tensors)-1]
	return t.Row(t.Layout().Rows() - 1)
}

// eachHalf applies f to all elements of fp16 outputs.
func eachHalf(f func(uint16) uint16) func(*invocation, int) error {
	return func(v *invocation, _ int) error {
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
func waver(v *invocation, n int) error {
	row, err := v.out[0].Row(0)
	if err == nil && n%2 == 1 {
		row[0] ^= 1
	}
	return err
}
