package report

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"slices"
	"strings"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	plottext "gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Sizes of plots in points, which are the pixels of a telephone: a plot has the width of its column.
const (
	wide      = 360.0
	tall      = 200.0
	smallSize = 10.0
)

// hue is a color of the style sheet. Plots are drawn with marks in their place, which become names of variables, so
// that a plot follows the color scheme.
type hue uint8

const (
	ink hue = iota + 1
	muted
	line
	mutedEnd    // muted text that ends at its place
	mutedMiddle // muted text around its place
	first       // first to first+5 are the colors of series
)

// tint is the pale color of a series.
func tint(series int) hue { return first + 16 + hue(series%6) }

// series is the strong color of a series.
func series(i int) hue { return first + hue(i%6) }

func (h hue) RGBA() (r, g, b, a uint32) { return color.NRGBA{0xfe, 0x01, uint8(h), 0xff}.RGBA() }

// name is the variable of the style sheet.
func (h hue) name() string {
	switch {
	case h == ink:
		return "--ink"
	case h == muted || h == mutedEnd || h == mutedMiddle:
		return "--muted"
	case h == line:
		return "--line"
	case h >= tint(0):
		return fmt.Sprintf("--t%d", h-tint(0)+1)
	}
	return fmt.Sprintf("--s%d", h-first+1)
}

// colors replaces the marks by variables, and anchors texts. The reader's font may be wider than the one that measured
// the texts: an anchored one stays in its place.
func colors(svg string) string {
	for h, anchor := range map[hue]string{mutedEnd: "end", mutedMiddle: "middle"} {
		mark := fmt.Sprintf("fill:#FE01%02X\"", uint8(h))
		svg = strings.ReplaceAll(svg, mark, mark+` text-anchor="`+anchor+`"`)
	}
	var pairs []string
	for h := ink; h <= tint(5); h++ {
		pairs = append(pairs, fmt.Sprintf("#FE01%02X", uint8(h)), "var("+h.name()+")")
	}
	return strings.NewReplacer(pairs...).Replace(svg)
}

// chart is a plot with axes.
type chart struct {
	x, y          axis
	width, height float64
	rows          bool // the y axis has names
	ranged        bool // the fields below are set
	x0, x1        float64
	y0, y1        float64
	marks         []plotter
}

// plotter draws on the area of the data; px and py place a value.
type plotter func(c draw.Canvas, px, py func(float64) vg.Length)

// reach widens the axes to a point.
func (c *chart) reach(x, y float64) {
	if !c.ranged {
		c.x0, c.x1, c.y0, c.y1, c.ranged = x, x, y, y, true
	}
	c.x0, c.x1, c.y0, c.y1 = min(c.x0, x), max(c.x1, x), min(c.y0, y), max(c.y1, y)
}

// curve is a line through points.
type curve struct {
	color hue
	dash  bool
	step  bool // a staircase
	dots  bool
	x, y  []float64
}

// add adds a curve; points that have no place on the axes are left out.
func (c *chart) add(k curve) {
	var x, y []float64
	for i := range k.x {
		if i < len(k.y) && c.x.usable(k.x[i]) && c.y.usable(k.y[i]) {
			if k.step && len(x) > 0 {
				x, y = append(x, k.x[i]), append(y, y[len(y)-1])
			}
			x, y = append(x, k.x[i]), append(y, k.y[i])
			c.reach(k.x[i], k.y[i])
		}
	}
	c.marks = append(c.marks, func(at draw.Canvas, px, py func(float64) vg.Length) {
		points := make([]vg.Point, len(x))
		for i := range x {
			points[i] = vg.Point{X: px(x[i]), Y: py(y[i])}
		}
		s := draw.LineStyle{Color: k.color, Width: 1.75}
		if k.dash {
			s.Width, s.Dashes = 1.5, []vg.Length{4, 3}
		}
		at.StrokeLines(s, points)
		for _, p := range points {
			if !k.dots {
				break
			}
			at.SetColor(k.color)
			var dot vg.Path
			dot.Move(vg.Point{X: p.X + 2.5, Y: p.Y})
			dot.Arc(p, 2.5, 0, 2*math.Pi)
			dot.Close()
			at.Fill(dot)
		}
	})
}

