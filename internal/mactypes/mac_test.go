// Package mactypes has a test alone: the Go files for macOS with cgo, which no compiler sees on another system, are
// correct Go with the types of darwinkit.
package mactypes

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"testing"

	"github.com/anekit/anekit/internal/host"
)

// folders have the packages whose files depend on macOS with cgo, from the root of the module.
var folders = []string{"unimem/metal", "objcbridge/src", "objcbridge", "cmd/ane-roundtrip/internal/gpu"}

// TestMacFiles type-checks these packages for macOS on arm64 with cgo, with their tests inside the package. It reads
// the packages that they import from their sources too, without the bodies of their functions.
func TestMacFiles(t *testing.T) {
	switch {
	case host.Name == "darwin":
		t.Skip("the compiler checks them on a Mac")
	case testing.Short():
		t.Skip("takes seconds for the imports: run without -short")
	}
	c := &checker{Context: build.Default, FileSet: token.NewFileSet(), known: map[string]*types.Package{}}
	c.GOOS, c.GOARCH, c.CgoEnabled = "darwin", "arm64", true
	if _, err := c.Context.Import("github.com/progrium/darwinkit/macos/metal", ".", build.FindOnly); err != nil {
		t.Skip("no darwinkit in the module cache: go mod download github.com/progrium/darwinkit")
	}
	for _, folder := range folders {
		_, err := c.check(".", filepath.Join("..", "..", folder), func(err error) { t.Error(err) })
		if err != nil {
			t.Error(err)
		}
	}
	if c.known["github.com/progrium/darwinkit/objc"] == nil {
		t.Error("the files do not use darwinkit, even indirectly: they are not those for a Mac")
	}
}

// checker type-checks packages for macOS from their sources, with cgo but without its compiler.
type checker struct {
	build.Context
	*token.FileSet
	known map[string]*types.Package
}

// ImportFrom implements types.ImporterFrom.
func (c *checker) ImportFrom(path, dir string, _ types.ImportMode) (*types.Package, error) {
	return c.check(path, dir, nil)
}

// Import implements types.Importer.
func (c *checker) Import(path string) (*types.Package, error) { return c.check(path, ".", nil) }

func (c *checker) check(path, dir string, fail func(error)) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	found, err := c.Context.Import(path, dir, 0)
	if err != nil {
		return nil, err
	}
	if p := c.known[found.ImportPath]; p != nil && fail == nil {
		return p, nil
	}
	var files []*ast.File
	names := append(append([]string{}, found.GoFiles...), found.CgoFiles...)
	if fail != nil {
		names = append(names, found.TestGoFiles...)
	}
	for _, name := range names {
		f, err := parser.ParseFile(c.FileSet, filepath.Join(found.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	config := types.Config{Importer: c, FakeImportC: true, Sizes: types.SizesFor("gc", c.GOARCH), Error: fail,
		IgnoreFuncBodies: fail == nil}
	if fail == nil {
		config.Error = func(error) {} // bodies that only cgo completes
	}
	p, err := config.Check(found.ImportPath, c.FileSet, files, nil)
	if fail == nil {
		err = nil
	}
	c.known[found.ImportPath] = p
	return p, err
}
