package info

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/internal/attributes"
	"github.com/anekit/anekit/internal/plist"
)

// placed is a tensor of a compiled program with the layout that anekit gives it. Axes count
// elements; strides are in bytes.
type placed struct {
	Name        string `json:"name"` // without the framework's suffix "@output"
	Output      bool   `json:"output"`
	Type        string `json:"type"` // the framework's name: "Float16"
	Batches     int    `json:"batches"`
	Channels    int    `json:"channels"`
	Depth       int    `json:"depth"`
	Height      int    `json:"height"`
	Width       int    `json:"width"`
	RowStride   int    `json:"row_stride"`
	PlaneStride int    `json:"plane_stride"`
	DepthStride int    `json:"depth_stride"`
	BatchStride int    `json:"batch_stride"`
	Bytes       int    `json:"bytes"` // of the shortest surface that holds it
	Packed      bool   `json:"packed"`
	Index       int    `json:"index"` // of its symbol
	List        string `json:"list"`
	Procedure   string `json:"procedure"`
}

// placedAll lists the tensors of all procedures, inputs first, and the symbols for which the
// attributes have no layout.
func placedAll(p *attributes.Program) (tensors []placed, unplaced []string) {
	for _, q := range p.Procedures {
		for _, t := range append(append([]attributes.Tensor(nil), q.Inputs...), q.Outputs...) {
			l := t.Layout
			tensors = append(tensors, placed{
				Name: t.Name, Output: t.Output, Type: t.Type,
				Batches: l.Batches, Channels: l.Channels, Depth: l.Depth, Height: l.Height, Width: l.Width,
				RowStride: l.RowStride, PlaneStride: l.PlaneStride, DepthStride: l.DepthStride,
				BatchStride: l.BatchStride,
				Bytes:       l.Bytes(), Packed: l.Packed(), Index: t.Index, List: t.List, Procedure: q.Name,
			})
		}
		unplaced = append(unplaced, q.Unplaced...)
	}
	return tensors, unplaced
}

// printAttributes reads the attributes of a compiled program from a file and prints the layout of its
// tensors.
func printAttributes(a *cli.App, file string) error {
	tensors, unplaced, err := readAttributes(file)
	if err != nil {
		return cli.Bad(err)
	}
	r := cli.NewReport(nil)
	if len(tensors) > 0 {
		r.Tensors = tensors
	}
	if len(unplaced) > 0 {
		r.Details = map[string]any{"unplaced": unplaced}
	}
	a.Deliver(r)
	if a.JSON {
		return nil
	}
	w := page.NewTable("procedure", "tensor", "in/out", "index", "type", "N x D x C x H x W", "row", "plane", "depth",
		"batch",
		"bytes", "packed")
	w.Shorten(0, 1)
	for _, t := range tensors {
		side, packed := "in", "no"
		if t.Output {
			side = "out"
		}
		if t.Packed {
			packed = "yes"
		}
		w.Row(cli.Visible(t.Procedure), cli.Visible(t.Name), side, fmt.Sprint(t.Index), t.Type,
			fmt.Sprintf("%d x %d x %d x %d x %d", t.Batches, t.Depth, t.Channels, t.Height, t.Width),
			fmt.Sprint(t.RowStride), fmt.Sprint(t.PlaneStride), fmt.Sprint(t.DepthStride), fmt.Sprint(t.BatchStride),
			fmt.Sprint(t.Bytes), packed)
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

func readAttributes(file string) ([]placed, []string, error) {
	if file == cli.Stdio {
		return nil, nil, cli.Badf("--attributes -: the file is not read from standard input; give the path of a file")
	}
	v, err := plist.ReadFile(file)
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return nil, nil, cli.Badf("--attributes: %w; give the path of a file that can be read", err)
	}
	if err != nil {
		return nil, nil, err
	}
	found, ok := attributes.Search(v)
	if !ok {
		return nil, nil, fmt.Errorf("%s: neither NetworkStatusList nor ANEFModelDescription; give the "+
			"modelAttributes of a compiled program, "+
			"as JSON or as an XML property list", file)
	}
	p, err := attributes.Read(found)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	tensors, unplaced := placedAll(p)
	return tensors, unplaced, nil
}
