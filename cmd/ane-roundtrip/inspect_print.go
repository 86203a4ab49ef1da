package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// print writes the tables.
func (i *inspection) print(a *app) error {
	fmt.Fprintf(a.out, "%s: program %s\n", visible(i.File), i.Version)
	for _, key := range slices.Sorted(maps.Keys(i.BuildInfo)) {
		fmt.Fprintf(a.out, "  %s %s\n", visible(key), visible(i.BuildInfo[key]))
	}
	w := columns(a.out)
	for _, f := range i.Functions {
		fmt.Fprintf(w, "\nfunction %s for %s\n", f.Name, f.Opset)
		fmt.Fprintln(w, "tensor\tside\ttype\tshape\tbytes\tpadding\trow\tplane\tbatch")
		var problems []string
		rows := func(side string, tensors []inspectedTensor) {
			for _, t := range tensors {
				if t.Problem != "" {
					fmt.Fprintf(w, "%s\t%s\t%s\t-\t-\t-\t-\t-\t-\n", t.Name, side, t.Type)
					problems = append(problems, fmt.Sprintf("%s has no layout: %s\n", t.Name, t.Problem))
					continue
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%v\t%d\t%d\t%d\t%d\t%d\n", t.Name, side, t.DType, t.Shape, t.Bytes, t.Padding, t.Row, t.Plane, t.Batch)
			}
		}
		rows("input", f.Inputs)
		rows("output", f.Outputs)
		if err := w.Flush(); err != nil {
			return err
		}
		fmt.Fprint(a.out, strings.Join(problems, ""))
		var list []string
		for _, o := range f.Operators {
			text := fmt.Sprintf("%d %s", o.Count, o.Name)
			if !o.Known {
				text += " (not in the software engine)"
			}
			list = append(list, text)
		}
		fmt.Fprintf(a.out, "operators: %s; %d constants\n", strings.Join(append(list, nothing(list)...), ", "), f.Constants)
	}
	if len(i.Weights) == 0 {
		_, err := fmt.Fprintln(a.out, "\nno weight files")
		return err
	}
	fmt.Fprintln(w, "\nweights\toffset\ttype\tbytes\tfile")
	for _, r := range i.Weights {
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%s\n", visible(r.Path), r.Offset, r.Type, r.Bytes, visible(r.Status))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "%d tensors, %d bytes in all\n", len(i.Weights), i.WeightSize)
	return err
}

// nothing stands for an empty list.
func nothing(list []string) []string {
	if len(list) == 0 {
		return []string{"none"}
	}
	return nil
}
