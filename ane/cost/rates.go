package cost

import (
	"github.com/anekit/anekit/ane/chip"
)

// Figures of the model of M6, from the study's report; section numbers are the report's.
const (
	clock       = 2580.0 // MHz at full clock (11)
	lowest      = 852.0  // MHz (11)
	multipliers = 16 * 256
	peak        = multipliers * clock // fp16 products of one engine in a microsecond
	taskBase    = 5.0                 // microseconds of every task list
	perTask     = 0.013
	submission  = 30.0 // for each engine
	activations = 35e3 // bytes per microsecond of one engine (9.4)
	passRate    = 61e3 // elements per microsecond of the elementwise unit
	passBase    = 0.35
	rewriteRate = 75e3          // products of channels and taps per microsecond (7.4)
	tileLone    = 2 << 20       // bytes of an intermediate for which a task is added
	tileChain   = 1 << 20       // the same where a program has several layers
	resident    = 16 * 64 << 10 // bytes of weights that the cores keep when layers share them
	longChain   = 16            // layers of 1x1 from which eta is that of a long chain
)

const (
	study   = "study 7.4"
	formula = "study 6, 7.4"
)

func measured(v float64, source string) Figure {
	return Figure{Value: v, Degree: chip.Measured, Source: source}
}
func inferred(v float64, source string) Figure {
	return Figure{Value: v, Degree: chip.Inferred, Source: source}
}

// weightRate is how many bytes of weights the engines read in a microsecond, by the bits of an element (9.3, 7.5).
func weightRate(bits int) Figure {
	if rate, ok := map[int]float64{16: 159e3, 8: 136e3, 6: 134e3, 4: 125e3}[bits]; ok {
		return measured(rate, "study 9.3")
	}
	return inferred(150e3, "study 9.3: the mean of formats")
}

// curve interpolates between points, which are sorted by x, and holds the ends.
func curve(x float64, points ...[2]float64) float64 {
	for i, p := range points {
		if x <= p[0] {
			if i == 0 {
				return p[1]
			}
			q := points[i-1]
			return q[1] + (p[1]-q[1])*(x-q[0])/(p[0]-q[0])
		}
	}
	return points[len(points)-1][1]
}

// winograd reports whether a 3x3 or 1x3 convolution is computed with fewer products. It never is from 5 taps, dilated,
// strided, in groups or pruned, nor on less than 256 pixels.
func (p *product) winograd() bool {
	return p.plain && p.density() == 1 && p.kw == 3 && (p.kh == 3 || p.kh == 1) &&
		float64(p.height)*float64(p.width) >= 256
}

// efficiency is eta, the fraction of the peak that a product reaches on one engine or on each of two.
func (p *product) efficiency(engines, layers int) Figure {
	pick := func(by ...float64) Figure { return measured(by[engines-1], study) }
	var eta Figure
	switch {
	case p.weight == nil && !p.conv:
		eta = inferred(pick(0.93, 0.86).Value/3, "maderix: a 1x1 convolution is 3 times a matmul")
	case p.dilated:
		eta = pick(0.70, 0.70)
		if engines == 1 {
			eta.Degree = chip.Inferred
		}
	case p.winograd() && p.kh == 3:
		eta = pick(1.35, 0.965)
		if p.cin >= 512 && p.cout >= 512 && engines == 1 {
			eta.Value = 1.47 // 31 TFLOPS
		}
	case p.winograd():
		eta = pick(1.33, 1.265)
	case p.is(3, 3):
		eta = pick(0.815, 0.79)
	case p.is(1, 1) && layers >= longChain:
		eta = pick(0.975, 0.935)
	case p.is(1, 1):
		eta = pick(0.93, 0.935)
	default:
		eta = pick(0.89, 0.86)
	}
	if !p.plain && !p.dilated {
		eta.Degree, eta.Source = chip.Inferred, "as the study's shapes"
	}
	return eta
}

// cores is the share of the multipliers that the output channels keep busy. 256 channels fill a pass. A last pass of
// fewer works at the rate measured for that number.
func (p *product) cores() Figure {
	full, rest := p.cout/256, p.cout%256
	if rest == 0 {
		return measured(1, study)
	}
	last := float64(rest)
	share := curve(last, [2]float64{0, 0.2}, [2]float64{32, 0.34}, [2]float64{64, 0.56}, [2]float64{96, 0.75},
		[2]float64{192, 0.84}, [2]float64{256, 1})
	f := inferred(float64(p.cout)/(256*float64(full)+last/share), study+": between the widths that were measured")
	if full == 0 && p.is(1, 1) && (rest == 32 || rest == 64 || rest == 96 || rest == 192) {
		f.Degree, f.Source = chip.Measured, study
	}
	return f
}

