package tensorfile

import (
	"context"
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
	ports Ports           // of the same path
	file  *wholefile.File // nil for standard output
	out   io.Writer
}

// Files are all files that a run writes.
type Files struct {
	Trace *wholefile.File // of --trace; nil without
	trace string          // its path
	sinks []*sink         // standard output is the last, because writing it cannot be undone
}

// Stage starts a file for every output, and that of --trace unless the path is empty, so that a run fails before it
// evaluates if it cannot write one. The trace is neither an input nor an output. An interrupt discards the files.
func Stage(ctx context.Context, a *cli.App, wanted Ports, trace string) (*Files, error) {
	all := &Files{trace: trace}
	if err := all.stage(a, wanted); err != nil {
		all.Discard()
		return nil, err
	}
	context.AfterFunc(ctx, all.Discard)
	return all, nil
}

func (all *Files) stage(a *cli.App, wanted Ports) (err error) {
	var last []*sink
	for _, p := range wanted {
		if p.Path == cli.Stdio {
			out, err := a.TakeOutput(p.what())
			if err != nil {
				return err
			}
			last = []*sink{{ports: Ports{p}, out: out}}
			continue
		}
		same := slices.IndexFunc(all.sinks, func(s *sink) bool { return p.archive && s.ports[0].Path == p.Path })
		if same < 0 {
			f, err := all.create(a, "outputs", p.Name, p.what(), p.Path)
			if err != nil {
				return err
			}
			all.sinks = append(all.sinks, &sink{ports: Ports{p}, file: f, out: f})
			continue
		}
		for _, other := range all.sinks[same].ports {
			if other.key == p.key {
				return cli.Badf("outputs %s and %s both go to %s; give each a different key", other.Name, p.Name, p)
			}
		}
		all.sinks[same].ports = append(all.sinks[same].ports, p)
	}
	switch all.trace {
	case "":
	case cli.Stdio:
		err = cli.Badf("--trace -: a trace is not written to standard output; name a file")
	default:
		all.Trace, err = all.create(a, "output", "--trace", "--trace", all.trace)
	}
	all.sinks = append(all.sinks, last...)
	return err
}

// create starts the file of a flag, to which no output may go yet; kind and name stand for it and that output in a
// message.
func (all *Files) create(a *cli.App, kind, name, flag, path string) (*wholefile.File, error) {
	f, err := a.CreateOutput(flag, path)
	if err != nil {
		return nil, err
	}
	for _, s := range all.sinks {
		if s.file.Same(f) {
			f.Discard()
			return nil, cli.Badf("%s %s and %s go to the same file %s; give each a different file", kind, s.ports[0].Name,
				name, path)
		}
	}
	return f, nil
}

// Write writes the arrays of outputs, by their names, under temporary names until Commit.
func (all *Files) Write(arrays map[string]*npy.Array) error {
	for _, s := range all.sinks {
		var members []npy.Member
		for _, p := range s.ports {
			members = append(members, npy.Member{Key: p.key, Array: arrays[p.Name]})
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

// WriteTrace writes the trace, if there is a file for it.
func (all *Files) WriteTrace(text []byte) error {
	if all.Trace == nil {
		return nil
	}
	_, err := all.Trace.Write(text)
	return cli.WriteError(all.trace, err)
}

// Commit gives every file its name, the trace first.
func (all *Files) Commit() error {
	if all.Trace != nil {
		if err := all.Trace.Commit(); err != nil {
			return cli.WriteError(all.trace, err)
		}
	}
	var files []*wholefile.File
	for _, s := range all.sinks {
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
func (all *Files) Discard() {
	all.Trace.Discard()
	for _, s := range all.sinks {
		s.file.Discard()
	}
}
