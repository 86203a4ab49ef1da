package tensorfile

import (
	"errors"
	"io"
	"io/fs"
	"slices"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
	"github.com/anekit/anekit/internal/wholefile"
)

// sink is a file for one output, or an archive for several.
type sink struct {
	path  string
	ports Ports
	file  *wholefile.File // nil for standard output
	out   io.Writer
}

// sinks are all files that a run writes.
type sinks []*sink

// Stage starts a file for every output, so that a run fails before it evaluates if it cannot
// write one.
func Stage(a *cli.App, wanted Ports) (all sinks, err error) {
	defer func() {
		if err != nil {
			all.Discard()
		}
	}()
	for _, p := range wanted {
		what := "--out " + p.Name
		if p.Path == cli.Stdio {
			out, err := a.TakeOutput(what)
			if err != nil {
				return all, err
			}
			all = append(all, &sink{path: p.Path, ports: Ports{p}, out: out})
			continue
		}
		if s := all.archive(p); s != nil {
			for _, other := range s.ports {
				if other.key == p.key {
					return all, cli.Badf("outputs %s and %s both go to %s; give each a different key", other.Name, p.Name,
						p)
				}
			}
			s.ports = append(s.ports, p)
			continue
		}
		f, err := a.CreateOutput(what, p.Path)
		if err != nil {
			return all, err
		}
		for _, s := range all {
			if s.file != nil && s.file.Same(f) {
				f.Discard()
				return all, cli.Badf("outputs %s and %s go to the same file %s; give each a different file",
					s.ports[0].Name, p.Name, p.Path)
			}
		}
		all = append(all, &sink{path: p.Path, ports: Ports{p}, file: f, out: f})
	}
	return all, nil
}

// StageTrace starts the file of --trace, nil without one. It is neither an input nor an output of the run.
func StageTrace(a *cli.App, path string, outputs sinks) (*wholefile.File, error) {
	if path == "" {
		return nil, nil
	}
	if path == cli.Stdio {
		return nil, cli.Badf("--trace -: a trace is not written to standard output; name a file")
	}
	f, err := a.CreateOutput("--trace", path)
	if err != nil {
		return nil, err
	}
	for _, s := range outputs {
		if s.file != nil && s.file.Same(f) {
			f.Discard()
			return nil, cli.Badf("output %s and --trace go to the same file %s; give each a different file",
				s.ports[0].Name, path)
		}
	}
	return f, nil
}

// archive returns the sink of the archive that p names, nil if there is none yet.
func (all sinks) archive(p port) *sink {
	for _, s := range all {
		if p.archive && s.path == p.Path {
			return s
		}
	}
	return nil
}

// Write writes the arrays of its outputs to every file, under a temporary name until commit. It
// writes standard output last, because that cannot be undone.
func (all sinks) Write(array func(name string) *npy.Array) error {
	ordered := slices.Clone(all)
	slices.SortStableFunc(ordered, func(a, b *sink) int {
		switch {
		case a.file == nil && b.file != nil:
			return 1
		case a.file != nil && b.file == nil:
			return -1
		}
		return 0
	})
	for _, s := range ordered {
		var err error
		if s.ports[0].archive {
			var members []npy.Member
			for _, p := range s.ports {
				members = append(members, npy.Member{Key: p.key, Array: array(p.Name)})
			}
			err = npy.WriteArchive(s.out, members)
		} else {
			err = npy.Write(s.out, array(s.ports[0].Name))
		}
		if err != nil {
			return cli.WriteError(s.path, err)
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

func (all sinks) Discard() {
	for _, s := range all {
		s.file.Discard()
	}
}
