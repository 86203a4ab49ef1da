package tensorfile

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
	"github.com/anekit/anekit/internal/wholefile"
)

// sink is a file for one output, or an archive for several.
type sink struct {
	ports Ports           // of the same path
	file  *wholefile.File // nil for standard output
	out   io.Writer
}

// sinks are all files that a run writes. Standard output is the last, because writing it cannot be undone.
type sinks []*sink

// Stage starts a file for every output, so that a run fails before it evaluates if it cannot
// write one.
func Stage(a *cli.App, wanted Ports) (all sinks, err error) {
	defer func() {
		if err != nil {
			all.Discard()
		}
	}()
	var last sinks
	for _, p := range wanted {
		flag := outFlag + p.Name
		if p.Path == cli.Stdio {
			out, err := a.TakeOutput(flag)
			if err != nil {
				return all, err
			}
			last = sinks{{ports: Ports{p}, out: out}}
			continue
		}
		same := slices.IndexFunc(all, func(s *sink) bool { return p.archive && s.ports[0].Path == p.Path })
		if same < 0 {
			f, err := all.create(a, flag, p.Path)
			if err != nil {
				return all, err
			}
			all = append(all, &sink{ports: Ports{p}, file: f, out: f})
			continue
		}
		for _, other := range all[same].ports {
			if other.key == p.key {
				return all, cli.Badf("outputs %s and %s both go to %s; give each a different key", other.Name, p.Name, p)
			}
		}
		all[same].ports = append(all[same].ports, p)
	}
	return append(all, last...), nil
}

// outFlag comes before the name of an output in messages.
const outFlag = "--out "

// create starts the file of a flag, to which no output may go yet.
func (all sinks) create(a *cli.App, flag, path string) (*wholefile.File, error) {
	f, err := a.CreateOutput(flag, path)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.file != nil && s.file.Same(f) {
			f.Discard()
			word := "output"
			if strings.HasPrefix(flag, outFlag) {
				word = "outputs"
			}
			return nil, cli.Badf("%s %s and %s go to the same file %s; give each a different file", word,
				s.ports[0].Name, strings.TrimPrefix(flag, outFlag), path)
		}
	}
	return f, nil
}

// StageTrace starts the file of --trace, nil without one. It is neither an input nor an output of the run.
func StageTrace(a *cli.App, path string, outputs sinks) (*wholefile.File, error) {
	switch path {
	case "":
		return nil, nil
	case cli.Stdio:
		return nil, cli.Badf("--trace -: a trace is not written to standard output; name a file")
	}
	return outputs.create(a, "--trace", path)
}

// Write writes the arrays of its outputs to every file, under a temporary name until commit.
func (all sinks) Write(array func(name string) *npy.Array) error {
	for _, s := range all {
		var members []npy.Member
		for _, p := range s.ports {
			members = append(members, npy.Member{Key: p.key, Array: array(p.Name)})
		}
		var err error
		if s.ports[0].archive {
			err = npy.WriteArchive(s.out, members)
		} else {
			err = npy.Write(s.out, members[0].Array)
		}
		if err != nil {
			return cli.WriteError(s.ports[0].Path, err)
		}
	}
	return nil
}

// Commit gives every file its name.
func (all sinks) Commit() error {
	var files []*wholefile.File
	for _, s := range all {
		if s.file != nil {
			files = append(files, s.file)
		}
	}
	err := wholefile.CommitAll(files...)
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return cli.WriteError(path.Path, err)
	}
	return err
}

// Discard removes what was not committed.
func (all sinks) Discard() {
	for _, s := range all {
		s.file.Discard()
	}
}
