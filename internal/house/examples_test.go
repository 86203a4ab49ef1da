package house

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every exported type of the packages that callers begin with has an Example, and each has an output. The settings of
// operators, which are types of package build, stand in the code of one.
func TestTypesHaveExamples(t *testing.T) {
	for _, pkg := range []string{"unimem", "ane", "ane/engine", "ane/mil", "ane/mil/blob", "ane/mil/build", "models"} {
		files, err := filepath.Glob(filepath.Join("../..", pkg, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files, pkg)
		types, shown := map[string]bool{}, map[string]bool{}
		for _, path := range files {
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			require.NoError(t, err)
			if strings.HasSuffix(path, "_test.go") {
				for _, e := range doc.Examples(f) {
					if e.Output == "" && !e.EmptyOutput {
						continue
					}
					name, _, _ := strings.Cut(e.Name, "_")
					shown[name] = true
					ast.Inspect(e.Code, func(n ast.Node) bool {
						if s, ok := n.(*ast.SelectorExpr); ok && pkg == "ane/mil/build" {
							shown[s.Sel.Name] = true
						}
						return true
					})
				}
				continue
			}
			for _, d := range f.Decls {
				if g, ok := d.(*ast.GenDecl); ok {
					for _, s := range g.Specs {
						if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
							types[s.Name.Name] = true
						}
					}
				}
			}
		}
		require.NotEmpty(t, types, pkg)
		for name := range types {
			if !shown[name] {
				t.Errorf("%s.%s has no Example with an output", pkg, name)
			}
		}
	}
}
