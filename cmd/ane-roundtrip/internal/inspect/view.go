package inspect

import (
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
)

// View lays out a program: what made it, its functions, and its weights.
func View(d *doc.Doc, v *doc.Value) {
	head := doc.Text(v.Code("file"), ": program ", v.Text("version"))
	info := v.At("build_info")
	for _, key := range info.Keys() {
		line := strings.TrimRight(key+" "+info.At(key).Raw, " ") // a value may be empty
		head = append(head, doc.Line(doc.Words("  %s", line)))
	}
	d.Section("Program", nil, head)
	for _, f := range v.Items("functions") {
		d.Section("Function", nil, doc.Text(""), doc.Text("function ", f.Code("name"), " for ", f.Text("opset")),
			tensors(f), remarks(f))
	}
	weights := doc.NewTable("Weights", "weights", "#offset", "type", "#bytes", "file").Shorten(0)
	for _, w := range v.Items("weights") {
		weights.Row(w.Code("path"), w.Plain("offset"), w.Code("type"), w.Plain("bytes"), w.Text("status"))
	}
	total := doc.Text("no weight files")
	if len(weights.Rows) > 0 {
		total = doc.Text(doc.Counted(v.At("weights").Count("", ""), "tensor", "tensors"), ", ", v.Bytes("weight_bytes"),
			" in all")
	}
	d.Section("Weights", nil, doc.Text(""), total, weights)
}

// tensors lists the inputs and outputs of a function.
func tensors(f *doc.Value) *doc.Table {
	t := doc.NewTable("Tensors", "tensor", "side", "type", "shape", "#bytes", "#padding", "#row", "#plane",
		"#batch").Shorten(0)
	for _, side := range []string{"input", "output"} {
		for _, one := range f.Items(side + "s") {
			if one.At("problem").Here() {
				t.Row(one.Code("name"), doc.Words("%s", side), one.Code("type"))
				continue
			}
			t.Row(one.Code("name"), doc.Words("%s", side), one.Text("dtype"), doc.Words("[%s]", one.Joined(" ", "shape").Number),
				one.Plain("bytes"), one.Plain("padding_bytes"), one.Plain("row_stride"), one.Plain("plane_stride"),
				one.Plain("batch_stride"))
		}
	}
	return t
}

// remarks are what a function needs, and what is wrong with its tensors.
func remarks(f *doc.Value) (all doc.Remarks) {
	for _, one := range append(f.Items("inputs"), f.Items("outputs")...) {
		all.Add(one.Text("name").Number+" has no layout", one.Text("problem"))
	}
	operators := doc.Line("none")
	for i, o := range f.Items("operators") {
		if i == 0 {
			operators = nil
		} else {
			operators = doc.Line(operators, ", ")
		}
		operators = doc.Line(operators, o.Plain("count"), " ", o.Code("name"))
		if !o.At("known").Yes() {
			operators = doc.Line(operators, " (not in the software engine)")
		}
	}
	all.Add("operators", operators, "; ", doc.Counted(f.Plain("constants"), "constant", "constants"))
	return all
}
