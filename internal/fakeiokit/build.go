// Package fakeiokit builds a library that takes the place of IOKit.framework and of the kernel. It runs the driver
// extensions of unimem/dma/dext, unchanged, against stand-ins of the DriverKit classes that they use.
//
// The stand-ins have the names, arguments and codes that are published. That Apple's classes behave like them is
// not proven. For tests.
package fakeiokit

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/step"
)

//go:embed src
var sources embed.FS

// ErrCompiler: no compiler of C++ is here.
var ErrCompiler = errors.New("no C++ compiler clang-14, clang++ or g++: apt-get install clang-14 libc6-dev, then run " +
	"this test again")

// Extension is a driver extension in a folder of the sources.
type Extension struct {
	Folder  string
	Classes []string // each with a .iig and a .cpp file
}

// Build writes the library into dir, an empty folder, and returns its path. dext has the sources of the extensions
// and the headers that they share.
//
// Errors: ErrCompiler, what the compiler prints, faults of the .iig files and of the property lists.
func Build(ctx context.Context, dir string, dext fs.FS, extensions ...Extension) (library string, err error) {
	return filepath.Join(dir, "libfakeiokit.so"), step.Catch(func() { build(ctx, dir, dext, extensions) })
}

func build(ctx context.Context, dir string, dext fs.FS, extensions []Extension) {
	compiler := step.Must(findCompiler())
	src := filepath.Join(dir, "src")
	step.NoError(os.CopyFS(dir, sources))
	step.NoError(os.CopyFS(filepath.Join(dir, "dext"), dext))
	files := []string{filepath.Join(src, "kernel.cpp")}
	unit := func(name, text string) {
		files = append(files, filepath.Join(src, name))
		step.NoError(os.WriteFile(filepath.Join(src, name), []byte(text), 0o600))
	}
	var made registry
	for _, e := range extensions {
		step.NoError(made.properties(dext, e.Folder))
		for _, c := range e.Classes {
			header, err := generate(c, string(step.Must(fs.ReadFile(dext, e.Folder+"/"+c+".iig"))))
			if err != nil {
				step.NoError(fmt.Errorf("%s/%s.iig: %w", e.Folder, c, err))
			}
			step.NoError(os.WriteFile(filepath.Join(src, c+".h"), []byte(header), 0o600))
			made.classes = append(made.classes, c)
			// Each .cpp becomes a file that also has the function that makes an object.
			unit("unit_"+c+".cpp", fmt.Sprintf(
				"#include \"../dext/%s/%s.cpp\"\nOSObject * fake_make_%s() { return new %s(); }\n", e.Folder, c, c, c))
		}
	}
	unit("registry.cpp", made.text())
	args := []string{"-x", "c++", "-std=gnu++17", "-fno-exceptions", "-fno-rtti", "-fPIC", "-shared", "-g",
		"-pthread", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter",
		"-Wno-missing-field-initializers", "-Wno-invalid-offsetof", "-I", src}
	if strings.Contains(compiler, "clang") {
		args = append(args, "-Wno-c99-designator", "-Wno-unknown-warning-option")
	}
	args = append(append(args, files...), "-o", filepath.Join(dir, "libfakeiokit.so"))
	if out, err := exec.CommandContext(ctx, compiler, args...).CombinedOutput(); err != nil {
		step.NoError(fmt.Errorf("%s: %w\n%s", compiler, err, out))
	}
}

// findCompiler prefers compilers that need no library of C++.
func findCompiler() (string, error) {
	if host.Name != "linux" {
		return "", fmt.Errorf("%w (on Linux)", ErrCompiler)
	}
	for _, name := range []string{"clang-14", "clang++", "g++"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrCompiler
}
