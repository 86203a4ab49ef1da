package cost

import "fmt"

const (
	cutAt    = 128  // columns at which the compiler cuts, and the pixels of a tile that need no copy
	copyRate = 0.35 // microseconds per KiB of activations that small tiles exchange
)

// cut returns the first part of a width, a multiple of 128 near the middle; false if the width stays whole.
func cut(width int) (first int, ok bool) {
	first = (width/2 + width%2 + cutAt - 1) / cutAt * cutAt
	if width-first < cutAt {
		first = max(width/2/cutAt, 1) * cutAt
	}
	return first, first < width
}

// split reports whether the compiler cuts the program into tiles for two engines. It does if the sum of the single
// tasks is more than half that of the tiles and the copies between them.
func (w *work) split() (bool, string) {
	var single, tiles, copies float64
	for _, l := range w.layers {
		p := l.product
		if p == nil {
			continue
		}
		one, both, largest, ok := w.tiles(p)
		single, tiles = single+one, tiles+both
		if !ok {
			tiles += one // the layer stays whole, and the other engine waits
			continue
		}
		if largest <= cutAt {
			for _, t := range l.in { // between layers the tiles stay where they are
				if t.Made == nil {
					copies += copyRate * bytes(t) / 1024
				}
			}
		}
	}
	why := fmt.Sprintf("split: %.1f us whole, %.1f us as tiles on two engines", single, (tiles+copies)/2)
	switch {
	case single == 0:
		return false, "nothing to split: no products"
	case single > 0.5*(tiles+copies)*(1+1e-9):
		return true, why
	}
	return false, "not " + why
}

// tiles returns the time of a product on one engine, of its two tiles together, and the pixels of the larger tile.
func (w *work) tiles(p *product) (one, both, largest float64, ok bool) {
	work, reading := p.macTime(1, w.chain).Value, 0.0
	if p.weight != nil {
		reading = float64(p.weight.stored) / weightRate(p.weight.bits).Value
	}
	if t, rewritten := p.rewritten(); rewritten {
		work = max(work, t.Value)
		return max(work, reading), 2 * max(work, reading), p.pixels(), true // both engines share it
	}
	one = max(work, reading)
	share := float64(p.height/2+p.height%2) / float64(p.height)
	if p.height <= 1 {
		first, cuts := cut(p.width)
		if !cuts {
			return one, one, p.pixels(), false
		}
		share = float64(first) / float64(p.width)
	}
	return one, max(work*share, reading) + max(work*(1-share), reading), share * p.pixels(), true
}
