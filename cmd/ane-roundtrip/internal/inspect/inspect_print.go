package inspect

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

// print writes the tables.
func (i *inspection) print(a *cli.App) error {
	if err := a.Printf("%s: program %s\n", cli.Visible(i.File), i.Version); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(i.BuildInfo)) {
		line := strings.TrimRight(cli.Visible(key)+" "+cli.Visible(i.BuildInfo[key]), " ") // a value may be empty
		if err := a.Printf("  %s\n", line); err != nil {
			return err
		}
	}
	for _, f := range i.Functions {
		if err := a.Printf("\nfunction %s for %s\n", f.Name, f.Opset); err != nil {
			return err
		}
		w := page.NewTable("tensor", "side", "type", "shape", "bytes", "padding", "row", "plane", "batch")
		w.Shorten(0)
		var problems []string
		rows := func(side string, tensors []inspectedTensor) {
			for _, t := range tensors {
				if t.Problem != "" {
					w.Row(t.Name, side, t.Type, "-", "-", "-", "-", "-", "-")
					problems = append(problems, fmt.Sprintf("%s has no layout: %s\n", t.Name, t.Problem))
					continue
				}
				w.Row(t.Name, side, t.DType, fmt.Sprint(t.Shape), fmt.Sprint(t.Bytes), fmt.Sprint(t.Padding),
					fmt.Sprint(t.Row), fmt.Sprint(t.Plane), fmt.Sprint(t.Batch))
			}
		}
		rows("input", f.Inputs)
		rows("output", f.Outputs)
		if err := a.Table(w); err != nil {
			return err
		}
		if err := a.Printf("%s", strings.Join(problems, "")); err != nil {
			return err
		}
		var list []string
		for _, o := range f.Operators {
			text := fmt.Sprintf("%d %s", o.Count, o.Name)
			if !o.Known {
				text += " (not in the software engine)"
			}
			list = append(list, text)
		}
		all := strings.Join(append(list, nothing(list)...), ", ")
		if err := a.Printf("operators: %s; %s\n", all, cli.Counted(f.Constants, "constant", "constants")); err != nil {
			return err
		}
	}
	if len(i.Weights) == 0 {
		return a.Printf("\nno weight files\n")
	}
	err := a.Printf("\n%s, %d bytes in all\n", cli.Counted(len(i.Weights), "tensor", "tensors"), i.WeightSize)
	if err != nil {
		return err
	}
	w := page.NewTable("weights", "offset", "type", "bytes", "file")
	w.Shorten(0)
	for _, r := range i.Weights {
		w.Row(cli.Visible(r.Path), fmt.Sprint(r.Offset), r.Type, fmt.Sprint(r.Bytes), cli.Visible(r.Status))
	}
	return a.Table(w)
}

// nothing returns the text for an empty list.
func nothing(list []string) []string {
	if len(list) == 0 {
		return []string{"none"}
	}
	return nil
}
