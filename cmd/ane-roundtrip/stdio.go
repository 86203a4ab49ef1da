package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/anekit/anekit/internal/wholefile"
)

// stdio is the operand that stands for standard input or standard output.
const stdio = "-"

// source is a file that a command reads.
type source struct {
	what, path string // "--in x", x.npy
	info       fs.FileInfo
}

// traffic keeps what one command reads and writes, so that no output falls on an
// input. Files are compared by identity, never by name.
type traffic struct {
	app     *app
	sources []source
	stdin   string // what reads standard input
	stdout  string // what goes to standard output
}

// open opens a file that the command reads; what names it in messages. The caller
// closes it. "-" is standard input, which one reader may have.
func (t *traffic) open(what, path string) (*os.File, error) {
	if path == stdio {
		if t.stdin != "" {
			return nil, twoReaders(t.stdin, what)
		}
		t.stdin = what
		return t.note(what, "standard input", os.Stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, badf("%s: %w; give the path of a file that can be read", what, err)
	}
	return t.note(what, path, f)
}

// twoReaders says that standard input is wanted twice.
func twoReaders(a, b string) error {
	return badf("%s and %s both read standard input; give one of them a file", a, b)
}

// note keeps the identity of an open file.
func (t *traffic) note(what, path string, f *os.File) (*os.File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(badf("%s: %w", what, err), f.Close())
	}
	t.sources = append(t.sources, source{what, path, info})
	return f, nil
}

// also keeps the identity of a file that the engine reads, if it is there.
func (t *traffic) also(what, path string) {
	if info, err := os.Stat(path); err == nil {
		t.sources = append(t.sources, source{what, path, info})
	}
}

// create begins the file that what goes to.
func (t *traffic) create(what, path string) (*wholefile.File, error) {
	f, err := wholefile.Create(path, t.infos()...)
	var taken *wholefile.SourceError
	if errors.As(err, &taken) {
		return nil, t.refuse(what, path, taken.Source)
	}
	if err != nil {
		return nil, badf("%s: %w; name a file in a folder that exists and can be written", what, err)
	}
	if f.Old() != nil && t.reportsTo(f.Old()) {
		t.app.out = t.app.err // else the report would go into the file, or be lost with the old one
	}
	return f, nil
}

func (t *traffic) infos() []fs.FileInfo {
	var infos []fs.FileInfo
	for _, s := range t.sources {
		infos = append(infos, s.info)
	}
	return infos
}

// refuse says which input an output would fall on.
func (t *traffic) refuse(what, path string, taken fs.FileInfo) error {
	for _, s := range t.sources {
		if os.SameFile(s.info, taken) {
			return badf("%s: %s is the file that %s reads (%s); name another file", what, path, s.what, s.path)
		}
	}
	return badf("%s: %s is a file that this run reads; name another file", what, path)
}

// reportsTo reports whether the command's report goes to the file.
func (t *traffic) reportsTo(info fs.FileInfo) bool {
	f, ok := t.app.out.(*os.File)
	if !ok || info.Mode()&fs.ModeCharDevice != 0 {
		return false
	}
	out, err := f.Stat()
	return err == nil && os.SameFile(info, out)
}

// output gives the writer of what goes to standard output. From then on the report
// goes to standard error.
func (t *traffic) output(what, path string) (io.Writer, error) {
	if t.stdout != "" {
		return nil, badf("%s and %s both go to standard output; give one of them a file", t.stdout, what)
	}
	t.stdout = what
	out := t.app.out
	if f, ok := out.(*os.File); ok {
		if term.IsTerminal(int(f.Fd())) {
			return nil, badf("%s: standard output is a terminal; send it to a file or a pipe", what)
		}
		info, err := f.Stat()
		if err == nil && info.Mode()&(fs.ModeCharDevice|fs.ModeSocket) == 0 {
			for _, s := range t.sources {
				if os.SameFile(s.info, info) {
					return nil, t.refuse(what, path, s.info)
				}
			}
		}
	}
	t.app.out = t.app.err
	signal.Ignore(syscall.SIGPIPE) // a reader that has gone is an error of the write, which leaves nothing behind
	return out, nil
}
