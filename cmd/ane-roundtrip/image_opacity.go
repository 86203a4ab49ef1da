package main

import (
	"cmp"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/picture"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

// opacityMode says how a filter uses the opacity of a picture.
type opacityMode int

const (
	ignoreOpacity opacityMode = iota // filter the colors alone
	keepOpacity                      // filter colors times opacity, keep the opacity
	filterOpacity                    // filter colors times opacity, and the opacity as a last channel
)

// opacityModeOf returns the mode for a picture and a filter.
func opacityModeOf(p *picture.Picture, f models.Filter) opacityMode {
	switch {
	case !p.Translucent():
		return ignoreOpacity
	case f.Averages():
		return filterOpacity
	}
	return keepOpacity
}

// String is the mode as the report names it.
func (m opacityMode) String() string {
	return [...]string{"none", "kept", "filtered"}[m]
}

// channels is the number of channels that the model filters.
func (m opacityMode) channels(p *picture.Picture) int {
	if m == filterOpacity {
		return p.Channels + 1
	}
	return p.Channels
}

// bandBytes is the approximate size of the input of one evaluation.
const bandBytes = 8 << 20

// bandRows is the number of rows of one evaluation. The engine filters a picture in bands, since
// tensors of the whole picture would take several times its own memory.
func (m opacityMode) bandRows(p *picture.Picture) int {
	const half, least = 2, 16 // bytes of an fp16 sample, rows
	return min(max(bandBytes/(half*m.channels(p)*(p.Width+2)), least), p.Height)
}

// fill writes rows of the picture into a tensor [1, channels, rows+2, width+2], from the row above
// top to the row below the band. Outside of the picture it repeats the first or last row.
func (m opacityMode) fill(x *ane.Tensor, p *picture.Picture, top, rows int) error {
	return eachRow(rows+2, func(i int) error {
		for ch := range m.channels(p) {
			half, err := halves(x, ch*(rows+2)+i)
			if err != nil {
				return err
			}
			switch row := top + i - 1; {
			case ch == p.Channels:
				p.FillOpacity(half, row)
			case m == ignoreOpacity:
				p.FillRow(half, ch, row)
			default:
				p.FillOver(half, ch, row)
			}
		}
		return nil
	})
}

// take overwrites the rows of the picture from top on with the result, a tensor
// [1, channels, rows, width]. It keeps a copy of the last row, which the next band reads.
func (m opacityMode) take(y *ane.Tensor, p *picture.Picture, top, rows int) error {
	end := min(top+rows, p.Height)
	p.Keep(end - 1)
	return eachRow(end-top, func(i int) error {
		row := top + i
		var opacity []fp16.Bits
		var err error
		if m == filterOpacity {
			if opacity, err = halves(y, p.Channels*rows+i); err != nil {
				return err
			}
			p.SetOpacity(row, opacity)
		}
		for ch := range p.Channels {
			half, err := halves(y, ch*rows+i)
			if err != nil {
				return err
			}
			switch m {
			case filterOpacity:
				p.SetOver(ch, row, half, opacity)
			case keepOpacity:
				p.SetOverKept(ch, row, half)
			default:
				p.SetRow(ch, row, half)
			}
		}
		return nil
	})
}

// rowsAtOnce is the number of rows that a goroutine of eachRow takes at a time.
const rowsAtOnce = 4

// eachRow calls f for the rows 0 to n-1, on all processors, until one returns an error.
func eachRow(n int, f func(row int) error) error {
	var next atomic.Int64
	var wait sync.WaitGroup
	workers := max(1, min(runtime.GOMAXPROCS(0), n/rowsAtOnce))
	errs := make([]error, workers)
	for w := range workers {
		wait.Go(func() {
			for {
				end := int(next.Add(rowsAtOnce))
				for row := end - rowsAtOnce; row < min(end, n); row++ {
					if errs[w] = f(row); errs[w] != nil {
						next.Store(int64(n))
						return
					}
				}
				if end >= n {
					return
				}
			}
		})
	}
	wait.Wait()
	return cmp.Or(errs...)
}

// halves returns a row of a tensor in place.
func halves(t *ane.Tensor, row int) ([]fp16.Bits, error) {
	b, err := t.Row(row)
	if err != nil {
		return nil, err
	}
	return unimem.View[fp16.Bits](b)
}