// bars adds a histogram: counts between edges, filled pale, with an outline.
func (c *chart) bars(edges, counts []float64, of int) {
	if len(edges) != len(counts)+1 {
		return
	}
	for _, e := range edges {
		if !c.x.usable(e) {
			return
		}
		c.reach(e, 0)
	}
	for _, n := range counts {
		if !c.y.usable(n) {
			return
		}
		c.reach(edges[0], n)
	}
	c.marks = append(c.marks, func(at draw.Canvas, px, py func(float64) vg.Length) {
		outline := []vg.Point{{X: px(edges[0]), Y: py(0)}}
		for i, n := range counts {
			outline = append(outline, vg.Point{X: px(edges[i]), Y: py(n)}, vg.Point{X: px(edges[i+1]), Y: py(n)})
		}
		outline = append(outline, vg.Point{X: px(edges[len(counts)]), Y: py(0)})
		if of == 0 {
			at.FillPolygon(tint(of), outline)
		}
		at.StrokeLines(draw.LineStyle{Color: series(of), Width: 1.25}, outline)
	})
}

// rectangle adds a filled rectangle between two points, unless one has no place on the axes.
func (c *chart) rectangle(x0, y0, x1, y1 float64, fill hue) {
	if !c.x.usable(x0) || !c.x.usable(x1) || !c.y.usable(y0) || !c.y.usable(y1) {
		return
	}
	c.reach(x0, y0)
	c.reach(x1, y1)
	c.marks = append(c.marks, func(at draw.Canvas, px, py func(float64) vg.Length) {
		left, right := px(x0), px(x1)
		if right-left < 0.75 { // a short span is still seen
			right = left + 0.75
		}
		at.FillPolygon(fill, []vg.Point{{X: left, Y: py(y0)}, {X: right, Y: py(y0)}, {X: right, Y: py(y1)},
			{X: left, Y: py(y1)}})
	})
}

// margin is the room around the data for labels.
type margin struct{ left, right, bottom, top float64 }

// draw widens the ranges to the ends of the axes and returns the plot as SVG, with title and description for readers
// that do not see it.
func (c *chart) draw(id, title, description string) template.HTML {
	if !c.ranged {
		return ""
	}
	style, err := textStyle()
	if err != nil {
		return "" // the font is in the binary
	}
	width, height := cmp.Or(c.width, wide), cmp.Or(c.height, tall)
	c.x0, c.x1 = c.x.span(c.x0, c.x1)
	c.y0, c.y1 = c.y.span(c.y0, c.y1)
	xs, ys := c.x.placed(c.x0, c.x1), slices.Clone(c.y.placed(c.y0, c.y1))
	if c.y.ticks == nil && !c.y.log && len(ys) > 0 { // the axis ends at a label
		c.y0, c.y1 = min(c.y0, ys[0].Value), max(c.y1, ys[len(ys)-1].Value)
	}
	m := margin{right: 12, bottom: 18, top: 8}
	for i, t := range ys {
		for n := len(t.Label); n > 1 && style.Width(ys[i].Label).Points() > 0.4*width; n-- { // names of wide letters
			ys[i].Label = shorten(t.Label, n)
		}
		m.left = max(m.left, 8+1.15*style.Width(ys[i].Label).Points())
	}
	if c.x.label != "" {
		m.bottom += 14
	}
	if len(xs) == 0 {
		m.bottom = 4
	}
	canvas := vgsvg.New(vg.Length(width), vg.Length(height))
	area := draw.Crop(draw.New(canvas), vg.Length(m.left), -vg.Length(m.right), vg.Length(m.bottom), -vg.Length(m.top))
	px := func(v float64) vg.Length { return area.X(c.x.part(c.x0, c.x1, v)) }
	py := func(v float64) vg.Length { return area.Y(c.y.part(c.y0, c.y1, v)) }
	for _, one := range append([]plotter{c.labels(xs, ys, style, width)}, c.marks...) {
		one(area, px, py)
	}
	return frame(canvas, id, title, description, width, height)
}

