package tensorfile

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/near"
)

// port is NAME=FILE: the tensor of a program and the file that a flag reads or writes for it.
type port struct {
	Name, Path string
	key        string // of the array in an .npz archive; empty for other files
	archive    bool   // path ends with .npz
}

// Extensions of archives, and of files of one array.
const (
	Npz    = ".npz"
	single = ".npy"
)

// parsePort reads NAME=FILE.npy, NAME=FILE.npz:KEY or NAME=-.
func parsePort(flag, s string) (port, error) {
	name, file, ok := strings.Cut(s, "=")
	if !ok || name == "" || file == "" {
		return port{}, cli.Badf("%s %q; give NAME=FILE.npy, NAME=FILE.npz:KEY or NAME=-", flag, s)
	}
	if path, key, found := cutKey(file, Npz); found {
		if key == "" {
			return port{}, cli.Badf("%s %q lacks the key of an array; give %s %s=%s:KEY", flag, s, flag, name, path)
		}
		return port{Name: name, Path: path, key: key, archive: true}, nil
	}
	if path, _, found := cutKey(file, single); found {
		return port{}, cli.Badf("%s %q: a .npy file has one array and no keys; give %s %s=%s or %s=FILE.npz:KEY", flag, s,
			flag, name, path, name)
	}
	if strings.HasPrefix(file, cli.Stdio+":") {
		return port{}, cli.Badf("%s %q: standard input and output have one array and no keys; "+
			"give %s %s=- or %s=FILE.npz:KEY",
			flag, s, flag, name, name)
	}
	if strings.EqualFold(filepath.Ext(file), Npz) {
		return port{Name: name, Path: file, key: name, archive: true}, nil
	}
	return port{Name: name, Path: file}, nil
}

// cutKey splits FILE:KEY after the last FILE that ends in the extension, in any case.
func cutKey(s, extension string) (file, key string, found bool) {
	for i := len(s) - 1; i >= len(extension); i-- {
		if s[i] == ':' && strings.EqualFold(s[i-len(extension):i], extension) {
			return s[:i], s[i+1:], true
		}
	}
	return "", "", false
}

// String is the file as reports name it.
func (p port) String() string {
	if p.archive {
		return p.Path + ":" + p.key
	}
	return p.Path
}

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

// Known rejects names that the program does not have.
func (all Ports) Known(flag string, layouts []ane.Layout) error {
	var names []string
	for _, l := range layouts {
		names = append(names, l.Name)
	}
	for _, p := range all {
		if !slices.Contains(names, p.Name) {
			return cli.Badf("%s %s: the program has no such tensor; %s", flag, p.Name, near.Choices(p.Name, "it has",
				names))
		}
	}
	return nil
}
