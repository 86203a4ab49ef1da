package house

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/anekit/anekit/"

// may lists for each folder the folders of this module whose packages its files may import,
// beside the internal ones below it. The first entry that holds a package decides; an import that
// ends in "/" includes the folders below it. Tests may import more.
var may = []struct {
	folder  string
	imports []string
}{
	{"unimem/dma", []string{"unimem", "unimem/internal/", "internal/dart", "internal/errtext", "internal/nvme"}},
	{"unimem/metal", []string{"internal/errtext", "unimem", "unimem/internal/kernels"}},
	{"unimem/blas", []string{"internal/errtext", "unimem"}},
	{"unimem/safetensors", []string{"unimem", "unimem/internal/", "ane/fp16", "internal/errtext", "internal/libsystem",
		"internal/procmem", "internal/sniff", "internal/wholefile"}},
	{"unimem/vulkan", []string{"internal/errtext", "internal/gate", "unimem", "unimem/internal/kernels"}},
	{"unimem/wasm", []string{"unimem", "internal/libsystem"}},
	{"unimem", []string{"internal/blockoption", "internal/errtext", "internal/iosurface", "internal/iosurface/dynamic",
		"internal/libsystem", "unimem/internal/"}},
	{"internal/blockoption", []string{"internal/iosurface"}},
	{"internal/iosurface", []string{"internal/bridgedir", "internal/iosurface"}},
	{"internal/bridgetest", []string{"internal/bridgedir", "internal/step"}},
	{"objcbridge", []string{"internal/bridgedir", "internal/engine/driverabi", "objcbridge/src"}},
	{"ane/fp16", nil},
	{"ane/chip", []string{"internal/near"}},
	{"internal/numerics", []string{"ane/chip", "ane/fp16"}},
	{"ane/kv", []string{"ane", "ane/mil", "internal/errtext", "internal/pages", "internal/wholefile", "unimem"}},
	{"ane/cost", []string{"ane/chip", "ane/mil", "internal/ops"}},
	{"ane/mil/blob", []string{"ane/mil", "ane/fp16", "internal/sniff", "internal/wholefile"}},
	{"ane/mil/coreml", []string{"ane/mil", "ane/mil/blob", "ane/fp16", "internal/ops", "internal/shapes",
		"internal/sniff", "internal/wholefile"}},
	{"internal/element", []string{"ane/mil", "ane/fp16"}},
	{"ane/mil/lint", []string{"ane/chip", "ane/fp16", "ane/mil", "ane/mil/blob", "internal/element",
		"internal/numerics", "internal/ops", "internal/near", "internal/shapes"}},
	{"internal/ops", []string{"internal/remark", "ane/chip", "ane/mil", "ane/mil/blob", "internal/element", "internal/near"}},
	{"internal/shapes", []string{"ane/mil", "internal/near", "internal/ops"}},
	{"ane/mil/build", []string{"internal/remark", "ane/mil", "ane/mil/blob", "internal/ops", "internal/wholefile"}},
	{"ane/mil", []string{"internal/near"}},
	{"models/actor", []string{"ane", "ane/kv", "ane/wasm", "internal/errtext", "internal/guestcode", "models/decoder",
		"unimem/wasm"}},
	{"ane/wasm", []string{"ane", "ane/hal", "ane/kv", "ane/mil", "internal/errtext", "internal/guestcode", "unimem",
		"unimem/wasm"}},
	{"ane/dlpack", []string{"ane", "ane/mil", "unimem"}},
	{"internal/enginetest", []string{"internal/access", "ane", "ane/fp16", "ane/mil", "ane/mil/blob", "ane/mil/build",
		"internal/procmem", "internal/step", "unimem"}},
	{"ane/weights", []string{"ane", "ane/mil", "ane/mil/blob", "unimem", "unimem/safetensors"}},
	{"ane/engine/broker", []string{"internal/engine/broker", "internal/engine/broker/server", "internal/engine/broker/wire"}},
	{"ane/engine", []string{"ane", "ane/chip", "internal/logger", "internal/numerics", "internal/engine/", "objcbridge"}},
	{"ane/hal/internal/joint", []string{"ane", "ane/hal", "unimem"}},
	{"ane/hal/metal", []string{"ane/hal", "ane/hal/internal/joint", "unimem", "unimem/metal"}},
	{"ane/hal/vulkan", []string{"ane/hal", "ane/hal/internal/joint", "unimem/vulkan"}},
	{"ane/hal", []string{"ane", "ane/mil", "internal/errtext", "internal/gate", "internal/wholefile", "unimem"}},
	{"ane", []string{"unimem", "ane/mil", "ane/mil/blob", "internal/element", "ane/fp16", "internal/engine/driverabi",
		"internal/gate", "internal/near", "internal/shapes"}},
	{"internal/engine/driverabi", nil},
	{"internal/engine/observe", []string{"ane", "internal/engine/apple", "internal/engine/standin", "objcbridge"}},
	{"internal/engine/standin", []string{"ane", "ane/chip", "ane/mil", "ane/mil/blob", "internal/bridgedir",
		"internal/engine/apple", "internal/engine/driverabi", "internal/engine/emulate", "internal/engine/soft",
		"internal/blockoption", "internal/iosurface", "internal/iosurface/dynamic", "internal/plist", "objcbridge",
		"unimem"}},
	{"internal/engine/apple", []string{"ane", "ane/chip", "ane/mil", "ane/mil/blob", "ane/mil/lint", "internal/ops",
		"internal/attributes", "internal/engine/driverabi", "internal/libsystem", "internal/plist", "objcbridge",
		"unimem"}},
	{"internal/engine/broker", []string{"ane", "ane/mil", "ane/mil/blob", "internal/ops", "internal/numerics",
		"internal/dart", "internal/engine/broker/", "internal/engine/driverabi", "internal/engine/soft",
		"internal/logger", "internal/procmem", "internal/wholefile", "unimem"}},
	{"internal/engine/soft/kernbench", []string{"ane", "ane/fp16", "ane/mil", "internal/engine/soft",
		"internal/engine/soft/", "internal/measure", "internal/step", "unimem/blas"}},
	{"internal/engine/soft/run", []string{"ane", "ane/fp16", "ane/mil", "internal/element", "internal/engine/soft/internal/",
		"internal/host", "internal/numerics", "unimem"}},
	{"internal/engine/soft/detect", []string{"internal/element", "internal/engine/soft/run", "internal/ops"}},
	{"internal/engine/soft/matrix", []string{"ane/fp16", "internal/engine/soft/internal/", "internal/engine/soft/run",
		"internal/ops"}},
	{"internal/engine/soft/spatial", []string{"ane/fp16", "ane/mil", "internal/engine/soft/internal/",
		"internal/engine/soft/run", "internal/ops"}},
	{"internal/engine/soft/weighted", []string{"ane/fp16", "internal/engine/soft/internal/", "internal/engine/soft/run"}},
	{"internal/engine/soft/kernels", []string{"ane", "ane/fp16", "ane/mil", "internal/element",
		"internal/engine/soft/detect", "internal/engine/soft/internal/", "internal/engine/soft/matrix",
		"internal/engine/soft/run", "internal/engine/soft/spatial", "internal/engine/soft/weighted", "internal/numerics",
		"internal/ops"}},
	{"internal/engine/soft/plan", []string{"ane", "ane/mil", "internal/element", "internal/engine/soft/kernels",
		"internal/remark",
		"internal/engine/soft/run", "internal/numerics", "internal/ops", "unimem"}},
	{"internal/engine/soft", []string{"ane", "ane/fp16", "ane/mil", "internal/buildinfo", "internal/element",
		"internal/engine/soft/", "internal/ops",
		"internal/numerics", "unimem"}},
	{"internal/engine/emulate", []string{"ane", "ane/chip", "ane/mil", "ane/mil/lint",
		"internal/engine/driverabi", "internal/engine/wrap"}},
	{"internal/engine/faulty", []string{"ane", "ane/mil", "internal/engine/wrap", "internal/step", "unimem"}},
	{"internal/engine/wrap", []string{"ane", "internal/access"}},
	{"internal/leaktest", []string{"internal/await", "internal/bridgetest", "unimem"}},
	{"internal/chat/jinja", []string{"internal/errtext"}},
	{"internal/chat", []string{"internal/chat/jinja", "internal/errtext", "internal/wholefile"}},
	{"internal/decodertest", []string{"ane/fp16", "internal/step", "unimem/safetensors"}},
	{"internal/decoderbench", []string{"ane", "ane/kv", "internal/engine/soft/peak", "internal/measure",
		"internal/procmem", "internal/step", "models/decoder", "internal/decodertest", "unimem", "unimem/safetensors"}},
	{"internal/growthbench", []string{"ane", "ane/engine", "ane/mil/build", "internal/decoderbench",
		"internal/decodertest", "internal/engine/broker/server", "internal/engine/broker/server/shared",
		"internal/measure", "internal/procmem", "internal/step", "internal/tripbench", "models/decoder",
		"unimem/safetensors"}},
	{"internal/weightbench", []string{"ane/engine", "internal/decoderbench", "internal/decodertest", "internal/measure",
		"internal/procmem", "internal/step", "models/decoder", "unimem", "unimem/safetensors"}},
	{"internal/quotient", []string{"ane/fp16"}},
	{"internal", []string{"ane", "ane/mil", "internal/", "unimem"}},
	{"models/decoder/tokenizer", []string{"internal/errtext", "internal/wholefile"}},
	{"models/decoder", []string{"ane", "ane/chip", "ane/cost", "ane/fp16", "ane/kv", "ane/mil", "ane/mil/blob",
		"ane/mil/build", "ane/mil/lint", "internal/buildinfo", "internal/errtext", "internal/numerics", "internal/pages",
		"internal/quotient", "internal/sniff", "internal/wholefile", "models/decoder/tokenizer", "unimem", "ane/weights", "unimem/safetensors"}},
	{"models", []string{"ane/mil", "ane/mil/blob", "ane/mil/build"}},
	{"contrib/peers", []string{"ane", "ane/engine", "ane/fp16", "ane/mil/build", "ane/wasm", "internal/decodertest",
		"internal/step", "models/decoder", "unimem/blas", "unimem/safetensors"}},
	{"examples", []string{"ane", "ane/engine", "ane/mil", "ane/mil/build", "ane/mil/coreml", "models/decoder",
		"internal/decodertest",
		"unimem"}},
	{"cmd", []string{"ane", "ane/", "cmd/ane-roundtrip/internal/", "internal/", "models", "models/actor",
		"models/decoder", "models/decoder/tokenizer", "objcbridge", "unimem", "unimem/dma", "unimem/metal",
		"unimem/safetensors", "unimem/vulkan"}},
}

