// Package mactypes type-checks Go files for macOS with cgo, which no compiler sees on another system. For tests.
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

// Check type-checks the package of the current folder for macOS on arm64 with cgo, with its tests inside the package,
// and fails tb for every fault. Imported packages are read from their sources too, without the bodies of their
// functions. It skips tb on a Mac, where the compiler does so, and without darwinkit in the module cache. It takes
// seconds, and a minute with the race detector.
func Check(tb testing.TB) {
	tb.Helper()
	switch {
	case host.Name == "darwin":
		tb.Skip("the compiler checks them on a Mac")
	}
	c := &checker{Context: build.Default, FileSet: token.NewFileSet(), known: map[string]*types.Package{}}
	c.GOOS, c.GOARCH, c.CgoEnabled = "darwin", "arm64", true
	if _, err := c.Context.Import("github.com/progrium/darwinkit/macos/metal", ".", build.FindOnly); err != nil {
		tb.Skip("no darwinkit in the module cache: go mod download github.com/progrium/darwinkit")
	}
	faults := 0
	_, err := c.check(".", ".", func(err error) {
		faults++
		tb.Error(err)
	})
	if err != nil && faults == 0 {
		tb.Error(err)
	}
	if c.known["github.com/progrium/darwinkit/objc"] == nil {
		tb.Error("the files do not use darwinkit, even indirectly: they are not those for a Mac")
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
	if p := c.known[found.ImportPath]; p != nil {
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
