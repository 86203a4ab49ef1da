package sniff

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// magics are first bytes that no other kind has.
func magics() []struct {
	kind  Kind
	at    int
	bytes string
} {
	type m = struct {
		kind  Kind
		at    int
		bytes string
	}
	return []m{
		{LFS, 0, "version https://git-lfs"}, {LFS, 0, "version https://hawser"}, {Annex, 0, "/annex/objects/"},
		{Npy, 0, "\x93NUMPY"}, {GGUF, 0, "GGUF"}, {GGUF, 0, "lmgg"}, {GGUF, 0, "tjgg"}, {HDF5, 0, "\x89HDF\r\n\x1a\n"},
		{TFLite, 4, "TFL3"}, {Gzip, 0, "\x1f\x8b"}, {Tar, 257, "ustar"},
		{Picture, 0, "\x89PNG\r\n\x1a\n"}, {Picture, 0, "\xff\xd8\xff"}, {Picture, 0, "GIF8"},
		{HWX, 0, "\xce\xfa\xef\xbe"}, {HWX, 0, "\xcf\xfa\xef\xbe"},
		{PyTorch, 0, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"}, // the number that torch.save began with
	}
}

// Start looks at the first bytes of a file of size bytes, Enough of them if the file has so many. The file is called
// name, which decides where the bytes do not.
func Start(name string, start []byte, size int64) Found {
	f := found(kindOf(name, start, size), name)
	switch f.Kind {
	case LFS:
		if n := pointed(start); n > 0 {
			f.What = fmt.Sprintf("a Git LFS pointer to a file of %d bytes", n)
		}
	case Zip:
		if inner := zipped(start); strings.Contains(inner, ".mlpackage/") || strings.Contains(inner, ".mlmodelc/") {
			f.What = "a zip archive of a Core ML model"
		}
	}
	return f
}

func kindOf(name string, start []byte, size int64) Kind {
	if size == 0 {
		return Empty
	}
	for _, m := range magics() {
		if len(start) > m.at && bytes.HasPrefix(start[m.at:], []byte(m.bytes)) {
			return m.kind
		}
	}
	ext := strings.ToLower(filepath.Ext(name))
	switch {
	case bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(start, []byte("PK\x05\x06")):
		return zipKind(zipped(start), ext)
	case len(start) > 1 && start[0] == 0x80 && start[1] >= 2 && start[1] <= 5:
		if ext == ".pt" || ext == ".pth" || ext == ".ckpt" || filepath.Base(name) == "pytorch_model.bin" {
			return PyTorch
		}
		return Pickle
	case header(start, size):
		return Safetensors
	case weights(start):
		return Weights
	}
	if k := protobuf(start, ext); k != "" {
		return k
	}
	if !texts(start) {
		return named(ext, name)
	}
	return textKind(name, start)
}

// header reports whether a file begins as safetensors: the length of a JSON object, and the object.
func header(start []byte, size int64) bool {
	if len(start) < 9 || start[8] != '{' {
		return false
	}
	n := binary.LittleEndian.Uint64(start)
	return n >= 2 && size >= 8 && n <= uint64(size-8)
}

// weights reports whether a file begins as a weight file of MIL: a count, version 1 or 2, zeros, and an entry.
func weights(start []byte) bool {
	if len(start) < 64 {
		return false
	}
	version := binary.LittleEndian.Uint32(start[4:])
	if version != 1 && version != 2 || !bytes.Equal(start[8:64], make([]byte, 56)) {
		return false
	}
	return len(start) < 68 || binary.LittleEndian.Uint32(start[64:]) == 0xDEADBEEF
}

// zipped returns the name of the first file in a zip archive.
func zipped(start []byte) string {
	if len(start) < 30 {
		return ""
	}
	n := int(binary.LittleEndian.Uint16(start[26:]))
	return string(start[30:min(30+n, len(start))])
}

// zipKind names an archive by its first file: torch.save writes FOLDER/data.pkl first, numpy.savez NAME.npy.
func zipKind(first, ext string) Kind {
	switch {
	case strings.HasSuffix(first, "/data.pkl"), ext == ".pt", ext == ".pth":
		return PyTorch
	case strings.HasSuffix(first, ".npy"), ext == ".npz":
		return Npz
	case ext == ".keras":
		return HDF5
	}
	return Zip
}

// texts reports whether bytes are text: UTF-8, which the last character may exceed, without control characters.
func texts(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 && utf8.FullRune(b) ||
			r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' {
			return false
		}
		b = b[n:]
	}
	return true
}

// textKind names a text.
func textKind(name string, start []byte) Kind {
	text := strings.TrimSpace(strings.TrimPrefix(string(start), "\uFEFF"))
	low := strings.ToLower(text)
	switch {
	case strings.HasPrefix(low, "<!doctype html"), strings.HasPrefix(low, "<html"), strings.HasPrefix(low, "<head"):
		return HTML
	case strings.HasPrefix(low, "<?xml"), strings.HasPrefix(low, "<!doctype plist"), strings.HasPrefix(low, "<plist"),
		strings.HasPrefix(low, "<error"):
		return xmlKind(low)
	case strings.HasPrefix(text, "{"), strings.HasPrefix(text, "["):
		if strings.HasSuffix(name, ".safetensors.index.json") {
			return Index
		}
		return JSON
	case beginsProgram(text), strings.EqualFold(filepath.Ext(name), ".mil"):
		return MIL
	}
	return Text
}

// xmlKind names a text in XML by the type that its document declares, or by its first element.
func xmlKind(low string) Kind {
	switch {
	case strings.Contains(low, "<!doctype html"), strings.Contains(low, "<html"):
		return HTML
	case strings.Contains(low, "<!doctype plist"), strings.Contains(low, "<plist"):
		return Plist
	}
	return XML
}

// beginsProgram reports whether text begins as a MIL program does: with program, after comments.
func beginsProgram(text string) bool {
	for {
		text = strings.TrimSpace(text)
		var end string
		switch {
		case strings.HasPrefix(text, "//"):
			end = "\n"
		case strings.HasPrefix(text, "/*"):
			end = "*/"
		default:
			rest, ok := strings.CutPrefix(text, "program")
			rest = strings.TrimSpace(rest)
			return ok && (rest == "" || rest[0] == '(' || rest[0] == '<')
		}
		_, after, ok := strings.Cut(text, end)
		if !ok {
			return true // a comment that is longer than what was read, in a text
		}
		text = after
	}
}

// pointed returns the size of the file that a Git LFS pointer names in a line such as "size 12", 0 if it names none.
func pointed(start []byte) int64 {
	for line := range strings.Lines(string(start)) {
		digits, ok := strings.CutPrefix(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), "size ")
		if n, err := strconv.ParseUint(digits, 10, 63); ok && err == nil && len(digits) <= 18 {
			return int64(n)
		}
	}
	return 0
}

// named names a file of unknown bytes by its name.
func named(ext, name string) Kind {
	switch {
	case ext == ".mlmodel":
		return Model
	case ext == ".onnx":
		return ONNX
	case ext == ".pt", ext == ".pth":
		return PyTorch
	case filepath.Base(name) == "coremldata.bin":
		return CoreMLBin
	case strings.HasPrefix(ext, ".espresso"):
		return OldNet
	}
	return Binary
}
