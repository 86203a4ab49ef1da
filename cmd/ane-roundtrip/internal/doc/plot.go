package doc

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

// Color is one of the style sheet. Plots are drawn with marks in their place, which become names of variables, so
// that a plot follows the color scheme.
type Color uint8

const (
	Ink Color = iota + 1
	muted
	Rule        // of grids
	mutedEnd    // muted text that ends at its place
	mutedMiddle // muted text around its place
	first       // first to first+5 are the colors of series
)

// tint is the pale color of a series.
func tint(series int) Color { return first + 16 + Color(series%6) }

// Series is the strong color of a series.
func Series(i int) Color { return first + Color(i%6) }

func (h Color) RGBA() (r, g, b, a uint32) { return color.NRGBA{0xfe, 0x01, uint8(h), 0xff}.RGBA() }

// name is the variable of the style sheet.
func (h Color) name() string {
	switch {
	case h == Ink:
		return "--Ink"
	case h == muted || h == mutedEnd || h == mutedMiddle:
		return "--muted"
	case h == Rule:
		return "--line"
	case h >= tint(0):
		return fmt.Sprintf("--t%d", h-tint(0)+1)
	}
	return fmt.Sprintf("--s%d", h-first+1)
}

// colors replaces the marks by variables, and anchors texts. The reader's font may be wider than the one that measured
// the texts: an anchored one stays in its place.
func colors(svg string) string {
	for h, anchor := range map[Color]string{mutedEnd: "end", mutedMiddle: "middle"} {
		mark := fmt.Sprintf("fill:#FE01%02X\"", uint8(h))
		svg = strings.ReplaceAll(svg, mark, mark+` text-anchor="`+anchor+`"`)
	}
	var pairs []string
	for h := Ink; h <= tint(5); h++ {
		pairs = append(pairs, fmt.Sprintf("#FE01%02X", uint8(h)), "var("+h.name()+")")
	}
	return strings.NewReplacer(pairs...).Replace(svg)
}

// Chart is a plot with axes.
type Chart struct {
	X, Y          Axis
	Width, Height float64 // in points; 0 for those of most plots
	rows          bool    // the y Axis has names
	ranged        bool    // the fields below are set
	x0, x1        float64
	y0, y1        float64
	marks         []plotter
}

// plotter draws on the area of the data; px and py place a value.
type plotter func(c draw.Canvas, px, py func(float64) vg.Length)

// reach widens the axes to a point.
func (c *Chart) reach(x, y float64) {
	if !c.ranged {
		c.x0, c.x1, c.y0, c.y1, c.ranged = x, x, y, y, true
	}
	c.x0, c.x1, c.y0, c.y1 = min(c.x0, x), max(c.x1, x), min(c.y0, y), max(c.y1, y)
}

// Curve is a line through points.
type Curve struct {
	Color Color
	Dash  bool
	Step  bool // a staircase
	Dots  bool
	X, Y  []float64
}

// Add adds a Curve; points that have no place on the axes are left out.
func (c *Chart) Add(k Curve) {
	var x, y []float64
	for i := range k.X {
		if i < len(k.Y) && c.X.usable(k.X[i]) && c.Y.usable(k.Y[i]) {
			if k.Step && len(x) > 0 {
				x, y = append(x, k.X[i]), append(y, y[len(y)-1])
			}
			x, y = append(x, k.X[i]), append(y, k.Y[i])
			c.reach(k.X[i], k.Y[i])
		}
	}
	c.marks = append(c.marks, func(at draw.Canvas, px, py func(float64) vg.Length) {
		points := make([]vg.Point, len(x))
		for i := range x {
			points[i] = vg.Point{X: px(x[i]), Y: py(y[i])}
		}
		s := draw.LineStyle{Color: k.Color, Width: 1.75}
		if k.Dash {
			s.Width, s.Dashes = 1.5, []vg.Length{4, 3}
		}
		at.StrokeLines(s, points)
		for _, p := range points {
			if !k.Dots {
				break
			}
			at.SetColor(k.Color)
			var dot vg.Path
			dot.Move(vg.Point{X: p.X + 2.5, Y: p.Y})
			dot.Arc(p, 2.5, 0, 2*math.Pi)
			dot.Close()
			at.Fill(dot)
		}
	})
}

// Bars adds a histogram: counts between edges, filled pale, with an outline.
func (c *Chart) Bars(edges, counts []float64, of int) {
	if len(edges) != len(counts)+1 {
		return
	}
	for _, e := range edges {
		if !c.X.usable(e) {
			return
		}
		c.reach(e, 0)
	}
	for _, n := range counts {
		if !c.Y.usable(n) {
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
		at.StrokeLines(draw.LineStyle{Color: Series(of), Width: 1.25}, outline)
	})
}

