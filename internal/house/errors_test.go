package house

import (
	"go/ast"
	"go/doc"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestErrorsAreNamed: the comment of each public function that returns an error says which, or when.
func TestErrorsAreNamed(t *testing.T) {
	named := regexp.MustCompile(`\b(Err[A-Z]\w*|\w*Error(List)?|[Ee]rrors?|fails|refuses)\b`)
	functions := 0
	for dir, p := range public(t) {
		check := func(name string, f *doc.Func) {
			if name == "Error.Unwrap" || name == "CommandError.Unwrap" || !returnsError(f.Decl.Type) {
				return
			}
			if functions++; !named.MatchString(f.Doc) {
				t.Errorf("%s: the comment of %s names no error", dir, name)
			}
		}
		for _, f := range p.Funcs {
			check(f.Name, f)
		}
		for _, typ := range p.Types {
			for _, f := range slices.Concat(typ.Funcs, typ.Methods) {
				name := f.Name
				if f.Recv != "" {
					name = typ.Name + "." + f.Name
				}
				check(name, f)
			}
		}
	}
	require.Greater(t, functions, 300)
}

func returnsError(f *ast.FuncType) bool {
	return f.Results != nil && slices.ContainsFunc(f.Results.List, func(r *ast.Field) bool {
		id, ok := r.Type.(*ast.Ident)
		return ok && id.Name == "error"
	})
}
