package cost

import "fmt"

const (
	cutAt    = 128  // columns at which the compiler cuts, and the pixels of a tile that need no copy
	copyRate = 0.35 // microseconds per KiB of activations that small tiles exchange
)

// cut returns the two parts of a width: a multiple of 128 near the middle first; false if there is none.
func cut(width int) (first, second int, ok bool) {
	if width <= cutAt {
		return width, 0, false
	}
	first = (width/2 + width%2 + cutAt - 1) / cutAt * cutAt
	if width-first < cutAt {
		first = width / 2 / cutAt * cutAt
	}
	if first == 0 {
		first = cutAt
	}
	return first, width - first, first < width
}

// split reports whether the compiler cuts the program into tiles for two engines: if the sum of the single tasks is
// more than half the sum of the tiles and of the copies between them.
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
	if p.height > 1 {
		first := float64(p.height/2+p.height%2) / float64(p.height)
		return one, max(work*first, reading) + max(work*(1-first), reading), first * p.pixels(), true
	}
	first, _, cuts := cut(p.width)
	if !cuts {
		return one, one, p.pixels(), false
	}
	share := float64(first) / float64(p.width)
	return one, max(work*share, reading) + max(work*(1-share), reading), share * p.pixels(), true
}