// pruned is the time of a sparse weight's products, of that of a dense one.
func (p *product) pruned() float64 {
	density := p.density()
	if density >= 1 {
		return 1
	}
	if p.is(3, 3) {
		return curve(1-density, [2]float64{0, 1}, [2]float64{0.5, 1.1}, [2]float64{0.9, 0.33})
	}
	return curve(1-density, [2]float64{0, 1}, [2]float64{0.5, 0.66}, [2]float64{0.75, 0.42}, [2]float64{0.9, 0.36})
}

// eightBit is how much faster 8-bit activations and weights are.
func (p *product) eightBit() Figure {
	switch {
	case !p.eight:
		return measured(1, study)
	case p.is(3, 3):
		return measured(2, study)
	case p.is(1, 1) && p.cin >= 1024:
		return measured(1.815, study)
	case p.is(1, 1):
		return measured(1.4, study+": chains of small layers")
	}
	return inferred(1.4, "as 1x1")
}

// rewritten returns the time of a kernel of width 9 to 15, which the compiler rewrites to stride 2.
func (p *product) rewritten() (Figure, bool) {
	if p.kw < 9 || p.kw > 15 {
		return Figure{}, false
	}
	taps := curve(float64(p.kw), [2]float64{9, 19.3}, [2]float64{10, 21.5}, [2]float64{11, 23.5},
		[2]float64{12, 25.8}, [2]float64{15, 32})
	t := measured(taps*float64(p.kh)*float64(p.cin)*float64(p.cout)/rewriteRate, study)
	if p.kh > 1 || p.kw == 13 || p.kw == 14 {
		t.Degree = chip.Inferred
	}
	return t, true
}

// macTime is the time of the products on one engine at full clock, or on both of two.
func (p *product) macTime(engines, layers int) Figure {
	eta, cores, faster := p.efficiency(engines, layers), p.cores(), p.eightBit()
	t := Figure{Value: p.macs * p.pruned() /
		(peak * eta.Value * cores.Value * faster.Value * float64(engines)), Source: eta.Source,
		Degree: min(eta.Degree, cores.Degree, faster.Degree)}
	if cores.Degree < eta.Degree {
		t.Source = cores.Source
	}
	if p.weight == nil && p.conv {
		t.Degree, t.Source = chip.Inferred, "as a constant weight"
	}
	return t
}

// pass is the time of n elements through the elementwise unit, once or for two operators in a row with one input.
func pass(n float64) Figure { return measured(passBase+n/passRate, "study 6.6") }

// join is the time of an elementwise operator with two inputs.
func join(n float64) Figure {
	const top = 0.52e6
	t := curve(n, [2]float64{0, 4.4}, [2]float64{0.3e6, 5.2}, [2]float64{0.4e6, 11.9}, [2]float64{top, 18.5})
	if n > top {
		return inferred(t+(n-top)*(18.5-11.9)/0.12e6, "study 6.6: beyond its sizes")
	}
	return measured(t, "study 6.6")
}

// completion is how long a call of a task takes to complete, for a caller that waits (6).
func completion(task float64) Figure {
	return measured(curve(task, [2]float64{350, 150}, [2]float64{660, 320}), "study 6")
}

// clockAt is the clock in MHz with a host gap, for a task that takes d microseconds at full clock (11).
func clockAt(d, gap float64) Figure {
	f := measured(min(max(clock*d/(3.35*min(gap, 1000)), lowest), clock), "study 11")
	if gap > 1000 {
		f.Degree, f.Source = chip.Inferred, "study 11: as a gap of 1 ms, the clock falls less beyond"
	}
	return f
}

// afterIdle is what an idle engine adds to a call of t microseconds (12.5).
func afterIdle(idle, t float64) Figure {
	const source = "study 12.5"
	switch {
	case idle <= 0:
		return Figure{}
	case idle <= 30e3:
		return measured(0.2*t, source)
	case idle < 100e3:
		return inferred(curve(idle, [2]float64{30e3, 0.2 * t}, [2]float64{100e3, max(4500, 0.2*t)}),
			source+": between 30 and 100 ms")
	case idle <= 5.68e6:
		return measured(4500, source)
	case idle >= 10.2e6 && idle <= 15.9e6:
		return inferred(57500, source+": 50 ms for the power, 7.5 ms at this age")
	}
	return measured(50e3, source)
}
