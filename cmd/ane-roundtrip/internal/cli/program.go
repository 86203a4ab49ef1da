package cli

import (
	"context"
	"io"
	"os"
)

// maxText is the most bytes that a program may have. Published programs have some kilobytes.
const maxText = 256 << 20

// ReadProgram reads the program at path and returns its text and the identity of the file.
func (a *App) ReadProgram(ctx context.Context, what, path string) ([]byte, os.FileInfo, error) {
	f, err := a.OpenInput(ctx, what, path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, nil, Badf("%w; give the path of a MIL text file", err)
	}
	if len(text) > maxText {
		return nil, nil, Badf("%s is larger than %d MiB; put weights into a separate file", path, maxText>>20)
	}
	if a.programs == nil {
		a.programs = map[string][]byte{}
	}
	a.programs[ProgramName(path)] = text
	return text, a.sources[len(a.sources)-1].info, nil
}

// ProgramName returns the name that messages give to the program at path.
func ProgramName(path string) string {
	if path == Stdio {
		return "<stdin>"
	}
	return path
}
