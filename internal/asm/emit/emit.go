// Package emit writes files of assembly for amd64 with avo, and the Go files that declare their functions.
package emit

import (
	"bytes"
	"errors"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
	"golang.org/x/tools/go/packages"
)

// File is the assembly of a package.
type File struct {
	*build.Context
	pkg    *types.Package
	labels map[string]int         // of the function
	tables map[string]operand.Mem // by what they have
}

// Package writes asm_amd64.s and asm_amd64.go of the package in a folder, or only compares them.
func Package(folder string, check bool, write func(f *File)) error {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: folder,
		Env: append(os.Environ(), "GOOS=linux", "GOARCH=amd64")}, ".")
	if err != nil {
		return err
	}
	f := &File{Context: build.NewContext(), pkg: pkgs[0].Types, tables: map[string]operand.Mem{}}
	write(f)
	file, err := f.Result()
	if err != nil {
		return err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return err
	}
	config := printer.Config{Name: "make asm", Pkg: f.pkg.Name()}
	return errors.Join(
		put(filepath.Join(folder, "asm_amd64.s"), printer.NewGoAsm(config), file, check),
		put(filepath.Join(folder, "asm_amd64.go"), printer.NewStubs(config), file, check))
}

// put prints to a file, or with check says so if it has anything else.
func put(name string, to printer.Printer, file *ir.File, check bool) error {
	text, err := to.Print(file)
	if err != nil {
		return err
	}
	if !check {
		return os.WriteFile(name, text, 0o666)
	}
	if had, err := os.ReadFile(name); err != nil || !bytes.Equal(had, text) {
		return errors.New(filepath.Base(name) + " is stale: run make asm")
	}
	return nil
}

// Func begins a function with its comment and its signature.
func (f *File) Func(name, signature, comment string) {
	s, err := gotypes.ParseSignatureInPackage(f.pkg, "func"+signature)
	if err != nil {
		panic(fmt.Sprint(name, ": ", err))
	}
	f.Function(name)
	f.Doc(strings.Split(name+" "+comment, "\n")...)
	f.Pragma("noescape")
	f.Signature(s)
	f.Attributes(attr.NOSPLIT)
	f.labels = map[string]int{}
}

// When writes what runs if an argument of 64 bits has a value. It returns.
func (f *File) When(argument string, value int, body func()) {
	other := f.Fresh("other")
	f.CMPQ(f.Place(f.Param(argument)), operand.I32(int32(value)))
	f.JNE(other)
	body()
	f.Here(other)
}
