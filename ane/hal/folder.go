package hal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/wholefile"
)

// CacheDir keeps the programs that Prepare compiles in a folder, as many as CacheLimit: text, function and weights, one
// file for each content and engine. No engine of package ane returns a compiled program that could be stored. So
// NewDevice compiles the programs of its engine in the folder in the background, those used last first, and Prepare
// finds them compiled. It makes the folder; an error is that of NewDevice. Later errors of the folder do not fail
// Prepare. A damaged file is removed.
func CacheDir(path string) Option { return func(c *config) { c.folder.path, c.disk = path, true } }

// folder is the folder of CacheDir; without a path it does nothing.
type folder struct {
	path  string
	limit int
}

const suffix = ".program"

// stored is what a program's file has after the SHA-256 of the rest.
type stored struct {
	Function string
	Text     []byte
	Weights  ane.Files
}

// file returns the path of a program's file.
func (f folder) file(key digest) string {
	return filepath.Join(f.path, hex.EncodeToString(key[:])+suffix)
}

// store writes a program, and removes those beyond the limit.
func (f folder) store(key digest, src ane.Source) {
	if f.path == "" || f.limit == 0 || src.Residency != ane.DefaultResidency {
		return // the file has no place for a residency
	}
	text, err := src.MIL()
	files, _ := src.Weights.(ane.Files) // of identify
	body, wrong := json.Marshal(stored{src.Function, text, files})
	if errors.Join(err, wrong) != nil {
		return // a compiled program prints, and these fields have a JSON
	}
	sum := sha256.Sum256(body)
	if wholefile.Replace(f.file(key), func(w io.Writer) error {
		if _, err := w.Write(sum[:]); err != nil {
			return err
		}
		_, err := w.Write(body)
		return err
	}) != nil {
		return // the program is compiled: a full disk does not fail Prepare
	}
	f.touch(key) // the system's own times are as coarse as 10 ms, and equal ones have no order
	for i, name := range f.list() {
		if i >= f.limit {
			_ = os.Remove(filepath.Join(f.path, name)) // another process may have removed it
		}
	}
}

// touch marks a program as used.
func (f folder) touch(key digest) {
	if f.path != "" {
		now := time.Now()
		_ = os.Chtimes(f.file(key), now, now) // it may have been removed
	}
}

// list returns the names of the files, the one used last first.
func (f folder) list() (names []string) {
	entries, _ := os.ReadDir(f.path)
	times := map[string]time.Time{}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && strings.HasSuffix(e.Name(), suffix) { // a pipe would block
			names = append(names, e.Name())
			times[e.Name()] = info.ModTime()
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if c := times[b].Compare(times[a]); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	return names
}

// load reads a program. It removes a damaged file.
func (f folder) load(name string) (src ane.Source, ok bool) {
	path := filepath.Join(f.path, name)
	data, err := os.ReadFile(path)
	if err != nil {
		return src, false
	}
	body := data[min(len(data), sha256.Size):]
	sum := sha256.Sum256(body)
	var p stored
	if bytes.HasPrefix(data, sum[:]) && json.Unmarshal(body, &p) == nil {
		return ane.Source{Function: p.Function, Text: p.Text, Weights: p.Weights}, true
	}
	_ = os.Remove(path) // another process may have removed it
	return src, false
}

// preload compiles the programs of the folder that are of this engine, until Close begins.
func (d *Device) preload() {
	defer d.active.Leave()
	f := d.config.folder
	for i, name := range f.list() {
		if i >= f.limit || d.isClosing() {
			return
		}
		src, ok := f.load(name)
		if !ok {
			continue
		}
		src, key, err := d.identify(src)
		if err != nil || name != filepath.Base(f.file(key)) {
			continue // of another engine
		}
		p, _, err := d.program(d.life, key, func() (*ane.Model, error) { return d.load(d.life, src) })
		if err == nil {
			_ = d.cache.release(context.WithoutCancel(d.life), p) // Close tries again
		}
	}
}

func (d *Device) isClosing() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closing
}
