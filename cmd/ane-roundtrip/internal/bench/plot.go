package bench

import (
	_ "embed" // the template
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/template"
)

//go:embed plot.svg
var drawing string

// plot is a plot of lines. Logarithmic concerns both axes; then values are positive.
type plot struct {
	Title, X, Y string
	Logarithmic bool
	Lines       []line
	Ticks       []point // values beside the axes
}

type line struct {
	Name   string
	Points []point
}

type point struct{ X, Y float64 }

// write draws the plot as SVG.
func (p plot) write(w io.Writer) error {
	scale, value := func(v float64) float64 { return v }, func(v float64) float64 { return v }
	var xs, ys []float64
	if p.Logarithmic {
		scale, value = math.Log10, func(v float64) float64 { return math.Pow(10, v) }
	} else {
		ys = []float64{0}
	}
	for _, l := range p.Lines {
		for _, at := range l.Points {
			xs, ys = append(xs, scale(at.X)), append(ys, scale(at.Y))
		}
	}
	x0, x1, y0, y1 := slices.Min(xs), slices.Max(xs), slices.Min(ys), slices.Max(ys)
	for part := 0.0; part <= 1; part += 0.25 {
		p.Ticks = append(p.Ticks, point{value(x0 + part*(x1-x0)), value(y0 + part*(y1-y0))})
	}
	place := func(from, length, low, high float64) func(float64) string {
		return func(v float64) string {
			return fmt.Sprintf("%.1f", from+length*(scale(v)-low)/max(high-low, 1e-9))
		}
	}
	colors := []string{"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#e377c2", "#7f7f7f",
		"#bcbd22", "#17becf"}
	t, err := template.New("plot").Funcs(template.FuncMap{"px": place(80, 490, x0, x1), "py": place(370, -330, y0, y1),
		"row": func(i int) int { return 56 + 16*i }, "color": func(i int) string { return colors[i%len(colors)] },
		"figure": figure}).Parse(drawing)
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}

// figure writes v with three significant digits, or with all those before its point, and without an exponent.
func figure(v float64) string {
	if math.Abs(v) >= 999.5 {
		return fmt.Sprintf("%.0f", v)
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64) // a number that this package has written
	return strconv.FormatFloat(short, 'f', -1, 64)
}