// Rectangle adds a filled rectangle between two points, unless one has no place on the axes.
func (c *Chart) Rectangle(x0, y0, x1, y1 float64, fill Color) {
	if !c.X.usable(x0) || !c.X.usable(x1) || !c.Y.usable(y0) || !c.Y.usable(y1) {
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
func (c *Chart) draw(id, title, description string) template.HTML {
	if !c.ranged {
		return ""
	}
	style, err := textStyle()
	if err != nil {
		return "" // the font is in the binary
	}
	width, height := cmp.Or(c.Width, wide), cmp.Or(c.Height, tall)
	c.x0, c.x1 = c.X.span(c.x0, c.x1)
	c.y0, c.y1 = c.Y.span(c.y0, c.y1)
	xs, ys := c.X.placed(c.x0, c.x1), slices.Clone(c.Y.placed(c.y0, c.y1))
	if c.Y.ticks == nil && !c.Y.Log && len(ys) > 0 { // the Axis ends at a label
		c.y0, c.y1 = min(c.y0, ys[0].Value), max(c.y1, ys[len(ys)-1].Value)
	}
	m := margin{right: 12, bottom: 18, top: 8}
	for i, t := range ys {
		for n := len(t.Label); n > 1 && style.Width(ys[i].Label).Points() > 0.4*width; n-- { // names of wide letters
			ys[i].Label = shorten(t.Label, n)
		}
		m.left = max(m.left, 8+1.15*style.Width(ys[i].Label).Points())
	}
	if c.X.Label != "" {
		m.bottom += 14
	}
	if len(xs) == 0 {
		m.bottom = 4
	}
	canvas := vgsvg.New(vg.Length(width), vg.Length(height))
	area := draw.Crop(draw.New(canvas), vg.Length(m.left), -vg.Length(m.right), vg.Length(m.bottom), -vg.Length(m.top))
	px := func(v float64) vg.Length { return area.X(c.X.part(c.x0, c.x1, v)) }
	py := func(v float64) vg.Length { return area.Y(c.Y.part(c.y0, c.y1, v)) }
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
func (c *Chart) labels(xs, ys []tick, style draw.TextStyle, width float64) plotter {
	return func(at draw.Canvas, px, py func(float64) vg.Length) {
		label := func(where Color, x, y vg.Length, text string) {
			style := style
			style.Color = where
			at.FillText(style, vg.Point{X: x, Y: y}, text)
		}
		for _, t := range ys {
			if t.Value < c.y0-1e-9 || t.Value > c.y1+1e-9 || t.Label == "" {
				continue
			}
			if !c.rows {
				at.StrokeLine2(draw.LineStyle{Color: Rule, Width: .75}, at.Min.X, py(t.Value), at.Max.X, py(t.Value))
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
		if c.X.Label != "" {
			x, where := (at.Min.X+at.Max.X)/2, mutedMiddle
			if right := vg.Length(width) - 2; x+1.15*style.Width(c.X.Label)/2 > right {
				x, where = right, mutedEnd
			}
			label(where, x, at.Min.Y-27, c.X.Label)
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

// names makes an Axis of names, one for each whole number from 0 downwards.
func names(all []string) Axis {
	a := Axis{ticks: []tick{}}
	for i, n := range all {
		a.ticks = append(a.ticks, tick{Value: -float64(i), Label: shorten(n, 30)})
	}
	return a
}

// Lengths draws values as bars, one below another, each with its label and the color of its series; the first without.
func Lengths(x Axis, labels []string, values []float64, series ...int) *Chart {
	c := &Chart{rows: true, X: x, Y: names(labels), Height: 46 + 15*float64(len(labels))}
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
func Rows(x Axis, labels []string) *Chart { return &Chart{rows: true, X: x, Y: names(labels)} }

// Plot is a plot with its description, legend and values.
type Plot struct {
	ID      string
	Title   Cell
	Caption []Cell
	SVG     template.HTML
	Legend  []Mark
	Data    *Folded
}

// Mark is an entry of a legend.
type Mark struct {
	Class string
	Name  Cell
}

// SeriesMark is the entry of a series of lines; with the prefix "box " or "dash " of another mark.
func SeriesMark(prefix string, i int, name Cell) Mark {
	return Mark{fmt.Sprintf("%sc%d", prefix, i%6+1), name}
}

// Figures is a group of plots.
type Figures struct {
	Plots  []Plot
	Small  bool   // small multiples
	Legend []Mark // of all plots

	doc *Doc
}

func (f *Figures) empty() bool { return f == nil || len(f.Plots) == 0 }

// Figures returns an empty group of plots.
func (d *Doc) Figures() *Figures { return &Figures{doc: d} }

// Add draws a plot; the description is for readers who do not see it. An empty plot is left out.
func (f *Figures) Add(c *Chart, p Plot, description string) *Figures {
	f.doc.plots++
	p.ID = fmt.Sprintf("p%d", f.doc.plots)
	if p.SVG = c.draw(p.ID, p.Title.Number, description); p.SVG != "" {
		f.Plots = append(f.Plots, p)
	}
	return f
}
