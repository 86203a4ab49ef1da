package info

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/internal/attributes"
	"github.com/anekit/anekit/internal/plist"
)

// printAttributes reads the attributes of a compiled program from a file and prints the layout of its tensors.
func printAttributes(a *cli.App, file string) error {
	v, err := plist.ReadFile(file)
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return cli.Badf("--attributes: %w; give the path of a file that can be read", err)
	}
	if err != nil {
		return cli.Bad(err)
	}
	found, ok := attributes.Search(v)
	if !ok {
		return cli.Bad(fmt.Errorf("%s: neither NetworkStatusList nor ANEFModelDescription; give the modelAttributes of a "+
			"compiled program, as JSON or as an XML property list", file))
	}
	p, err := attributes.Read(found)
	if err != nil {
		return cli.Bad(fmt.Errorf("%s: %w", file, err))
	}
	var objects plist.Array
	var unplaced []string
	for _, q := range p.Procedures {
		unplaced = append(unplaced, q.Unplaced...)
		for _, t := range slices.Concat(q.Inputs, q.Outputs) {
			l := t.Layout
			// Axes count elements; strides and bytes, those of the shortest surface that holds the tensor, are bytes.
			objects = append(objects, plist.Of("name", t.Name, "output", t.Output, "type", t.Type, "batches", l.Batches,
				"channels", l.Channels, "depth", l.Depth, "height", l.Height, "width", l.Width, "row_stride", l.RowStride,
				"plane_stride", l.PlaneStride, "depth_stride", l.DepthStride, "batch_stride", l.BatchStride, "bytes",
				l.Bytes(), "packed", l.Packed(), "index", t.Index, "list", t.List, "procedure", q.Name))
		}
	}
	r := cli.NewReport(nil)
	r.View = attributesView
	if len(objects) > 0 {
		r.Tensors = objects
	}
	if len(unplaced) > 0 {
		r.Details = map[string]any{"unplaced": unplaced}
	}
	a.Deliver(r)
	return nil
}

// attributesView lays out the tensors of a compiled program.
func attributesView(d *doc.Doc, v *doc.Value) {
	w := doc.NewTable("Tensors", "procedure", "tensor", "in/out", "#index", "type", "N x D x C x H x W", "#row", "#plane",
		"#depth", "#batch", "#bytes", "packed").Shorten(0, 1)
	for _, t := range d.Root.Items("tensors") {
		side := map[bool]string{true: "out", false: "in"}[t.At("output").Yes()]
		var axes []string
		for _, axis := range []string{"batches", "depth", "channels", "height", "width"} {
			axes = append(axes, t.At(axis).Raw)
		}
		w.Row(t.Text("procedure"), t.Text("name"), doc.Words("%s", side), t.Plain("index"), t.Text("type"),
			doc.Words("%s", strings.Join(axes, " x ")), t.Plain("row_stride"), t.Plain("plane_stride"),
			t.Plain("depth_stride"), t.Plain("batch_stride"), t.Plain("bytes"), answer(t.At("packed")))
	}
	d.Section("Tensors", nil, w)
	if v.At("unplaced").Here() {
		d.Terminal(doc.Text("the attributes have no layout for ", v.Joined(", ", "unplaced"),
			"; anekit rejects such a program"))
	}
}
