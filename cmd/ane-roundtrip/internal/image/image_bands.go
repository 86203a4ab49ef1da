package image

import (
	"cmp"
	"runtime"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/picture"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

// bands filters a picture in bands of rows, since tensors of the whole picture would take several times its own memory.
type bands struct {
	p        *picture.Picture
	rows     int // of a band
	channels int // of the model: those of the picture, then its opacity if the filter changes it
}

// bandBytes is the approximate size of the input of one evaluation.
const bandBytes = 8 << 20

// bandsOf returns the bands of a picture, and what the filter does to its opacity, as the report names it. A filter that
// does not average would make a picture transparent where its opacity is even, so such filters keep the opacity.
func bandsOf(p *picture.Picture, f models.Filter) (b bands, opacity string) {
	b, opacity = bands{p: p, channels: p.Channels}, "none"
	if p.Translucent {
		opacity = "kept"
		if f.Averages() {
			b.channels, opacity = p.Channels+1, "filtered"
		}
	}
	const half, least = 2, 16 // bytes of an fp16 sample, rows
	b.rows = min(max(bandBytes/(half*b.channels*(p.Width+2)), least), p.Height)
	return b, opacity
}

// fill writes rows of the picture into a tensor [1, channels, rows+2, width+2], from the row above
// top to the row below the band. Outside of the picture it repeats the first or last row.
func (b bands) fill(x *ane.Tensor, top int) error {
	return eachRow(b.rows+2, func(i int) error {
		for ch := range b.channels {
			half, err := halves(x, ch*(b.rows+2)+i)
			if err != nil {
				return err
			}
			b.p.FillRow(half, ch, top+i-1)
		}
		return nil
	})
}

// take overwrites the rows of the picture from top on with the result, a tensor
// [1, channels, rows, width]. It keeps a copy of the last row, which the next band reads.
func (b bands) take(y *ane.Tensor, top int) error {
	end := min(top+b.rows, b.p.Height)
	b.p.Keep(end - 1)
	return eachRow(end-top, func(i int) error {
		var opacity []fp16.Bits // nil for that of the picture
		for ch := b.channels - 1; ch >= 0; ch-- {
			half, err := halves(y, ch*b.rows+i)
			if err != nil {
				return err
			}
			b.p.SetRow(ch, top+i, half, opacity)
			if ch == b.p.Channels {
				opacity = half
			}
		}
		return nil
	})
}

// eachRow calls f for the rows 0 to n-1, on all processors, and returns an error of one.
func eachRow(n int, f func(row int) error) error {
	var wait sync.WaitGroup
	errs := make([]error, min(runtime.GOMAXPROCS(0), n))
	for w := range errs {
		wait.Go(func() {
			for row := w; row < n && errs[w] == nil; row += len(errs) {
				errs[w] = f(row)
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