// source is one Go file that is no test.
type source struct {
	path, folder string // from the root of the module, with slashes
	*ast.File
}

// public reports whether other modules can import the file's package.
func (s source) public() bool {
	return !strings.Contains("/"+s.folder+"/", "/internal/") && !within(s.folder, "cmd") && !within(s.folder, "examples")
}

// sources returns every Go file of the module but tests and files below testdata.
func sources(t *testing.T) []source {
	all, err := parsed()
	require.NoError(t, err)
	require.Greater(t, len(all), 300, "the walk has found the module")
	return all
}

// parsed parses the module once for all tests.
var parsed = sync.OnceValues(func() (all []source, err error) {
	root := filepath.Join("..", "..")
	err = filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (file == filepath.Join(root, "build") || e.Name() == "testdata" ||
			len(e.Name()) > 2 && e.Name()[0] == '.') {
			return fs.SkipDir
		}
		if e.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		rel = filepath.ToSlash(rel)
		all = append(all, source{rel, path.Dir(rel), f})
		return err
	})
	return all, err
})

// imports lists the paths that a file imports.
func (s source) imports() (all []string) {
	for _, i := range s.Imports {
		p, _ := strconv.Unquote(i.Path.Value) // the parser has accepted it
		all = append(all, p)
	}
	return all
}

