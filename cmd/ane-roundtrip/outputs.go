package main

import (
	"errors"
	"io"
	"io/fs"
	"slices"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
	"github.com/anekit/anekit/internal/wholefile"
)

// sink is a file for one output, or an archive for several.
type sink struct {
	path  string
	ports ports
	file  *wholefile.File // nil for standard output
	out   io.Writer
}

// sinks are all files that a run writes.
type sinks []*sink

// stage starts a file for every output, so that a run fails before it evaluates if it cannot
// write one.
func (t *commandFiles) stage(wanted ports) (all sinks, err error) {
	defer func() {
		if err != nil {
			all.discard()
		}
	}()
	for _, p := range wanted {
		what := "--out " + p.name
		if p.path == stdio {
			out, err := t.output(what)
			if err != nil {
				return all, err
			}
			all = append(all, &sink{path: p.path, ports: ports{p}, out: out})
			continue
		}
		if s := all.archive(p); s != nil {
			for _, other := range s.ports {
				if other.key == p.key {
					return all, badf("outputs %s and %s both go to %s; give each a different key", other.name, p.name,
						p)
				}
			}
			s.ports = append(s.ports, p)
			continue
		}
		f, err := t.create(what, p.path)
		if err != nil {
			return all, err
		}
		for _, s := range all {
			if s.file != nil && s.file.Same(f) {
				f.Discard()
				return all, badf("outputs %s and %s go to the same file %s; give each a different file",
					s.ports[0].name, p.name, p.path)
			}
		}
		all = append(all, &sink{path: p.path, ports: ports{p}, file: f, out: f})
	}
	return all, nil
}

// stageTrace starts the file of --trace, nil without one. It is neither an input nor an output of the run.
func (t *commandFiles) stageTrace(path string, outputs sinks) (*wholefile.File, error) {
	if path == "" {
		return nil, nil
	}
	if path == stdio {
		return nil, badf("--trace -: a trace is not written to standard output; name a file")
	}
	f, err := t.create("--trace", path)
	if err != nil {
		return nil, err
	}
	for _, s := range outputs {
		if s.file != nil && s.file.Same(f) {
			f.Discard()
			return nil, badf("output %s and --trace go to the same file %s; give each a different file",
				s.ports[0].name, path)
		}
	}
	return f, nil
}

// archive returns the sink of the archive that p names, nil if there is none yet.
func (all sinks) archive(p port) *sink {
	for _, s := range all {
		if p.archive && s.path == p.path {
			return s
		}
	}
	return nil
}

// write writes the arrays of its outputs to every file, under a temporary name until commit. It
// writes standard output last, because that cannot be undone.
func (all sinks) write(array func(name string) *npy.Array) error {
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
				members = append(members, npy.Member{Key: p.key, Array: array(p.name)})
			}
			err = npy.WriteArchive(s.out, members)
		} else {
			err = npy.Write(s.out, array(s.ports[0].name))
		}
		if err != nil {
			return unwritten(s.path, err)
		}
	}
	return nil
}

// commit gives every file its name.
func (all sinks) commit() error {
	var files []*wholefile.File
	for _, s := range all {
		if s.file != nil {
			files = append(files, s.file)
		}
	}
	err := wholefile.CommitAll(files...)
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return unwritten(path.Path, err)
	}
	return err
}

func (all sinks) discard() {
	for _, s := range all {
		s.file.Discard()
	}
}
