// Command size prints how large the house is: lines of Go and of assembly, public packages, the names that they
// export, and the largest packages.
//
//	go run ./internal/size
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	h, err := measure(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
	h.print(os.Stdout)
}

// room is one package: the files of a folder that are no tests.
type room struct {
	folder       string
	files, lines int
}

// house is what is counted.
type house struct {
	lines, tests, assembly int // lines of Go outside and inside of tests, lines of assembly
	rooms                  []room
	public                 int // packages that other modules can import
	exported               int // constants, variables, functions, types and methods of public packages
}

// measure reads the module in a folder. Folders called testdata, build and those that begin with a dot do not count.
func measure(root string) (*house, error) {
	h, rooms, public := new(house), map[string]*room{}, map[string]bool{}
	err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if e.IsDir() {
			if e.Name() == "testdata" || rel == "build" || len(e.Name()) > 1 && e.Name()[0] == '.' {
				return fs.SkipDir
			}
			return nil
		}
		return h.count(rel, file, rooms, public)
	})
	for _, r := range rooms {
		h.rooms = append(h.rooms, *r)
	}
	slices.SortFunc(h.rooms, func(a, b room) int { return cmp.Or(b.lines-a.lines, cmp.Compare(a.folder, b.folder)) })
	h.public = len(public)
	return h, err
}

// count adds a file.
func (h *house) count(rel, file string, rooms map[string]*room, public map[string]bool) error {
	extension := path.Ext(rel)
	if extension != ".go" && extension != ".s" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := bytes.Count(text, []byte("\n"))
	switch folder := path.Dir(rel); {
	case extension == ".s":
		h.assembly += lines
	case strings.HasSuffix(rel, "_test.go"):
		h.tests += lines
	default:
		h.lines += lines
		if rooms[folder] == nil {
			rooms[folder] = &room{folder: folder}
		}
		rooms[folder].files++
		rooms[folder].lines += lines
		f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if inner := "/" + folder + "/"; f.Name.Name != "main" && !strings.Contains(inner, "/internal/") {
			public[folder] = true
			h.exported += exported(f)
		}
	}
	return nil
}

// exported counts the exported names that a file declares; a method counts if its type is exported too.
func exported(f *ast.File) (n int) {
	one := func(name *ast.Ident) {
		if name.IsExported() {
			n++
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || receiver(d.Recv.List[0].Type) {
				one(d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					one(s.Name)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						one(name)
					}
				}
			}
		}
	}
	return n
}

// receiver reports whether the type of a receiver is exported.
func receiver(t ast.Expr) bool {
	for {
		switch e := t.(type) {
		case *ast.StarExpr:
			t = e.X
		case *ast.IndexExpr:
			t = e.X
		case *ast.IndexListExpr:
			t = e.X
		case *ast.Ident:
			return e.IsExported()
		default:
			return false
		}
	}
}

// print writes the figures, and the ten largest packages.
func (h *house) print(w io.Writer) {
	for _, row := range []struct {
		n    int
		what string
	}{{h.lines, "lines of Go outside tests"}, {h.tests, "lines of tests in Go"}, {h.assembly, "lines of assembly"},
		{len(h.rooms), "packages"}, {h.public, "public packages"}, {h.exported, "names that these export"}} {
		fmt.Fprintf(w, "%7d  %s\n", row.n, row.what)
	}
	fmt.Fprintf(w, "\n%7s  %5s  largest packages\n", "lines", "files")
	for _, r := range h.rooms[:min(10, len(h.rooms))] {
		fmt.Fprintf(w, "%7d  %5d  %s\n", r.lines, r.files, r.folder)
	}
}
