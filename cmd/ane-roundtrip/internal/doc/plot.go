package doc

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// Sizes of plots in points, which are the pixels of a telephone: a plot has the width of its column.
const (
	wide   = 360.0
	tall   = 200.0
	letter = 6.0 // width of a narrow letter, at most on average, in the reader's font
)

// Color is a variable of the style sheet, so that a plot follows the color scheme.
type Color string

// Colors beside those of series.
const (
	Ink   Color = "--ink"
	muted Color = "--muted"
	Rule  Color = "--line" // of grids
)

// Series is the strong color of a series, tint the pale one.
func Series(i int) Color { return Color(fmt.Sprintf("--s%d", i%6+1)) }
func tint(i int) Color   { return Color(fmt.Sprintf("--t%d", i%6+1)) }

// Chart is a plot with axes.
type Chart struct {
	X, Y          Axis
	Width, Height float64 // in points; 0 for those of most plots
	rows          bool    // the y axis has names
	ranged        bool    // the fields below are set
	x0, x1        float64
	y0, y1        float64
	marks         []func(*pen)
}

// reach widens the axes to a point.
func (c *Chart) reach(x, y float64) {
	if !c.ranged {
		c.x0, c.x1, c.y0, c.y1, c.ranged = x, x, y, y, true
	}
	c.x0, c.x1, c.y0, c.y1 = min(c.x0, x), max(c.x1, x), min(c.y0, y), max(c.y1, y)
}

// usable reports whether a point has a place on the axes.
func (c *Chart) usable(x, y float64) bool { return c.X.usable(x) && c.Y.usable(y) }

// Curve is a line through points.
type Curve struct {
	Color Color
	Dash  bool
	Step  bool // a staircase
	Dots  bool
	X, Y  []float64
}

// Add adds a curve; points that have no place on the axes are left out.
func (c *Chart) Add(k Curve) {
	var points [][2]float64
	for i := range min(len(k.X), len(k.Y)) {
		if !c.usable(k.X[i], k.Y[i]) {
			continue
		}
		if k.Step && len(points) > 0 {
			points = append(points, [2]float64{k.X[i], points[len(points)-1][1]})
		}
		points = append(points, [2]float64{k.X[i], k.Y[i]})
		c.reach(k.X[i], k.Y[i])
	}
	stroke := "stroke-width:1.75"
	if k.Dash {
		stroke = "stroke-width:1.5;stroke-dasharray:4,3"
	}
	c.marks = append(c.marks, func(p *pen) {
		p.path(points, "fill:none;stroke:var(%s);%s", k.Color, stroke)
		for _, at := range points {
			if k.Dots {
				p.printf(`<circle cx="%.5g" cy="%.5g" r="2.5" style="fill:var(%s)"/>`, p.x(at[0]), p.y(at[1]), k.Color)
			}
		}
	})
}

// Bars adds a histogram: counts between edges, the first one filled pale, with an outline.
func (c *Chart) Bars(edges, counts []float64, of int) {
	if len(edges) != len(counts)+1 || slices.ContainsFunc(edges, func(e float64) bool { return !c.X.usable(e) }) ||
		slices.ContainsFunc(counts, func(n float64) bool { return !c.Y.usable(n) }) {
		return
	}
	points := [][2]float64{{edges[0], 0}}
	for i, n := range counts {
		points = append(points, [2]float64{edges[i], n}, [2]float64{edges[i+1], n})
	}
	points = append(points, [2]float64{edges[len(counts)], 0})
	for _, at := range points {
		c.reach(at[0], at[1])
	}
	fill := "none"
	if of == 0 {
		fill = fmt.Sprintf("var(%s)", tint(of))
	}
	c.marks = append(c.marks, func(p *pen) {
		p.path(points, "fill:%s;stroke:var(%s);stroke-width:1.25", fill, Series(of))
	})
}

// Rectangle adds a filled rectangle between two points, unless one has no place on the axes.
func (c *Chart) Rectangle(x0, y0, x1, y1 float64, fill Color) {
	if !c.usable(x0, y0) || !c.usable(x1, y1) {
		return
	}
	c.reach(x0, y0)
	c.reach(x1, y1)
	c.marks = append(c.marks, func(p *pen) {
		// A short span is still seen.
		p.printf(`<rect x="%.5g" y="%.5g" width="%.5g" height="%.5g" style="fill:var(%s)"/>`, p.x(x0),
			min(p.y(y0), p.y(y1)), max(0.75, p.x(x1)-p.x(x0)), max(p.y(y0), p.y(y1))-min(p.y(y0), p.y(y1)), fill)
	})
}

// Lengths draws values as bars, one below another, each with its label and the color of its series; the first without.
func Lengths(x Axis, labels []string, values []float64, series ...int) *Chart {
	c := Rows(x, labels)
	c.Height = 46 + 15*float64(len(labels))
	for i, v := range values {
		of := 0
		if i < len(series) {
			of = series[i]
		}
		c.Rectangle(0, -float64(i)-.34, v, -float64(i)+.34, Series(of))
	}
	return c
}

