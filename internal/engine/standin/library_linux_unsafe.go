//go:build linux && cgo

package standin

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/bridgedir"
	"github.com/anekit/anekit/internal/iosurface"
	"github.com/anekit/anekit/internal/iosurface/dynamic"
	"github.com/anekit/anekit/objcbridge"
)

// The libraries that `make bridge` builds, all in one folder.
const (
	frameworkFile = "libAppleNeuralEngine.so"
	surfaceFile   = bridgedir.Surface
)

// library is the two libraries: addresses of functions of standin.h and of the
// stand-in IOSurface. The libraries stay loaded for the life of the process.
type library struct {
	dir      string
	surfaces *iosurface.Table
	pins     []*runtime.Pinner // memory that C may keep

	start, fault, releaseHangs, fireLost, clearFaults, count, instances, purgeAll uintptr

	surfaceCount, surfaceFail, surfaceAdopt, tempDir uintptr
	lookup, lock, unlock, base, id, release          uintptr
}

// bridge returns the path of the bridge library in the same folder.
func (l *library) bridge() string { return filepath.Join(l.dir, objcbridge.LibraryName()) }

// load opens the libraries in dir, an absolute path.
func load(dir string) (*library, error) {
	l := &library{dir: dir}
	surface, framework := filepath.Join(dir, surfaceFile), filepath.Join(dir, frameworkFile)
	for _, file := range []string{surface, framework} {
		if _, err := os.Stat(file); err != nil {
			return nil, missing(file, err)
		}
	}
	var err error
	if l.surfaces, err = dynamic.Load(surface, surface); err != nil {
		return nil, missing(surface, err)
	}
	if err := l.resolve(surface, map[string]*uintptr{
		"standin_surface_count": &l.surfaceCount, "standin_surface_fail": &l.surfaceFail,
		"standin_surface_adopt": &l.surfaceAdopt, "standin_set_temp_dir": &l.tempDir,
		"IOSurfaceLookup": &l.lookup, "IOSurfaceLock": &l.lock,
		"IOSurfaceUnlock": &l.unlock, "IOSurfaceGetBaseAddress": &l.base, "IOSurfaceGetID": &l.id, "CFRelease": &l.release,
	}); err != nil {
		return nil, err
	}
	err = l.resolve(framework, map[string]*uintptr{
		"standin_start": &l.start, "standin_fault": &l.fault, "standin_release_hangs": &l.releaseHangs,
		"standin_fire_lost": &l.fireLost, "standin_clear_faults": &l.clearFaults, "standin_count": &l.count,
		"standin_instances": &l.instances, "standin_purge_all": &l.purgeAll,
	})
	return l, err
}

// resolve opens a library and finds its functions.
func (l *library) resolve(file string, functions map[string]*uintptr) error {
	// The loader keeps the text of its last error per thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return missing(file, err)
	}
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		if *functions[name], err = purego.Dlsym(handle, name); err != nil {
			return missing(file, err)
		}
	}
	return nil
}

// missing is the error of a library that is missing or not the project's.
func missing(file string, cause error) error {
	detail := cause.Error()
	if !strings.Contains(detail, file) {
		detail = file + ": " + detail
	}
	return &ane.Error{Op: "open", Engine: Name, Err: ane.ErrUnavailable, Detail: detail,
		Hint: bridgedir.Remedy}
}

// folder returns the absolute path of the folder with the libraries.
func folder(dir string) (string, error) {
	if dir == "" {
		var err error
		if dir, err = bridgeDir(); err != nil {
			return "", err
		}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", missing(dir, err)
	}
	return abs, nil
}

// call calls a C function and ignores its result.
func call(f uintptr, args ...uintptr) { purego.SyscallN(f, args...) }

// text returns s as a C string. The caller keeps it alive during the call.
func text(s string) *byte {
	b := append([]byte(s), 0)
	return &b[0]
}

// setTempDir sets the user's folder for temporary files.
func (l *library) setTempDir(path string) {
	purego.SyscallN(l.tempDir, uintptr(unsafe.Pointer(text(path))))
}

func (l *library) counts() Counts {
	c := new(Counts)
	purego.SyscallN(l.count, uintptr(unsafe.Pointer(c)))
	return *c
}

func (l *library) surfaceCounts() SurfaceCounts {
	c := new(SurfaceCounts)
	purego.SyscallN(l.surfaceCount, uintptr(unsafe.Pointer(c)))
	return *c
}

// arm arms a fault. It returns false for a method that does not support it.
func (l *library) arm(selector string, kind FaultKind, count int, value int64) bool {
	r, _, _ := purego.SyscallN(l.fault, uintptr(unsafe.Pointer(text(selector))), uintptr(kind), uintptr(int32(count)),
		uintptr(value))
	return int32(r) == 0
}

func (l *library) instancesOf(class string) int {
	r, _, _ := purego.SyscallN(l.instances, uintptr(unsafe.Pointer(text(class))))
	return int(r)
}

func (l *library) failSurface(function string, nth int) {
	purego.SyscallN(l.surfaceFail, uintptr(unsafe.Pointer(text(function))), uintptr(int32(nth)))
}
