package info

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/internal/attributes"
	"github.com/anekit/anekit/internal/plist"
)

// printAttributes reads the attributes of a compiled program from a file and prints the layout of its
// tensors.
func printAttributes(a *cli.App, file string) error {
	p, err := readAttributes(file)
	if err != nil {
		return cli.Bad(err)
	}
	var objects plist.Array
	var unplaced []string
	w := page.NewTable("procedure", "tensor", "in/out", "index", "type", "N x D x C x H x W", "row", "plane", "depth",
		"batch", "bytes", "packed")
	w.Shorten(0, 1)
	for _, q := range p.Procedures {
		unplaced = append(unplaced, q.Unplaced...)
		for _, t := range slices.Concat(q.Inputs, q.Outputs) {
			l, side, packed := t.Layout, "in", "no"
			if t.Output {
				side = "out"
			}
			if l.Packed() {
				packed = "yes"
			}
			// Axes count elements; strides and bytes, those of the shortest surface that holds the tensor, are bytes.
			objects = append(objects, dict("name", t.Name, "output", t.Output, "type", t.Type, "batches", l.Batches,
				"channels", l.Channels, "depth", l.Depth, "height", l.Height, "width", l.Width, "row_stride", l.RowStride,
				"plane_stride", l.PlaneStride, "depth_stride", l.DepthStride, "batch_stride", l.BatchStride, "bytes",
				l.Bytes(), "packed", l.Packed(), "index", t.Index, "list", t.List, "procedure", q.Name))
			w.Row(cli.Visible(q.Name), cli.Visible(t.Name), side, fmt.Sprint(t.Index), t.Type,
				fmt.Sprintf("%d x %d x %d x %d x %d", l.Batches, l.Depth, l.Channels, l.Height, l.Width),
				fmt.Sprint(l.RowStride), fmt.Sprint(l.PlaneStride), fmt.Sprint(l.DepthStride),
				fmt.Sprint(l.BatchStride), fmt.Sprint(l.Bytes()), packed)
		}
	}
	r := cli.NewReport(nil)
	if len(objects) > 0 {
		r.Tensors = objects
	}
	if len(unplaced) > 0 {
		r.Details = map[string]any{"unplaced": unplaced}
	}
	a.Deliver(r)
	if a.JSON {
		return nil
	}
	if err := a.Table(w); err != nil {
		return err
	}
	if len(unplaced) > 0 {
		err = a.Printf("\nthe attributes have no layout for %s; anekit rejects such a program\n",
			cli.Visible(strings.Join(unplaced, ", ")))
	}
	return err
}

func readAttributes(file string) (*attributes.Program, error) {
	if file == cli.Stdio {
		return nil, cli.Badf("--attributes -: the file is not read from standard input; give the path of a file")
	}
	v, err := plist.ReadFile(file)
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return nil, cli.Badf("--attributes: %w; give the path of a file that can be read", err)
	}
	if err != nil {
		return nil, err
	}
	found, ok := attributes.Search(v)
	if !ok {
		return nil, fmt.Errorf("%s: neither NetworkStatusList nor ANEFModelDescription; give the modelAttributes of a "+
			"compiled program, as JSON or as an XML property list", file)
	}
	p, err := attributes.Read(found)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}