// everywhere is the folder that every other may import, and that imports none.
const everywhere = "internal/host"

// allowed reports whether files of a folder may import another folder of the module.
func allowed(from, to string) bool {
	if to == everywhere || from == everywhere {
		return to == everywhere
	}
	for _, rule := range may {
		if !within(from, rule.folder) {
			continue
		}
		return within(to, rule.folder+"/internal") || slices.ContainsFunc(rule.imports, func(i string) bool {
			return i == to || strings.HasSuffix(i, "/") && strings.HasPrefix(to, i)
		})
	}
	return false
}

// within reports whether folder is dir or below it.
func within(folder, dir string) bool { return folder == dir || strings.HasPrefix(folder, dir+"/") }

func TestNoRowHidesALaterOne(t *testing.T) {
	for i, row := range may {
		for _, before := range may[:i] {
			require.False(t, within(row.folder, before.folder), "move the row of %s before that of %s", row.folder,
				before.folder)
		}
	}
}

func TestImportsGoOneWay(t *testing.T) {
	for _, s := range sources(t) {
		for _, p := range s.imports() {
			if to, ours := strings.CutPrefix(p, module); ours && !allowed(s.folder, to) {
				t.Errorf("%s imports %s: add the direction to the table here, or turn the import round", s.path, to)
			}
		}
	}
}

