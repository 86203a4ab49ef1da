//go:build !macrules

package procmem

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Group is a control group that limits the memory of the processes that join it.
type Group struct{ Path string }

// NewGroup makes a group below one of this process that permits it. The caller closes it after the processes in it have
// ended. The error matches errors.ErrUnsupported where this process may make none.
func NewGroup(limit int64) (*Group, error) {
	err := errors.ErrUnsupported
	for _, above := range groups() {
		path, fault := os.MkdirTemp(above, "anekit-")
		if fault != nil {
			err = fmt.Errorf("%w: %w", errors.ErrUnsupported, fault)
			continue
		}
		for _, name := range []string{"memory.max", "memory.limit_in_bytes"} {
			fault = os.WriteFile(filepath.Join(path, name), []byte(strconv.FormatInt(limit, 10)), 0)
			if fault == nil {
				return &Group{path}, nil
			}
		}
		err = fmt.Errorf("%w: %w", errors.ErrUnsupported, fault)
		_ = os.Remove(path) // it is empty
	}
	return nil, err
}

// Join moves this process to a group.
func Join(path string) error {
	return os.WriteFile(filepath.Join(path, "cgroup.procs"), []byte("0"), 0)
}

// Close removes the group. The error is that of the system while a process is in it.
func (g *Group) Close() error { return os.Remove(g.Path) }
