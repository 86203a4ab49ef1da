package image

import (
	"runtime"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/picture"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
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

// fill writes rows of the picture into those of a tensor [1, channels, rows+2, width+2], from the row above top to the
// row below the band. Outside of the picture it repeats the first or last row.
func (b bands) fill(x [][]fp16.Bits, top int) {
	eachRow(b.rows+2, func(i int) {
		for ch := range b.channels {
			b.p.FillRow(x[ch*(b.rows+2)+i], ch, top+i-1)
		}
	})
}

// take overwrites the rows of the picture from top on with those of a tensor [1, channels, rows, width]. It keeps a copy
// of the last row, which the next band reads.
func (b bands) take(y [][]fp16.Bits, top int) {
	end := min(top+b.rows, b.p.Height)
	b.p.Keep(end - 1)
	eachRow(end-top, func(i int) {
		var opacity []fp16.Bits // nil for that of the picture
		for ch := b.channels - 1; ch >= 0; ch-- {
			row := y[ch*b.rows+i]
			b.p.SetRow(ch, top+i, row, opacity)
			if ch == b.p.Channels {
				opacity = row
			}
		}
	})
}

// eachRow calls f for the rows 0 to n-1, on all processors.
func eachRow(n int, f func(row int)) {
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wait.Go(func() {
			for row := w; row < n; row += workers {
				f(row)
			}
		})
	}
	wait.Wait()
}

// rowsOf returns the rows of a tensor in place.
func rowsOf(t *ane.Tensor) (all [][]fp16.Bits) {
	for row := range t.Rows() {
		all = append(all, trial.Must(unimem.View[fp16.Bits](row)))
	}
	return all
}
