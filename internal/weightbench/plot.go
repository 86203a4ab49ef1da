package weightbench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Line is a line of a plot.
type Line struct {
	Name string
	X, Y []float64
}

// Plot draws lines as SVG. logarithmic concerns both axes; then values have to be positive.
func Plot(title, x, y string, logarithmic bool, lines []Line) string {
	const width, height, left, top, right, bottom = 720.0, 420.0, 80.0, 40.0, 150.0, 50.0
	scale := func(v float64) float64 {
		if logarithmic {
			return math.Log10(v)
		}
		return v
	}
	var xs, ys []float64
	for _, l := range lines {
		for i := range l.X {
			xs, ys = append(xs, scale(l.X[i])), append(ys, scale(l.Y[i]))
		}
	}
	if len(xs) == 0 {
		xs, ys = []float64{0}, []float64{0}
	}
	x0, x1, y0, y1 := slices.Min(xs), slices.Max(xs), slices.Min(ys), slices.Max(ys)
	if !logarithmic {
		y0 = 0
	}
	at := func(v, from, to, low, high float64) float64 {
		if to == from {
			return (low + high) / 2
		}
		return low + (v-from)/(to-from)*(high-low)
	}
	px := func(v float64) float64 { return at(scale(v), x0, x1, left, width-right) }
	py := func(v float64) float64 { return at(scale(v), y0, y1, height-bottom, top) }
	value := func(v float64) float64 {
		if logarithmic {
			return math.Pow(10, v)
		}
		return v
	}
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" font-family="sans-serif" `+
		`font-size="12"><rect width="100%%" height="100%%" fill="white"/>`+"\n", width, height)
	fmt.Fprintf(&s, `<text x="%.0f" y="20" font-size="15">%s</text>`+"\n", left, title)
	fmt.Fprintf(&s, `<path d="M%.0f %.0fV%.0fH%.0f" fill="none" stroke="black"/>`+"\n", left, top, height-bottom,
		width-right)
	for i := range 5 {
		part := float64(i) / 4
		vx, vy := value(x0+part*(x1-x0)), value(y0+part*(y1-y0))
		fmt.Fprintf(&s, `<text x="%.0f" y="%.0f" text-anchor="middle">%s</text>`+"\n", px(vx), height-bottom+16,
			Figure(vx))
		fmt.Fprintf(&s, `<text x="%.0f" y="%.0f" text-anchor="end">%s</text>`+"\n", left-6, py(vy)+4, Figure(vy))
	}
	fmt.Fprintf(&s, `<text x="%.0f" y="%.0f" text-anchor="middle">%s</text>`+"\n", (left+width-right)/2, height-12, x)
	fmt.Fprintf(&s, `<text x="16" y="%.0f" transform="rotate(-90 16 %.0f)" text-anchor="middle">%s</text>`+"\n",
		height/2, height/2, y)
	colors := []string{"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#e377c2", "#7f7f7f",
		"#bcbd22", "#17becf"}
	for i, l := range lines {
		color := colors[i%len(colors)]
		var points []string
		for j := range l.X {
			points = append(points, fmt.Sprintf("%.1f,%.1f", px(l.X[j]), py(l.Y[j])))
		}
		fmt.Fprintf(&s, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n",
			strings.Join(points, " "), color)
		fmt.Fprintf(&s, `<text x="%.0f" y="%.0f" fill="%s">%s</text>`+"\n", width-right+10, top+16*float64(i+1), color,
			l.Name)
	}
	s.WriteString("</svg>\n")
	return s.String()
}

// Figure writes v with three significant digits, or with all those before its point, and without an exponent.
func Figure(v float64) string {
	if math.Abs(v) >= 999.5 {
		return fmt.Sprintf("%.0f", v)
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64) // a number that this package has written
	return strconv.FormatFloat(short, 'f', -1, 64)
}
