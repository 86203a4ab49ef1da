package metal

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// capturing guards the process's one MTLCaptureManager.
var capturing sync.Mutex

// Capture calls f and writes the GPU's work during the call to a file for Xcode. path ends in ".gputrace" and does not
// exist yet. Work that f submits is in the file whole only if it ends before f returns. Metal captures only in a
// process with METAL_CAPTURE_ENABLED=1 in its environment (macOS 14; before it was MTL_CAPTURE_ENABLED), or under
// Xcode. A process makes one capture at a time: further calls wait.
//
// Errors: ErrClosed, ErrCapture before f is called, and that of f.
func (d *Device) Capture(path string, f func() error) error {
	refuse := func(hint string) error { return newError("capture", ErrCapture, "", hint) }
	capturing.Lock()
	defer capturing.Unlock()
	err := d.use("capture", func(ref uintptr) error {
		if filepath.Ext(path) != ".gputrace" {
			return refuse(fmt.Sprintf("%s: name a file that ends in .gputrace", path))
		}
		if _, err := os.Lstat(path); err == nil {
			return refuse(path + " exists: name another file")
		}
		whole, err := filepath.Abs(path)
		if err != nil {
			return refuse(err.Error())
		}
		if fault, ok := d.driver.capture(ref, whole); !ok {
			return refuse(fault + ": start the process with METAL_CAPTURE_ENABLED=1")
		}
		return nil
	})
	if err != nil {
		return err
	}
	defer d.driver.endCapture()
	return f()
}
