package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// block is Go in a page, or in a comment of the package in dir.
type block struct{ place, dir, text string }

// TestGoOfPagesCompiles type-checks the Go of README, pages and comments. A block is a file, declarations or
// statements. Names in lower case that it does not declare stand for code that it leaves out, and so do two dots or
// more.
func TestGoOfPagesCompiles(t *testing.T) {
	all := append(blocksOfPages(t), blocksOfComments(t)...)
	require.Greater(t, len(all), 15)
	check := newChecker(t)
	for _, b := range all {
		for _, fault := range check.faults(b) {
			t.Errorf("%s: %s\n%s", b.place, fault, b.text)
		}
	}
}

// The checker finds what no compiler accepts, and knows what a block leaves out.
func TestGoThatDoesNotCompile(t *testing.T) {
	check := newChecker(t)
	for text, want := range map[string]string{
		"d, err := engine.Open(ctx, engine.Soft)\nd.Compile(ctx, source)\n..": "",
		"b := build.New()\nf := b.Func(\"main\", 1)":                          "too many arguments",
		"engine.Start()": "undefined: engine.Start",
		"x := ane.Must(": "no Go",
		"func F(m *ane.Model) error {\n\treturn m.Lode(ctx)\n}":         "m.Lode undefined",
		"package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Print() }": "",
	} {
		faults := check.faults(block{text: text})
		if want == "" {
			require.Empty(t, faults, text)
			continue
		}
		require.NotEmpty(t, faults, text)
		require.Contains(t, faults[0], want)
	}
}

// blocksOfPages returns the blocks of Markdown that say that they are Go.
func blocksOfPages(t *testing.T) (all []block) {
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	fence := regexp.MustCompile("(?ms)^```go\n(.*?)^```")
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range fence.FindAllSubmatchIndex(text, -1) {
			line := 1 + bytes.Count(text[:m[0]], []byte("\n"))
			all = append(all, block{fmt.Sprintf("%s:%d", page, line), "", string(text[m[2]:m[3]])})
		}
	}
	return all
}

// likeGo finds blocks of comments that are Go, not text, a command or MIL.
var likeGo = regexp.MustCompile(`:=|(?m)^(package|func|type|import) `)

// leftOut finds what a block leaves out: a line that begins with dots, and the further fields of a value.
var leftOut = regexp.MustCompile(`(?m)^\s*\.\.+.*$|,? *\.\.+(})`)

// public returns the documentation of the public packages by their folder.
func public(t *testing.T) map[string]*doc.Package {
	files := map[string][]*ast.File{}
	set := token.NewFileSet()
	for _, s := range sources(t) {
		if strings.Contains(s.path, "internal/") || s.Name.Name == "main" {
			continue
		}
		dir := filepath.Dir(s.path)
		f, err := parser.ParseFile(set, filepath.Join("../..", s.path), nil, parser.ParseComments)
		require.NoError(t, err)
		files[dir] = append(files[dir], f)
	}
	all := map[string]*doc.Package{}
	for dir, f := range files {
		var err error
		all[dir], err = doc.NewFromFiles(set, f, dir)
		require.NoError(t, err)
	}
	return all
}

// blocksOfComments returns the blocks of Go of the comments of public packages.
func blocksOfComments(t *testing.T) (all []block) {
	packages := public(t)
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		p := packages[dir]
		add := func(name, text string) {
			for _, part := range new(comment.Parser).Parse(text).Content {
				if code, ok := part.(*comment.Code); ok && likeGo.MatchString(code.Text) {
					all = append(all, block{dir + " " + name, dir, code.Text})
				}
			}
		}
		add("package", p.Doc)
		for _, f := range p.Funcs {
			add(f.Name, f.Doc)
		}
		for _, typ := range p.Types {
			add(typ.Name, typ.Doc)
			for _, f := range slices.Concat(typ.Funcs, typ.Methods) {
				add(typ.Name+"."+f.Name, f.Doc)
			}
		}
	}
	return all
}

// checker type-checks blocks against the packages of this module and of the library.
type checker struct {
	set      *token.FileSet
	packages map[string]string // import path by name
	exports  map[string]string // compiled package by import path
	importer types.Importer
}

func newChecker(t *testing.T) *checker {
	c := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Export", "./ane/...", "./unimem/...",
		"./models/...", "./objcbridge", "log", "net/http", "os/signal")
	c.Dir = "../.."
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	require.NoError(t, err, stderr.String())
	exports, names := map[string]string{}, map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Name, Export string }
		if err := d.Decode(&p); err == io.EOF {
			break
		} else {
			require.NoError(t, err)
		}
		exports[p.ImportPath] = p.Export
		first := names[p.Name] // of two packages of a name, blocks that import none mean that of the shorter path
		if !strings.Contains(p.ImportPath, "internal") && (first == "" || len(p.ImportPath) < len(first)) {
			names[p.Name] = p.ImportPath
		}
	}
	set := token.NewFileSet()
	open := func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fs.ErrNotExist
		}
		return os.Open(exports[path])
	}
	return &checker{set, names, exports, importer.ForCompiler(set, "gc", open)}
}

// faults returns what is wrong with a block.
func (c *checker) faults(b block) (all []string) {
	text := leftOut.ReplaceAllString(b.text, "$1") + "\n"
	var imports strings.Builder
	for name, path := range c.packages {
		if own := "github.com/anekit/anekit/" + b.dir; filepath.Base(b.dir) == name && c.exports[own] != "" {
			path = own
		}
		if regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(text) {
			fmt.Fprintf(&imports, "import %q\n", path)
		}
	}
	head := "package p\n" + imports.String()
	var file *ast.File
	var err error
	for _, whole := range []string{text, head + text, head + "func _() {\n" + text + "}\n"} {
		if file, err = parser.ParseFile(c.set, "block.go", whole, 0); err == nil {
			break
		}
	}
	if err != nil {
		return []string{"no Go: " + err.Error()}
	}
	config := types.Config{Importer: c.importer, Error: func(err error) {
		var e types.Error
		if !errors.As(err, &e) || e.Soft { // unused names
			return
		}
		name, undefined := strings.CutPrefix(e.Msg, "undefined: ")
		if undefined && !ast.IsExported(name) && !strings.Contains(name, ".") {
			return
		}
		all = append(all, e.Msg)
	}}
	_, _ = config.Check("p", c.set, []*ast.File{file}, nil) // Error has the faults
	return all
}
