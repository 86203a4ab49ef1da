package kv

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path/filepath"
	"strings"

	"github.com/anekit/anekit/internal/errtext"
)

// SaveFile writes a snapshot to path, which replaces what was there. It writes a temporary file in the same folder,
// syncs it, renames it and syncs the folder. After a failure or a loss of power, path has the old snapshot or the new
// one, whole; after SaveFile has returned nil, the new one. Where several goroutines call SaveFile at once, path has
// the last snapshot.
//
// Errors: those of Save and of the file system.
func (c *Cache) SaveFile(path string, f Fingerprint) error { return c.saveFile(system{}, path, f, nil) }

// SaveFileNote is SaveFile with a note of the caller in the same file, such as the tokens of the conversation. It has
// at most 64 MiB.
//
// Errors: those of SaveFile, and ErrSize for a longer note.
func (c *Cache) SaveFileNote(path string, f Fingerprint, note []byte) error {
	return c.saveFile(system{}, path, f, note)
}

// maxNote is the longest note in bytes: in base64 it fits into a header beside 4096 layers.
const maxNote = 64 << 20

func (c *Cache) saveFile(fs files, path string, f Fingerprint, note []byte) error {
	const op = "save"
	if len(note) > maxNote {
		return &Error{Base: errtext.Base{Op: op, Err: ErrSize, Detail: fmt.Sprintf("a note of %d bytes", len(note)),
			Hint: fmt.Sprintf("a note has at most %d bytes", maxNote)}, Name: path}
	}
	if err := c.usable(op); err != nil {
		return err
	}
	if err := f.check(op); err != nil {
		return err
	}
	h := c.header(f)
	h.note = note
	err := replace(fs, path, func(w io.Writer) error { return c.writeSnapshot(w, h) })
	if err == nil {
		err = tidy(fs, path)
	}
	if err != nil {
		return &Error{Base: errtext.Base{Op: op, Cause: err}, Name: path}
	}
	return nil
}

// tempMark is between the name of a snapshot and the number of its temporary file.
const tempMark = ".tmp-"

// temporary returns a name for a temporary file that no other file has.
func temporary(path string) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it does not fail
	return path + tempMark + hex.EncodeToString(b[:])
}

// tidy removes the temporary files beside path that a loss of power left. It keeps those that another process is
// writing.
func tidy(fs files, path string) error {
	dir, base := filepath.Split(path)
	names, err := fs.list(filepath.Clean(dir + "."))
	if err != nil {
		return err
	}
	for _, n := range names {
		id, ours := strings.CutPrefix(n, base+tempMark)
		if _, err := hex.DecodeString(id); !ours || len(id) != 32 || err != nil {
			continue
		}
		if err := fs.sweep(dir + n); err != nil && !errors.Is(err, iofs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// RestoreFile is Restore of the snapshot at path. The error is ErrCorrupt also if the file has bytes after its end.
func (c *Cache) RestoreFile(path string, f Fingerprint) error {
	return c.restoreFile(system{}, path, f, nil)
}

// RestoreFileNote is RestoreFile of a snapshot with a note. After it has checked and compared the header, it calls
// accept with the note and the number of tokens of the snapshot; accept may Reserve. If accept returns an error,
// RestoreFileNote returns an Error that wraps it, and the cache is unchanged. A snapshot without a note has an empty one.
func (c *Cache) RestoreFileNote(path string, f Fingerprint, accept func(note []byte, tokens int) error) error {
	return c.restoreFile(system{}, path, f, accept)
}

func (c *Cache) restoreFile(fs files, path string, f Fingerprint, accept func([]byte, int) error) error {
	const op = "restore"
	if err := c.usable(op); err != nil {
		return err
	}
	return reading(op, fs, path, func(s *source) error { return c.restore(op, s, f, accept) })
}

// NoteFile returns the note of the snapshot at path and the number of its tokens. It checks the header and the size,
// not the keys and values, which RestoreFile checks. Errors are those of RestoreFile.
func NoteFile(path string) (note []byte, tokens int, err error) {
	err = reading("read note", system{}, path, func(s *source) error {
		note, tokens = s.head.note, s.head.tokens
		return nil
	})
	return note, tokens, err
}

// CheckFile reads the whole snapshot at path and compares all checksums, as RestoreFile does before it changes a cache.
// It keeps no keys and values, and returns the fingerprint instead of comparing it. Errors are those of RestoreFile.
func CheckFile(path string) (f Fingerprint, err error) {
	const op = "check"
	err = reading(op, system{}, path, func(s *source) error {
		f = s.head.Fingerprint
		return s.check(op)
	})
	return f, err
}

// reading opens the snapshot at path, compares its size with its header, and calls use.
func reading(op string, fs files, path string, use func(*source) error) error {
	f, size, err := fs.open(path)
	if err != nil {
		return &Error{Base: errtext.Base{Op: op, Cause: err}, Name: path}
	}
	defer f.Close() // it is only read
	s, err := newSource(op, path, f)
	if err != nil {
		return err
	}
	if have := len(s.raw) + s.head.total(); int64(have) != size {
		return damaged(op, path, "%d bytes, the header describes %d", size, have)
	}
	s.at, _ = f.(vectored)
	return use(s)
}
