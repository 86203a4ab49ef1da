package bridgetest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
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
func fingerprint(root string, v variant) (string, error) {
	hash := sha256.New()
	add := func(path string) error {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(hash, "%q %d\n", name, len(content))
		hash.Write(content)
		return nil
	}
	fmt.Fprintf(hash, "%q %s\n", v, runtime.GOARCH)
	if err := add(filepath.Join(root, script)); err != nil {
		return "", err
	}
	for _, dir := range []string{"src", "standin"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			return add(path)
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(hash.Sum(nil)[:12]), nil
}
