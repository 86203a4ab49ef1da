package report

import (
	"bytes"
	"fmt"
	"html"
)

// markup is text that is HTML already.
type markup string

// writer collects a page. A writer and not html/template, which keeps every exported method in the binary.
type writer struct{ bytes.Buffer }

// put writes HTML with arguments in it. It escapes each string among them for text and for quoted attributes.
func (w *writer) put(format string, args ...any) {
	safe := make([]any, len(args))
	for i, arg := range args {
		if s, ok := arg.(string); ok {
			arg = html.EscapeString(s)
		}
		safe[i] = arg
	}
	fmt.Fprintf(w, format, safe...)
}

// attribute is an attribute with a blank before it; nothing for an empty value.
func attribute(name, value string) markup {
	if value == "" {
		return ""
	}
	return markup(" " + name + `="` + html.EscapeString(value) + `"`)
}

// document writes the whole page.
func (w *writer) document(d *document) {
	w.put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>ane-roundtrip %s: %s</title>
<style>%s</style>
</head>
<body>
<header>
<p class="kicker">ane-roundtrip %s</p>
<h1%s>`, d.Command, d.Word, markup(style), d.Command, attribute("class", d.Tone))
	w.cell(d.Verdict)
	w.put("</h1>\n")
	w.line("p", "summary", d.Summary)
	w.put("\n")
	w.line("p", "about", d.About)
	w.put("\n")
	w.entries("keys", d.Keys)
	w.put("\n</header>\n")
	if len(d.Sections) > 2 {
		w.put(`<nav aria-label="Sections"><ul>`)
		for _, s := range d.Sections {
			w.put(`<li><a href="#%s">%s</a></li>`, s.ID, s.Heading)
		}
		w.put("</ul></nav>")
	}
	w.put("\n<main>\n")
	for i := range d.Sections {
		w.section(&d.Sections[i])
	}
	w.put("</main>\n<footer>")
	w.line("p", "", d.Foot)
	w.put("</footer>\n</body>\n</html>\n")
}

func (w *writer) section(s *section) {
	w.put("<section id=\"%s\" aria-labelledby=\"%s-h\">\n<h2 id=\"%s-h\">%s</h2>\n", s.ID, s.ID, s.ID, s.Heading)
	w.line("p", "intro", s.Intro)
	w.put("\n")
	for i := range s.Blocks {
		b := &s.Blocks[i]
		w.line("p", "", b.Text)
		w.entries("facts", b.Entries)
		if b.Table != nil {
			w.table(b.Table)
		}
		w.legend(b.Legend)
		w.plots(b)
		w.folded("wide", b.Folded)
		w.put("\n")
	}
	w.put("</section>\n")
}

// cell writes a figure with its value and unit in the object, a text with its place, or words of the page.
func (w *writer) cell(c cell) {
	class := attribute("class", c.Class)
	switch {
	case c.Figure():
		w.put(`<data%s data-json="%s"%s data-raw="%s" data-unit="%s" value="%s">%s`, class, c.Path,
			attribute("data-of", c.Of), c.Raw, c.Kind, c.Raw, c.Number)
		if c.Unit != "" {
			w.put(`<span class="unit">&#8239;%s</span>`, c.Unit)
		}
		w.put("</data>")
	case c.Path != "":
		w.put(`<span%s data-json="%s">%s</span>`, class, c.Path, c.Number)
		if c.Unit != "" {
			w.put(` <span class="unit">%s</span>`, c.Unit)
		}
	case c.Class != "":
		w.put(`<span%s>%s</span>`, class, c.Number)
	default:
		w.put("%s", c.Number)
	}
}

// line writes cells in an element; nothing without cells.
func (w *writer) line(element markup, class string, cells []cell) {
	if len(cells) == 0 {
		return
	}
	w.put("<%s%s>", element, attribute("class", class))
	for _, c := range cells {
		w.cell(c)
	}
	w.put("</%s>", element)
}

func (w *writer) entries(class string, all []entry) {
	if len(all) == 0 {
		return
	}
	w.put(`<dl class="%s">`, class)
	for _, e := range all {
		w.put("<div><dt>%s</dt><dd>", e.Name)
		for _, c := range e.What {
			w.cell(c)
		}
		w.put("</dd></div>")
	}
	w.put("</dl>")
}

func (w *writer) legend(all []mark) {
	if len(all) == 0 {
		return
	}
	w.put(`<ul class="legend">`)
	for _, m := range all {
		w.put(`<li><span class="swatch %s" aria-hidden="true"></span>`, m.Class)
		w.cell(m.Name)
		w.put("</li>")
	}
	w.put("</ul>")
}

func (w *writer) plots(b *block) {
	if len(b.Plots) == 0 {
		return
	}
	class := "plots"
	if b.Small {
		class = "plots small"
	}
	w.put(`<div class="%s">`, class)
	for i := range b.Plots {
		p := &b.Plots[i]
		w.put("\n<figure>\n<figcaption><strong>")
		w.cell(p.Title)
		w.put("</strong>")
		if len(p.Caption) > 0 {
			w.put(" ")
			w.line("span", "about", p.Caption)
		}
		w.put("</figcaption>\n%s\n", p.SVG)
		w.legend(p.Legend)
		w.put("\n")
		w.folded("", p.Data)
		w.put("\n</figure>")
	}
	w.put("\n</div>")
}

func (w *writer) folded(class string, f *folded) {
	if f == nil {
		return
	}
	w.put("<details%s><summary>%s</summary>", attribute("class", class), f.Summary)
	w.table(f.Table)
	w.put("</details>")
}

func (w *writer) table(t *table) {
	w.put(`<div class="scroll" role="region" tabindex="0" aria-label="%s"><table role="table">
<caption>%s</caption>
<thead role="rowgroup"><tr role="row">`, t.Caption, t.Caption)
	for _, c := range t.Columns {
		w.put(`<th role="columnheader" scope="col"%s>%s</th>`, attribute("class", c.Class), c.Name)
	}
	w.put("</tr></thead>\n<tbody role=\"rowgroup\">\n")
	for _, r := range t.Rows {
		w.put(`<tr role="row"%s>`, attribute("class", r.Class))
		for i, c := range r.Cells {
			var head column
			if i < len(t.Columns) {
				head = t.Columns[i]
			}
			if i == 0 {
				w.put(`<th role="rowheader" scope="row"%s>`, attribute("class", head.Class))
				w.cell(c)
				w.put("</th>")
				continue
			}
			class := head.Class
			if c.Number == "" {
				class = "none " + class
			}
			w.put(`<td role="cell"%s data-label="%s">`, attribute("class", class), head.Name)
			w.cell(c)
			w.put("</td>")
		}
		w.put("</tr>\n")
	}
	w.put("</tbody>\n</table></div>")
}
