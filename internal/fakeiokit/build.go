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
func Build(ctx context.Context, dir string, dext fs.FS, extensions ...Extension) (string, error) {
	compiler, err := findCompiler()
	if err != nil {
		return "", err
	}
	stand, err := fs.Sub(sources, "src")
	if err != nil {
		return "", err
	}
	if err := os.CopyFS(filepath.Join(dir, "src"), stand); err != nil {
		return "", err
	}
	if err := os.CopyFS(filepath.Join(dir, "dext"), dext); err != nil {
		return "", err
	}
	args := []string{"-x", "c++", "-std=gnu++17", "-fno-exceptions", "-fno-rtti", "-fPIC", "-shared", "-g",
		"-pthread", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter",
		"-Wno-missing-field-initializers", "-Wno-invalid-offsetof", "-I", filepath.Join(dir, "src")}
	if strings.Contains(compiler, "clang") {
		args = append(args, "-Wno-c99-designator", "-Wno-unknown-warning-option")
	}
	files := []string{filepath.Join(dir, "src", "kernel.cpp")}
	var made registry
	for _, e := range extensions {
		if err := made.properties(dext, e.Folder); err != nil {
			return "", err
		}
		for _, c := range e.Classes {
			text, err := fs.ReadFile(dext, e.Folder+"/"+c+".iig")
			if err != nil {
				return "", err
			}
			header, err := generate(c, string(text))
			if err != nil {
				return "", fmt.Errorf("%s/%s.iig: %w", e.Folder, c, err)
			}
			if err := os.WriteFile(filepath.Join(dir, "src", c+".h"), []byte(header), 0o600); err != nil {
				return "", err
			}
			made.classes = append(made.classes, c)
			// Each .cpp becomes a file that also has the function that makes an object.
			unit := fmt.Sprintf("#include \"../dext/%s/%s.cpp\"\nOSObject * fake_make_%s() { return new %s(); }\n",
				e.Folder, c, c, c)
			file := filepath.Join(dir, "src", "unit_"+c+".cpp")
			if err := os.WriteFile(file, []byte(unit), 0o600); err != nil {
				return "", err
			}
			files = append(files, file)
		}
	}
	file := filepath.Join(dir, "src", "registry.cpp")
	if err := os.WriteFile(file, []byte(made.text()), 0o600); err != nil {
		return "", err
	}
	library := filepath.Join(dir, "libfakeiokit.so")
	args = append(append(args, append(files, file)...), "-o", library)
	if out, err := exec.CommandContext(ctx, compiler, args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", compiler, err, out)
	}
	return library, nil
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
