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

	"github.com/anekit/anekit/unimem"
)

// SaveFile writes a snapshot to path, which replaces what was there, further files of AppendFile included. It writes
// a temporary file in the same folder, syncs it, renames it and syncs the folder. After a failure or a loss of
// power, path has the old snapshot or the new one, whole; after SaveFile has returned nil, the new one. Where
// several goroutines call SaveFile at once, path has the last snapshot; AppendFile needs the path for itself.
//
// Errors: those of Save and of the file system.
func (c *Cache) SaveFile(path string, f Fingerprint) error { return c.saveFile(system{}, path, f, nil) }

// SaveFileNote is SaveFile with a note of the caller in the same file, such as the tokens of the conversation. It has
// at most 64 MiB. AppendFile does not change it, and FoldFile keeps it.
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
		return &Error{Op: op, Name: path, Err: ErrSize, Detail: fmt.Sprintf("a note of %d bytes", len(note)),
			Hint: fmt.Sprintf("a note has at most %d bytes", maxNote)}
	}
	if err := c.usable(op); err != nil {
		return err
	}
	if err := f.check(op); err != nil {
		return err
	}
	h := c.header(f, min(c.first, c.next))
	h.id, h.note = newID(), note
	err := replace(fs, path, path+tempMark+h.id, func(w io.Writer) error { return c.writeSnapshot(w, h) })
	if err == nil {
		c.saved = tip{h.id, c.next}
		err = tidy(fs, path, nil)
	}
	if err != nil {
		return &Error{Op: op, Name: path, Cause: err}
	}
	return nil
}

// newID returns a number that no other file has.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it does not fail
	return hex.EncodeToString(b[:])
}

