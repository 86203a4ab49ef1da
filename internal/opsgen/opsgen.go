// Package opsgen writes what the table of operators tells: methods of package build, and the list of the documentation.
// Tests compare it with the files and, with the flag -update, write them.
package opsgen

import (
	"fmt"
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
	types := map[string]bool{}
	for i, p := range d.Params {
		typ, name := goType(p, i == len(d.Params)-1), camel(p.Name, false)
		if d.Family == ops.Reductions && p.Kind != ops.Ints && p.Const {
			continue
		}
		if n := len(params); n > 0 && types[typ] && strings.HasSuffix(params[n-1], " "+typ) {
			params[n-1] = strings.TrimSuffix(params[n-1], " "+typ)
		}
		types[typ] = true
		params, args = append(params, name+" "+typ), append(args, name)
	}
	call := fmt.Sprintf("f.plain(%q, %s)", d.Name, strings.Join(args, ", "))
	if d.Family == ops.Reductions {
		params = append(params, "options ...Optional")
		call = fmt.Sprintf("f.fold(%q, %s, options)", d.Name, strings.Join(args, ", "))
	}
	return comment(Method(d.Name)+" "+doc) + fmt.Sprintf("func (f *Func) %s(%s) Value { return %s }\n",
		Method(d.Name), strings.Join(params, ", "), call)
}

// goType is the type of a parameter; that of a list is variadic if it is the last.
func goType(p ops.Param, last bool) string {
	switch p.Kind {
	case ops.Int:
		return "int"
	case ops.Ints:
		if last {
			return "...int"
		}
		return "[]int"
	case ops.Bool:
		return "bool"
	case ops.Number, ops.Element:
		return "float64"
	case ops.Word:
		return "mil.DType"
	}
	return "Value"
}

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

// comment breaks a text, which gets a period, into lines of a comment.
func comment(text string) string {
	lines := []string{"//"}
	for _, word := range strings.Fields(text + ".") {
		if n := len(lines) - 1; len(lines[n])+1+len(word) <= 120 {
			lines[n] += " " + word
		} else {
			lines = append(lines, "// "+word)
		}
	}
	return "\n" + strings.Join(lines, "\n") + "\n"
}

// List returns the line of docs/PACKAGES.md that names the operators.
func List() string { return "Operators: " + strings.Join(ops.Names(), ", ") + ".\n" }