// A rule that allows everything would pass every import.
func TestDirectionsThatAreRefused(t *testing.T) {
	for _, c := range [][2]string{
		{"unimem", "ane"}, {"unimem", "unimem/metal"}, {"ane/mil", "unimem"}, {"ane/mil", "internal/ops"},
		{"ane", "ane/engine"}, {"ane", "internal/engine/soft"}, {"ane/fp16", "ane"}, {"models", "ane"},
		{"internal/engine/soft", "internal/engine/broker"}, {"internal/engine/broker/wire", "objcbridge"},
		{"examples/tutorial", "internal/engine/soft"}, {"objcbridge", "ane"}, {"ane/engine", "cmd/ane-roundtrip"},
		{"unknown", "ane"},
	} {
		require.False(t, allowed(c[0], c[1]), "%s imports %s", c[0], c[1])
	}
}

func TestUnsafeStandsInFilesOfThatName(t *testing.T) {
	for _, s := range sources(t) {
		named := strings.HasSuffix(s.path, "_unsafe.go")
		uses := slices.ContainsFunc(s.imports(), func(p string) bool { return p == "unsafe" || p == "C" })
		if uses && !named {
			t.Errorf("%s imports unsafe or C: move that code to a file named *_unsafe.go", s.path)
		}
		if slices.Contains(s.imports(), "C") && s.folder != "objcbridge" && !within(s.folder, "objcbridge") &&
			!within(s.folder, "internal") {
			t.Errorf("%s calls C: only objcbridge and internal may", s.path)
		}
	}
}

// A build with macrules follows the rules of macOS on Linux, so code that asks for the system itself would do there
// what it never does on a Mac.
func TestOnlyHostAsksForTheSystem(t *testing.T) {
	asks, files := regexp.MustCompile(`\b(runtime\.GOOS|build\.Default\.GOOS)\b`), 0
	require.NoError(t, filepath.WalkDir(filepath.Join("..", ".."), func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (file == filepath.Join("..", "..", "build") ||
			slices.Contains([]string{"host", "house", ".git"}, e.Name())):
			return fs.SkipDir
		case e.IsDir() || !strings.HasSuffix(file, ".go"):
			return nil
		}
		text, err := os.ReadFile(file)
		if asks.Match(text) {
			t.Errorf("%s: ask package %s instead of runtime.GOOS", file, everywhere)
		}
		files++
		return err
	}))
	require.Greater(t, files, 1000, "the walk has found the module")
}

// With the rules of macOS no Go code reads /proc: the stand-in alone measures memory there, in C. The broker does not
// run, and the stand-in's pool of slots is no part of a Mac.
func TestNothingOfAMacReadsProc(t *testing.T) {
	mac := build.Default
	mac.GOOS, mac.CgoEnabled, mac.BuildTags = "linux", true, []string{"macrules"}
	compiled := 0
	for _, s := range sources(t) {
		here, err := mac.MatchFile(filepath.Join("..", "..", s.folder), path.Base(s.path))
		require.NoError(t, err)
		if !here {
			continue
		}
		compiled++
		if within(s.folder, "internal/engine/broker/server") || within(s.folder, "internal/engine/standin") {
			continue
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && strings.HasPrefix(l.Value, `"/proc`) {
				t.Errorf("%s reads %s: a Mac has no such file", s.path, l.Value)
			}
			return true
		})
	}
	require.Greater(t, compiled, 300)
}

