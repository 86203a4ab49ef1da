package bridgetest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const script = "build.sh"

// sources returns the folder objcbridge of this module's sources. It looks from this file; in a
// binary without build paths it looks above the working directory of the test.
func sources() (string, error) {
	var roots []string
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		roots = append(roots, filepath.Join(filepath.Dir(file), "..", "..", "objcbridge"))
	}
	if dir, err := os.Getwd(); err == nil {
		for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			roots = append(roots, filepath.Join(dir, "objcbridge"))
		}
	}
	for _, root := range roots {
		if _, err := os.Stat(filepath.Join(root, script)); err == nil {
			return root, nil
		}
	}
	return "", fmt.Errorf("objcbridge/%s is in none of %v", script, roots)
}

// fingerprint returns a hash of the names and contents of everything that the libraries are built
// from. It reads the files with package os, so that go test knows that its result depends on them.
func fingerprint(root string, v variant) (sum string, err error) {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %s\n", v, runtime.GOARCH)
	for _, part := range []string{script, "src", "standin"} {
		err = errors.Join(err, filepath.WalkDir(filepath.Join(root, part), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(path)
			fmt.Fprintf(hash, "%q %d\n", strings.TrimPrefix(path, root), len(content))
			hash.Write(content)
			return err
		}))
	}
	return hex.EncodeToString(hash.Sum(nil)[:12]), err
}
