//go:build cgo && (amd64 || arm64)

package bridgetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/step"
)

const (
	patience = 20 * time.Minute // limit of a build, and of waiting for another process's build
	ageKept  = 24 * time.Hour   // an older folder of other sources is removed
	prefix   = "bridge-"
	unsealed = "part-" // prefix of a folder that is being built
)

// cached returns the folder for the present sources and builds it if necessary. Processes that ask
// at the same time wait for one of them to build. A folder gets its final name only when it is
// complete.
func cached(root string, v variant) (dir string, err error) {
	err = step.Catch(func() {
		cache := filepath.Join(step.Must(os.UserCacheDir()), "anekit")
		step.NoError(os.MkdirAll(cache, 0o700))
		defer step.Must(lock(filepath.Join(cache, "lock")))()
		dir = filepath.Join(cache, prefix+step.Must(fingerprint(root, v)))
		if complete(dir) != nil {
			build(root, dir, v)
		}
		now := time.Now()
		step.NoError(os.Chtimes(dir, now, now))
		step.NoError(prune(cache, now))
	})
	return dir, err
}

// lock takes a file lock, which is released at the end of the process at the latest.
func lock(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if err != unix.EWOULDBLOCK && err != unix.EINTR || time.Now().After(end) {
			_ = file.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
	}
}

// build runs the script into a new folder and then renames the folder.
func build(root, dir string, v variant) {
	part := step.Must(os.MkdirTemp(filepath.Dir(dir), unsealed))
	defer os.RemoveAll(part)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	args := []string{filepath.Join(root, script), part}
	if v == sanitized {
		args = append(args, "--sanitize")
	}
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.WaitDelay = time.Second // waits for processes that the script started
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		step.NoError(fmt.Errorf("%s: %w\n%s", script, err, out))
	}
	if err := complete(part); err != nil {
		step.NoError(fmt.Errorf("%s reported no error, but: %w", script, err))
	}
	step.NoError(os.RemoveAll(dir))
	step.NoError(os.Rename(part, dir))
}

// prune removes folders that no process has used for a day.
func prune(cache string, now time.Time) error {
	entries, err := os.ReadDir(cache)
	failures := []error{err}
	for _, e := range entries {
		ours := e.IsDir() && (strings.HasPrefix(e.Name(), prefix) || strings.HasPrefix(e.Name(), unsealed))
		if info, err := e.Info(); ours && err == nil && now.Sub(info.ModTime()) > ageKept {
			failures = append(failures, os.RemoveAll(filepath.Join(cache, e.Name())))
		}
	}
	return errors.Join(failures...)
}
