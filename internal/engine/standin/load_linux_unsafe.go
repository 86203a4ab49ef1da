//go:build linux && cgo

package standin

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/bridgedir"
	"github.com/anekit/anekit/internal/engine/standin/internal/entry"
	"github.com/anekit/anekit/internal/iosurface/dynamic"
	"github.com/anekit/anekit/objcbridge"
)

// loaded returns the libraries in dir. It loads them at the first call.
func loaded(dir string) (*library, error) {
	dir, err := folder(dir)
	if err != nil {
		return nil, err
	}
	if l := process.library; l != nil {
		if l.dir != dir {
			return nil, &ane.Error{Op: "open", Engine: Name, Name: dir, Err: ane.ErrInUse,
				Detail: "this process has loaded the libraries in " + l.dir,
				Hint:   "use that folder or another process"}
		}
		return l, nil
	}
	var l *library
	err = process.programs.choose(func(own string) (err error) {
		if l, err = load(dir); err == nil && own != "" {
			l.setTempDir(own)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	process.library = l
	return l, nil
}

// folder returns the absolute path of the folder with the libraries: dir, or that of the bridge library.
func folder(dir string) (string, error) {
	if dir == "" {
		var err error
		if dir, err = objcbridge.Dir(); err != nil {
			return "", &ane.Error{Op: "open", Engine: Name, Err: ane.Because(ane.ErrUnavailable, err)}
		}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", missing(dir, err)
	}
	return abs, nil
}

// load opens the libraries in dir, an absolute path.
func load(dir string) (*library, error) {
	l := &library{dir: dir, pool: poolOf, bytesAt: bytesAt}
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
	if err := register(surface, map[string]any{
		"standin_surface_count": &l.surfaceCount, "standin_surface_fail": &l.surfaceFail,
		"standin_surface_adopt": &l.surfaceAdopt, "standin_set_temp_dir": &l.setTempDir,
	}); err != nil {
		return nil, err
	}
	var start func(*cConfig) int32
	if err := register(framework, map[string]any{
		"standin_start": &start, "standin_fault": &l.fault, "standin_release_hangs": &l.releaseHangs,
		"standin_clear_faults": &l.clearFaults, "standin_count": &l.count, "standin_instances": &l.instances,
		"standin_purge_all": &l.purgeAll,
	}); err != nil {
		return nil, err
	}
	l.begin = func(o Options, replay []byte) int { return int(start(pinned(&process.pins, o, replay))) }
	return l, nil
}

// register opens a library and makes functions of its symbols.
func register(file string, functions map[string]any) error {
	// The loader keeps the text of its last error per thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return missing(file, err)
	}
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		symbol, err := purego.Dlsym(handle, name)
		if err != nil {
			return missing(file, err)
		}
		purego.RegisterFunc(functions[name], symbol)
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

// cConfig is standin_config and cServer standin_server of standin.h. The header
// is not included, so that the package builds where only Go packages exist, as in
// a vendor folder.
type cConfig struct {
	profile          *byte
	missing, changed **byte // terminated by NULL
	pool             *byte  // NULL for slots of this process
	replay           *byte  // NULL without a dump
	slots            int32
	strictSurfaces   int32
	server           cServer
}

type cServer struct {
	_ uintptr // its context: 0, since a process has one server
	entry.Functions
}

// pinned returns the configuration, pinned with all that it points to, because the framework may keep the pointers.
// replay is a property list, or nil.
func pinned(pins *runtime.Pinner, o Options, replay []byte) *cConfig {
	text := func(s string) *byte {
		b := append([]byte(s), 0)
		pins.Pin(&b[0])
		return &b[0]
	}
	list := func(words []string) **byte {
		pointers := make([]*byte, len(words)+1)
		for i, w := range words {
			pointers[i] = text(w)
		}
		pins.Pin(&pointers[0])
		return &pointers[0]
	}
	config := &cConfig{
		profile: text(o.profile()),
		missing: list(o.Missing),
		changed: list(o.Changed),
		slots:   o.slots(),
		server:  cServer{Functions: entry.Addresses()},
	}
	if o.Pool != "" {
		config.pool = text(o.Pool)
	}
	if replay != nil {
		config.replay = text(string(replay))
	}
	if o.StrictSurfaces {
		config.strictSurfaces = 1
	}
	pins.Pin(config)
	return config
}

// bytesAt returns memory outside Go's heap.
func bytesAt(base uintptr, size int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&base)), size)
}

// poolName is the name of the memory that is the pool of a process and its children.
const poolName = "anekit-standin-pool"

// poolOf returns the path of the pool that named or EnvPool name. If neither does, it makes a pool in memory for this
// process and the processes that it starts. Its path lies in /proc, so nothing is left after the last of them has
// ended. Call it with process.mu locked.
func poolOf(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	if inherited := os.Getenv(EnvPool); inherited != "" && !ended(inherited) {
		return inherited, nil
	}
	fd, err := unix.MemfdCreate(poolName, unix.MFD_CLOEXEC)
	if err != nil {
		return "", &ane.Error{Op: "open", Engine: Name, Err: ane.Because(ane.ErrUnavailable, err),
			Detail: "no memory for the pool of slots", Hint: "set " + EnvPool + " to a file"}
	}
	process.pool = os.NewFile(uintptr(fd), poolName)
	path := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd)
	return path, os.Setenv(EnvPool, path)
}

// ended reports whether a path named the pool of a process that has ended. Its number may be another process's now.
func ended(path string) bool {
	if !strings.HasPrefix(path, "/proc/") {
		return false
	}
	file, err := os.Readlink(path)
	return err != nil || !strings.HasPrefix(file, "/memfd:"+poolName)
}
