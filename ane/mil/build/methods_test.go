package build_test

import (
	"flag"
	"fmt"
	"go/doc/comment"
	"go/format"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/ops"
)

var update = flag.Bool("update", false, "write methods.go and the list of docs/PACKAGES.md from the table of operators")

// methods.go and the list of operators in docs/PACKAGES.md are those of the table.
func TestGenerated(t *testing.T) {
	fresh := func(path, want string) {
		t.Helper()
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		}
		have, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, strings.Split(want, "\n"), strings.Split(string(have), "\n"),
			"run go test ./ane/mil/build -run Generated -update")
	}
	text, err := methods()
	require.NoError(t, err)
	fresh("methods.go", string(text))

	const page = "../../../docs/PACKAGES.md"
	text, err = os.ReadFile(page)
	require.NoError(t, err)
	before, list, found := strings.Cut(string(text), "\nOperators: ")
	require.True(t, found)
	_, after, _ := strings.Cut(list, "\n")
	fresh(page, before+"\nOperators: "+strings.Join(ops.Names(), ", ")+".\n"+after)
}

// methods returns the Go file of the methods of build.Func for operators with a Doc. A method takes the tensors
// and settings of its operator in the order of the table; reductions take an option too.
func methods() ([]byte, error) {
	var b strings.Builder
	b.WriteString("// Code generated from the table of package ops by go test ./ane/mil/build -run Generated " +
		"-update; DO NOT EDIT.\n\npackage build\n\nimport \"github.com/anekit/anekit/ane/mil\"\n")
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
		doc += ". In memory an M3 Pro refuses it, and by e5 an M5"
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
	text := lines.Text(new(comment.Parser).Parse(methodName(d.Name) + " " + doc + "."))
	return fmt.Sprintf("\n%sfunc (f *Func) %s(%s) Value { return %s }\n", text, methodName(d.Name),
		strings.Join(params, ", "), call)
}

// goTypes are the types of parameters.
var goTypes = map[ops.Kind]string{ops.Tensor: "Value", ops.Int: "int", ops.Ints: "[]int", ops.Bool: "bool",
	ops.Number: "float64", ops.Element: "float64", ops.Word: "mil.DType"}

// methodName returns the name of an operator's method: ReduceSum for reduce_sum.
func methodName(name string) string {
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
