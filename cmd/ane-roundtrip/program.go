package main

import (
	"context"
	"io"
	"os"
)

// maxText is the most bytes that a program may have. Published programs have some kilobytes.
const maxText = 256 << 20

// text reads the program at path and returns its text and the identity of the file.
func (t *commandFiles) text(ctx context.Context, what, path string) ([]byte, os.FileInfo, error) {
	f, err := t.open(ctx, what, path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, nil, badf("%w; give the path of a MIL text file", err)
	}
	if len(text) > maxText {
		return nil, nil, badf("%s is larger than %d MiB; put weights into a separate file", path, maxText>>20)
	}
	if t.app.programs == nil {
		t.app.programs = map[string][]byte{}
	}
	t.app.programs[programName(path)] = text
	return text, t.sources[len(t.sources)-1].info, nil
}

// programName returns the name that messages give to the program at path.
func programName(path string) string {
	if path == stdio {
		return "<stdin>"
	}
	return path
}
