// Package opsgen writes what the table of operators tells: methods of package build, and the list of the documentation.
// Tests compare it with the files and, with the flag -update, write them.
package opsgen

import (
	"fmt"
	"go/doc/comment"
	"go/format"
	"strings"

	"github.com/anekit/anekit/internal/ops"
)

// Methods returns the Go file of the methods of build.Func for operators with a Doc. A method takes the tensors
// and settings of its operator in the order of the table; reductions take an option too.
func Methods() ([]byte, error) {
	var b strings.Builder
	b.WriteString("// Code generated from the table of package ops by go test ./ane/mil/build -run Generated -update; " +
		"DO NOT EDIT.\n\npackage build\n\nimport \"github.com/anekit/anekit/ane/mil\"\n")
	for _, name := range ops.Names() {
		if d := ops.Lookup(name); d != nil && d.Doc != "" {
			b.WriteString(method(d))
		}
	}
	return format.Source([]byte(b.String()))
}

// method returns one method with its comment.
func method(d *ops.Def) string {
	doc := d.Doc
	if d.OffEngine() {
		doc += ". Apple's engine does not run it"
	}
	var params, args []string
	for i, p := range d.Params {
		typ, name := goTypes[p.Kind], camel(p.Name, false)
		switch last := len(params) - 1; {
		case d.Family == ops.Reductions && p.Kind == ops.Bool: // an option
			continue
		case d.Family != ops.Reductions && p.Kind == ops.Ints && i == len(d.Params)-1:
			typ = "...int"
		case last >= 0:
			params[last] = strings.TrimSuffix(params[last], " "+typ)
		}
		params, args = append(params, name+" "+typ), append(args, name)
	}
	call := fmt.Sprintf("f.plain(%q, %s)", d.Name, strings.Join(args, ", "))
	if d.Family == ops.Reductions {
		params = append(params, "options ...Optional")
		call = fmt.Sprintf("f.fold(%q, %s, options)", d.Name, strings.Join(args, ", "))
	}
	lines := comment.Printer{TextPrefix: "// ", TextWidth: 120 - len("// ")}
	text := lines.Text(new(comment.Parser).Parse(Method(d.Name) + " " + doc + "."))
	return fmt.Sprintf("\n%sfunc (f *Func) %s(%s) Value { return %s }\n", text, Method(d.Name),
		strings.Join(params, ", "), call)
}

// goTypes are the types of parameters.
var goTypes = map[ops.Kind]string{ops.Tensor: "Value", ops.Int: "int", ops.Ints: "[]int", ops.Bool: "bool",
	ops.Number: "float64", ops.Element: "float64", ops.Word: "mil.DType"}

// Method returns the name of an operator's method: ReduceSum for reduce_sum.
func Method(name string) string {
	if name == "shape" { // Shape would read as Value.Shape
		name = "shape_of"
	}
	return camel(name, true)
}

// camel joins words as Go does.
func camel(name string, exported bool) string {
	words := strings.Split(name, "_")
	for i, w := range words {
		if i > 0 || exported {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// List returns the line of docs/PACKAGES.md that names the operators.
func List() string { return "Operators: " + strings.Join(ops.Names(), ", ") + ".\n" }
