package tensorfile

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/near"
)

// port is NAME=FILE: the tensor of a program and the file that a flag reads or writes for it.
type port struct {
	Name, Path string
	flag       string
	key        string // of the array in an .npz archive; empty for other files
	archive    bool   // path ends with .npz
}

// Npz is the extension of archives.
const Npz = ".npz"

// keyed is FILE:KEY, in which the last FILE with an extension counts, or -:KEY.
var keyed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)^(.*\.npz|.*\.npy|-):(.*)$`)
})

// parsePort reads NAME=FILE.npy, NAME=FILE.npz:KEY or NAME=-.
func parsePort(flag, s string) (port, error) {
	name, file, ok := strings.Cut(s, "=")
	if !ok || name == "" || file == "" {
		return port{}, cli.Badf("%s %q; give NAME=FILE.npy, NAME=FILE.npz:KEY or NAME=-", flag, s)
	}
	p := port{Name: name, Path: file, flag: flag, key: name}
	parts := keyed().FindStringSubmatch(file)
	if parts != nil {
		p.Path, p.key = parts[1], parts[2]
	}
	p.archive = strings.EqualFold(filepath.Ext(p.Path), Npz)
	switch {
	case p.archive && p.key == "":
		return port{}, cli.Badf("%s %q lacks the key of an array; give %s %s=%s:KEY", flag, s, flag, name, p.Path)
	case parts == nil || p.archive:
		return p, nil
	case p.Path == cli.Stdio:
		return port{}, cli.Badf("%s %q: standard input and output have one array and no keys; "+
			"give %s %s=- or %s=FILE.npz:KEY", flag, s, flag, name, name)
	}
	return port{}, cli.Badf("%s %q: a .npy file has one array and no keys; give %s %s=%s or %s=FILE.npz:KEY", flag, s,
		flag, name, p.Path, name)
}

// String is the file as reports name it.
func (p port) String() string {
	if p.archive {
		return p.Path + ":" + p.key
	}
	return p.Path
}

// what is the flag and the tensor as messages name them.
func (p port) what() string { return p.flag + " " + p.Name }

// Ports are the values of a flag that may be given several times.
type Ports []port

// ParsePorts reads the values of a flag. With an error it returns those that it could read.
func ParsePorts(flag string, args []string) (all Ports, err error) {
	for _, s := range args {
		p, wrong := parsePort(flag, s)
		if wrong == nil {
			if _, duplicate := all.Find(p.Name); duplicate {
				wrong = cli.Badf("%s names %s twice; give one file for each", flag, p.Name)
			}
			all = append(all, p)
		}
		if err == nil {
			err = wrong
		}
	}
	return all, err
}

// Find returns the port of the tensor called name.
func (all Ports) Find(name string) (port, bool) {
	for _, p := range all {
		if p.Name == name {
			return p, true
		}
	}
	return port{}, false
}

// Files lists the files that the command reads for the flag.
func (all Ports) Files() (files []cli.Input) {
	for _, p := range all {
		files = append(files, cli.Input{Flag: p.what(), Path: p.Path})
	}
	return files
}

// Known rejects names that the program does not have.
func (all Ports) Known(layouts []ane.Layout) error {
	var names []string
	for _, l := range layouts {
		names = append(names, l.Name)
	}
	for _, p := range all {
		if !slices.Contains(names, p.Name) {
			return cli.Badf("%s: the program has no such tensor; %s", p.what(), near.Choices(p.Name, "it has", names))
		}
	}
	return nil
}