// tidy removes the files beside path that the snapshot at path does not use: the index if there are no parts, other
// parts, and temporary files that a loss of power left. It keeps those that another process is writing.
func tidy(fs files, path string, parts []part) error {
	dir, base := filepath.Split(path)
	names, err := fs.list(filepath.Clean(dir + "."))
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, p := range parts {
		used[p.File] = true
	}
	for _, n := range names {
		rest, ours := strings.CutPrefix(n, base)
		ours = ours && (rest == indexSuffix && parts == nil || marked(rest, partMark) || marked(rest, tempMark) ||
			marked(rest, indexSuffix+tempMark))
		if !ours || used[n] {
			continue
		}
		remove := fs.remove
		if strings.Contains(rest, tempMark) {
			remove = fs.sweep
		}
		if err := remove(dir + n); err != nil && !errors.Is(err, iofs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// marked reports whether the end of a name is a mark and a number of newID.
func marked(rest, mark string) bool {
	id, ok := strings.CutPrefix(rest, mark)
	id = strings.TrimSuffix(id, ".safetensors")
	_, err := hex.DecodeString(id)
	return ok && len(id) == 32 && err == nil
}

// AppendFile writes the tokens that the snapshot at path lacks to a further file beside it, which the index path +
// ".index.json" names; a loss of power leaves the snapshot without or with the new tokens. The cache has to continue
// the snapshot: it wrote or restored it last, and still has all of its tokens. RestoreFile reads all files, other
// readers of safetensors find the tensors by the index. FoldFile makes one file of them. Without new tokens nothing
// is written.
//
// Errors: ErrOrder (the cache does not continue the snapshot: use SaveFile), ErrFingerprint (f is not that of the
// snapshot), and those of SaveFile and RestoreFile.
func (c *Cache) AppendFile(path string, f Fingerprint) error { return c.appendFile(system{}, path, f) }

func (c *Cache) appendFile(fs files, path string, f Fingerprint) (err error) {
	const op = "append to snapshot"
	if err := c.usable(op); err != nil {
		return err
	}
	if err := f.check(op); err != nil {
		return err
	}
	old, err := openChain(op, fs, path)
	if err != nil {
		return err
	}
	last := old.parts[len(old.parts)-1]
	base := old.sources[0].head
	for i := range old.sources {
		if err == nil {
			err = c.compare(op, old.sources[i].name, old.sources[i].head, f)
		}
	}
	_ = old.Close() // they were only read
	if err != nil {
		return err
	}
	if c.saved.id == "" || c.saved.id != last.ID || c.saved.next < c.first {
		return &Error{Op: op, Name: path, Err: ErrOrder,
			Detail: "the cache does not continue the snapshot: it has another one's tokens, or dropped some",
			Hint:   "write a new one with SaveFile"}
	}
	if c.saved.next >= c.next {
		return nil
	}
	h := c.header(f, c.saved.next)
	h.id, h.follows = newID(), last.ID
	name := path + partMark + h.id + ".safetensors"
	err = replace(fs, name, path+tempMark+h.id, func(w io.Writer) error { return c.writeSnapshot(w, h) })
	if err == nil {
		parts := append(old.parts[:len(old.parts):len(old.parts)],
			part{File: filepath.Base(name), ID: h.id, First: h.first, Tokens: h.tokens})
		err = replace(fs, path+indexSuffix, path+indexSuffix+tempMark+h.id, func(w io.Writer) error {
			_, err := w.Write(newIndex(*base, parts).text())
			return err
		})
	}
	if err != nil {
		return &Error{Op: op, Name: path, Cause: err}
	}
	c.saved = tip{h.id, c.next}
	return nil
}

// RestoreFile is Restore of the snapshot at path with the files of AppendFile. The error is ErrCorrupt also if one
// of them is missing or has bytes after its end.
func (c *Cache) RestoreFile(path string, f Fingerprint) error {
	return c.restoreFile(system{}, path, f, -1, nil)
}

// RestoreFileNote is RestoreFile of a snapshot with a note, which accept is given after the header was checked and
// compared, with the number of tokens of the snapshot. If accept returns an error, RestoreFileNote returns an Error
// that wraps it, and the cache is unchanged. A snapshot without a note has an empty one.
func (c *Cache) RestoreFileNote(path string, f Fingerprint, accept func(note []byte, tokens int) error) error {
	return c.restoreFile(system{}, path, f, -1, accept)
}

// NoteFile returns the note of the snapshot at path and the number of its tokens, those of AppendFile included. It
// checks headers and sizes, not the keys and values, which RestoreFile checks. Errors are those of RestoreFile.
func NoteFile(path string) (note []byte, tokens int, err error) {
	s, err := openChain("read note", system{}, path)
	if err != nil {
		return nil, 0, err
	}
	for i := range s.sources {
		tokens += s.sources[i].head.tokens
	}
	return s.sources[0].head.note, tokens, s.Close()
}

// CheckFile reads the whole snapshot at path, files of AppendFile included, and compares all checksums, as RestoreFile
// does before it changes a cache. It keeps no keys and values, and compares no fingerprint. Errors are those of
// RestoreFile.
func CheckFile(path string) error {
	const op = "check"
	s, err := openChain(op, system{}, path)
	if err != nil {
		return err
	}
	h := s.sources[0].head
	room := 1 // token; a window is its own
	if h.window > 0 {
		room = 0
	}
	c, err := New(Config{Layers: h.layers, Heads: h.heads, HeadDim: h.dim, DType: h.dtype, Window: h.window,
		Context: room}, unimem.OnHeap())
	if err == nil {
		err = closing(c, c.restore(op, s.sources, h.Fingerprint, 0, nil))
	}
	_ = s.Close() // they were only read
	return err
}

// RestorePrefixFile is RestoreFile of the oldest n tokens. The error is ErrSize if the snapshot has fewer.
func (c *Cache) RestorePrefixFile(path string, f Fingerprint, n int) error {
	if n < 0 {
		return &Error{Op: "restore", Name: path, Err: ErrSize, Detail: fmt.Sprintf("a prefix of %d tokens", n)}
	}
	return c.restoreFile(system{}, path, f, n, nil)
}

func (c *Cache) restoreFile(fs files, path string, f Fingerprint, prefix int,
	accept func([]byte, int) error) error {
	const op = "restore"
	if err := c.usable(op); err != nil {
		return err
	}
	s, err := openChain(op, fs, path)
	if err != nil {
		return err
	}
	err = c.restore(op, s.sources, f, prefix, accept)
	_ = s.Close() // they were only read
	if err != nil {
		return err
	}
	if last := s.parts[len(s.parts)-1]; c.next == last.First+last.Tokens && last.ID != "" {
		c.saved = tip{last.ID, c.next}
	}
	return nil
}

// FoldFile makes one file of the snapshot at path and the files of AppendFile, as SaveFile would have. It needs
// memory for all tokens on the heap. Errors are those of RestoreFile and SaveFile.
func FoldFile(path string) error { return foldFile(system{}, path) }

func foldFile(fs files, path string) error {
	s, err := openChain("fold", fs, path)
	if err != nil {
		return err
	}
	h := s.sources[0].head
	parts := s.parts
	_ = s.Close() // they were only read
	if len(parts) == 1 {
		return nil
	}
	last := parts[len(parts)-1]
	shape := Config{Layers: h.layers, Heads: h.heads, HeadDim: h.dim, DType: h.dtype, Window: h.window}
	if h.window == 0 {
		shape.Context = max(1, last.First+last.Tokens)
	}
	c, err := New(shape, unimem.OnHeap())
	if err != nil {
		return err
	}
	if err = c.restoreFile(fs, path, h.Fingerprint, -1, nil); err == nil {
		err = c.saveFile(fs, path, h.Fingerprint, h.note)
	}
	return closing(c, err)
}
