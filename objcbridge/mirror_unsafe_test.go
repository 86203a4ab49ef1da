//go:build amd64 || arm64

package objcbridge

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// place is a field: its name in C and its offset in the Go structure.
type place struct {
	field        string
	offset, size uintptr
}

func at[T any](base unsafe.Pointer, field string, p *T) place {
	return place{field, uintptr(unsafe.Pointer(p)) - uintptr(base), unsafe.Sizeof(*p)}
}

// TestMirrors compares the fields' offsets with those of a C compiler.
func TestMirrors(t *testing.T) {
	cc := compiler(t)
	var (
		e   cError
		cfg cConfig
		chk cCheck
		dev cDevice
		fo  cFolders
		w   cWeight
		f   cFacts
		b   cBinding
		u   cUsage
	)
	mirrors := []struct {
		name   string
		size   uintptr
		base   unsafe.Pointer
		places func(unsafe.Pointer) []place
	}{
		{"aneb_error", unsafe.Sizeof(e), unsafe.Pointer(&e), func(o unsafe.Pointer) []place {
			return []place{at(o, "kind", &e.kind), at(o, "stage", &e.stage), at(o, "code", &e.code),
				at(o, "has_status", &e.hasStatus),
				at(o, "status", &e.status), at(o, "status_type", &e.statusType), at(o, "load_stage", &e.loadStage),
				at(o, "causes", &e.causes), at(o, "domain", &e.domain),
				at(o, "exception", &e.exception), at(o, "message", &e.message)}
		}},
		{"aneb_config", unsafe.Sizeof(cfg), unsafe.Pointer(&cfg), func(o unsafe.Pointer) []place {
			return []place{at(o, "framework", &cfg.framework), at(o, "iokit", &cfg.iokit),
				at(o, "program_limit", &cfg.programLimit), at(o, "keep_files", &cfg.keepFiles)}
		}},
		{"aneb_check", unsafe.Sizeof(chk), unsafe.Pointer(&chk), func(o unsafe.Pointer) []place {
			return []place{at(o, "class_name", &chk.class), at(o, "selector", &chk.selector),
				at(o, "expected", &chk.expected),
				at(o, "found", &chk.found), at(o, "needed_for", &chk.neededFor), at(o, "class_method",
					&chk.classMethod),
				at(o, "required", &chk.required), at(o, "status", &chk.status)}
		}},
		{"aneb_device", unsafe.Sizeof(dev), unsafe.Pointer(&dev), func(o unsafe.Pointer) []place {
			return []place{at(o, "has_ane", &dev.hasANE), at(o, "virtual_machine", &dev.virtualMachine),
				at(o, "internal_build", &dev.internalBuild), at(o, "engines", &dev.engines), at(o, "cores", &dev.cores),
				at(o, "board", &dev.board), at(o, "architecture", &dev.architecture), at(o, "subtype", &dev.subtype),
				at(o, "variant", &dev.variant), at(o, "product", &dev.product), at(o, "build", &dev.build)}
		}},
		{"aneb_folders", unsafe.Sizeof(fo), unsafe.Pointer(&fo), func(o unsafe.Pointer) []place {
			return []place{at(o, "verifies", &fo.verifies), at(o, "foreign", &fo.foreign), at(o, "process", &fo.process),
				at(o, "user", &fo.user)}
		}},
		{"aneb_weight", unsafe.Sizeof(w), unsafe.Pointer(&w), func(o unsafe.Pointer) []place {
			return []place{at(o, "path", &w.path), at(o, "data", &w.data), at(o, "size", &w.size)}
		}},
		{"aneb_program_facts", unsafe.Sizeof(f), unsafe.Pointer(&f), func(o unsafe.Pointer) []place {
			return []place{at(o, "identity", &f.identity), at(o, "path", &f.path), at(o, "handle", &f.handle),
				at(o, "intermediate", &f.intermediate), at(o, "state", &f.state), at(o, "loaded", &f.loaded),
				at(o, "queue_depth", &f.queueDepth), at(o, "perf_stats_mask", &f.perfStatsMask), at(o, "recovered",
					&f.recovered)}
		}},
		{"aneb_binding", unsafe.Sizeof(b), unsafe.Pointer(&b), func(o unsafe.Pointer) []place {
			return []place{at(o, "surface", &b.surface), at(o, "index", &b.index), at(o, "bytes", &b.bytes)}
		}},
		{"aneb_usage", unsafe.Sizeof(u), unsafe.Pointer(&u), func(o unsafe.Pointer) []place {
			return []place{at(o, "compiles", &u.compiles),
				at(o, "loaded", &u.loaded),
				at(o, "program_limit", &u.programLimit), at(o, "programs", &u.programs), at(o, "surfaces", &u.surfaces),
				at(o, "requests", &u.requests), at(o, "identities", &u.identities)}
		}},
	}
	header, err := filepath.Abs("src/bridge.h")
	require.NoError(t, err)
	source := fmt.Sprintf("#include %q\n", header)
	for _, mirror := range mirrors {
		source += fmt.Sprintf("_Static_assert(sizeof(%s) == %d, \"size of %s\");\n", mirror.name, mirror.size,
			mirror.name)
		for _, p := range mirror.places(mirror.base) {
			source += fmt.Sprintf("_Static_assert(offsetof(%s, %s) == %d, \"%s.%s\");\n", mirror.name, p.field,
				p.offset,
				mirror.name, p.field)
			source += fmt.Sprintf("_Static_assert(sizeof(((%s *)0)->%s) == %d, \"size of %s.%s\");\n", mirror.name,
				p.field, p.size, mirror.name, p.field)
		}
	}
	check := func(source string) (string, error) {
		file := filepath.Join(t.TempDir(), "layout.c")
		require.NoError(t, os.WriteFile(file, []byte(source), 0o644))
		out, err := exec.Command(cc, "-std=gnu11", "-fsyntax-only", file).CombinedOutput()
		return string(out), err
	}
	out, err := check(source)
	require.NoError(t, err, out)

	// The comparison detects a field at another offset.
	wrong := strings.Replace(source, "offsetof(aneb_error, code) == 8", "offsetof(aneb_error, code) == 12", 1)
	require.NotEqual(t, source, wrong)
	_, err = check(wrong)
	require.Error(t, err)
}

func TestStrings(t *testing.T) {
	require.Empty(t, goString(nil))
	for _, s := range []string{"", "x", "größer", strings.Repeat("long", 1000)} {
		require.Equal(t, s, goString(cString(s)))
	}
	require.Equal(t, "ab", text([]byte{'a', 'b', 0, 'c'}))
	require.Equal(t, "ab\uFFFD", text([]byte{'a', 'b', 0xc3}), "no zero byte, and a character cut in two")
}