// Rows draws rectangles in rows with names, one for each whole number from 0 downwards.
func Rows(x Axis, labels []string) *Chart {
	c := &Chart{rows: true, X: x, Y: Bare()}
	for i, name := range labels {
		c.Y.ticks = append(c.Y.ticks, tick{Value: -float64(i), Label: shorten(name, 30)})
	}
	return c
}

// shorten cuts a name for the margin of a plot.
func shorten(name string, most int) string {
	r := []rune(name)
	if len(r) <= most {
		return name
	}
	return string(r[:most-1]) + "…"
}

// length is the length of a text, at most.
func length(text string) (sum float64) {
	for _, r := range text {
		switch {
		case r >= 0x1100:
			sum += 2 * letter
		case strings.ContainsRune("WMmw@%", r):
			sum += 5. / 3 * letter
		default:
			sum += letter
		}
	}
	return sum
}

// draw returns the plot as SVG, with title and description for readers who do not see it; empty for a plot of nothing.
func (c *Chart) draw(id, title, description string) template.HTML {
	if !c.ranged {
		return ""
	}
	width, height := cmp.Or(c.Width, wide), cmp.Or(c.Height, tall)
	c.x0, c.x1 = c.X.span(c.x0, c.x1)
	c.y0, c.y1 = c.Y.span(c.y0, c.y1)
	xs, ys := c.X.placed(c.x0, c.x1), slices.Clone(c.Y.placed(c.y0, c.y1))
	if c.Y.ticks == nil && !c.Y.Log && len(ys) > 0 { // the axis ends at a label
		c.y0, c.y1 = min(c.y0, ys[0].Value), max(c.y1, ys[len(ys)-1].Value)
	}
	p := &pen{Chart: c, left: 12, right: width - 12, top: 8, bottom: height - 18}
	for i, t := range ys {
		for n := len(t.Label); n > 1 && length(ys[i].Label) > 0.4*width; n-- {
			ys[i].Label = shorten(t.Label, n)
		}
		p.left = max(p.left, 8+length(ys[i].Label))
	}
	switch {
	case c.X.Label != "":
		p.bottom -= 14
	case len(xs) == 0:
		p.bottom = height - 4
	}
	escape := template.HTMLEscapeString
	p.printf(`<svg class="plot" role="img" viewBox="0 0 %g %g" aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title>`+
		`<desc id="%s-d">%s</desc>`, width, height, id, id, id, escape(title), id, escape(description))
	p.labels(xs, ys, width)
	for _, mark := range c.marks {
		mark(p)
	}
	p.printf("</svg>")
	return template.HTML(p.String())
}

// pen draws a chart as SVG, on the area of the data between its margins.
type pen struct {
	*Chart
	strings.Builder
	left, right, top, bottom float64
}

func (p *pen) printf(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *pen) x(v float64) float64 { return p.left + p.X.part(p.x0, p.x1, v)*(p.right-p.left) }
func (p *pen) y(v float64) float64 { return p.bottom - p.Y.part(p.y0, p.y1, v)*(p.bottom-p.top) }

// path draws lines through points.
func (p *pen) path(points [][2]float64, style string, args ...any) {
	var d strings.Builder
	for i, at := range points {
		fmt.Fprintf(&d, "%c%.5g,%.5g", "ML"[min(i, 1)], p.x(at[0]), p.y(at[1]))
	}
	p.printf(`<path d="%s" style="%s"/>`, &d, fmt.Sprintf(style, args...))
}

// text writes a label at its anchor: start, middle or end. It stays in its place where the reader's font is wider.
func (p *pen) text(x, y float64, anchor, label string) {
	p.printf(`<text x="%.5g" y="%.5g" text-anchor="%s" style="font-size:10px;fill:var(%s)">%s</text>`, x, y, anchor, muted,
		template.HTMLEscapeString(label))
}

// labels draws the lines of the grid and the texts of both axes.
func (p *pen) labels(xs, ys []tick, width float64) {
	within := func(low, high, v float64) bool {
		near := 1e-9 * (high - low)
		return v >= low-near && v <= high+near
	}
	for _, t := range ys {
		if !within(p.y0, p.y1, t.Value) || t.Label == "" {
			continue
		}
		if !p.rows {
			p.path([][2]float64{{p.x0, t.Value}, {p.x1, t.Value}}, "stroke:var(%s);stroke-width:.75", Rule)
		}
		p.text(p.left-6, p.y(t.Value)+3.5, "end", t.Label)
	}
	for _, t := range xs {
		if within(p.x0, p.x1, t.Value) {
			p.centered(p.x(t.Value), p.bottom+13, width, t.Label)
		}
	}
	p.centered((p.left+p.right)/2, p.bottom+27, width, p.X.Label)
}

// centered writes a label around x, or at an edge of the plot that it would cross.
func (p *pen) centered(x, y, width float64, label string) {
	half := length(label) / 2
	switch {
	case label == "":
	case x+half > width-2:
		p.text(width-2, y, "end", label)
	case x-half < 2:
		p.text(0, y, "start", label)
	default:
		p.text(x, y, "middle", label)
	}
}