// textStyle returns the style of the texts of a plot. Of the fonts of gonum's plots the binary has this one.
func textStyle() (draw.TextStyle, error) {
	sans, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		return draw.TextStyle{}, err
	}
	name := font.Font{Typeface: "Liberation", Variant: "Sans"}
	fonts := font.NewCache(font.Collection{{Font: name, Face: sans}})
	return draw.TextStyle{Font: font.From(name, smallSize), Handler: plottext.Plain{Fonts: fonts}}, nil
}

// labels draws the lines of the grid and the texts of both axes.
func (c *chart) labels(xs, ys []tick, style draw.TextStyle, width float64) plotter {
	return func(at draw.Canvas, px, py func(float64) vg.Length) {
		label := func(where hue, x, y vg.Length, text string) {
			style := style
			style.Color = where
			at.FillText(style, vg.Point{X: x, Y: y}, text)
		}
		for _, t := range ys {
			if t.Value < c.y0-1e-9 || t.Value > c.y1+1e-9 || t.Label == "" {
				continue
			}
			if !c.rows {
				at.StrokeLine2(draw.LineStyle{Color: line, Width: .75}, at.Min.X, py(t.Value), at.Max.X, py(t.Value))
			}
			label(mutedEnd, at.Min.X-6, py(t.Value)-4.5, t.Label)
		}
		for _, t := range xs {
			if t.Value < c.x0*(1-1e-9) || t.Value > c.x1*(1+1e-9) {
				continue
			}
			x, where := px(t.Value), mutedMiddle
			half := style.Width(t.Label) / 2
			switch {
			case x+half > vg.Length(width)-2:
				x, where = vg.Length(width)-2, mutedEnd
			case x-half < 2:
				x, where = 0, muted
			}
			label(where, x, at.Min.Y-13, t.Label)
		}
		if c.x.label != "" {
			x, where := (at.Min.X+at.Max.X)/2, mutedMiddle
			if right := vg.Length(width) - 2; x+1.15*style.Width(c.x.label)/2 > right {
				x, where = right, mutedEnd
			}
			label(where, x, at.Min.Y-27, c.x.label)
		}
	}
}

// frame returns the drawing as an element of a page.
func frame(canvas *vgsvg.Canvas, id, title, description string, width, height float64) template.HTML {
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return "" // a Buffer takes everything
	}
	svg := out.String()
	at := strings.Index(svg, "<svg")
	_, rest, _ := strings.Cut(svg[at:], ">")
	const family = "font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal;"
	rest = colors(strings.ReplaceAll(rest, family, ""))
	escape := template.HTMLEscapeString
	return template.HTML(fmt.Sprintf(`<svg class="plot" role="img" viewBox="0 0 %g %g" aria-labelledby="%s-t %s-d">`+
		`<title id="%s-t">%s</title><desc id="%s-d">%s</desc>%s`, width, height, id, id, id, escape(title), id,
		escape(description), strings.TrimRight(rest, "\n")))
}

// shorten cuts a name for the margin of a plot.
func shorten(name string, most int) string {
	r := []rune(name)
	if len(r) <= most {
		return name
	}
	return string(r[:most-1]) + "…"
}

// names makes an axis of names, one for each whole number from 0 downwards.
func names(all []string) axis {
	a := axis{ticks: []tick{}}
	for i, n := range all {
		a.ticks = append(a.ticks, tick{Value: -float64(i), Label: shorten(n, 30)})
	}
	return a
}

// lengths draws values as bars, one below another, each with its label.
func lengths(x axis, labels []string, values []float64) *chart {
	c := &chart{rows: true, x: x, y: names(labels), height: 46 + 15*float64(len(labels))}
	for i, v := range values {
		c.rectangle(0, -float64(i)-.34, v, -float64(i)+.34, series(0))
	}
	return c
}

// floats returns the numbers of an array.
func floats(v *value) []float64 {
	var all []float64
	for _, item := range v.items {
		all = append(all, item.float())
	}
	return all
}

// most returns the largest number, 0 of none.
func most(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	return slices.Max(all)
}

// plot adds a plot and its identity; an empty one is dropped.
func (b *builder) plot(all []plotted, c *chart, p plotted, description string) []plotted {
	b.plots++
	p.ID = fmt.Sprintf("p%d", b.plots)
	if p.SVG = c.draw(p.ID, p.Title.Number, description); p.SVG == "" {
		return all
	}
	return append(all, p)
}