// The names of these files bind them to the system itself. All other files of macOS are compiled with macrules too.
func TestFilesOfMacOSAreCompiledWithMacrules(t *testing.T) {
	var alone []string
	for _, s := range sources(t) {
		name := strings.TrimSuffix(strings.TrimSuffix(path.Base(s.path), ".go"), "_unsafe")
		if strings.HasSuffix(name, "_darwin") {
			alone = append(alone, s.path)
		}
	}
	require.ElementsMatch(t, []string{
		"objcbridge/load_builtin_darwin.go", "objcbridge/src/cgo_darwin_unsafe.go", // the bridge in the binary, by cgo
		"internal/libsystem/library_darwin.go",                               // the path of a library
		"unimem/blas/system_darwin.go",                                       // the same, of a peer of benchmarks
		"internal/iosurface/dynamic/system_darwin.go",                        // the same
		"unimem/safetensors/nocache_darwin.go",                               // a hint to the system
		"unimem/metal/driver_darwin.go", "unimem/metal/run_darwin_unsafe.go", // darwinkit needs macOS
	}, alone)
}

func TestImportingStartsNothing(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s has an init: let main call it by name", s.path)
			}
		}
	}
}

// The exported declarations of public packages mention no type of an internal package.
func TestPublicPackagesMentionNoInternalType(t *testing.T) {
	for _, s := range sources(t) {
		if !s.public() {
			continue
		}
		internal := map[string]string{} // by name in the file
		for _, i := range s.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			if strings.Contains(p, "/internal/") {
				name := path.Base(p)
				if i.Name != nil {
					name = i.Name.Name
				}
				internal[name] = p
			}
			delete(internal, "errtext") // whose fields error types embed
		}
		for _, d := range s.Decls {
			for _, n := range mentions(d) {
				if p := internal[n]; p != "" {
					t.Errorf("%s: an exported declaration mentions a type of %s", s.path, p)
				}
			}
		}
	}
}

// mentions lists the package names that the exported part of a declaration uses.
func mentions(d ast.Decl) (names []string) {
	look := func(n ast.Node) {
		if n == nil {
			return
		}
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				return len(n.Names) == 0 || slices.ContainsFunc(n.Names, (*ast.Ident).IsExported)
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok {
					names = append(names, x.Name)
				}
			}
			return true
		})
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if !d.Name.IsExported() || d.Recv != nil && !exportedReceiver(d.Recv.List[0].Type) {
			return nil
		}
		for _, list := range []*ast.FieldList{d.Type.Params, d.Type.Results} {
			if list != nil {
				for _, f := range list.List {
					look(f.Type)
				}
			}
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					look(s.Type)
				}
			case *ast.ValueSpec:
				if slices.ContainsFunc(s.Names, (*ast.Ident).IsExported) && s.Type != nil {
					look(s.Type)
				}
			}
		}
	}
	return names
}

func exportedReceiver(e ast.Expr) bool {
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// The check above would find what it looks for.
func TestMentions(t *testing.T) {
	const text = `package p
import "x/internal/a"
func F(t *a.T) {}
func (u U) G() a.T { return a.T{} }
func (u u) H() a.T { return a.T{} }
func f(t a.T) {}
type U struct { Field a.T; hidden a.T }
type V func(*config)
type config = a.T
`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", text, parser.SkipObjectResolution)
	require.NoError(t, err)
	found := 0
	for _, d := range f.Decls {
		found += len(mentions(d))
	}
	require.Equal(t, 3, found, "F, G and Field")
}

// Every rule of the table is about a folder that exists.
func TestFoldersOfTheTableExist(t *testing.T) {
	for _, rule := range may {
		for _, f := range append([]string{rule.folder}, rule.imports...) {
			info, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(f)))
			require.NoError(t, err)
			require.True(t, info.IsDir())
		}
	}
}
